"""The adapter of what the program says itself: it folds the outlet's entries
into scope trees and batches of events, and samples the registered arenas."""
import time

from .adapter import Adapter, plural, register
from .arena_events import CalibrationPart, unpacked_events
from .arena_record import ArenaRecord, arena_device, still_told
from .device import DRIVER, INHERITED
from .names import FOLD_LOCK, NAMES
from .outlet import OUTLET
from .scope_tree import OP_RESET
from .scopes import ARENA_HANDLES, SCOPE_FAULTS

#: Names of transients that a state lists.
MAX_TRANSIENTS = 256

#: Transients and arenas that are kept for a calibration dump.
MAX_RECORDED_PEAKS = 1 << 14
MAX_RECORDED_ARENAS = 256

#: How often the program's faults are told at most, nanoseconds.
FAULTS_PERIOD = 10_000_000_000


class Transients:
    """Peaks outside the arenas: one entry a name, in order of appearance."""

    def __init__(self):
        self._entries = {}

    def add(self, name, size, peak):
        """Takes a transient in: size bytes of input, peak bytes. The largest
        peak of a name shows."""
        entry = self._entries.get(name)
        if entry is None:
            if len(self._entries) < MAX_TRANSIENTS:
                self._entries[name] = {"name": name, "in": size, "peak": peak, "n": 1}
            return
        entry["n"] += 1
        if peak > entry["peak"]:
            entry["in"], entry["peak"] = size, peak

    def entries(self):
        """The entries as a state has them."""
        return [dict(entry) for entry in self._entries.values()]


class ArenaAdapter(Adapter):
    """Scopes and arenas of the program's own. It stands for itself: what is
    registered later can be recorded too, so it is always there, but is named
    among the allocators only once there is an arena."""

    def __init__(self):
        self.armed = False  # arenas are recorded for a calibration dump
        self.recorded = []  # ArenaRecords that are, oldest first
        self.recorded_peaks = []  # (name, bytes of input, bytes)
        self.dropped = self.dropped_peaks = 0
        self._records = {}  # number: ArenaRecord, oldest first
        self._released = []  # ArenaRecords of arenas that are gone
        self._transients = Transients()
        self._frame = -1
        self._faults_told, self._faults_at = 0, -FAULTS_PERIOD
        self._forget_due = self._record_due = False
        self._changed = False  # a state is to be sent
        self._unpublished = []  # what a calibration dump found to fold

    @property
    def name(self):
        return "arena" if self._records or self._released or ARENA_HANDLES.living() else ""

    def library(self):
        return ArenaAdapter

    @staticmethod
    def unplaced():
        """The counter sets of the arenas whose program has named no device for
        them."""
        return {"arena:%d" % handle.number for handle in ARENA_HANDLES.living() if handle.device in (None, "")}

    @staticmethod
    def in_child():
        """The counter sets of the arenas that a child has from its parent. Of
        those on a device that it cannot use nothing is known."""
        handles = ARENA_HANDLES.living()
        for handle in handles if DRIVER.forked else ():
            if arena_device(handle.device) != "host" and (handle.inside or handle.device not in (None, "")):
                handle.give_up(INHERITED)
        return ["arena:%d" % handle.number for handle in handles]

    def drain(self, publish):
        if self._is_idle():
            return
        with FOLD_LOCK:
            unpublished, self._unpublished = self._unpublished, []
            for record in unpublished:
                publish(record)
            self._fold(publish)

    def _is_idle(self):
        """Whether there is nothing to fold and nothing to look after, or what
        there is waits for a recorder."""
        return OUTLET.held or not (OUTLET.entries or OUTLET.lost or self._records or self._unpublished or self._record_due or self._forget_due
                    or SCOPE_FAULTS.count != self._faults_told or ARENA_HANDLES.living())

    def _fold(self, publish):
        ns = time.monotonic_ns()
        before = (len(self._records), len(self._released))
        self._follow_arming(ns)
        wanted = publish if OUTLET.armed else None
        for _ in range(len(OUTLET.entries)):
            try:
                entry = OUTLET.entries.popleft()
            except IndexError:
                break
            self._take(entry, publish, wanted)
        self._follow_handles(ns, wanted)
        self._look_between(wanted)
        self._flush(publish)
        for strings in NAMES.take():
            publish(strings)
        self._tell_lost(publish, ns)
        self._tell_faults(publish, ns)
        if self._changed or (len(self._records), len(self._released)) != before:
            self._changed = False
            publish({"t": "state"})

    def _take(self, entry, publish, wanted):
        kind = entry[0]
        if kind == "arena":
            record = self._record_of(entry[1], entry[2])
            abandons = entry[3] == OP_RESET and record.tree.innermost() > 0
            record.fold(entry, self._frame, wanted)
            if abandons:
                # What is abandoned cannot be told from what was there before
                # by a reader that joined in the middle.
                publish({"t": "state"})
        elif kind == "frame":
            self._frame = entry[2]
        elif kind == "peak":
            _, ns, name, size, peak = entry
            self._transients.add(name, size, peak)
            self._keep_peak(name, size, peak)
            self._flush(publish)
            publish({"t": "peak", "ns": ns, "name": name, "in": size, "peak": peak})
        elif kind == "record":
            self._flush(publish)
            publish(entry[1])

    def _flush(self, publish):
        """Publishes the events that have not gone out: what follows came after
        them."""
        for record in list(self._records.values()) + self._released:
            record.flush(publish)

    def _keep_peak(self, name, size, peak):
        if not self.armed or size <= 0:
            return
        if len(self.recorded_peaks) >= MAX_RECORDED_PEAKS:
            del self.recorded_peaks[0]
            self.dropped_peaks += 1
        self.recorded_peaks.append((name, size, peak))

    def _record_of(self, handle, ns):
        record = self._records.get(handle.number)
        for gone in self._released if record is None else ():
            if gone.number == handle.number:
                return gone
        if record is None:
            record = ArenaRecord(handle, ns)
            self._records[handle.number] = record
            if self.armed:
                self._begin(record, (0, record.tree.length), ns)
        return record

    def _begin(self, record, pointers, ns):
        if len(self.recorded) >= MAX_RECORDED_ARENAS:
            self.recorded.pop(0).forget()
            self.dropped += 1
        record.record(pointers, ns, self._frame)
        self.recorded.append(record)

    def _follow_arming(self, ns):
        """Does what record asked for, on the thread that owns the records."""
        if self._forget_due:
            self._forget_due = False
            for record in self.recorded:
                record.forget()
            self.recorded, self.recorded_peaks = [], []
            self.dropped = self.dropped_peaks = 0
        if self._record_due:
            self._record_due = False
            for handle in ARENA_HANDLES.living():
                record = self._record_of(handle, ns)
                if record.recording is None:
                    self._begin(record, handle.pointers(), ns)

    def _follow_handles(self, ns, wanted):
        """Meets arenas that were registered and lets go of those that ended."""
        living = {handle.number: handle for handle in ARENA_HANDLES.living()}
        for handle in living.values():
            record = self._record_of(handle, ns)
            if record.knows_no_bytes is not handle.knows_no_bytes():
                record.knows_no_bytes = not record.knows_no_bytes
                self._changed = True
        waiting = len(OUTLET.entries)
        for number, record in list(self._records.items()):
            if number in living or waiting:
                continue
            record.release(ns, self._frame, wanted)
            del self._records[number]
            self._released.append(record)
        self._let_go(ns)

    def _let_go(self, ns):
        """Forgets the arenas that are gone and that no state tells of any more.
        A calibration dump has those that are recorded all the same."""
        self._released = still_told(self._released, ns, lambda record: record.recording is not None)

    def _look_between(self, wanted):
        """Looks at the arenas in which scopes are open. What the program says
        meanwhile is later than that, so then it waits for the next time."""
        for handle in ARENA_HANDLES.living() if OUTLET.armed else ():
            record = self._records.get(handle.number)
            if record is not None:
                record.look_between(handle, time.monotonic_ns(), self._frame, wanted, lambda: not OUTLET.entries)

    def _tell_lost(self, publish, ns):
        lost = OUTLET.lost
        if lost:
            OUTLET.lost -= lost
            publish({"t": "lost", "ns": ns, "n": lost, "what": "ev"})
            publish({"t": "state"})

    def _tell_faults(self, publish, ns):
        faults = SCOPE_FAULTS.count - self._faults_told
        if faults and ns - self._faults_at >= FAULTS_PERIOD:
            self._faults_told, self._faults_at = SCOPE_FAULTS.count, ns
            publish({"t": "note", "ns": ns, "level": "warning", "text": (
                "%s an arena or scope of the program could not be noted, the last time for %s: "
                "see that its pointers can be read" % ("once" if faults == 1 else "%d times" % faults, SCOPE_FAULTS.last))})

    def sample(self, out):
        out.each(self._sample_arena, [handle for handle in ARENA_HANDLES.living() if handle.has_pointers()])

    def _sample_arena(self, out, handle):
        forward, reverse = handle.pointers()
        length = handle.length()
        counters = {"length": length, "forward": forward, "reverse": reverse, "free": reverse - forward,
                    "open_scopes": handle.open_count()}
        why = dict.fromkeys(("forward", "reverse", "free"), handle.fault) if handle.fault else {}
        if handle.length_fault:
            why["length"] = handle.length_fault
        for counter in why:
            del counters[counter]
        record = self._records.get(handle.number)
        high = self._high_water(handle, record, forward + length - reverse)
        if high is None:
            why["high_water"] = handle.fault or "nothing tells it: note allocations with the handle's alloc()"
        else:
            counters["high_water"] = high
            if record is not None:
                record.sampled_high = high
        out.add("arena:%d" % handle.number, "arena", handle.name, arena_device(handle.device), handle.call, counters, handle.inside, why)

    @staticmethod
    def _high_water(handle, record, used):
        """The arena's own high-water, or that of the allocations where the
        program notes them, in bytes; None where neither is known. used is what is in use now."""
        if handle.highest is not None:
            return handle.own_high_water()
        if record is not None and record.notes() and record.tree.high_water:
            return max(record.tree.high_water, used)
        return None

    def state(self):
        with FOLD_LOCK:
            return self._state()

    def _state(self):
        pointers = {}
        for handle in ARENA_HANDLES.living():
            if handle.has_pointers():
                pointers[handle.number] = handle.pointers()
                record = self._records.get(handle.number)
                if record is not None:
                    record.knows_no_bytes = handle.knows_no_bytes()
        self._let_go(time.monotonic_ns())
        arenas = [record.entry(None) for record in self._released]
        arenas += [record.entry(pointers.get(record.number)) for record in self._records.values()]
        state = {"arenas": arenas, "nonarena": self._transients.entries()}
        if self.armed:
            state["rec"] = True
        if self.dropped:
            state["dropped"] = self.dropped
        if self.dropped_peaks:
            state["pdropped"] = self.dropped_peaks
        return state

    def calibration(self, ns):
        """What a calibration dump says of the recorded arenas, with FOLD_LOCK
        held."""
        self._fold(self._unpublished.append)
        for record in self.recorded:
            record.recording.settle()
        entries = [record.recorded_entry() for record in self.recorded]
        logs = [record.recording.log.copy() for record in self.recorded]
        return CalibrationPart(entries, lambda: unpacked_events(logs), list(self.recorded_peaks), self.armed,
                               self.dropped, self.dropped_peaks)

    def record(self, report, on):
        living = len(ARENA_HANDLES.living())
        report.acted = bool(report.acted) or self.armed != on
        if on:
            self.armed = self._record_due = True
            self._forget_due = False
            report.line("keep the events of the program's own arenas and scope stacks, %d at this moment" % living,
                        why="from now on: what was before is not known event by event")
            return
        forgotten = len(self.recorded)
        self.armed = self._record_due = False
        self._forget_due = True
        report.line("stop to keep the events of the program's own arenas",
                    why="the events of %s are forgotten; a calibration dump that was made before has them" % plural(forgotten, "arena") if forgotten else "")


ARENA_ADAPTER = register(ArenaAdapter())
