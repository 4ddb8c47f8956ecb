"""torch's binding to its allocators: the calls, names and errors of 2.11."""
import ctypes
import os

import driver

from .caching import Device

devices = {}
observers = []
backend = "cudaMallocAsync" if "cudaMallocAsync" in os.environ.get("PYTORCH_ALLOC_CONF", "") else "native"
external = None  # (allocate, free) of a pluggable allocator
capturing = False
history = False
asynchronous = {"current": 0, "peak": 0, "reserved_peak": 0}


class OutOfMemoryError(RuntimeError):
    pass


def device(ordinal):
    if not driver._started or not 0 <= ordinal < driver.COUNT:
        raise RuntimeError("Invalid device argument %s: did you call init?" % ordinal)
    return devices.setdefault(ordinal, Device(ordinal))


def unsupported(what):
    name = "CUDAPluggableAllocator" if backend == "pluggable" else backend
    raise RuntimeError("%s does not yet support %s. If you need it, please file an issue describing your use case." % (name, what))


def _cuda_getAllocatorBackend():
    return backend


def _cuda_memoryStats(ordinal):
    if os.environ.get("FAKE_TORCH_RAISES"):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    if backend == "pluggable":
        unsupported("getDeviceStats")
    told = device(ordinal).statistics()
    if backend == "cudaMallocAsync":
        reserved, high = pool_attribute(ordinal, 5), pool_attribute(ordinal, 6)
        for name, current, peak in (("allocated_bytes", asynchronous["current"], asynchronous["peak"]),
                                    ("active_bytes", asynchronous["current"], asynchronous["peak"]), ("reserved_bytes", reserved, high)):
            told[name]["all"].update(current=current, peak=peak)
    return told


def pool_attribute(ordinal, attribute):
    pool, value = ctypes.c_void_p(), ctypes.c_uint64()
    driver.library.cuDeviceGetDefaultMemPool(ctypes.byref(pool), ordinal)
    driver.library.cuMemPoolGetAttribute(pool, attribute, ctypes.byref(value))
    return value.value


def _cuda_resetPeakMemoryStats(ordinal):
    if backend == "pluggable":
        unsupported("resetPeakStats")
    device(ordinal).reset_peaks()
    asynchronous["peak"] = asynchronous["current"]


def _cuda_memorySnapshot(_=None):
    if backend == "pluggable":
        unsupported("snapshot")
    if backend == "cudaMallocAsync":
        raise RuntimeError("Calling snapshot with backend:cudaMallocAsync is not meaningful. (For backend:native, snapshot "
                           "returns a detailed summary of all blocks tracked by the allocator, but the cudaMallocAsync "
                           "backend does not track individual blocks.)")
    traces = [devices[i].traces if i in devices else [] for i in range(driver.COUNT)]
    return {"segments": [s for d in devices.values() for s in d.snapshot()], "device_traces": traces,
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}, "external_annotations": []}


def _cuda_isHistoryEnabled():
    return history


def _cuda_attach_out_of_memory_observer(observer):
    if backend != "native":
        unsupported("attachOutOfMemoryObserver")
    observers.append(observer)


def _cuda_emptyCache():
    if backend == "cudaMallocAsync":
        driver.trim()
    for each in devices.values():
        each.empty_cache()
