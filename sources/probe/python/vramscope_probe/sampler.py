"""Asks the adapters, on the probe's thread, and outlives whatever they raise."""
import sys
import time

from .adapter import ADAPTERS, Adapter, Sets, plural
from .resident_set import ResidentSet
from .safepoint import described
from .told_last import ToldLast

MAXIMUM_SETS = 512  # of a sample
MAXIMUM_TOLD = 8  # different mistakes of a sample


class Sampler:
    """Samples, states and what was noted meanwhile. Every exception is counted
    and told in the next sample.

    Which adapters' libraries are there is looked at in sample(look=True), and as
    soon as the module of one is there.
    """

    def __init__(self, src):
        self.src = src  # the name of the source
        self.number = 0  # of the last sample
        self.tells = True  # a library had something to say in the last sample
        self._last = {"ns": 0, "sets": ()}  # the last sample
        self._resident = ResidentSet()
        self._told_last = ToldLast()
        self.mistakes = 0  # exceptions, in all
        self._told = {}  # text -> how often, since the last sample
        self._kept = {}  # adapter -> (nanoseconds, its last sets), for those that are asked seldom
        self._known = 0  # adapters at the last look
        self._drained = ()  # those that are there and note something
        self._sampled = ()  # those that are there and have counter sets
        self._asked = []  # those of them that are asked between two looks
        self._absent = ()  # the modules of those that are not there
        self._modules = 0  # in sys.modules when those were looked for

    def sample(self, look=True):
        """A sample record. With look the libraries are
        looked for anew."""
        self.number += 1
        if look or self._known != len(ADAPTERS):
            self._look()
        now = time.monotonic_ns()
        out = Sets(look)
        sets = out.sets
        for adapter in self._sampled if look else self._asked:
            before = len(sets)
            try:
                if adapter.period:
                    self._ask_seldom(adapter, now, out)
                else:
                    adapter.sample(out)
                if look or self._told_last.silent:
                    self._told_last.tells(adapter, sets[before:])
            except BaseException as error:
                self._failed(adapter, error, sets, before)
            if look and adapter.at_looks and len(sets) == before:
                self._asked.remove(adapter)
        if len(sets) > MAXIMUM_SETS:
            self.note("probe", "a sample lacks %s: it has the first %d" % (plural(len(sets) - MAXIMUM_SETS, "counter set"), MAXIMUM_SETS))
            del sets[MAXIMUM_SETS:]
        self.tells = bool(sets)
        sets += self._resident.sets(now, sets)
        record = {"t": "s", "src": self.src, "ns": now, "seq": self.number, "sets": sets}
        if self._told:
            record["err"] = self._trouble()
        self._last = record
        return record

    def completed(self, part):
        """A sample record of what a library read at a moment of its own, part, in
        which the other sets are as they were last; None where a later one was
        taken."""
        if part["ns"] <= self._last["ns"]:
            return None
        self.number += 1
        own = {entry["id"]: entry for entry in part["sets"]}
        sets = [own.pop(entry["id"], entry) for entry in self._last["sets"]]
        self._last = {"t": "s", "src": self.src, "ns": part["ns"], "seq": self.number, "sets": sets + list(own.values())}
        return self._last

    def state(self):
        """{"arenas", "pools", "nonarena", "dropped", "pdropped", "rec"} of every
        adapter together."""
        whole = {}
        for adapter in list(ADAPTERS):
            try:
                if adapter.library() is None:
                    continue
                part = adapter.state() or {}
                for key in ("arenas", "pools", "nonarena"):
                    if part.get(key):
                        whole.setdefault(key, []).extend(part[key])
                for key in ("dropped", "pdropped"):
                    if part.get(key):
                        whole[key] = whole.get(key, 0) + part[key]
                if part.get("rec"):
                    whole["rec"] = True
            except BaseException as error:
                self.note(adapter.name, error)
        return whole

    def drain(self, publish):
        """Hands on what the adapters noted."""
        if self._known != len(ADAPTERS) or self._modules != len(sys.modules):
            self._look_for_new()
        for adapter in self._drained:
            try:
                adapter.drain(publish)
            except BaseException as error:
                self.note(adapter.name, error)

    def found(self):
        """The names of the libraries that are there."""
        names = []
        for adapter in list(ADAPTERS):
            try:
                if adapter.name and adapter.name not in names and adapter.library() is not None:
                    names.append(adapter.name)
            except BaseException as error:
                self.note(adapter.name, error)
        return names

    def note(self, name, mistake):
        """Counts an exception, or a remark, for the next sample to tell."""
        self.mistakes += 1
        text = "%s: %s" % (name, described(mistake) if isinstance(mistake, BaseException) else mistake)
        if text in self._told or len(self._told) < MAXIMUM_TOLD:
            self._told[text] = self._told.get(text, 0) + 1

    def _look_for_new(self):
        """Looks again where an adapter or the module of one has come."""
        self._modules = len(sys.modules)  # one that came as another went is found by the look once a second
        if self._known != len(ADAPTERS) or not sys.modules.keys().isdisjoint(self._absent):
            self._look()

    def _look(self):
        adapters = list(ADAPTERS)
        drained, sampled, absent = [], [], []
        for adapter in adapters:
            kind = type(adapter)
            try:
                if adapter.library() is None:
                    absent.append(adapter.module)
                    self._kept.pop(adapter, None)
                    self._told_last.forget(adapter)
                    continue
            except BaseException as error:
                self.note(adapter.name, error)
                continue
            if kind.drain is not Adapter.drain:
                drained.append(adapter)
            if kind.sample is not Adapter.sample:
                sampled.append(adapter)
        self._known, self._drained, self._sampled, self._absent = len(adapters), drained, sampled, absent
        self._asked = list(sampled)

    def _ask_seldom(self, adapter, now, out):
        """Adds the sets of an adapter that has a period, and meanwhile its last ones."""
        kept = self._kept.get(adapter)
        if kept is not None and now - kept[0] < adapter.period * 1e9:
            out.sets += kept[1]
            return
        before = len(out.sets)
        adapter.sample(out)
        self._kept[adapter] = (now, out.sets[before:])

    def _failed(self, adapter, error, sets, before):
        """Takes note of what an adapter raised. Of sets, those from before on are what
        it told until then: those that it did not come to follow without numbers."""
        if self._is_there(adapter):
            self.note(adapter.name, error)
            sets += self._told_last.untold(adapter, error, sets[before:])
        else:
            del sets[before:]
            self._told_last.forget(adapter)
            self._known = -1  # its library has gone since the last look

    @staticmethod
    def _is_there(adapter):
        try:
            return adapter.library() is not None
        except BaseException:
            return True

    def _trouble(self):
        told, self._told = self._told, {}
        return "; ".join(text if n == 1 else "%s (%d times)" % (text, n) for text, n in told.items())
