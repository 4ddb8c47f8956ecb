"""Writes a calibration dump: every arena recorded since recording was armed,
with its events, its scope tree and the transients outside the arenas."""
import os
import stat
import time

from .algan_adapter import ALGAN_ADAPTER
from .arena_adapter import ARENA_ADAPTER
from .identity import identity
from .names import FOLD_LOCK, NAMES
from .wire import MINIMUM_PROTOCOL, PROTOCOL, encode_record, encode_state


class NothingRecorded(Exception):
    """There is nothing to write. It says what to do first."""


def save_calibration(path):
    """Writes what the recorded arenas hold as a calibration dump that vramscope
    opens, and returns True. path is the file, which its owner alone can read; one
    that is there is replaced once the new one is whole. Where nothing was
    recorded, since nobody sent record-on or no arena was named after it, or is
    recorded no more, since record-off forgets it, it writes no file and returns
    False.

    Raises OSError where it cannot be written (a full disk); the file that was
    there is then as it was. The program waits while the trees are copied and
    the file is written; nothing is asked of a device.
    """
    try:
        write_calibration(path)
    except NothingRecorded:
        return False
    return True


def write_calibration(path):
    """The same, but raises NothingRecorded."""
    path = os.fspath(path)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise FileExistsError("%s is no plain file: name another one" % path)
    lines = calibration_lines(*recorded_parts())
    beside = "%s.%d.%d.part" % (path, os.getpid(), time.monotonic_ns())
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for line in lines:
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        try:
            os.unlink(beside)
        except OSError:
            pass
        raise


def recorded_parts():
    """(nanoseconds, parts, strings): what is recorded at this moment. Raises
    NothingRecorded."""
    ns = time.monotonic_ns()
    with FOLD_LOCK:
        parts = [ARENA_ADAPTER.calibration(ns), ALGAN_ADAPTER.calibration(ns)]
        strings = NAMES.everything()
    armed = any(part.armed for part in parts)
    if not any(part.entries or armed and part.peaks for part in parts):  # algan keeps its peaks for good
        if armed:
            raise NothingRecorded("no arena was recorded, since the program has named no arena and opened no scope after "
                                  "recording was armed: ask again once it has, or name them with vramscope_probe.arena() and scope()")
        raise NothingRecorded("no arena is recorded, since recording is not armed: arm it with record-on, let the program "
                              "run on, and ask again before record-off, which forgets what was recorded")
    return ns, parts, strings


def calibration_lines(ns, parts, strings):
    """The lines of a dump of that moment, each with its line feed."""
    facts = identity()
    source = "pid:%d-%d" % (facts["pid"], facts.get("start") or 0)
    head = {"src": source, "ns": ns}
    hello = dict({"t": "hello"}, **head)
    hello.update(facts)
    hello.update(proto=PROTOCOL, min=MINIMUM_PROTOCOL, kind="calibration", wall=time.time_ns())
    yield encode_record(hello)
    for record in strings:
        yield encode_record(with_head(record, head))
    for part in parts:
        for record in part.events():
            yield encode_record(with_head(record, head))
    yield from encode_state(dict({"t": "state"}, **head, **calibration_state(parts, facts["name"])))
    for part in parts:
        for name, size, peak in part.peaks:
            yield encode_record(dict({"t": "peak"}, **head, **{"name": name, "in": size, "peak": peak}))
    yield encode_record(dict({"t": "bye"}, **head, why="calibration dump"))


def with_head(record, head):
    """The record as the source's; its own moment stays."""
    whole = {"t": record["t"]}
    whole.update(head)
    whole.update(record)
    return whole


def calibration_state(parts, program):
    """The arenas of all parts as one state."""
    state = {"arenas": []}
    for part in parts:
        for entry in part.entries:
            state["arenas"].append(dict(entry, **{"from": program, "recorded": True}))
        for key, value in (("dropped", part.dropped), ("pdropped", part.dropped_peaks)):
            if value:
                state[key] = state.get(key, 0) + value
        if part.armed:
            state["rec"] = True
    return state
