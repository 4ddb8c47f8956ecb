"""What a scope costs the render, and what folding it costs the probe's thread.

    vramscope probe > /somewhere/vramscope_probe.py
    PYTHONPATH=/somewhere python3 scopes.py

It prints nanoseconds a call, the smallest of several runs, and how the memory of
the process grows over a million scopes that are recorded.
"""
import os
import sys
import time

os.environ["VRAMSCOPE_PROBE"] = "0"

import vramscope_probe as probe

CALLS = 200_000
RUNS = 7


class Null:
    """A context that does nothing: what any `with` costs."""

    __slots__ = ()

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return False


class Arena:
    current_pointer, current_reverse_pointer, length = 0, 1 << 20, 1 << 20


def empty(calls):
    for _ in range(calls):
        pass


def plain(calls, null=Null()):
    for _ in range(calls):
        with null:
            pass


def made(calls, make=Null):
    for _ in range(calls):
        with make():
            pass


def bare(calls, scope=probe.scope):
    for _ in range(calls):
        with scope("trace"):
            pass


def with_params(calls, scope=probe.scope):
    for _ in range(calls):
        with scope("trace", frames=8, scale=0.5):
            pass


def noted(calls):
    alloc = HANDLE.alloc
    for _ in range(calls):
        alloc(256, 4)


def drain():
    for _ in range(1 + len(probe.OUTLET.entries) // 1000):
        probe.ARENA_ADAPTER.drain(lambda record: None)


def cost(what, calls=CALLS):
    """Nanoseconds a call, the loop apart."""
    best = None
    for _ in range(RUNS):
        began = time.thread_time_ns()
        empty(calls)
        loop = time.thread_time_ns()
        what(calls)
        took = time.thread_time_ns() - loop - (loop - began)
        drain()
        best = took if best is None else min(best, took)
    return best / calls


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def folding(scopes):
    """Nanoseconds of processor time that the probe's thread takes a scope, and the growth in bytes over
    that many scopes, the first tenth apart."""
    spent = grown = 0
    for turn in range(scopes // 10_000):
        if turn == scopes // 100_000:
            grown = resident()
        for number in range(10_000):
            with probe.scope(NAMES[number % 7], frames=number % 3):
                pass
        began = time.thread_time_ns()
        drain()
        spent += time.thread_time_ns() - began
    return spent / scopes, resident() - grown


NAMES = ["scope %d" % number for number in range(7)]
TARGET = Arena()
HANDLE = probe.arena("bench", TARGET)

print("Python %s" % sys.version.split()[0])
print("a with of a null object           %7.1f ns" % cost(plain))
print("a with of a new object            %7.1f ns" % cost(made))
probe.OUTLET.armed = False
print("scope, nobody watches             %7.1f ns" % cost(bare))
print("scope with 2 parameters, nobody   %7.1f ns" % cost(with_params))
print("alloc note, nobody watches        %7.1f ns" % cost(noted))
probe.OUTLET.armed = True
print("scope, recorded                   %7.1f ns" % cost(bare, 20_000))
print("scope with 2 parameters, recorded %7.1f ns" % cost(with_params, 20_000))
print("alloc note, recorded              %7.1f ns" % cost(noted, 20_000))
folded, grown = folding(1_000_000)
print("folding a scope, probe's thread   %7.1f ns" % folded)
print("memory over 1,000,000 scopes      %+7.1f KiB" % (grown / 1024))
print("entries lost                      %7d" % probe.OUTLET.lost)
