"""The probe's side of one registered arena: what is known of it, its scope
tree, and its events on their way out. For the probe's thread alone."""
import time

from .arena_events import EventBatch, EventLog
from .device import gpu_uuid
from .names import NAMES
from .scope_tree import OP_ALLOC, OP_NEW, OP_PERSIST, OP_SET, OP_UNSEEN, ScopeTree
from .scope_tree import OP_CLOSE, OP_MARK, OP_OPEN, OP_RELEASE, OP_RESET, OP_RESTORE
from .unseen_moves import NO_BOUND, UnseenMoves

#: The caller of bytes that no note told of: pointers had moved when a scope
#: was opened or closed.
UNITEMISED = "moved between scopes, not itemised"

#: How long a note of a move may take that was seen already, nanoseconds.
NOTE_IS_LATE = 1_000_000_000

#: How many saved pointers of an arena are kept, the oldest ones.
MAX_MARKS = 1 << 12

#: Released arenas that a state lists, the last ones, and how long it lists one
#: that is not recorded, nanoseconds.
MAX_RELEASED = 16
RELEASED_STAYS = 60_000_000_000


def still_told(released, ns, is_recorded):
    """Those of the released arenas, oldest first, that a state of the moment ns
    lists: one that went at once could not be looked at, and those of a program
    that makes an arena a frame would bury the one that is there."""
    return [held for held in released if ns - held.gone < RELEASED_STAYS or is_recorded(held)][-MAX_RELEASED:]


def arena_device(device):
    """The record format's device of what a program calls one: a UUID or "host"
    as it is, an ordinal or "cuda:1" by the driver, once it tells."""
    name = str(device)
    if name in ("cpu", "host"):
        return "host"
    if name == "cuda" or name.startswith("cuda:") or name.isdigit():
        digits = name.rpartition(":")[2]
        return gpu_uuid(int(digits) if digits.isdigit() else 0)
    return name


class ArenaRecording:
    """What a calibration dump needs of an arena: its events since it was
    recorded, and the tree of these alone."""

    def __init__(self, number, length, forward, reverse, ns, frame, name):
        self.tree, self.log, self.batch = ScopeTree(), EventLog(), EventBatch(number)
        self.observe(ns, frame, OP_NEW, (length, 0, 0, 0, length, 0, name, 0), None)
        if forward or reverse != length:
            self.observe(ns, frame, OP_SET, (0, 0, 0, forward, reverse, 0, 0, 0), None)

    def observe(self, ns, frame, op, values, params):
        """Takes an event in, as EventBatch.add has it."""
        self.tree.observe(op, ns, frame, values[0], values[3], values[4], values[5], values[6], params)
        if not self.batch.takes(frame):
            self.log.keep(self.batch.take())
        self.batch.add(frame, ns, op, values, params)

    def settle(self):
        """Brings the log up to the last event."""
        if len(self.batch):
            self.log.keep(self.batch.take())


class ArenaRecord:
    """One arena that the program registered."""

    def __init__(self, handle, ns):
        self.number, self.name, self.made, self.gone = handle.number, handle.name, ns, 0
        self.facts, self.device = handle.facts(), handle.device
        self.tree, self.marks = ScopeTree(), []
        self.tree.set_length(handle.length())
        self.tree.reverse = self.tree.length
        self.knows_no_bytes = False  # its pointers were never known
        self.sampled_high = 0  # the highest sample since the last reset, bytes
        self._held_high = 0  # the last high-water above 0 that was known, bytes
        self.recording = None
        self._batch = EventBatch(self.number)
        self._known = False  # the tree's pointers come from an event
        self._unseen = UnseenMoves(handle.has_pointers())
        self._sighting = None  # (forward, reverse, own high-water, ns, frame) that no event explains yet
        self._sighted = 0  # when it was first seen so

    def record(self, pointers, ns, frame):
        """Begins to keep the arena's events for a calibration dump: from now
        on, since what was before is not known event by event."""
        if self.recording is None:
            forward, reverse = pointers
            self.recording = ArenaRecording(
                self.number, self.tree.length, forward, reverse, ns, frame, NAMES.number(self.name))

    def forget(self):
        """Stops to record, and gives the kept events' memory back."""
        if self.recording is not None:
            self.recording.log.forget()
            self.recording = None

    def fold(self, event, frame, publish):
        """Takes an event of the outlet in: (kind, arena, ns, op, bytes, item,
        flags, forward, reverse, scope, parent, text, dtype, params, own
        high-water). publish takes `ev` records, or is None while nobody wants them."""
        _, _, ns, op, size, item, flags, forward, reverse, scope, parent, text, dtype, params, high = event
        tree = self.tree
        self._judge_sighting(op != OP_ALLOC and op != OP_PERSIST, publish)
        if op == OP_OPEN or op == OP_CLOSE:
            if op == OP_OPEN:
                self._unwind_to(parent, ns, frame, publish)
            self._look(forward, reverse, high, ns, frame, publish, op == OP_CLOSE)
            self._held_high = high or self._held_high
        elif op == OP_MARK and len(self.marks) < MAX_MARKS:
            self.marks.append(forward)
        elif op == OP_RESTORE and self.marks:
            self.marks.pop()
        elif op == OP_RESET:
            self.marks = []
            self._look(tree.forward, tree.reverse, None, ns, frame, publish, tree.innermost() > 0)
            self._unseen.high = high
            self._held_high = self._high_water(tree) or self._held_high
            self.sampled_high = 0
        elif op == OP_RELEASE:
            self._unwind_to(0, ns, frame, publish)  # none of them has anything in it any more
            self.gone, self.marks = ns, []
            self.sampled_high = high or self.sampled_high
            forward, reverse = 0, tree.length  # its memory is given back
        elif op == OP_ALLOC or op == OP_PERSIST:
            self._unseen.note(forward + tree.length - reverse)
        self._known = True
        values = (size, flags, item, forward, reverse, scope, NAMES.number(text), NAMES.number(dtype))
        self._observe(ns, frame, op, values, params, publish)

    def _unwind_to(self, parent, ns, frame, publish):
        """Closes open scopes that the program has closed already, where the
        entries that said so were lost."""
        if self.tree.innermost() > parent:
            values = (0, 0, 0, self.tree.forward, self.tree.reverse, self.tree.opened_after(parent), 0, 0)
            self._observe(ns, frame, OP_CLOSE, values, None, publish)

    def notes(self):
        """Whether the program tells of its allocations."""
        return self._unseen.noted

    def look_between(self, handle, ns, frame, publish, idle):
        """Looks at an arena in which a scope is open and that tells of no
        allocations, so that a long scope shows what is in it, and one whose
        memory comes and goes within it shows any. idle() says whether the
        program has said nothing since."""
        if not self._known or self._unseen.noted or not self.tree.innermost():
            return
        (forward, reverse), high = handle.pointers(), handle.own_high_water()
        if not idle() or handle.fault:
            return
        if self._unseen.found:
            self._look(forward, reverse, high, ns, frame, publish, True)
        elif forward != self.tree.forward or reverse != self.tree.reverse:
            self._sight((forward, reverse, high, ns, frame), publish)

    def _sight(self, sighting, publish):
        """Keeps the highest sight of pointers that no event has moved. The note
        that tells of it may be under way; where none has come for long, none
        will."""
        forward, reverse, _, ns, _ = sighting
        if self._sighting is None:
            self._sighting, self._sighted = sighting, ns
        elif forward - reverse > self._sighting[0] - self._sighting[1]:
            self._sighting = sighting
        self._judge_sighting(ns - self._sighted >= NOTE_IS_LATE, publish, False)

    def _judge_sighting(self, unnoted, publish, over=True):
        """Takes the sight of moved pointers in where it is sure that no note
        tells of them, and forgets it once it is over."""
        sighting = self._sighting
        if sighting is None:
            return
        if unnoted:
            self._look(*sighting, publish, True)
        if unnoted or over:
            self._sighting = None

    def _look(self, forward, reverse, high, ns, frame, publish, ends):
        """Says what moved the pointers since the last event, where nothing else
        did, and how far they may have gone in between. high is the arena's own
        high-water, None where it tells none; ends says that the innermost scope
        has had its time."""
        tree, unseen = self.tree, self._unseen
        moved = self._known and (forward != tree.forward or reverse != tree.reverse)
        used = forward + tree.length - reverse
        summit, most = unseen.follow(high, used, tree.length)
        if self._known and summit > max(tree.used(), used):
            self._climb(summit, forward, reverse, ns, frame, publish)
            moved = True
        elif moved:
            self._itemise(forward, reverse, ns, frame, publish)
        if unseen.counts(moved, ends) and most > tree.bound_used() and tree.innermost():
            values = (most, 0, 0, tree.forward, tree.reverse, 0, 0, 0)
            self._observe(ns, frame, OP_UNSEEN, values, None, publish)

    def _climb(self, summit, forward, reverse, ns, frame, publish):
        """Says that so many bytes were in use at one moment since the last
        event, before the pointers came to where they are. Which side they were
        on beyond what is there now is not known: it counts as the forward one."""
        tree = self.tree
        kept = min(max(tree.reverse - reverse, 0), summit - tree.used())
        self._grow(OP_PERSIST, kept, ns, frame, publish)
        self._grow(OP_ALLOC, summit - tree.used(), ns, frame, publish)
        if forward != tree.forward or reverse != tree.reverse:
            self._observe(ns, frame, OP_SET, (0, 0, 0, forward, reverse, 0, 0, 0), None, publish)

    def _grow(self, op, moved, ns, frame, publish):
        """Counts bytes that no note told of as one allocation."""
        if moved > 0:
            tree = self.tree
            after = (tree.forward + moved, tree.reverse) if op == OP_ALLOC else (tree.forward, tree.reverse - moved)
            values = (moved, 0, 1) + after + (0, NAMES.number(UNITEMISED), 0)
            self._observe(ns, frame, op, values, None, publish)

    def _itemise(self, forward, reverse, ns, frame, publish):
        """Says that the pointers have moved: growth counts as an allocation, a
        release as a move."""
        tree = self.tree
        grown, kept = forward - tree.forward, tree.reverse - reverse
        if grown < 0 or kept < 0:
            values = (0, 0, 0, min(forward, tree.forward), max(reverse, tree.reverse), 0, 0, 0)
            self._observe(ns, frame, OP_SET, values, None, publish)
        self._grow(OP_ALLOC, grown, ns, frame, publish)
        self._grow(OP_PERSIST, kept, ns, frame, publish)

    def _observe(self, ns, frame, op, values, params, publish):
        self.tree.observe(op, ns, frame, values[0], values[3], values[4], values[5], values[6], params)
        if self.recording is not None:
            self.recording.observe(ns, frame, op, values, params)
        if publish is not None:
            if not self._batch.takes(frame):
                self._publish_batch(publish)
            self._batch.add(frame, ns, op, values, params)

    def flush(self, publish):
        """Publishes the events that have not gone out."""
        if len(self._batch):
            self._publish_batch(publish)

    def _publish_batch(self, publish):
        for strings in NAMES.take():
            publish(strings)
        publish(self._batch.take())

    def release(self, ns, frame, publish):
        """Says that the arena is gone, once."""
        if not self.gone:
            self.fold(("arena", None, ns, OP_RELEASE, 0, 0, 0, self.tree.forward, self.tree.reverse, 0, 0,
                       "", "", None, None), frame, publish)

    def entry(self, pointers):
        """The arena's entry of a state. pointers are those of now, None where
        the arena cannot tell."""
        return self._entry(self.tree, pointers or (self.tree.forward, self.tree.reverse))

    def recorded_entry(self):
        """The arena's entry of a calibration dump."""
        tree = self.recording.tree
        entry = self._entry(tree, (tree.forward, tree.reverse))
        if self.recording.log.cut:
            entry["cut"] = self.recording.log.cut
        return entry

    def _high_water(self, tree):
        """The most that is known to have been in use since the last reset, in
        bytes; of a released arena, since it was last used, since most are
        emptied before their end."""
        high = max(tree.high_water, self.sampled_high)
        return high or self._held_high if self.gone else high

    def _entry(self, tree, pointers):
        entry = {"id": self.number, "name": self.name}
        entry.update(self.facts)
        device = arena_device(self.device)
        if device:
            entry["dev"] = device
        entry["buf"] = bool(self.facts.get("managed")) and not self.gone
        entry.update({"len": tree.length, "f": pointers[0], "r": pointers[1], "hw": self._high_water(tree)})
        if self.recording is not None:
            entry["recorded"] = True
        entry["made"] = self.made
        if self.gone:
            entry["gone"] = self.gone
        if self.marks:
            entry["marks"] = list(self.marks)
        tree.fill(entry)
        if self.knows_no_bytes and not self._unseen.noted:  # its scopes stand as those that lie in no arena
            entry.update(managed=False, buf=False, len=0, f=0, r=0, hw=0)
        elif self.knows_no_bytes:
            entry["root"]["pm"] = entry["len"] or NO_BOUND
        if not self._unseen.noted and not entry["root"].get("pm"):
            self._bound_root(entry)
        return entry

    def _bound_root(self, entry):
        """Says of an arena in use that nobody tells of what it allocates: how
        often it did, and how high it stood between two looks, is not known. One
        that is new and empty may yet tell of everything."""
        in_use = entry["f"] + entry["len"] - entry["r"]
        highest = max(entry["hw"], in_use)
        if highest or time.monotonic_ns() - self.made >= NOTE_IS_LATE:
            entry["root"]["pm"] = entry["len"] or NO_BOUND
        entry["hw"] = max(entry["hw"], in_use)
        if highest > entry["root"].get("p", 0):
            entry["root"]["p"] = highest
