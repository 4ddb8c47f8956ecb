"""Starts vramscope's probe in a Python process that vramscope launched.

It lies in a folder that stands first in PYTHONPATH, acts only if
VRAMSCOPE_TARGET says so, and starts the probe only once the program loads a
GPU library, so that the helpers of a render (pip, compilers) open no socket.
Whatever goes wrong with the probe, the program never notices; what the user's
own sitecustomize raises is raised as if this one were not there.
"""
import os
import sys


class _ProbeStarter:
    """Looks on as modules are asked for, and finds none itself."""

    LIBRARIES = frozenset((
        "torch", "cupy", "rmm", "jax", "taichi", "quadrants", "algan", "vibespatial", "vramscope_probe"))
    PATIENCE = 10.0  # seconds for a library that was asked for to appear

    def __init__(self):
        self.waits_in = 0  # the process whose thread waits: threads do not survive a fork

    def find_spec(self, name, path=None, target=None):
        if name in self.LIBRARIES and self.waits_in != os.getpid():
            self.wait()
        return None

    def wait(self):
        try:
            import threading
            self.waits_in = os.getpid()
            threading.Thread(target=self.start, name="vramscope-start", daemon=True).start()
        except BaseException:
            pass

    def start(self):
        """Imports the probe, which starts it, once a library is there. For one
        that could not be loaded it is armed again."""
        try:
            import time
            pause, end = 0.02, time.monotonic() + self.PATIENCE
            while time.monotonic() < end:
                if not self.LIBRARIES.isdisjoint(sys.modules):
                    import vramscope_probe  # noqa: F401
                    if self in sys.meta_path:
                        sys.meta_path.remove(self)
                    return
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
            self.waits_in = 0
        except BaseException:
            pass

    def forked(self):
        """In a child whose parent loaded a library but had no probe yet."""
        if self in sys.meta_path and not self.LIBRARIES.isdisjoint(sys.modules):
            self.wait()


def _hand_on():
    """Runs the sitecustomize that this one hides. Meanwhile this one's folder is
    nowhere to be found; children find it again afterwards."""
    import importlib.util
    own = os.path.dirname(os.path.abspath(__file__))
    here = sys.modules.pop("sitecustomize", None)
    path, variable = sys.path[:], os.environ.get("PYTHONPATH", "")
    entries = variable.split(os.pathsep)
    sys.path[:] = [entry for entry in path if os.path.abspath(entry or ".") != own]
    os.environ["PYTHONPATH"] = os.pathsep.join(e for e in entries if os.path.abspath(e or ".") != own)
    try:
        if importlib.util.find_spec("sitecustomize") is not None:
            import sitecustomize  # noqa: F401
    finally:
        sys.path.insert(path.index(own) if own in path else 0, own)
        if variable:
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))
        else:
            os.environ.pop("PYTHONPATH", None)
        sys.modules.setdefault("sitecustomize", here)


try:
    if os.environ.get("VRAMSCOPE_TARGET") and os.environ.get("VRAMSCOPE_PROBE") != "0":
        _starter = _ProbeStarter()
        sys.meta_path.insert(0, _starter)
        os.register_at_fork(after_in_child=_starter.forked)
except BaseException:
    pass
_hand_on()
