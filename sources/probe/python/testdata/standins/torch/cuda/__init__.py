import driver

from .. import _C
from . import memory

_initialised = False
_queued_calls = []


def init():
    global _initialised
    if is_initialized():
        return
    if driver.forked():
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method")
    driver.start()
    for call in _queued_calls:
        call()
    _initialised = True


def _lazy_call(call):
    if is_initialized():
        call()
    else:
        _queued_calls.append(call)


def is_initialized():
    return _initialised and not driver.forked()


def device_count():
    return driver.COUNT


def is_current_stream_capturing():
    return _C.capturing


def get_allocator_backend():
    return _C.backend


def empty_cache():
    if is_initialized():
        _C._cuda_emptyCache()


def memory_snapshot():
    return _C._cuda_memorySnapshot()["segments"]


def memory_stats(ordinal=0):
    def flat(tree, name=""):
        if not isinstance(tree, dict):
            return {name[1:]: tree}
        return {key: value for part in tree for key, value in flat(tree[part], name + "." + part).items()}
    return flat(_C._cuda_memoryStats(ordinal))


def memory_allocated(ordinal=0):
    return memory_stats(ordinal)["allocated_bytes.all.current"]


def memory_reserved(ordinal=0):
    return memory_stats(ordinal)["reserved_bytes.all.current"]


def max_memory_allocated(ordinal=0):
    return memory_stats(ordinal)["allocated_bytes.all.peak"]


def max_memory_reserved(ordinal=0):
    return memory_stats(ordinal)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(ordinal=0):
    _C._cuda_resetPeakMemoryStats(ordinal)


class use_mem_pool:
    """Allocates to a private pool inside, whose segments stay while it lives."""

    def __init__(self, pool=(1, 0), ordinal=0):
        self.pool, self.ordinal = pool, ordinal

    def __enter__(self):
        device = _C.device(self.ordinal)
        device.pool = self.pool
        device.kept.add(self.pool)

    def __exit__(self, *_):
        _C.device(self.ordinal).pool = (0, 0)
