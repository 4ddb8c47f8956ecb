package python_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// What a dump holds equals what was said live, and its events alone build its
// trees: for an arena of the program's own from its first event on.
func TestScopesCalibrationDump(t *testing.T) {
	p := run(t, `
import algan.utils.memory_utils as memory
before = Arena(4096, "before")
before.alloc(100)
before.persist(50)
drain()
command("record", True)
drain()
own = Arena(1024, "own")
with probe.scope("outer", frames=3):
    own.alloc(100, 4, "float32", "load")
    with probe.scope("inner"):
        saved = own.push(True)
        own.persist(8, 8)
        own.pop(saved)
with probe.scope("late", arena=before.handle):
    before.alloc(28)
a = memory.ManualMemory(0, num_bytes=1024)
`+alganWorked+`
OUTLET.put(("frame", probe.monotonic(), 7))
probe.note_peak("project", 10, 90)
memory.note_nonarena_peak("merge", 5, 50)
# What waits in the outlet is in the dump too.
probe.save_calibration(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calibration.vscope"))
look()
`)
	live := read(t, filepath.Join(p.Module, "records.vscope"))
	all := read(t, filepath.Join(p.Module, "calibration.vscope"))
	t.Run("its order", func(t *testing.T) {
		var kinds []string
		for _, record := range append([]recorder.Record(nil), all.order...) {
			if kind := record.Type(); len(kinds) == 0 || kinds[len(kinds)-1] != kind {
				kinds = append(kinds, kind)
			}
		}
		if want := []string{"hello", "ev", "state", "peak", "bye"}; !slices.Equal(kinds, want) {
			t.Errorf("%v, want %v", kinds, want)
		}
		hello := all.order[0].(*recorder.Hello)
		if hello.Kind != recorder.KindCalibration || hello.Name != "render.py" || hello.PID == 0 {
			t.Errorf("%+v", hello)
		}
	})
	t.Run("its trees", func(t *testing.T) {
		all.sameAsEventsOf(t, "own")
		all.sameAsEventsOf(t, "before")
		// algan tells no times, so its events alone give all but those.
		built := recorder.NewScopeTree(recorder.TreeLimits{})
		for _, batch := range all.events {
			if batch.Arena == all.arena(t, alganName).ID {
				built.ObserveBatch(batch)
			}
		}
		if diff := cmp.Diff(namedRows(all, built.Snapshot(), -1), namedRows(all, all.tree(t, alganName), -1)); diff != "" {
			t.Errorf("algan (-events +state):\n%s", diff)
		}
		for _, name := range []string{"own", alganName} {
			if diff := cmp.Diff(namedRows(live, live.tree(t, name), -1), namedRows(all, all.tree(t, name), -1)); diff != "" {
				t.Errorf("%s (-live +dump):\n%s", name, diff)
			}
			if state := all.arena(t, name); !state.Recorded || state.From != "render.py" {
				t.Errorf("%+v", state)
			}
		}
	})
	t.Run("an arena that was there before", func(t *testing.T) {
		// It begins where it stood: what was before is not known event by event.
		tree := all.tree(t, "before")
		if got := numbersOf(all.row(t, tree, "late")); got != (numbers{1, 0, 1, 28, 28, 28, 28, 0}) {
			t.Errorf("%+v", got)
		}
		if root := tree.Root(); root.AllocCount != 1 || root.Peak != 178 {
			t.Errorf("%+v", root)
		}
	})
	t.Run("transients", func(t *testing.T) {
		var peaks []recorder.NonArena
		for _, record := range all.others {
			if peak, ok := record.(*recorder.Peak); ok {
				peaks = append(peaks, peak.NonArena)
			}
		}
		want := []recorder.NonArena{{Name: "project", InputBytes: 10, PeakBytes: 90}, {Name: "merge", InputBytes: 5, PeakBytes: 50}}
		if diff := cmp.Diff(want, peaks); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what the dump folded is told live too", func(t *testing.T) { live.sameAsEventsOf(t, "own") })
}

// namedRows is a tree with names in place of numbers.
func namedRows(a *told, s *recorder.ScopeSnapshot, parent int32) []string {
	var rows []string
	for child := range s.Children(parent) {
		row := s.Row(child)
		row.Name, row.Parent, row.PeakNs = 0, 0, 0
		rows = append(rows, fmt.Sprintf("%s %+v", a.names.String(s.Name(child)), row))
		rows = append(rows, namedRows(a, s, child)...)
	}
	return rows
}

// sameAsEventsOf is sameAsEvents for one arena.
func (a *told) sameAsEventsOf(t testing.TB, name string) {
	t.Helper()
	only := *a
	last := *a.states[len(a.states)-1]
	last.Arenas = []recorder.ArenaState{*a.arena(t, name)}
	only.states = []*recorder.State{&last}
	only.sameAsEvents(t)
}

// A dump that cannot be written says so, leaves what was there, and leaves
// nothing beside it.
func TestScopesCalibrationThatFails(t *testing.T) {
	for _, test := range []struct{ name, before, path, after, want string }{
		{"the disk is full", `
open(os.path.join(here, "full.vscope"), "w").write("old")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
`, `os.path.join(here, "full.vscope")`, `
assert open(os.path.join(here, "full.vscope")).read() == "old"
`, "OSError"},
		{"the folder is not there", ``, `os.path.join(here, "missing", "x.vscope")`, ``, "FileNotFoundError"},
		{"the name is a folder", ``, `here`, ``, "FileExistsError"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := run(t, `
import random
import resource
here = os.path.dirname(os.path.abspath(__file__))
command("record", True)
drain()
a = Arena(1 << 20)
for i in range(3000):
    with probe.scope("s%d" % random.randrange(1000)):
        a.alloc(random.randrange(300))
drain()
FILE.flush()
`+test.before+`
try:
    probe.save_calibration(`+test.path+`)
except OSError as error:
    said = type(error).__name__
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
`+test.after+`
assert [name for name in os.listdir(here) if name.endswith(".part")] == []
write({"t": "note", "ns": 1, "level": "error", "text": said})
`)
			if got := said[*recorder.Note](t, read(t, filepath.Join(p.Module, "records.vscope"))).Text; got != test.want {
				t.Errorf("it raised %s, want %s", got, test.want)
			}
		})
	}
}

// A dump of nothing is none: no file is written, and what is missing is said,
// which differs before recording is armed and after.
func TestScopesCalibrationOfNothing(t *testing.T) {
	p := pythontest.Start(t, `
import os
import sys
import threading
import vramscope_probe as probe
assert probe.save_calibration(os.path.join(os.path.dirname(os.path.abspath(__file__)), "none.vscope")) is False
stop = threading.Event()
def listen():
    sys.stdin.read()
    stop.set()
threading.Thread(target=listen, daemon=True).start()
print("ready")
while not stop.is_set():
    probe.poll()
    stop.wait(0.001)
`)
	if line := p.Line(); line != "ready" {
		t.Fatal(line)
	}
	r := pythontest.Read(t, p.Path(), true)
	pythontest.Next[*recorder.State](r)
	path := filepath.Join(t.TempDir(), "calibration.vscope")
	ask := func(id, want string) {
		t.Helper()
		ack := r.Do(id, recorder.CommandCalibration, recorder.CommandArgs{Path: path})
		if ack.State != recorder.AckFailed || !strings.Contains(ack.Why, want) || ack.Path != "" || len(ack.Result) > 0 {
			t.Errorf("%+v, want why it has nothing: %s", ack, want)
		}
	}
	ask("1", "recording is not armed: arm it with record-on")
	if ack := r.Do("2", recorder.CommandRecordOn, recorder.CommandArgs{}); ack.State != recorder.AckDone {
		t.Fatalf("%+v", ack)
	}
	ask("3", "no arena and opened no scope after recording was armed")
	for _, left := range []string{filepath.Dir(path), p.Module} {
		if files, _ := filepath.Glob(filepath.Join(left, "*.vscope*")); len(files) > 0 {
			t.Errorf("left behind: %v", files)
		}
	}
	p.CloseInput()
	p.Wait()
}

// What record-off has forgotten is no dump any more: nothing is written, the
// answer says what to do, and recording that is armed anew begins anew. A dump is
// its owner's alone, as a recording is.
func TestScopesCalibrationAfterRecordOff(t *testing.T) {
	p := run(t, `
import algan.utils.memory_utils as memory
import stat
def path(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
own = Arena(1024, "own")
def work(name):
    with probe.scope(name):
        own.alloc(100)
    a = memory.ManualMemory(0, num_bytes=1024)
    probe.note_peak(name, 10, 90)
    memory.note_nonarena_peak(name, 5, 50)
    drain()
command("record", True)
work("first")
command("record", False)
drain()
report = probe.Report()
probe.COMMANDS["calibration"]("", {"path": path("calibration.vscope")}, report)
assert report.failed and not report.lines and not report.path
for part in "arm it with record-on", "before record-off":
    assert part in report.why, report.why
assert probe.save_calibration(path("calibration.vscope")) is False
assert not os.path.exists(path("calibration.vscope"))
command("record", True)
work("second")
open(path("calibration.vscope"), "w").close()
os.chmod(path("calibration.vscope"), 0o644)
assert probe.save_calibration(path("calibration.vscope")) is True
assert stat.S_IMODE(os.stat(path("calibration.vscope")).st_mode) == 0o600
look()
`)
	all := read(t, filepath.Join(p.Module, "calibration.vscope"))
	names := map[string]int{}
	for _, record := range all.others {
		if peak, ok := record.(*recorder.Peak); ok && peak.InputBytes == 10 {
			names[peak.Name]++
		}
	}
	if diff := cmp.Diff(map[string]int{"second": 1}, names); diff != "" {
		t.Error("the transients: ", diff)
	}
}
