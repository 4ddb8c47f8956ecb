"""The probe's life in this process: it starts, survives forks, and ends with the
program.
"""
import atexit
import os
import sys
import threading

from .adapter import ADAPTERS, Sets
from .algan_adapter import ALGAN_ADAPTER
from .arena_adapter import ARENA_ADAPTER
from .background import BackgroundThread
from .device import DRIVER
from .identity import identity, sampling_rate
from .outlet import OUTLET
from .pending import PendingCall, of_a_signal
from .place import PlaceError, socket_directory
from .release import offered
from .safepoint import SAFE_POINT, described
from .service import Service

FORK_PATIENCE = 0.25  # seconds at most that a fork waits for the probe's thread
EXIT_PATIENCE = 1.0  # seconds at most that the end waits for it
LOOK_PERIOD = 1.0  # seconds between two looks of a child for memory of its own


class Session:
    """What this process has of the probe."""

    def __init__(self):
        self.service = None
        self.problem = ""  # why there is none, as one sentence that says what to do
        self.dormant = False  # a child that has used nothing yet
        self._hooked = False
        self._paused = False  # for a fork
        self._raised = None  # by a signal, in the middle of a fork
        self._behind_fork = PendingCall(self._go_on)
        self._looking = None  # (thread, event that ends it) of a dormant child
        self._inherited = frozenset()  # the counter sets of the arenas that a child has from its parent
        self._turn = threading.Lock()  # between threads that start; none of them renders

    def start(self, rate=None):
        """Opens the socket and starts the thread; True where it runs."""
        if not self._turn.acquire(blocking=False):
            return self.service is not None
        try:
            self.dormant = False
            if self.service is not None:
                return True
            self._hook()
            facts = identity()
            path = os.path.join(socket_directory(), "%d-%d.sock" % (facts["pid"], facts["start"]))
            service = Service(path, facts, rate or sampling_rate(), _abilities)
            service.run()
            self.service, self.problem = service, ""
            self._hook_worker()
            return True
        except PlaceError as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = "the probe could not start: " + described(error)
        finally:
            self._turn.release()
        return False

    def stop(self, why):
        """Says goodbye, removes the socket and ends the thread."""
        self._end_look()
        service, self.service = self.service, None
        if service is not None:
            service.end(why, EXIT_PATIENCE)

    def _hook(self):
        if self._hooked:
            return
        self._hooked = True
        os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._in_child)
        os.register_at_fork(after_in_parent=self._behind_fork.enqueue, after_in_child=self._behind_fork.enqueue)
        atexit.register(self._at_exit)

    def _hook_worker(self):
        """The workers of multiprocessing end without what atexit knows, but ask
        finalizers of their own."""
        process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
        if process is not None and util is not None and process.parent_process() is not None:
            util.Finalize(None, self._at_exit, exitpriority=0)

    def _before_fork(self):
        # Without its thread the child finds no lock held by it, and Python has
        # no reason to warn of threads that the program did not start.
        try:
            self._paused = True
            self._end_look()
            if self.service is not None:
                self.service.pause(FORK_PATIENCE)
            if not DRIVER.forked:
                DRIVER.before_fork()
        except BaseException as error:
            self._note(error)

    def _after_fork(self):
        if threading.get_ident() != threading.main_thread().ident:
            self._go_on()

    def _go_on(self):
        """Goes on behind a fork. On the main thread this is a pending call:
        Python counts the threads, and warns of them, at the fork's very end."""
        raised, self._raised = self._raised, None
        try:
            if self._paused:
                self._paused = False
                if self.service is not None:
                    self.service.run()
                elif self.dormant:
                    self._look()
        except Exception as error:
            if of_a_signal(error):
                raise
        if raised is not None:
            raise raised

    def _in_child(self):
        try:
            self._turn = threading.Lock()
            self._paused, self._raised = False, None
            service, self.service = self.service, None
            OUTLET.armed = OUTLET.held = False
            OUTLET.entries.clear()
            DRIVER.in_child()
            SAFE_POINT.forked()
            if service is not None:
                service.forget()
                self.dormant = True
            if self.dormant:
                self._inherited = frozenset(ARENA_ADAPTER.in_child() + ALGAN_ADAPTER.in_child())
                self._look()
        except BaseException as error:
            self._note(error)

    def _note(self, error):
        """Keeps what a signal raised in a hook, where it would be printed and
        lost, to be raised behind the fork."""
        if of_a_signal(error):
            self._raised = error

    def _look(self):
        """Starts the probe in a child once one of its allocators holds
        something, or it has an arena of its own: workers that only load data open
        no socket."""
        ended = threading.Event()

        def look():
            try:
                while not ended.wait(LOOK_PERIOD):
                    if not self.dormant:
                        return
                    if _holds_memory(self._inherited):
                        self._looking = None
                        self.start()
                        return
            except BaseException:
                pass

        thread = BackgroundThread(look)
        self._looking = (thread, ended)
        thread.start()

    def _end_look(self):
        looking, self._looking = self._looking, None
        if looking is not None and not looking[0].is_current():
            looking[1].set()
            looking[0].await_end(FORK_PATIENCE)

    def _at_exit(self):
        try:
            self.stop(goodbye())
        except BaseException:
            pass


def goodbye():
    """Why the probe ends at the interpreter's end, as far as the interpreter knows.
    It does not know whether an exception is what ended it: a prompt goes on after
    one. Where Python leaves those that nothing caught, shells and test runners
    put those that they have caught, too; but these did not go up to the last frame."""
    error, traceback = getattr(sys, "last_type", None), getattr(sys, "last_traceback", None)
    if isinstance(error, type) and traceback is not None and traceback.tb_frame.f_back is None:
        return "the program ended; the last exception that nothing caught was " + error.__name__
    return "the program ended"


SESSION = Session()


def start(rate=None):
    """Starts the probe in this process: opens its socket, and samples from a
    thread of its own. rate is samples a second while somebody watches, from 1
    to 10; without it VRAMSCOPE_RATE counts. True where it runs, also where it
    ran already; problem() says why it does not."""
    return SESSION.start(rate if rate is None else sampling_rate({"VRAMSCOPE_RATE": str(rate)}))


def stop():
    """Ends the probe in this process: readers get a goodbye, the socket goes."""
    SESSION.stop("the program stopped its probe")


def problem():
    """Why no probe runs here, as one sentence that says what to do; "" where
    there is nothing to say."""
    return SESSION.problem


def poll(frame=None):
    """A frame begins: call it between frames, on the main thread, where nothing
    temporary is alive. Commands of the dashboard run here. frame is its number;
    without it frames are counted. It never raises, but for what a signal
    raises, and with nothing to do it costs under a microsecond."""
    if SESSION.dormant:
        SESSION.start()
    SAFE_POINT.boundary(frame)


def _abilities():
    commands, refused = offered()
    return commands, refused, [{"ord": gpu.ordinal, "uuid": gpu.uuid, "name": gpu.name} for gpu in DRIVER.devices()]


def _holds_memory(inherited):
    for adapter in list(ADAPTERS):
        try:
            if adapter.library() is None:
                continue
            out = Sets()
            adapter.sample(out)
            if any(entry["c"].get(key) for entry in out.sets if entry["id"] not in inherited
                   for key in ("reserved", "allocated", "used", "length")):
                return True
        except BaseException:
            continue
    return False
