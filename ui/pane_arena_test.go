package ui

import (
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

func TestArenaView(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"arena", nil},
		{"arena-past", []string{"O"}},
		{"arena-frames", []string{"tab", "f", "tab", "tab", "tab", "tab"}},
	} {
		t.Run(c.name, func(t *testing.T) { goldenView(t, renderedSnapshot(t), layout.Arena, c.name, c.keys...) })
	}
}

func arenaScreen(t *testing.T) *Dashboard {
	return newScreen(t, renderedSnapshot(t), layout.Arena, 200, 60)
}

func TestArenaNumbers(t *testing.T) {
	d := arenaScreen(t)
	text := paneText(t, d, layout.ArenaPane)
	for _, want := range []string{"forward 5.8 GiB", "free 24.9 GiB", "reverse 1.3 GiB", "high-water 8.8 GiB", "used 22 %", "did not fit 1",
		"innermost render/wavefront_state/sheet_resolve"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// Several arenas have a bar each; one that was released says so.
func TestSeveralArenas(t *testing.T) {
	f := renderedFixture(t)
	f.arena.Release("done")
	f.newArena("frames 24-47", 16*gib)
	f.renderFrame()
	d := newScreen(t, f.snapshot(), layout.Arena, 200, 60)
	title, note := d.panes[layout.ArenaPane].title(&d.scene)
	if title != "Arena frames 24-47, 16.0 GiB" || note != "2 of 2, 1 released" {
		t.Errorf("the title is %q, %q", title, note)
	}
	d.focus[layout.Arena] = layout.ArenaPane
	press(d, "k")
	if text := paneText(t, d, layout.ArenaPane); !strings.Contains(text, "released") || !strings.Contains(text, "forward 5.8 GiB") {
		t.Errorf("of a released arena is said\n%s", text)
	}
	press(d, "k", "enter")
	if d.popup == nil || d.popup.title != "Arena frames 0-23" {
		t.Fatalf("there are no details of it: %+v", d.popup)
	}
	press(d, "esc", "G")
	if got := d.choices.arenaOf(d.scene.view).State.Name; got != "frames 24-47" {
		t.Errorf("the last arena is %q", got)
	}
	d.grid.Resize(0, 0)
	place, _ := d.layout.Find(layout.ArenaPane)
	if place.Inner.H > 2 {
		clickIn(t, d, layout.ArenaPane, 3, 0)
	}
}

// While nobody has told the arena's length, nothing that depends on it is a
// number.
func TestAnArenaSeenFromTheMiddle(t *testing.T) {
	store := model.NewStore(model.Options{})
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: recorder.Head{Src: "pid:1", Ns: 1000}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "late"},
		&recorder.ArenaEvents{Head: recorder.Head{Src: "pid:1", Ns: 2000}, Arena: 7, Ns: []int64{2000}, Op: []arena.Op{arena.OpAlloc}, Flags: []uint8{0},
			Bytes: []int64{100}, ItemSize: []int64{1}, Forward: []int64{5000}, Reverse: []int64{900_000}, Scope: []uint64{0}, Text: []uint32{0}, DType: []uint32{0}},
	} {
		if err := store.Fold("pid:1", record); err != nil {
			t.Fatal(err)
		}
	}
	d := newScreen(t, store.Snapshot(2000, 0), layout.Arena, 120, 32)
	text := paneText(t, d, layout.ArenaPane)
	for _, want := range []string{"unknown", "forward 4.9 KiB", "free –", "reverse –", "high-water –", "used –", "length not told yet"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if marks := paneText(t, d, layout.MarksPane); !strings.Contains(marks, "not known") {
		t.Errorf("of its marks is said %q", marks)
	}
}

func TestPanesOfAnArenaWithoutOne(t *testing.T) {
	d := newScreen(t, newFixture(t).snapshot(), layout.Arena, 120, 32)
	for range d.layout.Places() {
		press(d, "tab", "j", "k", "h", "l", "enter", "esc", "G", "g", "x", "y", "i", "esc", "3", "s", "n", "S", "+", "-", "0", "[", "]", ",", ".")
	}
	for _, pane := range []layout.Pane{layout.ArenaPane, layout.PointersPane, layout.MarksPane, layout.StreamPane, layout.CallersPane} {
		if text := paneText(t, d, pane); !strings.Contains(text, "fill") {
			t.Errorf("%s does not say what would fill it: %q", pane, text)
		}
	}
	press(d, "A", "(", ")")
	if d.message.text == "" {
		t.Error("keys for arenas say nothing where there is none")
	}
}

func TestMarksAndTemporaries(t *testing.T) {
	d := arenaScreen(t)
	text := paneText(t, d, layout.MarksPane)
	for _, want := range []string{"temporary ", "temporary, both sides", "▴ mark 2", "▴ mark 1", "800.0 MiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	d.focus[layout.Arena] = layout.MarksPane
	press(d, "j", "enter")
	if d.popup == nil || d.popup.title != "Temporary context" || !strings.Contains(d.popup.lines[len(d.popup.lines)-1].text, "reverse pointer back") {
		t.Errorf("its details are %+v", d.popup)
	}
}

func TestPointersChart(t *testing.T) {
	d := arenaScreen(t)
	pane := d.panes[layout.PointersPane].(*pointersPane)
	d.focus[layout.Arena] = layout.PointersPane
	press(d, "0")
	highest := int64(0)
	for _, column := range pane.chart.Series[pointersUsed].Columns {
		highest = max(highest, column.Max)
	}
	if root := d.scene.view.Arenas[0].Scopes.Root(); highest != root.Peak {
		t.Errorf("the highest column has %d, the arena's peak over its life was %d", highest, root.Peak)
	}
	press(d, "h", "h")
	if !d.scene.past || !pane.chart.HasCursor {
		t.Error("the cursor does not look at another moment")
	}
	if used, _ := arenaUse(d.choices.arenaOf(d.scene.view)); used < 0 {
		t.Errorf("then %d was used", used)
	}
	press(d, "G")
	if d.scene.past {
		t.Error("end does not follow again")
	}
	press(d, "f")
	if pane.axis.unit != widget.Frames {
		t.Error("f does not count frames")
	}
	if title, _ := pane.title(&d.scene); title != "Pointers over 25 frames" {
		t.Errorf("the title is %q", title)
	}
}

func TestCallersAndTypes(t *testing.T) {
	d := arenaScreen(t)
	d.focus[layout.Arena] = layout.CallersPane
	pane := d.panes[layout.CallersPane].(*callersPane)
	text := paneText(t, d, layout.CallersPane)
	for _, want := range []string{"resolve", "projec", "float32", "int64", "%"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	total, callers := int64(0), pane.lists[byCaller].rows
	for _, row := range callers {
		total += row.Bytes
	}
	if root := d.scene.view.Arenas[0].Scopes.Root(); total == 0 || callers[0].Bytes < callers[1].Bytes || root.AllocCount == 0 {
		t.Errorf("callers have %d bytes in all, the first %d", total, callers[0].Bytes)
	}
	press(d, "s", "c")
	if rows := pane.lists[byCaller].rows; rows[0].Count < rows[1].Count {
		t.Errorf("by count %d comes before %d", rows[0].Count, rows[1].Count)
	}
	press(d, "S")
	if rows := pane.lists[byCaller].rows; rows[0].Count > rows[1].Count {
		t.Errorf("turned round %d comes before %d", rows[0].Count, rows[1].Count)
	}
	press(d, "/")
	typeIn(d, "!resolve")
	if text := paneText(t, d, layout.CallersPane); strings.Contains(text, "resolve") {
		t.Errorf("filtered it has\n%s", text)
	}
	press(d, "esc", "l", "j", "y")
	if got := pane.selectedText(&d.scene); !strings.Contains(got, "float16") {
		t.Errorf("the second type is %q", got)
	}
	clickIn(t, d, layout.CallersPane, 3, 0)
	if pane.lists[byCaller].sort != rollupName || pane.lists[byCaller].table.Descending {
		t.Errorf("a click on the title sorts by column %d, descending %v", pane.lists[byCaller].sort, pane.lists[byCaller].table.Descending)
	}
}

// Without Unicode nothing but ASCII is drawn.
func TestScopesAndArenasInASCII(t *testing.T) {
	for _, view := range []layout.View{layout.Arena, layout.Scopes} {
		for _, keys := range [][]string{nil, {"T"}, {"A"}, {"O", "d", "F"}} {
			d := newScreen(t, renderedSnapshot(t), view, 120, 32)
			d.options.ASCII = true
			d.look()
			press(d, keys...)
			for _, char := range bodyText(d) {
				if char > '~' {
					t.Errorf("%s after %v has %q", view, keys, char)
					break
				}
			}
		}
	}
}
