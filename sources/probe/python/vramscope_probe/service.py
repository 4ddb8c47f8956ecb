"""The probe's one thread: it waits on the socket, samples, hands on what the
render noted, and gives the main thread the commands.
"""
import os
import time

from .adapter import monotonic, plural
from .background import BackgroundThread
from .descriptors import open_pair
from .device import DRIVER
from .main_thread import on_main_thread
from .outlet import OUTLET
from .place import PlaceError
from .safepoint import SAFE_POINT, carried_out
from .sampler import Sampler
from .server import Server
from .wire import MINIMUM_PROTOCOL, PROTOCOL

IDLE_PERIOD = 1_000_000_000  # nanoseconds between samples while nobody watches
DRAIN_PERIOD = 50_000_000  # nanoseconds at most between drains while events come
QUIET_PERIOD = 200_000_000  # nanoseconds at most between drains while events are wanted and none came
LOOK_AROUND_PERIOD = 1_000_000_000  # nanoseconds between two looks for libraries
STATE_PERIOD = 10_000_000_000  # nanoseconds between states
ANEW_PERIOD = 200_000_000  # nanoseconds between two attempts to open again what the program closed
AWAITED_TIME = 60_000_000_000  # nanoseconds that a run's recorder may take to come
AWAITED_ENTRIES = 1 << 15  # of the outlet, which wait for it
HELD_PERIOD = 500_000_000  # nanoseconds between two looks at the descriptors while nothing comes
RETRY_PERIOD = 100_000_000  # nanoseconds after which a command is offered again
REST_AFTER_MISTAKE = 0.2  # seconds, so that a mistake that stays costs little


class Service:
    """Serves one socket. facts is the hello that stays the same, rate the
    samples a second while somebody watches, abilities gives what may change:
    (commands, {command: why not}, gpus)."""

    def __init__(self, path, facts, rate, abilities):
        self.src = "pid:%d-%d" % (facts["pid"], facts["start"])
        self.rate = rate
        self._period = int(1e9 / rate)  # nanoseconds between samples while somebody watches
        # A run can ask for what record-on does, from the start.
        self.recording = self._arming_due = bool(os.environ.get("VRAMSCOPE_SCOPES"))
        self._noted = False  # the render left something since the last look, and will go on
        self.sampler = Sampler(self.src)
        self._facts = facts
        self._abilities = abilities
        self._can = {"have": [], "cmds": [], "nocmds": {}, "gpus": [], "safe": "pending"}
        self._epoch = 0  # the thread of an older one ends
        self._relaxed = False  # the thread is in the capture mode that spoils none
        self._calm = False  # the last turn left nothing to be done but a sample in its time
        self._thread = None
        self._why = None  # why it ends
        self._state_due = False
        self._sampled = 0  # moment of the last sample
        self._state_at = 0  # moment of the last state
        self._looked = 0  # moment at which the libraries were last looked for
        self._offered = 0  # moment at which the pending order was offered last
        self._awaited = AWAITED_TIME if os.environ.get("VRAMSCOPE_RECORDED") else 0  # see _await_recorder
        self._held_at = 0  # moment at which the descriptors were last found to be there, or were not
        self._anew_at = 0  # moment at which lost descriptors were last opened anew
        self._alarm, self._ring = open_pair()
        try:
            self.server = Server(path, self)
        except BaseException:
            self._alarm.close()
            self._ring.close()
            raise
        self.server.descriptor(self._alarm)
        if self._awaited:
            self._awaited += monotonic()
            OUTLET.armed = OUTLET.held = True
        OUTLET.armed = OUTLET.armed or self.recording
        SAFE_POINT.wake = self.wake

    def run(self):
        """Starts the thread. One that is still ending is waited for by the new
        one."""
        self._epoch += 1
        self._thread = BackgroundThread(self._serve, self._epoch, self._thread)
        self._thread.start()

    def pause(self, patience):
        """Ends the thread, so that a fork finds it nowhere in the middle of
        something; at most patience seconds are spent. Then run goes on."""
        self._epoch += 1
        self.wake()
        if self._thread is not None and not self._thread.is_current():
            self._thread.await_end(patience)

    def end(self, why, patience):
        """Says goodbye and removes the socket; at most patience seconds are
        spent."""
        self._why = why
        self.wake()
        if self._thread is not None:
            self._thread.join(patience)
        OUTLET.armed = OUTLET.held = False
        SAFE_POINT.wake = None

    def forget(self):
        """Leaves everything to the parent: in a child."""
        SAFE_POINT.wake = None
        self.server.forget()
        self._alarm.close()
        self._ring.close()

    def wake(self):
        """Ends the thread's waiting. Any thread may call it; it waits for
        nobody."""
        try:
            self._ring.send(b"\0")
        except OSError:
            pass

    # What the server asks of who speaks.

    def hello(self):
        """The hello record as of now."""
        record = {"t": "hello", "src": self.src, "ns": monotonic(), "proto": PROTOCOL, "min": MINIMUM_PROTOCOL}
        record.update(self._facts)
        record.update(wall=time.time_ns(), hz=float(self.rate))
        record.update((key, value) for key, value in self._can.items() if value)
        return record

    def obeys(self):
        """(commands, {command: why not})."""
        return self._can["cmds"], self._can["nocmds"]

    def where(self):
        """What an accepted command waits for."""
        return SAFE_POINT.where()

    def order(self, order):
        """Offers an accepted command to the main thread."""
        self._offered = monotonic()
        SAFE_POINT.hand_over(order)

    # The thread.

    def _serve(self, epoch, before):
        try:
            if before is not None:
                before.join()
            self._relaxed = False
            while self._epoch == epoch and self._why is None:
                try:
                    self._turn()
                except BaseException as error:
                    self.sampler.note("probe", error)
                    time.sleep(REST_AFTER_MISTAKE)
            if self._why is not None and self._epoch == epoch:
                self._end()
        except BaseException:
            pass  # there is nobody to tell

    def _turn(self):
        if self._calm and self._sample_alone():
            return
        if self.server.stirred or monotonic() - self._held_at >= HELD_PERIOD:
            self._open_lost_anew()
        if self._looked and self.server.turn(self._patience(monotonic())):  # the first hello tells what was found
            try:
                self._alarm.receive(4096)
            except OSError:
                pass
        now = monotonic()
        if not self._relaxed:  # so that what the libraries ask, too, when they are asked, spoils no capture
            self._relaxed = DRIVER.capture_mode(DRIVER.RELAXED) is not None
        OUTLET.armed = self._awaited and self._await_recorder(now) or self.recording or self.server.interest
        if self._arming_due:
            self._arming_due = not on_main_thread(arm_recorders)
        self._hand_on()
        if SAFE_POINT.outcomes or self.server.ledger.pending is not None:
            self._settle(now)
        if now >= self._next_sample():
            self._sample(now)
        # Readers have room for a state once they were sent what waits; a render
        # with quick frames has left something new by every turn.
        if self.server.flush() or self._state_due or (now - self._state_at >= STATE_PERIOD and self.server.watched):
            self._state()
            self.server.flush()
        self._calm = (self._period <= QUIET_PERIOD and self._relaxed and self.server.watched > 0
                      and not (self._noted or self._awaited or self._arming_due or self._state_due) and self.server.settled())

    def _sample_alone(self):
        """A whole turn, as nearly every one is beside a quiet program: the next
        sample is waited for, taken and sent, and nothing else is looked at. False,
        and nothing is done, where anything else has come or is due."""
        self._calm = False
        due = self._sampled + self._period
        if self.server.doze(due - monotonic()):
            return False
        now, server = monotonic(), self.server
        if (now < due or OUTLET.entries or SAFE_POINT.frames or SAFE_POINT.outcomes or server.ledger.pending is not None or self._state_due
                or now - self._looked >= LOOK_AROUND_PERIOD or now - self._held_at >= HELD_PERIOD or now - self._state_at >= STATE_PERIOD):
            return False
        watched = server.watched
        self.sampler.drain(self._publish)
        self._sample(now)
        self._calm = server.watched == watched and not self._state_due and server.settled()
        return True

    def _await_recorder(self, now):
        """Whether what the program says is kept for a recorder that is on its
        way (VRAMSCOPE_RECORDED says so) from the first scope on. It waits in
        the outlet until a reader of events has a state without it, as long as
        there is room and the recorder may yet come."""
        if now > self._awaited or self.server.serves_events() or len(OUTLET.entries) > AWAITED_ENTRIES:
            self._awaited, OUTLET.held = 0, False
        return self._awaited != 0

    def _open_lost_anew(self):
        """Opens what the program has closed under the probe: it closes numbers
        whose meaning it does not know, and is to be watched all the same. What
        uses a number asks for itself whose it is; a lost one of which nobody
        hears is found here."""
        self._held_at = monotonic()
        listens = self.server.forget_lost()
        has_alarm = self._alarm.is_own() and self._ring.is_own()
        if listens and has_alarm:
            return
        now = monotonic()
        if now - self._anew_at < ANEW_PERIOD:
            return
        self._anew_at = now
        try:
            if not has_alarm:
                self._alarm.close()
                self._ring.close()
                self.server.forget_lost()  # the one of the two that was still there
                self._alarm, self._ring = open_pair()
                self.server.descriptor(self._alarm)
            if not listens:
                self.server.listen_again()
        except (OSError, PlaceError) as error:
            self.sampler.note("probe", error)

    def _patience(self, now):
        """How long nothing has to be done."""
        until = self._next_sample()
        if OUTLET.armed:
            until = min(until, now + (DRAIN_PERIOD if self._noted else QUIET_PERIOD))
        pending = self.server.ledger.pending
        if pending is not None and not pending.taken:
            until = min(until, pending.deadline, self._offered + RETRY_PERIOD)
        return max(0, until - now)

    def _next_sample(self):
        if self.server.watched or self.recording:
            return self._sampled + self._period
        return self._sampled + IDLE_PERIOD

    def _hand_on(self):
        """Publishes the frames, then what the adapters noted."""
        frames = SAFE_POINT.frames
        for _ in range(len(frames)):  # and no more: a quick render adds to them meanwhile
            ns, number = frames.popleft()
            self._publish({"t": "frame", "ns": ns, "n": number})
        self._noted = bool(OUTLET.entries)
        self.sampler.drain(self._publish)

    def _settle(self, now):
        """Ends the command that was carried out, or whose time is over."""
        while SAFE_POINT.outcomes:
            final = SAFE_POINT.outcomes.popleft()
            pending = self.server.ledger.pending
            if pending is None:
                continue
            if final["st"] == "done" and pending.command["cmd"] in ("record-on", "record-off"):
                self.recording = pending.command["cmd"] == "record-on"
                self._state_due = True
            self._hand_on()  # what the command caused goes before its answer
            self._sample(monotonic(), look=True)
            self.server.finish(final)
        self.server.expire(now, SAFE_POINT.missed())
        pending = self.server.ledger.pending
        if pending is not None and not pending.taken and now - self._offered >= RETRY_PERIOD:
            self.order(pending)

    def _sample(self, now, look=False):
        """Publishes a sample. Once a second, and with look, it is one for which
        the libraries and what they use are looked for anew."""
        self._sampled = now
        if now - self._looked >= LOOK_AROUND_PERIOD:
            look, self._looked = True, now
            self._look_around()
        if self.server.unencoded:
            self.sampler.note("probe", "%s too long to be sent" % plural(self.server.unencoded, "record"))
            self.server.unencoded = 0
        sample = self.sampler.sample(look)
        if self.sampler.tells or look or "err" in sample:
            self.server.publish_sample(sample)
        else:  # no library has memory yet, and one that gets some may die of it at once
            self.sampler.number -= 1

    def _state(self):
        """Gives the whole state to those who need it. Strings that it names go
        before it, what else happened meanwhile goes after it."""
        self._state_due, self._state_at = False, monotonic()
        if not self.server.watched:
            return
        self._hand_on()
        moment = monotonic()
        record = {"t": "state", "ns": moment}
        if SAFE_POINT.frame >= 0:
            record["frame"] = SAFE_POINT.frame
        if self.recording:
            record["rec"] = True
        record.update(self.sampler.state())
        later = []
        self.sampler.drain(lambda noted: self._publish(noted) if noted["t"] == "str" else later.append(noted))
        self.server.flush()
        self.server.publish_state(record)
        for noted in later:
            self._publish(noted)

    def _publish(self, record):
        """Publishes what an adapter noted. A bare state asks for the whole one,
        and a sample holds what the adapter alone read then."""
        if record["t"] == "state":
            self._state_due = True
            return
        if record["t"] == "s":
            record = self.sampler.completed(record)
            if record is None:
                return
        self.server.publish(record)

    def _look_around(self):
        """Tells the readers anew what this process has and obeys, where it
        changed."""
        try:
            commands, refused, gpus = self._abilities()
        except BaseException as error:
            self.sampler.note("probe", error)
            return
        can = {"have": self.sampler.found(), "cmds": list(commands), "nocmds": dict(refused), "gpus": list(gpus),
               "safe": SAFE_POINT.kind()}
        if can != self._can:
            self._can = can
            self.server.greet_again()

    def _end(self):
        OUTLET.held = False
        self._hand_on()
        self._settle(monotonic())
        self._sample(monotonic(), look=True)
        self.server.close(self._why)
        self._alarm.close()
        self._ring.close()


def arm_recorders():
    """Does what record-on does, and says so. On the main thread."""
    final = carried_out({"cmd": "record-on"})
    told = [": ".join(filter(None, (line["what"], line.get("why")))) for line in final.get("result", ())]
    level = "info" if final["st"] == "done" else "warning"
    OUTLET.put(("record", {"t": "note", "ns": monotonic(), "level": level, "text": "scopes are recorded from the start; " + "; ".join(
        told + list(filter(None, (final.get("why"),))))}))
