package python_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/arena"
	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// A program with the real probe, which carries out what is said to it.
const scopesLive = `
import sys, threading
print("ready")
for line in sys.stdin:
    exec(line)
    print("said")
`

// foldFrom is the tree of an arena: a state and the events behind it.
func foldFrom(t *testing.T, state *recorder.ArenaState, events []*recorder.ArenaEvents) *recorder.ScopeTree {
	t.Helper()
	tree, err := recorder.LoadScopeTree(state, recorder.TreeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range events {
		if batch.Arena == state.ID {
			tree.ObserveBatch(batch)
		}
	}
	return tree
}

// A reader that asks for events gets a state and then what changes it: together
// they are what a reader that comes later is told at once.
func TestScopesLiveReader(t *testing.T) {
	p := pythontest.Start(t, beginning(t, "arena.py")+`
a = Arena(1 << 20)
def work():
    with probe.scope("render", frames=8):
        a.alloc(100, 4, "float32", "load")
        with probe.scope("trace"):
            saved = a.push()
            a.alloc(1000, 16)
            a.pop(saved)
    with probe.scope("open"):
        pass
`+scopesLive)
	if line := p.Line(); line != "ready" {
		t.Fatal(line)
	}
	say := func(line string) {
		p.Say(line)
		if answer := p.Line(); answer != "said" {
			t.Fatalf("%q: %q", line, answer)
		}
	}
	r := pythontest.Read(t, p.Path(), true)
	state := pythontest.NextWhere(r, func(s *recorder.State) bool { return len(s.Arenas) > 0 })
	p.Until("the probe to hand events on", func() bool {
		p.Say("print(probe.OUTLET.armed)")
		armed := p.Line() == "True"
		p.Line()
		return armed
	})
	say("work(); probe.poll(41); work(); probe.note_peak('project', 10, 90)")
	var events []*recorder.ArenaEvents
	names := recorder.StringTable{}
	closed, frames := 0, []int64{}
	for closed < 6 {
		record, open := r.NextRecord()
		if !open {
			t.Fatal(r.End())
		}
		switch record := record.(type) {
		case *recorder.Strings:
			if err := names.Add(record); err != nil {
				t.Fatal(err)
			}
		case *recorder.ArenaEvents:
			events = append(events, record)
			for i, op := range record.Op {
				if op == arena.OpScopeClose {
					closed++
				}
				if op == arena.OpScopeOpen && names.String(record.Text[i]) == "render" {
					frames = append(frames, record.Frame)
				}
			}
		}
	}
	if peak := pythontest.Next[*recorder.Peak](r); peak.Name != "project" || peak.InputBytes != 10 || peak.PeakBytes != 90 {
		t.Errorf("%+v", peak)
	}
	if diff := cmp.Diff([]int64{-1, 41}, frames); diff != "" {
		t.Errorf("frames of the scopes (-want +got):\n%s", diff)
	}
	late := pythontest.Read(t, p.Path(), false)
	whole := pythontest.NextWhere(late, func(s *recorder.State) bool { return len(s.Arenas) > 0 })
	built := foldFrom(t, &state.Arenas[0], events).Snapshot()
	loaded := foldFrom(t, &whole.Arenas[0], nil).Snapshot()
	if diff := cmp.Diff(rowsBelow(built, -1), rowsBelow(loaded, -1)); diff != "" || built.Len() != 3 {
		t.Errorf("%d rows (-events +state):\n%s", built.Len(), diff)
	}
	if len(whole.NonArena) != 1 {
		t.Errorf("transients %+v", whole.NonArena)
	}
	p.Quiet()
}

// Recording is switched on from outside, and what was recorded is written to a
// file by a command.
func TestScopesAreRecordedByCommand(t *testing.T) {
	p := pythontest.Start(t, beginning(t, "arena.py")+`
import threading
a = Arena(1 << 20)
stop = threading.Event()
def listen():
    sys.stdin.read()
    stop.set()
import sys
threading.Thread(target=listen, daemon=True).start()
print("ready")
while not stop.is_set():
    with probe.scope("turn"):
        a.alloc(10)
    a.reset()
    probe.poll()
    stop.wait(0.001)
`)
	if line := p.Line(); line != "ready" {
		t.Fatal(line)
	}
	r := pythontest.Read(t, p.Path(), true)
	pythontest.Next[*recorder.State](r)
	if ack := r.Do("1", recorder.CommandRecordOn, recorder.CommandArgs{}); ack.State != recorder.AckDone || len(ack.Result) == 0 {
		t.Fatalf("%+v", ack)
	}
	if ack := r.Do("1b", recorder.CommandRecordOn, recorder.CommandArgs{}); ack.Acted == nil || *ack.Acted {
		t.Errorf("what was armed already is armed anew: %+v", ack)
	}
	pythontest.NextWhere(r, func(batch *recorder.ArenaEvents) bool { return len(batch.Op) > 1 })
	path := filepath.Join(t.TempDir(), "calibration.vscope")
	if ack := r.Do("2", recorder.CommandCalibration, recorder.CommandArgs{Path: path}); ack.State != recorder.AckDone || ack.Path != path {
		t.Fatalf("%+v", ack)
	}
	all := read(t, path)
	if got := numbersOf(all.row(t, all.tree(t, "arena"), "turn")); got.count < 1 || got.self < 10*got.count-10 {
		t.Errorf("%+v", got)
	}
	all.sameAsEventsOf(t, "arena")
	if ack := r.Do("3", recorder.CommandRecordOff, recorder.CommandArgs{}); ack.State != recorder.AckDone {
		t.Fatalf("%+v", ack)
	}
	p.CloseInput()
	if code := p.Wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	p.Quiet()
}

// While nobody watches, a scope is one shared object and nothing is kept.
func TestScopesOfAProgramThatNobodyWatches(t *testing.T) {
	all := drive(t, `
OUTLET.armed = False
a = Arena(1024)
drain()
assert probe.scope("a") is probe.scope("b", frames=3) is probe.NULL_SCOPE
@probe.scope.over("decorated", frames=2)
def decorated():
    a.alloc(10)
    return 3
@probe.scope
def bare():
    return decorated() + 1
with probe.scope("a"):
    assert bare() == 4
probe.note_peak("p", 1, 2)
assert not OUTLET.entries
OUTLET.armed = True
with probe.scope("a"):
    assert bare() == 4
look()
`)
	tree := all.tree(t, "arena")
	if tree.Len() != 3 {
		t.Errorf("%d rows, want those of the second time", tree.Len())
	}
	if got := numbersOf(all.row(t, tree, "a", "bare", "decorated")); got.count != 1 || got.self != 10 {
		t.Errorf("%+v", got)
	}
}

// Each thread has scopes of its own; an arena's belong to the thread that has
// some open, and what a thread has left goes when it ends.
func TestScopesOfThreads(t *testing.T) {
	all := drive(t, `
import threading
a = Arena(4096)
inside, leave = threading.Barrier(4), threading.Event()
def work(number):
    with probe.scope("outer"):
        with probe.scope("of main", arena=a.handle):
            inside.wait()
            leave.wait()
with probe.scope("main"):
    threads = [threading.Thread(target=work, args=(n,), name="worker %d" % n) for n in range(3)]
    for thread in threads:
        thread.start()
    inside.wait()
    a.alloc(8)
    look()
    leave.set()
    for thread in threads:
        thread.join()
del threads, thread
look()
`)
	if got := numbersOf(all.row(t, all.tree(t, "arena"), "main")); got.count != 1 || got.self != 8 {
		t.Errorf("main %+v", got)
	}
	for n := range 3 {
		name := fmt.Sprintf("scopes of worker %d", n)
		for _, row := range [][]string{{"outer"}, {"outer", "of main"}} {
			if got := numbersOf(all.row(t, all.tree(t, name), row...)); got.count != 1 || got.unclosed != 0 {
				t.Errorf("%s: %v %+v", name, row, got)
			}
		}
		if state := all.arena(t, name); state.Released == 0 || state.HasBuffer || state.Length != 0 {
			t.Errorf("%+v", state)
		}
	}
	all.sameAsEvents(t)
}

// Entries that do not fit are counted; scopes whose end was among them are ended
// by the next one that cannot lie inside them.
func TestScopesWhoseEntriesAreLost(t *testing.T) {
	all := drive(t, `
a = Arena(1 << 20)
drain()
OUTLET.CAPACITY = 4
for turn in range(3):
    with probe.scope("outer"):
        with probe.scope("middle"):
            with probe.scope("inner"):
                a.alloc(8)
    drain()
OUTLET.CAPACITY = 1 << 16
with probe.scope("after"):
    a.alloc(16)
look()
`)
	lost := int64(0)
	for _, record := range all.others {
		if l, ok := record.(*recorder.Lost); ok {
			lost += l.N
		}
	}
	if lost != 9 {
		t.Errorf("%d entries were told as lost, want 9", lost)
	}
	tree := all.tree(t, "arena")
	if len(all.arena(t, "arena").Open) != 0 {
		t.Errorf("scopes stay open: %+v", all.arena(t, "arena").Open)
	}
	if got := numbersOf(all.row(t, tree, "outer")); got.count != 3 {
		t.Errorf("outer %+v", got)
	}
	if got := numbersOf(all.row(t, tree, "after")); got.self != 16 {
		t.Errorf("after %+v", got)
	}
	all.sameAsEvents(t)
}

// A program's own arena may be anything: what it raises or returns never
// reaches the program, and is told.
func TestScopesOfArenasThatFail(t *testing.T) {
	for name, arena := range map[string]string{
		"pointers that raise":       `probe.arena("bad", length=100, pointers=lambda: 1 // 0)`,
		"pointers that are none":    `probe.arena("bad", length=100, pointers=lambda: None)`,
		"a length that raises":      `probe.arena("bad", length=lambda: 1 // 0, pointers=lambda: (0, 100))`,
		"an object without a place": `probe.arena("bad", Nothing())`,
		"no object":                 `probe.arena("bad", 3)`,
		"names that are none":       `probe.arena(Nothing(), length=10, pointers=lambda: (0, 10))`,
	} {
		t.Run(name, func(t *testing.T) {
			all := drive(t, `
class Nothing:
    def __str__(self):
        raise ValueError
handle = `+arena+`
with probe.scope("a", arena=handle, odd=Nothing(), more=object()):
    handle.alloc(10)
    handle.reset()
    probe.note_peak("p", Nothing(), 3)
try:
    with probe.scope("b", arena=handle):
        raise KeyError
except KeyError:
    pass
look()
sample()
`)
			if note := said[*recorder.Note](t, all); note.Level != "warning" || note.Text == "" {
				t.Errorf("%+v", note)
			}
			for _, set := range said[*recorder.Sample](t, all).Sets {
				if strings.Contains(name, "pointers") && (set.Values.Known(recorder.Forward) || set.Why["forward"] == "") {
					t.Errorf("pointers that nobody knows: %+v", set)
				}
			}
		})
	}
}

// Arenas end with their object, with their handle, or by being closed; one that
// came too late for the registry is not watched and does no harm.
func TestScopesOfArenasThatEnd(t *testing.T) {
	all := drive(t, `
class Methods:
    def where(self):
        return (1, 10)
target, by_method = Arena(64, "object"), Methods()
kept = probe.arena("method", length=10, pointers=by_method.where)
handle = probe.arena("handle", length=10, pointers=lambda: (2, 10))
closed = probe.arena("closed", length=10, pointers=lambda: (3, 10))
probe.arena("dropped at once", length=10, pointers=lambda: (4, 10))
look()
sample()
del target, by_method, handle
closed.close("no more")
closed.alloc(10)
look()
many = [probe.arena("many", length=1, pointers=lambda: (0, 1)) for _ in range(300)]
with probe.scope("a", arena=many[-1]):
    many[-1].alloc(1)
drain()
assert len(probe.ARENA_HANDLES.living()) == probe.MAX_ARENAS, len(probe.ARENA_HANDLES.living())
`)
	forward := map[string]int64{}
	for _, set := range said[*recorder.Sample](t, all).Sets {
		forward[set.Name] = counters(&set)["forward"]
	}
	if diff := cmp.Diff(map[string]int64{"object": 0, "method": 1, "handle": 2, "closed": 3}, forward); diff != "" {
		t.Errorf("sampled (-want +got):\n%s", diff)
	}
	for _, name := range []string{"object", "method", "handle", "closed"} {
		if state := all.arena(t, name); state.Released == 0 || state.HasBuffer {
			t.Errorf("%+v", state)
		}
	}
}

// However many scopes there are, what is kept of them is bounded: the tree by
// its rows, names by the table.
func TestScopesAreBounded(t *testing.T) {
	all := drive(t, `
probe.ScopeRows.ROWS = 100
a = Arena(1 << 20)
with probe.scope("outer"):
    for number in range(1000):
        with probe.scope("scope %d" % number):
            saved = a.push()
            a.alloc(10)
            a.pop(saved)
    drain()
nested = [probe.scope("deep") for _ in range(600)]
for scope in nested:
    scope.__enter__()
drain()
for scope in reversed(nested):
    scope.__exit__(None, None, None)
look()
`)
	state := all.arena(t, "arena")
	if rows := len(state.Tree.Parent); rows > 110 {
		t.Errorf("%d rows", rows)
	}
	if got := numbersOf(all.row(t, all.tree(t, "arena"), "outer")); got.allocs != 1000 || got.total != 10000 || state.Folded < 900 {
		t.Errorf("outer %+v, %d folded", got, state.Folded)
	}
}

// A recorded program does not grow with the scopes that it has run.
func TestScopesDoNotGrow(t *testing.T) {
	p := run(t, `
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
a = Arena(1 << 30)
def turn():
    for number in range(5000):
        with probe.scope("s%d" % (number % 9), frames=number):
            saved = a.push()
            a.alloc(100)
            a.pop(saved)
    probe.ARENA_ADAPTER.drain(lambda record: None)
for _ in range(4):
    turn()
before = resident()
for _ in range(16):
    turn()
assert resident() - before < 2 << 20, resident() - before
assert not OUTLET.lost
`)
	p.Quiet()
}
