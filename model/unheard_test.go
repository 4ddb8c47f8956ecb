package model

import (
	"testing"

	"vramscope/recorder"
)

// heldArena is an arena of a program that tells by states alone, as it stands in
// the middle of a scope that began where 3000 bytes were in use.
func heldArena() recorder.ArenaState {
	return recorder.ArenaState{ID: 5, Name: "held", Length: 10_000, Forward: 4000, Reverse: 9000, HighWater: 5000, Managed: true, HasBuffer: true, Recorded: true,
		Created: 1, Root: recorder.RootTotals{AllocCount: 7, Peak: 5000, PeakForward: 4000, PeakFrame: -1},
		Open: []recorder.OpenScope{{Number: 2, Node: 0, EntryForward: 2000, EntryReverse: 9000, Opened: 2}},
		Tree: recorder.TreeColumns{Parent: []int32{-1}, Name: []uint32{1}, Count: []int64{2}, Open: []int32{1}, AllocCount: []int64{6}, SelfBytes: []int64{2500},
			Peak: []int64{2500}, PeakForward: []int64{2500}}}
}

// TestWhatWasNotToldStandsAtLeast: an arena that goes on after the last that was
// told of its allocations counts lower bounds, and nothing lives in one that is
// gone.
func TestWhatWasNotToldStandsAtLeast(t *testing.T) {
	for _, check := range []struct {
		name      string
		before    bool // it was recorded a state ago
		change    func(*recorder.ArenaState)
		least     bool
		live      int64
		isLive    bool
		unclosed  int64
		innermost bool
	}{
		{name: "all of it is told", change: func(*recorder.ArenaState) {}, live: 2000, isLive: true, innermost: true},
		{name: "its own high-water is above what was told", change: func(a *recorder.ArenaState) { a.HighWater = 6000 }, least: true, live: 2000, isLive: true, innermost: true},
		{name: "recording was switched off", before: true, change: func(a *recorder.ArenaState) { a.Recorded = false }, least: true, live: 2000, isLive: true, innermost: true},
		{name: "it is gone, with a scope open", change: func(a *recorder.ArenaState) { a.Released, a.Forward, a.Reverse, a.HasBuffer = 9, 0, 10_000, false }, least: true, unclosed: 1},
		{name: "it is gone, and all of it was told", change: func(a *recorder.ArenaState) {
			a.Released, a.Forward, a.Reverse, a.HasBuffer, a.Open, a.Tree.Open = 9, 0, 10_000, false, nil, nil
		}},
		{name: "recording was switched off at its end", before: true, change: func(a *recorder.ArenaState) {
			a.Released, a.Recorded, a.Forward, a.Reverse, a.HasBuffer, a.Open, a.Tree.Open = 9, false, 0, 10_000, false, nil, nil
		}},
		{name: "it was reset", change: func(a *recorder.ArenaState) {
			a.HighWater, a.Forward, a.Reverse, a.Open, a.Tree.Open = 0, 0, 10_000, nil, nil
		}},
	} {
		var before *arenaFold
		if check.before {
			state := heldArena()
			fold, err := replaceArena(&state, nil)
			if err != nil {
				t.Fatal(err)
			}
			before = fold
		}
		state := heldArena()
		check.change(&state)
		fold, err := replaceArena(&state, before)
		if err != nil {
			t.Fatal(err)
		}
		view := fold.published(&recorder.StringTable{})
		row, root := view.Scopes.Row(0), view.Scopes.Root()
		if row.CountIsLeast() != check.least || row.PeakIsLeast() != check.least || (root.PeakBound > 0) != check.least || view.Unheard != check.least {
			t.Errorf("%s: counts stand at least %v, peak %v, root %d", check.name, row.CountIsLeast(), row.PeakIsLeast(), root.PeakBound)
		}
		if view.HighWaterIsLeast() {
			t.Errorf("%s: the arena counts its own high-water, and it stands at least", check.name)
		}
		if live, ok := view.Scopes.Live(0); ok != check.isLive || live != check.live {
			t.Errorf("%s: live %d, %v", check.name, live, ok)
		}
		if row.Unclosed != check.unclosed || (view.Scopes.Innermost() >= 0) != check.innermost || row.Count != 2 {
			t.Errorf("%s: %d unclosed, innermost %d, ran %d", check.name, row.Unclosed, view.Scopes.Innermost(), row.Count)
		}
	}
}
