package recorder

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vramscope/arena"
)

// compareScope holds a scope and everything inside it against the model.
func compareScope(t *rapid.T, model *modelScope, r *AllocationRecorder, scope int32) {
	got := r.Scope(scope)
	if got.Parent >= 0 && !slices.Contains(slices.Collect(r.Children(got.Parent)), scope) {
		t.Fatalf("scope %d is no child of its parent %d", scope, got.Parent)
	}
	want := ScopeRecord{
		Parent: got.Parent, Depth: got.Depth, Name: model.name, Params: got.Params,
		EntryForward: model.entryForward, EntryReverse: model.entryReverse,
		ExitForward: model.exitForward, ExitReverse: model.exitReverse,
		AllocCount: model.allocs, SelfBytes: model.self(), TotalBytes: got.TotalBytes,
		PeakForward: model.peakForward, PeakReverse: model.peakReverse,
		Peak: model.peak, PeakNs: model.peakNs, PeakFrame: model.peakFrame,
		Opened: model.opened, Closed: model.closed, Frame: model.frame, State: model.state,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("scope %d (-model +recorder):\n%s", scope, diff)
	}
	if scope != 0 && got.TotalBytes != model.total() {
		t.Fatalf("scope %d: total %d, want %d", scope, got.TotalBytes, model.total())
	}
	if !slices.Equal(model.params, got.Params) {
		t.Fatalf("scope %d: params %v, want %v", scope, got.Params, model.params)
	}
	var events []ArenaEvent
	for event := range r.Events(scope) {
		events = append(events, *event)
	}
	if diff := cmp.Diff(model.events, events); diff != "" {
		t.Fatalf("events of scope %d (-model +recorder):\n%s", scope, diff)
	}
	children := slices.Collect(r.Children(scope))
	if len(children) != len(model.children) {
		t.Fatalf("scope %d has %d children, want %d", scope, len(children), len(model.children))
	}
	for i, child := range children {
		compareScope(t, model.children[i], r, child)
	}
}

func compareRecorder(t *rapid.T, model *modelRecorder, r *AllocationRecorder) {
	model.root.peakReverse = 0
	compareScope(t, model.root, r, 0)
	if len(r.Abandoned()) != len(model.abandoned) {
		t.Fatalf("%d abandoned, want %d", len(r.Abandoned()), len(model.abandoned))
	}
	for i, scope := range r.Abandoned() {
		if r.Scope(scope).Parent != -1 {
			t.Fatalf("abandoned scope %d has a parent", scope)
		}
		compareScope(t, model.abandoned[i], r, scope)
	}
}

func TestAllocationRecorderMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, recorder := newModel(), NewAllocationRecorder(RecorderLimits{})
		b := newBump(512, func(event ArenaEvent) {
			model.observe(event)
			recorder.Observe(&event)
		})
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			b.step(t)
			if rapid.IntRange(0, 19).Draw(t, "look") == 0 {
				compareRecorder(t, model, recorder)
			}
		}
		compareRecorder(t, model, recorder)
		log := recorder.Log()
		compareRecorder(t, model, Replay(&log))
	})
}

func TestEventLogGivesBackWhatItTook(t *testing.T) {
	texts := rapid.StringN(0, 8, 40)
	param := rapid.Custom(func(t *rapid.T) arena.Param {
		name := texts.Draw(t, "name")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return arena.Int(name, rapid.Int64().Draw(t, "int"))
		case 1:
			return arena.Float(name, rapid.Float64().Draw(t, "float"))
		case 2:
			return arena.Text(name, texts.Draw(t, "text"))
		default:
			return arena.Bool(name, rapid.Bool().Draw(t, "bool"))
		}
	})
	event := rapid.Custom(func(t *rapid.T) ArenaEvent {
		number := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1<<40), rapid.Int64())
		event := ArenaEvent{
			Ns: number.Draw(t, "ns"), Frame: number.Draw(t, "frame"), Op: arena.Op(rapid.IntRange(0, 31).Draw(t, "op")),
			Flags: rapid.Byte().Draw(t, "flags"), Bytes: number.Draw(t, "bytes"), ItemSize: number.Draw(t, "item"),
			Forward: number.Draw(t, "forward"), Reverse: number.Draw(t, "reverse"), Scope: rapid.Uint64().Draw(t, "scope"),
			Text: rapid.Uint32().Draw(t, "text"), DType: rapid.Uint32().Draw(t, "dtype"),
		}
		if params := rapid.SliceOfN(param, 0, 3).Draw(t, "params"); len(params) > 0 {
			event.Params = params
		}
		return event
	})
	rapid.Check(t, func(t *rapid.T) {
		var log EventLog
		var views []EventLog
		want := rapid.SliceOfN(event, 0, 300).Draw(t, "events")
		for i := range want {
			views = append(views, log)
			log.Append(&want[i])
		}
		views = append(views, log)
		for n, view := range views {
			if n%7 != 0 && n != len(want) {
				continue
			}
			var got []ArenaEvent
			for event := range view.All() {
				got = append(got, *event)
			}
			if diff := cmp.Diff(want[:n:n], got, cmp.Comparer(func(a, b []ArenaEvent) bool {
				return slices.EqualFunc(a, b, func(x, y ArenaEvent) bool { return cmp.Equal(x, y) })
			})); diff != "" {
				t.Fatalf("view of %d events (-want +got):\n%s", n, diff)
			}
		}
	})
}

// One event of a launch-bound loop takes about ten bytes.
func TestEventLogIsTight(t *testing.T) {
	var log EventLog
	b := newBump(1<<40, func(event ArenaEvent) { log.Append(&event) })
	for range 1000 {
		number := b.scope(3, arena.Int("frames", 8))
		for range 98 {
			b.alloc(1<<20, 4)
		}
		b.close(number)
	}
	if perEvent := float64(log.Bytes()) / float64(log.Len()); perEvent > 12 {
		t.Errorf("%.1f bytes an event", perEvent)
	}
}

func TestRecorderBounds(t *testing.T) {
	recorder := NewAllocationRecorder(RecorderLimits{Bytes: 64 << 10})
	b := newBump(1<<50, func(event ArenaEvent) { recorder.Observe(&event) })
	for range 10000 {
		b.scope(1, arena.Text("mode", "fast"))
		b.alloc(10, 1)
	}
	if recorder.Bytes() > 128<<10 {
		t.Errorf("takes %d bytes", recorder.Bytes())
	}
	log := recorder.Log()
	if recorder.Cut() == 0 || recorder.Cut()+log.Len() != 20001 {
		t.Errorf("%d events cut and %d kept of 20001", recorder.Cut(), log.Len())
	}
}
