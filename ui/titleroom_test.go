package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// headingsAreWhole fails where the line of a pane's title lacks the heading of a
// column that has one there, over that column.
func headingsAreWhole(t *testing.T, d *Dashboard, table *widget.Table, what string) {
	t.Helper()
	place, shown := d.layout.Find(layout.ScopesPane)
	if !shown || !place.Framed {
		t.Fatalf("%s: the pane has no frame", what)
	}
	line, _, _ := strings.Cut(textIn(d.grid.All().At(place.Frame)), "\n")
	cells, drawn := []rune(line), 0
	for i := range table.Columns {
		if i == 0 || !table.Shows(i) {
			continue
		}
		from := 0
		for table.ColumnAt(from) != i {
			from++
		}
		to := from
		for table.ColumnAt(to) == i {
			to++
		}
		if heading := string(cells[from+1 : to+1]); !strings.Contains(heading, table.Columns[i].Title) || !strings.ContainsRune("┬┼┴", cells[from-1]) {
			t.Errorf("%s: over %q stands %q: %s", what, table.Columns[i].Title, string(cells[from-1:to+1]), line)
		}
		drawn++
	}
	if drawn == 0 {
		t.Errorf("%s: no column is drawn: %s", what, line)
	}
}

// TestATitleLeavesTheHeadings of the columns that share its line, however long it
// is and however narrow the screen.
func TestATitleLeavesTheHeadings(t *testing.T) {
	const filter = "/e|a_pattern_that_is_longer_than_any_column_of_names_is_wide"
	filtered := append(strings.Split(filter, ""), "enter")
	scopes := func(p pane) *widget.Table {
		s := p.(*scopesPane)
		switch {
		case strings.HasPrefix(s.titled.text, "Scopes of all"):
			return &s.sums.table
		case strings.HasPrefix(s.titled.text, "Scopes since"):
			return &s.diff.table
		}
		return &s.tree.table
	}
	stacks := func(p pane) *widget.Table {
		if s := p.(*dumpScopesPane); s.titled.mode == stacksDiff {
			return &s.diff.table
		}
		return &p.(*dumpScopesPane).tree.table
	}
	for _, c := range []struct {
		name     string
		snapshot *model.Snapshot
		table    func(pane) *widget.Table
		keys     [][]string
	}{
		{"scopes", renderedSnapshot(t), scopes, [][]string{nil, {"A"}, {"O", "d", "F"}, {"j", "."}, {"s", "t", "S"}, {"s", "c"}}},
		{"stacks", dumpSnapshot(t, "resnet18-train"), stacks, [][]string{nil, {"w"}, {"x", "d", "F"}, {"u"}}},
	} {
		for _, keys := range c.keys {
			for _, long := range [][]string{nil, filtered} {
				for width := 80; width <= 140; width += 5 {
					d := newScreen(t, c.snapshot, layout.Scopes, width, 24)
					press(d, keys...)
					press(d, long...)
					if pane := d.focusedPane(); pane != nil {
						headingsAreWhole(t, d, c.table(pane), strings.Join(append([]string{c.name}, append(keys, long...)...), " "))
					}
				}
			}
		}
	}
}

// TestTheTitleOfAllArenas says how many there are on 80 columns too.
func TestTheTitleOfAllArenas(t *testing.T) {
	d := newScreen(t, renderedSnapshot(t), layout.Scopes, 80, 24)
	press(d, "A")
	if line, _, _ := strings.Cut(bodyText(d), "\n"); line != "┌ Scopes of all arenas (1) ────┬─ arenas ┬────── self ┬───── total ┬──── ▾ peak┐" {
		t.Errorf("the line is %q", line)
	}
}
