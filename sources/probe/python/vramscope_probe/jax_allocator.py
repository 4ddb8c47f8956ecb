"""JAX's allocator, through the devices of a backend that is already there."""
import os
import sys

from .adapter import Adapter, register
from .device import DRIVER, INHERITED, default_pool_id, gpu_uuid, gpus_of


class JaxAdapter(Adapter):
    """JAX. Asking for its devices would initialise a backend, which takes three
    quarters of the GPU: only what was initialised is asked."""

    name = "jax"
    module = "jax"
    period = 1.0  # a reading may free Python objects on the reader's thread

    KEEPS = ("JAX keeps what it has taken until the process ends: start it with "
             "XLA_PYTHON_CLIENT_PREALLOCATE=false or XLA_PYTHON_CLIENT_ALLOCATOR=platform")

    def devices(self, device=""):
        """[(ordinal, device)] of the GPU backends that the program initialised."""
        bridge = sys.modules.get("jax._src.xla_bridge")
        initialised = getattr(bridge, "backends_are_initialized", None)
        if DRIVER.forked or initialised is None or not initialised():
            return []
        found, wanted = [], gpus_of(device) if device else None
        for client in list(getattr(bridge, "_backends", {}).values()):
            for each in client.local_devices():
                if each.platform == "gpu" and (wanted is None or each.local_hardware_id in wanted):
                    found.append((each.local_hardware_id, each))
        return found

    def sample(self, out):
        if DRIVER.forked:
            out.add_inherited(self.name, INHERITED)
        out.each(self.sample_device, self.devices())

    def sample_device(self, out, numbered):
        """What JAX has on a device, (ordinal, device)."""
        ordinal, device = numbered
        statistics = device.memory_stats()
        if statistics:
            self.sample_statistics(out, ordinal, statistics)
            return
        reason = "this allocator of JAX keeps no counters (XLA_PYTHON_CLIENT_ALLOCATOR=platform)"
        out.add("jax:%d" % ordinal, "pool", "jax", gpu_uuid(ordinal), "Device.memory_stats", {},
                why={"reserved": reason, "allocated": reason})

    @staticmethod
    def sample_statistics(out, ordinal, statistics):
        pooled = "pool_bytes" in statistics
        counters = {
            "allocated": statistics.get("bytes_in_use"), "peak_allocated": statistics.get("peak_bytes_in_use"),
            "reserved": statistics.get("pool_bytes"), "peak_reserved": statistics.get("peak_pool_bytes"),
            "largest_free": statistics.get("largest_free_block_bytes") if pooled else None,
            "lifetime_count": statistics.get("num_allocs"), "limit": statistics.get("bytes_limit") or None,
        }
        why = None if pooled else {"reserved": "this allocator of JAX does not tell what it took from the driver"}
        stream_ordered = os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR") == "cuda_async"
        out.add("jax:%d" % ordinal, "pool", "jax", gpu_uuid(ordinal), "Device.memory_stats", counters,
                default_pool_id(ordinal) if stream_ordered else "", why)

    def reclaim(self, report, device, forced):
        if forced and self.devices(device):
            report.line("jax: nothing to give back", why=self.KEEPS)

    def rebuild(self, report, device):
        if self.devices(device):
            report.line("jax: not rebuilt", why=self.KEEPS)

    def reset_peak(self, report, device):
        if self.devices(device):
            report.line("jax: the peak stays", why="JAX resets no peak; it is the process's since its start")


JAX = register(JaxAdapter())
