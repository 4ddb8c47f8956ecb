package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

// TestStatementsAreWhole: what does not fit is left out by whole statements.
func TestStatementsAreWhole(t *testing.T) {
	const text = "No allocator has told anything: the driver's figure for it is not known here. It will."
	for _, check := range []struct {
		columns, rows int
		want          string
	}{
		{100, 1, text}, {80, 1, "No allocator has told anything: the driver's figure for it is not known here."},
		{57, 1, "No allocator has told anything."}, {20, 2, "No allocator has told anything."}, {10, 1, text},
	} {
		if got := statements(text, check.columns, check.rows); got != check.want {
			t.Errorf("in %d by %d it says %q, want %q", check.columns, check.rows, got, check.want)
		}
	}
}

// TestNoSentenceIsCut: on no screen of a program that tells nothing does a sentence
// end in dots, nor in the middle of a word.
func TestNoSentenceIsCut(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "p"})
	hello := &recorder.Hello{Head: recorder.Head{Src: "p", Ns: 1}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py", PID: 7}
	if err := store.Fold("p", hello); err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{80, 24}, {120, 32}} {
		for view := range layout.ViewCount {
			d := newScreen(t, store.Snapshot(1, 0), layout.View(view), size[0], size[1])
			if text := bodyText(d); strings.Contains(text, "…") {
				t.Errorf("%s, %d columns:\n%s", layout.ViewNames()[view], size[0], text)
			}
		}
	}
}

// TestALabelKeepsTheWordThatTurnsIt: of a caller that is no name the end goes, and
// "not" is never lost alone.
func TestALabelKeepsTheWordThatTurnsIt(t *testing.T) {
	for width := 8; width < 40; width++ {
		g := grid.New(grid.NewStyles(themes.All()[0], themes.NoColor), themes.UnicodeGlyphs())
		g.Resize(width, 1)
		drawReason(g.All(), 0, width, grid.Of(themes.Text), "moved between scopes, not itemised")
		text := strings.TrimSpace(textIn(g.All()))
		if strings.Contains(text, "itemised") && !strings.Contains(text, "not itemised") {
			t.Errorf("in %d columns it reads %q", width, text)
		}
		if width >= 12 && !strings.Contains(text, "not itemised") {
			t.Errorf("in %d columns it reads %q", width, text)
		}
		g.Resize(width, 1)
		drawReason(g.All(), 0, width, grid.Of(themes.Text), "scene.upload_all_of_it_to_the_device_at_once")
		if text := strings.TrimSpace(textIn(g.All())); !strings.Contains(text, "…") || !strings.HasSuffix(text, "ce") {
			t.Errorf("a name in %d columns reads %q", width, text)
		}
	}
}

// TestALowerBoundFitsItsColumn, however long.
func TestALowerBoundFitsItsColumn(t *testing.T) {
	for width := 7; width < 14; width++ {
		for _, n := range []int64{1008 * mib, 1023 * gib, 9 * gib, 5} {
			g := grid.New(grid.NewStyles(themes.All()[0], themes.NoColor), themes.UnicodeGlyphs())
			g.Resize(width, 1)
			drawScopeLeast(g.All(), themes.Peak, n, true)
			if text := strings.TrimSpace(textIn(g.All())); !strings.HasPrefix(text, "≥") || !strings.HasSuffix(text, "B") && !strings.HasSuffix(text, "M") && !strings.HasSuffix(text, "G") && !strings.HasSuffix(text, "T") {
				t.Errorf("%d in %d columns reads %q", n, width, text)
			}
		}
	}
}

// TestAllocatorsInOneRow: those that have no room are counted, and no name is cut.
func TestAllocatorsInOneRow(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "p"})
	head := recorder.Head{Src: "p", Ns: 1}
	var sets []recorder.CounterSet
	for _, name := range []string{"render pool", "arena of shot 12", "another library's pool"} {
		sets = append(sets, counterSet(name, recorder.OfPool, name, fixtureGPU, "", "its own", map[recorder.Counter]int64{recorder.Reserved: 223 * mib}))
	}
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"}, &recorder.Sample{Head: head, Sets: sets},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	d := newScreen(t, store.Snapshot(1, 0), layout.Overview, 120, 32)
	for width := 50; width < 130; width++ {
		g := grid.New(grid.NewStyles(themes.All()[0], themes.NoColor), themes.UnicodeGlyphs())
		g.Resize(width, 1)
		insidePane{}.draw(g.All(), &d.scene, false)
		text := strings.TrimSpace(textIn(g.All()))
		last := text[strings.LastIndex(text, "+")+1:]
		if !strings.HasSuffix(text, " more") && !strings.HasSuffix(text, "another library's pool 223M") && !strings.HasSuffix(text, "another library's pool 223.0 MiB") {
			t.Errorf("in %d columns it ends in %q: %q", width, last, text)
		}
	}
}

// TestAStatusIsWhole in the table of devices at 80 columns, whatever the numbers
// beside it.
func TestAStatusIsWhole(t *testing.T) {
	snapshot := trainedSnapshot(t)
	for status := model.Status(0); status.String() != "unknown"; status++ {
		for _, view := range snapshot.Sources {
			view.Status = status
		}
		d := newScreen(t, snapshot, layout.Devices, 80, 24)
		if text := paneText(t, d, layout.DevicesPane); !strings.Contains(text, " "+status.String()) {
			t.Errorf("%s is cut:\n%s", status, text)
		}
	}
}
