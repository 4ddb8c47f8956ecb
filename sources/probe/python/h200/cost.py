"""Measures what the probe costs a launch-bound torch loop, on a GPU.

The same process runs the loop with the probe and without it, in turns: started
at 10 Hz with a vramscope reading (record), and stopped. Each pair is the two
right after one another, and which comes first alternates. Printed are the median of the
pairs' ratios and its 95 % bootstrap interval, for a reader that reads, one
stopped with SIGSTOP and one killed; and what stack history costs.

    python3 cost.py BINARY MODULE [PAIRS]

BINARY is vramscope, MODULE the folder of vramscope_probe.py.
"""
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS = 40
OTHERS = 20  # pairs for a reader that hangs or is gone
SECONDS = 0.35  # of one run: three to four samples at 10 Hz
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

    def __init__(self, binary, directory):
        self.file = os.path.join(directory, "recording-%d.vscope" % time.monotonic_ns())
        self.process = subprocess.Popen([binary, "record", "-o", self.file, "pid:%d" % os.getpid()],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def samples(self):
        """Samples in the file so far."""
        try:
            with open(self.file, "rb") as file:
                return sum(b'"t":"s"' in line for line in file)
        except OSError:
            return 0

    def wait(self, samples):
        """Waits until it has read so many."""
        deadline = time.monotonic() + 20
        while self.samples() < samples and time.monotonic() < deadline:
            time.sleep(0.02)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)
            self.process.wait(10)


def pairs(loop, probe, binary, directory, count, do):
    """(ratio, …) with the probe to without it; do(reader) is done to the reader
    before each run with it."""
    ratios, samples = [], 0
    for i in range(count):
        seconds = {}
        for watched in ((True, False) if i % 2 else (False, True)):
            if watched:
                probe.start()
                reader = Reader(binary, directory)
                reader.wait(2)
                do(reader)
            seconds[watched] = loop.seconds()
            if watched:
                samples += reader.samples()
                reader.end()
                probe.stop()
        ratios.append(seconds[True] / seconds[False])
    return ratios, samples


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
    os.environ.update(VRAMSCOPE_PROBE="0", VRAMSCOPE_SOCKET_DIR=directory)
    sys.path.insert(0, module)
    import torch
    import vramscope_probe as probe
    loop = Loop(torch)
    print("a run is %d rounds of three kernels, %.2f us each launch" % (loop.rounds, 1e6 * loop.seconds() / loop.rounds / 3))
    report("without a probe, against itself", [loop.seconds() / loop.seconds() for _ in range(20)])
    ratios, samples = pairs(loop, probe, binary, directory, count, lambda reader: None)
    median, high = report("probe at 10 Hz, a reader connected", ratios, "(%.1f samples a run)" % (samples / count))
    for name, act in (("the reader is stopped with SIGSTOP", signal.SIGSTOP), ("the reader is killed", signal.SIGKILL)):
        ratios, _ = pairs(loop, probe, binary, directory, OTHERS, lambda reader: reader.process.send_signal(act))
        report(name, ratios)
    history(loop, torch)
    print("goal: within %.1f %%: %s" % (100 * GOAL, "met" if high <= 1 + GOAL else "median met, the interval reaches beyond it"
                                      if median <= 1 + GOAL else "NOT met"))
    return 0 if median <= 1 + GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
