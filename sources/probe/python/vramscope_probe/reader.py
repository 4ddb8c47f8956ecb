"""One connected reader, as the probe's thread sees it: what it said, and what
waits for it. Nothing here ever waits for the reader.
"""
import collections
import time

from .wire import MAX_LINE, with_dropped

MAXIMUM_ACKS = 64  # answers that wait; more close the reader
MAXIMUM_WAITING = 4 << 20  # bytes of lines that wait; more are dropped, and the reader gets a fresh state
RECEIVED_AT_ONCE = 64 << 10  # bytes
SENT_AT_ONCE = 64 << 10  # bytes


class Line:
    """An encoded record. It is shared by the readers and never changes."""

    __slots__ = ("kind", "data", "weight")

    def __init__(self, kind, data, weight=1):
        self.kind = kind  # "line", "ev", "state", "s" or "ack"
        self.data = data
        self.weight = weight  # how many are lost with it


class Reader:
    """A connection. It belongs to the probe's thread."""

    def __init__(self, connection, number, now):
        self.connection = connection  # a Descriptor
        self.number = number
        self.greeted = False  # has said hello
        self.ending = False  # is closed once everything is sent
        self.wants_events = False
        self.polled = False  # the server waits until it takes more
        self.needs_state = True  # events and strings are held back until a state comes
        self.dropped = 0  # samples that were replaced, in all
        self.lost_events = 0
        self.lost_lines = 0
        self.moved = now  # when it last took something, or had nothing to take
        self.connected = now
        self._lines = collections.deque()
        self._sample = None  # the one sample that waits
        self._bytes = 0  # of lines that may be lost
        self._acks = 0
        self._sending = b""  # or what the kernel did not take of it, a memoryview
        self._heard = bytearray()
        self._skipping = False  # the rest of a line that is too long

    def push(self, line):
        """Adds a line, or counts it as lost. False where more answers wait than
        a reader that reads would leave."""
        if self.ending:
            return True
        if not self._lines and not self._sending:
            self.moved = time.monotonic_ns()
        if line.kind == "ack":
            self._acks += 1
            self._lines.append(line)
            return self._acks <= MAXIMUM_ACKS
        if line.kind == "s":
            if self._sample is not None:
                self._bytes -= len(self._sample.data)
                self.dropped += 1
            self._append(line)
            self._sample = line  # the one before it is passed over when its turn comes
        elif line.kind == "ev" and not self.wants_events:
            pass
        elif line.kind == "ev" and self.needs_state:
            if self.lost_events or self.lost_lines:  # otherwise the state will hold them
                self.lost_events += line.weight
        elif line.kind == "state" and self.needs_state:
            pass
        elif self._bytes + len(line.data) > MAXIMUM_WAITING:
            self._lose()
            self._count(line)
        else:
            self._append(line)
        return True

    def push_sample(self, data, now):
        """Sends a sample at once where nothing waits before it; else adds it, and
        of samples that wait only the newest stays. Raises OSError where the
        reader is gone."""
        if not (self._lines or self._sending or self.ending):
            whole = with_dropped(data, self.dropped) if self.dropped else data
            try:
                sent = self.connection.send(whole)
            except (BlockingIOError, InterruptedError):
                pass
            else:
                if sent < len(whole):
                    self._sending = memoryview(whole)[sent:]
                self.moved = now
                return
        self.push(Line("s", data))

    def push_all(self, lines):
        """Adds lines that are not bounded, since they come once: the backlog, a
        whole state."""
        if not self.waits():
            self.moved = time.monotonic_ns()
        self._lines.extend(Line("whole", data) for data in lines)

    def state_comes(self):
        """Takes note that a whole state was added: (events, records) that the
        reader missed before it."""
        lost = self.lost_events, self.lost_lines
        self.needs_state, self.lost_events, self.lost_lines = False, 0, 0
        return lost

    def want(self, events):
        """Changes what the reader asks for. Events start from a state."""
        if events and not self.wants_events:
            self.needs_state = True
        self.wants_events = events

    def waits(self):
        """Whether something is to be sent."""
        return bool(self._sending) or bool(self._lines)

    def send(self, now):
        """Sends what the kernel takes. Raises OSError where the reader is gone."""
        while self._lines or self._sending:
            data = self._sending or self._next()
            try:
                sent = self.connection.send(data) if data else 0
            except (BlockingIOError, InterruptedError):
                self._sending = memoryview(data)
                return
            self._sending = memoryview(data)[sent:] if sent < len(data) else b""
            self.moved = now

    def receive(self):
        """(lines, end): the whole lines that came, and whether the reader hung
        up. Raises OSError where it is gone."""
        try:
            data = self.connection.receive(RECEIVED_AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return [], False
        self._heard += data
        lines = []
        while True:
            end = self._heard.find(b"\n")
            if end < 0:
                break
            if not self._skipping and end <= MAX_LINE:
                lines.append(bytes(self._heard[:end]))
            self._skipping = False
            del self._heard[:end + 1]
        if len(self._heard) > MAX_LINE:
            self._heard.clear()
            self._skipping = True
        return lines, not data

    def _append(self, line):
        self._bytes += len(line.data)
        self._lines.append(line)

    def _next(self):
        """The bytes of the next lines."""
        if len(self._lines) == 1 and self._lines[0] is self._sample and not self.dropped:
            self._sample = None  # nearly always: the kernel has taken everything before it
            self._bytes = 0
            return self._lines.popleft().data
        out = bytearray()
        while self._lines and len(out) < SENT_AT_ONCE:
            line = self._lines.popleft()
            if line.kind == "s":
                if line is not self._sample:
                    continue
                self._sample = None
                self._bytes -= len(line.data)
                if self.dropped:
                    out += with_dropped(line.data, self.dropped)
                    continue
            elif line.kind == "ack":
                self._acks -= 1
            elif line.kind != "whole":
                self._bytes -= len(line.data)
            out += line.data
        return bytes(out)

    def _lose(self):
        """Drops everything but the answers and the newest sample."""
        kept = collections.deque()
        for line in self._lines:
            if line.kind == "ack" or line is self._sample:
                kept.append(line)
            elif line.kind != "s":
                self._count(line)
        self._lines = kept
        self._bytes = len(self._sample.data) if self._sample is not None else 0
        self.needs_state = True

    def _count(self, line):
        # States and strings are not counted: the fresh state has what they had.
        if line.kind == "ev":
            self.lost_events += line.weight
        elif line.kind in ("line", "whole"):
            self.lost_lines += line.weight
