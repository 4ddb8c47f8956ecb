"""Measures what the probe costs a launch-bound torch loop, on a GPU.

One process runs the loop in slices, in turns with the probe's thread at 10 Hz
(and a vramscope that records, connected) and with the thread ended. A pair is
four slices, with-without-without-with, so that a drift of the machine's clocks
cancels. Printed are the median and the mean of the pairs' ratios with their 95 %
bootstrap intervals, and how long a round takes: for a reader that reads, one
stopped with SIGSTOP and one killed, and for the loop against itself, which shows
what can be told apart at all. Beside it stands the processor time that the
probe's thread took, which bounds what it can cost a loop that never lets go of
the interpreter.

A slice with the thread is one of its steady state: it begins after the first
sample, at a random moment between two samples, two looks for libraries and two
states, so that all of them come as often as they do in a long run. What the
thread's start takes is printed apart. The main thread has a core of its own, and
Python's collector is off in both kinds of slice.

    python3 cost.py BINARY MODULE [SECONDS]

BINARY is vramscope, MODULE the folder of vramscope_probe.py, SECONDS about how
long it may take in all. Ends with 1 when the median is over the goal.
"""
import gc
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PAIRS = 30  # of a condition at least
ALTOGETHER = 240.0  # seconds
SECONDS = 0.4  # of one slice: four samples at 10 Hz
LEAD = 0.05  # of a slice, that long the loop runs before it is timed
GOAL = 0.005


def interval(values, of, rounds=4000):
    """The 95 % bootstrap interval of the median or the mean."""
    drawn = random.Random(1)
    found = sorted(of(drawn.choices(values, k=len(values))) for _ in range(rounds))
    return found[int(rounds * 0.025)], found[int(rounds * 0.975)]


class Core:
    """A core for the main thread, which the process's other threads keep off."""

    def __init__(self):
        cores = os.sched_getaffinity(0)
        self.own, self.others = {max(cores)}, cores - {max(cores)}
        self.main = threading.get_native_id()

    def keep(self):
        """Puts every thread where it belongs: new ones begin on the main
        thread's core."""
        if not self.others:
            return
        for task in map(int, os.listdir("/proc/self/task")):
            try:
                os.sched_setaffinity(task, self.own if task == self.main else self.others)
            except OSError:
                pass  # a thread that has just ended

    def started_beside(self, command):
        """A process on the other cores."""
        os.sched_setaffinity(self.main, self.others or self.own)
        try:
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        finally:
            self.keep()


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
        """Of one slice."""
        self.run(int(self.rounds * LEAD))
        begin = time.perf_counter()
        self.run(self.rounds)
        return time.perf_counter() - begin

    def run(self, rounds):
        torch, x = self.torch, self.x
        torch.cuda.synchronize()
        for _ in range(rounds):
            y = x + 1.0
            z = y * x
            y = z.sum()
        torch.cuda.synchronize()


class Reader:
    """A vramscope that records this process."""

    def __init__(self, binary, directory, core):
        file = os.path.join(directory, "recording-%d.vscope" % time.monotonic_ns())
        self.process = core.started_beside([binary, "record", "-o", file, "pid:%d" % os.getpid()])
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

    def __init__(self, probe, core):
        self.service, self.core = probe.SESSION.service, core
        self.loads = []  # of the slices: seconds of processor time a second
        self.starts = []  # seconds of processor time until the first sample
        self.samples = self.watched = 0  # samples in, and seconds of the slices

    def on(self, loop):
        """Seconds of a slice with the thread."""
        service = self.service
        service._sampled = 0  # the first sample is due
        first = service.sampler.number + 1
        service.run()
        self.core.keep()
        deadline = time.monotonic() + 20
        while service.sampler.number < first:
            if time.monotonic() > deadline:
                raise SystemExit("the probe's thread made no sample within 20 s")
            time.sleep(0.001)
        clock = time.pthread_getcpuclockid(service._thread.ident)
        time.sleep(0.01)  # the sample is on its way
        self.starts.append(time.clock_gettime(clock))
        self.somewhere_between()
        time.sleep(0.01)
        samples, before = service.sampler.number, Moment(clock)
        seconds = loop.seconds()
        after = Moment(clock)
        self.loads.append((after.cpu - before.cpu) / (after.wall - before.wall))
        self.samples += service.sampler.number - samples
        self.watched += after.wall - before.wall
        service.pause(1.0)
        return seconds

    def somewhere_between(self):
        """Moves what comes at intervals to a random moment of each: otherwise a
        slice would begin just after all of it."""
        service, now = self.service, time.monotonic_ns()
        service._sampled = now - int(random.random() * (1e8 if service.server.watched() else 1e9))
        service._looked = now - int(random.random() * 1e9)
        service._state_at = now - int(random.random() * 1e10)
        service.wake()

    def told(self):
        """What the thread took."""
        low, high = interval(self.loads, statistics.mean)
        return "%.1f samples a second; the probe's thread took %.3f %% of a core (%.3f to %.3f), and %.0f us to start" % (
            self.samples / self.watched, 100 * statistics.mean(self.loads), 100 * low, 100 * high,
            1e6 * statistics.median(self.starts))


class Moment:
    """Seconds of the wall and of a thread's clock."""

    def __init__(self, clock):
        self.wall, self.cpu = time.perf_counter(), time.clock_gettime(clock)


def pairs(loop, core, on, count, seconds=0.0):
    """[(seconds with, without)] of count pairs, and more until that long has
    passed. on times a slice of the first kind."""
    found, end = [], time.monotonic() + seconds
    while len(found) < count or time.monotonic() < end:
        core.keep()
        gc.collect()
        first, without = on(loop), loop.seconds()
        without += loop.seconds()
        found.append((first + on(loop), without))
    return found


def report(name, loop, found, note=""):
    """Prints a condition, and is (median, its upper bound)."""
    ratios = [one / other for one, other in found]
    median, mean = statistics.median(ratios), statistics.mean(ratios)
    low, high = interval(ratios, statistics.median)
    print("%s, %d pairs" % (name, len(ratios)))
    print("    median %.4f (%.4f to %.4f), mean %.4f (%.4f to %.4f)" % ((median, low, high, mean) + interval(ratios, statistics.mean)))
    print("    a round: %.3f us, %.3f us without" % tuple(
        1e6 * statistics.mean(pair[i] for pair in found) / 2 / loop.rounds for i in (0, 1)))
    if note:
        print("    " + note)
    sys.stdout.flush()
    return median, high


def history(loop, torch):
    """What torch's stack history does to the loop and to a snapshot."""
    def one():
        plain = loop.seconds()
        torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
        recorded = loop.seconds()
        torch.cuda.memory._record_memory_history(enabled=None)
        return 2 * recorded, 2 * plain
    report("stack history of 100,000 entries (python)", loop, [one() for _ in range(10)])
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    loop.seconds()
    begin = time.perf_counter()
    entries = len(torch.cuda.memory._snapshot()["device_traces"][0])
    print("a snapshot with %d entries takes %.0f ms" % (entries, 1e3 * (time.perf_counter() - begin)))
    torch.cuda.memory._record_memory_history(enabled=None)


def main():
    binary, module = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    end = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else ALTOGETHER)
    directory = tempfile.mkdtemp(prefix="vs")
    os.environ.update(VRAMSCOPE_SOCKET_DIR=directory, VRAMSCOPE_RATE="10")
    sys.path.insert(0, module)
    import torch
    import vramscope_probe as probe
    gc.collect()
    gc.disable()
    core = Core()
    core.keep()
    loop = Loop(torch)
    print("a slice is %d rounds of three kernels, %.2f us each launch; %s" % (
        loop.rounds, 1e6 * loop.seconds() / loop.rounds / 3,
        "the main thread has core %d to itself" % max(core.own) if core.others else "there is one core for everything"))
    # What comes after the first condition: three more, and the history.
    later = 3 * PAIRS * 4 * SECONDS * (1 + LEAD) + 20
    results = {}
    for name, act in (("probe at 10 Hz, a reader connected", None), ("the reader is stopped with SIGSTOP", signal.SIGSTOP),
                      ("the reader is killed", signal.SIGKILL)):
        reader, switch = Reader(binary, directory, core), Switch(probe, core)
        if act is not None:
            reader.process.send_signal(act)
        probe.SESSION.service.pause(1.0)
        seconds = 0.0 if act is not None else max(0.0, end - time.monotonic() - later)
        results[name] = report(name, loop, pairs(loop, core, switch.on, PAIRS, seconds), switch.told())
        probe.SESSION.service.run()
        core.keep()
        reader.end()
    probe.stop()
    report("without a probe, against itself", loop, pairs(loop, core, Loop.seconds, PAIRS))
    history(loop, torch)
    median, high = results["probe at 10 Hz, a reader connected"]
    print("goal: within %.1f %%: %s" % (100 * GOAL, "met" if high <= 1 + GOAL else "median met, the interval reaches beyond it"
                                      if median <= 1 + GOAL else "NOT met"))
    return 0 if median <= 1 + GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
