"""Stands in for vibespatial.raster.memory of vibespatial-raster 0.1.7: the
tiers, the statistics with their keys, and the rebuild that begins every count
anew."""
import os
import time

from ..resources import CudaMemoryResource, FailureCallbackResourceAdaptor, ManagedMemoryResource
from ..resources import PoolMemoryResource, StatisticsResourceAdaptor, make_current

_configured = False
_active_tier = ""
_stats_adaptor = None
_oom_last_retry_time = 0.0
_oom_retry_count = 0
FREE_SHARE = 0.9  # of the device, when the pool is set up


def configure_memory_pool():
    global _configured, _active_tier
    if not _configured:
        _active_tier = _choose()
        _configured = True
    return _active_tier


def _choose():
    if os.environ.get("STANDIN_RMM", "1") != "1":
        return "fallback"
    if os.environ.get("VIBESPATIAL_GPU_MANAGED_MEMORY", "0") == "1":
        return _build("C")
    if os.environ.get("VIBESPATIAL_GPU_POOL_ONLY", "0") == "1":
        return _build("A")
    return _build("C" if FREE_SHARE < 0.50 else "B")


def _build(tier):
    global _stats_adaptor
    if tier == "C":
        inner = ManagedMemoryResource()
    else:
        inner = PoolMemoryResource(CudaMemoryResource())
        if tier == "B":
            inner = FailureCallbackResourceAdaptor(inner)
    _stats_adaptor = StatisticsResourceAdaptor(inner)
    make_current(_stats_adaptor)
    return tier


def _oom_callback(nbytes):
    global _oom_last_retry_time, _oom_retry_count
    now = time.monotonic()
    if now - _oom_last_retry_time > 1.0:
        _oom_retry_count = 0
    if _oom_retry_count >= 5:
        return False
    _oom_retry_count += 1
    _oom_last_retry_time = now
    if _oom_retry_count > 3:
        _build("B")
    return True


def memory_pool_stats():
    stats = {"tier": _active_tier, "configured": _configured}
    if _configured and _stats_adaptor is not None:
        stats.update(vars(_stats_adaptor.allocation_counts))
        layer = _stats_adaptor
        while hasattr(layer, "get_upstream"):
            layer = layer.get_upstream()
            if hasattr(layer, "pool_size"):
                stats["pool_size"] = layer.pool_size()
    return stats


def free_pool_memory():
    if _configured and _active_tier in ("A", "B"):
        _build(_active_tier)
