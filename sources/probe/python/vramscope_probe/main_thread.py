"""Runs something on the main thread as soon as Python lets it, between bytecodes.

What attaches to an allocator must not do so in the middle of one of its calls on
another thread.
"""
import collections
import ctypes

_MAIN_CALLS = collections.deque()


def _run_main_call(_):
    try:
        _MAIN_CALLS.popleft()()
    except KeyboardInterrupt:  # a signal that came meanwhile is the program's
        ctypes.pythonapi.PyErr_SetInterrupt()
    except BaseException:
        pass
    return 0


# The interpreter keeps only the address of what it is to call.
_MAIN_CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_run_main_call)


def on_main_thread(call):
    """Has the main thread run call, which must catch what it can; False where the
    interpreter's list is full. It returns at once and knows no bound in time: a
    long call into C comes first."""
    _MAIN_CALLS.append(call)
    if ctypes.pythonapi.Py_AddPendingCall(_MAIN_CALL, None) == 0:
        return True
    try:
        _MAIN_CALLS.remove(call)
    except ValueError:
        pass
    return False
