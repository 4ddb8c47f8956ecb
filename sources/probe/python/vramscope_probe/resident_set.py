"""What the process has of the machine's memory: a program that uses no device's
shows this. One that does is known by its device, and every set that its samples
have more costs it."""
import os

from .adapter import Face, counter_set
from .descriptors import read_file

RESIDENT_PERIOD = 900_000_000  # nanoseconds for which a reading counts
STATM_SIZE = 256  # bytes, more than seven numbers have


def resident_bytes():
    """Bytes of the process in the machine's memory, or None where the kernel does
    not tell."""
    try:
        return int(read_file("/proc/self/statm", STATM_SIZE).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


class ResidentSet:
    """Reads the resident set, once a second. It belongs to the probe's thread."""

    def __init__(self):
        self._read_at = -RESIDENT_PERIOD
        self._sets = []
        self._face = Face(counter_set("resident", "process", "resident set", "host", "/proc/self/statm", {}))

    def sets(self, now, others):
        """The counter sets of the moment now beside the others of the sample:
        none where one of those lies on a device, or the kernel does not tell."""
        for other in others:
            if other.get("dev", "host") != "host":
                return []
        if now - self._read_at >= RESIDENT_PERIOD:
            resident = resident_bytes()
            self._read_at, self._sets = now, [] if resident is None else [self._face.with_counters({"resident": resident})]
        return self._sets
