"""What a sample costs the probe's thread beside a render that never lets go of the
interpreter, with the torch and the driver of testdata/standins.

    vramscope probe > /somewhere/vramscope_probe.py
    python3 sampling.py VRAMSCOPE /somewhere [/another ...]

VRAMSCOPE is the program that reads, each folder holds a vramscope_probe.py; two
of them are compared in turns. For each it prints the processor time of the
probe's thread for one sample, everything that a turn of the thread does included,
how often the thread gave the processor away, and where the time goes.
"""
import collections
import json
import marshal
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
SECONDS = 4.0  # of one measurement
PARTS = (("server", "turn"), ("sampler", "drain"), ("sampler", "sample"), ("server", "flush"), ("", "_look_around"), ("", "_settle"))
STANDINS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testdata", "standins")


def within(probe, times):
    """Has the parts of a turn add their processor time, nanoseconds, to times."""
    def timed(owner, name):
        function = getattr(owner, name)

        def run(*arguments, **named):
            began = time.thread_time_ns()
            try:
                return function(*arguments, **named)
            finally:
                times[name] += time.thread_time_ns() - began
        setattr(owner, name, run)
    service = probe.SESSION.service
    for owner, name in PARTS:
        timed(getattr(service, owner) if owner else service, name)


def switches(thread):
    """How often a thread gave the processor away of its own accord."""
    with open("/proc/self/task/%d/status" % thread.native_id) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("voluntary"))


def reads(path):
    """Whether samples arrive in a recording."""
    try:
        with open(path, "rb") as file:
            return sum(b'"t":"s"' in line for line in file) > 2
    except OSError:
        return False


def measure(binary, folder, in_parts):
    """Microseconds a sample as {what: microseconds}, in a process of its own."""
    sys.path[:0] = [STANDINS, folder]
    import driver  # noqa: F401 - the stand-in of torch needs it
    import torch
    held = torch.empty(1 << 20, device="cuda")
    # torch makes this dict in C++; that of the stand-in is made in Python.
    counters = marshal.dumps(torch._C._cuda_memoryStats(0))
    torch._C._cuda_memoryStats = lambda ordinal: marshal.loads(counters)
    import vramscope_probe as probe
    service, times = probe.SESSION.service, collections.Counter()
    if in_parts:
        within(probe, times)
    file = os.path.join(os.environ["VRAMSCOPE_SOCKET_DIR"], "%d.vscope" % os.getpid())
    reader = subprocess.Popen([binary, "record", "-o", file, "pid:%d" % os.getpid()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not reads(file):
            if time.monotonic() > deadline:
                raise SystemExit("the reader got no sample within 20 s")
            time.sleep(0.02)
        thread = service._thread
        clock = time.pthread_getcpuclockid(thread.ident)
        times.clear()
        number, before, given = service.sampler.number, time.clock_gettime_ns(clock), switches(thread)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            pass
        samples = service.sampler.number - number
        result = {"a sample": (time.clock_gettime_ns(clock) - before) / samples / 1e3,
                  "switches": (switches(thread) - given) / samples}
        result.update((name, spent / samples / 1e3) for name, spent in times.items())
    finally:
        reader.terminate()
        reader.wait()
    del held
    return result


def main():
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(sys.argv[2], sys.argv[3], sys.argv[4] == "parts")))
        return
    binary, folders = os.path.abspath(sys.argv[1]), [os.path.abspath(folder) for folder in sys.argv[2:]]
    with tempfile.TemporaryDirectory(prefix="vs") as directory:
        library = os.path.join(directory, "libcuda.so.1")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(STANDINS, "driver", "libcuda.c")], check=True)
        environment = dict(os.environ, FAKE_LIBCUDA=library, VRAMSCOPE_SOCKET_DIR=directory, VRAMSCOPE_RATE="10")
        results = {folder: [] for folder in folders}
        parts = {}
        for turn in range(ROUNDS + 1):
            for folder in folders:
                command = [sys.executable, __file__, "--measure", binary, folder, "whole" if turn < ROUNDS else "parts"]
                told = json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)
                if turn < ROUNDS:
                    results[folder].append(told)
                else:
                    parts[folder] = told
    for folder in folders:
        costs = sorted(told["a sample"] for told in results[folder])
        print("%s: %.0f us a sample (%.0f to %.0f in %d runs), %.1f switches" % (
            folder, statistics.median(costs), costs[0], costs[-1], len(costs),
            statistics.median(told["switches"] for told in results[folder])))
        for name, spent in sorted(parts[folder].items(), key=lambda part: -part[1]):
            if name not in ("a sample", "switches"):
                print("    %-14s %6.1f us" % (name, spent))


if __name__ == "__main__":
    main()
