"""Batches of one arena's events in columns, and what is kept of a recorded
arena for a calibration dump."""
import json
import zlib

from .names import MAX_PARAMS
from .scope_tree import params_size

MAX_BATCH_EVENTS = 2048
MAX_BATCH_PARAMS = 128 << 10  # bytes of the parameters in one batch, roughly


class EventBatch:
    """The events of one arena in one frame that have not gone out yet.

    Two thousand events with their parameters fit a line of the record format.
    """

    _COLUMNS = ("n", "fl", "item", "f", "r", "sc", "x", "dt")

    def __init__(self, arena):
        self.arena = arena
        self._clear()

    def _clear(self):
        self.frame = -1
        self._rows = []  # (ns, op) and the values of the columns
        self._params, self._params_bytes = [], 0

    def __len__(self):
        return len(self._rows)

    def takes(self, frame):
        """Says whether an event of that frame can still go into the batch."""
        length = len(self._rows)
        return length == 0 or (
            length < MAX_BATCH_EVENTS and self.frame == frame and self._params_bytes < MAX_BATCH_PARAMS)

    def add(self, frame, ns, op, values, params=None):
        """Adds an event: ns its moment, values a tuple in the order of the
        columns n, fl, item, f, r, sc, x and dt of the record format."""
        if not self._rows:
            self.frame = frame
        if params:
            self._params.append([len(self._rows), params])
            self._params_bytes += params_size(params) + 8 * MAX_PARAMS
        self._rows.append((ns, op) + values)

    def take(self):
        """The batch as an `ev` record, and an empty one from then on."""
        times, ops, *columns = map(list, zip(*self._rows))
        record = {"t": "ev", "ns": times[0], "arena": self.arena, "frame": self.frame}
        steps = [0] + [later - earlier for earlier, later in zip(times, times[1:])]
        if any(steps):
            record["dns"] = steps
        record["op"] = ops
        for key, column in zip(self._COLUMNS, columns):
            if any(column):
                record[key] = column
        if self._params:
            record["pr"] = self._params
        self._clear()
        return record


class EventLog:
    """The batches of a recorded arena, packed, within bounds that all logs
    share. Once an event did not fit, none that follows is kept: a log never
    has a hole."""

    BYTES = 64 << 20  # of all logs together
    used = 0  # bytes, of all logs together

    def __init__(self):
        self._packed = []
        self._bytes = 0
        self.cut = 0  # events that were not kept

    def keep(self, record):
        """Keeps an `ev` record."""
        packed = b"" if self.cut else zlib.compress(json.dumps(record, separators=(",", ":")).encode(), 1)
        if self.cut or EventLog.used + len(packed) > self.BYTES:
            self.cut += len(record["op"])
            return
        self._packed.append(packed)
        self._bytes += len(packed)
        EventLog.used += len(packed)

    def copy(self):
        """What is kept now, for unpacked_events: it costs no unpacking."""
        return list(self._packed)

    def forget(self):
        """Gives the memory back."""
        EventLog.used -= self._bytes
        self._packed, self._bytes = [], 0


def unpacked_events(logs):
    """The `ev` records of copied logs, oldest first in each."""
    for log in logs:
        for packed in log:
            yield json.loads(zlib.decompress(packed))


class CalibrationPart:
    """What one library brings to a calibration dump: entries of a state, events
    (a function that gives the `ev` records), peaks (name, bytes of input,
    bytes), whether recording is armed, and what its bounds pushed out."""

    def __init__(self, entries, events, peaks, armed, dropped=0, dropped_peaks=0):
        self.entries, self.events, self.peaks, self.armed = entries, events, peaks, armed
        self.dropped, self.dropped_peaks = dropped, dropped_peaks
