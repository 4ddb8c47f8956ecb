"""The socket: readers come and go, get what is published and give commands. It
belongs to the probe's thread, which never waits for a reader; what the render
publishes reaches it through the outlet.
"""
import os
import select
import time

from .backlog import Backlog
from .descriptors import LostDescriptor
from .ledger import Ledger
from .place import file_identity, open_listener, peer_fault
from .reader import Line, Reader
from .wire import PROTOCOL, decode_line, encode_ack, encode_record, encode_sample, encode_state, encode_strings

MAXIMUM_READERS = 64
MAXIMUM_CONNECTIONS = 96  # those that have not said hello yet included
HANDSHAKE_TIME = 10 * 10**9  # nanoseconds for a reader's hello
STALL_TIME = 2 * 10**9  # nanoseconds after which a reader that takes nothing is closed
FAREWELL_TIME = 250_000_000  # nanoseconds that readers have to take the rest at the end
MAXIMUM_STRINGS = 1 << 20


class Server:
    """Listens on path until close. speaker says who speaks: hello() is the hello
    record, obeys() (commands, {command: why}), where() what an accepted command
    waits for, order(order) is told of a command to carry out, and src is the
    name of the source."""

    def __init__(self, path, speaker):
        self.path = path
        self.readers = {}  # number -> Reader, the silent ones included
        self.refused = 0  # connections, for another user's or a wrong word
        self.stalled = 0  # readers closed because they took nothing
        self.watched = 0  # readers that have said hello
        self.interest = False  # one of them asks for events
        self.unencoded = 0  # records that a line cannot hold, since the last sample
        self.ledger = Ledger()
        self._speaker = speaker
        self._backlog = Backlog()
        self._strings = []
        self._count = 0
        self._poll = select.poll()
        self._others = []  # Descriptors that are not the server's own
        self.stirred = True  # the last turn found something on a descriptor
        self._by_descriptor = {}
        self._listener = self._file = None
        self._listen()

    def descriptor(self, descriptor):
        """Watches one more Descriptor, whose input only wakes turn."""
        self._others.append(descriptor)
        self._poll.register(descriptor.number, select.POLLIN)

    def _listen(self):
        self._listener = open_listener(self.path)
        self._file = file_identity(self.path)
        self._poll.register(self._listener.number, select.POLLIN)

    def forget_lost(self):
        """Forgets the descriptors whose numbers the program has closed, without
        a touch: they may be its own by now. Readers come again by themselves.
        True where there is a listener still."""
        for reader in [reader for reader in self.readers.values() if not reader.connection.is_own()]:
            self._drop(reader)
        if self._listener is not None and not self._listener.is_own():
            self._poll.unregister(self._listener.number)
            self._listener = None
        for descriptor in [descriptor for descriptor in self._others if not descriptor.is_own()]:
            self._others.remove(descriptor)
            self._poll.unregister(descriptor.number)
        return self._listener is not None

    def listen_again(self):
        """Makes a new socket in the place of one that was lost. Raises
        PlaceError or OSError."""
        self._remove_file()
        self._listen()

    def _remove_file(self):
        """Removes the socket's file, where it is the one that was made."""
        try:
            if self._file is not None and file_identity(self.path) == self._file:
                os.unlink(self.path)
        except OSError:
            pass

    def serves_events(self):
        """Whether a reader that asks for events has a state, after which they
        begin."""
        return self.interest and any(reader.wants_events and not reader.needs_state for reader in self.readers.values())

    def turn(self, patience):
        """Waits at most patience nanoseconds for something to happen on a
        socket, and does it. The descriptors that are not the server's own and
        have input are returned."""
        late = False  # somebody may be
        for descriptor, reader in self._by_descriptor.items():
            waits = reader.waits()
            if waits is not reader.polled:
                reader.polled = waits
                self._poll.modify(descriptor, select.POLLIN | (select.POLLOUT if waits else 0))
            late = late or waits or not reader.greeted
        if late:
            patience = min(patience, max(0, self._next_limit() - time.monotonic_ns()))
        others = []
        events = self._poll.poll((patience + 999_999) // 1_000_000 if patience > 0 else 0)
        self.stirred = bool(events)
        for descriptor, event in events:
            reader = self._by_descriptor.get(descriptor)
            if reader is not None:
                self._serve(reader, event)
            elif self._listener is not None and descriptor == self._listener.number:
                self._accept()
            else:
                others.append(descriptor)
        if late:
            self._close_late(time.monotonic_ns())
        return others

    def settled(self):
        """Whether every reader has all that it is to have: what is to be done next,
        something on a descriptor tells, or the time."""
        for reader in self.readers.values():
            if reader.needs_state or not reader.greeted or reader.waits():
                return False
        return True

    def doze(self, patience):
        """Waits as turn does, and does nothing: whether something has happened,
        which the next turn finds."""
        return bool(self._poll.poll((patience + 999_999) // 1_000_000 if patience > 0 else 0))

    def flush(self):
        """Sends what the kernel takes, without waiting. Is whether a reader that
        has room for it waits for a whole state."""
        now, wanted = 0, False
        for reader in tuple(self.readers.values()):  # one that is gone leaves them
            if reader.waits():
                now = now or time.monotonic_ns()
                self._send(reader, now)
            if reader.needs_state and reader.greeted and not reader.waits() and reader.number in self.readers:
                wanted = True
        return wanted

    def publish(self, record):
        """Hands a record (with t and ns, without src) to every reader that wants
        it: any but a sample of many, of which only the newest need to come through."""
        kind = record["t"]
        if kind == "str":
            self._keep_strings(record)
        if kind == "ev" and not self.interest:
            return
        record = self._signed(record)
        data = encode_record(record)
        if data is None:
            if kind == "str":
                self._publish_strings(record)
            elif kind == "ev":
                self._lost(len(record.get("op", ())) or 1)
            else:
                self.unencoded += 1
            return
        weight = len(record.get("op", ())) if kind == "ev" else 1
        line = Line("ev" if kind == "ev" else "state" if kind == "str" else "line", data, weight)
        if line.kind == "line":
            self._backlog.add(data, record["ns"])
        self._push_all(line)

    def publish_sample(self, record):
        """The same for a sample, which is whole as it is. Readers that take it
        have it at once: it costs the render less than to have it wait a moment."""
        data = encode_sample(record)
        if data is None:
            self.unencoded += 1
            return
        now, gone = record["ns"], []
        self._backlog.add(data, now)
        for reader in self.readers.values():
            if reader.greeted:
                try:
                    reader.push_sample(data, now)
                except OSError:
                    gone.append(reader)
        for reader in gone:
            self._drop(reader)

    def publish_state(self, record):
        """Gives a state to those who have one, and the whole with its strings to
        those who wait for it."""
        record = self._signed(record)
        lines = encode_state(record)
        whole = None
        for reader in self.readers.values():
            if not reader.greeted:
                continue
            if not reader.needs_state:
                for data in lines:
                    reader.push(Line("state", data))
            elif not reader.waits():
                if whole is None:
                    whole = encode_strings(record["src"], record["ns"], 1, self._strings) + lines
                events, records = reader.state_comes()
                for n, what in ((events, "ev"), (records, "")):
                    if n:
                        lost = {"t": "lost", "ns": record["ns"], "n": n}
                        reader.push_all([encode_record(self._signed(dict(lost, what=what) if what else lost))])
                reader.push_all(whole)

    def greet_again(self):
        """Sends every reader a new hello, which begins with a new state: what
        the process can do has changed. Those that have yet to answer the first
        one get it, too."""
        hello = encode_record(self._speaker.hello())
        for reader in self.readers.values():
            if not reader.ending and hello is not None:
                reader.push_all([hello])
                reader.needs_state = True

    def expire(self, now, why):
        """Ends the pending command where its time is over."""
        final, askers = self.ledger.expire(now, why)
        if final is not None:
            self._answer_all(final, askers)

    def finish(self, final):
        """Ends the command that ran with its answer."""
        final, askers = self.ledger.finish(final)
        self._answer_all(final, askers)

    def close(self, why):
        """Says goodbye to every reader, after the answer to a command that never
        ran, and removes the socket. Readers have a quarter of a second to take
        what waits for them."""
        self._remove_file()
        self._close_listener()
        final, askers = self.ledger.abandon("the program ends, so nothing was done")
        if final is not None:
            self._answer_all(final, askers)
        bye = encode_record(self._signed({"t": "bye", "ns": time.monotonic_ns(), "why": why}))
        for reader in self.readers.values():
            reader.push_all([bye])
        end = time.monotonic_ns() + FAREWELL_TIME
        while True:
            self.flush()
            waiting = [reader for reader in self.readers.values() if reader.waits()]
            left = end - time.monotonic_ns()
            if not waiting or left <= 0:
                break
            leaving = select.poll()
            for reader in waiting:
                if reader.connection.is_own():
                    leaving.register(reader.connection.number, select.POLLOUT)
            leaving.poll(left // 1_000_000 + 1)
        self.forget()

    def forget(self):
        """Closes every descriptor without a word, and leaves the file: in a
        child, both belong to the parent."""
        self._close_listener()
        for reader in self.readers.values():
            reader.connection.close()
        self.readers, self._by_descriptor = {}, {}
        self._watched, self._interest = 0, False

    def _close_listener(self):
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _accept(self):
        while True:
            # What comes may get the number of one that was lost.
            if not self.forget_lost():
                return
            try:
                connection = self._listener.accept()
            except LostDescriptor:
                return
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                time.sleep(0.1)  # out of descriptors: the render may free some
                return
            self._count += 1
            reader = Reader(connection, self._count, time.monotonic_ns())
            try:
                fault = peer_fault(connection)
            except OSError as error:
                fault = "the kernel does not say who is at the other end of the socket: %s" % error
            if len(self.readers) >= MAXIMUM_CONNECTIONS:
                connection.close()
                continue
            self.readers[reader.number] = reader
            self._by_descriptor[connection.number] = reader
            self._poll.register(connection.number, select.POLLIN)
            if fault:
                self._refuse(reader, fault)
                continue
            hello = encode_record(self._speaker.hello())
            if hello is not None:
                reader.push_all([hello])
            self._send(reader, time.monotonic_ns())

    def _serve(self, reader, event):
        if event & select.POLLOUT:
            self._send(reader, time.monotonic_ns())
        if reader.number not in self.readers or not event & (select.POLLIN | select.POLLHUP | select.POLLERR):
            return
        try:
            lines, end = reader.receive()
        except OSError:
            lines, end = [], True
        for data in lines:
            if reader.ending or reader.number not in self.readers:
                break
            record = decode_line(data)
            if record is not None:
                self._hear(reader, record)
        if end:
            self._drop(reader)

    def _hear(self, reader, record):
        kind = record["t"]
        if not reader.greeted:
            self._greet(reader, record)
        elif kind == "want":
            reader.want(record.get("ev") is True)
            self._count_readers()
        elif kind == "cmd":
            self._command(reader, record)

    def _greet(self, reader, record):
        if record["t"] != "hello":
            self._refuse(reader, "the first line must be a hello, not %.40r" % record["t"])
            return
        protocol, minimum = record.get("proto"), record.get("min", 0)
        if not isinstance(protocol, int) or protocol < 1:
            return  # no hello: it does not say which version it speaks
        if isinstance(minimum, int) and minimum > PROTOCOL:
            self._refuse(reader, "this reader speaks format %d and later, and this probe format %d: "
                         "start the program with the probe of the same vramscope" % (minimum, PROTOCOL))
            return
        if self.watched >= MAXIMUM_READERS:
            self._refuse(reader, "%d readers watch this program already" % MAXIMUM_READERS)
            return
        reader.greeted = True
        wants = record.get("want")
        reader.want(isinstance(wants, list) and "ev" in wants)
        self._count_readers()
        reader.push_all(self._backlog.copy())
        self._send(reader, time.monotonic_ns())

    def _command(self, reader, record):
        now = time.monotonic_ns()
        obeyed, refused = self._speaker.obeys()
        reply, order = self.ledger.receive(now, reader.number, record, obeyed, refused, self._speaker.where())
        reply = dict(reply)  # a repeated id gets the stored answer
        reply.setdefault("ns", now)
        self._push(reader, Line("ack", encode_ack(self._signed(reply))))
        if order is None:
            return
        # The others see which command was given, so that their recordings hold it.
        shown = {key: record[key] for key in ("id", "cmd", "ttl_ms") if key in record}
        if isinstance(record.get("args"), dict):
            shown["args"] = {key: value for key, value in record["args"].items() if key in ("dev", "fraction", "path")}
        data = encode_record(self._signed(dict({"t": "cmd", "ns": now}, **shown)))
        if data is not None:
            self._backlog.add(data, now)
            for other in list(self.readers.values()):
                if other is not reader and other.greeted:
                    self._push(other, Line("line", data))
        self._send(reader, now)
        self._speaker.order(order)

    def _answer_all(self, final, askers):
        """The answer is never lost to those who asked, and an ordinary line for
        the others."""
        final["ns"] = time.monotonic_ns()
        data = encode_ack(self._signed(final))
        self._backlog.add(data, final["ns"])
        for reader in list(self.readers.values()):
            if reader.greeted:
                self._push(reader, Line("ack" if reader.number in askers else "line", data))

    def _push_all(self, line):
        gone = [reader for reader in self.readers.values() if reader.greeted and not reader.push(line)]
        for reader in gone:
            self._drop(reader)  # it reads nothing, so there is no use in saying why

    def _push(self, reader, line):
        if not reader.push(line):
            self._drop(reader)  # it reads nothing, so there is no use in saying why

    def _send(self, reader, now):
        try:
            reader.send(now)
        except OSError:
            self._drop(reader)
            return
        if reader.ending and not reader.waits():
            self._drop(reader)

    def _refuse(self, reader, why):
        """Says why and closes."""
        self.refused += 1
        data = encode_record(self._signed({"t": "bye", "ns": time.monotonic_ns(), "why": why}))
        reader.push_all([data])
        reader.greeted, reader.ending = False, True
        self._count_readers()
        self._send(reader, time.monotonic_ns())

    def _drop(self, reader):
        if self.readers.pop(reader.number, None) is not None:
            descriptor = reader.connection.number
            self._poll.unregister(descriptor)
            self._by_descriptor.pop(descriptor, None)
            reader.connection.close()
            self._count_readers()

    def _count_readers(self):
        """Takes note that a reader came, went or asks for something else."""
        greeted = [reader for reader in self.readers.values() if reader.greeted]
        self.watched, self.interest = len(greeted), any(reader.wants_events for reader in greeted)

    def _next_limit(self):
        """The moment at which the first reader is late."""
        limits = [reader.moved + STALL_TIME for reader in self.readers.values() if reader.waits()]
        limits += [reader.connected + HANDSHAKE_TIME for reader in self.readers.values() if not reader.greeted]
        return min(limits, default=time.monotonic_ns() + HANDSHAKE_TIME)

    def _close_late(self, now):
        for reader in list(self.readers.values()):
            if not reader.waits():
                if not reader.greeted and now - reader.connected > HANDSHAKE_TIME:
                    self._refuse(reader, "no hello came for ten seconds")
            elif now - reader.moved > STALL_TIME:
                self.stalled += 1
                self._drop(reader)

    def _keep_strings(self, record):
        texts, first = list(record.get("s", ())), record.get("first", 1)
        for at, text in enumerate(texts):
            number = first + at
            if number == len(self._strings) + 1 and number <= MAXIMUM_STRINGS:
                self._strings.append(text)

    def _publish_strings(self, record):
        for data in encode_strings(record["src"], record["ns"], record["first"], list(record["s"])):
            self._push_all(Line("state", data))

    def _lost(self, events):
        for reader in self.readers.values():
            if reader.wants_events:
                reader.lost_events += events
                reader.needs_state = True

    def _signed(self, record):
        """The record with what every record begins with."""
        kind, src, ns = record["t"], self._speaker.src, record.get("ns", 0) or time.monotonic_ns()
        head = {"t": kind, "src": src, "ns": ns}
        head.update(record)
        head["t"], head["src"], head["ns"] = kind, src, ns
        return head
