"""Runs the process of a case (inside.py), reads and commands it with the real
vramscope at its socket, and holds what that says against what the process told.
"""
import json
import os
import subprocess
import tempfile
import threading
import time

from inside import CASES


class Watched:
    """The process of a case, and vramscope at its socket."""

    def __init__(self, binary, name, command, **environment):
        self.binary, self.process_id = binary, 0
        self.directory = tempfile.mkdtemp(prefix="vs")
        self.environment = {**os.environ, **CASES[name][1], "VRAMSCOPE_SOCKET_DIR": self.directory, "TMPDIR": self.directory}
        self.process = subprocess.Popen(command, env={**self.environment, **environment}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = []
        self.listener = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.listener.start()

    def next(self):
        """What the process tells next; None at its end."""
        for line in self.process.stdout:
            if line.startswith("TELL "):
                told = json.loads(line[5:])
                self.process_id = told["pid"]
                return told
        return None

    def ended(self):
        """The exit code, when everything was read."""
        code = self.process.wait(timeout=60)
        self.listener.join(10)
        return code

    def go_on(self):
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def last_sample(self):
        """The counter sets of the last of several samples that record writes."""
        file = os.path.join(self.directory, "recording-%d.vscope" % time.monotonic_ns())
        subprocess.run([self.binary, "record", "-o", file, "--duration", "2200ms", "pid:%d" % self.process_id],
                       env=self.environment, capture_output=True, timeout=60)
        sets, samples = {}, 0
        with open(file) as lines:
            for line in lines:
                record = json.loads(line)
                if record.get("t") == "s" and record.get("sets"):
                    samples += 1
                    sets.update({each["id"]: each for each in record["sets"]})
        return sets, samples

    def send(self, command):
        """The answer to a command."""
        done = subprocess.run([self.binary, "send", "pid:%d" % self.process_id, command, "--json", "--yes"],
                              env=self.environment, capture_output=True, text=True, timeout=60)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"state": "none", "why": (done.stdout + done.stderr)[-300:]}


FAILURES = []


def row(name, what, seen, own):
    """A line of the table."""
    equal = seen == own
    if not equal:
        FAILURES.append((name, what, seen, own))
    print("  %-52s %18s %18s  %s" % (what, seen, own, "=" if equal else "DIFFERS"), flush=True)


def watch(name, watched):
    """Answers what the process of a case tells, until it ends, and is all that
    it told, the last of each kind."""
    command, own, everything = "force-reclaim", None, {}
    while True:
        told = watched.next()
        if told is None:
            return everything
        everything.update(told)
        command = told.get("command", command)
        if "numbers" in told:
            hold_numbers(name, watched, told)
            watched.go_on()
        for what, seen, own_value in told.get("equal", []):
            row(name, what, seen, own_value)
        if "releasable" in told:
            row(name, "releasable, and what empty_cache gave back", *told["releasable"])
        if "refused" in told:
            answer = watched.send(command)
            refused = answer.get("state") in ("failed", "refused") and told["refused"] in answer.get("why", "")
            row(name, "%s is refused: %s" % (command, told["refused"]), refused or answer, True)
            watched.go_on()
        own = told.get("own", own)
        if "ready" in told:
            order(name, watched, command)
            watched.go_on()
        if "asked" in told:
            row(name, "%s, driver free more, and by the library's call" % command, told["asked"], own)
        for counted, expected in told.get("regions", []):
            row(name, "peak region, bytes above its beginning", counted, expected)
        if "note" in told:
            print("  %s" % told["note"], flush=True)


def hold_numbers(name, watched, told):
    """Holds the last sample against the library's own numbers."""
    sets, samples = watched.last_sample()
    arenas = [identity for identity in sets if identity.startswith("arena:")]
    if arenas:
        sets["newest arena"] = sets[max(arenas, key=lambda identity: int(identity[6:]))]
    for identity, numbers in told["numbers"].items():
        for counter, value in numbers.items():
            row(name, "%s %s" % (identity, counter), sets.get(identity, {}).get("c", {}).get(counter), value)
    for identity, outer in told.get("inside", {}).items():
        row(name, "%s lies in" % identity, sets.get(identity, {}).get("in"), outer)
    for identity, counters in told.get("missing", {}).items():
        for counter in counters:
            row(name, "%s %s says why not" % (identity, counter), bool(sets.get(identity, {}).get("why", {}).get(counter)), True)
    print("  %d samples; sets: %s" % (samples, ", ".join(sorted(sets))))


def order(name, watched, command):
    """Has the process do a command, and prints what it answers."""
    answer = watched.send(command)
    print("  %s: %s %s" % (command, answer.get("state"), answer.get("why", "")))
    for line in answer.get("steps") or []:
        print("    %s" % {key: value for key, value in line.items() if key != "took_ns"}, "%.3f ms" % (line.get("took_ns", 0) / 1e6))
    if answer.get("state") != "done":
        FAILURES.append((name, command, answer.get("state"), answer.get("why")))


def hold(start, wanted, watchers=(), afterwards=()):
    """Runs the cases, all unless some are wanted, prints a table, and is the exit
    code: 1 when something was not equal. start(name) is the Watched of a case.
    A case may have a watcher of its own, name -> watch(name, watched), and one
    that looks at what is left of it, name -> after(name, watched, told, code);
    without one its process is to end with 0."""
    print("%54s %18s %18s" % ("", "vramscope", "library"))
    for name in wanted or CASES:
        print("%s %s" % (name, " ".join("%s=%s" % pair for pair in CASES[name][1].items())))
        try:
            watched = start(name)
            told = dict(watchers).get(name, watch)(name, watched)
            dict(afterwards).get(name, ended_well)(name, watched, told, watched.ended())
        except Exception as error:
            FAILURES.append((name, type(error).__name__, str(error)[:200], ""))
            print("  %s: %s" % (type(error).__name__, str(error)[:300]))
    print("%d differences" % len(FAILURES))
    return 1 if FAILURES else 0


def ended_well(name, watched, _, code):
    """The process of a case ended with 0."""
    if code:
        errors = "".join([line for line in watched.errors if "Warning" not in line][-12:])
        FAILURES.append((name, "the process ended with", code, errors))
        print("  ended with %d: %s" % (code, errors))
