package python_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/recorder/open"
	"vramscope/sources/probe/python/pythontest"
)

// checkSnapshot opens a file as the dashboard does and compares the bytes that
// its segments take.
func checkSnapshot(t *testing.T, path string, reserved int64) {
	t.Helper()
	file, err := open.Open(path, open.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if file.Dump == nil {
		t.Fatalf("%s is opened as %+v, and holds no dump", path, file)
	}
	var held int64
	for _, device := range file.Dump.Devices {
		for _, segment := range device.Segments {
			held += segment.Bytes
		}
	}
	if held != reserved {
		t.Errorf("the snapshot's segments take %d bytes, and torch had reserved %d", held, reserved)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the snapshot's rights are %v (%v)", info.Mode(), err)
	}
}

func TestSnapshotIsAFileThatTheDashboardOpens(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = [torch.empty(n) for n in "+measuredSizes+"]")
	path := filepath.Join(t.TempDir(), "render.pickle")
	ack := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: path})
	if ack.State != recorder.AckDone || ack.Path != path {
		t.Fatalf("the answer is %+v", ack)
	}
	checkSnapshot(t, path, 195035136)
	if again := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: path}); again.State != recorder.AckFailed || !strings.Contains(again.Why, "is there already") {
		t.Errorf("a file that is there was written over: %+v", again)
	}
	if relative := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: "render.pickle"}); relative.State != recorder.AckFailed || !strings.Contains(relative.Why, "absolute") {
		t.Errorf("a relative path was taken: %+v", relative)
	}
	if nowhere := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: filepath.Join(path, "x")}); nowhere.State != recorder.AckFailed {
		t.Errorf("a path below a file was taken: %+v", nowhere)
	}
	unnamed := r.do(recorder.CommandSnapshot, recorder.CommandArgs{})
	defer os.Remove(unnamed.Path)
	if filepath.Dir(unnamed.Path) != filepath.Clean(os.TempDir()) {
		t.Errorf("without a path the snapshot went to %q", unnamed.Path)
	}
	checkSnapshot(t, unnamed.Path, 195035136)
	r.Quiet()
}

func TestSnapshotIsRefusedWhereItCannotBe(t *testing.T) {
	for _, c := range []struct {
		name, script, why string
		env               []string
	}{
		{"no torch", "import cupy\nkept = cupy.empty(1)", "torch is not loaded", nil},
		{"cudaMallocAsync", "import torch\nkept = torch.empty(1)", "cudaMallocAsync allocator keeps no list", []string{"PYTORCH_ALLOC_CONF=backend:cudaMallocAsync"}},
		{"an external allocator", "import torch\ntorch.cuda.memory.change_current_allocator((lambda o, n: driver.activate(o), lambda *a: None))\nkept = torch.empty(1)",
			"pluggable allocator keeps no list", nil},
	} {
		r := startAllocators(t, c.script, c.env...)
		ack := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: filepath.Join(t.TempDir(), "x")})
		if ack.State == recorder.AckDone || !strings.Contains(ack.Why, c.why) {
			t.Errorf("%s: the answer is %+v", c.name, ack)
		}
	}
}

// A limit on the size of files stands for a disk that is full: the write fails
// the same way, in the middle.
const noRoom = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"

func TestSnapshotOnAFullDiskLeavesNoFile(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = [torch.empty(n) for n in "+measuredSizes+"]")
	r.run(noRoom)
	path := filepath.Join(t.TempDir(), "render.pickle")
	ack := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: path})
	if ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "no snapshot was written: OSError") {
		t.Errorf("the answer is %+v", ack)
	}
	if !pythontest.Missing(path) {
		t.Error("half a snapshot was left behind")
	}
	full := filepath.Join(t.TempDir(), "full.pickle")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	if ack := r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: full}); ack.State != recorder.AckFailed || ack.Why == "" {
		t.Errorf("a snapshot to a full device: %+v", ack)
	}
	r.Quiet()
}

const failing = `
def fail():
    try:
        torch.empty(100 << 30)
    except torch.OutOfMemoryError:
        print("failed")
`

func TestFailedAllocationsAreToldAndAtMostThreeSnapshotsWritten(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "night")
	if err := os.WriteFile(prefix+".oom-2.pickle", []byte("of another rank"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startAllocators(t, "import torch\nkept = [torch.empty(n) for n in "+measuredSizes+"]\nkept.pop(4)"+failing, "VRAMSCOPE_SNAPSHOTS="+prefix)
	r.Until("the observer is attached", func() bool { return r.ask("len(torch._C.observers)") == "1" })
	for i := range 5 {
		if printed, _ := r.run("fail()"); len(printed) != 1 || printed[0] != "failed" {
			t.Fatalf("the program saw %q in place of its exception", printed)
		}
		oom := pythontest.Next[*recorder.OOM](r.Reader)
		if oom.ID != "torch:0" || oom.Asked != 100<<30 || optional(oom.PoolFree) != 16775680 || optional(oom.Free) != r.bytes("driver.free()") || oom.Rescued || oom.Rule == "" {
			t.Errorf("failure %d is told as %+v", i+1, oom)
		}
		if written := strings.HasPrefix(oom.Outcome, "a snapshot was written: "+prefix); written != (i < 3) {
			t.Errorf("after failure %d: %q", i+1, oom.Outcome)
		}
	}
	files, _ := filepath.Glob(prefix + "*")
	if len(files) != 4 {
		t.Errorf("the files are %v", files)
	}
	for _, number := range []int{1, 3, 4} {
		checkSnapshot(t, fmt.Sprintf("%s.oom-%d.pickle", prefix, number), 127926272)
	}
	r.Quiet()
}

func TestAFailureOnAFullDiskIsStillTold(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "night")
	r := startAllocators(t, "import torch\nkept = [torch.empty(n) for n in "+measuredSizes+"]"+failing, "VRAMSCOPE_SNAPSHOTS="+prefix)
	r.Until("the observer is attached", func() bool { return r.ask("len(torch._C.observers)") == "1" })
	r.run(noRoom)
	r.run("fail()")
	if oom := pythontest.Next[*recorder.OOM](r.Reader); !strings.Contains(oom.Outcome, "no snapshot: OSError") {
		t.Errorf("the failure is told as %+v", oom)
	}
	if files, _ := filepath.Glob(prefix + "*"); files != nil {
		t.Errorf("half a snapshot was left behind: %v", files)
	}
	r.Quiet()
}

// What is asked for is in place when CUDA is, so that the first allocations have
// their stacks and the first failure is told.
func TestHooksAreInPlaceBeforeTheFirstAllocation(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "night")
	r := startAllocators(t, "import torch"+failing, "VRAMSCOPE_SNAPSHOTS="+prefix, "VRAMSCOPE_TORCH_HISTORY=1000")
	r.Until("torch is known to come", func() bool { return r.ask("len(torch.cuda._queued_calls)") == "1" })
	if got := r.ask("len(torch._C.observers), torch.cuda.is_initialized()"); got != "0 False" {
		t.Errorf("observers before CUDA is there: %s", got)
	}
	printed, _ := r.run("torch.cuda.init(); print(len(torch._C.observers), bool(torch._C.history)); fail()")
	if len(printed) != 2 || printed[0] != "1 True" || printed[1] != "failed" {
		t.Fatalf("it printed %q", printed)
	}
	if oom := pythontest.Next[*recorder.OOM](r.Reader); oom.Outcome != "a snapshot was written: "+prefix+".oom-1.pickle" {
		t.Errorf("the first failure is told as %+v", oom)
	}
	if got := r.ask("len(torch._C.observers)"); got != "1" {
		t.Errorf("%s observers are attached", got)
	}
	r.Quiet()
}

// Every failure is told, with its frame; snapshots and stacks are for runs that
// asked for them.
func TestAFailureIsToldWithoutASnapshotThatNobodyAskedFor(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = [torch.empty(n) for n in "+measuredSizes+"]"+failing)
	r.Until("the observer is attached", func() bool { return r.ask("len(torch._C.observers)") == "1" })
	r.run("fail()")
	if oom := pythontest.Next[*recorder.OOM](r.Reader); oom.Asked != 100<<30 || oom.Outcome != "" || oom.Frame != nil {
		t.Errorf("the failure is told as %+v", oom)
	}
	r.run("vramscope_probe.poll(31); fail()")
	if oom := pythontest.Next[*recorder.OOM](r.Reader); oom.Frame == nil || *oom.Frame != 31 {
		t.Errorf("the failure of frame 31 is told as %+v", oom)
	}
	if got := r.ask("torch._C.history"); got != "False" {
		t.Errorf("torch keeps stacks: %s", got)
	}
	r.Quiet()
}

func TestStackHistoryIsTurnedOnWhenAskedForAndSaysWhatItCosts(t *testing.T) {
	for _, c := range []struct {
		entries, level, text string
		on                   bool
		script               string
		env                  []string
	}{
		{"1000", "info", "the last 1000 allocations and frees: each takes longer", true, "import torch\nkept = torch.empty(1)", nil},
		{"many", "warning", "VRAMSCOPE_TORCH_HISTORY=many is no number", false, "import torch\nkept = torch.empty(1)", nil},
		{"10", "warning", "does not yet support recordHistory", false,
			"import torch\ntorch.cuda.memory.change_current_allocator((lambda o, n: driver.activate(o), lambda *a: None))\nkept = torch.empty(1)", nil},
		{"100", "info", "built without a device", false, "import sys, types\nsys.modules['torch.version'] = types.SimpleNamespace(cuda=None, hip=None)\nimport torch", nil},
	} {
		r := startAllocators(t, c.script, "VRAMSCOPE_TORCH_HISTORY="+c.entries)
		note := pythontest.NextWhere(r.Reader, func(n *recorder.Note) bool { return strings.Contains(n.Text, "torch") })
		if note.Level != c.level || !strings.Contains(note.Text, c.text) {
			t.Errorf("%s entries: the note is %+v", c.entries, note)
		}
		if on := r.ask("torch._C.history") == "True"; on != c.on {
			t.Errorf("%s entries: history is on: %v", c.entries, on)
		}
		r.Quiet()
	}
}

// TestATorchThatIsBeingImportedIsForeseenLater: it is looked at before it is
// whole, and once it is, the first allocation is still to have its stack.
func TestATorchThatIsBeingImportedIsForeseenLater(t *testing.T) {
	r := startAllocators(t, "import types")
	r.run("half, calls, failures = types.SimpleNamespace(), [], type(vramscope_probe.TORCH_FAILURES)()")
	r.run("adapter = types.SimpleNamespace(library=lambda: half)")
	for _, line := range []string{"pass", "half.cuda = types.SimpleNamespace(_lazy_call=calls.append)", "pass"} {
		r.run(line + "; failures.foresee(adapter)")
	}
	if n := r.ask("len(calls)"); n != "1" {
		t.Errorf("torch was asked %s times to call as it initialises CUDA", n)
	}
}
