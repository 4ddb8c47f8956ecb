"""What the main thread does between two bytecodes, as soon as Python lets it.

The interpreter's list of pending calls takes a C function and an address. The
function is its own PyObject_IsTrue, and the address an object whose truth is
asked for: so the work is Python, and what a signal raises in the middle of it
goes on into the program, as from anywhere else. A callback made by ctypes would
print it and forget it.
"""
import ctypes
import functools
import signal


class PendingCall:
    """Has the main thread run action, again and again as it is queued. action
    raises only what is to be raised in the program. It must live as long as it
    may be queued: make it once, for good."""

    def __init__(self, action):
        self._action = action
        #: Queues it without a bytecode being run, so that it happens behind
        #: whatever C code calls this.
        self.enqueue = functools.partial(
            ctypes.pythonapi.Py_AddPendingCall,
            ctypes.c_void_p(ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p).value),
            ctypes.c_void_p(id(self)))

    def queue(self):
        """Whether the list had room. The call comes soon, but not before the
        end of a long call into C."""
        return self.enqueue() == 0

    def __bool__(self):
        self._action()
        return False  # anything else would be an error


def of_a_signal(error):
    """Whether an exception came from a signal handler of the program, which ran
    in the middle of the probe's work and meant the program."""
    if not isinstance(error, Exception):
        return True
    handlers = [getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()]
    trace = error.__traceback__
    while trace is not None:
        if any(trace.tb_frame.f_code is code for code in handlers):
            return True
        trace = trace.tb_next
    return False
