"""What the driver says that each device has free, as this process reads it.

From outside NVML says the same, and cheaper for the render; in a container
without it nobody else can. The call must not be made on the probe's thread,
where it could fall into the capture of a CUDA graph: the main thread makes it at
a frame boundary, once a second at most, and around every command.
"""
import time

from .adapter import Adapter, Face, counter_set, register
from .device import DRIVER


class DeviceMemory(Adapter):
    """No allocator, but the device below them all: the set "device:N"."""

    at_looks = True
    PERIOD = 1.0  # seconds between two readings at frame boundaries
    # Seconds for which a reading is told, with its age: it stands beside counters of
    # this very moment, and allocators take gibibytes in a few seconds. A program with
    # frame boundaries has a new one by then.
    FRESH = 3.0

    def __init__(self):
        self.due = False  # the next frame boundary is to read
        self._readings = (0.0, ())  # when, and (GpuDevice, free, total), replaced as a whole
        self._faces = {}  # ordinal: what stays of its set

    def library(self):
        return DRIVER.library()

    def look(self):
        """Reads every device that has a context of this process. On the main
        thread only, and not while a CUDA graph is captured."""
        self.due = False
        readings = [(device, DRIVER.memory_info(device.ordinal)) for device in DRIVER.devices()]
        self._readings = (time.monotonic(), tuple((device,) + info for device, info in readings if info is not None))

    def sample(self, out):
        at, readings = self._readings
        age = time.monotonic() - at
        if age >= self.PERIOD:
            self.due = True
        if age < self.FRESH:
            for device, free, total in readings:
                out.fill(self.face(device), {"free": free, "total": total, "used": total - free, "age": int(age * 1e9)})

    def tell(self, out, ordinal, free, total, call):
        """Adds the set of a device as a library has read it, by call, in bytes:
        for that one sample."""
        for device in DRIVER.devices():
            if device.ordinal == ordinal:
                out.add("device:%d" % ordinal, "device", device.name, device.uuid, call, {"free": free, "total": total, "used": total - free})

    def forked(self):
        """Forgets what the parent read: in a child."""
        self.due, self._readings = False, (0.0, ())

    def face(self, device):
        """What stays of a device's set."""
        face = self._faces.get(device.ordinal)
        if face is None:
            face = self._faces[device.ordinal] = Face(counter_set(
                "device:%d" % device.ordinal, "device", device.name, device.uuid, "cuMemGetInfo_v2", {}))
        return face


DEVICE_MEMORY = register(DeviceMemory())
