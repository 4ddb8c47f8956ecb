"""vibespatial's pool, in both of its variants: vibespatial.raster.memory and the
runtime of the main package (vibespatial.cuda._runtime).

Each set up its memory through RMM, or CuPy where RMM is not there. Its set is
therefore shown inside RMM's (or CuPy's) set of the device: the same bytes seen
from above, which count once. The main variant's CuPy pool is a pool of its own,
which is in no other set, and so is the RMM pool of either once the program has
given RMM another resource: RMM's set then tells of that one.
"""
import os
import sys
import time

from .adapter import Adapter, register
from .device import DRIVER, INHERITED, DriverFree, gpu_uuid, gpus_of
from .names import POOL_NUMBERS
from .rmm_allocator import RmmChain, still_held

#: The call that a raster pool's numbers come from.
RASTER_CALL = "vibespatial.raster.memory.memory_pool_stats (as asked for, not rounded)"

#: The same of the main variant.
RUNTIME_CALL = "CudaDriverRuntime.memory_pool_stats (as asked for, not rounded)"

#: Retries that one burst of failures is granted, and how long it lasts, ns.
RASTER_RETRIES = 5
RASTER_COOLDOWN = 1_000_000_000


class PoolGenerations:
    """Counts the pools that one after another stood in one place.

    A pool is known by its statistics adaptor: another one, or a count that has
    fallen back, is a new generation. Two rebuilds between two looks count once.
    The adaptor is not held, since that would keep the old pool's memory.
    """

    def __init__(self):
        self.count = 0
        self._seen, self._lifetime = None, 0

    def saw(self, adaptor, lifetime):
        """Takes a look at the pool: lifetime is the count of allocations over
        its life. The first one is generation 0; without an adaptor there is none."""
        if adaptor is None:
            return
        new = self._seen is not None and (self._seen != id(adaptor) or lifetime < self._lifetime)
        self.count += new
        self._seen, self._lifetime = id(adaptor), lifetime


def layer_names(chain):
    """The layers of an RMM stack as the record format has them."""
    names = [name.replace("MemoryResource", "").replace("ResourceAdaptor", "") for name in chain.names()]
    return ["CUDA" if name == "Cuda" else name for name in names]


#: What is said of a pool that RMM no longer allocates from.
NOT_CURRENT = "not RMM's current resource"


class RmmSeat:
    """Where a resource stands in RMM: the device whose stack it is in, 0 if none
    tells, and whether it is current, None where RMM cannot be asked."""

    def __init__(self, top):
        self.ordinal, self.current = 0, None
        ask = getattr(getattr(sys.modules.get("rmm"), "mr", None), "get_per_device_resource", None)
        for device in DRIVER.devices() if ask is not None else ():
            if not DRIVER.active(device.ordinal):
                continue
            self.current = any(resource is top for resource in RmmChain(ask(device.ordinal)).resources)
            if self.current:
                self.ordinal = device.ordinal
                return

    def inside(self):
        """The counter set that the resource's memory lies in, "" for none."""
        return "" if self.current is False else "rmm:%d" % self.ordinal

    def noted(self, text):
        """The text, which says so where the resource is not current."""
        return "%s; %s" % (text, NOT_CURRENT) if self.current is False else text


class VibespatialPool(Adapter):
    """What both variants have in common."""

    name = "vibespatial"
    pool_name = ""

    def __init__(self):
        self._number = 0
        self._told = None

    def tier(self):
        """The tier in the record format's words, "none" before there is a pool."""
        raise NotImplementedError

    def pool_entry(self):
        """The pool's entry of a state, without its number and name."""
        raise NotImplementedError

    def drain(self, publish):
        if self.library() is None or DRIVER.forked:
            return
        shape = self.shape()
        if shape != self._told:
            self._told = shape
            publish({"t": "state"})

    def shape(self):
        """What a state must be sent for when it changes."""
        raise NotImplementedError

    def state(self):
        if self.library() is None:
            return {}
        if not self._number:
            self._number = next(POOL_NUMBERS)
        entry = {"id": self._number, "name": self.pool_name}
        entry.update(self.pool_entry())
        if DRIVER.forked:
            entry["why"] = INHERITED
        device = gpu_uuid(self.ordinal())
        if device:
            entry["dev"] = device
        return {"pools": [entry]}

    def concerns(self, device):
        """Whether a command for a device (a UUID, or "" for all) means this
        pool."""
        return not device or self.ordinal() in gpus_of(device)

    def top(self):
        """The outermost RMM resource, None without RMM."""
        raise NotImplementedError

    def seat(self):
        """Where that resource stands in RMM; nowhere without RMM."""
        return RmmSeat(self.top())

    def ordinal(self):
        """The device on which the pool lies."""
        return self.seat().ordinal

    def refuse(self, report, why):
        """Says that a rebuild was refused."""
        report.line(self.pool_name + ": not rebuilt", why=why)
        if report.acted is None:
            report.acted = False


class VibespatialRaster(VibespatialPool):
    """vibespatial.raster: RMM in tier A, B or C, else CuPy's default pool."""

    module = "vibespatial.raster.memory"
    pool_name = "vibespatial.raster pool"

    def __init__(self):
        super().__init__()
        self._generations = PoolGenerations()

    def library(self):
        module = super().library()
        return module if hasattr(module, "memory_pool_stats") and hasattr(module, "_configured") else None

    def tier(self):
        module = self.library()
        return module._active_tier or "none" if module._configured else "none"

    def top(self):
        """The statistics adaptor on top of its RMM stack, None without RMM."""
        return getattr(self.library(), "_stats_adaptor", None)

    def stats(self):
        """What its own statistics say, {} where asking could load a library."""
        if self.tier() == "none" or self.top() is None and "cupy" not in sys.modules:
            return {}
        return self.library().memory_pool_stats()

    def shape(self):
        stats = self.stats()
        self._generations.saw(self.top(), stats.get("total_count", 0))
        return (self.tier(), self._generations.count, self.top() is not None and self.seat().current)

    def sample(self, out):
        tier = self.tier()
        if tier == "none":
            return
        if DRIVER.forked:
            out.add_inherited("vibespatial-raster", INHERITED)
            return
        stats, seat = self.stats(), self.seat()
        ordinal, name = seat.ordinal, "%s, tier %s" % (self.pool_name, tier)
        if tier == "fallback":
            counters = {"reserved": stats.get("total_bytes"), "allocated": stats.get("used_bytes"), "free": stats.get("free_bytes")}
            why = {} if stats else {"reserved": "CuPy does not answer"}
            inside = "cupy:%d" % ordinal
        else:
            counters = self._counted(stats)
            why = {"free": "RMM's pool rounds up to 256 bytes and does not tell what is in use"}
            if tier == "C":
                why["reserved"] = "managed memory: what of it lies on the device is not known"
            elif tier == "A":
                why["limit"] = "the module keeps no figure: 80 % of the device's memory"
            inside, name = seat.inside(), seat.noted(name)
        counters["generation"] = self._generations.count
        if tier == "B":
            counters["ladder_used"], counters["ladder_cooldown"] = self.ladder()
        out.add("vibespatial-raster", "pool", name, gpu_uuid(ordinal), RASTER_CALL, counters, inside, why)

    @staticmethod
    def _counted(stats):
        """The counters of an RMM tier. total_bytes is over the pool's life
        here; in the fallback tier the same key says what is held."""
        current = stats.get("current_bytes")
        return {"reserved": stats.get("pool_size"), "allocated": current, "requested": current,
                "live_blocks": stats.get("current_count"), "peak_allocated": stats.get("peak_bytes"),
                "peak_requested": stats.get("peak_bytes"), "lifetime_bytes": stats.get("total_bytes"),
                "lifetime_count": stats.get("total_count")}

    def ladder(self):
        """(retries spent of this burst, nanoseconds until they are granted
        again)."""
        module = self.library()
        used = int(getattr(module, "_oom_retry_count", 0))
        since = time.monotonic() - float(getattr(module, "_oom_last_retry_time", 0.0))
        left = RASTER_COOLDOWN - int(since * 1e9)
        return (min(used, RASTER_RETRIES), left) if used and left > 0 else (0, 0)

    def pool_entry(self):
        tier = self.tier()
        entry = {"tier": tier, "why": self.why(tier), "gen": self._generations.count}
        if self.top() is not None:
            entry["stack"] = layer_names(RmmChain(self.top()))
            entry["why"] = self.seat().noted(entry["why"])
        elif tier == "fallback":
            entry["stack"] = ["CuPy MemoryPool"]
        if tier == "B":
            used, cool = self.ladder()
            entry["ladder"] = {"used": used, "cool": cool}
        return entry

    @staticmethod
    def why(tier):
        """Why it is this tier, by the module's own rules and what the
        environment says now."""
        if tier == "none":
            return "nothing has used the GPU yet: the pool is set up by the first transfer"
        if tier == "fallback":
            return "RMM cannot be imported: install rmm for a pool with recovery"
        if tier == "C":
            if os.environ.get("VIBESPATIAL_GPU_MANAGED_MEMORY") == "1":
                return "VIBESPATIAL_GPU_MANAGED_MEMORY=1"
            return "less than 50 % of the device was free when the pool was set up"
        if tier == "A":
            return "VIBESPATIAL_GPU_POOL_ONLY=1: no recovery from a failed allocation; at most 80 % of the device"
        return "default: at least 50 % of the device was free, or it could not be asked"

    def rebuild(self, report, device):
        if self.library() is None or not self.concerns(device):
            return
        tier = self.tier()
        if tier == "none":
            self.refuse(report, "it is not set up yet: nothing is held")
            return
        if DRIVER.forked:
            self.refuse(report, INHERITED)
            return
        if tier == "C":
            self.refuse(report, "tier C has no pool: managed memory comes from the device block by block")
            return
        live = self.stats().get("current_count", 0) if tier != "fallback" else 0
        if live:
            self.refuse(report, still_held(live, self.stats().get("current_bytes", 0)))
            return
        before = self.top()
        free = DriverFree([self.ordinal()])
        self.library().free_pool_memory()
        after = self.top()
        rebuilt = tier == "fallback" or after is not before
        del before, after
        free.done()
        what = "free_all_blocks by free_pool_memory" if tier == "fallback" else "free_pool_memory, tier %s built again" % tier
        if not rebuilt:
            self.refuse(report, "free_pool_memory did not build it again: the module's log says why")
            return
        free.line(report, self.pool_name + ": " + what)
        report.acted = True


class VibespatialRuntime(VibespatialPool):
    """The main package: another set of rules under the same idea."""

    module = "vibespatial.cuda._runtime"
    pool_name = "vibespatial pool"

    TIERS = {"rmm-pool": "A", "rmm-safe": "B", "rmm-managed": "C", "cupy": "fallback"}

    def library(self):
        module = super().library()
        return module if hasattr(module, "_CUDA_RUNTIME") else None

    def runtime(self):
        """The package's one runtime."""
        return self.library()._CUDA_RUNTIME

    def tier(self):
        return self.TIERS.get(self.runtime()._memory_backend, "none")

    def top(self):
        return getattr(self.runtime(), "_rmm_mr", None)

    def shape(self):
        return (self.tier(), self.top() is not None and self.seat().current)

    def sample(self, out):
        tier = self.tier()
        if tier == "none":
            return
        if DRIVER.forked:
            out.add_inherited("vibespatial", INHERITED)
            return
        stats, seat = self.runtime().memory_pool_stats(), self.seat()
        name = "%s, tier %s" % (self.pool_name, tier)
        why = {}
        if tier == "fallback":
            counters, inside = {"reserved": stats.get("total_bytes"), "allocated": stats.get("used_bytes"), "free": stats.get("free_bytes")}, ""
        else:
            used = stats.get("used_bytes")
            counters = {"reserved": stats.get("reserved_bytes"), "allocated": used, "requested": used, "free": stats.get("free_bytes"),
                        "peak_allocated": stats.get("peak_bytes"), "peak_requested": stats.get("peak_bytes"),
                        "lifetime_bytes": stats.get("total_bytes"), "lifetime_count": stats.get("total_allocations")}
            if used is None:
                why["allocated"] = "the statistics adaptor is not on top of this thread's RMM stack"
            if tier == "C":
                why["reserved"] = "managed memory: what of it lies on the device is not known"
            inside, name = seat.inside(), seat.noted(name)
        out.add("vibespatial", "pool", name, gpu_uuid(seat.ordinal), RUNTIME_CALL, counters, inside, why)

    def pool_entry(self):
        tier = self.tier()
        entry = {"tier": tier, "why": self.why(tier), "gen": 0}
        if self.top() is not None:
            entry["stack"] = layer_names(RmmChain(self.top()))
            entry["why"] = self.seat().noted(entry["why"])
        elif tier == "fallback":
            entry["stack"] = ["CuPy MemoryPool"]
        return entry

    @staticmethod
    def why(tier):
        """Why it is this tier, by the package's own rules and what the
        environment says now."""
        if tier == "none":
            return "nothing has used the GPU yet: the pool is set up with the first context"
        if tier == "fallback":
            return "RMM cannot be imported: install rmm for a pool with recovery"
        if tier == "C":
            return "VIBESPATIAL_GPU_MANAGED_MEMORY is on"
        if tier == "A":
            return "VIBESPATIAL_GPU_OOM_SAFETY is off: no recovery from a failed allocation"
        return "default: a pool whose failed allocations collect garbage"

    def rebuild(self, report, device):
        if self.library() is None or not self.concerns(device):
            return
        tier = self.tier()
        if tier == "none":
            self.refuse(report, "it is not set up yet: nothing is held")
            return
        if DRIVER.forked:
            self.refuse(report, INHERITED)
            return
        free = DriverFree([self.ordinal()])
        self.runtime().free_pool_memory()
        free.done()
        why = "" if tier == "fallback" else (
            "this pool cannot be built again: free_pool_memory collects garbage and frees pinned memory, and RMM keeps what it holds")
        free.line(report, self.pool_name + ": free_pool_memory", why)
        report.acted = True


VIBESPATIAL_RASTER = register(VibespatialRaster())
VIBESPATIAL_RUNTIME = register(VibespatialRuntime())
