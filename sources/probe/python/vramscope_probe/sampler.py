"""Asks the adapters, on the probe's thread, and outlives whatever they raise."""
import time

from .adapter import ADAPTERS, Sets
from .safepoint import described

MAXIMUM_SETS = 512  # of a sample
MAXIMUM_TOLD = 8  # different mistakes of a sample


class Sampler:
    """Samples, states and what was noted meanwhile. Every exception is counted
    and told in the next sample."""

    def __init__(self):
        self.number = 0  # of the last sample
        self.mistakes = 0  # exceptions, in all
        self._told = {}  # text -> how often, since the last sample
        self._kept = {}  # adapter -> (nanoseconds, its last sets), for those that are asked seldom

    def sample(self):
        """A sample record without its source."""
        self.number += 1
        now = time.monotonic_ns()
        sets = []
        for adapter in list(ADAPTERS):
            sets += self._asked(adapter, now)
        if len(sets) > MAXIMUM_SETS:
            self.note("probe", "%d counter sets were left out of a sample" % (len(sets) - MAXIMUM_SETS))
            del sets[MAXIMUM_SETS:]
        record = {"t": "s", "ns": now, "seq": self.number, "sets": sets}
        trouble = self._trouble()
        if trouble:
            record["err"] = trouble
        return record

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
        for adapter in list(ADAPTERS):
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

    def _asked(self, adapter, now):
        """The sets of one adapter. One that is asked seldom gives its last ones
        meanwhile."""
        try:
            if adapter.library() is None:
                self._kept.pop(adapter, None)
                return []
            kept = self._kept.get(adapter)
            if kept is not None and now - kept[0] < adapter.period * 1e9:
                return kept[1]
            out = Sets()
            adapter.sample(out)
            if adapter.period:
                self._kept[adapter] = (now, out.sets)
            return out.sets
        except BaseException as error:
            self.note(adapter.name, error)
            return []

    def _trouble(self):
        told, self._told = self._told, {}
        return "; ".join(text if n == 1 else "%s (%d times)" % (text, n) for text, n in told.items())
