package python_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/recorder"
)

// scopeRow is a row of a tree with those below it, for comparing.
type scopeRow struct {
	Row      recorder.ScopeRow
	Children []scopeRow
}

func rowsBelow(s *recorder.ScopeSnapshot, parent int32) []scopeRow {
	var rows []scopeRow
	for child := range s.Children(parent) {
		row := s.Row(child)
		row.Parent = 0
		rows = append(rows, scopeRow{row, rowsBelow(s, child)})
	}
	return rows
}

// sameAsEvents holds the trees of the last state against those that recorder
// builds from the events alone: the merged one, and the merged single scopes of
// the recorder that keeps each apart.
func (a *told) sameAsEvents(t testing.TB) {
	t.Helper()
	last := a.states[len(a.states)-1]
	for i := range last.Arenas {
		state := &last.Arenas[i]
		loaded, err := recorder.LoadScopeTree(state, recorder.TreeLimits{})
		if err != nil {
			t.Fatal(err)
		}
		built, single := recorder.NewScopeTree(recorder.TreeLimits{}), recorder.NewAllocationRecorder(recorder.RecorderLimits{})
		for _, batch := range a.events {
			if batch.Arena == state.ID {
				built.ObserveBatch(batch)
				single.ObserveBatch(batch)
			}
		}
		got, want := loaded.Snapshot(), built.Snapshot()
		if diff := cmp.Diff(rowsBelow(want, -1), rowsBelow(got, -1)); diff != "" {
			t.Fatalf("%s: tree (-events +state):\n%s", state.Name, diff)
		}
		if diff := cmp.Diff(rowsBelow(want.Abandoned(), -1), rowsBelow(got.Abandoned(), -1)); diff != "" {
			t.Fatalf("%s: abandoned (-events +state):\n%s", state.Name, diff)
		}
		if diff := cmp.Diff(want.Open(), got.Open()); diff != "" {
			t.Fatalf("%s: open (-events +state):\n%s", state.Name, diff)
		}
		if got.Root() != want.Root() || got.HighWater() != want.HighWater() {
			t.Fatalf("%s: root %+v and high-water %d, want %+v and %d", state.Name, got.Root(), got.HighWater(), want.Root(), want.HighWater())
		}
		a.sameAsSingle(t, want, single)
	}
}

// sameAsSingle adds the single scopes of a recorder up by their paths and
// compares with the merged rows.
func (a *told) sameAsSingle(t testing.TB, tree *recorder.ScopeSnapshot, single *recorder.AllocationRecorder) {
	t.Helper()
	type sums struct{ n, unclosed, allocs, self, peak, forward, reverse int64 }
	kept, abandoned := map[string]sums{}, map[string]sums{}
	for scope := int32(1); scope < single.Len(); scope++ {
		record, path, top := single.Scope(scope), "", scope
		for at := scope; at > 0; at = single.Scope(at).Parent {
			path, top = fmt.Sprintf("/%d%s", single.Scope(at).Name, path), at
		}
		into := kept
		if slices.Contains(single.Abandoned(), top) {
			into = abandoned
		}
		s := into[path]
		s.n++
		if record.State == recorder.ScopeUnclosed || record.State == recorder.ScopeAbandoned {
			s.unclosed++
		}
		s.allocs += record.AllocCount
		s.self += record.SelfBytes
		s.peak, s.forward, s.reverse = max(s.peak, record.Peak), max(s.forward, record.PeakForward), max(s.reverse, record.PeakReverse)
		into[path] = s
	}
	merged := func(s *recorder.ScopeSnapshot) map[string]sums {
		rows := map[string]sums{}
		for at := range int32(s.Len()) {
			row, path := s.Row(at), ""
			for _, name := range s.Path(at) {
				path += fmt.Sprintf("/%d", name)
			}
			rows[path] = sums{row.Count, row.Unclosed, row.AllocCount, row.SelfBytes, row.Peak, row.PeakForward, row.PeakReverse}
		}
		return rows
	}
	if diff := cmp.Diff(kept, merged(tree), cmp.AllowUnexported(sums{})); diff != "" {
		t.Fatalf("single scopes against merged rows:\n%s", diff)
	}
	// A scope inside an abandoned one that had closed by itself is not unwound.
	if diff := cmp.Diff(abandoned, merged(tree.Abandoned()), cmp.AllowUnexported(sums{})); diff != "" {
		t.Fatalf("single abandoned scopes against merged rows:\n%s", diff)
	}
}

// randomHistory is a program that does what a seed says.
const randomHistory = `
import random
chance = random.Random(%d)
arenas = [Arena(4096, "one"), Arena(2048, "two")]
opened = {a: [] for a in arenas}
saved = {a: [] for a in arenas}
frame = 0
for step in range(%d):
    a = chance.choice(arenas)
    what = chance.randrange(100)
    if what < 28:
        a.alloc(chance.randrange(0, 200), chance.choice((1, 2, 4, 8, 16)), chance.choice(("float32", "uint8")), "f%%d" %% chance.randrange(4))
    elif what < 40:
        a.persist(chance.randrange(0, 100), chance.choice((1, 4, 8)))
    elif what < 60 and len(opened[a]) < 12:
        s = probe.scope("s%%d" %% chance.randrange(5), arena=a.handle, frames=chance.randrange(3), rate=chance.random())
        s.__enter__()
        opened[a].append(s)
    elif what < 80 and opened[a]:
        # Mostly the innermost, at times one further out, at times one that is gone.
        at = -1 if chance.random() < 0.8 else chance.randrange(len(opened[a]))
        opened[a][at].__exit__(None, None, None)
        if chance.random() < 0.9:
            del opened[a][at:]
    elif what < 86:
        saved[a].append(a.push(chance.random() < 0.5))
    elif what < 92 and saved[a]:
        a.pop(saved[a].pop())
    elif what < 94:
        a.mark()
    elif what < 96:
        a.restore()
    elif what < 97:
        a.reset("retry")
        saved[a] = []
    elif what < 98:
        a.current_pointer = min(a.current_reverse_pointer, a.current_pointer + chance.randrange(40))
    else:
        frame += 1
        OUTLET.put(("frame", probe.monotonic(), frame))
    if chance.random() < 0.02:
        drain()
look()
`

// A random program's trees are those that recorder builds from its events.
func TestScopesRandomHistories(t *testing.T) {
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			all := drive(t, fmt.Sprintf(randomHistory, seed, 1500))
			all.sameAsEvents(t)
		})
	}
}
