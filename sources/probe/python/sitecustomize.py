"""Starts vramscope's probe in a Python process that vramscope launched.

It lies in a folder that stands first in PYTHONPATH, acts only if
VRAMSCOPE_TARGET says so, and starts the probe only once the program loads a
GPU library, so that the helpers of a render (pip, compilers) open no socket.
Whatever goes wrong with the probe, the program never notices; what the user's
own sitecustomize raises is raised as if this one were not there.
"""
import os
import sys


class _ProbeStarter:
    """Looks on as modules are asked for, and finds none itself."""

    LIBRARIES = frozenset((
        "torch", "cupy", "rmm", "jax", "taichi", "quadrants", "algan", "vibespatial", "vramscope_probe"))
    PATIENCE = 10.0  # seconds for a library that was asked for to appear
    PAUSE = 0.02  # seconds between two looks for it
    FORK_PATIENCE = 2.0  # seconds at most that a fork waits for a start that is under way

    def __init__(self):
        self.waits_in = 0  # the process whose thread waits: threads do not survive a fork
        self.ended = None  # set to end the thread
        self.over = None  # a lock that the thread holds until its end
        self.native = None  # the thread's number in the kernel
        self.again = False  # the thread ended for a fork
        self.hooked = False

    def find_spec(self, name, path=None, target=None):
        if name in self.LIBRARIES and self.waits_in != os.getpid():
            self.wait()
        return None

    def wait(self):
        try:
            import threading
            import _thread
            self.waits_in = os.getpid()
            ended, over = threading.Event(), _thread.allocate_lock()
            over.acquire()
            self.ended, self.over, self.native = ended, over, None
            # Not one of threading's: the program would find it there.
            _thread.start_new_thread(self.start, (ended, over))
        except BaseException:
            self.over = None

    def start(self, ended, over):
        """Imports the probe, which starts it, once a library is there. For one
        that could not be loaded it is armed again."""
        try:
            import signal
            import threading
            self.native = threading.get_native_id()
            # The program's threads may keep one blocked to wait for it.
            faults = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS)
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals().difference(faults))
            self.hook()
            looks = int(self.PATIENCE / self.PAUSE)
            while self.LIBRARIES.isdisjoint(sys.modules) and looks and not ended.wait(self.PAUSE):
                looks -= 1
            if looks and not ended.is_set():
                import vramscope_probe  # noqa: F401
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
            self.waits_in = 0
        except BaseException:
            pass
        finally:
            over.release()

    def hook(self):
        """Has whatever is to go on behind a fork go on as a pending call of the
        interpreter: Python looks for threads at the fork's very end, and
        threading forgets in a child those that began before. What is called is
        Python's own truth test of this object, queued without a bytecode being
        run (pending.py)."""
        if self.hooked:
            return
        import ctypes
        import functools
        self.hooked = True
        call = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)
        queue = functools.partial(ctypes.pythonapi.Py_AddPendingCall, call, ctypes.c_void_p(id(self)))
        os.register_at_fork(after_in_parent=queue, after_in_child=queue)

    def __bool__(self):
        again, self.again = self.again, False
        if again and self in sys.meta_path:
            self.wait()
        return False  # anything else would be an error of the pending call

    def before_fork(self):
        """Ends the thread: Python warns of a fork beside threads, and this one
        is none of the program's. The probe's own hooks come too late for a fork
        that began before it had started."""
        try:
            over, self.over = self.over, None
            if over is None or not over.locked():
                return
            import time
            self.again, end = True, time.monotonic() + self.FORK_PATIENCE
            self.ended.set()
            over.acquire(True, self.FORK_PATIENCE)
            # The kernel, which Python asks, counts it for a moment longer.
            while os.path.exists("/proc/self/task/%s" % self.native) and time.monotonic() < end:
                time.sleep(0.0002)
            probe = sys.modules.get("vramscope_probe")
            if probe is not None:
                self.again = False
                probe.SESSION._before_fork()
        except BaseException:
            pass

    def forked(self):
        """In a child whose parent loaded a library but had no probe yet."""
        self.over = None
        self.again = "vramscope_probe" not in sys.modules and not self.LIBRARIES.isdisjoint(sys.modules)


class _HandOffMark:
    """Leaves a mark for vramscope run while algan may be handing the script to
    its daemon: where it does, the process ends within that and the mark stays;
    where it does not, algan goes on with modules of its own. Finds none itself."""

    def __init__(self, folder):
        self.folder, self.mark = folder, None

    def find_spec(self, name, path=None, target=None):
        try:
            if name == "algan.daemon_client" and self.mark is None:
                mark = os.path.join(self.folder, str(os.getpid()))
                with open(mark, "w") as file:
                    file.write(os.path.basename(sys.argv[0]))
                self.mark = mark
            elif self.mark and name.startswith("algan."):
                mark, self.mark = self.mark, ""
                os.unlink(mark)
        except BaseException:
            pass
        return None


def _is_there(name):
    """Whether a module can be found, for every Python that may come by: a render's
    scripts start older ones, too."""
    try:
        from importlib.util import find_spec
    except ImportError:
        import imp
        try:
            imp.find_module(name)
        except ImportError:
            return False
        return True
    return find_spec(name) is not None


def _hand_on():
    """Runs the sitecustomize that this one hides. Meanwhile this one's folder is
    nowhere to be found; children find it again afterwards."""
    own = os.path.dirname(os.path.abspath(__file__))
    here = sys.modules.pop("sitecustomize", None)
    path, variable = sys.path[:], os.environ.get("PYTHONPATH", "")
    entries = variable.split(os.pathsep)
    sys.path[:] = [entry for entry in path if os.path.abspath(entry or ".") != own]
    os.environ["PYTHONPATH"] = os.pathsep.join(e for e in entries if os.path.abspath(e or ".") != own)
    try:
        if _is_there("sitecustomize"):
            import sitecustomize  # noqa: F401
    finally:
        sys.path.insert(path.index(own) if own in path else 0, own)
        if variable:
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))
        else:
            os.environ.pop("PYTHONPATH", None)
        sys.modules.setdefault("sitecustomize", here)


try:
    if sys.version_info >= (3, 9) and os.environ.get("VRAMSCOPE_TARGET") and os.environ.get("VRAMSCOPE_PROBE") != "0":
        _starter = _ProbeStarter()
        sys.meta_path.insert(0, _starter)
        os.register_at_fork(before=_starter.before_fork, after_in_child=_starter.forked)
        if os.environ.get("VRAMSCOPE_HAND_OFFS"):
            sys.meta_path.insert(0, _HandOffMark(os.environ["VRAMSCOPE_HAND_OFFS"]))
except BaseException:
    pass
_hand_on()
