from .. import _C


def _snapshot(device=None):
    if _C.history:
        from .. import _inductor  # noqa: F401 - as the real one's symbolizer does, for a mere look whether it is there
    return _C._cuda_memorySnapshot()


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=1 << 62):
    if _C.backend == "pluggable":
        _C.unsupported("recordHistory")
    _C.history = enabled is not None


def change_current_allocator(allocator):
    _C.backend, _C.external = "pluggable", allocator
