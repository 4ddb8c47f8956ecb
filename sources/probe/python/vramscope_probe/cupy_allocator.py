"""CuPy's memory pools."""
from .adapter import Adapter, in_units, register
from .device import DRIVER, INHERITED, DriverFree, default_pool_id, gpu_uuid, gpus_of
from .peaks import SampledPeaks
from .pressure import MINIMUM_RECLAIMABLE


class CupyAdapter(Adapter):
    """The default pool, and whatever else CuPy has been told to allocate from.

    CuPy's calls act on the current device of the thread, and making a device
    current makes its context: devices that have none are passed over.
    """

    name = "cupy"
    module = "cupy"

    #: The first version that counts without a walk over every block.
    COUNTS = (14, 1)

    def __init__(self):
        self._peaks = SampledPeaks()

    @property
    def period(self):
        cupy = self.library()
        return 1.0 if cupy is not None and cupy_version(cupy) < self.COUNTS else 0.0

    def ordinals(self, device=""):
        """The devices that can hold something of CuPy."""
        return [i for i in gpus_of(device) if DRIVER.active(i)] if self.ready() else []

    def ready(self):
        """Whether the module has been loaded to its end."""
        return hasattr(self.library(), "get_default_memory_pool")

    def default_pool(self):
        """CuPy's default pool."""
        return self.library().get_default_memory_pool()

    def allocator(self):
        """(kind, pool) of what CuPy allocates from now: "default" its default
        pool, "pool" another MemoryPool, "async" a MemoryAsyncPool or
        malloc_async, "rmm", or "other" with its name."""
        current = self.library().cuda.get_allocator()
        owner = getattr(current, "__self__", None)
        if owner is not None and owner is self.default_pool():
            return "default", owner
        if type(owner).__name__ == "MemoryAsyncPool":
            return "async", owner
        if hasattr(owner, "used_bytes") and hasattr(owner, "total_bytes"):
            return "pool", owner
        if getattr(current, "__module__", "") == "rmm.allocators.cupy":
            return "rmm", None
        name = getattr(current, "__name__", type(current).__name__)
        return ("async" if name == "malloc_async" else "other"), name

    def sample(self, out):
        if DRIVER.forked:
            out.add_inherited(self.name, INHERITED)
        out.each(self.sample_device, self.ordinals())

    def sample_device(self, out, ordinal):
        """What CuPy has on a device."""
        kind, pool = self.allocator()
        with self.library().cuda.Device(ordinal):
            if kind == "default" or self.default_pool().total_bytes():
                self.sample_pool(out, ordinal, self.default_pool(), "cupy", "cupy")
            if kind == "pool":
                self.sample_pool(out, ordinal, pool, "cupy-pool", "cupy: a pool of the program's")
            elif kind == "async":
                self.sample_async(out, ordinal, pool)
        if kind == "rmm":
            self.sample_elsewhere(out, "cupy-rmm:%d" % ordinal, "cupy on RMM", ordinal, "rmm:%d" % ordinal,
                                  "CuPy allocates through RMM, which has the numbers")
        elif kind == "other":
            self.sample_elsewhere(out, "cupy-other:%d" % ordinal, "cupy: %.40s" % pool, ordinal, "",
                                  "CuPy allocates through %.40s, which counts nothing" % pool)

    def sample_pool(self, out, ordinal, pool, identity, name):
        """A pool's numbers on the current device."""
        used, total = pool.used_bytes(), pool.total_bytes()
        identity = "%s:%d" % (identity, ordinal)
        if not total and not self._peaks.saw(identity, used):
            return  # CuPy has not touched this device
        limit = pool.get_limit()
        call = "MemoryPool.used_bytes, total_bytes; " + SampledPeaks.CALL
        if self.period:
            call += "; CuPy before 14.1 walks its blocks to count, so once a second"
        out.add(identity, "pool", name, gpu_uuid(ordinal), call,
                {"allocated": used, "reserved": total, "free": total - used, "limit": limit or None,
                 "peak_allocated": self._peaks.saw(identity, used), "peak_reserved": self._peaks.saw(identity + "/", total)},
                why={"releasable": "CuPy does not tell which chunks have no neighbour in use"})

    def sample_async(self, out, ordinal, pool):
        """What a MemoryAsyncPool holds lies in the driver's pool."""
        try:
            used, total = pool.used_bytes(), pool.total_bytes()
        except Exception:  # malloc_async has no pool object, and old drivers no counters
            used = total = None
        out.add("cupy-async:%d" % ordinal, "pool", "cupy (stream-ordered)", gpu_uuid(ordinal),
                "MemoryAsyncPool.used_bytes, total_bytes", {"allocated": used, "reserved": total},
                default_pool_id(ordinal), None if total is not None else
                {"allocated": "CuPy counts nothing here, the driver's default pool does"})

    @staticmethod
    def sample_elsewhere(out, identity, name, ordinal, inside, reason):
        out.add(identity, "pool", name, gpu_uuid(ordinal), "", {}, inside, {"reserved": reason, "allocated": reason})

    def capturing(self):
        if not self.ready() or not DRIVER.devices():
            return ""
        if not any(DRIVER.active(device.ordinal) for device in DRIVER.devices()):
            return ""
        if self.library().cuda.get_current_stream().is_capturing():
            return "a CUDA graph is being captured on CuPy's stream: ask again when it is done"
        return ""

    def pools(self):
        """Each pool that can give something back, with what to call it."""
        pools = [("cupy: free all blocks", self.default_pool())]
        kind, pool = self.allocator()
        if kind in ("pool", "async") and hasattr(pool, "free_all_blocks"):
            pools.append(("cupy (%s pool): free all blocks" % kind, pool))
        return pools

    def reclaim(self, report, device, forced):
        for ordinal in self.ordinals(device):
            for what, pool in self.pools():
                with self.library().cuda.Device(ordinal):
                    cached = pool.total_bytes() - pool.used_bytes()
                    if pool.total_bytes() == 0 or not forced and cached < MINIMUM_RECLAIMABLE:
                        continue
                    free = DriverFree([ordinal])
                    pool.free_all_blocks()
                    free.done()
                    kept, live = pool.total_bytes() - pool.used_bytes(), pool.used_bytes()
                where = "in the driver's segments" if "async" in what else "in chunks that were split"
                free.line(report, what, "%s lie %s beside live arrays (%s)" % (in_units(kept), where, in_units(live)) if kept > 0 else "")
                report.acted = True

    def rebuild(self, report, device):
        lines = len(report.lines)
        self.reclaim(report, device, True)
        if len(report.lines) > lines:
            report.line("cupy: its blocks were freed instead", why="CuPy's pool cannot be built again under live arrays")

    def reset_peak(self, report, device):
        if self.ordinals(device):
            self._peaks.reset()
            report.line("cupy: the largest of the samples begins anew", why="CuPy itself counts no peak")
            report.acted = True


def cupy_version(cupy):
    """(major, minor) of a CuPy, (0, 0) where it does not tell."""
    numbers = str(getattr(cupy, "__version__", "")).split(".")[:2]
    return tuple(int(n) if n.isdigit() else 0 for n in numbers + ["0"] * (2 - len(numbers)))


CUPY = register(CupyAdapter())
