"""Drives `vramscope host` on the local GPU and prints a record of what it did.

What the driver has free comes from NVML by calls of this program's own, not
from vramscope: the two are to agree. Sizes are MiB unless a line says otherwise.
"""

import atexit
import ctypes
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

MIB = 1 << 20
PATIENCE = 30  # seconds that anything is waited for


class GPU:
    """Reads a GPU by NVML."""

    class _Process(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gi", ctypes.c_uint), ("ci", ctypes.c_uint)]

    def __init__(self, index=0):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self._ask("nvmlInit_v2")
        self.handle, count = ctypes.c_void_p(), ctypes.c_uint()
        self._ask("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(self.handle))
        self._ask("nvmlDeviceGetCount_v2", ctypes.byref(count))
        self.count = count.value  # of GPUs here

    def _ask(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise SystemExit(f"{name} returned {code}")

    def free(self):
        """Free memory of the GPU, bytes."""
        memory = (ctypes.c_ulonglong * 3)()
        self._ask("nvmlDeviceGetMemoryInfo", self.handle, memory)
        return memory[1]

    def processes(self):
        """The processes with a context, as a list of (pid, bytes)."""
        count, rows = ctypes.c_uint(64), (self._Process * 64)()
        self._ask("nvmlDeviceGetComputeRunningProcesses_v3", self.handle, ctypes.byref(count), rows)
        return [(row.pid, row.used) for row in rows[: count.value]]


class Terminal:
    """A program in a pseudo-terminal whose output is kept."""

    def __init__(self, arguments, environment):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execve(arguments[0], arguments, {**environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"})
        import fcntl

        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 160, 0, 0))
        self.output = b""

    def read(self, seconds):
        """Takes what is written for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.file], [], [], left)[0]:
                try:
                    self.output += os.read(self.file, 1 << 16)
                except OSError:
                    return

    def press(self, keys):
        os.write(self.file, keys.encode())

    def end(self):
        """Presses q and returns the exit code."""
        self.press("q")
        self.read(2)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def shows(self, text):
        return text.encode() in self.output


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise SystemExit(f"waited {PATIENCE} s for {what} in vain")
        time.sleep(0.01)
    return value


def mib(count):
    return f"{count / MIB:,.1f}"


def say(*parts):
    print(*parts, flush=True)


class Session:
    """vramscope on this machine, with sockets of its own."""

    def __init__(self, binary):
        self.binary, self.gpu, self.folder = binary, GPU(), tempfile.mkdtemp()
        self.environment = {**os.environ, "VRAMSCOPE_SOCKET_DIR": os.path.join(self.folder, "s"), "HOME": self.folder}
        os.mkdir(self.environment["VRAMSCOPE_SOCKET_DIR"], 0o700)
        self.idle = self.gpu.free()
        self.failed = []

    def expect(self, what, held):
        say(f"  {'ok  ' if held else 'FAIL'} {what}")
        if not held:
            self.failed.append(what)

    def run(self, *arguments):
        done = subprocess.run([self.binary, *arguments], env=self.environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def host(self, *arguments):
        """Starts a render without a dashboard."""
        child = subprocess.Popen([self.binary, "host", "--headless", *arguments], env=self.environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        atexit.register(child.kill)  # where this program fails
        said = child.stdout.readline()
        if "runs as process" not in said:
            raise SystemExit("host says: " + said + child.stdout.read())
        return child

    def stop(self, child):
        child.send_signal(signal.SIGTERM)
        code = child.wait(PATIENCE)
        until("the memory to go back", lambda: self.gpu.free() >= self.idle - MIB)
        return code

    def send(self, child, command):
        """Sends a command and prints its lines beside NVML's free memory."""
        before = self.gpu.free()
        code, text = self.run("send", str(child.pid), command, "--yes")
        say(f"  NVML free {mib(before)} -> {mib(self.gpu.free())} (the render goes on meanwhile)")
        for line in text.strip().splitlines():
            say("    " + line)
        return code, text


def account(path):
    """Compares what the process says it holds with what the driver gave, over a recording.

    Returns the samples, the context's bytes, and the least and the most of
    (what the driver has not free) - (what the process holds).
    """
    context, beyond = None, []
    with open(path) as lines:
        for line in lines:
            record = json.loads(line)
            if record["t"] != "s":
                continue
            sets = {entry["of"]: entry.get("c", {}) for entry in record["sets"]}
            if "device" in sets and "context" in sets:
                context = sets["context"].get("used")
                beyond.append(sets["device"]["used"] - sets["process"]["used"])
    return len(beyond), context, min(beyond), max(beyond)


def tier(session, name, memory):
    say(f"\n## tier {name}, --memory {memory}, --oom, 20 frames a second")
    child = session.host("--tier", name, "--memory", memory, "--oom", "--speed", "20", "--seed", "1", "--cuda-default-pool", "0.05")
    path = os.path.join(session.folder, f"{name}.vscope")
    recording = subprocess.Popen([session.binary, "record", "-o", path, "--duration", "9s", str(child.pid)],
                                 env=session.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2.5)
    taken = session.idle - session.gpu.free()
    listed = session.gpu.processes()
    say(f"  NVML: {mib(taken)} taken since the start; processes with a context: {len(listed)}, {[mib(used) for _, used in listed]}")
    for command in ("reclaim", "force-reclaim", "headroom", "reset-peak"):
        code, _ = session.send(child, command)
        session.expect(f"{command} ends with {code}", code == 0)
    for attempt in range(40):
        code, text = session.run("send", str(child.pid), "rebuild", "--yes")
        if attempt == 0 or code == 0:
            say(f"  rebuild, attempt {attempt + 1}:")
            for line in text.strip().splitlines():
                say("    " + line)
        if code == 0:
            break
    session.expect("a rebuild is done in a pause between jobs", code == 0)
    recording.wait(PATIENCE)
    samples, context, least, most = account(path)
    say(f"  context {mib(context or 0)}; over {samples} samples the driver gave {mib(least)} to {mib(most)} more than the process holds by its own count")
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    frames = sum(record["t"] == "frame" for record in records)
    ooms = [record for record in records if record["t"] == "oom"]
    say(f"  {frames} frames; {len(ooms)} out of memory:")
    seen = set()
    for record in ooms:
        kind = (record["id"].split(":")[0], record.get("rescued", False), len(record.get("steps", [])))
        if kind in seen:
            continue
        seen.add(kind)
        steps = ", ".join(step["do"] for step in record.get("steps", []))
        say(f"    {record['id']}: asked {mib(record['asked'])}, free {mib(record.get('free', 0))}, rule {record.get('rule')}; steps: {steps or 'none'}; {record.get('outcome')}")
    driver = [place for place, record in enumerate(records) if record["t"] == "oom" and record["asked"] > 0.9 * session.idle]
    after = sum(record["t"] == "frame" for record in records[driver[-1] :]) if driver else 0
    session.expect(f"the driver refused {len(driver)} times, and {after} frames came after the last time", after > 0)
    code = session.stop(child)
    session.expect(f"it ends with {code}, and {mib(session.gpu.free())} of {mib(session.idle)} are free again", code == 0)


def load(session):
    say("\n## force-reclaim while kernels run: --memory 64GiB, no pause between frames")
    child = session.host("--memory", "64GiB", "--speed", "-1", "--seed", "2", "--cuda-default-pool", "0.05")
    time.sleep(2)
    for _ in range(3):
        session.send(child, "force-reclaim")
    session.stop(child)


def dashboard(session):
    say("\n## the dashboard beside a render, and over one of its own")
    child = session.host("--memory", "2GiB")
    alone = sorted(session.gpu.processes())
    watching = Terminal([session.binary], session.environment)
    watching.read(4)
    beside = sorted(session.gpu.processes())
    say(f"  processes with a context: {len(alone)} before, {len(beside)} with the dashboard; {[mib(used) for _, used in beside]}")
    session.expect("the dashboard has no context", len(alone) == len(beside) == 1)
    watching.press("R")
    watching.read(1)
    watching.press("y")
    watching.read(3)
    session.expect("it shows the render, its context and a reclaim",
                   watching.shows("host render #0") and watching.shows("CUDA context") and watching.shows("force reclaim"))
    session.expect("q ends it with 0", watching.end() == 0)
    code, text = session.run()
    say(f"  as plain text (exit {code}):")
    for line in text.splitlines()[:14]:
        say("    " + line)
    code, text = session.run("check", "--min-headroom", "1GiB")
    say(f"  check --min-headroom 1GiB (exit {code}):")
    for line in text.splitlines():
        say("    " + line)
    path = os.path.join(session.folder, "gpu.vscope")
    code, text = session.run("record", "-o", path, "--duration", "2s", "gpu:0")
    say(f"  record gpu:0 (exit {code}): {os.path.getsize(path):,} bytes; NVML free now {mib(session.gpu.free())}")
    session.stop(child)
    own = Terminal([session.binary, "host", "--memory", "2GiB"], session.environment)
    own.read(4)
    listed = session.gpu.processes()
    session.expect(f"host: {len(listed)} process has a context and it is not the dashboard ({own.pid})",
                   len(listed) == 1 and listed[0][0] != own.pid and own.shows("host render #0"))
    session.expect("q ends it with 0", own.end() == 0)
    until("the memory to go back", lambda: session.gpu.free() >= session.idle - MIB)
    say(f"  free after: {mib(session.gpu.free())} of {mib(session.idle)}")


def every(session):
    say("\n## --gpu all")
    gpus = [GPU(index) for index in range(session.gpu.count)]
    if len(gpus) < 2:
        say("  this machine has one GPU: not run")
        return
    idle = [gpu.free() for gpu in gpus]
    child = session.host("--gpu", "all", "--memory", "2GiB")
    until("a render on each", lambda: all(gpu.processes() for gpu in gpus))
    time.sleep(2)
    for index, gpu in enumerate(gpus):
        say(f"  GPU {index}: {mib(idle[index] - gpu.free())} taken, {len(gpu.processes())} process with a context")
    session.expect("each GPU has one render", all(len(gpu.processes()) == 1 for gpu in gpus))
    beside = Terminal([session.binary], session.environment)
    beside.press("2")
    beside.read(4)
    session.expect("the dashboard shows both, and has no context itself",
                   beside.shows("host render #0") and beside.shows("host render #1") and all(len(gpu.processes()) == 1 for gpu in gpus))
    session.expect("q ends it with 0", beside.end() == 0)
    child.send_signal(signal.SIGTERM)
    code = child.wait(PATIENCE)
    until("the memory to go back", lambda: all(gpu.free() >= free - MIB for gpu, free in zip(gpus, idle)))
    session.expect(f"it ends with {code}, and all is free again", code == 0)


def kill(session):
    say("\n## kill -9 in the middle of a frame, five times")
    for attempt in range(5):
        child = session.host("--memory", "16GiB", "--speed", "-1", "--seed", str(attempt))
        time.sleep(0.4 + 0.13 * attempt)
        taken = session.idle - session.gpu.free()
        began = time.monotonic()
        child.kill()
        child.wait()
        until("the memory to go back", lambda: session.gpu.free() >= session.idle - MIB)
        say(f"  {mib(taken)} were taken; all is free {1000 * (time.monotonic() - began):.0f} ms after the signal")
    session.expect("no process has a context", session.gpu.processes() == [])


def main():
    session = Session(sys.argv[1])
    say("vramscope host on this machine's GPU")
    for arguments in (["--version"], ["host", "--list"]):
        say("  " + session.run(*arguments)[1].strip())
    say(f"  NVML free at the start: {mib(session.idle)}")
    code, text = session.run("host", "--headless", "--memory", "4TiB")
    say(f"  --memory 4TiB (exit {code}): {text.strip()}")
    code, text = session.run("host", "--headless", "--memory", "1000GiB")
    say(f"  --memory 1000GiB (exit {code}): {text.strip()}")
    for name, memory in (("A", "8GiB"), ("B", "8GiB"), ("C", "1GiB"), ("fallback", "8GiB")):
        tier(session, name, memory)
    load(session)
    dashboard(session)
    every(session)
    kill(session)
    say(f"\n{len(session.failed)} expectations failed" + "".join("\n  " + what for what in session.failed))
    return len(session.failed) > 0


if __name__ == "__main__":
    sys.exit(main())
