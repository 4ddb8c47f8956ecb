package model

import (
	"maps"
	"strings"
	"testing"

	"vramscope/recorder"
)

// A program that tells of no allocation leaves lower bounds, and a report says of
// which numbers: what the arena's own high-water tells is known to the byte, and
// is never less than the highest ever.
func TestAReportOfMovesThatWereNotSeen(t *testing.T) {
	w := newWatched(t)
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: recorder.Head{Src: renderSource, Ns: 1}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"},
		&recorder.Strings{Head: recorder.Head{Src: renderSource}, First: 1, Strings: []string{"render", "shade"}},
		&recorder.State{Head: recorder.Head{Src: renderSource, Ns: 2}, Arenas: []recorder.ArenaState{
			{ID: 1, Name: "tells its own high-water", Length: 100, Reverse: 100, HighWater: 50, Root: recorder.RootTotals{AllocCount: 2, Peak: 15, PeakBound: 50},
				Tree: recorder.TreeColumns{Parent: []int32{-1, 0}, Name: []uint32{1, 2}, Count: []int64{1, 1}, AllocCount: []int64{2, 0},
					SelfBytes: []int64{15, 0}, Peak: []int64{15, 0}, PeakBound: []int64{50, 35}}},
			{ID: 2, Name: "tells none", Length: 100, Reverse: 100, HighWater: 40, Root: recorder.RootTotals{AllocCount: 1, Peak: 40, PeakBound: 100},
				Tree: recorder.TreeColumns{Parent: []int32{-1}, Name: []uint32{1}, Count: []int64{1}, AllocCount: []int64{1},
					SelfBytes: []int64{40}, Peak: []int64{40}, PeakBound: []int64{40}}},
		}},
	} {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	report, _ := ReportOf(w.opened(), "file:/r.vscope")
	arenas := report.Sources[0].Arenas
	if a := arenas[0]; a.PeakEver != 50 || a.PeakIsLeast || !a.CountIsLeast || a.EventsComplete {
		t.Errorf("an arena with a high-water of its own: %+v", a)
	}
	if a := arenas[1]; a.PeakEver != 40 || !a.PeakIsLeast || !a.CountIsLeast {
		t.Errorf("an arena without: %+v", a)
	}
	render := arenas[0].Scopes[0]
	if shade := render.Children[0]; !render.PeakIsLeast || !render.CountIsLeast || !shade.PeakIsLeast || shade.Peak != 0 {
		t.Errorf("%+v", render)
	}
	if exact := arenas[1].Scopes[0]; exact.PeakIsLeast || !exact.CountIsLeast {
		t.Errorf("a peak that its bound confirms: %+v", exact)
	}
	// The largest of all arenas may be in the one that was not seen.
	if sum := report.Sources[0].Summed.Scopes[0]; sum.Name != "render" || sum.Peak != 40 || !sum.PeakIsLeast || !sum.CountIsLeast {
		t.Errorf("%+v", sum)
	}
}

// TestAPoolWithoutBlocksHasItsCounters: a pool of another library tells its tier
// here and its numbers there, and what it does not tell is not known, never 0.
func TestAPoolWithoutBlocksHasItsCounters(t *testing.T) {
	w := newWatched(t)
	set := recorder.CounterSet{ID: "vibespatial-raster", Of: recorder.OfPool, Name: "vibespatial.raster pool, tier B"}
	set.Values.Set(recorder.Reserved, 2<<30)
	set.Values.Set(recorder.Allocated, 3<<20)
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: recorder.Head{Src: renderSource, Ns: 1}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"},
		&recorder.State{Head: recorder.Head{Src: renderSource, Ns: 2}, Pools: []recorder.PoolState{
			{ID: 1, Name: "vibespatial.raster pool", Tier: "B"}, {ID: 2, Name: "nobody counts it", Tier: "B"}}},
		&recorder.Sample{Head: recorder.Head{Src: renderSource, Ns: 3}, Sets: []recorder.CounterSet{set}},
	} {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	report, _ := ReportOf(w.opened(), "file:/r.vscope")
	counted, silent := report.Sources[0].Pools[0], report.Sources[0].Pools[1]
	if counted.Reserved == nil || *counted.Reserved != 2<<30 || counted.Live == nil || *counted.Live != 3<<20 || counted.CountedBy != set.ID {
		t.Errorf("a pool whose numbers another set has: %+v", counted)
	}
	if counted.Free != nil || counted.LargestFree != nil || counted.Releasable != nil || counted.LiveBlocks != nil || counted.Fragmentation != nil {
		t.Errorf("what its set does not tell: %+v", counted)
	}
	if silent.Reserved != nil || silent.Live != nil || silent.Free != nil || silent.Releasable != nil || silent.CountedBy != "" {
		t.Errorf("a pool that nobody counts: %+v", silent)
	}
}

// The difference of peaks of which one is a lower bound is not known.
func TestADiffOfPeaksThatWereNotSeen(t *testing.T) {
	view := func(peak, bound int64) *ArenaView {
		tree, err := recorder.LoadScopeTree(&recorder.ArenaState{ID: 1, Length: 100, Reverse: 100, Tree: recorder.TreeColumns{
			Parent: []int32{-1}, Name: []uint32{1}, Count: []int64{1}, Peak: []int64{peak}, PeakBound: []int64{bound}}}, recorder.TreeLimits{})
		if err != nil {
			t.Fatal(err)
		}
		return &ArenaView{ID: 1, Scopes: tree.Snapshot()}
	}
	for _, c := range []struct {
		before, after [2]int64
		want          [2]bool
	}{{[2]int64{5, 9}, [2]int64{7, 0}, [2]bool{true, false}}, {[2]int64{5, 5}, [2]int64{5, 8}, [2]bool{false, true}}} {
		diffs := DiffScopes(view(c.before[0], c.before[1]), view(c.after[0], c.after[1]))
		if before, after := diffs[0].PeaksAreLeast(); [2]bool{before, after} != c.want {
			t.Errorf("%v against %v: %v %v", c.before, c.after, before, after)
		}
	}
}

// TestAReportSaysUntilWhenASetWasTold: a number that stood minutes before the end is
// not the last of the run.
func TestAReportSaysUntilWhenASetWasTold(t *testing.T) {
	store := NewStore(Options{})
	store.Add(SourceInfo{ID: "p"})
	fold := func(record recorder.Record) {
		t.Helper()
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	fold(&recorder.Hello{Head: recorder.Head{Src: "p", Ns: 1e9}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"})
	torch := counters("torch:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(227)})
	cupy := counters("cupy:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(50)})
	for second := range int64(60) {
		sample := &recorder.Sample{Head: recorder.Head{Src: "p", Ns: (second + 2) * 1e9}, Sets: []recorder.CounterSet{torch}}
		if second < 5 {
			sample.Sets = append(sample.Sets, cupy)
		}
		fold(sample)
	}
	report, _ := ReportOf(store.Snapshot(61e9, 0), "p")
	told := map[string]int64{}
	for _, set := range report.Sources[0].Sets {
		told[set.ID] = set.LastAt
	}
	if want := map[string]int64{"torch:0": 0, "cupy:0": 5e9}; !maps.Equal(told, want) {
		t.Errorf("told last at %v, want %v", told, want)
	}
}

// TestWhyAnArenaCountsTheLeast names what would have told more: where samples alone
// told, that is no call of a handle that the program does not have.
func TestWhyAnArenaCountsTheLeast(t *testing.T) {
	bound := &recorder.ScopeSnapshot{}
	arena := ArenaView{Scopes: bound.Unheard(1 << 20), State: recorder.ArenaState{Name: "algan arena", Length: 1 << 30, Managed: true}}
	if why := arena.WhyLeast(); !strings.Contains(why, "record-on") || strings.Contains(why, "alloc()") {
		t.Errorf("of samples alone: %q", why)
	}
	arena.Events = 4
	if why := arena.WhyLeast(); !strings.Contains(why, "alloc()") {
		t.Errorf("of events: %q", why)
	}
	arena.State = recorder.ArenaState{Name: "scopes of MainThread"}
	if why := arena.WhyLeast(); !strings.Contains(why, "lie in no arena") {
		t.Errorf("of scopes in no arena: %q", why)
	}
}
