"""The fake driver, for the stand-ins: where FAKE_LIBCUDA says."""
import ctypes
import os

library = ctypes.CDLL(os.environ["FAKE_LIBCUDA"])
library.fake_free.restype = ctypes.c_uint64

TOTAL = int(os.environ.get("FAKE_TOTAL", str(8 << 30)))  # bytes of a device
COUNT = int(os.environ.get("FAKE_DEVICES", "1"))
_started = False


def start():
    """Initialises the driver, as the first use of a library does."""
    global _started
    if not _started:
        _started = True
        library.fake_init(COUNT, ctypes.c_uint64(TOTAL))


def forked():
    """Whether this process was forked after the driver was initialised, and so
    cannot use it."""
    return bool(library.fake_forked())


def activate(ordinal):
    """Makes the context of a device, as the first allocation on it does."""
    start()
    if forked():
        raise RuntimeError("cudaErrorInitializationError: initialization error")
    library.fake_activate(ordinal)


def take(ordinal, size):
    """Takes bytes from a device; False where it has no more."""
    activate(ordinal)
    return library.fake_take(ordinal, ctypes.c_uint64(size)) == 0


def give(ordinal, size):
    """Gives bytes back."""
    library.fake_give(ordinal, ctypes.c_uint64(size))


def pool_alloc(ordinal, size):
    """Takes bytes from a device's default pool."""
    activate(ordinal)
    return library.fake_pool_alloc(ordinal, ctypes.c_uint64(size)) == 0


def pool_free(ordinal, size):
    """Gives them back to it."""
    library.fake_pool_free(ordinal, ctypes.c_uint64(size))


def free(ordinal=0):
    """Bytes that a device has free."""
    return library.fake_free(ordinal)


def trim(ordinal=0):
    """Gives what the default pool does not use back, as the libraries do."""
    pool = ctypes.c_void_p()
    library.cuDeviceGetDefaultMemPool(ctypes.byref(pool), ordinal)
    library.cuMemPoolTrimTo(pool, ctypes.c_size_t(0))


def contexts_made():
    """Contexts that somebody made by asking."""
    return library.fake_contexts_made()


def capture(on):
    """Begins the capture of a CUDA graph, or ends it: what somebody asks of a
    memory pool meanwhile spoils it, as in the real driver."""
    library.fake_capture(int(on))


def spoilt():
    """Calls that have spoilt a capture."""
    return library.fake_spoilt()


def capture_mode():
    """How the calling thread's calls are held against captures: 0 as any is."""
    return library.fake_capture_mode()
