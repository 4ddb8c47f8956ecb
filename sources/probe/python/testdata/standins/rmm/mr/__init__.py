from dataclasses import dataclass

import driver

resources = {}


@dataclass
class Statistics:
    current_bytes: int = 0
    current_count: int = 0
    peak_bytes: int = 0
    peak_count: int = 0
    total_bytes: int = 0
    total_count: int = 0


class CudaMemoryResource:
    def allocate(self, size):
        if not driver.take(0, size):
            raise MemoryError("std::bad_alloc: out_of_memory: CUDA error (failed to allocate %d bytes)" % size)
        return 0

    def deallocate(self, pointer, size):
        driver.give(0, size)


class ManagedMemoryResource(CudaMemoryResource):
    pass


class CudaAsyncMemoryResource(CudaMemoryResource):
    pass


class Adaptor:
    def __init__(self, upstream_mr, *_):
        self.upstream_mr = upstream_mr

    def get_upstream(self):
        return self.upstream_mr

    def allocate(self, size):
        return self.upstream_mr.allocate(size)

    def deallocate(self, pointer, size):
        self.upstream_mr.deallocate(pointer, size)


class PoolMemoryResource(Adaptor):
    """Takes from upstream what it lacks, and never gives it back before its end."""

    def __init__(self, upstream_mr, initial_pool_size=None, maximum_pool_size=None):
        super().__init__(upstream_mr)
        self.size, self.live = 0, 0
        if initial_pool_size is None:
            initial_pool_size = driver.free(0) // 2
        self.grow(initial_pool_size)

    def grow(self, size):
        if size:
            self.upstream_mr.allocate(size)
            self.size += size

    def allocate(self, size):
        rounded = (size + 255) // 256 * 256
        if self.live + rounded > self.size:
            self.grow(self.live + rounded - self.size)
        self.live += rounded
        return 0

    def deallocate(self, pointer, size):
        self.live -= (size + 255) // 256 * 256

    def pool_size(self):
        return self.size

    def __del__(self):
        self.upstream_mr.deallocate(0, self.size)


class StatisticsResourceAdaptor(Adaptor):
    def __init__(self, upstream_mr):
        super().__init__(upstream_mr)
        self.frames = [Statistics()]

    @property
    def allocation_counts(self):
        return Statistics(**vars(self.frames[-1]))

    def allocate(self, size):
        pointer = self.upstream_mr.allocate(size)
        top = self.frames[-1]
        top.current_bytes, top.current_count = top.current_bytes + size, top.current_count + 1
        top.total_bytes, top.total_count = top.total_bytes + size, top.total_count + 1
        top.peak_bytes, top.peak_count = max(top.peak_bytes, top.current_bytes), max(top.peak_count, top.current_count)
        return pointer

    def deallocate(self, pointer, size):
        self.upstream_mr.deallocate(pointer, size)
        top = self.frames[-1]
        top.current_bytes, top.current_count = top.current_bytes - size, top.current_count - 1

    def push_counters(self):
        before = self.allocation_counts
        self.frames.append(Statistics())
        return before

    def pop_counters(self):
        if len(self.frames) == 1:
            raise IndexError("cannot pop the last counter pair")
        return self.frames.pop()


class TrackingResourceAdaptor(Adaptor):
    def __init__(self, upstream_mr, capture_stacks=False):
        super().__init__(upstream_mr)
        self.bytes = 0

    def allocate(self, size):
        self.bytes += size
        return self.upstream_mr.allocate(size)

    def deallocate(self, pointer, size):
        self.bytes -= size
        self.upstream_mr.deallocate(pointer, size)

    def get_allocated_bytes(self):
        return self.bytes


class LimitingResourceAdaptor(TrackingResourceAdaptor):
    def __init__(self, upstream_mr, allocation_limit):
        super().__init__(upstream_mr)
        self.limit = allocation_limit

    def allocate(self, size):
        return super().allocate((size + 255) // 256 * 256)

    def deallocate(self, pointer, size):
        super().deallocate(pointer, (size + 255) // 256 * 256)

    def get_allocation_limit(self):
        return self.limit


class FailureCallbackResourceAdaptor(Adaptor):
    pass


def get_per_device_resource(device):
    return resources.setdefault(device, CudaMemoryResource())


def get_current_device_resource():
    return get_per_device_resource(0)


def set_per_device_resource(device, mr):
    resources[device] = mr


def set_current_device_resource(mr):
    set_per_device_resource(0, mr)


def is_initialized():
    return True


def available_device_memory():
    return driver.free(0), driver.TOTAL
