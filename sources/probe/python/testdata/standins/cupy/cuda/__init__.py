from . import memory, runtime  # noqa: F401
from .memory import MemoryAsyncPool, MemoryPool, malloc_async  # noqa: F401

capturing = False
_allocator = memory.default_pool.malloc


def get_allocator():
    return _allocator


def set_allocator(allocator):
    global _allocator
    _allocator = allocator


class Device:
    """Makes a device current, and with it its context."""

    def __init__(self, ordinal):
        self.ordinal = ordinal

    def __enter__(self):
        import driver
        driver.activate(self.ordinal)
        memory.current = self.ordinal

    def __exit__(self, *_):
        memory.current = 0


class Stream:
    def is_capturing(self):
        return capturing


def get_current_stream():
    return Stream()
