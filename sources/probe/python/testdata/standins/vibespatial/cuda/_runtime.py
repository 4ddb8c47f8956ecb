"""Stands in for vibespatial.cuda._runtime of vibespatial 0.5.3: one runtime,
its backends and the keys of their statistics."""
from ..resources import CudaMemoryResource, FailureCallbackResourceAdaptor, ManagedMemoryResource
from ..resources import PoolMemoryResource, StatisticsResourceAdaptor, make_current


class CudaDriverRuntime:
    def __init__(self):
        self._memory_backend = "none"
        self._rmm_pool = self._rmm_mr = self._memory_pool = None
        self.freed = 0  # calls of free_pool_memory

    def configure(self, backend):
        self._memory_backend = backend
        if backend == "cupy":
            self._memory_pool = {"used": 4096, "total": 8192}
            return
        inner = ManagedMemoryResource()
        if backend != "rmm-managed":
            self._rmm_pool = inner = PoolMemoryResource(CudaMemoryResource())
            if backend == "rmm-safe":
                inner = FailureCallbackResourceAdaptor(inner)
        self._rmm_mr = StatisticsResourceAdaptor(inner)
        make_current(self._rmm_mr)

    def memory_pool_stats(self):
        if self._memory_backend == "none":
            return {}
        if self._memory_backend == "cupy":
            used, total = self._memory_pool["used"], self._memory_pool["total"]
            return {"used_bytes": used, "total_bytes": total, "free_bytes": total - used}
        counts = self._rmm_mr.allocation_counts
        stats = {"used_bytes": counts.current_bytes, "peak_bytes": counts.peak_bytes, "total_bytes": counts.total_bytes,
                 "total_allocations": counts.total_count}
        if self._rmm_pool is not None:
            stats["reserved_bytes"] = self._rmm_pool.pool_size()
            stats["free_bytes"] = max(stats["reserved_bytes"] - stats["used_bytes"], 0)
        stats["largest_admitted_allocation_bytes"] = 0
        return stats

    def free_pool_memory(self):
        self.freed += 1


_CUDA_RUNTIME = CudaDriverRuntime()


def get_cuda_runtime():
    return _CUDA_RUNTIME
