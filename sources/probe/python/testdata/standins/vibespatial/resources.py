"""RMM's resources as far as vibespatial's pools show them, with the names and
counts of the real ones. Blocks are numbers."""
import sys


def make_current(resource):
    """Gives RMM the resource to allocate from, where the program has loaded RMM."""
    rmm = sys.modules.get("rmm")
    if rmm is not None:
        rmm.mr.set_current_device_resource(resource)


class CudaMemoryResource:
    pass


class ManagedMemoryResource:
    pass


class Adaptor:
    def __init__(self, upstream):
        self._upstream = upstream

    def get_upstream(self):
        return self._upstream


class PoolMemoryResource(Adaptor):
    """Grows by what is asked for, rounded to 256 bytes, and never shrinks."""

    def __init__(self, upstream):
        super().__init__(upstream)
        self._size = 0
        self._used = 0

    def pool_size(self):
        return self._size

    def take(self, size):
        self._used += -(-size // 256) * 256
        self._size = max(self._size, self._used)

    def give(self, size):
        self._used -= -(-size // 256) * 256


class FailureCallbackResourceAdaptor(Adaptor):
    pass


class Counts:
    def __init__(self):
        self.current_bytes = self.current_count = self.peak_bytes = self.peak_count = self.total_bytes = self.total_count = 0


class StatisticsResourceAdaptor(Adaptor):
    def __init__(self, upstream):
        super().__init__(upstream)
        self.allocation_counts = Counts()

    def allocate(self, size):
        counts = self.allocation_counts
        counts.current_bytes += size
        counts.current_count += 1
        counts.total_bytes += size
        counts.total_count += 1
        counts.peak_bytes = max(counts.peak_bytes, counts.current_bytes)
        counts.peak_count = max(counts.peak_count, counts.current_count)
        for pool in self.pools():
            pool.take(size)

    def deallocate(self, pointer, size):
        self.free(size)

    def free(self, size):
        self.allocation_counts.current_bytes -= size
        self.allocation_counts.current_count -= 1
        for pool in self.pools():
            pool.give(size)

    def pools(self):
        layer = self
        while hasattr(layer, "get_upstream"):
            layer = layer.get_upstream()
            if hasattr(layer, "take"):
                yield layer
