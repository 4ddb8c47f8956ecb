package python_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// fakeDriver is the CUDA driver that the stand-ins allocate from, built once.
var fakeDriver = sync.OnceValues(func() ([]byte, error) {
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	dir, err := os.MkdirTemp("", "fakedriver")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	library := filepath.Join(dir, "libcuda.so.1")
	built, err := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-o", library, "testdata/standins/driver/libcuda.c").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the fake driver was not built: %w: %s", err, built)
	}
	return os.ReadFile(library)
})

// layDriver writes the fake driver into a folder of the test.
func layDriver(t testing.TB) string {
	t.Helper()
	library, err := fakeDriver()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(path, library, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// beforeAllocators finds the stand-ins before it imports what the case uses, and
// leaves the probe until the last: it must find what is there already.
const beforeAllocators = `
import os, select, sys, gc, json, time
sys.path.insert(0, os.environ["STANDINS"])
import driver
MIB = 1 << 20
`

// afterAllocators does what the test says, line by line, on the main thread,
// which runs bytecode meanwhile.
const afterAllocators = `
import vramscope_probe
real_host_pressure = vramscope_probe.host_pressure
vramscope_probe.host_pressure = lambda root="/": ""  # of the machine that tests
print("ready")
waiting = ""
while True:
    if not select.select([0], [], [], 0.002)[0]:
        continue
    told = os.read(0, 1 << 16)
    if not told:
        vramscope_probe.stop()
        os._exit(0)  # the stand-ins' finalisers want modules that are gone at the very end
    waiting += told.decode()
    while "\n" in waiting:
        line, waiting = waiting.split("\n", 1)
        exec(line, globals())
        print("done", time.monotonic_ns())
`

// allocatorRender is a Python process that uses stand-ins of allocator
// libraries, and a reader at its socket.
type allocatorRender struct {
	*pythontest.Process
	*pythontest.Reader
	t        testing.TB
	hello    *recorder.Hello
	commands int
}

// startAllocators runs a script on the stand-ins. Its environment wins.
func startAllocators(t testing.TB, script string, env ...string) *allocatorRender {
	t.Helper()
	standins, err := filepath.Abs("testdata/standins")
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{"FAKE_LIBCUDA=" + layDriver(t), "STANDINS=" + standins, "VRAMSCOPE_SNAPSHOTS=", "VRAMSCOPE_RECORDED=", "VRAMSCOPE_TORCH_HISTORY="}, env...)
	r := &allocatorRender{t: t, Process: pythontest.Start(t, beforeAllocators+script+afterAllocators, env...)}
	if line := r.Line(); line != "ready" {
		t.Fatalf("the script said %q", line)
	}
	r.Reader = pythontest.Read(t, r.Path(), false)
	r.hello = pythontest.Next[*recorder.Hello](r.Reader)
	return r
}

// run has the script run a line, and is what it printed and the moment after.
func (r *allocatorRender) run(line string) (printed []string, moment int64) {
	r.t.Helper()
	r.Say(line)
	for {
		said := r.Line()
		if stamp, done := strings.CutPrefix(said, "done "); done {
			moment, err := strconv.ParseInt(stamp, 10, 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return printed, moment
		}
		printed = append(printed, said)
	}
}

// ask is what the script prints of an expression.
func (r *allocatorRender) ask(expression string) string {
	r.t.Helper()
	printed, _ := r.run("print(" + expression + ")")
	return strings.Join(printed, "\n")
}

// bytes is a number that the script prints.
func (r *allocatorRender) bytes(expression string) int64 {
	r.t.Helper()
	n, err := strconv.ParseInt(r.ask(expression), 10, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// sampleWhere is the first sample that a condition holds for, begun after now.
func (r *allocatorRender) sampleWhere(condition func(*recorder.Sample) bool) *recorder.Sample {
	r.t.Helper()
	_, now := r.run("pass")
	return pythontest.NextWhere(r.Reader, func(s *recorder.Sample) bool { return s.Ns > now && condition(s) })
}

// sample is a sample that began after now.
func (r *allocatorRender) sample() *recorder.Sample {
	r.t.Helper()
	return r.sampleWhere(func(*recorder.Sample) bool { return true })
}

// do sends a command and is its final answer.
func (r *allocatorRender) do(command string, args recorder.CommandArgs) *recorder.Ack {
	r.t.Helper()
	r.commands++
	return r.Reader.Do(fmt.Sprint("c", r.commands), command, args)
}

// offers waits until the probe has looked for libraries again and offers a
// command to a reader that connects.
func (r *allocatorRender) offers(command string) {
	r.t.Helper()
	r.greetedWhere(func(hello *recorder.Hello) bool { return slices.Contains(hello.Commands, command) })
}

// greetedWhere connects until a condition holds for the hello.
func (r *allocatorRender) greetedWhere(condition func(*recorder.Hello) bool) *recorder.Hello {
	r.t.Helper()
	for !condition(r.hello) {
		pythontest.Next[*recorder.Sample](r.Reader)
		r.Reader.Close()
		r.Reader = pythontest.Read(r.t, r.Path(), false)
		r.hello = pythontest.Next[*recorder.Hello](r.Reader)
	}
	return r.hello
}

// setNamed is a counter set of a sample or an answer, nil where it has none.
func setNamed(sets []recorder.CounterSet, id string) *recorder.CounterSet {
	for i := range sets {
		if sets[i].ID == id {
			return &sets[i]
		}
	}
	return nil
}

// counterNamed is a counter of a set by its name on the wire; -1 is not known.
func counterNamed(t testing.TB, set *recorder.CounterSet, name string) int64 {
	t.Helper()
	counter, ok := recorder.CounterByName(name)
	if !ok {
		t.Fatalf("there is no counter %q", name)
	}
	if value, known := set.Values.Get(counter); known {
		return value
	}
	return -1
}

// checkCounters compares counters of a set with what they must be; -1 is a
// counter that is not known and says why.
func checkCounters(t testing.TB, sets []recorder.CounterSet, id string, want map[string]int64) {
	t.Helper()
	set := setNamed(sets, id)
	if set == nil {
		t.Errorf("there is no set %s in %v", id, setIDs(sets))
		return
	}
	for name, value := range want {
		if got := counterNamed(t, set, name); got != value {
			t.Errorf("%s: %s is %d, not %d", id, name, got, value)
		}
		if value == -1 && set.Why[name] == "" {
			t.Errorf("%s: %s is missing without a reason", id, name)
		}
	}
}

func setIDs(sets []recorder.CounterSet) []string {
	var ids []string
	for _, set := range sets {
		ids = append(ids, set.ID)
	}
	return ids
}

// lineStarting is the result line that begins so, nil where there is none.
func lineStarting(ack *recorder.Ack, what string) *recorder.ResultLine {
	for i := range ack.Result {
		if strings.HasPrefix(ack.Result[i].What, what) {
			return &ack.Result[i]
		}
	}
	return nil
}

// checkLine fails unless the answer has a line that begins so, freed so much
// (-1 is not told), and whose reason holds a text.
func checkLine(t testing.TB, ack *recorder.Ack, what string, freed int64, why string) {
	t.Helper()
	line := lineStarting(ack, what)
	if line == nil {
		t.Errorf("no line begins with %q: %+v", what, ack.Result)
		return
	}
	if got := optional(line.Freed); got != freed {
		t.Errorf("%q freed %d bytes, not %d", what, got, freed)
	}
	if !strings.Contains(line.Why, why) || why == "" && line.Why != "" {
		t.Errorf("%q says %q, which does not hold %q", what, line.Why, why)
	}
}

func optional(value *int64) int64 {
	if value == nil {
		return -1
	}
	return *value
}
