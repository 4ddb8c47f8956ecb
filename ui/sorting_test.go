package ui

import (
	"slices"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// TestPanesSayWhatTheySortBy: what a pane says it can be sorted by is what it does
// when it is asked to, in every view of every kind of source.
func TestPanesSayWhatTheySortBy(t *testing.T) {
	sorters := map[string]bool{}
	for source, snapshot := range map[string]*model.Snapshot{
		"render": renderedSnapshot(t), "python": trainedSnapshot(t), "dump": dumpSnapshot(t, "render-oom"), "costs": costSnapshot(t),
	} {
		for view := range layout.ViewCount {
			d := newScreen(t, snapshot, layout.View(view), 200, 60)
			for _, place := range d.layout.Places() {
				pane := d.paneOf(place.Pane)
				p, can := pane.(sorter)
				var columns []keymap.Action
				if can {
					columns = p.sortsBy()
				}
				for action := keymap.SortByName; action <= keymap.SortByUnfreed; action++ {
					did := pane.do(action, &d.scene)
					if did && !slices.Contains(columns, action) {
						t.Errorf("%s, %s sorts %s and does not say so", source, place.Pane, action)
					}
					if did {
						sorters[source+" "+place.Pane.String()] = true
					}
					if !did && can && slices.Contains(columns, action) && sorters[source+" "+place.Pane.String()] {
						t.Errorf("%s, %s does not sort %s, and says it does", source, place.Pane, action)
					}
				}
			}
		}
	}
	for _, sorted := range []string{"costs scopes", "dump blocks", "dump scopes", "dump segments", "python processes", "render blocks",
		"render callers", "render scopes", "render segments"} {
		if !sorters[sorted] {
			t.Errorf("nothing was sorted in %s", sorted)
		}
	}
}

// TestWhatCannotBeSortedSaysSo: s offers the columns that there are and, where there
// are none, says that; the key behind it is no key of its own there.
func TestWhatCannotBeSortedSaysSo(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Devices, 120, 32)
	bar := func() string { return textIn(d.grid.All().At(d.layout.Footer)) }
	press(d, "s")
	if text := bar(); !strings.Contains(text, "n name") || strings.Contains(text, "unfreed") {
		t.Errorf("the list of processes is sorted by %q", text)
	}
	press(d, "u")
	if !strings.Contains(d.message.text, "no such column") || d.sorting {
		t.Errorf("another column: %q", d.message.text)
	}
	d.focus[layout.Devices] = layout.DevicesPane
	press(d, "s")
	if text := bar(); d.message.text != nothingToSort || strings.Contains(text, "name") {
		t.Errorf("the list of devices says %q above %q", d.message.text, text)
	}
	press(d, "a")
	if d.wide || d.sorting || d.message.text != nothingToSort {
		t.Errorf("the key behind it: keys reach all programs %v, %q", d.wide, d.message.text)
	}
	press(d, "esc", "S")
	if d.message.text != nothingToSort {
		t.Errorf("S says %q", d.message.text)
	}
}
