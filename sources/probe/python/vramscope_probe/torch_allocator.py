"""torch's allocators: the caching one of CUDA, its cudaMallocAsync backend, an
external one, and that of Metal."""
import sys

from .adapter import Adapter, counter_set, Face, in_units, register
from .device import DRIVER, INHERITED, DriverFree, default_pool_id, gpu_uuid, gpus_of, on_gpu
from .peaks import PeakRegions
from .pressure import MINIMUM_RECLAIMABLE
from .torch_failures import TORCH_FAILURES, write_torch_snapshot


class TorchAdapter(Adapter):
    """torch as the program uses it. Nothing is asked before the program has
    initialised CUDA, and no device that has no context yet."""

    name = "torch"
    module = "torch"

    CALL = "torch._C._cuda_memoryStats"

    def __init__(self):
        self._regions = {}  # ordinal: PeakRegions
        self._found = ("", ())  # the backend and the ordinals at the last look
        self._faces = {}  # (ordinal, whether releasable is unknown): what a sample of the native backend needs again

    # What is there.

    def cuda(self):
        """torch.cuda, once the program has initialised it, else None."""
        torch = self.library()
        cuda = getattr(torch, "cuda", None)
        initialised = getattr(cuda, "is_initialized", None)
        return cuda if initialised is not None and initialised() else None

    def backend(self):
        """"native", "cudaMallocAsync" or "pluggable"; versions that cannot tell
        have the first only."""
        ask = getattr(self.library()._C, "_cuda_getAllocatorBackend", None)
        return ask() if ask is not None else "native"

    def ordinals(self, device=""):
        """The devices that hold something of torch."""
        cuda = self.cuda()
        if cuda is None:
            return []
        if getattr(getattr(self.library(), "version", None), "cuda", None) is None:
            return list(range(cuda.device_count()))  # ROCm: there is no driver to ask
        if DRIVER.library() is None and DRIVER.loaded() is None:
            return []
        return [i for i in gpus_of(device) if DRIVER.active(i)]

    def on_rmm(self):
        """Whether torch allocates through RMM."""
        return self.backend() == "pluggable" and "rmm.allocators.torch" in sys.modules

    def statistics(self, ordinal):
        """The nested counters of a device."""
        return self.library()._C._cuda_memoryStats(ordinal)

    def releasable(self, statistics):
        """Bytes in wholly free segments, or None where the counters do not tell:
        pages of expandable segments go back one by one. Free segments of a
        graph's private pool are among them."""
        reserved = statistics["reserved_bytes"]["all"]["current"]
        if reserved and statistics["segment"]["all"]["current"] == 0:
            return None
        return max(0, reserved - statistics["active_bytes"]["all"]["current"]
                   - statistics["inactive_split_bytes"]["all"]["current"])

    # Samples.

    def sample(self, out):
        if out.look or not self._found[1]:
            self.look()
        backend, ordinals = self._found
        if not ordinals and DRIVER.forked:
            out.add_inherited(self.name, INHERITED)
        if backend == "pluggable":
            out.each(self.sample_external, ordinals)
        elif backend == "cudaMallocAsync":
            out.each(self.sample_asynchronous, ordinals)
        else:
            out.each(self.sample_native, ordinals)
        if sys.platform == "darwin":
            self.sample_metal(out)

    def look(self):
        """Finds out which devices torch uses, and through what."""
        if self.cuda() is None:
            self._found = ("", ())
            if self.library() is not None and not DRIVER.forked:
                TORCH_FAILURES.foresee(self)
            return
        TORCH_FAILURES.attach(self)
        self._found = (self.backend(), tuple(self.ordinals()))

    def sample_native(self, out, ordinal, statistics=None):
        """Adds the sets of a device, as torch's statistics have them, those of
        this moment by default."""
        if statistics is None:
            statistics = self.statistics(ordinal)
        reserved = statistics["reserved_bytes"]["all"]
        if reserved["peak"] == 0 and statistics["num_ooms"] == 0:
            return  # torch has not touched this device
        allocated, active = statistics["allocated_bytes"]["all"], statistics["active_bytes"]["all"]
        blocks, segments = statistics["allocation"]["all"], statistics["segment"]["all"]
        counters = {
            "allocated": allocated["current"], "reserved": reserved["current"], "active": active["current"],
            "peak_allocated": allocated["peak"], "peak_reserved": reserved["peak"],
            "live_blocks": blocks["current"], "segments": segments["current"],
            "lifetime_bytes": allocated["allocated"], "lifetime_count": blocks["allocated"],
            "retries": statistics["num_alloc_retries"], "ooms": statistics["num_ooms"],
        }
        releasable = self.releasable(statistics)
        if releasable is not None:
            counters["releasable"] = releasable
        requested = statistics.get("requested_bytes")
        if requested is not None:
            requested = requested["all"]
            counters["requested"], counters["peak_requested"] = requested["current"], requested["peak"]
        key = ordinal, releasable is None
        kept = None if out.look else self._faces.get(key)
        if kept is None:
            kept = self._faces[key] = self.faces(*key) + (self.regions(ordinal),)
        pool, peaks, regions = kept
        out.fill(pool, counters)
        out.fill(peaks, regions.counters(algan_peak_floor(ordinal), counters["peak_allocated"]))

    def faces(self, ordinal, expandable):
        """What stays of the two sets of a device."""
        why = {"largest_free": "only a walk over every block tells, which a sampler must not do"}
        if expandable:
            why["releasable"] = "the pages of expandable segments go back one by one, and no counter tells how many"
        device = gpu_uuid(ordinal)
        return (Face(counter_set("torch:%d" % ordinal, "pool", "torch", device, self.CALL, {}, why=why)),
                Face(counter_set("peaks:%d" % ordinal, "peaks", "peaks of torch", device, self.CALL, {})))

    def sample_asynchronous(self, out, ordinal):
        """This backend leaves everything to the driver's default pool, and
        writes 0 where it does not count."""
        statistics = self.statistics(ordinal)
        if statistics["reserved_bytes"]["all"]["peak"] == 0:
            return
        uncounted = "the cudaMallocAsync backend does not count it"
        names = ("requested", "live_blocks", "segments", "retries", "ooms", "lifetime_bytes", "lifetime_count")
        out.add("torch:%d" % ordinal, "pool", "torch (cudaMallocAsync)", gpu_uuid(ordinal), self.CALL,
                self.shared_counters(statistics), default_pool_id(ordinal), dict.fromkeys(names, uncounted))
        self.sample_peaks(out, ordinal, statistics)

    def sample_external(self, out, ordinal):
        reason = "torch: external allocator, which counts nothing for torch"
        inside = ""
        if self.on_rmm():
            reason, inside = "torch: external allocator, RMM has the numbers", "rmm:%d" % ordinal
        out.add("torch:%d" % ordinal, "pool", "torch: external allocator", gpu_uuid(ordinal), "", {}, inside,
                {"reserved": reason, "allocated": reason})

    @staticmethod
    def shared_counters(statistics):
        """What every backend counts."""
        return {
            "allocated": statistics["allocated_bytes"]["all"]["current"],
            "reserved": statistics["reserved_bytes"]["all"]["current"],
            "active": statistics["active_bytes"]["all"]["current"],
            "peak_allocated": statistics["allocated_bytes"]["all"]["peak"],
            "peak_reserved": statistics["reserved_bytes"]["all"]["peak"],
        }

    def sample_metal(self, out):
        metal = getattr(self.library(), "mps", None)
        if metal is None or not self.library().backends.mps.is_available():
            return
        recommended = getattr(metal, "recommended_max_memory", None)
        out.add("torch-mps", "pool", "torch (Metal)", "", "torch.mps.current_allocated_memory, driver_allocated_memory",
                {"allocated": metal.current_allocated_memory(), "reserved": metal.driver_allocated_memory(),
                 "limit": recommended() if recommended else None},
                why={"peak_allocated": "Metal's allocator counts no peak"})

    # Peaks.

    def regions(self, ordinal):
        """The peak regions of a device."""
        if ordinal not in self._regions:
            def read():
                allocated = self.statistics(ordinal)["allocated_bytes"]["all"]
                return allocated["peak"], allocated["current"]
            self._regions[ordinal] = PeakRegions(read, lambda: self.library()._C._cuda_resetPeakMemoryStats(ordinal))
        return self._regions[ordinal]

    def sample_peaks(self, out, ordinal, statistics):
        out.add("peaks:%d" % ordinal, "peaks", "peaks of torch", gpu_uuid(ordinal), self.CALL,
                self.regions(ordinal).counters(algan_peak_floor(ordinal), statistics["allocated_bytes"]["all"]["peak"]))

    def reset_peak(self, report, device):
        for ordinal in self.ordinals(device):
            if self.backend() == "pluggable":
                report.line("torch: peak" + on_gpu(ordinal), why="an external allocator has no peak to reset")
                continue
            floor = algan_peak_floor(ordinal)
            before = self.regions(ordinal).counters(floor)["peak_reported"]
            self.regions(ordinal).reset_window()
            reset_algan_peak_floor()
            after = self.regions(ordinal).counters(algan_peak_floor(ordinal))["peak_reported"]
            report.line("torch: peak and its floor%s; the program's own reading of the peak begins anew too" % on_gpu(ordinal), before, after)
            report.acted = True

    # Commands.

    def refusals(self):
        binding = getattr(self.library(), "_C", None)
        if not hasattr(binding, "_cuda_memorySnapshot"):
            return {"snapshot": "this torch cannot write a memory snapshot: use one with CUDA, 2.1 or later"}
        backend = self.backend()
        if backend != "native":
            return {"snapshot": "torch's %s allocator keeps no list of its blocks: run with the native one" % backend}
        return {}

    def capturing(self):
        cuda = self.cuda()
        if cuda is None or not cuda.is_current_stream_capturing():
            return ""
        return "a CUDA graph is being captured, which any such call would spoil: ask again when it is done"

    def reclaim(self, report, device, forced):
        ordinals = self.ordinals(device)
        if ordinals and self.backend() == "pluggable":
            report.line("torch: nothing to empty", why="torch: external allocator, which has no cache of torch's")
        elif ordinals and (forced or self.cached(ordinals) >= MINIMUM_RECLAIMABLE):
            self.empty_cache(report, ordinals)
        metal = getattr(self.library(), "mps", None)
        if sys.platform == "darwin" and metal is not None and self.library().backends.mps.is_available():
            before = metal.driver_allocated_memory()
            metal.empty_cache()
            after = metal.driver_allocated_memory()
            report.line("torch (Metal): empty cache: reserved", before, after, max(0, before - after))
            report.acted = True

    def cached(self, ordinals):
        """Reserved and not allocated, bytes."""
        total = 0
        for ordinal in ordinals:
            counters = self.shared_counters(self.statistics(ordinal))
            total += counters["reserved"] - counters["allocated"]
        return total

    def empty_cache(self, report, ordinals):
        """torch empties the caches of all devices at once."""
        reserved, free = self.reserved(ordinals), DriverFree(ordinals)
        self.cuda().empty_cache()
        free.done()
        if free.before is not None:
            free.line(report, "torch: empty cache", self.kept(ordinals))
        else:
            left = self.reserved(ordinals)
            report.line("torch: empty cache: reserved", reserved, left, max(0, reserved - left), self.kept(ordinals), free.took)
        report.acted = True

    def reserved(self, ordinals):
        """Bytes that torch has taken from the driver."""
        return sum(self.shared_counters(self.statistics(ordinal))["reserved"] for ordinal in ordinals)

    def kept(self, ordinals):
        """Why less came back than was cached, or "": in whose company it lies."""
        left = self.cached(ordinals)
        if left <= 0:
            return ""
        if self.backend() != "native":
            return "%s stay in the driver's default pool" % in_units(left)
        if self.history():
            return "%s stay: a recorded history makes a look at the segments too dear to say where" % in_units(left)
        split = private = blocks = waiting = 0
        for segment in self.cuda().memory_snapshot():
            if segment["device"] not in ordinals:
                continue
            unused = segment["total_size"] - segment["active_size"]
            waiting += segment["active_size"] - segment["allocated_size"]
            if tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0):
                private += unused
            elif unused and segment["active_size"]:
                split += unused
                blocks += sum(1 for block in segment["blocks"] if block["state"] == "active_allocated")
        reasons = []
        if split:
            reasons.append("%s lie in split segments beside %d live tensor%s" % (in_units(split), blocks, "" if blocks == 1 else "s"))
        if private:
            reasons.append("%s lie in private pools, which go back when the last graph or pool that uses them is gone" % in_units(private))
        if waiting:
            reasons.append("%s were freed and still wait for a stream" % in_units(waiting))
        return "; ".join(reasons)

    def history(self):
        """Whether stack traces are being recorded."""
        ask = getattr(self.library()._C, "_cuda_isHistoryEnabled", None)
        return bool(ask()) if ask is not None else TORCH_FAILURES.history

    def rebuild(self, report, device):
        if self.ordinals(device) and self.backend() != "pluggable":
            report.line("torch: its cache was emptied instead", why="torch's allocator cannot be built again in a running program")
            self.reclaim(report, device, True)

    def snapshot(self, report, path):
        if self.cuda() is None:
            report.fail("torch has not initialised CUDA, and only its memory on a GPU can be written: ask again once the render uses one")
            return
        size, took, why = write_torch_snapshot(self.library(), path)
        report.path, report.acted = path, True
        report.line("torch: memory snapshot, %s" % ("with the recorded history" if self.history() else
                    "segments only: --torch-history records stacks"), after=size, why=why, took=took)

    def drain(self, publish):
        TORCH_FAILURES.drain(self, publish)


def algan_peak_floor(ordinal):
    """What algan's own accounting holds as displaced on a device, bytes; its
    keys are (type, index), and index None is the current device."""
    memory = sys.modules.get("algan.utils.memory_utils")
    if memory is None:
        return 0
    floors = getattr(memory, "_PEAK_FLOOR", None)
    if not isinstance(floors, dict):
        return 0
    kinds = [("cuda", ordinal)] + ([("cuda", None)] if ordinal == 0 else [])
    return max((floors.get(key) or 0 for key in kinds), default=0)


def reset_algan_peak_floor():
    """Empties algan's floors by its own call, which goes with every reset."""
    reset = getattr(sys.modules.get("algan.utils.memory_utils"), "reset_peak_floor", None)
    if reset is not None:
        reset()


TORCH = register(TorchAdapter())


class peak_region:
    """A stretch of the program whose peak on a device is wanted:

        with peak_region() as region:
            project(scene)
        print(region.peak)

    peak is how many bytes the highest point stood above the beginning. Regions
    nest, and neither one within another nor a reset from the dashboard spoils
    the peak of one around it. It resets torch's own peak counter: the program's
    torch.cuda.max_memory_allocated() begins anew at each region. Without CUDA the
    peak is None: not known.
    """

    def __init__(self, device=0):
        self.device = device
        self.peak = None
        self._regions = self._open = None

    def __enter__(self):
        try:
            if self.device in TORCH.ordinals() and TORCH.backend() != "pluggable":
                self._regions = TORCH.regions(self.device)
                self._open = self._regions.begin()
        except Exception:
            self._open = None
        return self

    def __exit__(self, *_):
        try:
            if self._open is not None:
                self.peak = self._regions.end(self._open)
        except Exception:
            pass
        return False
