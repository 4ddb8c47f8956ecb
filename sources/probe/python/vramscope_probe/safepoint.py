"""Where commands run: on the main thread, at the frame boundary if the render
calls poll, and between two bytecodes if it does not.
"""
import collections
import threading
import time

from .adapter import Report
from .device import DRIVER
from .device_memory import DEVICE_MEMORY
from .outlet import OUTLET
from .pending import PendingCall, of_a_signal
from .release import capturing, perform
from .torch_private_pools import PRIVATE_POOLS

#: Commands that touch the device, which must not happen while a CUDA graph is
#: being captured.
TOUCHES_DEVICE = frozenset(("reclaim", "force-reclaim", "rebuild", "reset-peak", "headroom", "snapshot"))

#: The arguments of a command, and their types. Others are not passed on.
ARGUMENTS = {"dev": str, "fraction": (int, float), "path": str}


class SafePoint:
    """Between the main thread, which carries an order out, and the probe's
    thread, which hands it over and takes the outcome. Neither waits for the
    other: an order has one token, and outcomes go through a deque."""

    #: Frames that may wait for the probe's thread, which looks 10 or 20 times a
    #: second; the oldest are dropped, which the numbers of the others show. To
    #: tell of each of thousands would cost more than they are worth.
    FRAMES = 64

    def __init__(self):
        self.order = None  # accepted, and not yet taken
        self.outcomes = collections.deque()  # final answers, for the probe's thread
        self.frames = collections.deque(maxlen=self.FRAMES)  # (nanoseconds, number)
        self.frame = -1  # number of the frame under way, -1 before the first
        self.polled = False  # the render calls poll on its main thread
        self.wake = None  # called, from the main thread, when an outcome is there
        self._queued = False  # a pending call is under way
        self._call = PendingCall(self._called)

    def where(self):
        """What an accepted command waits for."""
        return "frame boundary" if self.polled else "between bytecodes"

    def kind(self):
        """The same, as hello's "safe" says it."""
        return "poll" if self.polled else "pending"

    def missed(self):
        """Why a command whose time is over was not carried out."""
        if self.polled:
            return "the render reached no frame boundary in time, so nothing was done"
        return ("the main thread did not come back from a long call in time, so nothing was done: "
                "call vramscope_probe.poll() between frames, or give the command more time")

    def hand_over(self, order):
        """Offers an order to the main thread. Called again while the order
        waits, it makes up for a queue of pending calls that was full."""
        self.order = order
        if not self.polled and not self._queued:
            self._queued = True
            self._queued = self._call.queue()

    def boundary(self, number):
        """A frame begins. On the main thread, it carries out what waits."""
        now = time.monotonic_ns()
        OUTLET.frame = self.frame = number if _is_number(number) else self.frame + 1
        self.frames.append((now, self.frame))
        if OUTLET.armed:
            OUTLET.put(("frame", now, self.frame))
        if not self.polled and threading.get_ident() == threading.main_thread().ident:
            self.polled = True
        if ((self.order is not None or DEVICE_MEMORY.due or PRIVATE_POOLS.due)
                and threading.get_ident() == threading.main_thread().ident):
            if DEVICE_MEMORY.due or PRIVATE_POOLS.due:
                self._look()
            if self.order is not None:
                self._carry_out()

    def forked(self):
        """Forgets what the parent was asked, and what it read: in a child."""
        self.order, self._queued = None, False
        self.outcomes.clear()
        self.frames.clear()
        DEVICE_MEMORY.forked()
        PRIVATE_POOLS.forked()

    @staticmethod
    def _look():
        """Reads what only the main thread may, of what is due."""
        for reading in (DEVICE_MEMORY, PRIVATE_POOLS):
            try:
                due, reading.due = reading.due, False
                if due and not capturing():
                    with DRIVER.beside_captures():
                        reading.look()
            except Exception as error:
                if of_a_signal(error):
                    raise

    def _called(self):
        self._queued = False
        if self.order is not None:
            self._carry_out()

    def _carry_out(self):
        order, self.order = self.order, None
        if order is None or time.monotonic_ns() >= order.deadline:
            return  # the probe's thread ends it
        taken, began = False, time.monotonic_ns()
        final = {"t": "ack", "st": "failed", "why": "it was interrupted, and what it had done stays done"}
        try:
            taken = order.take()
            if taken:
                final = carried_out(order.command)
        finally:
            if taken:
                final["took"] = max(1, time.monotonic_ns() - began)
                self.outcomes.append(final)
                if self.wake is not None:
                    self.wake()


SAFE_POINT = SafePoint()


def _is_number(value):
    """Whether a frame's number can be read without asking a device for it, as
    a tensor would."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62


def carried_out(command):
    """Carries out a command record and is its final answer. What the libraries
    raise is the answer; only what is no Exception goes on, since it ends the
    program."""
    name, args = command["cmd"], command.get("args")
    args = {key: args[key] for key, kind in ARGUMENTS.items()
            if isinstance(args, dict) and isinstance(args.get(key), kind)}
    report = Report()
    before, after = (), ()
    try:
        reason = capturing() if name in TOUCHES_DEVICE else ""
        if reason:
            report.acted = False
            report.fail(reason)
        else:
            with DRIVER.beside_captures():
                before, after = perform(name, args, report)
    except Exception as error:
        if of_a_signal(error):
            raise
        report.fail(described(error))
    final = {"t": "ack", "st": "failed" if report.failed else "done"}
    if report.why:
        final["why"] = report.why
    if report.acted is not None:
        final["acted"] = bool(report.acted)
    for key, value in (("result", report.lines), ("before", before), ("after", after), ("path", report.path)):
        if value:
            final[key] = value
    return final


def described(error, first_line=False):
    """An exception in words, of bounded length: all that it says, or the first line
    of it. Its own text is asked for with care: it is the library's code, too."""
    try:
        text = str(error)
        if first_line:
            text = text.strip().split("\n", 1)[0]
    except Exception:
        text = ""
    text = " ".join("".join(c if c.isprintable() else " " for c in text[:400]).split())
    name = type(error).__name__
    return (name + ": " + text if text else name)[:300]
