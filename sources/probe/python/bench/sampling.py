"""What a sample costs the probe's thread beside a render that never lets go of the
interpreter, with the torch and the driver of testdata/standins, and one reader.

    vramscope probe > /somewhere/vramscope_probe.py
    python3 sampling.py /somewhere [/another ...]

Each folder holds a vramscope_probe.py. For each it prints the processor time of the
probe's thread for one sample, everything that a turn of the thread does included,
how often the thread gave the processor away, how it compares with the first folder,
and where the time goes. A machine's speed wanders by more than two probes differ:
so each has a process, and they run in turns of a second, all but one stopped.
"""
import collections
import gc
import json
import marshal
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 40  # turns of each process
WARM, SECONDS = 0.25, 1.0  # of a turn: before it is measured, and measured
PARTS = (("server", "turn"), ("server", "publish_sample"), ("sampler", "drain"), ("sampler", "sample"), ("server", "flush"),
         ("", "_look_around"), ("", "_settle"))
STANDINS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testdata", "standins")
READER = """
import socket, sys
reader = socket.socket(socket.AF_UNIX)
reader.connect(sys.argv[1])
reader.sendall(b'{"t":"hello","src":"bench","ns":1,"proto":1,"min":1,"want":["ev"]}\\n')
while reader.recv(1 << 16):
    pass
"""


class Measured:
    """The process with the probe of a folder, from within."""

    def __init__(self, folder, in_parts):
        sys.path[:0] = [STANDINS, folder]
        import driver  # noqa: F401 - the stand-in of torch needs it
        import torch
        self.held = torch.empty(1 << 20, device="cuda")
        # torch makes this dict in C++; that of the stand-in is made in Python.
        counters = marshal.dumps(torch._C._cuda_memoryStats(0))
        torch._C._cuda_memoryStats = lambda ordinal: marshal.loads(counters)
        import vramscope_probe as probe
        self.service, self.times = probe.SESSION.service, collections.Counter()
        if in_parts:
            self.time_parts()
        self.reader = subprocess.Popen([sys.executable, "-S", "-E", "-c", READER, self.service.server.path])
        first, deadline = self.service.sampler.number + 10, time.monotonic() + 20
        while self.service.sampler.number < first:
            if time.monotonic() > deadline:
                raise SystemExit("the probe made no ten samples within 20 s")
            time.sleep(0.02)

    def time_parts(self):
        """Has the parts of a turn add their processor time, nanoseconds, to times."""
        def timed(owner, name):
            function = getattr(owner, name)

            def run(*arguments, **named):
                began = time.thread_time_ns()
                try:
                    return function(*arguments, **named)
                finally:
                    self.times[name] += time.thread_time_ns() - began
            setattr(owner, name, run)
        for owner, name in PARTS:
            timed(getattr(self.service, owner) if owner else self.service, name)

    def turn(self):
        """Microseconds a sample as {what: microseconds}, and the switches."""
        spin(WARM)
        thread, sampler = self.service._thread, self.service.sampler
        clock = time.pthread_getcpuclockid(thread.ident)
        self.times.clear()
        number, before, given = sampler.number, time.clock_gettime_ns(clock), switches(thread)
        spin(SECONDS)
        samples = sampler.number - number
        told = {"a sample": (time.clock_gettime_ns(clock) - before) / samples / 1e3,
                "switches": (switches(thread) - given) / samples}
        told.update((name, spent / samples / 1e3) for name, spent in self.times.items())
        return told

    def serve(self):
        """Takes a turn for each line of the standard input."""
        gc.disable()
        print("ready", flush=True)
        for _ in sys.stdin:
            print(json.dumps(self.turn()), flush=True)
        self.reader.kill()
        self.reader.wait()


def spin(seconds):
    """What a render does that never lets go of the interpreter."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def switches(thread):
    """How often a thread gave the processor away of its own accord."""
    with open("/proc/self/task/%d/status" % thread.native_id) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("voluntary"))


class Contender:
    """The process with the probe of a folder, from outside. It stands still between
    its turns."""

    def __init__(self, folder, environment, in_parts=False):
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, __file__, "--measure", folder, "parts" if in_parts else "whole"], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("the process with the probe of %s did not start" % folder)
        self.process.send_signal(signal.SIGSTOP)

    def turn(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        self.process.send_signal(signal.SIGSTOP)
        return told

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def compare(folders, environment):
    """Prints what a sample costs with the probe of each folder."""
    contenders, told = [Contender(folder, environment) for folder in folders], collections.defaultdict(list)
    for _ in range(ROUNDS):
        for contender in random.sample(contenders, len(contenders)):
            told[contender.folder].append(contender.turn())
    for contender in contenders:
        contender.end()
    first = [turn["a sample"] for turn in told[folders[0]]]
    for folder in folders:
        costs = [turn["a sample"] for turn in told[folder]]
        quarter = statistics.quantiles(costs, n=4)
        print("%s: %.0f us a sample (half of %d turns within %.0f and %.0f), %.1f switches" % (
            folder, quarter[1], len(costs), quarter[0], quarter[2], statistics.median(turn["switches"] for turn in told[folder])))
        if folder != folders[0]:
            ratios = [cost / other for cost, other in zip(costs, first)]
            print("    x %.3f of the first (median of the turns; their mean is good to %.3f)" % (
                statistics.median(ratios), statistics.stdev(ratios) / len(ratios) ** 0.5))
        in_parts = Contender(folder, environment, in_parts=True)
        parts = [in_parts.turn() for _ in range(5)]
        in_parts.end()
        for name in sorted(set(parts[0]) - {"a sample", "switches"}, key=lambda name: -parts[0][name]):
            print("    %-14s %6.1f us" % (name, statistics.median(part.get(name, 0) for part in parts)))


def main():
    if sys.argv[1] == "--measure":
        Measured(sys.argv[2], sys.argv[3] == "parts").serve()
        return
    with tempfile.TemporaryDirectory(prefix="vs") as directory:
        library = os.path.join(directory, "libcuda.so.1")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(STANDINS, "driver", "libcuda.c")], check=True)
        compare([os.path.abspath(folder) for folder in sys.argv[1:]],
                dict(os.environ, FAKE_LIBCUDA=library, VRAMSCOPE_SOCKET_DIR=directory, VRAMSCOPE_RATE="10"))


if __name__ == "__main__":
    main()
