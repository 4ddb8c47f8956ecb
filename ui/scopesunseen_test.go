package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// Numbers of a scope in which moves were not seen carry the mark of a lower bound;
// one that is nothing is no number.
func TestWhatWasNotSeenIsNoZero(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "p"})
	head := recorder.Head{Src: "p", Ns: 1}
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"},
		&recorder.Strings{Head: head, First: 1, Strings: []string{"render", "shade", "exact", "by hand"}},
		&recorder.State{Head: head, Arenas: []recorder.ArenaState{{ID: 1, Name: "silent", Length: 100 << 20, Reverse: 100 << 20,
			Tree: recorder.TreeColumns{Parent: []int32{-1, 0, 0, 0}, Name: []uint32{1, 2, 3, 4}, Count: []int64{1, 1, 1, 1},
				AllocCount: []int64{6, 0, 1, 5}, SelfBytes: []int64{10 << 20, 0, 20 << 20, 5 << 20},
				Peak: []int64{15 << 20, 0, 20 << 20, 5 << 20}, PeakBound: []int64{50 << 20, 35 << 20, 20 << 20, 0}}}}},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	d := newScreen(t, store.Snapshot(1, 0), layout.Scopes, 160, 32)
	press(d, "E")
	want := map[string][]string{
		"render":  {"≥6", "≥10.0 MiB", "≥35.0 MiB", "≥15.0 MiB"},
		"shade":   {"–", "–", "–", "–"},
		"exact":   {"≥1", "≥20.0 MiB", "≥20.0 MiB", "20.0 MiB"},
		"by hand": {"5", "5.0 MiB", "5.0 MiB", "5.0 MiB"},
	}
	for line := range strings.Lines(paneText(t, d, layout.ScopesPane)) {
		for name, numbers := range want {
			if !strings.Contains(line, " "+name+" ") {
				continue
			}
			delete(want, name)
			cells := strings.Split(line, "│")
			if n := len(cells); n < 5 {
				t.Fatalf("%q", line)
			}
			last := len(cells) - 1
			got := []string{lastWord(cells[last-5]), strings.TrimSpace(cells[last-3]), strings.TrimSpace(cells[last-2]), strings.TrimSpace(cells[last-1])}
			if strings.Join(got, "|") != strings.Join(numbers, "|") {
				t.Errorf("%s reads %q, want %q", name, got, numbers)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not shown: %v\n%s", want, paneText(t, d, layout.ScopesPane))
	}
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "peak at least 15.0 MiB") || strings.Contains(text, "forward peak") {
		t.Errorf("beside stands\n%s", text)
	}
	press(d, "j", "j", "j")
	if text := paneText(t, d, layout.ScopePane); strings.Contains(text, "0 B") {
		t.Errorf("of a scope in which nothing was seen stands\n%s", text)
	}
	press(d, "T")
	clickIn(t, d, layout.ScopesPane, 1, 1)
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "peak at least 15.0 MiB") {
		t.Errorf("the flame graph reads\n%s", text)
	}
	press(d, "T", "A", "g")
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "self at least 20.0 MiB") || !strings.Contains(text, "largest peak 20.0 MiB") {
		t.Errorf("beside the sums stands\n%s", text)
	}
}

// The clipboard takes the mark along.
func TestLowerBoundsAsText(t *testing.T) {
	for _, c := range []struct {
		n     int64
		least bool
		want  string
	}{{5, false, " peak 5"}, {5, true, " peak at least 5"}, {0, true, " peak not known"}, {0, false, " peak 0"}} {
		if got := leastText("peak", c.n, c.least); got != c.want {
			t.Errorf("%d, %v reads %q, want %q", c.n, c.least, got, c.want)
		}
	}
}

// The high-water of an arena that tells none of its own is at least what was seen.
func TestAHighWaterThatWasNotSeenIsAtLeast(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "p"})
	head := recorder.Head{Src: "p", Ns: 1}
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"},
		&recorder.State{Head: head, Arenas: []recorder.ArenaState{{ID: 1, Name: "silent", Length: 100 << 20, Reverse: 100 << 20, HighWater: 15 << 20,
			Managed: true, HasBuffer: true, Root: recorder.RootTotals{Peak: 15 << 20, PeakBound: 100 << 20}}}},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	d := newScreen(t, store.Snapshot(1, 0), layout.Arena, 160, 32)
	if text := paneText(t, d, layout.ArenaPane); !strings.Contains(text, "high-water at least 15.0 MiB") {
		t.Errorf("the arena reads\n%s", text)
	}
}

func lastWord(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
