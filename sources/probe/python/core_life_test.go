package python_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vramscope/recorder"
	"vramscope/sources/probe"
	"vramscope/sources/probe/python/pythontest"
)

// forking is a program whose children hold memory if they are told to.
const forking = `
import os, sys, time
import vramscope_probe as probe

class StandIn(probe.Adapter):
    name, module = "standin", "sys"
    reserved, asked = 4096, 0
    def sample(self, out):
        StandIn.asked += 1
        out.add("standin:0", "pool", "", "", "StandIn.sample", {"reserved": self.reserved})

standin = probe.register(StandIn())
assert probe.start()

def child(reserved, work):
    standin.reserved, StandIn.asked = reserved, 0
    work()

def wait_to_end():
    while not os.path.exists(os.path.join(os.environ["PYTHONPATH"], "end")):
        time.sleep(0.005)

def wait_for_probe():
    while probe.SESSION.service is None:
        time.sleep(0.005)
    print("child", os.getpid(), flush=True)
    wait_to_end()

def use_nothing():
    while StandIn.asked < 2:  # it was looked at and found empty
        time.sleep(0.005)
    assert probe.SESSION.service is None
    print("child nothing", flush=True)

def poll_once():
    probe.poll()
    assert probe.SESSION.service is not None
    print("child", os.getpid(), flush=True)
    wait_to_end()

def forked(reserved, work):
    pid = os.fork()
    if pid == 0:
        child(reserved, work)
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    print("parent", flush=True)

def processed(reserved, work):
    import multiprocessing
    process = multiprocessing.get_context("fork").Process(target=child, args=(reserved, work))
    process.start()
    process.join()
    assert process.exitcode == 0
    print("parent", flush=True)

print("ready", flush=True)
for line in sys.stdin:
    exec(line)
`

// A child has a socket of its own once it holds memory, or says a frame; the
// parent's stays, with its readers, whatever becomes of the child.
func TestAChildHasASocketOfItsOwn(t *testing.T) {
	for _, how := range []string{"forked", "processed"} {
		for _, work := range []string{"wait_for_probe", "poll_once"} {
			t.Run(how+" "+work, func(t *testing.T) {
				reserved := map[string]string{"wait_for_probe": "8192", "poll_once": "0"}[work]
				p := pythontest.Start(t, forking, "VRAMSCOPE_PROBE=0")
				p.Line()
				r := pythontest.Read(t, p.Path(), false)
				pythontest.Next[*recorder.Sample](r)
				p.Say(fmt.Sprintf("%s(%s, %s)", how, reserved, work))
				var pid int
				if _, err := fmt.Sscanf(p.Line(), "child %d", &pid); err != nil {
					t.Fatal(err)
				}
				start, err := probe.StartTime(pid)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(p.Directory, probe.Name{PID: pid, Start: start}.String())
				p.Until("the child listens", func() bool {
					_, err := probe.Greet(t.Context(), path)
					return err == nil
				})
				child := pythontest.Read(t, path, false)
				hello := pythontest.Next[*recorder.Hello](child)
				if hello.PID != pid || hello.Src == r.ID() {
					t.Errorf("the child's hello is %+v", hello)
				}
				before := pythontest.Next[*recorder.Sample](r)
				if err := os.WriteFile(filepath.Join(p.Module, "end"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if line := p.Line(); line != "parent" {
					t.Fatalf("the program printed %q", line)
				}
				pythontest.Next[*recorder.Bye](child)
				if !pythontest.Missing(path) {
					t.Error("the child's socket is still there")
				}
				pythontest.NextWhere(r, func(s *recorder.Sample) bool { return s.Seq > before.Seq+2 })
				if pythontest.Missing(r.Path()) {
					t.Error("the parent's socket is gone")
				}
				p.Quiet()
			})
		}
	}
}

// What a child has from its parent is not its own: what the parent read of the
// driver and of its pools, and the parent's arenas.
func TestAChildCountsNothingOfItsParents(t *testing.T) {
	out := output(t, `
import os, tempfile, types
sockets = tempfile.TemporaryDirectory()
os.environ["VRAMSCOPE_SOCKET_DIR"] = sockets.name
sys.modules["torch"] = types.ModuleType("torch")  # loaded, and not used
sys.modules["torch"]._C = types.ModuleType("_C")
class Driver(probe.CudaDriver):
    def library(self):
        return self
    def devices(self):
        return []
probe.DRIVER.__class__ = Driver
gpu = probe.GpuDevice(0, "GPU-1", "a GPU")
probe.DEVICE_MEMORY._readings = (probe.time.monotonic(), ((gpu, 1 << 30, 2 << 30),))
probe.PRIVATE_POOLS._walked = (probe.time.monotonic(), {0: {"reserved": 1 << 30}})
arena = probe.arena("the parent's", length=100, pointers=lambda: (0, 100))
assert probe.start()
def holds():
    return probe._holds_memory(probe.SESSION._inherited)
print(holds(), flush=True)
pid = os.fork()
if pid == 0:
    own = "nothing"
    if not holds():
        kept = probe.arena("its own", length=100, pointers=lambda: (0, 100))
        own = "its own" if holds() else "not even its own"
    print(own, flush=True)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print(holds())`)
	if string(out) != "True\nits own\nTrue\n" {
		t.Errorf("the script said %q", out)
	}
}

// Workers that use no memory of the device open no socket.
func TestAChildThatHoldsNothingOpensNoSocket(t *testing.T) {
	p := pythontest.Start(t, forking, "VRAMSCOPE_PROBE=0")
	p.Line()
	p.Path()
	p.Say("forked(0, use_nothing)")
	if line := p.Line(); line != "child nothing" {
		t.Errorf("the child printed %q", line)
	}
	p.Line()
	entries, err := os.ReadDir(p.Directory)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want the parent's socket", entries, err)
	}
	p.Quiet()
}

// A process that becomes another program keeps its number and start time: the
// new program finds the old socket and takes its place.
func TestExecTakesTheSocketOver(t *testing.T) {
	p := pythontest.Start(t, `
import os, sys
import vramscope_probe
print(os.environ.get("SECOND", "first"), flush=True)
sys.stdin.readline()
if "SECOND" not in os.environ:
    os.environ["SECOND"] = "second"
    os.execv(sys.executable, [sys.executable, "-u", *sys.argv])
`)
	p.Line()
	path := p.Path()
	first := pythontest.Read(t, path, false)
	pythontest.Next[*recorder.State](first)
	p.Say("")
	if line := p.Line(); line != "second" {
		t.Fatalf("the program printed %q", line)
	}
	first.End()
	second := pythontest.Read(t, path, false)
	if hello := pythontest.Next[*recorder.Hello](second); hello.PID != p.PID() {
		t.Errorf("the hello is %+v", hello)
	}
	p.Quiet()
	if !pythontest.Missing(path) {
		t.Error("the socket is still there")
	}
}

// Threads of the program poll, note scopes and end while the probe samples.
func TestThreadsOfTheProgram(t *testing.T) {
	p := pythontest.Start(t, `
import threading
import vramscope_probe as probe
def render():
    for _ in range(20_000):
        probe.poll()
threads = [threading.Thread(target=render) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(probe.SAFE_POINT.frame)
input()
`)
	r := pythontest.Read(t, p.Path(), true)
	last := int64(-1)
	for frame := range 5 {
		f := pythontest.Next[*recorder.Frame](r)
		if f.N <= last-8 { // threads may count at the same time
			t.Errorf("frame %d is number %d after %d", frame, f.N, last)
		}
		last = f.N
	}
	p.Line()
	p.Say("")
	p.Quiet()
}

func TestFramesAreNumbered(t *testing.T) {
	p := startStandIn(t)
	r := pythontest.Read(t, p.Path(), true)
	pythontest.Next[*recorder.State](r)
	say(p, "probe.poll(); probe.poll(); probe.poll(10); probe.poll(); probe.poll('x'); probe.poll(2**80); probe.poll(True); probe.poll(-1); probe.poll()")
	last := int64(0)
	for i, want := range []int64{0, 1, 10, 11, 12, 13, 14, -1, 0} {
		frame := pythontest.Next[*recorder.Frame](r)
		if frame.N != want || frame.Ns < last {
			t.Errorf("frame %d is number %d at %d, want %d", i, frame.N, frame.Ns, want)
		}
		last = frame.Ns
	}
	p.Quiet()
}

// Every one of fifty programs is found.
func TestFiftyProbesAreFound(t *testing.T) {
	const many = 50
	dir := pythontest.SocketDirectory(t)
	found := make(chan probe.Found, many)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	watcher := &probe.Watcher{Directory: dir, Found: func(f probe.Found) { found <- f }}
	go func() { ended <- watcher.Run(ctx) }()
	processes := map[int]*pythontest.Process{}
	for range many {
		p := pythontest.StartWith(t, waiting, pythontest.Options{Directory: dir, Env: []string{"VRAMSCOPE_RATE=1"}})
		processes[p.PID()] = p
	}
	for range many {
		select {
		case f := <-found:
			p := processes[f.Name.PID]
			if p == nil || f.Hello.PID != f.Name.PID || f.Hello.Hz != 1 {
				t.Errorf("found %+v", f.Hello)
			}
			delete(processes, f.Name.PID)
		case <-time.After(pythontest.Patience):
			t.Fatalf("%d of %d were not found", len(processes), many)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A program that is killed leaves its socket behind. The dashboard sees that
// nobody is there and removes it.
func TestAKilledProgramIsGone(t *testing.T) {
	p := pythontest.Start(t, waiting)
	p.Line()
	path := p.Path()
	found, gone := make(chan string, 1), make(chan string, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	watcher := &probe.Watcher{Directory: p.Directory,
		Found: func(f probe.Found) { found <- f.Path }, Gone: func(path string, _ probe.Name) { gone <- path }}
	go func() { ended <- watcher.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	if f := <-found; f != path {
		t.Fatalf("found %s", f)
	}
	p.Kill()
	select {
	case g := <-gone:
		if g != path || !pythontest.Missing(path) {
			t.Errorf("%s is gone, its file missing: %v", g, pythontest.Missing(path))
		}
	case <-time.After(pythontest.Patience):
		t.Error("the killed program is not noticed")
	}
}

// What lies at the socket's place is replaced where nobody listens behind it,
// and otherwise left alone with a sentence that says what to do.
func TestWhatLiesInTheSocketsPlace(t *testing.T) {
	for _, c := range []struct{ name, lay, problem string }{
		{"the socket of a dead process", "s.bind(path); s.close()", ""},
		{"a socket that somebody owns", "s.bind(path); s.listen()", "something listens on PATH already: only one part of a program may offer it to be watched"},
		{"a file", "open(path, 'w').close()", "PATH is in the way and is not a socket: move it away"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pythontest.Start(t, `
import os, socket, sys
import vramscope_probe as probe
path = os.path.join(os.environ["VRAMSCOPE_SOCKET_DIR"], "%d-%d.sock" % (os.getpid(), probe.start_time()))
s = socket.socket(socket.AF_UNIX)
`+c.lay+`
print(probe.start(), probe.problem().replace(path, "PATH"))
input()
print(probe.start(), os.path.exists(path))
`, "VRAMSCOPE_PROBE=0")
			if line, want := p.Line(), strings.TrimSpace(fmt.Sprintf("%s %s", map[bool]string{true: "True", false: "False"}[c.problem == ""], c.problem)); strings.TrimSpace(line) != want {
				t.Errorf("start: %q, want %q", line, want)
			}
			if c.problem == "" {
				pythontest.Next[*recorder.Hello](pythontest.Read(t, p.Path(), false))
			}
			p.Say("")
			if line, want := p.Line(), map[bool]string{true: "True True", false: "False True"}[c.problem == ""]; line != want {
				t.Errorf("afterwards: %q, want %q", line, want)
			}
			p.Quiet()
		})
	}
}

// A folder that others could reach gets no socket, and the program does not
// notice.
func TestAHostileFolderGetsNoSocket(t *testing.T) {
	dir := pythontest.SocketDirectory(t)
	own, link, open, file := dir+"/own", dir+"/link", dir+"/open", dir+"/file"
	for path, mode := range map[string]os.FileMode{own: 0o700, open: 0o755} {
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, fault := range map[string]string{
		link: "is a symbolic link", open: "is open to others (mode 0755)", file: "is not a directory",
		dir + "/no/parent": "cannot be made (No such file or directory)", own + "/" + strings.Repeat("x", 100): "the socket path",
	} {
		t.Run(fault, func(t *testing.T) {
			p := pythontest.Start(t, "import vramscope_probe as probe\nprobe.poll()\nprint(probe.problem())\n", probe.DirectoryVariable+"="+path)
			line := p.Line()
			if !strings.Contains(line, fault) || !strings.Contains(line, "set VRAMSCOPE_SOCKET_DIR to") {
				t.Errorf("the problem is %q, want one that it %s", line, fault)
			}
			p.Quiet()
		})
	}
	entries, _ := os.ReadDir(own)
	for _, entry := range entries {
		if !entry.IsDir() {
			t.Errorf("%s was made all the same", entry.Name())
		}
	}
}

// Both sides look in the same place.
func TestThePlaceIsThatOfTheDashboard(t *testing.T) {
	runtime := pythontest.SocketDirectory(t)
	for _, c := range []struct{ name, setting, runtime string }{
		{"the setting", runtime + "/set", runtime},
		{"the runtime directory", "", runtime},
		{"a runtime directory that is not there", "", runtime + "/no"},
		{"a relative one", "", "run"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pythontest.Start(t, "import vramscope_probe as probe\nprint(probe.socket_directory())\n",
				"VRAMSCOPE_PROBE=0", probe.DirectoryVariable+"="+c.setting, "XDG_RUNTIME_DIR="+c.runtime)
			t.Setenv(probe.DirectoryVariable, c.setting)
			t.Setenv("XDG_RUNTIME_DIR", c.runtime)
			want, err := probe.Directory()
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Line(); got != want {
				t.Errorf("the probe looks in %s and the dashboard in %s", got, want)
			}
			p.Quiet()
		})
	}
}

// caughtAndKept leaves an exception that it has caught where Python leaves one
// that nothing caught, for a debugger.
const caughtAndKept = `
def test():
    assert False
def main():
    try:
        test()
    except AssertionError as error:
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
main()`

// The goodbye says how the program ended, where Python knows it.
func TestTheGoodbyeSaysHowItEnded(t *testing.T) {
	for _, c := range []struct{ end, why string }{
		{"", "the program ended"},
		{"sys.exit(7)", "the program ended"},
		{"raise MemoryError('gone')", "the program ended; the last exception that nothing caught was MemoryError"},
		{"def fail():\n    raise MemoryError('gone')\nfail()", "the program ended; the last exception that nothing caught was MemoryError"},
		// One that was caught and printed, as a prompt within the program and a test runner do it.
		{"import code\ncode.InteractiveInterpreter().runsource('1/0')", "the program ended"},
		{"import code\ncode.InteractiveInterpreter().runsource('1 1')", "the program ended"},
		{caughtAndKept, "the program ended"},
		{caughtAndKept + "\nsys.exit(1)", "the program ended"},
		{"vramscope_probe.stop()", "the program stopped its probe"},
	} {
		t.Run(c.end, func(t *testing.T) {
			p := pythontest.Start(t, "import sys\nimport vramscope_probe\nprint('ready')\nsys.stdin.readline()\n"+c.end+"\n")
			r := pythontest.Read(t, p.Path(), false)
			pythontest.Next[*recorder.State](r)
			p.Say("")
			if bye := pythontest.Next[*recorder.Bye](r); bye.Why != c.why {
				t.Errorf("the goodbye says %q, want %q", bye.Why, c.why)
			}
			p.Wait()
			if !pythontest.Missing(r.Path()) {
				t.Error("the socket is still there")
			}
		})
	}
}

// The hello says which job and rank a process is, and hides its arguments where
// it is told to.
func TestTheHelloSaysJobAndRank(t *testing.T) {
	rank := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		env  []string
		job  string
		rank *int
	}{
		{"none", nil, "", nil},
		{"torchrun", []string{"RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=8", "TORCHELASTIC_RUN_ID=night"}, "night", rank(3)},
		{"ranks that no launcher named", []string{"RANK=1", "WORLD_SIZE=2"}, "ranks", rank(1)},
		{"torchrun without a name or a place", []string{"RANK=1", "WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=none"}, "torchrun", rank(1)},
		{"torchrun without a name", []string{"RANK=0", "WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=none", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500"}, "127.0.0.1:29500", rank(0)},
		{"a rank of something else", []string{"RANK=3"}, "", nil},
		{"no number", []string{"RANK=first", "WORLD_SIZE=2"}, "", nil},
		{"Slurm", []string{"SLURM_PROCID=5", "SLURM_JOB_ID=77", "SLURM_JOB_NAME=night"}, "night 77", rank(5)},
		{"Open MPI", []string{"OMPI_COMM_WORLD_RANK=2", "PMIX_NAMESPACE=prte-1"}, "prte-1", rank(2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pythontest.Start(t, waiting, append(c.env, "VRAMSCOPE_HIDE_ARGV=1", "VRAMSCOPE_RATE=400")...)
			hello := pythontest.Next[*recorder.Hello](pythontest.Read(t, p.Path(), false))
			if hello.Job != c.job || (hello.Rank == nil) != (c.rank == nil) || c.rank != nil && *hello.Rank != *c.rank {
				t.Errorf("the hello says job %q, rank %v", hello.Job, hello.Rank)
			}
			if hello.Argv != nil || hello.Hz != 10 || hello.Name != "render.py" {
				t.Errorf("the hello is %+v, want no arguments and 10 Hz", hello)
			}
			p.Quiet()
		})
	}
}
