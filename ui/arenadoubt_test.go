package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// doubtScreen is a dashboard on a program with one arena of 64 MiB, in a view.
func doubtScreen(t *testing.T, view layout.View, width int, change func(*recorder.ArenaState)) *Dashboard {
	t.Helper()
	state := recorder.ArenaState{ID: 1, Name: "frame arena", Length: 64 * mib, Reverse: 64 * mib, Managed: true, HasBuffer: true, Created: 1, Root: recorder.RootTotals{PeakFrame: -1}}
	change(&state)
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "p"})
	head := recorder.Head{Src: "p", Ns: 10}
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"},
		&recorder.Strings{Head: head, First: 1, Strings: []string{"trace"}},
		&recorder.State{Head: head, Arenas: []recorder.ArenaState{state}},
		&recorder.Sample{Head: head, Sets: []recorder.CounterSet{counterSet("arena:1", recorder.OfArena, "frame arena", "host", "", "pointers() of the program",
			map[recorder.Counter]int64{recorder.Length: 64 * mib, recorder.Forward: state.Forward, recorder.Reverse: state.Reverse})}},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	return newScreen(t, store.Snapshot(10, 0), view, width, 32)
}

// TestPointersThatCannotBe: of an arena that was registered the wrong way round no
// number is made up, and what to check stands there whole.
func TestPointersThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*recorder.ArenaState){
		"forward beyond reverse":      func(a *recorder.ArenaState) { a.Forward, a.Reverse = 8*mib, 2*mib },
		"a high-water beyond the end": func(a *recorder.ArenaState) { a.Forward, a.Reverse, a.HighWater = 0, 0, 74*mib },
		"a peak beyond the end":       func(a *recorder.ArenaState) { a.Root.Peak = 74 * mib },
		"reverse beyond the end":      func(a *recorder.ArenaState) { a.Reverse = 65 * mib },
	} {
		for _, width := range []int{80, 120} {
			d := doubtScreen(t, layout.Arena, width, change)
			text := strings.Join(strings.Fields(paneText(t, d, layout.ArenaPane)), " ")
			for _, want := range []string{"pointers cannot be (forward, reverse)", "free –"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %d columns: %q is not in\n%s", name, width, want, text)
				}
			}
			for _, key := range []string{"i", "enter"} {
				d.focus[layout.Arena] = layout.ArenaPane
				d.popup = nil
				press(d, key)
				said := ""
				for _, line := range d.popup.lines {
					said += line.text + " "
				}
				if said = strings.Join(strings.Fields(said), " "); !strings.Contains(said, "check that pointers() gives (forward, reverse), reverse from the length down") || strings.Contains(said, "high-water since") {
					t.Errorf("%s, %d columns: %s says %q", name, width, key, said)
				}
			}
		}
		for _, view := range []layout.View{layout.Overview, layout.Arena, layout.Pool} {
			if text := bodyText(doubtScreen(t, view, 120, change)); strings.Contains(text, "74.0") || strings.Contains(text, "-10.") || strings.Contains(text, "70.0 MiB") {
				t.Errorf("%s: a number that cannot be stands in\n%s", name, text)
			}
		}
	}
}

// TestAnArenaThatWasReset has the most over its life, and no 0 for it.
func TestAnArenaThatWasReset(t *testing.T) {
	d := doubtScreen(t, layout.Arena, 120, func(a *recorder.ArenaState) { a.Root.Peak, a.Root.AllocCount = 41*mib, 9 })
	if text := paneText(t, d, layout.ArenaPane); !strings.Contains(text, "highest ever 41.0 MiB") || strings.Contains(text, "high-water") {
		t.Errorf("it reads\n%s", text)
	}
}

// TestNothingLivesInAReleasedArena: a scope whose end was not told is unclosed, and
// what it counted stands at least.
func TestNothingLivesInAReleasedArena(t *testing.T) {
	d := doubtScreen(t, layout.Scopes, 160, func(a *recorder.ArenaState) {
		a.Released, a.HasBuffer, a.HighWater = 9, false, 41*mib
		a.Root = recorder.RootTotals{AllocCount: 3, Peak: 24 * mib, PeakFrame: -1}
		a.Open = []recorder.OpenScope{{Number: 1, EntryForward: 8 * mib, EntryReverse: 60 * mib}}
		a.Tree = recorder.TreeColumns{Parent: []int32{-1}, Name: []uint32{1}, Count: []int64{1}, Open: []int32{1}, AllocCount: []int64{3}, SelfBytes: []int64{12 * mib}, Peak: []int64{12 * mib}}
	})
	press(d, "E")
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "unclosed") || !strings.Contains(text, "≥12.0 MiB") || strings.Contains(text, "-") && strings.Contains(text, "-1") {
		t.Errorf("the scopes are\n%s", text)
	}
	press(d, "enter")
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "live now –") || !strings.Contains(text, "self at least 12.0 MiB") {
		t.Errorf("the scope is\n%s", text)
	}
}
