"""What the process has of the machine's memory: a program without a GPU shows
this, and one with shows it beside."""
import os

from .adapter import Face, counter_set
from .descriptors import read_file

RESIDENT_PERIOD = 900_000_000  # nanoseconds for which a reading counts
BESIDE_PERIOD = 4_900_000_000  # the same where libraries have memory to tell of, whose samples are to be cheap
STATM_SIZE = 256  # bytes, more than seven numbers have


class ResidentSet:
    """Reads the resident set, once a second, or every five. It belongs to the
    probe's thread."""

    def __init__(self):
        self._read_at = -BESIDE_PERIOD
        self._sets = []
        self._face = Face(counter_set("resident", "process", "resident set", "host", "/proc/self/statm", {}))

    def sets(self, now, beside):
        """The counter sets of the moment now, none where the kernel does not
        tell. beside is whether libraries have told of memory."""
        if now - self._read_at >= (BESIDE_PERIOD if beside else RESIDENT_PERIOD):
            self._read_at, self._sets = now, []
            try:
                pages = int(read_file("/proc/self/statm", STATM_SIZE).split()[1])
                self._sets = [self._face.with_counters({"used": pages * os.sysconf("SC_PAGE_SIZE")})]
            except (OSError, ValueError, IndexError):
                pass
        return self._sets
