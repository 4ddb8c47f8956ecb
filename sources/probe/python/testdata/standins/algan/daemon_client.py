"""Stands in for how algan 0.0.2 hands a script over: where a daemon is registered
and may be used, the process ends with the daemon's code before anything of algan
is imported, else the import goes on. The daemon does nothing with the script.
"""
import json
import os
import sys


def maybe_handoff():
    if os.environ.get("ALGAN_USE_DAEMON", "1") == "0" or not getattr(sys.modules["__main__"], "__file__", None):
        return
    if getattr(sys.modules["__main__"], "__spec__", None) is not None:
        return
    try:
        with open(os.path.join(os.environ["ALGAN_HOME"], "daemon.json")) as file:
            state = json.load(file)
    except (KeyError, OSError):
        return
    if "code" not in state or state.get("refuses"):  # a file of the real one has none
        return
    sys.stdout.flush()
    os._exit(state["code"])
