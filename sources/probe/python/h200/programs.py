"""Holds whole programs under `vramscope run --record` against what their libraries
say, on a GPU: the way in is the one of every day, and what is left when a program
has ended is looked at as well.

    python3 programs.py BINARY [CASE...]

BINARY is vramscope. ranks wants two GPUs; a case whose library is missing fails
alone. Prints a table and ends with 1 when something is not equal.
"""
import collections
import copy
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import types

from beside import Watched, ended_well, hold, row
from inside import MIB, case, free, measured, pool_numbers, returned, run_case, stand, sync, tell

TOO_MUCH = 200 << 30  # bytes that no such GPU has


@case()
def torch_dies():
    """An allocation fails, with stacks and a snapshot asked for."""
    import torch

    def textures():
        return [torch.empty(n * MIB, dtype=torch.uint8, device="cuda") for n in (1, 64, 300)]
    kept = textures()
    torch.empty(100 * MIB, dtype=torch.uint8, device="cuda")
    tell(numbers={"torch:0": {"allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}})
    stand()
    try:
        torch.empty(TOO_MUCH, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        tell(failed={"asked": TOO_MUCH, "free": free(), "allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved(),
                     "blocks": len(kept)})
        raise


def after_torch_dies(name, watched, told, code):
    """The recording and the snapshot that a failed allocation leaves."""
    row(name, "exit code", code, 1)
    failed = told["failed"]
    oom = [record for record in recorded(watched) if record.get("t") == "oom"][-1]
    row(name, "recorded: asked for, bytes", oom.get("asked"), failed["asked"])
    row(name, "recorded: the driver's free bytes at the failure", oom.get("free"), failed["free"])
    row(name, "recorded: free in the pool, bytes", oom.get("pfree"), failed["reserved"] - failed["allocated"])
    snapshot = oom.get("outcome", "").rpartition(": ")[2]
    report = json.loads(subprocess.run([watched.binary, "report", "--json", snapshot], capture_output=True, text=True).stdout)
    row(name, "the snapshot: allocated", report["bytes"]["allocated"], failed["allocated"])
    row(name, "the snapshot: reserved", report["bytes"]["reserved"], failed["reserved"])
    stacks = {frame["name"] for top in report["peak"]["top"] for frame in top["frames"]}
    row(name, "the snapshot: whose blocks, by its stacks", "textures" in stacks, True)
    row(name, "the program's own error", any(line.startswith("torch.OutOfMemoryError: CUDA out of memory") for line in watched.errors), True)


@case()
def torch_graphs():
    """A CUDA graph is captured while vramscope samples and orders; its private pool stays."""
    import torch
    import vramscope_probe
    numbers = torch.ones(MIB, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            (numbers.repeat(8) * 2).sum()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tell(command="force-reclaim", refused="CUDA graph")
        stand(vramscope_probe.poll)
        result = (numbers.repeat(8) * 2).sum()
    numbers.fill_(3.0)
    graph.replay()
    tell(equal=[["the graph gives what it should", result.item(), 3.0 * 2 * 8 * MIB]])
    returned(lambda: [torch.empty(80 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)][:1], torch.cuda.empty_cache, vramscope_probe.poll)
    own = collections.Counter()
    for segment in torch.cuda.memory_snapshot():
        if tuple(segment["segment_pool_id"]) != (0, 0):
            own.update(reserved=segment["total_size"], allocated=segment["allocated_size"], active=segment["active_size"], segments=1)
    tell(numbers={"torch:0": {"reserved": torch.cuda.memory_reserved()}, "torch:0:graphs": own}, inside={"torch:0:graphs": "torch:0"})
    stand(vramscope_probe.poll)


@case()
def torch_compiled():
    """A training whose steps are CUDA graphs, ordered about while it goes on."""
    import torch
    import vramscope_probe
    torch.manual_seed(0)
    eager = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
    models = (eager, torch.compile(copy.deepcopy(eager), mode="reduce-overhead"))
    x, steps = torch.randn(64, 256, device="cuda"), 0

    def step():
        nonlocal steps
        for model in models:
            (model(x) - x).square().mean().backward()
            with torch.no_grad():
                for weights in model.parameters():
                    weights -= 0.1 * weights.grad
                    weights.grad = None
        steps += 1
        vramscope_probe.poll()
    for command in ("force-reclaim", "reset-peak", "headroom", "reclaim"):
        tell(command=command, ready=True)
        stand(step)
    apart = max((one - other).abs().max().item() for one, other in zip(*(model.parameters() for model in models)))
    tell(equal=[["the compiled model learns what the eager one does", apart < 1e-4 or apart, True]], note="%d steps, %.2g apart" % (steps, apart))


def bare(name, folder):
    """A package without its __init__, which wants more than is there."""
    package = types.ModuleType(name)
    package.__path__ = [path for path in (os.path.join(path, folder) for path in sys.path) if os.path.isdir(path)]
    sys.modules[name] = package


def vibespatial():
    """The main package's runtime: its pool has no rebuild of its own."""
    bare("vibespatial", "vibespatial")
    bare("vibespatial.cuda", os.path.join("vibespatial", "cuda"))
    import vibespatial.cuda._runtime as module
    runtime = module.get_cuda_runtime()
    kept = [runtime.allocate((n,), "u1") for n in (1000, MIB, 64 * MIB)]
    kept.pop(1)
    gc.collect()
    runtime.synchronize()
    stats = runtime.memory_pool_stats()
    tell(note="%s: %s" % (runtime._memory_backend, stats))
    names = {"used_bytes": "allocated", "peak_bytes": "peak_allocated", "total_bytes": "lifetime_bytes",
             "total_allocations": "lifetime_count", "reserved_bytes": "reserved", "free_bytes": "free"}
    tell(numbers={"vibespatial": {names[key]: value for key, value in stats.items() if key in names}}, inside={"vibespatial": "rmm:0"})
    stand()
    kept.clear()
    tell(command="rebuild")

    def make():
        runtime.allocate((192 * MIB,), "u1")
    returned(make, runtime.free_pool_memory)


@case()
def vibespatial_tier_b():
    vibespatial()


@case(VIBESPATIAL_GPU_OOM_SAFETY="0")
def vibespatial_tier_a():
    vibespatial()


@case(VIBESPATIAL_GPU_MANAGED_MEMORY="1")
def vibespatial_tier_c():
    vibespatial()


@case()
def algan():
    """A render: its arena while it stands between two batches, its scopes, what
    it leaves in the allocators."""
    began = time.monotonic()
    import algan
    import torch
    from algan.scene_manager import SceneManager
    from algan.utils import memory_utils
    # As much memory as a card of that size has: the kernels' offsets of 32 bits
    # do not reach over the arena that an H200 would give.
    algan.SETTINGS.computing.set(available_memory_override=8 << 30)
    scene = SceneManager.instance().current_scene
    scene.set_video_settings(algan.VideoSettings(resolution=(640, 360), fps=10))
    sphere = algan.Sphere(color=algan.BLUE, radius=1.2)
    sphere.spawn()
    with algan.Sync(runtime=6):
        sphere.move(algan.RIGHT * 2)
        sphere.color = algan.RED

    def rendered():
        start, frames = time.monotonic(), 0
        for batch in scene.get_frames(0, 60):
            frames += batch.shape[0]
        return "%d frames in %.1f s" % (frames, time.monotonic() - start)
    tell(note="first render: %s, of %.1f s since the start" % (rendered(), time.monotonic() - began))
    tell(command="record-on", ready=True)
    stand()
    for _ in range(2):
        tell(note="recorded: " + rendered())
    batches = scene.get_frames(0, 60)
    next(batches)
    arena = scene.memory
    time.sleep(1)  # the thread that prepares the next batch
    sync()
    pointers = {"length": int(arena.length), "forward": int(arena.current_pointer), "reverse": int(arena.current_reverse_pointer),
                "high_water": int(arena.max_pointer)}
    tell(numbers={"newest arena": pointers, "default-pool:0": pool_numbers(),
                  "torch:0": {"allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}},
         inside={"newest arena": "torch:0"})
    stand()
    batches.close()
    del arena, batches
    gc.collect()
    tell(own=measured(torch.cuda.empty_cache))
    rendered()
    tell(command="force-reclaim", ready=True)
    before = free()
    stand()
    sync()
    tell(note="force-reclaim gave the driver %d bytes" % (free() - before))
    counted = collections.defaultdict(collections.Counter)

    def count(record):
        for child in record.children:
            counted[child.name].update(count=1, alloc_count=child.alloc_count, self_bytes=child.total_bytes())
            count(child)
    for each in memory_utils.recorded_arenas():
        count(each._recorder.root)
    tell(scopes=counted, note="%d arenas are recorded" % len(memory_utils.recorded_arenas()))


def after_algan(name, watched, told, code):
    """The scopes of the recording, summed by name."""
    ended_well(name, watched, told, code)
    report = json.loads(subprocess.run([watched.binary, "report", "--json", watched.recording], capture_output=True, text=True).stdout)
    source = [source for source in report["sources"] if source.get("scopes_by_name")][0]
    scopes = {scope["name"]: scope for scope in source["scopes_by_name"]["scopes"]}
    for scope, counts in told["scopes"].items():
        for key in counts:
            row(name, "scope %s, %s" % (scope, key), scopes.get(scope, {}).get(key), counts[key])
    row(name, "scopes of other names", sorted(set(scopes) - set(told["scopes"])), [])


RANKS = 2


@case()
def ranks():
    """Two processes of one job under torchrun, each on a GPU of its own."""
    import torch
    import torch.distributed as distributed
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl")
    kept = [torch.ones(n * MIB, dtype=torch.uint8, device="cuda") for n in (1, 64 * (rank + 1))]
    total = torch.ones(MIB, device="cuda") * (rank + 1)
    distributed.all_reduce(total)
    torch.cuda.synchronize()
    tell(rank=rank, sum=total[0].item(), own={"allocated": torch.cuda.memory_allocated(rank), "reserved": torch.cuda.memory_reserved(rank)})
    while not os.path.exists(os.path.join(os.environ["TMPDIR"], "go on")):
        time.sleep(0.01)
    del kept
    distributed.destroy_process_group()


def watch_ranks(name, watched):
    """Reads and commands each rank at its own socket."""
    told = sorted((watched.next() for _ in range(RANKS)), key=lambda told: told["rank"])
    for each in told:
        watched.process_id = each["pid"]
        sets, _ = watched.last_sample()
        for counter, value in each["own"].items():
            row(name, "rank %d: torch:%d %s" % (each["rank"], each["rank"], counter), sets.get("torch:%d" % each["rank"], {}).get("c", {}).get(counter), value)
        row(name, "rank %d: all-reduce" % each["rank"], each["sum"], float(sum(range(1, RANKS + 1))))
        answer = watched.send("force-reclaim")
        row(name, "rank %d: force-reclaim" % each["rank"], answer.get("state"), "done")
    print(subprocess.run([watched.binary, "doctor"], env=watched.environment, capture_output=True, text=True).stdout)
    open(os.path.join(watched.directory, "go on"), "w").close()
    while watched.next():
        pass


def after_ranks(name, watched, told, code):
    """The recording has both ranks, of one job."""
    ended_well(name, watched, told, code)
    hellos = {}
    for record in recorded(watched):
        if record.get("t") == "hello" and "rank" in record:
            hellos[record["rank"]] = record
    row(name, "recorded: ranks", sorted(hellos), list(range(RANKS)))
    row(name, "recorded: jobs of the ranks", len({hello.get("job") for hello in hellos.values()}), 1)


def recorded(watched):
    """The records of the recording that the run kept."""
    with open(watched.recording) as lines:
        return [json.loads(line) for line in lines]


def start(binary):
    """start(name) starts a case under run."""
    def started(name):
        directory = tempfile.mkdtemp(prefix="vs")
        recording = os.path.join(directory, "run.vscope")
        launched = [sys.executable, __file__, "--case", name]
        if name == "ranks":
            launched = [os.path.join(os.path.dirname(sys.executable), "torchrun"), "--nproc-per-node", str(RANKS)] + launched[1:]
        history = ["--torch-history", "10000"] if name == "torch_dies" else []
        watched = Watched(binary, name, [binary, "run", "--record", recording] + history + ["--"] + launched)
        watched.recording = recording
        return watched
    return started


def main():
    if sys.argv[1] == "--case":
        return run_case(sys.argv[2])
    return hold(start(os.path.abspath(sys.argv[1])), sys.argv[2:], {"ranks": watch_ranks},
                {"torch_dies": after_torch_dies, "algan": after_algan, "ranks": after_ranks})


if __name__ == "__main__":
    sys.exit(main())
