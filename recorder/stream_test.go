package recorder

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vramscope/arena"
	"vramscope/pool"
)

// manualClock moves by a microsecond at every look, and by what a test adds.
type manualClock struct{ now int64 }

func (c *manualClock) read() int64 {
	c.now += 1000
	return c.now
}

// watcher is a reader of a stream, through the lines that it would be sent.
type watcher struct {
	t       interface{ Fatal(...any) }
	lines   bytes.Buffer
	strings StringTable
	joiner  StateJoiner
	state   *State // the last one
	trees   map[int64]*ScopeTree
	pools   []PoolEvent
	records []Record
}

func newWatcher(t interface{ Fatal(...any) }) *watcher {
	return &watcher{t: t, trees: map[int64]*ScopeTree{}}
}

// take writes a record as a line and reads it.
func (w *watcher) take(record Record) {
	back, err := DecodeLine([]byte(mustLine(w.t, record)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.records = append(w.records, back)
	switch r := back.(type) {
	case *Strings:
		if err := w.strings.Add(r); err != nil {
			w.t.Fatal(err)
		}
	case *State:
		whole, err := w.joiner.Add(r)
		if err != nil {
			w.t.Fatal(err)
		}
		if whole != nil {
			w.replace(whole)
		}
	case *ArenaEvents:
		if w.trees[r.Arena] == nil {
			w.trees[r.Arena] = NewScopeTree(TreeLimits{})
		}
		w.trees[r.Arena].ObserveBatch(r)
	case *PoolEvents:
		for _, event := range r.All() {
			w.pools = append(w.pools, event)
		}
	}
}

func (w *watcher) replace(state *State) {
	w.state = state
	clear(w.trees)
	for i := range state.Arenas {
		tree, err := LoadScopeTree(&state.Arenas[i], TreeLimits{})
		if err != nil {
			w.t.Fatal(err)
		}
		w.trees[state.Arenas[i].ID] = tree
	}
}

// said is a tree in words, so that string numbers do not matter.
func said(s *ScopeSnapshot, names *StringTable) string {
	var text strings.Builder
	var walk func(s *ScopeSnapshot, parent int32, indent string)
	walk = func(s *ScopeSnapshot, parent int32, indent string) {
		for row := range s.Children(parent) {
			r := s.Row(row)
			name := names.String(r.Name)
			r.Name, r.Parent = 0, 0
			fmt.Fprintf(&text, "%s%s %+v\n", indent, name, r)
			walk(s, row, indent+" ")
		}
	}
	walk(s, -1, "")
	fmt.Fprintf(&text, "abandoned\n")
	walk(s.Abandoned(), -1, "")
	forward, reverse := s.Pointers()
	fmt.Fprintf(&text, "%+v %d %d %d %d", s.Root(), len(s.Open()), forward, reverse, s.HighWater())
	return text.String()
}

// randomUse does something at random with a real arena.
func randomUse(t *rapid.T, a *arena.Arena, scopes *[]arena.Scope) {
	switch rapid.IntRange(0, 9).Draw(t, "use") {
	case 0, 1, 2, 3:
		a.Alloc(rapid.Int64Range(0, 16).Draw(t, "numel"), rapid.SampledFrom([]int64{1, 4, 8}).Draw(t, "item"))
	case 4:
		a.AllocPersist(rapid.Int64Range(0, 4).Draw(t, "numel"), 4)
	case 5, 6:
		name := rapid.SampledFrom([]string{"render", "trace", "post"}).Draw(t, "name")
		*scopes = append(*scopes, a.Scope(name, arena.Int("frames", rapid.Int64Range(1, 3).Draw(t, "frames"))))
	case 7, 8:
		if n := len(*scopes); n > 0 {
			(*scopes)[n-1].End()
			*scopes = (*scopes)[:n-1]
		}
	case 9:
		if rapid.IntRange(0, 2).Draw(t, "reset") == 0 {
			a.Reset("retry")
			*scopes = nil
		} else {
			temporary := a.Temporary(true, nil)
			a.Alloc(3, 8)
			temporary.End()
		}
	}
}

// What a reader builds from the lines is what the process has.
func TestReadersSeeWhatTheProcessHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &manualClock{}
		reader := newWatcher(t)
		stream := NewStream(StreamOptions{Source: "pid:1", Program: "render.py", Clock: clock.read, Emit: reader.take})
		stream.WantEvents(true)
		feed := stream.WatchArena(ArenaFacts{Name: "frame", Managed: true})
		a, err := arena.New(arena.Config{Name: "frame", Bytes: 600, Observer: feed.Observer()})
		if err != nil {
			t.Fatal(err)
		}
		var scopes []arena.Scope
		frame := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			randomUse(t, a, &scopes)
			switch rapid.IntRange(0, 9).Draw(t, "between") {
			case 0:
				frame++
				stream.BeginFrame(frame)
			case 1:
				stream.Flush()
			}
			if stream.StateDue() {
				feed.Update(a.State())
				stream.EmitState(nil)
			}
		}
		stream.Flush()
		var names StringTable
		stream.names.All(Head{}, func(record *Strings) { names.Add(record) })
		want := said(feed.tree.Snapshot(), &names)
		if diff := cmp.Diff(want, said(reader.trees[feed.ID()].Snapshot(), &reader.strings)); diff != "" {
			t.Fatalf("a reader from the start (-process +reader):\n%s", diff)
		}
		late := newWatcher(t)
		stream.EmitAll(nil, late.take)
		if diff := cmp.Diff(want, said(late.trees[feed.ID()].Snapshot(), &late.strings)); diff != "" {
			t.Fatalf("a late reader (-process +reader):\n%s", diff)
		}
		if got, want := late.state.Arenas[0].HighWater, a.HighWater(); got != want {
			t.Fatalf("high-water %d, want %d", got, want)
		}
	})
}

func TestEventsBeginWithAState(t *testing.T) {
	clock := &manualClock{}
	reader := newWatcher(t)
	stream := NewStream(StreamOptions{Source: "pid:1", Clock: clock.read, Emit: reader.take})
	stream.EmitState(nil)
	if stream.StateDue() {
		t.Error("a state is due right after one")
	}
	clock.now += StatePeriod
	if !stream.StateDue() {
		t.Error("no state is due after 10 s")
	}
	stream.EmitState(nil)
	feed := stream.WatchArena(ArenaFacts{Name: "frame", Managed: true})
	a, _ := arena.New(arena.Config{Name: "frame", Bytes: 64, Observer: feed.Observer()})
	stream.EmitState(nil)
	a.Alloc(1, 4)
	stream.WantEvents(true)
	a.Alloc(1, 4)
	if !stream.StateDue() {
		t.Error("no state is due where events are wanted")
	}
	stream.EmitState(nil)
	a.Alloc(1, 4)
	stream.Flush()
	stream.WantEvents(false)
	a.Alloc(1, 4)
	stream.Flush()
	events := 0
	for _, record := range reader.records {
		if batch, ok := record.(*ArenaEvents); ok {
			events += batch.Len()
		}
	}
	if events != 1 {
		t.Errorf("%d events, want the one between", events)
	}
	if got := reader.state.Arenas[0].Root.AllocCount; got != 2 {
		t.Errorf("the state before the events counts %d allocations, want 2", got)
	}
}

func TestBatchesAreOfOneFrameAndFit(t *testing.T) {
	clock := &manualClock{}
	reader := newWatcher(t)
	stream := NewStream(StreamOptions{Source: "pid:1", Clock: clock.read, Emit: reader.take})
	stream.WantEvents(true)
	stream.EmitState(nil)
	feed := stream.WatchArena(ArenaFacts{Name: "frame", Managed: true})
	a, _ := arena.New(arena.Config{Name: "frame", Bytes: 1 << 30, Observer: feed.Observer()})
	pools := stream.WatchPool()
	long := arena.Text(strings.Repeat("n", 5000), strings.Repeat("\x01", 5000))
	for frame := range int64(3) {
		stream.BeginFrame(frame)
		for range 1500 {
			scope := a.Scope("trace", long, long)
			a.Alloc(1, 4)
			scope.End()
			pools.ObservePool(pool.Event{Op: pool.OpAlloc, Address: 0x1000, Bytes: 512, Requested: 500, Generation: int(frame)})
		}
	}
	stream.Flush()
	seen := 0
	last := int64(0)
	for _, record := range reader.records {
		if batch, ok := record.(*ArenaEvents); ok {
			seen += batch.Len()
			if batch.Len() > MaxBatch || batch.Time() <= last {
				t.Errorf("a batch of %d events at %d, after %d", batch.Len(), batch.Time(), last)
			}
			last = batch.Ns[batch.Len()-1]
		}
	}
	if seen != 3*4500+1 || len(reader.pools) != 4500 {
		t.Errorf("%d arena events and %d pool events", seen, len(reader.pools))
	}
	for _, event := range reader.pools {
		if int64(event.Generation) != event.Frame {
			t.Fatalf("%+v", event)
		}
	}
}

func TestPoolStatesAndReleasedArenas(t *testing.T) {
	clock := &manualClock{}
	reader := newWatcher(t)
	stream := NewStream(StreamOptions{Source: "pid:1", Clock: clock.read, Emit: reader.take})
	pools := stream.WatchPool()
	for n := range 20 {
		feed := stream.WatchArena(ArenaFacts{Name: fmt.Sprint("arena ", n), Managed: true, Device: "host"})
		a, _ := arena.New(arena.Config{Name: fmt.Sprint("arena ", n), Bytes: 64, Observer: feed.Observer()})
		a.Mark()
		a.Alloc(1, 4)
		a.SetLastLaunchFrames(3)
		feed.Update(a.State())
		if n < 18 {
			a.Release("job done")
		}
	}
	stream.NotePeak("project", 10, 70)
	stream.NotePeak("project", 20, 30)
	stream.EmitState([]PoolState{{ID: pools.ID(), Name: "pool", Tier: "B"}})
	var names []string
	for _, a := range reader.state.Arenas {
		names = append(names, a.Name)
		if (a.Released != 0) == a.HasBuffer || a.HalfBuilt || len(a.Marks) != 1 || a.LastLaunchFrames == nil {
			t.Errorf("%+v", a)
		}
	}
	if len(names) != keptReleased+2 || names[0] != "arena 10" || names[9] != "arena 19" {
		t.Errorf("arenas %q", names)
	}
	if len(reader.state.Pools) != 1 || reader.state.Pools[0].ID != pools.ID() {
		t.Errorf("pools %+v", reader.state.Pools)
	}
	if want := []NonArena{{Name: "project", InputBytes: 10, PeakBytes: 70, Count: 2}}; !slices.Equal(reader.state.NonArena, want) {
		t.Errorf("transients %+v", reader.state.NonArena)
	}
}

func TestNobodyWatchesNothingCosts(t *testing.T) {
	stream := NewStream(StreamOptions{Source: "pid:1", Clock: (&manualClock{}).read})
	stream.Watch(false)
	feed := stream.WatchArena(ArenaFacts{Name: "frame", Managed: true})
	if feed.Observer() != nil || feed.ID() != 0 {
		t.Fatal("an arena that nobody watches has an observer")
	}
	feed.Update(arena.State{})
	feed.Gone()
	a, _ := arena.New(arena.Config{Name: "frame", Bytes: 64, Observer: feed.Observer()})
	if a.Observer() != nil {
		t.Fatal("the arena has an observer")
	}
	stream.Registry().SetAutoRecord(true)
	if stream.WatchArena(ArenaFacts{Name: "scratch"}).Observer() != nil {
		t.Error("an unmanaged arena is recorded")
	}
	if stream.WatchArena(ArenaFacts{Name: "frame", Managed: true}).Observer() == nil {
		t.Error("an armed registry has no observer")
	}
}

// Watching an arena makes no garbage once everything was seen once, with
// events and without.
func TestWatchingMakesNoGarbage(t *testing.T) {
	var buf []byte
	stream := NewStream(StreamOptions{Source: "pid:1", Clock: (&manualClock{}).read, Emit: func(record Record) {
		switch record.(type) {
		case *ArenaEvents:
			buf, _ = AppendLine(buf[:0], record)
		}
	}})
	feed := stream.WatchArena(ArenaFacts{Name: "frame", Managed: true})
	a, _ := arena.New(arena.Config{Name: "frame", Bytes: 1 << 20, Observer: feed.Observer()})
	frame := func() {
		for range 1000 {
			scope := a.Scope("trace", arena.Int("frames", 8))
			a.Alloc(4, 4)
			scope.End()
		}
		a.SetPointers(0, 1<<20)
	}
	for _, events := range []bool{false, true} {
		stream.WantEvents(events)
		stream.EmitState(nil)
		frame()
		frame()
		if allocs := testing.AllocsPerRun(10, frame); allocs != 0 {
			t.Errorf("events %t: %v allocations a frame", events, allocs)
		}
	}
}

func BenchmarkObserveArena(b *testing.B) {
	for _, mode := range []string{"tree", "tree and events", "tree and log"} {
		b.Run(mode, func(b *testing.B) {
			var buf []byte
			stream := NewStream(StreamOptions{
				Source: "pid:1", Clock: MonotonicClock(), Registry: RegistryLimits{Bytes: 1 << 40},
				Emit: func(record Record) {
					switch record.(type) {
					case *ArenaEvents:
						buf, _ = AppendLine(buf[:0], record)
					}
				},
			})
			stream.WantEvents(mode == "tree and events")
			stream.Registry().SetAutoRecord(mode == "tree and log")
			stream.EmitState(nil)
			feed := stream.WatchArena(ArenaFacts{Name: "frame", Managed: true})
			feed.ObserveArena(arena.Event{Op: arena.OpScopeOpen, Scope: 1, Name: "trace"})
			event := arena.Event{Op: arena.OpAlloc, Bytes: 4096, ItemSize: 4, Reverse: 1 << 40, Caller: "render.Trace", DType: "float32"}
			b.ReportAllocs()
			for b.Loop() {
				event.Forward += 4096
				feed.ObserveArena(event)
			}
		})
	}
}
