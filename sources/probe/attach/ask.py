"""Asks a process to run a script, with the interpreter that the process has
itself. Arguments: its number, the script, a module to compile for it, and its user.
Prints what went wrong as JSON, {} if nothing did.
"""
import json
import sys

problem = {}
try:
    import os
    import py_compile
    py_compile.compile(sys.argv[3], cfile=sys.argv[3] + "c", dfile="vramscope_probe.py", doraise=True)
    os.chown(sys.argv[3] + "c", int(sys.argv[4]), -1)
    sys.remote_exec(int(sys.argv[1]), sys.argv[2])
except BaseException as error:
    problem = {"kind": type(error).__name__, "errno": getattr(error, "errno", None) or 0, "text": str(error)}
    problem["version"] = "%d.%d.%d" % sys.version_info[:3]
print(json.dumps(problem))
