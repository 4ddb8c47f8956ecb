"""Measures what the probe costs a launch-bound torch loop, on a GPU.

One process runs the loop in slices, in turns with the probe's thread at 10 Hz
(and a dashboard of 120×32 connected) and with the thread ended; slices.py
says how a few thousandths are told of them. It is done for a reader that reads,
one stopped with SIGSTOP and one killed, and for the loop against itself, which
shows what can be told apart at all. Beside it stands the processor time that the
probe's thread took, which bounds what it can cost a loop that never lets go of
the interpreter.

A slice with the thread is one of its steady state: it begins after the first
sample, at a random moment between two samples, two looks for libraries and two
states, so that all of them come as often as they do in a long run. What the
thread's start takes is printed apart. Python's collector is off in both kinds of
slice.

    python3 cost.py [--pin] BINARY MODULE [SECONDS]
    python3 cost.py --check [SECONDS]

BINARY is vramscope, MODULE the folder of vramscope_probe.py, SECONDS about how
long it may take in all; --pin gives the main thread a core of its own. Ends with
1 when the probe costs more than the goal. --check measures costs that are known
(cost_check.py), and ends with 1 when one of them was not found.
"""
import argparse
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

from cost_check import Nothing, check, plain_loop
from slices import PAIRS, SECONDS, Estimate, Loop, measured

ALTOGETHER = 240.0  # seconds
GOAL = 0.005


class Cores:
    """Where the threads run: anywhere, or with pin the main thread on a core of
    its own, which the others keep off."""

    def __init__(self, pin):
        cores = os.sched_getaffinity(0)
        self.own, self.others = {max(cores)}, cores - {max(cores)}
        self.pin = pin and bool(self.others)
        self.main = threading.get_native_id()

    def keep(self):
        """Puts every thread where it belongs: new ones begin on the main
        thread's core."""
        if not self.pin:
            return
        for task in map(int, os.listdir("/proc/self/task")):
            try:
                os.sched_setaffinity(task, self.own if task == self.main else self.others)
            except OSError:
                pass  # a thread that has just ended

    def started_beside(self, command, output):
        """A process on the other cores."""
        if self.pin:
            os.sched_setaffinity(self.main, self.others)
        try:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
        finally:
            self.keep()


def torch_loop(torch):
    """Launches small kernels and allocates for each: what a render does that is
    bound by its launches."""
    x = torch.ones(256, 256, device="cuda")

    def run(rounds):
        for _ in range(rounds):
            y = x + 1.0
            z = y * x
            y = z.sum()
    return Loop(run, torch.cuda.synchronize)


class Reader:
    """The dashboard, on a terminal of 120×32 that another process holds, so that
    nothing of it runs in this one. process_id is the dashboard's."""

    TERMINAL = (
        "import fcntl, os, pty, struct, sys, termios\n"
        "child, terminal = pty.fork()\n"
        "if child == 0:\n"
        "    os.environ['TERM'] = 'xterm-256color'\n"
        "    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 32, 120, 0, 0))\n"
        "    os.execv(sys.argv[1], sys.argv[1:])\n"
        "print(child, flush=True)\n"
        "try:\n"
        "    while os.read(terminal, 1 << 16):\n"
        "        pass\n"
        "except OSError:\n"
        "    pass\n"
        "os.waitpid(child, 0)\n")

    def __init__(self, binary, service, cores):
        self.terminal = cores.started_beside([sys.executable, "-S", "-E", "-c", self.TERMINAL, binary], subprocess.PIPE)
        self.process_id = int(self.terminal.stdout.readline())
        deadline = time.monotonic() + 20
        first = service.sampler.number + 3
        while not service.server.watched or service.sampler.number < first:
            if time.monotonic() > deadline:
                raise SystemExit("the dashboard watched no sample within 20 s")
            time.sleep(0.02)

    def signal(self, number):
        os.kill(self.process_id, number)

    def end(self):
        for number in (signal.SIGCONT, signal.SIGTERM):
            try:
                self.signal(number)
            except ProcessLookupError:
                pass
        self.terminal.wait(20)
        self.terminal.stdout.close()


class Switch:
    """Ends and starts the probe's thread; the socket and its readers stay."""

    def __init__(self, probe, cores):
        self.service, self.cores = probe.SESSION.service, cores
        self.loads = []  # of the slices: seconds of processor time a second
        self.starts = []  # seconds of processor time until the first sample
        self.samples = self.watched = 0  # samples in, and seconds of the slices

    def on(self, loop):
        """A slice with the thread."""
        service = self.service
        service._sampled = 0  # the first sample is due
        first = service.sampler.number + 1
        service.run()
        self.cores.keep()
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
        slice = loop.slice(clock)
        after = Moment(clock)
        self.loads.append((after.cpu - before.cpu) / (after.wall - before.wall))
        self.samples += service.sampler.number - samples
        self.watched += after.wall - before.wall
        service.pause(1.0)
        return slice

    def somewhere_between(self):
        """Moves what comes at intervals to a random moment of each: otherwise a
        slice would begin just after all of it."""
        service, now = self.service, time.monotonic_ns()
        service._sampled = now - int(random.random() * (1e8 if service.server.watched else 1e9))
        service._looked = now - int(random.random() * 1e9)
        service._state_at = now - int(random.random() * 1e10)
        service.wake()

    def told(self):
        """What the thread took."""
        return "%.1f samples a second; processor time of the probe's thread %s of a core, and %.0f us to start" % (
            self.samples / self.watched, Estimate(self.loads).percent(), 1e6 * statistics.median(self.starts))


class Moment:
    """Seconds of the wall and of a thread's clock."""

    def __init__(self, clock):
        self.wall, self.cpu = time.perf_counter(), time.clock_gettime(clock)


def history(loop, torch):
    """What torch's stack history does to the loop and to a snapshot."""
    def recorded(loop):
        torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
        try:
            return loop.slice()
        finally:
            torch.cuda.memory._record_memory_history(enabled=None)
    measured("stack history of 100,000 entries (python)", loop, recorded, 10)
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    loop.slice()
    begin = time.perf_counter()
    entries = len(torch.cuda.memory._snapshot()["device_traces"][0])
    print("a snapshot with %d entries takes %.0f ms" % (entries, 1e3 * (time.perf_counter() - begin)))
    torch.cuda.memory._record_memory_history(enabled=None)


def verdict(cost):
    """Prints what the goal is to the cost, and is the program's exit code. A
    slow-down of every chunk counts as far as its interval is beyond 1."""
    slower = max(0.0, cost.usual.low - 1)
    found, most = cost.taken.mean + slower, cost.taken.high + slower
    said = "met" if most <= GOAL else "met, and the interval reaches beyond it" if found <= GOAL else "NOT met"
    beside = ", %.3f %% of it a slow-down of every chunk" % (100 * slower) if slower else ""
    print("goal: within %.1f %%: %s with %.3f %%%s" % (100 * GOAL, said, 100 * found, beside))
    return 0 if found <= GOAL else 1


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pin", action="store_true", help="a core of its own for the main thread")
    arguments.add_argument("--check", action="store_true", help="measure costs that are known")
    arguments.add_argument("rest", nargs="*", metavar="BINARY MODULE [SECONDS]")
    asked = arguments.parse_args()
    paths, seconds = ([], asked.rest) if asked.check else (asked.rest[:2], asked.rest[2:])
    if len(paths) < 2 and not asked.check or len(seconds) > 1:
        arguments.error("name the vramscope program and the folder of vramscope_probe.py")
    seconds = float(seconds[0]) if seconds else ALTOGETHER
    gc.collect()
    gc.disable()
    cores = Cores(asked.pin)
    if asked.check:
        cores.keep()
        return check(loop_here(), seconds)
    return measure(os.path.abspath(paths[0]), os.path.abspath(paths[1]), seconds, cores)


def loop_here():
    """torch's loop where there is a GPU for it, else the plain one."""
    try:
        import torch
        return torch_loop(torch) if torch.cuda.is_available() else plain_loop()
    except ImportError:
        return plain_loop()


def measure(binary, module, seconds, cores):
    """Prints every condition, and is the exit code."""
    end = time.monotonic() + seconds
    directory = tempfile.mkdtemp(prefix="vs")
    os.environ.update(VRAMSCOPE_SOCKET_DIR=directory, VRAMSCOPE_RATE="10")
    sys.path.insert(0, module)
    import torch
    import vramscope_probe as probe
    gc.collect()
    cores.keep()
    loop = torch_loop(torch)
    print("a chunk is %d rounds of three kernels, %.2f us each launch; the main thread runs on %s" % (
        loop.rounds, 1e6 * loop.slice().usual() / loop.rounds / 3,
        "core %d, alone" % max(cores.own) if cores.pin else "any core"))
    # What comes after the first condition: three more, and the history.
    later = 3 * PAIRS * 4 * SECONDS * 1.1 + 20
    costs = []
    for name, act in (("probe at 10 Hz, a dashboard connected", None), ("the dashboard is stopped with SIGSTOP", signal.SIGSTOP),
                      ("the dashboard is killed", signal.SIGKILL)):
        reader, switch = Reader(binary, probe.SESSION.service, cores), Switch(probe, cores)
        if act is not None:
            reader.signal(act)
        probe.SESSION.service.pause(1.0)
        seconds = 0.0 if act is not None else end - time.monotonic() - later
        costs.append(measured(name, loop, switch.on, PAIRS, seconds, switch.told))
        probe.SESSION.service.run()
        cores.keep()
        reader.end()
    probe.stop()
    measured("without a probe, against itself", loop, Nothing(10).on)
    history(loop, torch)
    return verdict(costs[0])


if __name__ == "__main__":
    sys.exit(main())
