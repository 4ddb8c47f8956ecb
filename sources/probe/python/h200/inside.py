"""What a program does that is watched from beside it (beside.py): it tells what its
libraries say, stands still while vramscope looks, and goes on.

A program is a case: a function of a script, run as a process of its own.
"""
import ctypes
import gc
import json
import os
import queue
import sys
import threading

MIB = 1 << 20
CASES = {}
LINES = queue.Queue()


def case(**environment):
    """Declares a case and the environment of its process."""
    def declare(function):
        CASES[function.__name__] = (function, environment)
        return function
    return declare


def run_case(name):
    """Is the process of a case, and its exit code."""
    threading.Thread(target=converse, daemon=True).start()
    CASES[name][0]()
    sys.stdout.flush()
    return 0


def free():
    """The driver's free memory."""
    libcuda = ctypes.CDLL("libcuda.so.1")
    available, total = ctypes.c_size_t(), ctypes.c_size_t()
    code = libcuda.cuMemGetInfo_v2(ctypes.byref(available), ctypes.byref(total))
    return available.value if code == 0 else None


def sync():
    ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()


def converse():
    """Reads what the driver of this test says, beside the main thread."""
    for line in sys.stdin:
        LINES.put(line.strip())
    LINES.put("quit")


def tell(**message):
    sys.stdout.write("TELL " + json.dumps({"pid": os.getpid(), **message}) + "\n")
    sys.stdout.flush()


def stand(poll=None):
    """Stands still until something is said: bytecode runs, so that commands can."""
    while True:
        if poll is not None:
            poll()
        try:
            return LINES.get(timeout=0.005)
        except queue.Empty:
            pass


def measured(call):
    """What a call of the library gives back to the driver, bytes."""
    sync()
    before = free()
    call()
    sync()
    return free() - before


def returned(make, own, poll=None):
    """Makes the same garbage twice: the library's own call clears the first, a
    command from outside the second."""
    gc.collect()
    own()
    kept = make()
    tell(own=measured(own))
    del kept
    gc.collect()
    own()
    kept = make()
    sync()
    before = free()
    tell(ready=True)
    stand(poll)
    sync()
    tell(asked=free() - before)
    del kept


def pool_numbers():
    """The driver's own attributes of its default pool."""
    libcuda, pool, numbers = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), {}
    libcuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0)
    for name, attribute in (("reserved", 5), ("peak_reserved", 6), ("allocated", 7), ("peak_allocated", 8)):
        value = ctypes.c_uint64()
        libcuda.cuMemPoolGetAttribute(pool, attribute, ctypes.byref(value))
        numbers[name] = value.value
    return numbers
