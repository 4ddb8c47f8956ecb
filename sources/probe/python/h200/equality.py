"""Holds what the dashboard reads against what each library says itself, on a GPU.

Each case is a real process with the probe in it, read and commanded over its
socket by the real vramscope (record, send --json):

 1. at standstill, the numbers in the last sample equal the library's own, to the
    byte;
 2. a reclaim or rebuild that vramscope asks for gives the driver as much back as
    the library's own call does for the same allocations;
 3. a peak region in a peak region survives a reset from outside.

    python3 equality.py BINARY MODULE [CASE...]

BINARY is vramscope, MODULE the folder of vramscope_probe.py (vramscope probe
prints it). Prints a table and ends with 1 when something is not equal.
"""
import ctypes
import gc
import os
import sys
import time

from beside import Watched, hold
from inside import MIB, case, measured, pool_numbers, returned, run_case, stand, sync, tell


@case()
def torch():
    import torch
    import vramscope_probe
    def make():
        blocks = [torch.empty(n, dtype=torch.uint8, device="cuda") for n in (1, 1000, MIB, 5 * MIB, 64 * MIB, 100 * MIB)]
        del blocks[4]
        return blocks
    kept = make()
    s = torch.cuda.memory_stats()
    tell(numbers={"torch:0": {
        "allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved(),
        "peak_allocated": torch.cuda.max_memory_allocated(), "peak_reserved": torch.cuda.max_memory_reserved(),
        "active": s["active_bytes.all.current"], "requested": s["requested_bytes.all.current"], "retries": s["num_alloc_retries"],
        "ooms": s["num_ooms"], "live_blocks": s["allocation.all.current"], "segments": s["segment.all.current"],
        "lifetime_bytes": s["allocated_bytes.all.allocated"]}})
    stand()
    # What the counters call releasable is what the library's own call gives back.
    releasable = vramscope_probe.TORCH.releasable(torch._C._cuda_memoryStats(0))
    tell(releasable=[releasable, measured(torch.cuda.empty_cache)])
    del kept
    returned(make, torch.cuda.empty_cache)


@case()
def torch_polls():
    import torch
    import vramscope_probe
    keep = torch.empty(48 * MIB, dtype=torch.uint8, device="cuda")
    tell(numbers={"torch:0": {"allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}})
    stand(vramscope_probe.poll)
    returned(lambda: [torch.empty(80 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)][:1], torch.cuda.empty_cache, vramscope_probe.poll)
    del keep


@case(PYTORCH_ALLOC_CONF="backend:cudaMallocAsync")
def torch_cudaMallocAsync():
    import torch
    kept = [torch.empty(n, dtype=torch.uint8, device="cuda") for n in (1, MIB, 64 * MIB)]
    sync()
    tell(numbers={"torch:0": {"allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()},
                  "default-pool:0": pool_numbers()})
    stand()
    del kept
    returned(lambda: [torch.empty(96 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)][:1], torch.cuda.empty_cache)


@case()
def cupy():
    import cupy
    pool = cupy.get_default_memory_pool()
    kept = [cupy.empty(n, dtype="u1") for n in (1000, MIB, 64 * MIB)]
    kept.pop(1)
    tell(numbers={"cupy:0": {"allocated": pool.used_bytes(), "reserved": pool.total_bytes(), "free": pool.free_bytes()}})
    stand()
    kept.clear()
    def make():
        big = cupy.empty(80 * MIB, dtype="u1"); del big
        return [cupy.empty(MIB, dtype="u1"), cupy.empty(128 * MIB, dtype="u1")][:1]
    returned(make, pool.free_all_blocks)


@case()
def cupy_async():
    import cupy
    pool = cupy.cuda.MemoryAsyncPool()
    cupy.cuda.set_allocator(pool.malloc)
    kept = [cupy.empty(n, dtype="u1") for n in (1000, MIB, 64 * MIB)]
    tell(numbers={"cupy-async:0": {"allocated": pool.used_bytes(), "reserved": pool.total_bytes()}, "default-pool:0": pool_numbers()})
    stand()
    kept.clear()
    returned(lambda: [cupy.empty(n * MIB, dtype="u1") for n in (1, 200)][:1], pool.free_all_blocks)


def rmm_stack():
    import rmm
    import rmm.mr
    rmm.reinitialize(pool_allocator=True, initial_pool_size=0)
    stats = rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource())
    rmm.mr.set_current_device_resource(stats)


def rmm_numbers():
    import rmm.mr
    top = rmm.mr.get_current_device_resource()
    counts = top.allocation_counts
    return {"reserved": top.get_upstream().pool_size(), "allocated": counts.current_bytes, "live_blocks": counts.current_count,
            "peak_allocated": counts.peak_bytes, "lifetime_bytes": counts.total_bytes, "lifetime_count": counts.total_count}


@case()
def cupy_on_rmm():
    """The command is a rebuild; RMM's own call is reinitialize."""
    import cupy
    from rmm.allocators.cupy import rmm_cupy_allocator
    cupy.cuda.runtime.free(0)
    rmm_stack()
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    kept = [cupy.empty(n, dtype="u1") for n in (1000, MIB, 64 * MIB)]
    tell(numbers={"rmm:0": rmm_numbers()}, inside={"cupy-rmm:0": "rmm:0"})
    stand()
    tell(command="rebuild", refused="3 live allocations")
    stand()
    kept.clear()
    def make():
        cupy.empty(192 * MIB, dtype="u1")
        return None
    returned(make, rmm_stack)
    tell(numbers_after={"rmm:0": rmm_numbers()})


@case()
def torch_on_rmm():
    import torch
    from rmm.allocators.torch import rmm_torch_allocator
    torch.cuda.memory.change_current_allocator(rmm_torch_allocator)
    rmm_stack()
    kept = [torch.empty(n, dtype=torch.uint8, device="cuda") for n in (1000, MIB, 64 * MIB)]
    tell(numbers={"rmm:0": rmm_numbers()}, inside={"torch:0": "rmm:0"}, missing={"torch:0": ["allocated", "reserved"]})
    stand()
    del kept
    gc.collect()
    tell(command="rebuild")
    def make():
        torch.empty(192 * MIB, dtype=torch.uint8, device="cuda")
    returned(make, rmm_stack)


@case()
def jax():
    import jax
    kept = jax.numpy.ones(16 * MIB).block_until_ready()
    s = jax.local_devices()[0].memory_stats()
    tell(numbers={"jax:0": {"allocated": s["bytes_in_use"], "reserved": s["pool_bytes"], "peak_allocated": s["peak_bytes_in_use"],
                            "largest_free": s["largest_free_block_bytes"], "limit": s["bytes_limit"], "lifetime_count": s["num_allocs"]}})
    stand()
    del kept
    returned(lambda: None, lambda: None)


@case()
def quadrants():
    import quadrants as qd
    qd.init(arch=qd.cuda, log_level=qd.ERROR)
    field = qd.field(qd.f32, shape=(4 * MIB,))
    @qd.kernel
    def fill():
        for i in field:
            field[i] = i * 1.0
    fill()
    kept = qd.ndarray(qd.f32, shape=(16 * MIB,))
    qd.sync()
    tell(numbers={"default-pool:0": pool_numbers()})
    stand()
    del kept
    def make():
        # Under the 128 MiB that the driver may keep.
        arrays = [qd.ndarray(qd.f32, shape=(6 * MIB,)) for _ in range(3)]
        arrays[0].fill(1.0)
        return arrays[0]
    def own():
        qd.sync()
        libcuda, pool = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        libcuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0)
        libcuda.cuMemPoolTrimTo(pool, ctypes.c_size_t(0))
    returned(make, own)


@case()
def vibespatial_raster():
    """The command is a rebuild; the library's own call is free_pool_memory."""
    import types
    import cupy
    for name, folder in (("vibespatial", ""), ("vibespatial.raster", "raster")):
        package = types.ModuleType(name)  # without its __init__, which wants the whole of vibespatial
        package.__path__ = [os.path.join(path, "vibespatial", folder) for path in sys.path]
        sys.modules[name] = package
    import vibespatial.raster.memory as memory
    cupy.cuda.runtime.free(0)
    memory.configure_memory_pool()
    kept = [cupy.empty(n, dtype="u1") for n in (MIB, 64 * MIB)]
    s = memory.memory_pool_stats()
    numbers = {"reserved": s["pool_size"], "allocated": s["current_bytes"], "peak_allocated": s["peak_bytes"],
               "live_blocks": s["current_count"], "lifetime_bytes": s["total_bytes"], "lifetime_count": s["total_count"]}
    tell(numbers={"rmm:0": numbers})
    stand()
    kept.clear()
    tell(command="rebuild")
    def make():
        cupy.empty(192 * MIB, dtype="u1")
    returned(make, memory.free_pool_memory)


@case()
def peak_regions():
    import torch
    import vramscope_probe
    def block(n):
        return torch.empty(n * MIB, dtype=torch.uint8, device="cuda")
    base = block(300)
    time.sleep(2.5)  # the probe looks for libraries once a second
    with vramscope_probe.peak_region() as outer:
        first = block(500)
        del first
        with vramscope_probe.peak_region() as inner:
            second = block(150)
            tell(command="reset-peak", ready=True)
            stand()
            del second
            third = block(50)
            del third
        fourth = block(60)
        del fourth
    tell(regions=[[outer.peak, 500 * MIB], [inner.peak, 150 * MIB],
                  [torch.cuda.max_memory_allocated(), 450 * MIB]])
    tell(numbers={"peaks:0": {"peak_reported": 450 * MIB, "peak_live": torch.cuda.max_memory_allocated()}})
    stand()
    del base


def main():
    if sys.argv[1] == "--case":
        import vramscope_probe  # noqa: F401 - starts the probe
        return run_case(sys.argv[2])
    binary, module = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

    def start(name):
        path = os.pathsep.join([module, os.environ.get("PYTHONPATH", "")])
        return Watched(binary, name, [sys.executable, __file__, "--case", name], PYTHONPATH=path)
    return hold(start, sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
