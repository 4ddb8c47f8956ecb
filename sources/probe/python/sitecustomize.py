"""Starts vramscope's probe in a Python process that vramscope launched.

It lies in a folder that stands first in PYTHONPATH, acts only if
VRAMSCOPE_TARGET says so, and starts the probe only once the program loads a
GPU library, so that the helpers of a render (pip, compilers) open no socket.
Whatever goes wrong here, the program never notices.
"""
try:
    import os
    import sys

    class _ProbeStarter:
        """Looks on as modules are asked for, and finds none itself."""

        LIBRARIES = frozenset((
            "torch", "cupy", "rmm", "jax", "taichi", "quadrants", "algan", "vibespatial", "vramscope_probe"))
        LOOKS = 240  # a second apart: as long as a library may take to load

        def __init__(self):
            self.waiting = False

        def find_spec(self, name, path=None, target=None):
            if name in self.LIBRARIES and not self.waiting:
                self.waiting = True
                try:
                    import threading
                    threading.Thread(target=self.start, name="vramscope-start", daemon=True).start()
                except BaseException:
                    pass
            return None

        def start(self):
            """Starts the probe when a library is there; one that could not be
            loaded is waited for again."""
            try:
                import time
                for _ in range(self.LOOKS):
                    if not self.LIBRARIES.isdisjoint(sys.modules):
                        if self in sys.meta_path:
                            sys.meta_path.remove(self)
                        import vramscope_probe  # noqa: F401
                        return
                    time.sleep(1)
            except BaseException:
                pass
            self.waiting = False

    def _hand_on(own):
        """Runs the sitecustomize that this one hides. Children look for it in
        the same way, so PYTHONPATH is whole again afterwards."""
        import importlib.machinery
        import importlib.util
        rest = [entry for entry in sys.path if os.path.abspath(entry or ".") != own]
        spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
        if spec is None or spec.loader is None:
            return
        module = importlib.util.module_from_spec(spec)
        mine, path = sys.modules.get("sitecustomize"), os.environ.get("PYTHONPATH")
        sys.modules["sitecustomize"] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules["sitecustomize"] = mine
            raise

    if os.environ.get("VRAMSCOPE_TARGET"):
        sys.meta_path.insert(0, _ProbeStarter())
except BaseException:
    pass
