"""Prints the comparison of allocators on this machine's GPU: see compare.sh.

Each allocator is measured in a process of its own. Those of Python are called from
Python, so that their figures hold one Python call for the allocation and one for the
free; what an empty call costs stands beside them.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

LIVE, FREE, BATCHES, FRAME = 10_000, 5_000, 15, 8
SIZES = [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 1 << 30]
TRACE = "../../recorder/torchsnap/testdata/resnet50-400-steps.pickle.gz"


def fragment(allocate, free):
    """Brings an allocator to its live and free blocks, as compare_test.go does.

    Returns the live blocks, to be kept.
    """
    source = random.Random(1)
    live, gone = [], []
    for i in range(LIVE + FREE):
        size = 256 << source.randrange(15)
        size += source.randrange(size)
        (gone if i % 3 == 1 else live).append((allocate(size), size))
    while gone:
        free(*gone.pop())
    return live


def median_ns(n, once):
    """The median of BATCHES batches of n, in ns for each, after one that does not count."""
    times = []
    for _ in range(BATCHES + 1):
        start = time.perf_counter_ns()
        once(n)
        times.append((time.perf_counter_ns() - start) / n)
    return sorted(times[1:])[BATCHES // 2]


def measure(allocate, free, pairs, n=3000):
    """The figures of one allocator: allocate(bytes) gives what free(block, bytes) takes.

    pairs(bytes, n) does n allocations and frees with as little of Python as can be.
    """
    live = fragment(allocate, free)

    def frames(n):
        for _ in range(n):
            blocks = [allocate(1 << 20) for _ in range(FRAME)]
            while blocks:
                free(blocks.pop(), 1 << 20)

    figures = {"pairs": [median_ns(n, lambda n: pairs(size, n)) for size in SIZES], "frame": median_ns(n // 4, frames)}
    while live:
        free(*live.pop())
    return figures


def of_torch():
    """torch's caching allocator by its raw calls, without a tensor."""
    import torch
    torch.cuda.init()
    torch.empty(1, device="cuda")
    allocate = torch._C._cuda_cudaCachingAllocator_raw_alloc
    delete = torch._C._cuda_cudaCachingAllocator_raw_delete

    def pairs(size, n):
        for _ in range(n):
            delete(allocate(size, 0))

    figures = measure(lambda size: allocate(size, 0), lambda block, _: delete(block), pairs)
    return {"torch " + torch.__version__ + " caching allocator": figures}


def of_cupy():
    """CuPy's pool; a block is freed when nothing refers to it."""
    import cupy
    pool = cupy.cuda.MemoryPool()

    malloc = pool.malloc

    def free(block, _):
        del block

    def pairs(size, n):
        for _ in range(n):
            malloc(size)

    return {"CuPy " + cupy.__version__ + " pool": measure(malloc, free, pairs)}


def of_rmm():
    """RMM's pool over plain device memory."""
    import rmm
    import rmm.mr
    from rmm.pylibrmm.stream import DEFAULT_STREAM
    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=64 << 30)
    allocate, deallocate = pool.allocate, pool.deallocate

    def pairs(size, n):
        for _ in range(n):
            deallocate(allocate(size, DEFAULT_STREAM), size, DEFAULT_STREAM)

    figures = measure(
        lambda size: allocate(size, DEFAULT_STREAM), lambda block, size: deallocate(block, size, DEFAULT_STREAM), pairs)
    return {"RMM " + rmm.__version__ + " pool": figures}


def of_nothing():
    """Two calls that do nothing: what Python itself puts into the figures above."""
    def pairs(size, n):
        for _ in range(n):
            id(id(size))

    return {"two empty Python calls": {
        "pairs": [median_ns(20_000, lambda n: pairs(size, n)) for size in SIZES], "frame": None}}


def words(ns):
    """A time in three digits."""
    if ns is None:
        return "-"
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def bytes_in_words(count):
    """A size in a binary unit."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} B"


def print_pairs(go, python):
    """The table of allocations and frees."""
    print(f"\nOne allocation and its free, with {LIVE:,} live and {FREE:,} free blocks (median of {BATCHES} batches)\n")
    print(f"{'':36}" + "".join(f"{bytes_in_words(size):>10}" for size in SIZES) + "   objects/op")
    for name, figures in go["Pairs"].items():
        label = name + (" (by the worker)" if name == "cuMemAlloc" else "")
        print(f"{label:36}" + "".join(f"{words(f['Ns']):>10}" for f in figures)
              + f"   {max(f['Objects'] for f in figures):.2f}")
    print("through a Python call each:")
    for name, figures in python.items():
        print(f"{'  ' + name:36}" + "".join(f"{words(ns):>10}" for ns in figures["pairs"]))


def print_frames(go, python):
    """The table of frames, with what each is of the arena's."""
    arena = go["Frames"]["arena"]
    print(f"\nA frame: {FRAME} allocations of 1 MiB and their end (in the arena: a scope, a mark, one restore)\n")
    rows = [(name, figure["Ns"]) for name, figure in go["Frames"].items()]
    rows += [(name + ", from Python", figures["frame"]) for name, figures in python.items() if figures["frame"]]
    for name, ns in sorted(rows, key=lambda row: row[1]):
        print(f"{name:48}{words(ns):>10}   {ns / arena['Ns']:8.1f} x the arena")
    print(f"objects of the arena's frame on Go's heap: {arena['Objects']:.2f}")


def print_holdings(go):
    """What pools say beside what the driver says."""
    print("\nWhat a pool says it took, and what is missing from the driver's free memory (cuMemGetInfo), which goes by 2 MiB a segment\n")
    for name, held in go["Holds"].items():
        print(f"{name:20}{held['Claimed']:>16,} B in {held['Segments']:>6,} segments; driver {held['Driver']:>16,} B;"
              f" difference {held['Driver'] - held['Claimed']:,} B, {(held['Driver'] - held['Claimed']) / held['Segments']:,.0f} a segment")
    print(f"the context itself took {go['ContextBytes']:,} B (free memory by NVML, before and after)")


def print_trace(go):
    """What a real history needed in each pool."""
    print(f"\nThe history of {os.path.basename(TRACE)} replayed: "
          f"{go['Trace'][0]['Events']:,} allocations and frees, {bytes_in_words(go['Trace'][0]['PeakLive'])} live at the peak\n")
    print(f"{'':14}{'peak reserved':>14}{'of live':>9}{'free then':>12}{'largest':>12}{'fragm.':>8}"
          f"{'reserved at end':>17}{'free':>12}{'largest':>12}{'fragm.':>8}{'segments':>10}{'an event':>10}")
    for r in go["Trace"]:
        def split(free, largest):
            if free < 0:
                return f"{'-':>12}{'-':>12}{'-':>8}"
            share = f"{100 * (1 - largest / free):.0f} %" if free else "-"
            return f"{bytes_in_words(free):>12}{bytes_in_words(largest):>12}{share:>8}"
        print(f"{r['Name']:14}{bytes_in_words(r['PeakReserved']):>14}{r['PeakReserved'] / r['PeakLive']:>9.3f}"
              f"{split(r['PeakFree'], r['PeakLargest'])}{bytes_in_words(r['Reserved']):>17}"
              f"{split(r['EndFree'], r['EndLargest'])}{r['Segments']:>10}{words(r['NsEvent'] or None):>10}")


def run(part):
    """Measures one of Python's allocators in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--part", part], capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        print(f"{part} was left out: {reason}")
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def describe(device):
    """The machine that the figures are of."""
    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    asked = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    driver = asked.stdout.split()[0] if asked.stdout.split() else "unknown"
    print(f"{device['Name']}, {bytes_in_words(device['Total'])}; driver {driver}; {os.cpu_count()} processors: {processor}")


def main():
    """Runs everything and prints it."""
    if sys.argv[1] == "--part":
        print(json.dumps(globals()["of_" + sys.argv[2]]()))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "go.json")
        environment = dict(os.environ, VRAMSCOPE_COMPARE=path, VRAMSCOPE_COMPARE_TRACE=TRACE)
        subprocess.run([sys.argv[1], "-test.run=^TestCompare$"], env=environment, check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            go = json.load(file)
    python = {}
    for part in ("torch", "cupy", "rmm", "nothing"):
        python.update(run(part))
    describe(go["Device"])
    print_pairs(go, python)
    print_frames(go, python)
    print_holdings(go)
    print_trace(go)


main()
