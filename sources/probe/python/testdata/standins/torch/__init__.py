"""A torch without a GPU: what its allocators say, as libraries.txt has it."""
from . import _C, cuda, version  # noqa: F401

__version__ = "2.11.0+stand.in"
OutOfMemoryError = _C.OutOfMemoryError
uint8 = "uint8"


class Tensor:
    def __init__(self, ordinal, size):
        self.ordinal, self.size, self.block = ordinal, size, None
        cuda.init()
        if _C.backend == "pluggable":
            self.block = _C.external[0](ordinal, size)
        elif _C.backend == "cudaMallocAsync":
            import driver
            _C.device(ordinal)
            if not driver.pool_alloc(ordinal, size):
                raise OutOfMemoryError("Allocation on device %d would exceed allowed memory. (out of memory)" % ordinal)
            _C.asynchronous["current"] += size
            _C.asynchronous["peak"] = max(_C.asynchronous["peak"], _C.asynchronous["current"])
        else:
            self.block = self.allocate(ordinal, size)

    @staticmethod
    def allocate(ordinal, size):
        import driver
        device = _C.device(ordinal)
        block = device.allocate(size)
        if block is None:
            for observer in _C.observers:
                observer(ordinal, size, driver.TOTAL, driver.free(ordinal))
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate %.2f GiB." % (size / (1 << 30)))
        if _C.history:
            device.traces.append({"action": "alloc", "addr": block.segment.address + block.offset, "size": block.size,
                                  "stream": 0, "time_us": 1, "frames": []})
        return block

    def __del__(self):
        if _C.backend == "pluggable" and self.block is not None:
            _C.external[1](self.ordinal, self.block, self.size)
        elif _C.backend == "cudaMallocAsync":
            import driver
            driver.pool_free(self.ordinal, self.size)
            _C.asynchronous["current"] -= self.size
        elif self.block is not None:
            _C.device(self.ordinal).free(self.block)


def empty(size, dtype=uint8, device="cuda"):
    ordinal = int(device.partition(":")[2] or 0) if isinstance(device, str) else device
    return Tensor(ordinal, size)
