"""What the scripts of the scope tests begin with: the parts of the probe that
fold scopes, driven by hand, so that a test chooses what happens between two
looks. Everything goes into the recording beside this script, line by line.
"""
import json
import os
import sys

sys.path.insert(0, os.environ["STANDINS"])

import vramscope_probe as probe

OUTLET = probe.OUTLET
SOURCE = "pid:1-1"
FILE = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "records.vscope"), "w")


def write(record):
    line = {"t": record["t"], "src": SOURCE}
    line.update(record)
    FILE.write(json.dumps(line, separators=(",", ":")) + "\n")


def publish(record):
    """Writes a record as the probe's core does: a bare state asks for one."""
    if record["t"] == "state":
        look()
    else:
        write(record)


def drain():
    """Folds what the program has said, as the probe's thread does."""
    for adapter in probe.ADAPTERS:
        adapter.drain(write_without_state)


def write_without_state(record):
    if record["t"] != "state":
        write(record)


def look():
    """Writes a state of this moment."""
    drain()
    state = {"t": "state", "ns": probe.monotonic(), "arenas": [], "pools": [], "nonarena": []}
    for adapter in probe.ADAPTERS:
        for key, value in adapter.state().items():
            if isinstance(value, list):
                state[key] += value
            else:
                state[key] = value
    drain()
    write(state)


def sample():
    """Writes a sample of this moment."""
    sets = probe.Sets()
    for adapter in probe.ADAPTERS:
        if adapter.library() is not None:
            adapter.sample(sets)
    write({"t": "s", "ns": probe.monotonic(), "seq": 1, "sets": sets.sets})


def command(method, *arguments):
    """Has every adapter do its part of a command, and writes what the reports
    say as an answer."""
    report = probe.Report()
    for adapter in probe.ADAPTERS:
        if adapter.name in ("arena", "algan", "vibespatial") and (not adapter.module or adapter.library() is not None):
            getattr(adapter, method)(report, *arguments)
    ack = {"t": "ack", "ns": probe.monotonic(), "id": "1", "st": "done", "result": report.lines}
    if report.acted is not None:
        ack["acted"] = report.acted
    write(ack)


def end():
    FILE.close()
    print("done")


class Arena:
    """A bump arena in host memory with the rules of the specification: it
    moves pointers and notes each step."""

    def __init__(self, length, name="arena"):
        self.length = length
        self.current_pointer, self.current_reverse_pointer, self.max_pointer = 0, length, 0
        self.marks = []
        self.handle = probe.arena(name, self)

    def alloc(self, size, item=1, dtype="", caller=""):
        end = -(-self.current_pointer // item) * item + size
        if end > self.current_reverse_pointer:
            self.handle.fail(size, item, reason="full")
            return
        self.current_pointer = end
        self._peak()
        self.handle.alloc(size, item, dtype=dtype, caller=caller)

    def persist(self, size, item=1, dtype="", caller=""):
        start = self.current_reverse_pointer // item * item - size
        if start < self.current_pointer:
            self.handle.fail(size, item, persist=True, reason="full")
            return
        self.current_reverse_pointer = start
        self._peak()
        self.handle.alloc(size, item, persist=True, dtype=dtype, caller=caller)

    def _peak(self):
        self.max_pointer = max(self.max_pointer, self.current_pointer + self.length - self.current_reverse_pointer)

    def push(self, clear=False):
        self.handle.temp_push(clear)
        return (self.current_pointer, self.current_reverse_pointer, clear)

    def pop(self, saved):
        self.current_pointer = saved[0]
        if saved[2]:
            self.current_reverse_pointer = saved[1]
        self.handle.temp_pop()

    def mark(self):
        self.marks.append(self.current_pointer)
        self.handle.mark()

    def restore(self):
        if self.marks:
            self.current_pointer = self.marks.pop()
            self.handle.restore()

    def reset(self, reason=""):
        self.current_pointer, self.current_reverse_pointer, self.max_pointer = 0, self.length, 0
        self.marks = []
        self.handle.reset(reason)


OUTLET.armed = True
