"""Which calls of the driver spoil the capture of a CUDA graph that another thread
has begun, on a GPU.

A stream is captured in the mode that torch's graphs have by default (global); a
second thread makes one call, as the probe's thread would, once as any thread is
and once after cuThreadExchangeStreamCaptureMode(relaxed) on it.

    python3 captures.py

Prints for each call what it returned, and whether the capture held.
"""
import ctypes
import threading

GLOBAL, RELAXED = 0, 2
CUDA = ctypes.CDLL("libcuda.so.1")
CONTEXT, STREAM, POOL = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()


def checked(code):
    """Ends the program where a call that everything stands on fails."""
    if code:
        raise SystemExit("the driver answers %d" % code)


def number():
    return ctypes.byref(ctypes.c_uint64())


def memory_info():
    return CUDA.cuMemGetInfo_v2(number(), number())


def pool_attribute(attribute):
    return lambda: CUDA.cuMemPoolGetAttribute(POOL, attribute, number())


def allocation():
    pointer = ctypes.c_uint64()
    return CUDA.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) or CUDA.cuMemFree_v2(pointer)


def primary_context():
    context = ctypes.c_void_p()
    return (CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or CUDA.cuCtxPushCurrent_v2(context)
            or CUDA.cuCtxPopCurrent_v2(ctypes.byref(context)) or CUDA.cuDevicePrimaryCtxRelease_v2(0))


CALLS = {
    "nothing": lambda: 0,
    "cuDeviceGetCount": lambda: CUDA.cuDeviceGetCount(number()),
    "cuDeviceGetUuid_v2": lambda: CUDA.cuDeviceGetUuid_v2(ctypes.create_string_buffer(16), 0),
    "cuDeviceGetName": lambda: CUDA.cuDeviceGetName(ctypes.create_string_buffer(99), 99, 0),
    "cuDevicePrimaryCtxGetState": lambda: CUDA.cuDevicePrimaryCtxGetState(0, number(), number()),
    "cuCtxGetCurrent": lambda: CUDA.cuCtxGetCurrent(number()),
    "cuDevicePrimaryCtxRetain, push, pop, release": primary_context,
    "cuDeviceGetDefaultMemPool": lambda: CUDA.cuDeviceGetDefaultMemPool(number(), 0),
    "cuMemPoolGetAttribute, reserved": pool_attribute(5),
    "cuMemPoolGetAttribute, reserved high": pool_attribute(6),
    "cuMemPoolGetAttribute, used": pool_attribute(7),
    "cuMemPoolGetAttribute, used high": pool_attribute(8),
    "cuMemPoolSetAttribute, used high = 0": lambda: CUDA.cuMemPoolSetAttribute(POOL, 8, number()),
    "cuMemPoolTrimTo": lambda: CUDA.cuMemPoolTrimTo(POOL, ctypes.c_size_t(0)),
    "cuMemGetInfo_v2": memory_info,
    "cuMemAlloc_v2, cuMemFree_v2": allocation,
    "cuCtxSynchronize": lambda: CUDA.cuCtxSynchronize(),
}


def beside_a_capture(call, mode):
    """(what the call returned, whether the capture held)."""
    returned, graph = [], ctypes.c_void_p()

    def beside():
        CUDA.cuCtxSetCurrent(CONTEXT)
        if mode is not None:
            returned.append(CUDA.cuThreadExchangeStreamCaptureMode(ctypes.byref(ctypes.c_int(mode))))
        returned.append(call())
    checked(CUDA.cuStreamBeginCapture_v2(STREAM, GLOBAL))
    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    ended = CUDA.cuStreamEndCapture(STREAM, ctypes.byref(graph))
    if graph.value:
        CUDA.cuGraphDestroy(graph)
    return returned, ended == 0


def main():
    checked(CUDA.cuInit(0))
    checked(CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(CONTEXT), 0))
    checked(CUDA.cuCtxSetCurrent(CONTEXT))
    checked(CUDA.cuStreamCreate(ctypes.byref(STREAM), 1))
    checked(CUDA.cuDeviceGetDefaultMemPool(ctypes.byref(POOL), 0))
    print("%-48s %-24s %s" % ("", "as any thread", "relaxed"))
    for name, call in CALLS.items():
        told = ["%s, %s" % (returned, "held" if held else "SPOILT") for returned, held in (
            beside_a_capture(call, None), beside_a_capture(call, RELAXED))]
        print("%-48s %-24s %s" % (name, *told))


if __name__ == "__main__":
    main()
