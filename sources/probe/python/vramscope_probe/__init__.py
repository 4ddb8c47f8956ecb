"""What a GPU program tells vramscope of itself.

A program that is run with `vramscope run -- python render.py` needs nothing of
this: the probe starts by itself, samples what the allocators of this process
hold, and obeys the dashboard. A program that imports it can say more, all of it
optional; a scope costs what a with of a new object does while nobody watches:

    import vramscope_probe as vramscope

    frame_arena = vramscope.arena("frame arena", of=memory, inside="torch:0")

    for number, shot in enumerate(shots):
        vramscope.poll(number)
        with vramscope.scope("trace", frames=8):
            trace(shot)
        with vramscope.peak_region() as region:
            project(shot)
        vramscope.note_peak("project", shot.nbytes, region.peak or 0)

    vramscope.save_calibration("night.vscope")

What there is, each with a help() of its own:

    scope(name, **params)           a named stretch, for `with` or as a decorator; scopes nest into a tree
    arena(name, of=..., ...)        registers an arena of the program's own; its handle notes allocations
    note_peak(name, input, peak)    a transient outside every arena, in bytes
    peak_region()                   torch's peak inside a `with`, which no reset from outside spoils
    poll(frame=None)                a frame begins: commands run here, and frames are numbered
    save_calibration(path)          writes what was recorded since record-on; False where nothing was
    start(rate=None)                starts the probe where VRAMSCOPE_PROBE=0 kept it from starting
    stop()                          ends it: readers get a goodbye
    problem()                       why no probe runs here, "" where nothing is wrong

Standard library only, Python 3.9 and later. It imports no allocator library,
prints nothing, and raises nothing into the program but what a file cannot take
in save_calibration.
"""
# In the repository this is a package with one idea a file; the program delivers
# it as one file, joined in the order of python.go, with the text above in front.
import os

from .calibration import save_calibration
from .torch_allocator import peak_region
from .scopes import arena, note_peak, scope
from .session import poll, problem, start, stop

__all__ = ["scope", "arena", "note_peak", "peak_region", "poll", "save_calibration", "start", "stop", "problem"]


def __dir__():
    """What a program is offered; everything else in here is the probe's own."""
    return sorted(__all__ + ["__all__", "__doc__", "__file__", "__name__", "__spec__"])


if os.environ.get("VRAMSCOPE_PROBE") != "0":
    start()
