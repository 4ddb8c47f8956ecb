"""The commands of the record format, over every library of this process.

They run on the main thread at a safe point. What an allocator cannot do is said
in a line of its own and not faked.
"""
import gc
import os
import time

from .adapter import ADAPTERS, Adapter, Sets, plural
from .arena_adapter import ARENA_ADAPTER
from .calibration import NothingRecorded, write_calibration
from .device_memory import DEVICE_MEMORY
from .device import DRIVER, INHERITED, DriverFree, gpus_of, on_gpu
from .resident_set import resident_bytes
from .torch_private_pools import PRIVATE_POOLS
from .pressure import gpu_pressure, host_capacity, host_pressure, trim_host

#: What headroom is checked at where the command names no fraction.
HEADROOM_FRACTION = 0.15

#: The method of an adapter that a command needs, and what is missing without.
COMMAND_METHODS = {
    "reclaim": ("reclaim", "no library that keeps freed memory is loaded yet"),
    "force-reclaim": ("reclaim", "no library that keeps freed memory is loaded yet"),
    "rebuild": ("rebuild", "no library with a pool is loaded yet"),
    "reset-peak": ("reset_peak", "no library that counts peaks is loaded yet"),
    "headroom": ("reclaim", "no library that keeps freed memory is loaded yet"),
    "snapshot": ("snapshot", "torch is not loaded, and only torch can write one"),
    "record-on": ("record", "nothing that records events is loaded yet"),
    "record-off": ("record", "nothing that records events is loaded yet"),
}


def offered():
    """(commands that are obeyed, {command: why not} for the others)."""
    commands, refused = ["calibration"], {}
    refusals = [(adapter, _refusals(adapter)) for adapter in ADAPTERS if _is_present(adapter)]
    for command, (method, missing) in COMMAND_METHODS.items():
        able = [refusal.get(command, "") for adapter, refusal in refusals
                if getattr(type(adapter), method) is not getattr(Adapter, method)]
        if "" in able:
            commands.append(command)
        else:
            refused[command] = able[0] if able else missing
    return commands, refused


def capturing():
    """Why no command may touch a device now, or ""."""
    for adapter in ADAPTERS:
        if _is_present(adapter):
            reason = adapter.capturing()
            if reason:
                return reason
    return ""


def perform(command, args, report):
    """Carries a command out and tells the report; the counter sets before it and
    after it. args are those of the record format."""
    device = args.get("dev") or ""
    if device and DRIVER.devices() and not gpus_of(device):
        report.fail("this process sees no device %.60s: ask one of those that it named" % device)
        return [], []
    before = counter_sets()
    COMMANDS[command](device, args, report)
    return before, counter_sets()


def counter_sets():
    """A sample of every library and of the driver's own view of each device."""
    DEVICE_MEMORY.look()
    try:
        PRIVATE_POOLS.look()
    except Exception:
        pass  # a library's own trouble, of which the sampler tells
    return _sampled()


def _sampled():
    """A sample of every library, and what was read of the devices last."""
    out = Sets()
    for adapter in ADAPTERS:
        if _is_present(adapter):
            try:
                adapter.sample(out)
            except Exception:
                pass  # the sampler tells of it
    return out.sets


def _is_present(adapter):
    """An adapter that names no module and looks for none stands for itself."""
    if not adapter.module and type(adapter).library is Adapter.library:
        return True
    return adapter.library() is not None


def _refusals(adapter):
    """What a library cannot obey; of one that cannot even say so, nothing."""
    try:
        return adapter.refusals()
    except Exception:
        return {}


def _each(report, device_method, *arguments):
    """Has every library do its part; what one raises is told and stops no
    other."""
    for adapter in ADAPTERS:
        if not _is_present(adapter):
            continue
        try:
            getattr(adapter, device_method)(report, *arguments)
        except Exception as error:
            report.line("%s: it failed" % adapter.name, why="%s: %s" % (type(error).__name__, str(error)[:300]))


def _collect(report, device):
    """Has Python find what only cycles keep alive, and tells what that has freed
    on a device, or on every one for "": it stays with the allocators."""
    counted, before = _in_use(device)
    what, took = _garbage()
    counted_then, after = _in_use(device)
    if counted and counted_then == counted:
        report.line("%s: %s" % (what, counted), before, after, took=took)
    else:
        report.line(what, took=took)


def _garbage():
    """Collects it, which runs finalisers here; what was done, and nanoseconds."""
    began = time.monotonic_ns()
    found = gc.collect()
    return "collect garbage, " + plural(found, "unreachable object"), time.monotonic_ns() - began


def _in_use(device):
    """(what is counted, bytes) of what a collection can make less: what is
    allocated from the outermost allocators of a device, or of all for "", that
    tell; the resident set of a process that uses no device; else ("", None)."""
    sets = _sampled()
    if _is_on_the_host(sets):
        resident = resident_bytes()
        return ("" if resident is None else "resident set"), resident
    pools = {entry["id"] for entry in sets if entry["of"] == "pool"}
    told = [entry["c"]["allocated"] for entry in sets if entry["id"] in pools and entry.get("in") not in pools
            and "allocated" in entry["c"] and (not device or entry.get("dev") == device)]
    return ("allocated", sum(told)) if told else ("", None)


def _is_on_the_host(sets):
    """Whether nothing of the counter sets lies on a device. In a process that sees
    no device, an arena that names none lies on the host."""
    unplaced = () if DRIVER.devices() else ARENA_ADAPTER.unplaced()
    return all(entry.get("dev") == "host" or entry["id"] in unplaced for entry in sets)


def _reclaim(device, args, report):
    """The release policy without force: what pressure calls for."""
    host, gpu = host_pressure(), gpu_pressure(device)
    if not host and not gpu:
        report.acted = False
        report.why = "nothing calls for it: neither the device nor the host is short of memory; force reclaim does it all the same"
        return
    _collect(report, device)
    report.acted = True
    lines = len(report.lines)
    _each(report, "reclaim", device, False)
    if len(report.lines) == lines:
        report.line("caches were kept", why="none holds 128 MiB, and emptying less is not worth the wait; force reclaim does it all the same")
    if host:
        began = time.monotonic_ns()
        trimmed = trim_host()
        report.line("give free host memory back", why="" if trimmed else "the C library had none to give", took=time.monotonic_ns() - began)
    report.why = " and ".join(filter(None, (gpu, host)))


def _force_reclaim(device, args, report):
    """Garbage first, then every cache."""
    _collect(report, device)
    _each(report, "reclaim", device, True)
    report.acted = True


def _rebuild(device, args, report):
    report.acted = False
    _collect(report, device)
    lines = len(report.lines)
    _each(report, "rebuild", device)
    if len(report.lines) == lines:
        report.why = "no library of this process has a pool of a device's memory now"
    refused = [line["why"] for line in report.lines if line["what"].endswith("not rebuilt") and line.get("why")]
    if not report.acted and refused:
        report.fail(refused[0])


def _reset_peak(device, args, report):
    report.acted = False
    _each(report, "reset_peak", device)
    if not report.lines:
        report.why = "no library of this process counts a peak of a device's memory now"


def _headroom(device, args, report):
    """Empties the caches of a device that has less than a fraction free, for
    allocators that cannot use what others have cached."""
    fraction = args.get("fraction") or HEADROOM_FRACTION
    if not 0 < fraction <= 1:
        report.fail("a fraction of %g means nothing: ask for more than 0 and at most 1" % fraction)
        return
    report.acted = False
    known = 0
    for gpu in DRIVER.devices():
        info = DRIVER.memory_info(gpu.ordinal)
        if info is None or device and gpu.uuid != device:
            continue
        known += 1
        free, total = info
        if free >= fraction * total:
            report.line("headroom check at %g %%: driver free%s" % (fraction * 100, on_gpu(gpu.ordinal)), free, free, 0)
            continue
        measured = DriverFree([gpu.ordinal])
        _each(report, "reclaim", gpu.uuid, True)
        measured.done()
        short = measured.after is not None and measured.after < fraction * total
        measured.line(report, "headroom check at %g %%" % (fraction * 100),
                      "still under it: what is left is in use" if short else "")
        report.acted = True
    if known:
        return
    if device in ("", "host") and _is_on_the_host(counter_sets()):
        _host_headroom(fraction, report)
    else:
        report.fail(INHERITED if DRIVER.forked else "no device of this process has a CUDA context yet, so nothing could be checked: ask again once the render runs")


def _host_headroom(fraction, report):
    """The same for a program that has no memory but the host's."""
    total, available = host_capacity()
    if not total:
        report.fail("this process uses no device, and the system does not tell how much host memory there is, so nothing could be checked")
        return
    what = "headroom check at %g %%: host memory available" % (fraction * 100)
    if available >= fraction * total:
        report.line(what, available, available, why="this process uses no device's memory, so the host's counts")
        return
    what_was_collected, took = _garbage()
    report.line(what_was_collected, took=took)  # the line below tells what it freed
    _each(report, "reclaim", "", True)
    trim_host()
    after = host_capacity()[1]
    report.line(what, available, after, why="still under it: what is left is in use" if after < fraction * total else "")
    report.acted = True


def _snapshot(device, args, report):
    """Writes what the first library that can writes."""
    path = args.get("path") or _snapshot_path()
    if not os.path.isabs(path):
        report.fail("a snapshot needs an absolute path of a file that is not there yet")
        return
    if os.path.lexists(path):
        report.fail("%.200s is there already: name a new file" % path)
        return
    for adapter in ADAPTERS:
        if _is_present(adapter) and type(adapter).snapshot is not Adapter.snapshot:
            reason = adapter.refusals().get("snapshot")
            if reason:
                report.fail(reason)
                return
            try:
                adapter.snapshot(report, path)
            except Exception as error:
                report.fail("no snapshot was written: %s: %s" % (type(error).__name__, str(error)[:300]))
            return
    report.fail(COMMAND_METHODS["snapshot"][1])


def _snapshot_path():
    """A new name in the folder for temporary files. The sockets' own folder is
    often memory, and gone at the logout."""
    folder = os.environ.get("TMPDIR") or "/tmp"
    return os.path.join(os.path.abspath(folder), "vramscope-%d-%d.pickle" % (os.getpid(), time.time_ns()))


def _record_on(device, args, report):
    _each(report, "record", True)


def _record_off(device, args, report):
    _each(report, "record", False)


def _calibration(device, args, report):
    path = args.get("path") or ""
    if not os.path.isabs(path):
        report.fail("a calibration dump needs an absolute path of a file that is not there yet")
        return
    try:
        write_calibration(path)
    except NothingRecorded as error:
        report.fail(str(error))
        return
    except Exception as error:
        report.fail("no calibration dump was written: %s: %s" % (type(error).__name__, str(error)[:300]))
        return
    report.path, report.acted = path, True
    report.line("calibration dump", after=os.stat(path).st_size)


#: What carries out each command.
COMMANDS = {
    "reclaim": _reclaim, "force-reclaim": _force_reclaim, "rebuild": _rebuild, "reset-peak": _reset_peak,
    "headroom": _headroom, "snapshot": _snapshot, "record-on": _record_on, "record-off": _record_off,
    "calibration": _calibration,
}
