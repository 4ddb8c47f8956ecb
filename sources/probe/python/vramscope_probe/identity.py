"""What this process says of itself in its hello, adapters apart."""
import os
import sys

from .descriptors import read_file
from .place import start_time

MAXIMUM_ARGUMENTS = 64 << 10  # characters of a command line that are told


def identity(environment=os.environ):
    """The part of a hello that stays: numbers, names, command line, job and
    rank. What cannot be read is left out."""
    facts = {
        "kind": "process", "name": program_name(), "ver": "vramscope probe", "pid": os.getpid(), "start": start_time(),
        "py": "%d.%d.%d" % sys.version_info[:3],
    }
    numbers = namespace_numbers()
    if numbers:
        facts["nspid"] = numbers
    if environment.get("VRAMSCOPE_HIDE_ARGV") != "1":
        facts["argv"] = command_line()
    job, rank = job_and_rank(environment)
    if job:
        facts["job"] = job
    if rank is not None:
        facts["rank"] = rank
    return facts


def program_name():
    """What to call this process: its script, or the module that it runs."""
    module = module_that_runs(command_line())
    if module:
        return module
    arguments = getattr(sys, "argv", None) or [""]
    path = str(arguments[0])
    name = os.path.basename(path)
    if name == "__main__.py":
        name = os.path.basename(os.path.dirname(path))
    if name in ("", "-"):
        return "python"
    return "python -c" if name == "-c" else name


def module_that_runs(command):
    """The module of python -m, "" where another program runs. sys.argv does not
    have it while the packages around the module are imported."""
    words = iter(command[1:])
    for word in words:
        if word == "--check-hash-based-pycs":
            next(words, "")
            continue
        if word in ("-", "--") or not word.startswith("-"):
            return ""
        for place, letter in enumerate(word[1:] if word[1] != "-" else "", 2):
            if letter == "c":
                return ""
            if letter == "m":
                return word[place:] or next(words, "")
            if letter in "WX":
                if place == len(word):
                    next(words, "")  # its value
                break
    return ""


def command_line():
    """The command line as the process was started with it."""
    arguments = getattr(sys, "orig_argv", None)
    if not arguments:
        arguments = read_file("/proc/self/cmdline", 4 * MAXIMUM_ARGUMENTS).rstrip(b"\0").decode("utf-8", "replace").split("\0")
    told, room = [], MAXIMUM_ARGUMENTS
    for argument in arguments:
        room -= len(argument) + 1
        if room < 0:
            told.append("…")
            break
        told.append(argument)
    return told


def namespace_numbers():
    """This process's number in each PID namespace, outermost first."""
    try:
        for line in read_file("/proc/self/status").splitlines():
            if line.startswith(b"NSpid:"):
                return [int(number) for number in line.split()[1:]]
    except (OSError, ValueError):
        pass
    return []


def job_and_rank(environment):
    """(name, rank) of the job that several processes share, ("", None) for a
    process on its own: as torchrun, Slurm and Open MPI say it."""
    rank = _number(environment.get("RANK"))
    if rank is not None and (environment.get("WORLD_SIZE") or environment.get("TORCHELASTIC_RUN_ID")):
        run = environment.get("TORCHELASTIC_RUN_ID", "")
        if run in ("", "none"):  # torchrun's own default says nothing
            run = ":".join(filter(None, (environment.get("MASTER_ADDR"), environment.get("MASTER_PORT"))))
        return run or ("torchrun" if "TORCHELASTIC_RUN_ID" in environment else "ranks"), rank
    rank = _number(environment.get("SLURM_PROCID"))
    if rank is not None and environment.get("SLURM_JOB_ID"):
        return " ".join(filter(None, (environment.get("SLURM_JOB_NAME"), environment["SLURM_JOB_ID"]))), rank
    rank = _number(environment.get("OMPI_COMM_WORLD_RANK"))
    if rank is not None:
        return environment.get("PMIX_NAMESPACE") or environment.get("OMPI_MCA_ess_base_jobid") or "mpirun", rank
    return "", None


def sampling_rate(environment=os.environ):
    """Samples a second while somebody watches: VRAMSCOPE_RATE, from 1 to 10."""
    try:
        rate = float(environment.get("VRAMSCOPE_RATE", "") or 10)
    except ValueError:
        return 10.0
    return min(max(rate, 1.0), 10.0) if rate == rate else 10.0


def _number(text):
    try:
        return int(text) if text else None
    except ValueError:
        return None
