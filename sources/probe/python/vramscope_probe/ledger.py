"""Which commands were given and what became of them: one runs at a time, none
runs twice or too late, and each gets exactly one final answer (ledger.go).
"""
import collections

DEFAULT_TTL = 5_000  # milliseconds
MAXIMUM_TTL = 10 * 60 * 1_000  # milliseconds
MAXIMUM_ID = 128  # bytes
KEPT_RESULTS = 128
KEPT_IDS = 8192
MAXIMUM_ASKERS = 16  # readers that wait for one command


class Order:
    """A command that was accepted.

    The probe's thread and the main thread both reach for it, the one to end it
    and the other to carry it out. Whoever takes its only token has it: popping
    from a deque is one step and waits for nobody.
    """

    def __init__(self, command, deadline, asker):
        self.command = command  # the record
        self.deadline = deadline  # monotonic nanoseconds
        self.askers = [asker]  # readers that get the final answer
        self.taken = False
        self._token = collections.deque((None,))

    def take(self):
        """Whether the caller has the order now; True once."""
        try:
            self._token.pop()
        except IndexError:
            return False
        self.taken = True
        return True


class Ledger:
    """Belongs to the probe's thread, and keeps no clock."""

    def __init__(self):
        self.pending = None
        self._results = _Recent(KEPT_RESULTS)  # id -> answer
        self._ids = _Recent(KEPT_IDS)  # so that an old command still does not run again

    def receive(self, now, reader, command, obeyed, refused, where):
        """(answer, order) for a command record as it arrives. The order is not
        None where the answer is "accepted" for the first time. obeyed are the
        commands that are carried out, refused {command: why} others, where is
        what an accepted one waits for."""
        identity, name = command.get("id"), command.get("cmd")
        name = name if isinstance(name, str) else ""
        if not isinstance(identity, str) or not 0 < len(identity.encode("utf-8", "replace")) <= MAXIMUM_ID:
            identity = identity[:MAXIMUM_ID] if isinstance(identity, str) else ""
            return answer(identity, name, "refused", "give the command an id of 1 to %d bytes" % MAXIMUM_ID), None
        stored = self._results.get(identity)
        if stored is not None:
            return stored, None
        pending = self.pending
        if pending is not None and pending.command["id"] == identity:
            if reader not in pending.askers and len(pending.askers) < MAXIMUM_ASKERS:
                pending.askers.append(reader)
            return self._accepted(identity, name, where), None
        if self._ids.get(identity):
            return answer(identity, name, "refused", "a command with this id was answered long ago and the answer is "
                          "not kept any more: give it a new id"), None
        refusal = self._refusal(identity, name, obeyed, refused)
        if refusal is not None:
            self._keep(refusal)
            return refusal, None
        self.pending = Order(command, now + _time_to_live(command) * 1_000_000, reader)
        self._ids.put(identity, True)
        return self._accepted(identity, name, where), self.pending

    def expire(self, now, why):
        """(answer, readers) where the pending command's time is over and it does
        not run, else (None, ())."""
        if self.pending is None or now < self.pending.deadline or not self.pending.take():
            return None, ()
        return self.finish(answer("", "", "expired", why))

    def abandon(self, why):
        """The same for a program that ends."""
        if self.pending is None or not self.pending.take():
            return None, ()
        return self.finish(answer("", "", "failed", why))

    def finish(self, final):
        """Ends the pending command with its final answer: (answer, readers)."""
        order, self.pending = self.pending, None
        final["id"], final["cmd"] = order.command["id"], order.command["cmd"]
        self._keep(final)
        return final, order.askers

    def _refusal(self, identity, name, obeyed, refused):
        if name not in obeyed:
            return answer(identity, name, "unsupported",
                          refused.get(name) or "this program knows no command %.40r" % name)
        if self.pending is not None:
            return answer(identity, name, "busy", "%s is under way: ask again when it is done" % self.pending.command["cmd"])
        return None

    def _accepted(self, identity, name, where):
        accepted = answer(identity, name, "accepted")
        accepted["where"] = "running" if self.pending.taken else where
        return accepted

    def _keep(self, final):
        self._results.put(final["id"], final)
        self._ids.put(final["id"], True)


def answer(identity, name, state, why=""):
    """An ack without its moment and its source."""
    ack = {"t": "ack", "id": identity, "cmd": name[:64], "st": state}
    if why:
        ack["why"] = why
    return ack


def _time_to_live(command):
    asked = command.get("ttl_ms")
    if not isinstance(asked, int) or isinstance(asked, bool) or asked <= 0:
        return DEFAULT_TTL
    return min(asked, MAXIMUM_TTL)


class _Recent:
    """A map that forgets what was put first once it is full."""

    def __init__(self, size):
        self._size = size
        self._values = {}

    def get(self, key):
        return self._values.get(key)

    def put(self, key, value):
        self._values[key] = value
        if len(self._values) > self._size:
            del self._values[next(iter(self._values))]
