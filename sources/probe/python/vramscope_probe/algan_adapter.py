"""algan's arenas (algan.utils.memory_utils), its recorder and its transients.

Every arena's pointers are read from its attributes. Scopes and events are there
for arenas that were made while algan's own recording was armed
(set_auto_record). Nothing here asks get_num_available_bytes or the pressure
predicates: the first one reclaims.

Arenas that nobody records are found because ManualMemory.__init__ is wrapped as
soon as the module is there: the wrapper notes a weak reference and changes
nothing else. Arenas made before that are looked for once, when recording is
switched on.
"""
import collections
import functools
import gc
import time
import weakref

from .adapter import Adapter, plural, register
from .algan_replay import AlganReplay, algan_tree
from .arena_adapter import ARENA_ADAPTER
from .arena_events import CalibrationPart, EventBatch
from .arena_record import still_told
from .device import DRIVER, INHERITED, gpu_uuid
from .names import ARENA_NUMBERS, FOLD_LOCK, NAMES

#: What the numbers of an arena come from.
ALGAN_CALL = "ManualMemory.current_pointer, .current_reverse_pointer, .max_pointer"

#: Events of one arena that are replayed for a state.
ALGAN_LIVE_EVENTS = 50_000

#: Events that a calibration dump replays, of all arenas together.
ALGAN_DUMP_EVENTS = 2_000_000

#: A tree is built again this many times its cost after the last time, at least.
ALGAN_REST = 50

#: Arenas that are known at a time, the youngest.
ALGAN_ARENAS = 256


class AlganArena:
    """One of algan's arenas as far as it was seen."""

    def __init__(self, arena, ns):
        self.number = next(ARENA_NUMBERS)
        self.reference = weakref.ref(arena)
        self.made, self.gone = ns, 0
        self.tree = None
        self._ended = False  # nothing more will be told of the tree
        self._counted = None  # what the recorder had counted when the tree was built
        self._next = 0
        self._last = {}  # its facts when it was looked at last, {} before it had a buffer
        self._high = 0  # its high-water before it was emptied last, bytes
        self._peak = {}  # the highest that was seen of it, as a state's root has it

    def follow(self, ns, recorded):
        """Brings the tree up to date, within what that may cost. True if it, or
        whether the arena lives, has changed."""
        arena = self.reference()
        lives = self.half(arena) or getattr(arena, "data", None) is not None
        changed = lives == bool(self.gone)
        ended = changed and not lives
        self.gone = 0 if lives else self.gone or ns
        self._look(arena, ns, recorded)
        recorder = getattr(arena, "_recorder", None)
        if recorder is None or not recorded:
            return self._cut_off() or changed
        if ns < self._next and not ended:  # the last tree is to be whole
            return changed
        counted = (recorder.root.alloc_count, len(recorder.abandoned), len(recorder._stack), len(recorder.root.children),
                   len(recorder._stack[-1].children))
        if counted != self._counted:
            self._counted = counted
            self.tree = algan_tree(recorder, self.length(arena), NAMES.number, ALGAN_LIVE_EVENTS)
            self._next = ns + max(1_000_000_000, ALGAN_REST * (time.monotonic_ns() - ns))
            changed = True
        if ended and self.tree is not None:
            self.tree.unwind()  # of what had an end, algan tells nothing more
            self._ended = True
        return changed

    def build_now(self):
        """Has the next look build the tree, whatever that costs."""
        self._next = 0

    def _cut_off(self):
        """Takes note, once, that recording was switched off, or what was recorded
        was cleared, in the middle of the arena's life. True if that is new."""
        if self.tree is None or self._ended:
            return False
        self._ended = True
        self.tree.cut_off()
        return True

    def _look(self, arena, ns, recorded):
        """Keeps what can no more be asked once the arena is gone."""
        if getattr(arena, "data", None) is None or self.half(arena):
            return
        if not self._last.get("buf"):
            self._last = self._facts(arena, recorded)
        high = int(arena.max_pointer)
        self._high = high or self._high
        if high > self._peak.get("p", 0):
            self._peak = {"p": high, "at": ns}
        forward = int(arena.current_pointer)
        if forward > self._peak.get("pf", 0):
            self._peak["pf"] = forward

    def tells(self):
        """Whether there is anything to tell of it once it is gone: one that was
        gone before anybody looked has not even a length, and an unmanaged one
        allocates from torch and is a name alone, unless a scope was seen in it."""
        if self.tree is not None and len(self.tree.rows):
            return True
        return (bool(self._last) or self.reference() is not None) and self._last.get("managed", True)

    @staticmethod
    def half(arena):
        """Whether it was registered and never got its buffer."""
        return arena is not None and not hasattr(arena, "length")

    @staticmethod
    def length(arena):
        """Bytes, 0 for a half-built one."""
        return int(getattr(arena, "length", 0))

    @staticmethod
    def device(arena):
        """(type, ordinal) of the buffer's device, ("", 0) without one."""
        device = getattr(getattr(arena, "data", None), "device", None)
        return (str(getattr(device, "type", "")), int(getattr(device, "index", None) or 0))

    def entry(self, recorded):
        """The arena's entry of a state."""
        arena = self.reference()
        if arena is not None:
            self._last = self._facts(arena, recorded)
        entry = dict(self._last)
        if self.gone:
            # Its memory is given back, so that nothing of it is in use; how high
            # it stood is told on. Most arenas are emptied before their end.
            entry.update(buf=False, f=0, r=entry.get("len", 0), hw=self._high, gone=self.gone)
            entry.pop("marks", None)
        if not recorded:
            entry.pop("recorded", None)
        if self.tree is not None:
            self._fill(self.tree, entry)
        elif entry.get("len"):
            # Nobody told of its allocations: how many there were, and what was
            # in it between two looks, is not known.
            entry["root"] = dict(self._peak, pm=entry["len"])
        if self.gone and not entry.get("hw"):
            entry["hw"] = entry.get("root", {}).get("p", 0)
        return entry

    def replayed(self, limit, ns, batches):
        """(entry, what is left of limit): the arena's entry of a calibration
        dump. Its events are added to batches, all of the moment ns, since algan
        keeps no times."""
        arena = self.reference()
        entry, recorder = self._facts(arena, True), arena._recorder
        if recorder is None:
            return entry, limit
        length = self.length(arena)
        replay, batch = AlganReplay(recorder, length, limit), EventBatch(self.number)
        for op, size, item, flags, forward, reverse, scope, text, dtype, params in replay:
            if not batch.takes(-1):
                batches.append(batch.take())
            values = (size, flags, item, forward, reverse, scope, NAMES.number(text), NAMES.number(dtype))
            batch.add(-1, ns, op, values, params)
        if len(batch):
            batches.append(batch.take())
        self._fill(algan_tree(recorder, length, NAMES.number, limit), entry)
        if self.gone:
            entry["gone"] = self.gone
        if not entry["buf"]:
            entry["hw"] = self._high or entry["root"].get("p", 0)
        if replay.cut:
            entry["cut"] = replay.cut
        return entry, limit - replay.taken

    def _fill(self, tree, entry):
        """Writes the tree into an entry. algan's recorder does not say where among
        the root's own allocations its scopes lay, so that the replay's peak may
        be lower than what the arena itself was seen to have counted."""
        root = tree.fill(entry)["root"]
        if self._peak.get("p", 0) > root.get("p", 0):
            root.update(self._peak, pf=root.get("pf", 0))

    def _facts(self, arena, recorded):
        length = self.length(arena)
        kind, ordinal = self.device(arena)
        facts = {"id": self.number, "name": "algan arena", "managed": bool(getattr(arena, "managed", True)), "made": self.made,
                 "dev": algan_device(kind, ordinal), "len": length, "f": int(getattr(arena, "current_pointer", 0)),
                 "r": int(getattr(arena, "current_reverse_pointer", length)), "hw": int(getattr(arena, "max_pointer", 0)),
                 "buf": getattr(arena, "data", None) is not None}
        facts["dev"] = facts["dev"] or self._last.get("dev", "")
        if not facts["dev"]:
            del facts["dev"]
        marks = list(getattr(arena, "stack", ()))
        if marks:
            facts["marks"] = [int(mark) for mark in marks[:4096]]
        if getattr(arena, "last_launch_frames", None) is not None:
            facts["llf"] = int(arena.last_launch_frames)
        if recorded:
            facts["recorded"] = True
            facts["name"] = "algan arena (scopes replayed)"
        if self.half(arena):
            facts["half"] = True
        return facts


def no_arena():
    """What a weak reference to an arena gives that is gone."""


def algan_device(kind, ordinal):
    """The record format's device of a torch device."""
    if kind == "cuda":
        return gpu_uuid(ordinal)
    return "host" if kind == "cpu" else ""


class AlganAdapter(Adapter):
    """algan's arenas and its recorder."""

    name = "algan"
    module = "algan.utils.memory_utils"

    def __init__(self):
        self._births = collections.deque(maxlen=ALGAN_ARENAS)
        self._arenas = []  # AlganArena, oldest first
        self._peaks_told = 0
        self._registry_met, self._registry_first = 0, no_arena  # how many of algan's registry, and which one is its first
        self._wrapped = None
        self._inherited = False  # arenas of the parent's lie on a device that this process cannot use
        self._searched = None  # the kind of arena of which those before the wrapper were looked for

    def library(self):
        module = super().library()
        return module if module is not None and hasattr(module, "ManualMemory") else None

    def watch(self, module):
        """Notes arenas that are made from now on."""
        kind = module.ManualMemory
        if self._wrapped is kind:
            return
        self._wrapped, births, original = kind, self._births, kind.__init__

        @functools.wraps(original)
        def noted(arena, *args, **kwargs):
            try:
                births.append(weakref.ref(arena))
            except Exception:
                pass
            return original(arena, *args, **kwargs)

        kind.__init__ = noted
        if ARENA_ADAPTER.armed:
            module.set_auto_record(True)  # record-on came while the program was still loading

    def _meet(self, module, ns):
        """Takes in arenas that are new."""
        known = {id(held.reference()) for held in self._arenas}
        born = [self._births.popleft()() for _ in range(len(self._births))]
        met = False
        for arena in self._registered(module) + [arena for arena in born if arena is not None]:
            if id(arena) not in known and not self._is_lost(arena):
                known.add(id(arena))
                self._arenas.append(AlganArena(arena, ns))
                met = True
        if len(self._arenas) > ALGAN_ARENAS:
            del self._arenas[: len(self._arenas) - ALGAN_ARENAS]
        return met

    def _is_lost(self, arena):
        """Whether it is a copy of its parent's, in a process that cannot use its
        device."""
        lost = DRIVER.forked and AlganArena.device(arena)[0] == "cuda"
        self._inherited = self._inherited or lost
        return lost

    def in_child(self):
        """The counter sets of the arenas that a child has from its parent. Those
        on a device are forgotten where it cannot use that."""
        module = self.library()
        if module is not None:
            self._meet(module, time.monotonic_ns())
        self._arenas = [held for held in self._arenas if not self._is_lost(held.reference())]
        return ["arena:%d" % held.number for held in self._arenas]

    def _registered(self, module):
        """The arenas that algan has registered since the last time. Those before
        may be more than are known here, which are the youngest."""
        registry = list(module.recorded_arenas())
        if len(registry) < self._registry_met or registry and registry[0] is not self._registry_first():
            self._registry_met = 0  # algan's registry was cleared
        new = registry[self._registry_met:][-ALGAN_ARENAS:]
        self._registry_met = len(registry)
        self._registry_first = weakref.ref(registry[0]) if registry else no_arena
        return new

    def drain(self, publish):
        module = self.library()
        if module is None:
            return
        self.watch(module)
        with FOLD_LOCK:
            self._fold(module, publish)

    def _fold(self, module, publish):
        ns = time.monotonic_ns()
        recorded = {id(arena) for arena in module.recorded_arenas()}
        changed = self._meet(module, ns)
        for held in self._arenas:
            changed = held.follow(ns, self._is_recorded(held, recorded)) or changed
        self._let_go(ns, recorded)
        for strings in NAMES.take():
            publish(strings)
        self._tell_peaks(module, publish, ns)
        if changed:
            publish({"t": "state"})

    @staticmethod
    def _is_recorded(held, recorded):
        arena = held.reference()
        return arena is not None and id(arena) in recorded

    def _let_go(self, ns, recorded):
        """Forgets arenas that are gone and that no state tells of any more."""
        told = set(map(id, self._told(ns, recorded)))
        self._arenas = [held for held in self._arenas if id(held) in told or held.reference() is not None]

    def _told(self, ns, recorded):
        """The arenas that a state of the moment ns lists, oldest first."""
        released = [held for held in self._arenas if held.gone and held.tells()]
        told = set(map(id, still_told(released, ns, lambda held: self._is_recorded(held, recorded))))
        return [held for held in self._arenas if id(held) in told or not held.gone]

    def _tell_peaks(self, module, publish, ns):
        peaks = module.recorded_nonarena_peaks()
        if len(peaks) < self._peaks_told:
            self._peaks_told = 0  # algan's registry was cleared
        for name, size, peak in peaks[self._peaks_told:]:
            publish({"t": "peak", "ns": ns, "name": name, "in": int(size), "peak": int(peak)})
        self._peaks_told = len(peaks)

    def sample(self, out):
        if self._inherited:
            out.add("algan", "arena", "algan arenas", "", "", {}, "", dict.fromkeys(("length", "forward", "reverse"), INHERITED))
        out.each(self._sample_arena, self._arenas)

    def _sample_arena(self, out, held):
        arena = held.reference()
        if arena is None or held.gone or held.half(arena) or not getattr(arena, "managed", True):
            return
        kind, ordinal = held.device(arena)
        forward, reverse = int(arena.current_pointer), int(arena.current_reverse_pointer)
        counters = {"length": held.length(arena), "forward": forward, "reverse": reverse, "free": reverse - forward,
                    "high_water": int(arena.max_pointer)}
        why, recorder = None, arena._recorder
        if recorder is not None:
            counters["open_scopes"] = len(recorder._stack) - 1
        else:
            why = {"open_scopes": "this arena is not recorded: switch recording on before it is made"}
        inside = "torch:%d" % ordinal if kind == "cuda" else ""
        call = ALGAN_CALL if recorder is None else ALGAN_CALL + "; scopes: replayed from AllocationRecorder"
        out.add("arena:%d" % held.number, "arena", "algan arena", algan_device(kind, ordinal), call, counters, inside, why)

    def state(self):
        module = self.library()
        if module is None:
            return {}
        with FOLD_LOCK:
            return self._state(module)

    def _state(self, module):
        recorded = {id(arena) for arena in module.recorded_arenas()}
        told = self._told(time.monotonic_ns(), recorded)
        arenas = [held.entry(self._is_recorded(held, recorded)) for held in told]
        transients = {}
        for name, size, peak in module.recorded_nonarena_peaks():
            entry = transients.setdefault(name, {"name": name, "in": int(size), "peak": int(peak), "n": 0})
            entry["n"] += 1
            if peak > entry["peak"]:
                entry["in"], entry["peak"] = int(size), int(peak)
        state = {"arenas": [entry for entry in arenas if entry], "nonarena": list(transients.values())[:256]}
        if module.auto_record_enabled():
            state["rec"] = True
        return state

    def calibration(self, ns):
        """What a calibration dump says of algan's registry, with FOLD_LOCK held.
        Every event is replayed, up to ALGAN_DUMP_EVENTS in all."""
        module = self.library()
        if module is None:
            return CalibrationPart([], list, [], False)
        self._meet(module, ns)
        recorded = {id(arena) for arena in module.recorded_arenas()}
        left, entries, batches = ALGAN_DUMP_EVENTS, [], []
        for held in self._arenas:
            if not self._is_recorded(held, recorded):
                continue
            replayed, left = held.replayed(left, ns, batches)
            entries.append(replayed)
        peaks = [(str(name), int(size), int(peak)) for name, size, peak in module.recorded_nonarena_peaks()]
        return CalibrationPart(entries, lambda: batches, peaks, module.auto_record_enabled(), len(recorded) - len(entries))

    def record(self, report, on):
        module = self.library()
        if module is None:
            return
        report.acted = bool(report.acted) or bool(module.auto_record_enabled()) != on
        if on:
            self.watch(module)
            self._find(module)
            silent = len(self._living()) - len(module.recorded_arenas())
            module.set_auto_record(True)
            report.line("algan: set_auto_record(True)", why=(
                "arenas made from now on are recorded, and algan keeps each allocation until recording is switched off, in about half a KiB of host memory" + (
                    "; of those that are there already, %d %s not" % (silent, "is" if silent == 1 else "are") if silent > 0 else "")))
            return
        with FOLD_LOCK:
            self._look_once_more(module)
        forgotten = len(module.recorded_arenas())
        module.set_auto_record(False)
        report.line("algan: set_auto_record(False)", why=(
            "algan forgets %s that it had recorded; a calibration dump that was made before has %s" % (
                plural(forgotten, "arena"), "it" if forgotten == 1 else "them") if forgotten else ""))

    def _look_once_more(self, module):
        """Brings the trees of what is recorded up to date, since algan is about to
        forget it."""
        ns, recorded = time.monotonic_ns(), {id(arena) for arena in module.recorded_arenas()}
        for held in self._arenas:
            if self._is_recorded(held, recorded):
                held.build_now()
                held.follow(ns, True)

    def _living(self):
        """The id() of every arena that is known and there."""
        arenas = [held.reference() for held in list(self._arenas)] + [birth() for birth in list(self._births)]
        return {id(arena) for arena in arenas if getattr(arena, "data", None) is not None}

    def _find(self, module):
        """Looks for arenas that were made before anybody noted them. It walks
        every object of the program, which stops a big one for a quarter of a
        second, so it is done for a command alone, and once."""
        if self._searched is self._wrapped:
            return
        self._searched = self._wrapped
        known = self._living()
        for found in gc.get_objects():
            if type(found) is module.ManualMemory and id(found) not in known:
                self._births.append(weakref.ref(found))


ALGAN_ADAPTER = register(AlganAdapter())
