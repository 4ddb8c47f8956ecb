"""Threads of the probe, which the program does not meet.

A thread of the threading module stands in threading.enumerate(), where programs
wait until no other is left and tests look for what was left behind, and is
traced by what was given to threading.settrace(). What runs here must not ask
for threading.current_thread(), which enters it there.
"""
import _thread
import os
import signal
import time

#: Signals that a thread causes itself; the others are left to the program's
#: threads, which may keep one blocked to wait for it.
OWN_SIGNALS = frozenset(getattr(signal, name) for name in (
    "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS", "SIGKILL", "SIGSTOP"))


class BackgroundThread:
    """Runs target(*arguments) once start() is called. What it raises is nobody's
    to see."""

    def __init__(self, target, *arguments):
        self.ident = None  # as the threading module has it
        self.native_id = None  # the kernel's number, once it runs
        self._target, self._arguments = target, arguments
        self._runs = _thread.allocate_lock()  # held until the end
        self._runs.acquire()

    def start(self):
        """Starts it. Raises RuntimeError where the system lets none start."""
        try:
            self.ident = _thread.start_new_thread(self._run, ())
        except BaseException:
            self._runs.release()
            raise

    def is_current(self):
        """Whether it is the one that asks."""
        return self.ident == _thread.get_ident()

    def join(self, patience=-1):
        """Waits for its end, at most patience seconds where that is not below 0."""
        if self._runs.acquire(True, patience):
            self._runs.release()

    def await_end(self, patience):
        """Waits until it has ended for the kernel, too, which counts it for a
        moment longer than Python does; at most patience seconds."""
        end = time.monotonic() + patience
        self.join(patience)
        task = "/proc/self/task/%s" % self.native_id
        while os.path.exists(task) and time.monotonic() < end:
            time.sleep(0.0002)

    def _run(self):
        try:
            self.native_id = _thread.get_native_id()
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - OWN_SIGNALS)
            self._target(*self._arguments)
        except BaseException:
            pass  # there is nobody to tell
        finally:
            self._runs.release()
