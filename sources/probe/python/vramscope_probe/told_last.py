"""What the libraries told last, for those that raise instead of telling: their
counter sets stay in the samples, without numbers and with the reason. A set that
is merely left out could as well be of memory that was given back.
"""
from .safepoint import described

#: The counters that say why a set has no numbers: those that are asked for first.
#: Each of the others would say it once more, ten times a second.
EXPLAINED = ("reserved", "allocated", "length", "forward", "peak_reported", "peak_live")


class ToldLast:
    """The counter sets that each adapter told at the last look for libraries, or
    since, where one of them is silent: of those without numbers that is enough,
    and it costs the other samples nothing."""

    def __init__(self):
        self._told = {}  # adapter -> its sets
        self.silent = {}  # adapter that raises -> Silence

    def tells(self, adapter, sets):
        """Notes what an adapter told."""
        self._told[adapter] = sets
        if self.silent:
            self.silent.pop(adapter, None)

    def forget(self, adapter):
        """Its library has gone."""
        self._told.pop(adapter, None)
        self.silent.pop(adapter, None)

    def untold(self, adapter, error, told):
        """What an adapter has told before and did not tell before it raised error:
        its sets without numbers. told are the sets that it did tell."""
        names = {entry["id"] for entry in told}
        missing = [entry for entry in self._told.get(adapter, ()) if entry["id"] not in names]
        self._told[adapter] = told + missing
        silence = self.silent.get(adapter)
        if silence is None or silence.kind is not type(error):
            silence = self.silent[adapter] = Silence(error)
        return [silence.of(entry) for entry in missing]


class Silence:
    """An adapter that raises one kind of exception. The reason is what the library
    said first, and stays: the texts may differ each time."""

    def __init__(self, error):
        self.kind = type(error)
        self._reason = described(error, first_line=True)
        self._sets = {}  # identity -> (set as it was told, the same without numbers)

    def of(self, entry):
        """A set without its numbers, and with why they are missing."""
        known = self._sets.get(entry["id"])
        if known is None or known[0] is not entry:
            bare = {key: value for key, value in entry.items() if key not in ("c", "why")}
            bare["c"] = {}
            bare["why"] = dict(entry.get("why", {}), **{key: self._reason for key in EXPLAINED if key in entry["c"]})
            known = self._sets[entry["id"]] = entry, bare
        return known[1]
