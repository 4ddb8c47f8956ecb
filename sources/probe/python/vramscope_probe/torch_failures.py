"""What torch says when an allocation fails, and its memory snapshots.

Snapshots and stacks are for runs that asked for them: VRAMSCOPE_SNAPSHOTS=PREFIX
has the failure write PREFIX.oom-1.pickle and so on, VRAMSCOPE_TORCH_HISTORY=N has
torch keep the stacks of the last N allocations and frees.
"""
import collections
import os
import sys
import time

from .adapter import Sets, monotonic, plural
from .device_memory import DEVICE_MEMORY
from .main_thread import on_main_thread
from .outlet import OUTLET


#: What torch counted when an allocation failed: ns the moment, statistics its
#: nested counters of the device ordinal, total and free bytes of that device.
FailedMoment = collections.namedtuple("FailedMoment", "ns ordinal statistics total free")


class TorchFailures:
    """Hooks torch's observer of failed allocations, once."""

    SNAPSHOTS = 3  # a process writes at most: a failing loop must not fill the disk
    WAITING = 128  # entries that wait for the probe's thread, two of a failure; older ones go

    def __init__(self):
        self.history = False  # this probe has turned stack history on
        self._asked = self._foreseen = False
        self._snapshots = 0
        self._entries = collections.deque()  # FailedMoments, and records as they are
        self._untold = 0  # failures that had to go

    def attach(self, adapter):
        """Has the main thread attach the observer, and what the environment asks
        for. Called with every sample; costs a test once that was done."""
        if self._asked:
            return
        self._asked = True
        prefix, entries = os.environ.get("VRAMSCOPE_SNAPSHOTS", ""), os.environ.get("VRAMSCOPE_TORCH_HISTORY", "")
        if not on_main_thread(lambda: self._attach(adapter, prefix, entries)):
            self._asked = False

    def foresee(self, adapter):
        """Has torch itself attach them, as it initialises CUDA: then the first
        allocation has its stack, and the first failure is told. Called while
        torch is loaded and CUDA is not; costs a test once that was done."""
        if self._asked or self._foreseen:
            return
        later = getattr(getattr(adapter.library(), "cuda", None), "_lazy_call", None)
        if later is None:
            return  # torch is still being imported
        self._foreseen = True
        version = getattr(adapter.library(), "version", None)
        if version is not None and not (getattr(version, "cuda", None) or getattr(version, "hip", None)):
            if os.environ.get("VRAMSCOPE_TORCH_HISTORY"):
                self.note("info", "this torch was built without a device: it keeps no stacks of allocations and tells of "
                          "no failed one, so no snapshot will come")
            return
        later(lambda: self._initialised(adapter))

    def _initialised(self, adapter):
        """Called by torch on the thread that initialises CUDA."""
        if self._asked:
            return
        self._asked = True
        try:
            self._attach(adapter, os.environ.get("VRAMSCOPE_SNAPSHOTS", ""), os.environ.get("VRAMSCOPE_TORCH_HISTORY", ""))
        except Exception as error:
            self.note("warning", "torch tells of no failed allocation: %s" % _first_line(error))

    def drain(self, adapter, publish):
        """Hands on the failures and remarks since the last call, with a sample of
        the moment before each failure."""
        while self._entries:
            if self._untold:
                self._tell_untold(publish)
            entry = self._entries.popleft()
            publish(sample_of(adapter, entry) if type(entry) is FailedMoment else entry)

    def _tell_untold(self, publish):
        untold = self._untold
        self._untold -= untold
        publish({"t": "note", "ns": monotonic(), "level": "warning", "text": (
            "%s of torch came too quickly to be told one by one: the latest are told, and torch's counter has all"
            % plural(untold, "failed allocation"))})

    def note(self, level, text):
        """Leaves a remark for the dashboard."""
        self._leave({"t": "note", "ns": monotonic(), "level": level, "text": text})

    def _leave(self, entry):
        """Leaves an entry for the probe's thread. Any thread of the render may call it."""
        while len(self._entries) >= self.WAITING:
            try:
                gone = self._entries.popleft()
            except IndexError:
                break  # the probe's thread has just taken them
            self._untold += type(gone) is dict and gone["t"] == "oom"
        self._entries.append(entry)

    def _attach(self, adapter, prefix, entries):
        if entries:
            try:
                self._record_history(adapter, entries)
            except Exception as error:
                self.note("warning", "torch records no stack history: %s" % _first_line(error))
        try:
            import pickle  # noqa: F401 - not when memory is short
            adapter.library()._C._cuda_attach_out_of_memory_observer(
                lambda *told: self._failed(adapter, prefix, *told))
        except Exception as error:
            if prefix:
                self.note("warning", "torch tells of no failed allocation: %s" % _first_line(error))

    def _record_history(self, adapter, entries):
        count = int(entries) if entries.isdigit() else 0
        if count == 0:
            raise ValueError("VRAMSCOPE_TORCH_HISTORY=%.20s is no number of entries" % entries)
        # Stacks of C++ take seconds to be put into words.
        adapter.library().cuda.memory._record_memory_history(max_entries=count, stacks="python")
        self.history = True
        self.note("info", "torch keeps the stacks of the last %d allocations and frees: each takes longer by the walk "
                  "over its stack, and a snapshot by the entries that it holds; the first one loads torch's compiler, "
                  "which takes seconds, while the failed allocation waits" % count)

    def _failed(self, adapter, prefix, ordinal, asked, total, free):
        """Called by torch on the thread whose allocation fails, without its
        lock, before the exception."""
        try:
            record = {"t": "oom", "ns": monotonic(), "id": "torch:%d" % ordinal, "asked": int(asked), "free": int(free),
                      "rule": "torch's observer of failed allocations", "rescued": False}
            statistics = adapter.statistics(ordinal)
            # At once: a snapshot takes seconds, in which later samples go out.
            self._leave(FailedMoment(record["ns"], ordinal, statistics, int(total), int(free)))
            counters = adapter.shared_counters(statistics)
            record["pfree"] = counters["reserved"] - counters["allocated"]
            if OUTLET.frame >= 0:
                record["frame"] = OUTLET.frame
            if prefix:
                record["outcome"] = self._dump(adapter, prefix)
            self._leave(record)
        except Exception as error:
            self.note("warning", "a failed allocation could not be told: %s" % _first_line(error))

    def _dump(self, adapter, prefix):
        if self._snapshots >= self.SNAPSHOTS:
            return "no further snapshot: %d were written" % self._snapshots
        self._snapshots += 1
        taken = 0
        while os.path.lexists("%s.oom-%d.pickle" % (prefix, self._snapshots + taken)):
            taken += 1  # another process of this run
        path = "%s.oom-%d.pickle" % (prefix, self._snapshots + taken)
        try:
            write_torch_snapshot(adapter.library(), path)
            return "a snapshot was written: %s" % path
        except Exception as error:
            return "no snapshot: %s" % _first_line(error)


def sample_of(adapter, moment):
    """A sample of a FailedMoment, with what was read then: the last one before it
    can be older by all that torch took since."""
    out = Sets(look=False)
    adapter.sample_native(out, moment.ordinal, moment.statistics)
    DEVICE_MEMORY.tell(out, moment.ordinal, moment.free, moment.total, "cudaMemGetInfo, as torch handed it to its observer")
    return {"t": "s", "ns": moment.ns, "sets": out.sets}


#: What torch imports to put a recorded history's stacks into words.
COMPILER = "torch._inductor"


def write_torch_snapshot(torch, path):
    """Writes torch's memory snapshot to a new file and is (bytes, nanoseconds,
    why it took that long or ""). A file that could not be finished is removed.
    Raises what torch and the file system say."""
    import pickle
    had_compiler = COMPILER in sys.modules
    began = time.monotonic_ns()
    snapshot = torch.cuda.memory._snapshot()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        try:
            pickle.dump(snapshot, file, protocol=4)
            file.flush()
            size = file.tell()
        except BaseException:
            os.unlink(path)
            raise
    loaded = COMPILER in sys.modules and not had_compiler
    return size, time.monotonic_ns() - began, (
        "torch has loaded its compiler to put the recorded stacks into words, which takes seconds: the next one goes without" if loaded else "")


def _first_line(error):
    """An exception as one sentence of bounded length."""
    return ("%s: %s" % (type(error).__name__, error)).split("\n")[0][:300]


TORCH_FAILURES = TorchFailures()
