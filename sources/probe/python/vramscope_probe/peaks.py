"""Peaks of regions that nest, on counters whose high-water mark can only be reset
as a whole, and peaks of allocators that count none.

A region's begin resets the mark and thereby displaces the peak that stood there.
What was displaced is kept here, so that the peak of the window under way stays
right, a region within a region spoils neither, and a reset from outside does not
shorten what an open region measures.
"""
import threading


class _OpenPeak:
    """A region that has begun and not ended. Bytes."""

    __slots__ = ("base", "saved", "shown", "inner")

    def __init__(self, base, saved):
        self.base = base  # allocated at the beginning
        self.saved = saved  # the peak that the beginning displaced: it belongs to the region around
        self.shown = saved  # the part of it that belongs to the window under way: 0 after a reset
        self.inner = 0  # the highest known inside, from what was displaced or reset within


class PeakRegions:
    """The regions on one counter.

    read() gives (peak, current) bytes of the counter, reset() sets its peak to
    what is allocated now. Any thread may call the methods; the lock is held for
    a few lines and no call of read or reset waits for the device.
    """

    LIMIT = 1024  # open regions; one that is never ended must not grow without end

    def __init__(self, read, reset):
        self._read, self._reset = read, reset
        self._lock = threading.Lock()
        self._open = []  # outermost first
        self._floor = 0  # peaks displaced by regions that have ended

    def begin(self):
        """Opens a region and resets the counter's peak. The answer stands for it."""
        with self._lock:
            peak, current = self._read()
            self._reset()
            if len(self._open) >= self.LIMIT:
                self._floor = max(self._floor, self._open.pop(0).shown)
            region = _OpenPeak(current, peak)
            self._open.append(region)
            return region

    def end(self, region):
        """Closes a region: bytes that its highest point stood above its
        beginning. Regions may end in any order."""
        with self._lock:
            live, _ = self._read()
            if region not in self._open:
                self._floor = max(self._floor, live)
                return max(0, live - region.base)
            at = self._open.index(region)
            peak = self._inside(at, live)
            if at > 0:
                around = self._open[at - 1]
                around.inner = max(around.inner, region.saved, peak)
            self._floor = max(self._floor, region.shown, live)
            del self._open[at]
            return max(0, peak - region.base)

    def counters(self, floor_elsewhere=0, live=None):
        """The counters of a "peaks" set. floor_elsewhere is what the program's
        own accounting holds as displaced, live the counter's peak where it was
        read just now. The compatible one goes without what open regions have
        displaced, as algan counts; with none open it is the reported one."""
        with self._lock:
            if live is None:
                live = self._read()[0]
            floor, opened = self._floor, 0
            if self._open:
                opened = max(region.shown for region in self._open)
        if not (floor or floor_elsewhere or opened):  # nearly always: nothing was displaced
            return {"peak_live": live, "peak_floor": 0, "peak_open": 0, "peak_reported": live, "peak_compatible": live}
        floor = max(floor, floor_elsewhere)
        return {"peak_live": live, "peak_floor": floor, "peak_open": opened,
                "peak_reported": max(live, floor, opened), "peak_compatible": max(live, floor)}

    def reset_window(self):
        """Begins a new window: the peak becomes what is allocated now, the floor
        0. Open regions keep what they have measured, but no longer hold up the
        reported peak."""
        with self._lock:
            live, _ = self._read()
            self._reset()
            if self._open:
                self._open[-1].inner = max(self._open[-1].inner, live)
            self._floor = 0
            for region in self._open:
                region.shown = 0

    def _inside(self, at, live):
        """The highest point since a region began: what stands on the counter,
        what ended regions inside it left, and what regions that began after it
        have displaced."""
        peak = max(live, self._open[at].inner)
        for later in self._open[at + 1:]:
            peak = max(peak, later.saved, later.inner)
        return peak


class SampledPeaks:
    """The largest of the samples of allocators that count no peak: a lower bound
    of the true one."""

    #: What a set's call says of such a peak.
    CALL = "peak: largest of the samples"

    def __init__(self):
        self._largest = {}

    def saw(self, identity, value):
        """Notes a sample of a counter set and is the largest so far, bytes."""
        largest = max(value, self._largest.get(identity, 0))
        self._largest[identity] = largest
        return largest

    def reset(self):
        """Begins a new window."""
        self._largest = {}
