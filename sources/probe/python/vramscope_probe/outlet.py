"""Where the render's side of the probe leaves what it has to say.

The render's threads only append to a bounded deque, which takes no lock; the
probe's thread takes the entries out, folds them and publishes records. While
nobody watches and nothing is recorded, nothing is appended at all: callers test
OUTLET.armed first.
"""
import collections


class Outlet:
    """The one-way door from the render's threads to the probe's."""

    #: Entries that may wait; older ones are dropped and counted as lost.
    CAPACITY = 1 << 16

    def __init__(self):
        self.armed = False  # events are wanted: a view asks, or something is recorded
        self.held = False  # nothing is taken out yet: a recorder is to get it from the first one
        self.entries = collections.deque()
        self.frame = -1  # number of the frame under way, -1 before the first
        self.lost = 0  # entries that did not fit, since the probe's thread last asked

    def put(self, entry):
        """Leaves an entry, a tuple whose first element says what it is. Any
        thread of the render may call it."""
        if len(self.entries) >= self.CAPACITY:
            self.lost += 1
            return
        self.entries.append(entry)


OUTLET = Outlet()
