"""The last minutes, for a reader that comes late: samples and what marks the
time axis, as lines.
"""
import collections


class Backlog:
    """Bounded by bytes and by age. It belongs to the probe's thread."""

    BYTES = 4 << 20
    AGE = 5 * 60 * 10**9  # nanoseconds

    def __init__(self):
        self.lines = collections.deque()  # (nanoseconds, line)
        self.bytes = 0

    def add(self, line, ns):
        """Keeps a line of that moment, and lets go of what is too much or too
        old."""
        self.lines.append((ns, line))
        self.bytes += len(line)
        while self.lines and (self.bytes > self.BYTES or self.lines[0][0] < ns - self.AGE):
            self.bytes -= len(self.lines.popleft()[1])

    def copy(self):
        """The lines that there are, oldest first."""
        return [line for _, line in self.lines]
