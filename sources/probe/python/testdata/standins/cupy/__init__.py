"""A CuPy without a GPU: what its pools say, as libraries.txt has it."""
import os

from . import cuda
from .cuda.memory import OutOfMemoryError  # noqa: F401

__version__ = os.environ.get("FAKE_CUPY_VERSION", "14.2.0")


def get_default_memory_pool():
    return cuda.memory.default_pool


class ndarray:
    def __init__(self, size):
        self.memory = cuda.get_allocator()(size)


def empty(size, dtype="u1"):
    return ndarray(size)
