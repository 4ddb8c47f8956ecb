package ui

import (
	"fmt"

	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// scopesTitle is what the title depends on, and the title.
type scopesTitle struct {
	mode    scopesMode
	order   scopeOrder
	arrow   bool // at the column that is sorted by
	room    int  // columns for the title, 0 is any number
	typed   string
	root    string
	lost    bool
	hidden  int
	arenas  int
	arena   int64 // ID of the one looked at, where there are several
	since   *baseline
	same    bool // the baseline is an earlier moment of the source itself
	text    string
	written bool
}

func (p *scopesPane) title(s *scene) (string, string) {
	t := scopesTitle{mode: p.mode(s), order: p.order, arrow: p.arrow, room: p.room, typed: p.typed, lost: p.tree.lost, written: true}
	switch t.mode {
	case scopesSum:
		t.arenas = withScopes(s.view)
	case scopesDiff:
		t.hidden, t.since, t.same = p.diff.hidden, s.baseline, s.baseline.view.ID == s.view.ID
	default:
		if a := s.choices.arenaOf(s.view); a != nil && len(s.view.Arenas) > 1 {
			t.arena, t.arenas = a.ID, len(s.view.Arenas)
		}
		if n := len(p.tree.roots); n > 0 {
			t.root = p.tree.roots[n-1].path[len(p.tree.roots[n-1].path)-1]
		}
	}
	t.text = p.titled.text
	if t != p.titled {
		t.text = t.write()
		p.titled = t
	}
	return t.text, ""
}

// titleRoom is the columns beside those of the table.
func (p *scopesPane) titleRoom() int { return p.room }

// roomBeside is the columns for a pane's title over the first column of a table
// that was drawn into the frame; the others have titles of their own there.
func roomBeside(t *widget.Table) int {
	end := 1
	for t.ColumnAt(end) == 0 {
		end++
	}
	return end - 1
}

// write makes the title, as long as there is room for.
func (t *scopesTitle) write() (text string) {
	for short := range 3 {
		if text = t.writeShort(short); t.room == 0 || grid.Width(text) <= t.room {
			break
		}
	}
	return text
}

// writeShort makes the title, shorter and shorter: first in fewer words and without
// what an arrow at a column says, then without how many rows are left out.
func (t *scopesTitle) writeShort(short int) string {
	text := "Scopes"
	if t.arena != 0 {
		text = fmt.Sprintf("Scopes of arena %d", t.arena)
	}
	if t.root != "" {
		text += " in " + t.root
	}
	switch t.mode {
	case scopesSum:
		text = fmt.Sprintf("Scopes of all arenas (%d) by name", t.arenas)
		if short > 0 {
			text = fmt.Sprintf("Scopes of all arenas (%d)", t.arenas)
		}
	case scopesDiff:
		text = "Scopes against " + t.since.name
		if frame := t.since.view.Frame; t.same && frame >= 0 {
			text = fmt.Sprintf("Scopes since frame %d", frame)
		} else if t.same {
			text = "Scopes since then"
		}
		switch {
		case t.hidden > 0 && short == 0:
			text += fmt.Sprintf(", %d unchanged left out", t.hidden)
		case t.hidden > 0 && short == 1:
			text += fmt.Sprintf(", %d left out", t.hidden)
		}
	case scopesFlame:
		return text + " as a flame graph of total bytes"
	}
	if short == 0 || !t.arrow {
		text += ", by " + t.order.key.String()
		if t.order.reversed {
			text += " reversed"
		}
	}
	if t.typed != "" {
		text += ", filter " + t.typed
	}
	return text
}
