package recorder

import (
	"slices"
	"testing"

	"vramscope/arena"
)

// A worked tree, counted by algan's rules: arena 1024; scope
// render{3 x u8; scope trace{10 x f32; 3 x f64 persist; temp{50 x f32}};
// scope post{5 x f64}}.
func workedTree(observe func(ArenaEvent)) *bump {
	b := newBump(1024, observe)
	render := b.scope(1)
	b.alloc(3, 1)
	trace := b.scope(2)
	b.alloc(40, 4)
	b.persist(24, 8)
	b.push(false)
	b.alloc(200, 4)
	b.pop()
	b.close(trace)
	post := b.scope(3)
	b.alloc(40, 8)
	b.close(post)
	b.close(render)
	return b
}

func TestWorkedTree(t *testing.T) {
	recorder, tree := NewAllocationRecorder(RecorderLimits{}), NewScopeTree(TreeLimits{})
	b := workedTree(func(event ArenaEvent) {
		recorder.Observe(&event)
		tree.Observe(&event)
	})
	for scope, want := range []ScopeRecord{
		{Name: 0, AllocCount: 5, PeakForward: 244, Peak: 268},
		{Name: 1, EntryForward: 0, EntryReverse: 1024, ExitForward: 88, ExitReverse: 1000, AllocCount: 5, PeakForward: 244, PeakReverse: 24, Peak: 268, SelfBytes: 3, TotalBytes: 307},
		{Name: 2, EntryForward: 3, EntryReverse: 1024, ExitForward: 44, ExitReverse: 1000, AllocCount: 3, PeakForward: 241, PeakReverse: 24, Peak: 265, SelfBytes: 264, TotalBytes: 264},
		{Name: 3, EntryForward: 44, EntryReverse: 1000, ExitForward: 88, ExitReverse: 1000, AllocCount: 1, PeakForward: 44, PeakReverse: 0, Peak: 44, SelfBytes: 40, TotalBytes: 40},
	} {
		got := recorder.Scope(int32(scope))
		if scope == 0 {
			want.TotalBytes = 307
		}
		compared := ScopeRecord{
			Name: got.Name, EntryForward: got.EntryForward, EntryReverse: got.EntryReverse,
			ExitForward: got.ExitForward, ExitReverse: got.ExitReverse, AllocCount: got.AllocCount,
			PeakForward: got.PeakForward, PeakReverse: got.PeakReverse, Peak: got.Peak,
			SelfBytes: got.SelfBytes, TotalBytes: got.TotalBytes,
		}
		if !equalRecords(compared, want) {
			t.Errorf("scope %d: got %+v, want %+v", scope, compared, want)
		}
	}
	if b.high != 268 || tree.Snapshot().HighWater() != 268 {
		t.Errorf("high-water %d and %d, want 268", b.high, tree.Snapshot().HighWater())
	}
	if padding := recorder.Scope(3).PeakForward - recorder.Scope(3).SelfBytes; padding != 4 {
		t.Errorf("post has %d bytes of padding, want 4", padding)
	}
	kinds := []arena.Op{}
	for event := range recorder.Events(2) {
		kinds = append(kinds, event.Op)
	}
	if want := []arena.Op{arena.OpAlloc, arena.OpPersist, arena.OpTempPush, arena.OpAlloc, arena.OpTempPop}; !slices.Equal(kinds, want) {
		t.Errorf("events of trace: %v, want %v", kinds, want)
	}
}

func equalRecords(a, b ScopeRecord) bool {
	a.Params, b.Params = nil, nil
	return a.Name == b.Name && a.EntryForward == b.EntryForward && a.EntryReverse == b.EntryReverse &&
		a.ExitForward == b.ExitForward && a.ExitReverse == b.ExitReverse && a.AllocCount == b.AllocCount &&
		a.PeakForward == b.PeakForward && a.PeakReverse == b.PeakReverse && a.Peak == b.Peak &&
		a.SelfBytes == b.SelfBytes && a.TotalBytes == b.TotalBytes
}

// What algan's own tests of its recorder assert.
func TestAlganAssertions(t *testing.T) {
	t.Run("self bytes are numel times itemsize", func(t *testing.T) {
		recorder := NewAllocationRecorder(RecorderLimits{})
		b := newBump(1024, func(event ArenaEvent) { recorder.Observe(&event) })
		b.scope(1)
		b.alloc(6*4, 4)
		b.alloc(5*1, 1)
		if got := recorder.Scope(1).SelfBytes; got != 29 {
			t.Errorf("got %d, want 29", got)
		}
	})
	t.Run("entry and peaks after an earlier allocation", func(t *testing.T) {
		recorder := NewAllocationRecorder(RecorderLimits{})
		b := newBump(1024, func(event ArenaEvent) { recorder.Observe(&event) })
		b.alloc(32, 4)
		b.scope(1)
		b.alloc(40, 4)
		b.persist(12, 4)
		got := recorder.Scope(1)
		if got.EntryForward != 32 || got.PeakForward != 40 || got.PeakReverse != 12 {
			t.Errorf("entry %d, peaks %d and %d; want 32, 40 and 12", got.EntryForward, got.PeakForward, got.PeakReverse)
		}
	})
	t.Run("a temporary context's bytes stay in the peak", func(t *testing.T) {
		recorder := NewAllocationRecorder(RecorderLimits{})
		b := newBump(1024, func(event ArenaEvent) { recorder.Observe(&event) })
		scope := b.scope(1)
		b.alloc(16, 4)
		b.push(false)
		b.alloc(64, 4)
		b.pop()
		b.alloc(16, 4)
		b.close(scope)
		got := recorder.Scope(1)
		if got.PeakForward != 80 || got.ExitForward != 32 {
			t.Errorf("peak %d, exit %d; want 80 and 32", got.PeakForward, got.ExitForward)
		}
		var kinds []arena.Op
		for event := range recorder.Events(1) {
			kinds = append(kinds, event.Op)
		}
		if want := []arena.Op{arena.OpAlloc, arena.OpTempPush, arena.OpAlloc, arena.OpTempPop, arena.OpAlloc}; !slices.Equal(kinds, want) {
			t.Errorf("kinds %v, want %v", kinds, want)
		}
	})
	t.Run("nesting", func(t *testing.T) {
		recorder := NewAllocationRecorder(RecorderLimits{})
		b := newBump(1024, func(event ArenaEvent) { recorder.Observe(&event) })
		outer := b.scope(1)
		b.alloc(8, 4)
		inner := b.scope(2)
		b.alloc(24, 4)
		b.close(inner)
		b.close(outer)
		events := 0
		for range recorder.Events(1) {
			events++
		}
		outerScope, innerScope := recorder.Scope(1), recorder.Scope(2)
		if innerScope.PeakForward != 24 || outerScope.PeakForward != 32 || events != 1 || outerScope.AllocCount != 2 {
			t.Errorf("inner %d, outer %d, %d own events, %d allocations; want 24, 32, 1, 2",
				innerScope.PeakForward, outerScope.PeakForward, events, outerScope.AllocCount)
		}
	})
	t.Run("a reset inside a scope abandons it", func(t *testing.T) {
		recorder, tree := NewAllocationRecorder(RecorderLimits{}), NewScopeTree(TreeLimits{})
		const wavefront, retry = 1, 2
		b := newBump(1024, func(event ArenaEvent) {
			recorder.Observe(&event)
			tree.Observe(&event)
		})
		b.scope(wavefront)
		b.alloc(100, 4)
		b.reset()
		scope := b.scope(retry)
		b.alloc(8, 4)
		b.close(scope)
		children := slices.Collect(recorder.Children(0))
		if len(children) != 1 || recorder.Scope(children[0]).Name != retry || recorder.Scope(children[0]).PeakForward != 8 {
			t.Errorf("under the root: %v", children)
		}
		if abandoned := recorder.Abandoned(); len(abandoned) != 1 || recorder.Scope(abandoned[0]).Name != wavefront {
			t.Errorf("abandoned: %v", abandoned)
		}
		s := tree.Snapshot()
		if s.Len() != 1 || s.Name(0) != retry || s.Abandoned().Len() != 1 || s.Abandoned().Name(0) != wavefront {
			t.Errorf("merged: %d rows and %d abandoned", s.Len(), s.Abandoned().Len())
		}
		if found := slices.Collect(recorder.Scopes(wavefront)); len(found) != 0 {
			t.Errorf("scopes under the root find an abandoned one: %v", found)
		}
		if root := recorder.Scope(0); root.AllocCount != 2 {
			t.Errorf("the root counts %d allocations, want 2", root.AllocCount)
		}
	})
	t.Run("an unmanaged arena records scopes and no allocation", func(t *testing.T) {
		recorder := NewAllocationRecorder(RecorderLimits{})
		b := newBump(0, func(event ArenaEvent) { recorder.Observe(&event) })
		b.close(b.scope(1))
		if got := recorder.Scope(1); got.AllocCount != 0 || got.State != ScopeClosed {
			t.Errorf("%+v", got)
		}
	})
}

// A scope ended by the end of an outer one keeps its exit at its entry.
func TestImplicitUnwinding(t *testing.T) {
	recorder, tree := NewAllocationRecorder(RecorderLimits{}), NewScopeTree(TreeLimits{})
	b := newBump(1024, func(event ArenaEvent) {
		recorder.Observe(&event)
		tree.Observe(&event)
	})
	outer := b.scope(1)
	b.alloc(8, 1)
	b.scope(2)
	b.alloc(8, 1)
	b.close(outer)
	inner := recorder.Scope(2)
	if inner.State != ScopeUnclosed || inner.ExitForward != inner.EntryForward || inner.EntryForward != 8 || inner.Closed == 0 {
		t.Errorf("inner: %+v", inner)
	}
	if got := recorder.Scope(1); got.State != ScopeClosed || got.ExitForward != 16 {
		t.Errorf("outer: %+v", got)
	}
	s := tree.Snapshot()
	if s.Row(0).Unclosed != 0 || s.Row(1).Unclosed != 1 {
		t.Errorf("merged: %+v and %+v", s.Row(0), s.Row(1))
	}
}

// A replay of 4n x 4 B; push; 64n x 4 B; pop; 4n x 4 B at n = 2 has peak 544,
// end 64 and 3 allocations.
func TestReplayPointers(t *testing.T) {
	const n = 2
	events := []ArenaEvent{
		{Op: arena.OpAlloc, Bytes: 4 * n * 4, ItemSize: 4},
		{Op: arena.OpTempPush},
		{Op: arena.OpAlloc, Bytes: 64 * n * 4, ItemSize: 4},
		{Op: arena.OpTempPop},
		{Op: arena.OpAlloc, Bytes: 4 * n * 4, ItemSize: 4},
	}
	replay := func(events []ArenaEvent, from ReplayFrom) Replayed {
		return ReplayPointers(func(yield func(*ArenaEvent) bool) {
			for i := range events {
				if !yield(&events[i]) {
					return
				}
			}
		}, from)
	}
	if got, want := replay(events, ReplayFrom{}), (Replayed{Peak: 544, End: 64, AllocCount: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, test := range map[string]struct {
		events []ArenaEvent
		from   ReplayFrom
		want   Replayed
	}{
		"alignment counts from the arena's start": {
			[]ArenaEvent{{Op: arena.OpAlloc, Bytes: 8, ItemSize: 8}}, ReplayFrom{Forward: 3}, Replayed{Peak: 13, End: 13, AllocCount: 1},
		},
		"reverse, length unknown": {
			[]ArenaEvent{{Op: arena.OpPersist, Bytes: 8, ItemSize: 4}}, ReplayFrom{}, Replayed{ReversePeak: 11, ReverseEnd: 11, AllocCount: 1},
		},
		"reverse, exactly": {
			[]ArenaEvent{{Op: arena.OpPersist, Bytes: 8, ItemSize: 4}}, ReplayFrom{Length: 15}, Replayed{ReversePeak: 11, ReverseEnd: 11, AllocCount: 1},
		},
		"a context that clears": {
			[]ArenaEvent{{Op: arena.OpTempPush, Flags: FlagClear}, {Op: arena.OpPersist, Bytes: 8, ItemSize: 1}, {Op: arena.OpTempPop}},
			ReplayFrom{}, Replayed{ReversePeak: 8, AllocCount: 1},
		},
		"an end without its beginning": {
			[]ArenaEvent{{Op: arena.OpTempPop}, {Op: arena.OpAlloc, Bytes: 1, ItemSize: 1}}, ReplayFrom{}, Replayed{Peak: 1, End: 1, AllocCount: 1},
		},
	} {
		if got := replay(test.events, test.from); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
