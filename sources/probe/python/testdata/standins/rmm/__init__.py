"""An RMM without a GPU: resources and adaptors, as libraries.txt has them."""
from . import mr

__version__ = "26.10.00"


class DeviceBuffer:
    def __init__(self, size):
        self.size, self.mr = size, mr.get_current_device_resource()
        self.pointer = self.mr.allocate(size)

    def __del__(self):
        self.mr.deallocate(self.pointer, self.size)


def reinitialize(pool_allocator=False, managed_memory=False, initial_pool_size=None, maximum_pool_size=None, devices=0, logging=False):
    upstream = mr.ManagedMemoryResource() if managed_memory else mr.CudaMemoryResource()
    mr.resources.clear()
    mr.resources[devices] = mr.PoolMemoryResource(upstream, initial_pool_size, maximum_pool_size) if pool_allocator else upstream
