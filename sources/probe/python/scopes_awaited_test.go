package python_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/arena"
	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// awaited is a program of a run that is recorded: it is in the middle of its
// first frame when the recorder comes.
const awaited = `
import sys
import vramscope_probe as probe
pointers = [0, 1000]
handle = probe.arena("arena", length=1000, pointers=lambda: tuple(pointers))
probe.poll(0)
with probe.scope("frame"):
    with probe.scope("first"):
        pointers[0] = 100
    with probe.scope("trace"):
        print("ready")
        sys.stdin.readline()
        with probe.scope("shade"):
            pass
print("ended")
for line in sys.stdin:
    exec(line)
    print("said")
`

// A run's recorder is told of everything from the first scope on, whenever it
// comes, and who joins in the middle afterwards knows the scopes around.
func TestARecorderIsToldFromTheFirstScopeOn(t *testing.T) {
	p := pythontest.Start(t, awaited, "VRAMSCOPE_RECORDED=1")
	p.Line()
	other := pythontest.Read(t, p.Path(), false) // which asks for no events, and is none that they wait for
	pythontest.Next[*recorder.Sample](other)
	pythontest.Next[*recorder.Sample](other)
	r := pythontest.Read(t, p.Path(), true)
	if state := pythontest.Next[*recorder.State](r); len(state.Arenas) != 0 {
		t.Errorf("before the first event there are the arenas %+v", state.Arenas)
	}
	names, ops, scopes := recorder.StringTable{}, []arena.Op{}, []string{}
	told := func(record recorder.Record) {
		switch record := record.(type) {
		case *recorder.Strings:
			if err := names.Add(record); err != nil {
				t.Fatal(err)
			}
		case *recorder.ArenaEvents:
			ops = append(ops, record.Op...)
			for i, op := range record.Op {
				if op == arena.OpScopeOpen {
					scopes = append(scopes, names.String(record.Text[i]))
				}
			}
		}
	}
	for len(scopes) < 3 {
		record, open := r.NextRecord()
		if !open {
			t.Fatal(r.End())
		}
		told(record)
	}
	late := pythontest.Read(t, p.Path(), true)
	state := pythontest.NextWhere(late, func(state *recorder.State) bool { return len(state.Arenas) > 0 })
	if known := state.Arenas[0]; len(known.Open) != 2 || !cmp.Equal(known.Tree.Parent, []int32{-1, 0, 0}) {
		t.Errorf("who joins in the middle is told of the open scopes %+v of %+v", state.Arenas[0].Open, state.Arenas[0].Tree)
	}
	p.Say("")
	if line := p.Line(); line != "ended" {
		t.Fatal(line)
	}
	for len(scopes) < 4 {
		record, open := r.NextRecord()
		if !open {
			t.Fatal(r.End())
		}
		told(record)
	}
	if diff := cmp.Diff([]string{"frame", "first", "trace", "shade"}, scopes); diff != "" {
		t.Errorf("scopes that were told (-want +got):\n%s", diff)
	}
	if ops[0] != arena.OpNew {
		t.Errorf("the first event is %v, want that the arena is there", ops[0])
	}
	p.Quiet()
}

// What waits for a recorder that never comes has bounds in number and in time.
func TestWhatWaitsForARecorderIsBounded(t *testing.T) {
	for name, beyond := range map[string]string{
		"entries": "[probe.note_peak('project', 1, 2) for _ in range(40000)]",
		"time":    "probe.SESSION.service._awaited = 1",
	} {
		t.Run(name, func(t *testing.T) {
			p := pythontest.Start(t, awaited, "VRAMSCOPE_RECORDED=1")
			p.Line()
			p.Say("")
			p.Line()
			p.Say("print(probe.OUTLET.armed, probe.OUTLET.held)")
			if line := p.Line(); line != "True True" {
				t.Errorf("before that events are wanted and kept: %s", line)
			}
			p.Line()
			say := func(line string) string {
				p.Say(line)
				said := p.Line()
				if said != "said" {
					p.Line()
				}
				return said
			}
			say(beyond)
			p.Until("nothing waits any more", func() bool {
				return say("print(probe.OUTLET.armed, probe.OUTLET.held, len(probe.OUTLET.entries))") == "False False 0"
			})
			state := pythontest.NextWhere(pythontest.Read(t, p.Path(), true), func(state *recorder.State) bool { return len(state.Arenas) > 0 })
			if rows := state.Arenas[0].Tree.Parent; !cmp.Equal(rows, []int32{-1, 0, 0, 2}) {
				t.Errorf("of what was kept the rows below %v are told", rows)
			}
			p.Quiet()
		})
	}
}
