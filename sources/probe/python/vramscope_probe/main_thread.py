"""Runs something on the main thread as soon as Python lets it, between bytecodes.

What attaches to an allocator must not do so in the middle of one of its calls on
another thread.
"""
import collections

from .pending import PendingCall, of_a_signal

_MAIN_CALLS = collections.deque()


def _run_main_call():
    try:
        _MAIN_CALLS.popleft()()
    except BaseException as error:
        if of_a_signal(error):  # it came meanwhile, and is the program's
            raise


_MAIN_CALL = PendingCall(_run_main_call)


def on_main_thread(call):
    """Has the main thread run call, which must catch what it can; False where the
    interpreter's list is full. It returns at once and knows no bound in time: a
    long call into C comes first."""
    _MAIN_CALLS.append(call)
    if _MAIN_CALL.queue():
        return True
    try:
        _MAIN_CALLS.remove(call)
    except ValueError:
        pass
    return False
