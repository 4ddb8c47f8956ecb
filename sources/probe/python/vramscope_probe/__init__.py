"""The probe of vramscope: it samples what the allocator libraries of this
process hold, and obeys the dashboard. Standard library only, Python 3.9 and
later; it imports no allocator library and prints nothing.

In the repository it is a package with one idea a file; the program delivers it
as one file, joined in the order of python.go.
"""
import os

from .calibration import save_calibration
from .torch_allocator import peak_region
from .scopes import arena, note_peak, scope
from .session import poll, problem, start, stop

__all__ = ["scope", "arena", "note_peak", "peak_region", "poll", "save_calibration", "start", "stop"]

if os.environ.get("VRAMSCOPE_PROBE") != "0":
    start()
