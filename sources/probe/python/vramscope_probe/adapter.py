"""What the probe asks of an allocator library, and what it gives it to write on.

An Adapter stands for one library inside this process. The probe never imports
that library: it is found in sys.modules or it is not there. Everything here is
said in the terms of the record format (recorder/FORMAT.md): bytes are int,
times are monotonic nanoseconds, a counter that is not known is left out and
says why.
"""
import json
import sys
import time


class Sets:
    """The counter sets of one sample, in order.

    With look, what a library has is looked for anew: devices in use, pools that
    held nothing. The probe's thread does so once a second, and what was found
    counts for the samples in between.
    """

    def __init__(self, look=True):
        self.sets = []
        self.look = look

    def add(self, identity, of, name, device, call, counters, inside="", why=None):
        """Adds a counter set.

        identity is its name in this source ("torch:0"), of what it counts
        ("pool", "arena", "process", "peaks"), name a label for the screen,
        device the UUID of the GPU, call the call that the numbers came from,
        counters {counter: int} with the names of recorder/FORMAT.md, inside the
        identity of the set that this one lies in, why {counter: reason} for
        those that are missing. Counters that are None are left out.
        """
        self.sets.append(counter_set(identity, of, name, device, call, counters, inside, why))

    def add_inherited(self, name, reason):
        """Adds the set of a library of which nothing is told, for that reason."""
        self.add(name, "pool", name, "", "", {}, "", {"reserved": reason, "allocated": reason})

    def fill(self, face, counters):
        """Adds a counter set of which only the counters change: face is a Face,
        counters {counter: int} without any that is None."""
        self.sets.append(face.with_counters(counters))

    def each(self, sample, parts):
        """Calls sample(self, part) for every part of what a library has, such as its
        devices: one that raises keeps no other from telling. What was raised first is
        raised once all were asked."""
        raised = None
        for part in parts:
            try:
                sample(self, part)
            except Exception as error:
                raised = raised or error
        try:
            if raised is not None:
                raise raised
        finally:
            raised = None  # it holds this frame


def counter_set(identity, of, name, device, call, counters, inside="", why=None):
    """A counter set as Sets.add has it."""
    entry = {"id": identity, "of": of}
    if inside:
        entry["in"] = inside
    if name:
        entry["name"] = name
    if device:
        entry["dev"] = device
    if call:
        entry["call"] = call
    entry["c"] = {key: value if type(value) is int else int(value) for key, value in counters.items() if value is not None}
    if why:
        entry["why"] = dict(why)
    return entry


class FacedSet(dict):
    """A counter set whose text is made already."""

    __slots__ = ("text",)  # as JSON, with "c" at its end


class Face:
    """What stays of a counter set from sample to sample, put into words once. It
    belongs to one thread at a time."""

    def __init__(self, entry):
        self._entry = {key: value for key, value in entry.items() if key != "c"}
        self._begin = json.dumps(self._entry, ensure_ascii=False, separators=(",", ":"))[:-1].replace("%", "%%")
        self._shape = (None, "")  # the counters' names, and the text that their values complete

    def with_counters(self, counters):
        """The set with counters, {counter: int}, as a FacedSet."""
        names, text = self._shape
        if names != tuple(counters):
            names = tuple(counters)
            text = '%s,"c":{%s}}' % (self._begin, ",".join('"%s":%%d' % name for name in names))
            self._shape = (names, text)
        entry = FacedSet(self._entry)
        entry["c"] = counters
        entry.text = text % tuple(counters.values())
        return entry


class Report:
    """What a command did, line by line; the answer is made of it."""

    def __init__(self):
        self.acted = None  # bool once something could be said
        self.failed = False
        self.why = ""
        self.path = ""
        self.lines = []

    def line(self, what, before=None, after=None, freed=None, why="", took=None):
        """Adds a line: bytes before and after, freed those that went back to
        the driver, why less came back than asked, took nanoseconds."""
        entry = {"what": what}
        for key, value in (("before", before), ("after", after), ("freed", freed)):
            if value is not None:
                entry[key] = int(value)
        if why:
            entry["why"] = why
        if took is not None:
            entry["took"] = int(took)
        self.lines.append(entry)

    def fail(self, why):
        """Says that the command could not be carried out, in one sentence that
        says what to do."""
        self.failed, self.why = True, why


class Adapter:
    """One allocator library. Subclasses override what the library can do.

    sample runs on the probe's own thread and makes cheap reads only: no
    allocation, no free, no synchronisation, no call that could make a CUDA
    context. The commands run on the main thread at a safe point. Whatever they
    raise is caught by the probe, counted, and told in the next sample or in the
    answer; it never reaches the program.
    """

    name = ""  # as in hello's "have"
    module = ""  # the key of sys.modules that shows that the library is there
    period = 0.0  # seconds that pass between two samples at least; 0 is every one
    at_looks = False  # where it told nothing at a look (Sets), it is not asked before the next one

    def library(self):
        """The library's module if the program has loaded it, else None."""
        return sys.modules.get(self.module)

    def sample(self, out):
        """Adds this library's counter sets to out, a Sets."""

    def state(self):
        """{"arenas": [...], "pools": [...], "nonarena": [...]} as the state
        record has them; empty parts may be left out. Runs on the probe's
        thread."""
        return {}

    def drain(self, publish):
        """Hands what was noted since the last call to publish, record by record
        (dicts of the record format without "src"). Runs on the probe's thread,
        often; with nothing to hand on it costs a test."""

    def record(self, report, on):
        """Arms or disarms what this library can record."""

    def refusals(self):
        """{command: why} for the commands that this library cannot obey. A
        command that no adapter can obey is offered as refused."""
        return {}

    def capturing(self):
        """Why no command may touch the device now (a CUDA graph is being
        captured), or "". Runs on the main thread."""
        return ""

    def reclaim(self, report, device, forced):
        """Gives cached memory back to the driver. device is a UUID or "" for
        every device."""

    def rebuild(self, report, device):
        """Tears the pool down and builds it again, never over live blocks."""

    def reset_peak(self, report, device):
        """Begins a new window of the peak counters."""

    def snapshot(self, report, path):
        """Writes the library's own memory dump to path."""


#: Every adapter, in the order in which samples show and reclaim asks them.
ADAPTERS = []


def register(adapter):
    """Adds an adapter to those that the probe asks."""
    ADAPTERS.append(adapter)
    return adapter


#: Nanoseconds of CLOCK_MONOTONIC, as every record counts them.
monotonic = time.monotonic_ns


def plural(count, noun):
    """A count as a sentence says it: "1 arena", "2 arenas"."""
    return "%d %s" % (count, noun if count == 1 else noun + "s")


def in_units(size):
    """Bytes as a sentence says them: "16.0 MiB"."""
    size = int(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024 or unit == "GiB":
            return "%d B" % size if unit == "B" else "%.1f %s" % (size, unit)
        size /= 1024
