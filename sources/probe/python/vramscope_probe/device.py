"""The GPUs of this process, by UUID, through the CUDA driver that the program has
loaded and initialised itself.

The probe neither loads the driver nor initialises it, and makes no context: a
context costs half a gibibyte of the memory that is being watched.
"""
import collections
import contextlib
import ctypes
import os
import time

from .descriptors import read_file

#: ordinal as the CUDA runtime counts in this process (CUDA_VISIBLE_DEVICES is
#: the driver's business), uuid "GPU-…" or "MIG-…", name of the product.
GpuDevice = collections.namedtuple("GpuDevice", "ordinal uuid name")


#: Why nothing is told of what a library has in a process that was forked too late.
INHERITED = ("this process was forked after CUDA was initialised and cannot use a device: what it has of the library's books "
             "is a copy of its parent's; start it by spawn, or fork before CUDA is used")


class CudaDriver:
    """The driver library of this process, once the program has loaded it. Every
    method answers None where the driver does not."""

    LOOK_AGAIN = 1.0  # seconds between two looks for the library

    RESERVED, RESERVED_HIGH, USED, USED_HIGH = 5, 6, 7, 8  # attributes of a memory pool
    RELAXED = 2  # the capture mode of a thread

    def __init__(self):
        self.forked = False  # too late to use a device
        self._library = self._exchange = None
        self._next_look = 0.0
        self._devices = []
        self._pools = {}  # ordinal: the device's default memory pool

    def library(self):
        """The loaded library, or None. It is looked for among what is mapped and
        opened in a way that loads nothing."""
        if self._library is None and time.monotonic() >= self._next_look and not self.forked:
            self._next_look = time.monotonic() + self.LOOK_AGAIN
            path = self._mapped()
            if path:
                try:
                    # It waits for nobody, so the interpreter is not let go for it.
                    self._exchange = getattr(ctypes.PyDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY), "cuThreadExchangeStreamCaptureMode", None)
                    self._library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
                except (OSError, AttributeError):
                    pass
        return self._library

    def loaded(self):
        """The library where it must be there by now: it is looked for at once."""
        self._next_look = 0.0
        return self.library()

    def before_fork(self):
        """Finds out whether CUDA is initialised by now."""
        if not self._devices and self.loaded() is not None:
            self.devices()

    def in_child(self):
        """Where CUDA was initialised before the fork, the child cannot use it, nor
        can its children; and the driver, which may have been in the middle of
        something, is not asked again."""
        if self._devices:
            self.forked, self._library, self._exchange = True, None, None
            self._devices, self._pools = [], {}

    def devices(self):
        """Every GpuDevice; none before the program has initialised CUDA."""
        if not self._devices and self.library() is not None:
            count = self._int("cuDeviceGetCount")
            if count:
                self._devices = [GpuDevice(i, self._uuid(i), self._name(i)) for i in range(count)]
        return self._devices

    def active(self, ordinal):
        """Whether the device's primary context is there already. Asking a
        library about a device that has none could make it."""
        library, flags, active = self.library(), ctypes.c_uint(), ctypes.c_int()
        if library is None:
            return False
        code = library.cuDevicePrimaryCtxGetState(ctypes.c_int(ordinal), ctypes.byref(flags), ctypes.byref(active))
        return code == 0 and active.value == 1

    def memory_info(self, ordinal):
        """(free, total) bytes of a device as cuMemGetInfo says. On the main
        thread only: it makes the device's own context current for the call."""
        return self._within(ordinal, self._memory_info)

    def capture_mode(self, mode):
        """How this thread's calls are held against CUDA graphs that other threads
        capture. As any thread is, even to ask a memory pool for a number spoils
        such a capture; a RELAXED one spoils none by what it asks, allocates or
        frees, only by waiting for the device. Is the mode that it was before."""
        if self.library() is None or self._exchange is None or mode is None:
            return None
        before = ctypes.c_int(mode)
        return before.value if self._exchange(ctypes.byref(before)) == 0 else None

    @contextlib.contextmanager
    def beside_captures(self):
        """What the calling thread does within spoils no capture of another one."""
        before = self.capture_mode(self.RELAXED)
        try:
            yield
        finally:
            self.capture_mode(before)

    def synchronize(self, ordinal):
        """Waits for everything on the device; True if that was done. On the main
        thread only. It spoils a CUDA graph that another thread captures, and
        nobody can be asked whether one does."""
        return self._within(ordinal, lambda library: library.cuCtxSynchronize() == 0)

    def pool_attributes(self, ordinal, *attributes):
        """Attributes of the device's default memory pool, bytes, each None where
        it is not told."""
        pool, value = self._default_pool(ordinal), ctypes.c_uint64()
        if pool is None:
            return [None] * len(attributes)
        ask, answer = self._library.cuMemPoolGetAttribute, ctypes.byref(value)
        with self.beside_captures():
            return [None if ask(pool, ctypes.c_int(attribute), answer) else value.value for attribute in attributes]

    def reset_pool_high(self, ordinal, attribute):
        """Begins a high-water mark anew; 0 is the only value that it takes."""
        pool, zero = self._default_pool(ordinal), ctypes.c_uint64(0)
        with self.beside_captures():
            return pool is not None and self._library.cuMemPoolSetAttribute(pool, ctypes.c_int(attribute), ctypes.byref(zero)) == 0

    def trim_pool(self, ordinal):
        """Gives what the default pool does not use back to the driver."""
        pool = self._default_pool(ordinal)
        with self.beside_captures():
            return pool is not None and self._library.cuMemPoolTrimTo(pool, ctypes.c_size_t(0)) == 0

    @staticmethod
    def _mapped():
        try:
            maps = read_file("/proc/self/maps")
            found = maps.find(b"/libcuda.so")
            if found >= 0:
                line = maps[maps.rfind(b"\n", 0, found) + 1:].split(b"\n", 1)[0]
                return os.fsdecode(line.split(None, 5)[5])
        except (OSError, IndexError):
            pass
        return ""

    def _int(self, function, *arguments):
        value = ctypes.c_int()
        code = getattr(self._library, function)(ctypes.byref(value), *arguments)
        return value.value if code == 0 else None

    def _uuid(self, ordinal):
        """A MIG instance differs from its parent in the second version of the
        call only."""
        whole, part = (ctypes.c_ubyte * 16)(), (ctypes.c_ubyte * 16)()
        if self._library.cuDeviceGetUuid(whole, ctypes.c_int(ordinal)):
            return ""
        second = getattr(self._library, "cuDeviceGetUuid_v2", None)
        if second is None or second(part, ctypes.c_int(ordinal)):
            part = whole
        digits = bytes(part).hex()
        groups = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        return ("GPU-" if bytes(part) == bytes(whole) else "MIG-") + groups

    def _name(self, ordinal):
        text = ctypes.create_string_buffer(128)
        if self._library.cuDeviceGetName(text, ctypes.c_int(len(text)), ctypes.c_int(ordinal)):
            return ""
        return text.value.decode("utf-8", "replace")

    def _default_pool(self, ordinal):
        pool = self._pools.get(ordinal)  # a device has one for good
        library = self.library()
        if pool is None and library is not None and hasattr(library, "cuDeviceGetDefaultMemPool"):
            found = ctypes.c_void_p()
            if library.cuDeviceGetDefaultMemPool(ctypes.byref(found), ctypes.c_int(ordinal)) == 0:
                pool = self._pools[ordinal] = found
        return pool

    @staticmethod
    def _memory_info(library):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        if library.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)):
            return None
        return free.value, total.value

    def _within(self, ordinal, call):
        """Runs call in the device's context: the current one where that is the
        device's, else the primary one if it is there."""
        library, context = self.library(), ctypes.c_void_p()
        if library is None or library.cuCtxGetCurrent(ctypes.byref(context)):
            return None
        if context.value and self._int("cuCtxGetDevice") == ordinal:
            return call(library)
        if not self.active(ordinal) or library.cuDevicePrimaryCtxRetain(ctypes.byref(context), ctypes.c_int(ordinal)):
            return None
        try:
            if library.cuCtxPushCurrent_v2(context):
                return None
            try:
                return call(library)
            finally:
                library.cuCtxPopCurrent_v2(ctypes.byref(context))
        finally:
            library.cuDevicePrimaryCtxRelease_v2(ctypes.c_int(ordinal))


DRIVER = CudaDriver()


def gpu_uuid(ordinal):
    """The UUID of a device, or "" where the driver does not tell."""
    for device in DRIVER.devices():
        if device.ordinal == ordinal:
            return device.uuid
    return ""


def default_pool_id(ordinal):
    """The counter set of a device's default memory pool, which the sets of those
    who allocate from it lie in."""
    return "default-pool:%d" % ordinal


def gpus_of(uuid):
    """The ordinals that a command means: that of a UUID, or for "" every one."""
    return [device.ordinal for device in DRIVER.devices() if not uuid or device.uuid == uuid]


def memory_info(uuid):
    """(free, total) bytes of a device as the driver says, or None where no
    context of this process is on it. On the main thread only."""
    for device in DRIVER.devices():
        if device.uuid == uuid:
            return DRIVER.memory_info(device.ordinal)
    return None


class DriverFree:
    """The driver's free memory around an action, over some devices: what a
    reclaim gives back is measured there. On the main thread only."""

    def __init__(self, ordinals):
        self.ordinals = ordinals
        self._before, self._after = self._read(), {}
        self.started = time.monotonic_ns()
        self.took = 0

    def done(self):
        """Reads the time, then the memory."""
        self.took = time.monotonic_ns() - self.started
        self._after = self._read()
        return self

    @property
    def before(self):
        """Bytes on all of the devices, or None where none tells."""
        return _sum(self._before)

    @property
    def after(self):
        """The same once it is done."""
        return _sum(self._after)

    @property
    def freed(self):
        """Bytes that went back to the driver, or None. Another process can take
        some in the meantime, so it is never less than 0."""
        if self.before is None or self.after is None:
            return None
        return max(0, self.after - self.before)

    def line(self, report, what, why=""):
        """Tells a report what the action changed, of several devices for each. How
        long it took stands in the first line, why no more came in the last one."""
        told = [ordinal for ordinal in self._before if ordinal in self._after]
        if len(told) < 2:
            report.line("%s: driver free%s" % (what, on_gpu(*told)), self.before, self.after, self.freed, why, self.took)
            return
        for ordinal in told:
            before, after = self._before[ordinal], self._after[ordinal]
            report.line("%s: driver free%s" % (what, on_gpu(ordinal)), before, after, max(0, after - before),
                        why if ordinal == told[-1] else "", self.took if ordinal == told[0] else None)

    def _read(self):
        """{ordinal: bytes} of the devices that tell."""
        readings = [(ordinal, DRIVER.memory_info(ordinal)) for ordinal in self.ordinals]
        return {ordinal: info[0] for ordinal, info in readings if info is not None}


def on_gpu(ordinal=None):
    """What a line says of its device: " on GPU #1" where this process sees several,
    "" elsewhere."""
    return "" if ordinal is None or len(DRIVER.devices()) < 2 else " on GPU #%d" % ordinal


def _sum(readings):
    return sum(readings.values()) if readings else None
