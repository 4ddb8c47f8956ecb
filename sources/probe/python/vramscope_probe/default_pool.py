"""The CUDA driver's own memory pool of each device.

Taichi, Quadrants, CuPy's MemoryAsyncPool, torch's cudaMallocAsync backend and
JAX's cuda_async allocator all allocate from it and most of them tell nothing, so
four numbers of the driver cover them.
"""
from .adapter import Adapter, Face, counter_set, in_units, register
from .device import DRIVER, DriverFree, default_pool_id, gpus_of, on_gpu
from .pressure import MINIMUM_RECLAIMABLE


class DefaultPoolAdapter(Adapter):
    """The default pool of each device, read by ctypes."""

    name = "default-pool"

    def __init__(self):
        self._used = ()  # the devices whose pool held something at the last look
        self._faces = {}  # ordinal: what stays of its set

    def library(self):
        """The driver, once the program has initialised CUDA."""
        return DRIVER.library() if DRIVER.devices() else None

    def sample(self, out):
        used = []
        try:
            out.each(lambda out, device: self.sample_device(out, device, used), DRIVER.devices() if out.look else self._used)
        finally:
            self._used = used

    def sample_device(self, out, device, used):
        """The pool of a device, which joins used where it is."""
        counters = self.counters(device.ordinal)
        if counters is None:
            if device.ordinal in self._faces and not DRIVER.forked and DRIVER.pool_attributes(device.ordinal, DRIVER.RESERVED) == [None]:
                used.append(device)  # it was told of before
                raise RuntimeError("the driver does not answer: cuMemPoolGetAttribute fails")
            return
        used.append(device)
        if None in counters.values():
            counters = {key: value for key, value in counters.items() if value is not None}
        out.fill(self.face(device), counters)

    def face(self, device):
        """What stays of a device's set."""
        face = self._faces.get(device.ordinal)
        if face is None:
            face = self._faces[device.ordinal] = Face(counter_set(
                default_pool_id(device.ordinal), "pool", "CUDA default pool", device.uuid,
                "cuMemPoolGetAttribute of cuDeviceGetDefaultMemPool", {},
                why={"requested": "the driver counts no bytes as asked for"}))
        return face

    def counters(self, ordinal):
        """The pool's counters, or None where nobody has used it. One is asked for
        before the others: each answer costs the render a moment."""
        reserved_high, = DRIVER.pool_attributes(ordinal, DRIVER.RESERVED_HIGH)
        if reserved_high == 0:
            return None
        reserved, used, used_high = DRIVER.pool_attributes(ordinal, DRIVER.RESERVED, DRIVER.USED, DRIVER.USED_HIGH)
        if reserved is None or not (reserved or used or reserved_high or used_high):
            return None
        return {"reserved": reserved, "allocated": used, "peak_reserved": reserved_high, "peak_allocated": used_high}

    def reclaim(self, report, device, forced):
        for ordinal in gpus_of(device):
            counters = self.counters(ordinal)
            if counters is None or counters["reserved"] == 0:
                continue
            cached = counters["reserved"] - counters["allocated"]
            if forced or cached >= MINIMUM_RECLAIMABLE:
                self.trim(report, ordinal)

    def trim(self, report, ordinal):
        """Waits for the device, since what was freed and not waited for cannot
        go back, and trims the pool."""
        free = DriverFree([ordinal])
        waited = DRIVER.synchronize(ordinal)
        trimmed = DRIVER.trim_pool(ordinal)
        left = self.counters(ordinal) or {"reserved": 0, "allocated": 0}
        kept, why = left["reserved"] - left["allocated"], ""
        if not trimmed:
            why = "the driver refused to trim the pool"
        elif kept > 0 and not waited:
            why = "%s stay: what was freed on a stream goes back once the device was waited for" % in_units(kept)
        elif kept > 0:
            why = "%s stay: they share their segments with what is still in use" % in_units(kept)
        free.done().line(report, "CUDA default pool: wait and trim", why)
        report.acted = True

    def rebuild(self, report, device):
        if any(self.counters(ordinal) for ordinal in gpus_of(device)):
            report.line("CUDA default pool: trimmed instead", why="the driver's own pool cannot be built again")
            self.reclaim(report, device, True)

    def reset_peak(self, report, device):
        for ordinal in gpus_of(device):
            counters = self.counters(ordinal)
            if counters is None:
                continue
            done = [DRIVER.reset_pool_high(ordinal, a) for a in (DRIVER.RESERVED_HIGH, DRIVER.USED_HIGH)]
            after = self.counters(ordinal) or {}
            report.line("CUDA default pool: peak" + on_gpu(ordinal), counters["peak_allocated"], after.get("peak_allocated"),
                        why="" if all(done) else "the driver refused to set a high-water mark back")
            report.acted = report.acted or all(done)


DEFAULT_POOL = register(DefaultPoolAdapter())
