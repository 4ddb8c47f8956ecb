"""When memory is short: the predicates that the release policy goes by.

The constants are those of the renders that the policy comes from; strict and
inclusive comparisons are kept as they are there.
"""
import ctypes
import os

from .descriptors import read_file
from .device import DRIVER, gpus_of

#: Emptying a cache of less, in bytes, is not worth the wait without force.
MINIMUM_RECLAIMABLE = 128 << 20

#: A device is under pressure when more of it is used.
GPU_PRESSURE = 0.8
#: A control group, when this much of its limit is used.
CGROUP_PRESSURE = 0.60
#: The host, when no more of it is available.
HOST_AVAILABLE = 0.15
#: A control group's limit from which it has none, bytes.
CGROUP_UNLIMITED = 1 << 60


def gpu_pressure(device):
    """Why a device (a UUID, or "" for any that this process uses) is under
    pressure, or "". On the main thread only."""
    for ordinal in gpus_of(device):
        info = DRIVER.memory_info(ordinal)
        if info is None:
            continue  # no context of ours: nothing of ours lies there
        free, total = info
        if total - free > GPU_PRESSURE * total:
            return "device %d: %d %% are used" % (ordinal, 100 * (total - free) // total)
    return ""


def host_pressure(root="/"):
    """Why the host is under pressure, or "". root is the file system's."""
    usage = cgroup_memory(root)
    if usage is not None:
        current, limit = usage
        if current >= CGROUP_PRESSURE * limit:
            return "host: the control group uses %d %% of its limit" % (100 * current // limit)
    total, available = host_memory(root)
    if not total or available is None:
        return ""
    if available <= HOST_AVAILABLE * total:
        return "host: %d %% are available" % (100 * available // total)
    return ""


def host_capacity(root="/"):
    """(total, available) bytes of the host that this process can have: the
    machine's, or its control group's where that has less left; (0, 0) where
    neither is told."""
    total, available = host_memory(root)
    usage = cgroup_memory(root)
    if usage is not None:
        current, limit = usage
        if available is None or limit - current < available:
            return limit, max(0, limit - current)
    if not total or available is None:
        return 0, 0
    return total, available


def host_memory(root="/"):
    """(total, available) bytes of the machine, each None where it is not told."""
    found = {}
    for line in _control_file(os.path.join(root, "proc/meminfo")).splitlines():
        name, _, value = line.partition(":")
        fields = value.split()
        if name in ("MemTotal", "MemAvailable") and fields and fields[0].isdigit():
            found[name] = int(fields[0]) << 10
    return found.get("MemTotal"), found.get("MemAvailable")


def cgroup_memory(root="/"):
    """(current, limit) bytes of the control group that limits this process, or
    None where none does: the root of version 2, then each group of
    /proc/self/cgroup; the first with a positive usage and a limit counts."""
    mount = os.path.join(root, "sys/fs/cgroup")
    candidates = [(mount, "memory.current", "memory.max")]
    for line in _control_file(os.path.join(root, "proc/self/cgroup")).splitlines():
        hierarchy, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if ".." in group.split("/"):
            continue  # outside of what this process can see
        if hierarchy == "0" and not controllers:
            candidates.append((mount + group, "memory.current", "memory.max"))
        elif "memory" in controllers.split(","):
            candidates.append((mount + "/memory" + group, "memory.usage_in_bytes", "memory.limit_in_bytes"))
    for folder, current_name, limit_name in candidates:
        current = _positive_in(os.path.join(folder, current_name))
        limit = _positive_in(os.path.join(folder, limit_name))
        if current and limit and limit < CGROUP_UNLIMITED:
            return current, limit
    return None


def trim_host():
    """Has the C library give its free memory back to the system; None where it
    has no such call."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (OSError, AttributeError):
        return None


def _positive_in(path):
    text = _control_file(path).strip()
    return int(text) if text.isdigit() else 0


def _control_file(path):
    """A small text file, or nothing where it cannot be read."""
    try:
        return read_file(path, 64 << 10).decode("ascii", "replace")
    except OSError:
        return ""
