"""What the process has of the machine's memory: a program without a GPU shows
this, and one with shows it beside."""
import os

from .adapter import Face, counter_set
from .descriptors import read_file

RESIDENT_PERIOD = 900_000_000  # nanoseconds for which a reading counts


class ResidentSet:
    """Reads the resident set, once a second. It belongs to the probe's thread."""

    def __init__(self):
        self._read_at = -RESIDENT_PERIOD
        self._sets = []
        self._face = Face(counter_set("resident", "process", "resident set", "host", "/proc/self/statm", {}))

    def sets(self, now):
        """The counter sets of the moment now, none where the kernel does not
        tell."""
        if now - self._read_at >= RESIDENT_PERIOD:
            self._read_at, self._sets = now, []
            try:
                pages = int(read_file("/proc/self/statm").split()[1])
                self._sets = [self._face.with_counters({"used": pages * os.sysconf("SC_PAGE_SIZE")})]
            except (OSError, ValueError, IndexError):
                pass
        return self._sets
