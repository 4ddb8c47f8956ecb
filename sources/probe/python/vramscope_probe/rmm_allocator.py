"""RMM's memory resources, from the top down."""
import gc
import sys

from .adapter import Adapter, in_units, plural, register
from .cupy_allocator import CUPY
from .device import DRIVER, INHERITED, DriverFree, gpu_uuid, gpus_of
from .torch_allocator import TORCH


class RmmChain:
    """The resources of a device, the outermost first."""

    DEPTH = 32  # a chain that goes on is not believed

    def __init__(self, top):
        self.resources = []
        while top is not None and len(self.resources) < self.DEPTH:
            self.resources.append(top)
            upstream = getattr(top, "get_upstream", None)
            top = upstream() if upstream is not None else None

    def names(self):
        """The classes' names."""
        return [type(resource).__name__ for resource in self.resources]

    def first(self, method):
        """The outermost resource that has a method, or None."""
        return next((resource for resource in self.resources if hasattr(resource, method)), None)

    def plain(self):
        """Nothing was set up: RMM was only imported."""
        return self.names() == ["CudaMemoryResource"]

    def statistics(self):
        """The counts of the outermost StatisticsResourceAdaptor, or None. While
        the program has pushed a frame of its own, they are those of the frame."""
        adaptor = self.first("allocation_counts")
        return None if adaptor is None else adaptor.allocation_counts


class RmmAdapter(Adapter):
    """RMM as the program has set it up. Its own numbers are few: a pool tells
    its size, and only an adaptor tells what is in use."""

    name = "rmm"
    module = "rmm"

    ADAPTORS = ("StatisticsResourceAdaptor", "TrackingResourceAdaptor", "LimitingResourceAdaptor")

    def __init__(self):
        self._lifetimes = {}  # ordinal: (id of the statistics adaptor, size of the pool, the most that was counted)

    def chain(self, ordinal):
        """The chain of a device, or None while the module is being loaded."""
        resources = getattr(self.library(), "mr", None)
        ask = getattr(resources, "get_per_device_resource", None)
        return RmmChain(ask(ordinal)) if ask is not None else None

    def ordinals(self, device=""):
        """The devices that can hold something of RMM."""
        return [i for i in gpus_of(device) if DRIVER.active(i)]

    def sample(self, out):
        if DRIVER.forked:
            out.add_inherited(self.name, INHERITED)
        out.each(self.sample_device, self.ordinals())

    def sample_device(self, out, ordinal):
        """What RMM has on a device."""
        chain = self.chain(ordinal)
        if chain is not None and (not chain.plain() or self.used_by()):
            self.sample_chain(out, ordinal, chain)

    @staticmethod
    def used_by():
        """Whether another library has been told to allocate through RMM."""
        return TORCH.cuda() is not None and TORCH.on_rmm() or CUPY.ready() and CUPY.allocator()[0] == "rmm"

    def sample_chain(self, out, ordinal, chain):
        counters, calls, why = {}, [], {}
        pool, counts = chain.first("pool_size"), chain.statistics()
        if pool is not None:
            counters["reserved"] = pool.pool_size()
            calls.append("PoolMemoryResource.pool_size")
        if counts is not None:
            self.remember(ordinal, chain, counts)
            counters.update(allocated=counts.current_bytes, live_blocks=counts.current_count, peak_allocated=counts.peak_bytes,
                            requested=counts.current_bytes, lifetime_bytes=counts.total_bytes, lifetime_count=counts.total_count)
            calls.append("StatisticsResourceAdaptor.allocation_counts (as asked for, not rounded)")
            if pool is None and chain.names()[-1] == "CudaMemoryResource":
                counters["reserved"] = counts.current_bytes
        limiting = chain.first("get_allocation_limit")
        if limiting is not None:
            counters["allocated"] = limiting.get_allocated_bytes()
            counters["limit"] = limiting.get_allocation_limit()
            calls.append("LimitingResourceAdaptor.get_allocated_bytes")
        elif counts is None:
            tracking = chain.first("get_allocated_bytes")
            if tracking is not None:
                counters["allocated"] = counters["requested"] = tracking.get_allocated_bytes()
                calls.append("TrackingResourceAdaptor.get_allocated_bytes")
        bottom = chain.names()[-1]
        if "allocated" not in counters:
            why["allocated"] = "RMM counts it only with a statistics adaptor: rmm.statistics.enable_statistics()"
        if "reserved" not in counters:
            why["reserved"] = {
                "ManagedMemoryResource": "managed memory: what of it lies on the device is not known",
                "CudaAsyncMemoryResource": "a driver's pool of RMM's own, which RMM does not tell of",
            }.get(bottom, "%s does not tell what it took from the driver" % bottom)
        out.add("rmm:%d" % ordinal, "pool", "rmm: " + " > ".join(n.replace("MemoryResource", "").replace("ResourceAdaptor", "")
                for n in chain.names()), gpu_uuid(ordinal), ", ".join(calls), counters, why=why or None)

    def remember(self, ordinal, chain, counts):
        """Keeps the most allocations that an adaptor has ever counted. The pool
        of another one is another stack, and so is one that is smaller than it
        was, since pools never shrink. The adaptor is not held: that would keep
        its pool's memory."""
        adaptor, pool = chain.first("allocation_counts"), chain.first("pool_size")
        size = pool.pool_size() if pool is not None else 0
        known, was, most = self._lifetimes.get(ordinal, (0, 0, 0))
        if known != id(adaptor) or size < was:
            most = 0
        self._lifetimes[ordinal] = (id(adaptor), size, max(most, counts.total_count))

    def in_frame(self, ordinal, chain, counts):
        """Whether the program counts in a frame that it has pushed: less was
        allocated than has been counted before."""
        self.remember(ordinal, chain, counts)
        return counts.total_count < self._lifetimes[ordinal][2]

    def reclaim(self, report, device, forced):
        for ordinal in self.ordinals(device):
            chain = self.chain(ordinal)
            if forced and chain is not None and chain.first("pool_size") is not None:
                report.line("rmm: nothing to give back", why="an RMM pool never shrinks: rebuild it once nothing lives in it")

    def reset_peak(self, report, device):
        for ordinal in self.ordinals(device):
            chain = self.chain(ordinal)
            if chain is not None and chain.first("allocation_counts") is not None:
                report.line("rmm: the peak stays", why="RMM resets no peak: only a counter frame begins one anew, "
                            "and the statistics adaptor with its frames is the program's")

    def rebuild(self, report, device):
        for ordinal in self.ordinals(device):
            chain = self.chain(ordinal)
            if chain is None or chain.plain():
                continue
            if owned_elsewhere(chain):
                continue  # whoever set the pool up also knows how to build it again
            obstacle = self.obstacle(chain, ordinal)
            if obstacle:
                report.line("rmm: not rebuilt", why=obstacle)
                if not report.acted:
                    report.acted = False
            else:
                self.reinitialize(report, ordinal, chain)

    def obstacle(self, chain, ordinal):
        """Why a rebuild would be wrong, or "": memory from before it is lost."""
        counts = chain.statistics()
        if chain.first("pool_size") is None:
            return "there is no pool in it: %s" % " > ".join(chain.names())
        if counts is None:
            return "nobody knows whether blocks live in it: enable statistics first (rmm.statistics.enable_statistics())"
        gc.collect()
        counts = chain.statistics()
        if counts.current_count != 0:
            return still_held(counts.current_count, counts.current_bytes)
        if self.in_frame(ordinal, chain, counts):
            return "the program counts in a frame of its own, which hides what lived before it: ask again after the frame"
        for resource in chain.resources:
            held = resource.get_allocated_bytes() if hasattr(resource, "get_allocated_bytes") else 0
            if held:
                return "%s counts %s: free what holds them first" % (type(resource).__name__, plural(held, "live byte"))
        middle = [name for name in chain.names()[:-1] if name not in self.ADAPTORS + ("PoolMemoryResource",)]
        if middle or chain.names()[-1] not in ("CudaMemoryResource", "ManagedMemoryResource"):
            return "it was set up with %s, which only the program can build again" % ", ".join(middle or chain.names()[-1:])
        others = [d.ordinal for d in DRIVER.devices() if d.ordinal != ordinal and not self.chain(d.ordinal).plain()]
        if others:
            return "reinitialize would forget the resources of the other devices: %s" % others
        return ""

    def reinitialize(self, report, ordinal, chain):
        """Builds the pool again by RMM's own call and puts the adaptors that
        were over it back."""
        library, limit = self.library(), chain.first("get_allocation_limit")
        bytes_limit = limit.get_allocation_limit() if limit is not None else 0
        over = [type(resource) for resource in chain.resources if type(resource).__name__ in self.ADAPTORS]
        managed = chain.names()[-1] == "ManagedMemoryResource"
        size = chain.first("pool_size").pool_size()
        chain.resources.clear()
        limit = None
        free = DriverFree([ordinal])
        library.reinitialize(pool_allocator=True, managed_memory=managed, initial_pool_size=0, devices=ordinal)
        top = library.mr.get_per_device_resource(ordinal)
        for adaptor in reversed(over):
            top = adaptor(top, bytes_limit) if adaptor.__name__ == "LimitingResourceAdaptor" else adaptor(top)
        library.mr.set_per_device_resource(ordinal, top)
        gc.collect()
        free.done()
        why = "the new pool begins empty and has no maximum: RMM does not tell those of the old one"
        if free.freed is not None and free.freed < size:
            why = "of %s some stay: somebody still holds the old pool" % in_units(size)
        free.line(report, "rmm: reinitialize", why)
        report.acted = True


def still_held(count, size):
    """Why a pool cannot be built again in which count allocations of size bytes
    in all live."""
    one = count == 1
    return "%s %s %s: free %s first" % (plural(count, "live allocation"), "holds" if one else "hold", in_units(size), "it" if one else "them")


def owned_elsewhere(chain):
    """Whether a pool manager that has an adapter of its own set the chain up."""
    raster = getattr(sys.modules.get("vibespatial.raster.memory"), "_stats_adaptor", None)
    runtime = getattr(sys.modules.get("vibespatial.cuda._runtime"), "_CUDA_RUNTIME", None)
    theirs = [top for top in (raster, getattr(runtime, "_rmm_mr", None)) if top is not None]
    return any(resource is top for resource in chain.resources for top in theirs)


RMM = register(RmmAdapter())
