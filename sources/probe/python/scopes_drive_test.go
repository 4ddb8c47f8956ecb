package python_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// told is what the parts that fold scopes wrote.
type told struct {
	names  recorder.StringTable
	events []*recorder.ArenaEvents
	states []*recorder.State
	others []recorder.Record
	order  []recorder.Record // everything but strings
}

// drive runs a script behind testdata/scopes/harness.py and arena.py and reads what it
// wrote. Not one line may be bad or of an unknown type.
func drive(t testing.TB, script string) *told {
	t.Helper()
	return read(t, filepath.Join(run(t, script).Module, "records.vscope"))
}

// run runs a script behind the harness to its end.
func run(t testing.TB, script string) *pythontest.Process {
	t.Helper()
	standins, err := filepath.Abs("testdata/standins")
	if err != nil {
		t.Fatal(err)
	}
	p := pythontest.Start(t, beginning(t, "harness.py", "arena.py")+script+"\nend()\n", "VRAMSCOPE_PROBE=0", "STANDINS="+standins)
	for line := p.Line(); line != "done"; line = p.Line() {
		t.Log(line)
	}
	p.Quiet()
	return p
}

// beginning is files of testdata/scopes, one after another.
func beginning(t testing.TB, files ...string) string {
	t.Helper()
	var script strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("testdata/scopes", file))
		if err != nil {
			t.Fatal(err)
		}
		script.Write(append(text, '\n'))
	}
	return script.String()
}

// read reads a recording that holds whole lines.
func read(t testing.TB, path string) *told {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := recorder.NewDecoder(file)
	all := &told{}
	for {
		record, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all.take(t, record)
	}
	if p := decoder.Problems(); p.BadLines+p.LongLines+p.Unknown > 0 || p.CutBytes > 0 {
		t.Fatalf("the recording has problems: %+v", p)
	}
	return all
}

func (a *told) take(t testing.TB, record recorder.Record) {
	t.Helper()
	switch r := record.(type) {
	case *recorder.Strings:
		if err := a.names.Add(r); err != nil {
			t.Fatal(err)
		}
		return
	case *recorder.ArenaEvents:
		a.events = append(a.events, r)
	case *recorder.State:
		a.states = append(a.states, r)
	default:
		a.others = append(a.others, record)
	}
	a.order = append(a.order, record)
}

// arena is the arena of that name in the last state.
func (a *told) arena(t testing.TB, name string) *recorder.ArenaState {
	t.Helper()
	if len(a.states) == 0 {
		t.Fatal("there is no state")
	}
	last := a.states[len(a.states)-1]
	for i := range last.Arenas {
		if last.Arenas[i].Name == name {
			return &last.Arenas[i]
		}
	}
	t.Fatalf("the state has no arena %q: %+v", name, last.Arenas)
	return nil
}

// tree is the scope tree of an arena as a reader loads it.
func (a *told) tree(t testing.TB, name string) *recorder.ScopeSnapshot {
	t.Helper()
	tree, err := recorder.LoadScopeTree(a.arena(t, name), recorder.TreeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree.Snapshot()
}

// row is the row of scopes of that path, outermost name first.
func (a *told) row(t testing.TB, tree *recorder.ScopeSnapshot, path ...string) recorder.ScopeRow {
	t.Helper()
	at := int32(-1)
	for _, name := range path {
		found := int32(-1)
		for child := range tree.Children(at) {
			if a.names.String(tree.Name(child)) == name {
				found = child
			}
		}
		if found < 0 {
			t.Fatalf("no scope %q in %q", name, path)
		}
		at = found
	}
	return tree.Row(at)
}
