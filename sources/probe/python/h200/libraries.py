"""Prints what the allocator libraries themselves say on a GPU.

Every section runs in a process of its own, so that one library neither finds
another's memory nor falls with it. The stand-ins of the tests are written from
what this printed (libraries.txt).

    python3 libraries.py            every section
    python3 libraries.py torch rmm  these
"""
import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
import traceback
import types

MIB = 1 << 20
SECTIONS = {}


def section(**environment):
    """Declares a section and the environment of its process."""
    def declare(function):
        SECTIONS[function.__name__] = (function, environment)
        return function
    return declare


def say(label, value=""):
    print("  %s: %s" % (label, value), flush=True)


def attempt(label, call):
    """Says what a call returns, or what it raises and through which types."""
    try:
        value = call()
        say(label, repr(value))
        return value
    except BaseException as error:
        kinds = " < ".join(kind.__name__ for kind in type(error).__mro__[:-2])
        say(label, "raises %s: %s" % (kinds, str(error)[:420].replace("\n", " | ")))
        return None


def flat(tree, name=""):
    if isinstance(tree, dict):
        for key in sorted(tree, key=str):
            yield from flat(tree[key], name + "." + str(key) if name else str(key))
    else:
        yield name, tree


def show(label, tree):
    print("  %s:" % label)
    for name, value in flat(tree):
        print("    %s = %r" % (name, value))
    sys.stdout.flush()


def free():
    """The driver's free memory, read without torch."""
    libcuda = ctypes.CDLL("libcuda.so.1")
    available, total = ctypes.c_size_t(), ctypes.c_size_t()
    code = libcuda.cuMemGetInfo_v2(ctypes.byref(available), ctypes.byref(total))
    return available.value if code == 0 else "error %d" % code


def default_pool(label):
    libcuda = ctypes.CDLL("libcuda.so.1")
    pool = ctypes.c_void_p()
    code = libcuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0)
    values = {}
    for name, attribute in (("threshold", 4), ("reserved", 5), ("reserved_high", 6), ("used", 7), ("used_high", 8)):
        value = ctypes.c_uint64()
        error = libcuda.cuMemPoolGetAttribute(pool, attribute, ctypes.byref(value))
        values[name] = value.value if error == 0 else "error %d" % error
    say(label, "code %d %r" % (code, values))


def in_thread(call):
    """What a call gives on another thread, as a sampler would make it."""
    box = []
    def run():
        try:
            box.append(call())
        except BaseException as error:
            box.append("%s: %s" % (type(error).__name__, error))
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return box[0]


@section()
def driver():
    def mapped():
        with open("/proc/self/maps") as maps:
            return sorted({line.split()[-1].rsplit("/", 1)[-1] for line in maps if "libcuda.so" in line})
    say("libcuda mapped before torch", mapped())
    import torch
    say("libcuda mapped after import torch", mapped())
    say("torch.cuda.is_initialized", torch.cuda.is_initialized())
    libcuda = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD)
    count, device, flags, active = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint(), ctypes.c_int()
    say("cuDeviceGetCount before init", libcuda.cuDeviceGetCount(ctypes.byref(count)))
    pool = ctypes.c_void_p()
    say("cuDeviceGetDefaultMemPool before init", libcuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0))
    attempt("torch.cuda.device_count() (uninitialised)", torch.cuda.device_count)
    say("is_initialized after device_count", torch.cuda.is_initialized())
    say("cuDeviceGetCount after device_count", libcuda.cuDeviceGetCount(ctypes.byref(count)))
    attempt("_cuda_memoryStats before init", lambda: len(torch._C._cuda_memoryStats(0)))
    say("memory_stats before init", torch.cuda.memory_stats(0))
    torch.cuda.init()
    say("cuDeviceGetCount after init", (libcuda.cuDeviceGetCount(ctypes.byref(count)), count.value))
    libcuda.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active))
    say("primary context active after torch.cuda.init", active.value)
    x = torch.zeros(1, device="cuda")
    libcuda.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active))
    say("primary context active after the first tensor", active.value)
    uuid = (ctypes.c_ubyte * 16)()
    say("cuDeviceGetUuid", (libcuda.cuDeviceGetUuid(uuid, 0), bytes(uuid).hex()[:4] + "…"))
    say("cuDeviceGetUuid_v2", (libcuda.cuDeviceGetUuid_v2(uuid, 0), bytes(uuid).hex()[:4] + "…"))
    say("torch uuid", str(torch.cuda.get_device_properties(0).uuid)[:4] + "…")
    say("torch name", torch.cuda.get_device_properties(0).name)
    say("free main / other thread", (free(), in_thread(free)))
    def retained():
        context = ctypes.c_void_p()
        codes = [libcuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), libcuda.cuCtxPushCurrent_v2(context)]
        value = free()
        codes += [libcuda.cuCtxPopCurrent_v2(ctypes.byref(context)), libcuda.cuDevicePrimaryCtxRelease_v2(0)]
        return codes, value
    say("free through the active primary context, other thread", in_thread(retained))
    print(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,mig.mode.current", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip())


@section()
def torch():
    import torch
    say("version", torch.__version__)
    say("names", [n for n in dir(torch._C) if n.startswith("_cuda") and any(w in n.lower() for w in ("mem", "pool", "alloc", "captur", "cache", "oom", "out_of"))])
    say("backend", torch.cuda.get_allocator_backend())
    say("capturing before init", torch.cuda.is_current_stream_capturing())
    blocks = [torch.empty(n, dtype=torch.uint8, device="cuda") for n in (1, 1000, MIB, 5 * MIB, 64 * MIB, 100 * MIB)]
    show("_cuda_memoryStats(0)", torch._C._cuda_memoryStats(0))
    say("other thread equal", in_thread(lambda: torch._C._cuda_memoryStats(0)) == torch._C._cuda_memoryStats(0))
    attempt("_cuda_memoryStats(7)", lambda: torch._C._cuda_memoryStats(7))
    before = free(); blocks.pop(4); gc.collect()
    say("reserved allocated after del 64 MiB", (torch.cuda.memory_reserved(), torch.cuda.memory_allocated()))
    start = time.perf_counter_ns(); torch.cuda.empty_cache(); took = time.perf_counter_ns() - start
    say("empty_cache free before, after, ns", (before, free(), took))
    say("reserved allocated", (torch.cuda.memory_reserved(), torch.cuda.memory_allocated()))
    split = torch.empty(40 * MIB, dtype=torch.uint8, device="cuda"); del split
    keep = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
    before = free(); torch.cuda.empty_cache()
    say("split segment: empty_cache free before, after; inactive_split", (before, free(), torch.cuda.memory_stats()["inactive_split_bytes.all.current"]))
    torch.cuda.reset_peak_memory_stats()
    say("peak after reset", (torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()))
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    a = torch.ones(4 * MIB, device="cuda"); torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        say("is_current_stream_capturing inside", torch.cuda.is_current_stream_capturing())
        say("… on another thread", in_thread(torch.cuda.is_current_stream_capturing))
        say("stats while capturing, other thread", in_thread(lambda: torch._C._cuda_memoryStats(0)["reserved_bytes"]["all"]["current"]))
        say("free while capturing", in_thread(lambda: "skipped"))
        b = a * 2; c = b + 1
    del b, c
    segments = torch.cuda.memory_snapshot()
    say("segments by pool", sorted({(s["segment_pool_id"], s["segment_type"]) for s in segments}))
    say("a segment", {k: v for k, v in segments[0].items() if k not in ("blocks", "frames", "address")})
    say("a block", {k: v for k, v in segments[0]["blocks"][0].items() if k != "address"})
    before = free(); torch.cuda.empty_cache()
    say("graph pool: empty_cache free before, after", (before, free()))
    before = free(); del graph; gc.collect(); torch.cuda.empty_cache()
    say("graph gone: empty_cache free before, after", (before, free()))
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda")
    say("MemPool id, use_count, names", (pool.id, pool.use_count(), [n for n in dir(pool) if not n.startswith("__")]))
    attempt("MemPool snapshot", lambda: [(s["total_size"], s["allocated_size"], s["segment_pool_id"]) for s in pool.snapshot()])
    attempt("memory_stats of a pool", lambda: sorted(torch.cuda.memory.memory_stats.__code__.co_varnames)[:8])
    calls = []
    def observer(*arguments):
        calls.append(arguments)
        start = time.perf_counter_ns()
        torch.cuda.memory._dump_snapshot("/tmp/oom.pickle")
        say("observer", (arguments, "dump ns", time.perf_counter_ns() - start, os.path.getsize("/tmp/oom.pickle")))
    say("attach observer", torch._C._cuda_attach_out_of_memory_observer(observer))
    attempt("200 GiB", lambda: torch.empty(200 << 30, dtype=torch.uint8, device="cuda"))
    attempt("too large", lambda: torch.empty(1 << 62, dtype=torch.uint8, device="cuda"))
    say("observer calls", calls)
    say("num_ooms, retries", (torch.cuda.memory_stats()["num_ooms"], torch.cuda.memory_stats()["num_alloc_retries"]))
    torch.cuda.memory._record_memory_history(max_entries=1000)
    for n in range(2000): torch.empty(n + 1, device="cuda")
    start = time.perf_counter_ns(); shot = torch.cuda.memory._snapshot(); took = time.perf_counter_ns() - start
    say("_snapshot with history ns, keys", (took, sorted(shot), len(shot["device_traces"][0])))
    torch.cuda.memory._record_memory_history(enabled=None)


@section(PYTORCH_ALLOC_CONF="backend:cudaMallocAsync")
def torch_async():
    import torch
    say("backend", torch.cuda.get_allocator_backend())
    default_pool("default pool before")
    blocks = [torch.empty(n, dtype=torch.uint8, device="cuda") for n in (1, MIB, 64 * MIB)]
    show("non-zero _cuda_memoryStats", dict((k, v) for k, v in flat(torch._C._cuda_memoryStats(0)) if v))
    default_pool("default pool with blocks")
    before = free(); blocks.pop(); say("free before, after del", (before, free())); torch.cuda.empty_cache()
    say("after empty_cache", free()); default_pool("default pool after")
    attempt("memory_snapshot", lambda: len(torch.cuda.memory_snapshot()))
    attempt("_dump_snapshot", lambda: torch.cuda.memory._dump_snapshot("/tmp/async.pickle"))
    attempt("reset peak", torch.cuda.reset_peak_memory_stats)
    attempt("observer", lambda: torch._C._cuda_attach_out_of_memory_observer(lambda *a: say("observer", a)))
    attempt("oom", lambda: torch.empty(200 << 30, dtype=torch.uint8, device="cuda"))


@section(PYTORCH_ALLOC_CONF="expandable_segments:True")
def torch_expandable():
    import torch
    blocks = [torch.empty(32 * MIB, dtype=torch.uint8, device="cuda") for _ in range(8)]
    del blocks[1:7]
    st = torch._C._cuda_memoryStats(0)
    say("reserved allocated inactive_split segments", [st[k]["all"]["current"] for k in ("reserved_bytes", "allocated_bytes", "inactive_split_bytes", "segment")])
    before = free(); torch.cuda.empty_cache(); say("empty_cache free before, after", (before, free()))
    st = torch._C._cuda_memoryStats(0)
    say("reserved allocated inactive_split segments", [st[k]["all"]["current"] for k in ("reserved_bytes", "allocated_bytes", "inactive_split_bytes", "segment")])


@section()
def cupy():
    import cupy
    say("version", cupy.__version__)
    pool = cupy.get_default_memory_pool()
    say("pool", (type(pool).__module__, type(pool).__name__, [n for n in dir(pool) if not n.startswith("__")]))
    say("before use", (pool.used_bytes(), pool.total_bytes(), pool.free_bytes(), pool.n_free_blocks(), pool.get_limit()))
    allocator = cupy.cuda.get_allocator()
    say("allocator", (repr(allocator)[:80], getattr(allocator, "__self__", None) is pool, type(getattr(allocator, "__self__", None)).__name__))
    arrays = [cupy.empty(n, dtype="u1") for n in (1000, MIB, 64 * MIB)]
    say("with arrays", (pool.used_bytes(), pool.total_bytes(), pool.free_bytes(), pool.n_free_blocks()))
    say("other thread", in_thread(lambda: (pool.used_bytes(), pool.total_bytes(), cupy.cuda.runtime.getDevice())))
    def with_device():
        with cupy.cuda.Device(0):
            return pool.used_bytes(), pool.total_bytes()
    say("other thread with Device(0)", in_thread(with_device))
    say("allocator on another thread", in_thread(lambda: getattr(cupy.cuda.get_allocator(), "__self__", None) is pool))
    say("stack of current allocator names", [n for n in dir(cupy.cuda.memory) if "alloc" in n.lower()])
    say("getDeviceCount, uuid", (cupy.cuda.runtime.getDeviceCount(), cupy.cuda.runtime.getDeviceProperties(0)["uuid"].hex()[:4]))
    arrays.pop(); before = free(); pool.free_all_blocks()
    say("free_all_blocks free before, after", (before, free()))
    big = cupy.empty(8 * MIB, dtype="u1"); del big
    small = cupy.empty(MIB // 2, dtype="u1"); before = free(); pool.free_all_blocks()
    say("split chunk free before, after, free_bytes", (before, free(), pool.free_bytes()))
    attempt("200 GiB", lambda: cupy.empty(200 << 30, dtype="u1"))
    pool.set_limit(size=32 * MIB)
    attempt("over the limit", lambda: cupy.empty(64 * MIB, dtype="u1")); say("limit", pool.get_limit())
    pinned = cupy.get_default_pinned_memory_pool()
    say("pinned", [n for n in dir(pinned) if not n.startswith("__")])
    say("stream capturing", cupy.cuda.get_current_stream().is_capturing())
    async_pool = cupy.cuda.MemoryAsyncPool()
    cupy.cuda.set_allocator(async_pool.malloc)
    x = cupy.empty(64 * MIB, dtype="u1")
    say("MemoryAsyncPool", [n for n in dir(async_pool) if not n.startswith("__")])
    for name in ("used_bytes", "total_bytes", "free_bytes", "n_free_blocks", "get_limit"):
        attempt("async " + name, getattr(async_pool, name))
    say("default pool then", (pool.used_bytes(), pool.total_bytes()))
    default_pool("driver's default pool")
    del x; before = free(); async_pool.free_all_blocks(); say("async free_all_blocks free before, after", (before, free()))
    cupy.cuda.set_allocator(cupy.cuda.malloc_async); x = cupy.empty(MIB, dtype="u1")
    say("malloc_async allocator", (repr(cupy.cuda.get_allocator())[:80], type(getattr(cupy.cuda.get_allocator(), "__self__", None))))
    cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)
    y = cupy.empty(MIB, dtype="u1"); say("another pool", (repr(cupy.cuda.get_allocator())[:80], cupy.cuda.get_allocator().__self__.used_bytes()))


def walk(mr):
    chain = []
    while mr is not None:
        entry = [type(mr).__name__]
        for name in ("pool_size", "get_allocated_bytes", "get_allocation_limit"):
            if hasattr(mr, name):
                entry.append((name, getattr(mr, name)()))
        if hasattr(mr, "allocation_counts"):
            entry.append(mr.allocation_counts)
        chain.append(entry)
        mr = mr.get_upstream() if hasattr(mr, "get_upstream") else None
    return chain


@section()
def rmm():
    import rmm
    import rmm.mr
    say("version", rmm.__version__)
    say("initialised, default", (rmm.is_initialized(), walk(rmm.mr.get_current_device_resource())))
    say("libcuda context after that", free())
    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=0)
    say("pool(0) size", pool.pool_size())
    limit = rmm.mr.LimitingResourceAdaptor(pool, 1 << 30)
    track = rmm.mr.TrackingResourceAdaptor(limit)
    fail = rmm.mr.FailureCallbackResourceAdaptor(track, lambda n: False)
    stats = rmm.mr.StatisticsResourceAdaptor(fail)
    rmm.mr.set_current_device_resource(stats)
    buffers = [rmm.DeviceBuffer(size=n) for n in (1, 1000, 64 * MIB)]
    say("walk", walk(rmm.mr.get_current_device_resource()))
    say("same object each time", rmm.mr.get_current_device_resource() is stats)
    say("per device 0", type(rmm.mr.get_per_device_resource(0)).__name__)
    say("other thread", in_thread(lambda: walk(rmm.mr.get_per_device_resource(0))[0]))
    attempt("get_per_device_resource(5)", lambda: type(rmm.mr.get_per_device_resource(5)).__name__)
    before = free(); del buffers; gc.collect(); say("freed: driver free before, after", (before, free()))
    say("walk after", walk(stats))
    say("push", stats.push_counters()); say("counts in frame", stats.allocation_counts); say("pop", stats.pop_counters())
    attempt("pop the last", stats.pop_counters)
    attempt("over the limit", lambda: rmm.DeviceBuffer(size=2 << 30))
    before = free()
    attempt("reinitialize with a statistics top", lambda: rmm.reinitialize(pool_allocator=True, initial_pool_size=64 * MIB))
    say("walk after reinitialize", walk(rmm.mr.get_current_device_resource()))
    del stats, fail, track, limit, pool; gc.collect(); say("driver free before, after the old is gone", (before, free()))
    attempt("200 GiB", lambda: rmm.DeviceBuffer(size=200 << 30))
    attempt("initial size default", lambda: rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource()).pool_size())
    for kind in ("CudaAsyncMemoryResource", "ManagedMemoryResource", "ArenaMemoryResource", "BinningMemoryResource", "CallbackMemoryResource"):
        cls = getattr(rmm.mr, kind); say(kind, [n for n in dir(cls) if not n.startswith("_")])
    a = rmm.mr.CudaAsyncMemoryResource(); rmm.mr.set_current_device_resource(a); b = rmm.DeviceBuffer(size=64 * MIB)
    default_pool("default pool beside CudaAsyncMemoryResource"); say("walk", walk(a))


@section()
def rmm_under_cupy_and_torch():
    import rmm
    import cupy
    import torch
    from rmm.allocators.cupy import rmm_cupy_allocator
    from rmm.allocators.torch import rmm_torch_allocator
    rmm.reinitialize(pool_allocator=True, initial_pool_size=256 * MIB)
    stats = rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource())
    rmm.mr.set_current_device_resource(stats)
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    say("cupy allocator", (rmm_cupy_allocator.__module__, rmm_cupy_allocator.__name__, getattr(rmm_cupy_allocator, "__self__", None)))
    x = cupy.empty(10 * MIB, dtype="u1")
    say("cupy pool then", (cupy.get_default_memory_pool().used_bytes(), cupy.get_default_memory_pool().total_bytes()))
    say("walk", walk(stats))
    torch.cuda.memory.change_current_allocator(rmm_torch_allocator)
    attempt("backend", torch.cuda.get_allocator_backend)
    attempt("is_initialized", torch.cuda.is_initialized)
    y = torch.empty(20 * MIB, dtype=torch.uint8, device="cuda")
    say("walk", walk(stats))
    for name, call in (("_cuda_memoryStats", lambda: torch._C._cuda_memoryStats(0)), ("memory_stats", lambda: torch.cuda.memory_stats(0)),
                       ("reset_peak", torch.cuda.reset_peak_memory_stats), ("snapshot", torch.cuda.memory_snapshot),
                       ("_snapshot", torch.cuda.memory._snapshot), ("empty_cache", torch.cuda.empty_cache),
                       ("record history", lambda: torch.cuda.memory._record_memory_history(max_entries=10)),
                       ("observer", lambda: torch._C._cuda_attach_out_of_memory_observer(lambda *a: say("observer", a))),
                       ("oom", lambda: torch.empty(200 << 30, dtype=torch.uint8, device="cuda")),
                       ("capturing", torch.cuda.is_current_stream_capturing)):
        attempt(name, call)
    attempt("cupy oom", lambda: cupy.empty(200 << 30, dtype="u1"))


@section()
def jax():
    import jax
    say("version", jax.__version__)
    from jax._src import xla_bridge
    say("names", [n for n in dir(xla_bridge) if "init" in n.lower() or n == "_backends"])
    attempt("backends_are_initialized", xla_bridge.backends_are_initialized); say("_backends", dict(xla_bridge._backends))
    devices = jax.local_devices()
    attempt("backends_are_initialized", xla_bridge.backends_are_initialized); say("_backends", {k: type(v).__name__ for k, v in xla_bridge._backends.items()})
    d = devices[0]
    say("device", (repr(d), d.platform, d.id, d.local_hardware_id, d.device_kind, [n for n in dir(d) if not n.startswith("_")]))
    say("free before an array", free())
    say("stats before", d.memory_stats())
    x = jax.numpy.ones(16 * MIB); x.block_until_ready()
    say("stats", d.memory_stats()); say("other thread", in_thread(d.memory_stats) == d.memory_stats())
    start = time.perf_counter_ns(); [d.memory_stats() for _ in range(100)]; say("ns a call", (time.perf_counter_ns() - start) // 100)
    before = free(); del x; gc.collect(); say("del: free before, after", (before, free())); say("stats", d.memory_stats())
    attempt("clear_caches", jax.clear_caches); say("free", free())
    attempt("oom", lambda: jax.numpy.ones(200 << 28).block_until_ready())
    say("cpu", attempt("cpu stats", lambda: jax.devices("cpu")[0].memory_stats()))


@section(XLA_PYTHON_CLIENT_ALLOCATOR="platform")
def jax_platform():
    import jax
    d = jax.local_devices()[0]; x = jax.numpy.ones(16 * MIB); x.block_until_ready()
    say("stats", d.memory_stats()); before = free(); del x; gc.collect(); say("del: free before, after", (before, free()))


@section(XLA_PYTHON_CLIENT_ALLOCATOR="cuda_async", XLA_PYTHON_CLIENT_PREALLOCATE="false")
def jax_async():
    import jax
    d = jax.local_devices()[0]; x = jax.numpy.ones(16 * MIB); x.block_until_ready()
    say("stats", d.memory_stats()); default_pool("default pool")


@section()
def quadrants():
    import quadrants as qd
    say("version", getattr(qd, "__version__", None)); say("modules", [m for m in ("quadrants", "taichi", "torch") if m in sys.modules])
    qd.init(arch=qd.cuda, log_level=qd.WARN)
    say("free", free()); default_pool("after init")
    field = qd.field(qd.f32, shape=(16 * MIB,))
    @qd.kernel
    def fill():
        for i in field: field[i] = i * 1.0
    fill(); qd.sync(); default_pool("with a 64 MiB field"); say("free", free())
    nd = qd.ndarray(qd.f32, shape=(16 * MIB,)); default_pool("with a 64 MiB ndarray"); say("free", free())
    del nd; gc.collect(); qd.sync(); default_pool("ndarray gone"); say("free", free())
    pool = ctypes.c_void_p(); lib = ctypes.CDLL("libcuda.so.1"); lib.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0)
    before = free(); code = lib.cuMemPoolTrimTo(pool, ctypes.c_size_t(0)); say("trim code, free before, after", (code, before, free())); default_pool("trimmed")
    zero = ctypes.c_uint64(0); say("set highs to 0", (lib.cuMemPoolSetAttribute(pool, 6, ctypes.byref(zero)), lib.cuMemPoolSetAttribute(pool, 8, ctypes.byref(zero)))); default_pool("highs reset")
    import torch; torch.zeros(1, device="cuda"); default_pool("beside torch")
    attempt("oom", lambda: qd.ndarray(qd.f32, shape=(60 << 30,)))
    qd.reset(); default_pool("after reset"); say("free", free())


def bare(name, folder):
    """A package without its __init__, so that one module of it loads alone."""
    module = types.ModuleType(name); module.__path__ = [folder]; sys.modules[name] = module
    return module


def site(name):
    return next(p for p in (os.path.join(s, name) for s in sys.path) if os.path.isdir(p))


def raster():
    bare("vibespatial", site("vibespatial")); bare("vibespatial.raster", os.path.join(site("vibespatial"), "raster"))
    import vibespatial.raster.memory as memory
    import cupy
    say("before", memory.memory_pool_stats()); say("tier", memory.configure_memory_pool()); say("after", memory.memory_pool_stats())
    x = cupy.ones(MIB, dtype="u1"); y = cupy.ones(64 * MIB, dtype="u1"); say("with arrays", memory.memory_pool_stats())
    say("adaptor", type(memory._stats_adaptor).__name__ if memory._stats_adaptor is not None else None)
    if memory._stats_adaptor is not None: say("walk", walk(memory._stats_adaptor))
    del x, y; gc.collect(); say("freed", memory.memory_pool_stats()); before, old = free(), id(memory._stats_adaptor)
    memory.free_pool_memory(); say("free_pool_memory: free before, after, adaptor changed", (before, free(), id(memory._stats_adaptor) != old)); say("then", memory.memory_pool_stats())
    start = time.perf_counter(); attempt("200 GiB", lambda: cupy.empty(200 << 30, dtype="u1")); say("seconds, retries", (time.perf_counter() - start, memory._oom_retry_count)); say("then", memory.memory_pool_stats())


@section()
def vibespatial_tier_b(): raster()


@section(VIBESPATIAL_GPU_POOL_ONLY="1")
def vibespatial_tier_a(): raster()


@section()
def vibespatial_main():
    folder = site("vibespatial"); bare("vibespatial", folder); bare("vibespatial.cuda", os.path.join(folder, "cuda"))
    runtime = __import__("vibespatial.cuda._runtime", fromlist=["x"])
    say("names", [n for n in dir(runtime) if "pool" in n.lower() or "runtime" in n.lower() or "rmm" in n.lower()])
    r = runtime.get_cuda_runtime()
    say("runtime names", [n for n in dir(r) if any(w in n.lower() for w in ("pool", "memory", "backend", "rmm"))])
    say("stats", attempt("memory_pool_stats", r.memory_pool_stats))
    import cupy; x = cupy.ones(64 * MIB, dtype="u1"); attempt("stats", r.memory_pool_stats)
    import rmm.mr; say("walk", walk(rmm.mr.get_current_device_resource())); del x; before = free(); attempt("free_pool_memory", r.free_pool_memory); say("free before, after", (before, free()))


@section()
def algan():
    import torch
    bare("algan", site("algan")); memory = __import__("algan.utils.memory_utils", fromlist=["x"])
    say("modules", [m for m in ("algan", "algan.utils.memory_utils", "quadrants", "taichi", "torch") if m in sys.modules])
    device = torch.device("cuda", 0); say("peak floor", memory._PEAK_FLOOR)
    x = torch.empty(300 * MIB, dtype=torch.uint8, device="cuda"); token = memory.begin_cuda_peak(device); say("token", token)
    y = torch.empty(100 * MIB, dtype=torch.uint8, device="cuda"); del y; say("end", memory.end_cuda_peak(token)); say("floor", memory._PEAK_FLOOR); say("peak_allocated", (memory.peak_allocated(), memory.peak_allocated(device)))
    memory.reset_peak_floor(); say("reset", memory._PEAK_FLOOR)
    memory.set_auto_record(True); arena = memory.ManualMemory(0.1, device, num_bytes=MIB); say("arena", {k: (type(v).__name__, v if isinstance(v, (int, float, bool, list, type(None))) else "") for k, v in vars(arena).items()})
    with arena.scope("render", frames=3): t = arena.get_tensor((10,))
    say("recorded", (memory.recorded_arenas(), memory.recorded_arenas()[0]._recorder.root.children if hasattr(arena, "_recorder") else [k for k in vars(arena)]))
    before = free(); memory.release_torch_memory(); say("release_torch_memory free before, after", (before, free()))


def main():
    wanted = sys.argv[1:]
    if len(wanted) == 2 and wanted[0] == "--one":
        try:
            SECTIONS[wanted[1]][0]()
        except BaseException:
            print("  failed:\n" + "".join("    " + line for line in traceback.format_exc().splitlines(True)[-3:]))
        sys.stdout.flush()
        os._exit(0)
    for name in wanted or SECTIONS:
        print("== %s %s" % (name, " ".join("%s=%s" % pair for pair in SECTIONS[name][1].items())), flush=True)
        try:
            done = subprocess.run([sys.executable, __file__, "--one", name], env={**os.environ, **SECTIONS[name][1]},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            print(done.stdout.rstrip()[:14000])
            if done.returncode:
                print("  ended with", done.returncode)
        except subprocess.TimeoutExpired as expired:
            print((expired.stdout or b"").decode()[:6000], "\n  no end within 60 s")


if __name__ == "__main__":
    main()
