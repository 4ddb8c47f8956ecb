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
        if adapter.name in ("", "arena", "algan", "vibespatial") and adapter.library() is not None:
            getattr(adapter, method)(report, *arguments)
    ack = {"t": "ack", "ns": probe.monotonic(), "id": "1", "st": "done", "result": report.lines}
    if report.acted is not None:
        ack["acted"] = report.acted
    write(ack)


def end():
    FILE.close()
    print("done")


OUTLET.armed = True
