"""What is known of an arena between two looks at its pointers, where its program
tells of no allocations. For the probe's thread alone."""

#: The most that can have been in use where nothing bounds it.
NO_BOUND = 1 << 62


class UnseenMoves:
    """How much of an arena's moves its program tells of. One that notes its
    allocations shows every move; of another one the pointers are read where
    scopes begin and end, and what went up and came back in between shows in the
    arena's own high-water at most."""

    def __init__(self, has_pointers):
        self.noted = False  # the program notes its allocations
        self.found = not has_pointers  # moves were found that no note told of
        self.high = None  # the arena's own high-water when it was read last, bytes
        self._reached = 0  # the most in use that notes told of since then, bytes
        self._read = False  # it was read before
        self._blind = not has_pointers

    def note(self, used):
        """The program tells of an allocation, with so many bytes in use."""
        self.noted = True
        self._reached = max(self._reached, used)

    def follow(self, high, used, length):
        """(summit, most): bytes that were in use at one moment since the last
        look, 0 where no note lacks that moment, and the most that can have been.
        high is the arena's own high-water, None where it tells none; used is
        what is in use now."""
        before, read, reached = self.high, self._read, self._reached
        self.high, self._read, self._reached = high, True, 0
        whole = length if length > 0 and not self._blind else NO_BOUND
        if high is None or high < used or (read and before is None):
            return 0, whole
        restarted = read and high < before
        risen = read and high > before
        summit = high if (restarted or risen) and high > reached else 0
        return summit, whole if restarted else high

    def counts(self, moved, ends):
        """Whether the moves since the last look were not all seen. moved says
        that the pointers stand where no event had them. Before anything was
        found or noted, it is too early to say, but at a scope's end."""
        self.found = self.found or moved
        return moved or self._blind or (not self.noted and (self.found or ends))
