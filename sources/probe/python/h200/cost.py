"""Measures what the probe costs a launch-bound torch loop, on a GPU.

One process runs the loop in slices, in turns with the probe's thread at 10 Hz
(and a vramscope that records, connected) and with the thread ended. A pair is
four slices, with-without-without-with, so that a drift of the machine's clocks
cancels. Printed are the median of the pairs' ratios and its 95 % bootstrap
interval: for a reader that reads, one stopped with SIGSTOP and one killed, and
for the loop against itself, which shows what can be told apart at all. Beside
it stands the processor time that the probe's thread took, which bounds what it
can cost a loop that never lets go of the interpreter.

    python3 cost.py BINARY MODULE [PAIRS]

BINARY is vramscope, MODULE the folder of vramscope_probe.py. Ends with 1 when
the median is over the goal.
"""
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS = 100
SECONDS = 0.2  # of one slice: two samples at 10 Hz
GOAL = 0.005


def interval(ratios, rounds=4000):
    """The 95 % bootstrap interval of the median."""
    random.seed(1)
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(rounds))
    return medians[int(rounds * 0.025)], medians[int(rounds * 0.975)]


class Loop:
    """Launches small kernels and allocates for each: what a render does that is
    bound by its launches. It times a fixed number of rounds."""

    def __init__(self, torch):
        self.torch = torch
        self.x = torch.ones(256, 256, device="cuda")
        self.rounds = 1000
        for _ in range(3):
            self.seconds()
        self.rounds = max(1, int(self.rounds * SECONDS / self.seconds()))

    def seconds(self):
        torch, x = self.torch, self.x
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(self.rounds):
            y = x + 1.0
            z = y * x
            y = z.sum()
        torch.cuda.synchronize()
        return time.perf_counter() - begin


class Reader:
    """A vramscope that records this process."""

    def __init__(self, binary, directory, probe):
        file = os.path.join(directory, "recording-%d.vscope" % time.monotonic_ns())
        self.process = subprocess.Popen([binary, "record", "-o", file, "pid:%d" % os.getpid()],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not self.reads(file):
            if time.monotonic() > deadline:
                raise SystemExit("vramscope read no sample within 20 s")
            time.sleep(0.02)

    @staticmethod
    def reads(path):
        """Whether samples arrive in the file."""
        try:
            with open(path, "rb") as file:
                return sum(b'"t":"s"' in line for line in file) > 2
        except OSError:
            return False

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)


class Switch:
    """Ends and starts the probe's thread; the socket and its readers stay."""

    def __init__(self, probe):
        self.service = probe.SESSION.service
        self.cpu = self.watched = 0.0  # seconds of processor time, and of slices
        self.samples = 0

    def on(self, loop):
        """A slice with the thread."""
        self.service.run()
        thread, before = self.service._thread, self.service.sampler.number
        clock = time.pthread_getcpuclockid(thread.ident)
        seconds = loop.seconds()
        self.cpu += time.clock_gettime(clock)
        self.watched += seconds
        self.service.pause(1.0)
        self.samples += self.service.sampler.number - before
        return seconds

    def told(self):
        return "(%.1f samples a second; the probe's thread took %.3f %% of a core)" % (
            self.samples / self.watched, 100 * self.cpu / self.watched)


def pairs(loop, switch, count):
    """(with / without, …)"""
    ratios = []
    for _ in range(count):
        first, without = switch.on(loop), loop.seconds()
        without += loop.seconds()
        ratios.append((first + switch.on(loop)) / without)
    return ratios


def report(name, ratios, note=""):
    median = statistics.median(ratios)
    low, high = interval(ratios)
    print("%-42s %3d pairs  median %.4f  95 %% interval %.4f to %.4f  %s" % (name, len(ratios), median, low, high, note), flush=True)
    return median, high


def history(loop, torch):
    """What torch's stack history does to the loop and to a snapshot."""
    def one():
        plain = loop.seconds()
        torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
        recorded = loop.seconds()
        torch.cuda.memory._record_memory_history(enabled=None)
        return recorded / plain
    report("stack history of 100,000 entries (python)", [one() for _ in range(10)])
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    loop.seconds()
    begin = time.perf_counter()
    entries = len(torch.cuda.memory._snapshot()["device_traces"][0])
    print("a snapshot with %d entries takes %.0f ms" % (entries, 1e3 * (time.perf_counter() - begin)))
    torch.cuda.memory._record_memory_history(enabled=None)


def main():
    binary, module = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else PAIRS
    directory = tempfile.mkdtemp(prefix="vs")
    os.environ.update(VRAMSCOPE_SOCKET_DIR=directory, VRAMSCOPE_RATE="10")
    sys.path.insert(0, module)
    import torch
    import vramscope_probe as probe
    loop = Loop(torch)
    print("a slice is %d rounds of three kernels, %.2f us each launch" % (loop.rounds, 1e6 * loop.seconds() / loop.rounds / 3))
    results = {}
    for name, act, n in (("probe at 10 Hz, a reader connected", None, count), ("the reader is stopped with SIGSTOP", signal.SIGSTOP, count // 2),
                         ("the reader is killed", signal.SIGKILL, count // 2)):
        reader, switch = Reader(binary, directory, probe), Switch(probe)
        if act is not None:
            reader.process.send_signal(act)
        probe.SESSION.service.pause(1.0)
        results[name] = report(name, pairs(loop, switch, max(30, n)), switch.told())
        probe.SESSION.service.run()
        reader.end()
    probe.stop()
    report("without a probe, against itself", [(loop.seconds() + loop.seconds()) / (loop.seconds() + loop.seconds()) for _ in range(max(30, count // 2))])
    history(loop, torch)
    median, high = results["probe at 10 Hz, a reader connected"]
    print("goal: within %.1f %%: %s" % (100 * GOAL, "met" if high <= 1 + GOAL else "median met, the interval reaches beyond it"
                                      if median <= 1 + GOAL else "NOT met"))
    return 0 if median <= 1 + GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
