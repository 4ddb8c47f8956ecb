package ui

import (
	"regexp"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

// rowIn is what a row says in so many columns.
func rowIn(columns int, draw func(grid.Region)) string {
	g := grid.New(grid.NewStyles(themes.All()[0], themes.NoColor), themes.UnicodeGlyphs())
	g.Resize(columns, 1)
	draw(g.All())
	return strings.TrimRight(strings.TrimSuffix(textIn(g.All()), "\n"), " ")
}

// peakView is a program with one allocator and one peak stack.
func peakView(sets ...recorder.CounterSet) *model.SourceView {
	return &model.SourceView{ID: pythonSource, Kind: recorder.KindProcess, Name: "train.py", Sets: sets}
}

// TestALongNameGivesWayToItsPeak: the number stands there in every width that it
// fits into, and the name has its middle cut.
func TestALongNameGivesWayToItsPeak(t *testing.T) {
	set := counterSet("rmm:0", recorder.OfPool, "rmm: Limiting › Statistics › Pool › Cuda", pythonGPU0, "", "rmm", map[recorder.Counter]int64{recorder.PeakAllocated: 309*mib + 1})
	view := peakView(set)
	for columns := 34; columns <= 120; columns++ {
		text := rowIn(columns, func(r grid.Region) { drawOwnPeak(r, view, &view.Sets[0]) })
		if !strings.HasSuffix(text, " allocated peak 309.0 MiB") || !strings.HasPrefix(text, "rm") {
			t.Errorf("in %d columns: %q", columns, text)
		}
	}
	if text := rowIn(80, func(r grid.Region) { drawOwnPeak(r, view, &view.Sets[0]) }); !strings.HasPrefix(text, set.Name) {
		t.Errorf("with room for all of it: %q", text)
	}
	view.Sets[0].Call = "the largest of the samples"
	for columns := 34; columns <= 120; columns++ {
		text := rowIn(columns, func(r grid.Region) { drawOwnPeak(r, view, &view.Sets[0]) })
		if !strings.HasSuffix(text, "≥309.0 MiB") && !strings.HasSuffix(text, "≥309.0 MiB, the largest sample") {
			t.Errorf("in %d columns: %q", columns, text)
		}
	}
}

// TestATransientIsCutByWholeParts: what does not fit is not there, and no bracket
// stays open.
func TestATransientIsCutByWholeParts(t *testing.T) {
	whole := regexp.MustCompile(`^outside the arena: pro\S*t 50\.0(M| MiB) → 80\.0(M| MiB)( \(×1\.6(, worst of (1|10|100|1,234,567))?\))?$`)
	for _, count := range []int64{1, 10, 100, 1234567} {
		total := &model.NonArenaTotal{Name: "project", InputBytes: 50 * mib, PeakBytes: 80 * mib, Count: count}
		for columns := 41; columns <= 120; columns++ {
			if text := rowIn(columns, func(r grid.Region) { drawNonArena(r, total) }); !whole.MatchString(text) {
				t.Errorf("%d samples in %d columns: %q", count, columns, text)
			}
		}
	}
	total := &model.NonArenaTotal{Name: "project", InputBytes: 50 * mib, PeakBytes: 80 * mib, Count: 7}
	if text := rowIn(60, func(r grid.Region) { drawNonArena(r, total) }); text != "outside the arena: project 50.0M → 80.0M (×1.6, worst of 7)" {
		t.Errorf("with room for all of it: %q", text)
	}
}

// TestTheFormulaOfAPeakHasWholeNumbers: and calls the live peak that where there is
// room, since what is live now stands in the pane of the pool.
func TestTheFormulaOfAPeakHasWholeNumbers(t *testing.T) {
	set := counterSet("peaks:0", recorder.OfPeaks, "peaks of torch", pythonGPU0, "", "torch", map[recorder.Counter]int64{
		recorder.PeakReported: 451 * mib, recorder.PeakLive: 421 * mib, recorder.PeakFloor: 451 * mib, recorder.PeakOpen: 0})
	view := peakView(set)
	whole := regexp.MustCompile(`^reported 451(M|\.0 MiB)( = max\(live (peak )?421(M|\.0 MiB)(, …|, floor 451(M|\.0 MiB)(, …|, open 0 ?B))\))?$`)
	for columns := 13; columns <= 120; columns++ {
		text := rowIn(columns, func(r grid.Region) { drawPeaks(r, view, &view.Sets[0]) })
		if !whole.MatchString(text) {
			t.Errorf("in %d columns: %q", columns, text)
		}
		if columns >= 62 && !strings.Contains(text, "live peak") {
			t.Errorf("in %d columns it is called live: %q", columns, text)
		}
		if columns >= 55 && !strings.Contains(text, "open 0") {
			t.Errorf("in %d columns a part is missing: %q", columns, text)
		}
	}
}

// TestTheLegendCountsInGrammar: one action, two actions.
func TestTheLegendCountsInGrammar(t *testing.T) {
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Timeline, 200, 40)
	for actions := 1; actions <= 2; actions++ {
		f.ns += fixturePeriod
		id := strings.Repeat("a", actions)
		f.say(&recorder.Ack{ID: id, Name: recorder.CommandReclaim, State: recorder.AckDone})
		d.show(f.snapshot())
		want := [...]string{"1 action", "2 actions"}[actions-1]
		legend, _, _ := strings.Cut(paneText(t, d, layout.TimelinePane), "\n")
		if !strings.HasSuffix(strings.TrimRight(legend, " "), want) || !strings.Contains(legend, "1 OOM ") {
			t.Errorf("after %d the legend is %q", actions, legend)
		}
	}
}
