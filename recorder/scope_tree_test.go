package recorder

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vramscope/arena"
)

// rowsOf is a level of a snapshot in the form of the model.
func rowsOf(s *ScopeSnapshot, parent int32) []*modelRow {
	var rows []*modelRow
	for child := range s.Children(parent) {
		row := s.Row(child)
		row.Parent, row.Depth, row.Params = 0, 0, nil
		rows = append(rows, &modelRow{name: row.Name, row: row, children: rowsOf(s, child)})
	}
	return rows
}

func diffRows(want, got []*modelRow) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(modelRow{}))
}

// compareWithModel holds a tree against the model.
func compareWithModel(t *rapid.T, model *modelRecorder, s *ScopeSnapshot, b *bump) {
	if diff := diffRows(merged(model.root.children), rowsOf(s, -1)); diff != "" {
		t.Fatalf("tree (-model +tree):\n%s", diff)
	}
	if diff := diffRows(merged(model.abandoned), rowsOf(s.Abandoned(), -1)); diff != "" {
		t.Fatalf("abandoned (-model +tree):\n%s", diff)
	}
	root := RootTotals{
		AllocCount: model.root.allocs, SelfBytes: model.root.self(), Peak: model.root.peak, PeakForward: model.root.peakForward,
		PeakNs: model.root.peakNs, PeakFrame: model.root.peakFrame, PeakBound: model.root.bound,
	}
	if s.Root() != root {
		t.Fatalf("root: got %+v, want %+v", s.Root(), root)
	}
	if s.HighWater() != b.high {
		t.Fatalf("high-water: got %d, want %d", s.HighWater(), b.high)
	}
	if len(s.Open()) != len(model.stack)-1 {
		t.Fatalf("%d scopes open, want %d", len(s.Open()), len(model.stack)-1)
	}
	for i, open := range s.Open() {
		scope := model.stack[i+1]
		want := OpenScope{
			Number: scope.number, Node: open.Node, EntryForward: scope.entryForward, EntryReverse: scope.entryReverse,
			PeakForward: scope.peakForward, PeakReverse: scope.peakReverse, Peak: scope.peak, PeakBound: scope.bound, Opened: scope.opened,
		}
		if open != want || s.Name(open.Node) != scope.name {
			t.Fatalf("open scope %d: got %+v, want %+v", i, open, want)
		}
		live, known := s.Live(open.Node)
		if want := b.forward - scope.entryForward + scope.entryReverse - b.reverse; !known || live != want {
			t.Fatalf("live in open scope %d: got %d %t, want %d", i, live, known, want)
		}
	}
}

func TestScopeTreeMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, tree := newModel(), NewScopeTree(TreeLimits{})
		b := newBump(512, func(event ArenaEvent) {
			model.observe(event)
			tree.Observe(&event)
		})
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			b.step(t)
			if rapid.IntRange(0, 9).Draw(t, "look") == 0 {
				compareWithModel(t, model, tree.Snapshot(), b)
			}
		}
		compareWithModel(t, model, tree.Snapshot(), b)
	})
}

func TestSnapshotsDoNotChange(t *testing.T) {
	type picture struct {
		snapshot *ScopeSnapshot
		said     string
	}
	say := func(s *ScopeSnapshot) string {
		var state ArenaState
		s.FillState(&state)
		return fmt.Sprintf("%+v", state)
	}
	rapid.Check(t, func(t *rapid.T) {
		tree := NewScopeTree(TreeLimits{})
		b := newBump(512, func(event ArenaEvent) { tree.Observe(&event) })
		var pictures []picture
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			b.step(t)
			if rapid.IntRange(0, 5).Draw(t, "look") == 0 {
				snapshot := tree.Snapshot()
				pictures = append(pictures, picture{snapshot, say(snapshot)})
			}
		}
		for i, p := range pictures {
			if said := say(p.snapshot); said != p.said {
				t.Fatalf("snapshot %d changed from\n%s\nto\n%s", i, p.said, said)
			}
		}
	})
}

func TestSnapshotsShareWhatDidNotChange(t *testing.T) {
	tree := NewScopeTree(TreeLimits{})
	b := newBump(1<<40, func(event ArenaEvent) { tree.Observe(&event) })
	for name := range uint32(1000) {
		b.close(b.scope(name + 1))
	}
	first := tree.Snapshot()
	b.close(b.scope(130))
	second := tree.Snapshot()
	changed := 0
	for from, to := range second.Changed(first) {
		changed++
		if from > 129 || to <= 129 {
			t.Errorf("rows [%d, %d) are said to differ", from, to)
		}
	}
	if changed != 1 {
		t.Errorf("%d stretches differ, want 1", changed)
	}
	for range second.Changed(second) {
		t.Error("a snapshot differs from itself")
	}
	if again := tree.Snapshot(); &again.chunks[0] != &second.chunks[0] {
		t.Error("a snapshot without a change in between copies the list of chunks")
	}
	if count := second.Count(129); count != 2 {
		t.Errorf("count %d, want 2", count)
	}
	if count := first.Count(129); count != 1 {
		t.Errorf("the earlier snapshot says %d, want 1", count)
	}
}

func TestLoadedTreeGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, tree := newModel(), NewScopeTree(TreeLimits{})
		b := newBump(512, func(event ArenaEvent) {
			model.observe(event)
			tree.Observe(&event)
		})
		for range rapid.IntRange(0, 60).Draw(t, "steps before") {
			b.step(t)
		}
		var state ArenaState
		tree.Snapshot().FillState(&state)
		loaded, err := LoadScopeTree(&state, TreeLimits{})
		if err != nil {
			t.Fatal(err)
		}
		compareWithModel(t, model, loaded.Snapshot(), b)
		// A reset over scopes from before the state is for the next state to
		// mend; everything else goes on exactly.
		for len(b.open) > 0 {
			event := ArenaEvent{Op: arena.OpScopeClose, Scope: b.open[0], Forward: b.forward, Reverse: b.reverse, Ns: b.ns}
			b.open = nil
			model.observe(event)
			loaded.Observe(&event)
		}
		b.observe = func(event ArenaEvent) {
			model.observe(event)
			loaded.Observe(&event)
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps after") {
			b.step(t)
		}
		compareWithModel(t, model, loaded.Snapshot(), b)
	})
}

// The first scope of a name is whole in the tree; the second one was open when
// the state was written, and is abandoned after it.
func TestAbandonAfterStateMovesWhatCameSince(t *testing.T) {
	tree := NewScopeTree(TreeLimits{})
	b := newBump(1024, func(event ArenaEvent) { tree.Observe(&event) })
	number := b.scope(1)
	b.alloc(100, 1)
	b.close(number)
	b.scope(1)
	b.alloc(50, 1)
	var state ArenaState
	tree.Snapshot().FillState(&state)
	loaded, err := LoadScopeTree(&state, TreeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	b.observe = func(event ArenaEvent) { loaded.Observe(&event) }
	b.alloc(7, 1)
	b.reset()
	s := loaded.Snapshot()
	if row := s.Row(0); row.Count != 1 || row.Open != 0 || row.SelfBytes != 150 {
		t.Errorf("tree: %+v", row)
	}
	if row := s.Abandoned().Row(0); row.Count != 1 || row.Unclosed != 1 || row.SelfBytes != 7 || row.Peak != 57 {
		t.Errorf("abandoned: %+v", row)
	}
}

func TestParametersLastSeen(t *testing.T) {
	tree := NewScopeTree(TreeLimits{})
	b := newBump(1024, func(event ArenaEvent) { tree.Observe(&event) })
	number := b.scope(1, arena.Int("frames", 8), arena.Text("mode", "fast"))
	b.emit(ArenaEvent{Op: arena.OpParams, Params: []arena.Param{arena.Float("scale", 0.5)}})
	first := tree.Snapshot()
	b.close(number)
	b.close(b.scope(1, arena.Int("frames", 4)))
	b.close(b.scope(1))
	want := []arena.Param{arena.Int("frames", 8), arena.Text("mode", "fast"), arena.Float("scale", 0.5)}
	if diff := cmp.Diff(want, first.Params(0)); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	want[0].Int = 4
	if diff := cmp.Diff(want, tree.Snapshot().Params(0)); diff != "" {
		t.Errorf("at the end (-want +got):\n%s", diff)
	}
}

func TestTreeBounds(t *testing.T) {
	t.Run("rows", func(t *testing.T) {
		tree := NewScopeTree(TreeLimits{Rows: 3})
		b := newBump(1<<30, func(event ArenaEvent) { tree.Observe(&event) })
		outer := b.scope(1)
		for name := uint32(2); name < 10; name++ {
			number := b.scope(name)
			b.alloc(10, 1)
			b.close(b.scope(50))
			b.close(number)
		}
		b.close(outer)
		s := tree.Snapshot()
		if s.Len() != 4 {
			t.Fatalf("%d rows, want render, 2, 50 under 2 and …", s.Len())
		}
		folded := s.Row(3)
		if folded.Name != FoldedName || folded.SelfBytes != 70 || folded.AllocCount != 7 || folded.TotalBytes != 70 || folded.Count != 14 {
			t.Errorf("folded row: %+v", folded)
		}
		if total := s.TotalBytes(0); total != 80 {
			t.Errorf("total of the outer scope %d, want 80", total)
		}
		if s.Folded() != 14 {
			t.Errorf("%d scopes folded, want 14", s.Folded())
		}
	})
	t.Run("depth", func(t *testing.T) {
		tree := NewScopeTree(TreeLimits{Depth: 4})
		b := newBump(1<<30, func(event ArenaEvent) { tree.Observe(&event) })
		for range 1000 {
			b.scope(1)
			b.alloc(1, 1)
		}
		s := tree.Snapshot()
		if s.Len() != 5 || len(s.Open()) > 6 {
			t.Fatalf("%d rows and %d open", s.Len(), len(s.Open()))
		}
		if row := s.Row(4); row.Name != FoldedName || row.SelfBytes != 996 || row.Count != 996 {
			t.Errorf("deepest row: %+v", row)
		}
		if row := s.Row(0); row.TotalBytes != 1000 || row.AllocCount != 1000 {
			t.Errorf("outermost row: %+v", row)
		}
		b.close(1)
		if open := tree.Snapshot().Open(); len(open) != 0 {
			t.Errorf("%d scopes open at the end", len(open))
		}
	})
	t.Run("parameters", func(t *testing.T) {
		tree := NewScopeTree(TreeLimits{ParamBytes: 1000})
		b := newBump(1<<30, func(event ArenaEvent) { tree.Observe(&event) })
		many := make([]arena.Param, 1000)
		for i := range many {
			many[i] = arena.Int(fmt.Sprint(i), 1)
		}
		b.scope(1, many...)
		b.emit(ArenaEvent{Op: arena.OpParams, Params: many})
		b.scope(2, arena.Int("frames", 1))
		s := tree.Snapshot()
		if len(s.Params(0)) != 0 || len(s.Params(1)) != 1 {
			t.Errorf("%d and %d parameters kept", len(s.Params(0)), len(s.Params(1)))
		}
	})
	t.Run("abandoned", func(t *testing.T) {
		tree := NewScopeTree(TreeLimits{Rows: 2})
		b := newBump(1<<30, func(event ArenaEvent) { tree.Observe(&event) })
		for name := uint32(1); name < 6; name++ {
			b.scope(name)
			b.alloc(10, 1)
			b.scope(9)
			b.alloc(1, 1)
			b.reset()
		}
		s := tree.Snapshot()
		if s.Len() != 0 {
			t.Errorf("%d rows left in the tree", s.Len())
		}
		self := int64(0)
		for row := range int32(s.Abandoned().Len()) {
			self += s.Abandoned().SelfBytes(row)
		}
		if self != 55 {
			t.Errorf("%d bytes abandoned, want 55", self)
		}
	})
}

func TestBrokenTreesAreRefused(t *testing.T) {
	for name, state := range map[string]ArenaState{
		"parent behind":     {Tree: TreeColumns{Parent: []int32{0}}},
		"parent below":      {Tree: TreeColumns{Parent: []int32{-2}}},
		"columns differ":    {Tree: TreeColumns{Parent: []int32{-1, 0}, Count: []int64{1}}},
		"column too long":   {Abandoned: TreeColumns{Count: []int64{1}}},
		"parameters":        {Tree: TreeColumns{Parent: []int32{-1}, Params: []ParamSet{{Row: 1}}}},
		"open elsewhere":    {Tree: TreeColumns{Parent: []int32{-1}}, Open: []OpenScope{{Number: 1, Node: 1}}},
		"open not a path":   {Tree: TreeColumns{Parent: []int32{-1, -1}, Name: []uint32{1, 2}}, Open: []OpenScope{{Number: 1}, {Number: 2, Node: 1}}},
		"open out of order": {Tree: TreeColumns{Parent: []int32{-1, 0}}, Open: []OpenScope{{Number: 2}, {Number: 2, Node: 1}}},
	} {
		if _, err := LoadScopeTree(&state, TreeLimits{}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	// Two rows of one place are one row.
	state := ArenaState{Tree: TreeColumns{Parent: []int32{-1, -1}, Name: []uint32{5, 5}, SelfBytes: []int64{1, 2}}}
	tree, err := LoadScopeTree(&state, TreeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if s := tree.Snapshot(); s.Len() != 1 || s.SelfBytes(0) != 3 || s.TotalBytes(0) != 3 {
		t.Errorf("%d rows, %d bytes", s.Len(), s.SelfBytes(0))
	}
}
