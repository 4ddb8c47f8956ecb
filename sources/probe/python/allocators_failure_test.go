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
		{"1000", "info", "the last 1000 allocations and frees: each takes longer by the walk over its stack, and a snapshot by the entries that it holds; the first one loads torch's compiler, which takes seconds", true, "import torch\nkept = torch.empty(1)", nil},
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

// bursting fails in the middle of many quick allocations, which no sample saw.
const bursting = `
def burst():
    held = []
    try:
        while True:
            held.append(torch.empty(1 << 30))
    except torch.OutOfMemoryError:
        told = torch.cuda.memory_stats()
        print(*(told[name] for name in ("allocated_bytes.all.current", "reserved_bytes.all.current", "requested_bytes.all.current",
              "allocated_bytes.all.peak", "reserved_bytes.all.peak", "num_alloc_retries", "num_ooms")), driver.free(), driver.TOTAL)
`

// At a failure the counters are those of the failure, in a sample of that very
// moment that comes before it, with what else the program has as it was last.
func TestAFailureIsToldWithTheCountersOfItsMoment(t *testing.T) {
	for name, env := range map[string][]string{"no snapshot": nil, "with a snapshot": {"VRAMSCOPE_SNAPSHOTS=" + filepath.Join(t.TempDir(), "night")}} {
		t.Run(name, func(t *testing.T) {
			r := startAllocators(t, "import torch, cupy\nkept = torch.empty(300 << 20), cupy.empty(100 << 20)"+bursting, env...)
			r.Until("the observer is attached", func() bool { return r.ask("len(torch._C.observers)") == "1" })
			r.sampleWhere(func(s *recorder.Sample) bool {
				return setNamed(s.Sets, "torch:0") != nil && setNamed(s.Sets, "cupy:0") != nil
			})
			for failure := range 3 {
				_, before := r.run("gc.collect()")
				printed, _ := r.run("burst()")
				var want struct{ allocated, reserved, requested, peak, peakReserved, retries, ooms, free, total int64 }
				if _, err := fmt.Sscan(printed[0], &want.allocated, &want.reserved, &want.requested, &want.peak, &want.peakReserved,
					&want.retries, &want.ooms, &want.free, &want.total); err != nil {
					t.Fatal(err, printed)
				}
				var sample *recorder.Sample
				var oom *recorder.OOM
				seq := int64(-1)
				for oom == nil {
					record, open := r.NextRecord()
					if !open {
						t.Fatal(r.End())
					}
					switch record := record.(type) {
					case *recorder.Sample:
						if seq >= 0 && record.Seq != seq+1 {
							t.Errorf("sample %d comes after sample %d", record.Seq, seq)
						}
						if seq = record.Seq; record.Ns > before && counterNamed(t, setNamed(record.Sets, "torch:0"), "ooms") == int64(failure+1) && sample == nil {
							sample = record
						}
					case *recorder.OOM:
						oom = record
					}
				}
				if sample == nil || sample.Ns != oom.Ns {
					t.Fatalf("failure %d of %d has the sample %+v", failure+1, oom.Ns, sample)
				}
				checkCounters(t, sample.Sets, "torch:0", map[string]int64{"allocated": want.allocated, "reserved": want.reserved, "active": want.allocated,
					"requested": want.requested, "peak_allocated": want.peak, "peak_reserved": want.peakReserved, "retries": want.retries, "ooms": want.ooms})
				checkCounters(t, sample.Sets, "peaks:0", map[string]int64{"peak_live": want.peak, "peak_reported": want.peak})
				checkCounters(t, sample.Sets, "device:0", map[string]int64{"free": want.free, "total": want.total, "used": want.total - want.free})
				checkCounters(t, sample.Sets, "cupy:0", map[string]int64{"allocated": 100 << 20})
				if set := setNamed(sample.Sets, "device:0"); !strings.Contains(set.Call, "cudaMemGetInfo") || set.Device == "" {
					t.Errorf("the device is told as %+v", set)
				}
				if next := pythontest.Next[*recorder.Sample](r.Reader); next.Ns <= sample.Ns || setNamed(next.Sets, "device:0") != nil {
					t.Errorf("the sample after it is of %d, %+v", next.Ns, setNamed(next.Sets, "device:0"))
				}
			}
			r.Quiet()
		})
	}
}

// Of more failures than can wait the latest are told, each with its sample, and
// how many are not.
func TestManyFailuresInARowAreBoundedAndCounted(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = torch.empty(1 << 20)"+failing)
	r.Until("the observer is attached", func() bool { return r.ask("len(torch._C.observers)") == "1" })
	r.sample()
	r.run("failures = type(vramscope_probe.TORCH_FAILURES)(); noted = []")
	r.run("[failures._failed(vramscope_probe.TORCH, '', 0, 3 << 30, driver.TOTAL, driver.free()) for _ in range(300)]")
	r.run("failures.drain(vramscope_probe.TORCH, noted.append)")
	if got := r.ask("''.join(record['t'][0] for record in noted) == 'n' + 64 * 'so'"); got != "True" {
		t.Errorf("what is told is %s", r.ask("[record['t'] for record in noted]"))
	}
	if got := r.ask("noted[0]['text'].split(' torch')[0], all(s['ns'] == o['ns'] for s, o in zip(noted[1::2], noted[2::2]))"); got != "236 failed allocations of True" {
		t.Errorf("what is missing is told as %s", got)
	}
	r.run("failures.drain(vramscope_probe.TORCH, noted.append)")
	if got := r.ask("len(noted)"); got != "129" {
		t.Errorf("it is told again: %s records", got)
	}
	r.Quiet()
}

// A sample of a moment before one that has gone out would turn back the time.
func TestTheSampleOfAFailureDoesNotTurnBackTheTime(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = torch.empty(1 << 20)")
	r.Until("the observer is attached", func() bool { return r.ask("len(torch._C.observers)") == "1" })
	r.run("sampler = vramscope_probe.Sampler('x'); last = sampler.sample()")
	if got := r.ask("sampler.completed({'t': 's', 'ns': last['ns'] - 1, 'sets': []}), sampler.number"); got != "None 1" {
		t.Errorf("of an earlier moment there is the sample %s", got)
	}
	if got := r.ask("(lambda s: (s['seq'], s['ns'] - last['ns'], s['sets'] == last['sets']))(sampler.completed({'t': 's', 'ns': last['ns'] + 1, 'sets': []}))"); got != "(2, 1, True)" {
		t.Errorf("of a later moment there is the sample %s", got)
	}
	r.Quiet()
}

// The first snapshot with a recorded history says what took so long, and no other.
func TestASnapshotThatLoadsTorchsCompilerSaysSo(t *testing.T) {
	const why = "loaded its compiler"
	r := startAllocators(t, "import torch\nkept = torch.empty(1)")
	r.offers(recorder.CommandSnapshot)
	for _, c := range []struct{ before, what, why string }{
		{"pass", "torch: memory snapshot, segments only", ""},
		{"torch.cuda.memory._record_memory_history()", "torch: memory snapshot, with the recorded history", why},
		{"pass", "torch: memory snapshot, with the recorded history", ""},
	} {
		r.run(c.before)
		checkLine(t, r.do(recorder.CommandSnapshot, recorder.CommandArgs{Path: filepath.Join(t.TempDir(), "render.pickle")}), c.what, -1, c.why)
	}
	r.Quiet()
}
