package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// userFolder is a folder of the user's own modules: name to text.
func userFolder(t *testing.T, modules map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range modules {
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// launched starts a script as the launcher does: the probe's folder is first in
// PYTHONPATH, the user's own one behind it.
func launched(t *testing.T, script string, modules map[string]string, env ...string) *pythontest.Process {
	t.Helper()
	probe := pythontest.Module(t)
	entries := probe + string(filepath.ListSeparator) + userFolder(t, modules)
	return pythontest.Start(t, script, append([]string{"VRAMSCOPE_TARGET=1", "PYTHONPATH=" + entries, "PROBE_FOLDER=" + probe}, env...)...)
}

const stays = "import sys\nprint('ready')\nsys.stdin.read()\n"

// The probe starts with the first GPU library, in children too, and the
// program's own start is not touched.
func TestTheProbeStartsWithAGPULibrary(t *testing.T) {
	standIns := map[string]string{"torch": "loaded = True\n"}
	for _, c := range []struct{ name, script string }{
		{"imported", "import torch\n" + stays},
		{"imported by name", "import importlib\nimportlib.import_module('torch')\n" + stays},
		{"after one that is not there", "try:\n    import cupy\nexcept ImportError:\n    pass\nimport torch\n" + stays},
		{"in a thread", "import threading\ndef load():\n    import torch\nthreading.Thread(target=load).start()\n" + stays},
		{"by the module itself", "import vramscope_probe\n" + stays},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := launched(t, c.script, standIns)
			r := pythontest.Read(t, p.Path(), false)
			if hello := pythontest.Next[*recorder.Hello](r); hello.PID != p.PID() || hello.Name != "render.py" {
				t.Errorf("the hello is %+v", hello)
			}
			p.Quiet()
		})
	}
	t.Run("in a child", func(t *testing.T) {
		p := launched(t, `
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import torch, sys; sys.stdin.read()"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
child.communicate()
`, standIns)
		pid := p.Line()
		p.Until("the child's socket is there", func() bool {
			found, _ := filepath.Glob(filepath.Join(p.Directory, pid+"-*.sock"))
			return len(found) == 1
		})
		p.Quiet()
	})
	t.Run("in a child that was forked before it started", func(t *testing.T) {
		p := launched(t, `
import os, sys
import torch
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    os.close(write)
    print(os.getpid(), flush=True)
    os.read(read, 1)
    sys.exit(0)
os.close(read)
print("ready", flush=True)
sys.stdin.read()
os.close(write)
os.waitpid(pid, 0)
`, standIns)
		p.Line()
		p.Line()
		p.Path()
		p.Quiet()
	})
}

// Nothing of the probe is there where it is not asked for, and nothing but a
// look at imports where no GPU library is loaded.
func TestTheProbeStaysAwayFromOthers(t *testing.T) {
	const look = `
import sys, threading
import json, csv, sqlite3
try:
    import torch
except ImportError:
    pass
print("vramscope_probe" in sys.modules, any("Probe" in type(f).__name__ for f in sys.meta_path), threading.active_count(), "sitecustomize" in sys.modules)
`
	for _, c := range []struct {
		name, script string
		env          []string
		modules      map[string]string
		want         string
	}{
		{"no target", look, []string{"VRAMSCOPE_TARGET="}, map[string]string{"torch": ""}, "False False 1 True"},
		{"switched off", look, []string{"VRAMSCOPE_PROBE=0"}, map[string]string{"torch": ""}, "False False 1 True"},
		{"no library", strings.Replace(look, "import torch", "pass", 1), nil, nil, "False True 1 True"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := launched(t, c.script, c.modules, c.env...)
			if line := p.Line(); line != c.want {
				t.Errorf("the program sees %q, want %q", line, c.want)
			}
			p.Quiet()
			if entries, _ := os.ReadDir(p.Directory); len(entries) != 0 {
				t.Errorf("there is a socket: %v", entries)
			}
		})
	}
}

// The user's own sitecustomize runs as if the probe's were not there: it finds
// neither its folder nor its variable, children find both, and what it raises
// is said as Python says it.
func TestTheUsersOwnSitecustomizeRuns(t *testing.T) {
	const own = `
import os, sys
probe = os.environ["PROBE_FOLDER"]
sys.seen = (probe in sys.path, probe in os.environ["PYTHONPATH"], os.path.basename(__file__), __name__ == "sitecustomize",
            sys.modules["sitecustomize"].__file__ == __file__)
os.environ["FROM_OWN"] = "1"
`
	const look = `
import os, sys
import sitecustomize
probe = os.environ["PROBE_FOLDER"]
print(sys.seen, sitecustomize.__file__.startswith(probe), probe in sys.path, os.environ["PYTHONPATH"].split(":")[0] == probe, os.environ["PYTHONPATH"].count(probe), os.environ["FROM_OWN"])
if len(sys.argv) == 1:
    import subprocess
    subprocess.run([sys.executable, __file__, "child"])
`
	p := launched(t, look, map[string]string{"sitecustomize": own})
	const want = "(False, False, 'sitecustomize.py', True, True) False True True 1 1"
	for _, who := range []string{"the program", "its child"} {
		if line := p.Line(); line != want {
			t.Errorf("%s sees %q, want %q", who, line, want)
		}
	}
	p.Quiet()

	for _, target := range []string{"1", ""} {
		broken := launched(t, "print('on')\n", map[string]string{"sitecustomize": "raise ValueError('my own')\n"}, "VRAMSCOPE_TARGET="+target)
		if line := broken.Line(); line != "on" {
			t.Errorf("the program printed %q", line)
		}
		if text := broken.Stderr(); !strings.Contains(text, "Error in sitecustomize") || !strings.Contains(text, "ValueError: my own") {
			t.Errorf("with target %q Python says %q", target, text)
		}
	}
}

// A probe that cannot be loaded costs the program nothing.
func TestABrokenProbeIsNotNoticed(t *testing.T) {
	for _, text := range []string{"def (", "raise SystemExit(3)", "raise KeyboardInterrupt", "import no_such_module", "1 / 0"} {
		t.Run(text, func(t *testing.T) {
			dir := pythontest.Module(t)
			if err := os.WriteFile(filepath.Join(dir, "vramscope_probe.py"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			p := pythontest.StartWith(t, `
import os, sys
sys.path.pop(0) # the script's folder has a whole probe
import time
import torch
deadline = time.monotonic() + 30
while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < deadline:
    time.sleep(0.01)
print("on", "vramscope_probe" in sys.modules)
`, pythontest.Options{Env: []string{"VRAMSCOPE_TARGET=1", "PYTHONPATH=" + dir + ":" + userFolder(t, map[string]string{"torch": ""})}})
			if line := p.Line(); line != "on False" {
				t.Errorf("the program printed %q", line)
			}
			p.Quiet()
		})
	}
}

// Pythons that are too old for the probe run as ever, and so does the user's own
// sitecustomize in them.
func TestOlderPythonsRunAsEver(t *testing.T) {
	interpreters, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".pyenv/versions/*/bin/python"))
	for _, name := range []string{"python2", "python2.7", "python3.6", "python3.7", "python3.8"} {
		if path, err := exec.LookPath(name); err == nil {
			interpreters = append(interpreters, path)
		}
	}
	const old = "import sys; sys.exit(sys.version_info >= (3, 9))"
	tried := 0
	for _, interpreter := range interpreters {
		if exec.Command(interpreter, "-c", old).Run() != nil {
			continue // not old, or a name that stands for none
		}
		tried++
		for _, own := range []bool{false, true} {
			modules := map[string]string{"torch": "loaded = True\n"}
			want := "hi\n"
			if own {
				modules["sitecustomize"] = "print('mine')\n"
				want = "mine\nhi\n"
			}
			command := exec.Command(interpreter, "-c", "import torch; print('hi')")
			command.Env = append(os.Environ(), "VRAMSCOPE_TARGET=1",
				"PYTHONPATH="+pythontest.Module(t)+string(filepath.ListSeparator)+userFolder(t, modules))
			if said, err := command.CombinedOutput(); err != nil || string(said) != want {
				t.Errorf("%s, with a sitecustomize of its own: %v: %v, %q", interpreter, own, err, said)
			}
		}
	}
	if tried == 0 {
		t.Skip("no Python before 3.9 is here to be tried")
	}
}

// A program that forks as soon as its library is there sees no warning of
// threads that it did not start, and is let in all the same.
func TestAForkDuringTheStartWarnsOfNothing(t *testing.T) {
	for name, fork := range map[string]string{
		"at once":          "fork()",
		"again and again":  "for _ in range(20): fork()",
		"during an import": "import slow",
	} {
		t.Run(name, func(t *testing.T) {
			p := launched(t, `
import os, sys, warnings
warnings.simplefilter("default")
def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
sys.modules["forking"] = sys.modules["__main__"]
import torch
`+fork+`
print("forked")
sys.stdin.read()
`, map[string]string{"torch": "loaded = True\n", "slow": "import forking\nfor _ in range(20): forking.fork()\n"})
			if line := p.Line(); line != "forked" {
				t.Fatalf("it said %q", line)
			}
			p.Until("the probe's socket is there", func() bool {
				found, _ := filepath.Glob(filepath.Join(p.Directory, "*.sock"))
				return len(found) == 1
			})
			p.Quiet()
		})
	}
}

// A program that python -m runs is called by its module, from the first moment on:
// sys.argv has no name while the packages around it are imported.
func TestTheNameOfAModule(t *testing.T) {
	p := launched(t, `
import os, subprocess, sys
import vramscope_probe as probe
for line in (["-m", "algan.daemon"], ["-um", "algan.daemon", "x.py"], ["-malgan.daemon"], ["-X", "dev", "-Wd", "-W", "m", "-m", "algan.daemon"],
             ["--check-hash-based-pycs", "never", "-m", "algan.daemon"], ["x.py", "-m", "other"], ["-c", "m", "-m", "other"], ["-Xm", "x.py"], ["-"], ["--", "x.py"], []):
    print(probe.module_that_runs(["python"] + line) or "none")
subprocess.run([sys.executable, "-m", "package.module"], cwd="/")
`, map[string]string{"torch": ""}, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+pythontest.Module(t)+string(filepath.ListSeparator)+packageOf(t,
		"import torch, vramscope_probe\nname = vramscope_probe.program_name()\n", "import package\nprint(package.name)\n"))
	want := strings.Split(strings.Repeat("algan.daemon,", 5)+strings.Repeat("none,", 6)+"package.module", ",")
	for i, name := range want {
		if line := p.Line(); line != name {
			t.Errorf("command line %d is called %q, want %q", i, line, name)
		}
	}
	p.Quiet()
}

// packageOf is a folder with a package and a module in it, and with a torch.
func packageOf(t *testing.T, init, module string) string {
	t.Helper()
	dir := userFolder(t, map[string]string{"torch": ""})
	if err := os.Mkdir(filepath.Join(dir, "package"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"__init__.py": init, "module.py": module} {
		if err := os.WriteFile(filepath.Join(dir, "package", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
