package ui

import (
	"fmt"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// marksPane is what is saved of an arena's pointers: its open temporary contexts
// and its marks, the innermost first, with what going back to each would free.
type marksPane struct {
	table  widget.Table
	cursor listCursor
	arena  *model.ArenaView
}

// The columns of the table.
const (
	savedName = iota
	savedForward
	savedFrees
	savedFrame
)

func newMarksPane() *marksPane {
	p := &marksPane{}
	p.table = widget.Table{Rows: p, SortColumn: -1, Columns: []widget.TableColumn{
		savedName:    {Title: "saved by", Width: 10, Grow: 1},
		savedForward: {Title: "pointer", Width: 10, Align: grid.Right},
		savedFrees:   {Title: "frees", Width: 10, Align: grid.Right, Drop: 1},
		savedFrame:   {Title: "frame", Width: 6, Align: grid.Right, Drop: 2},
	}}
	return p
}

func (*marksPane) title(s *scene) (string, string) {
	if a := s.choices.arenaOf(s.view); a != nil && !a.TemporariesKnown && !hasScopesAlone(a) && a.State.Released == 0 && !s.newest.TellsNoEvents(a) {
		return "Marks", "there may be more"
	}
	return "Marks", ""
}

func (*marksPane) keys() keymap.Context { return keymap.List }

func (p *marksPane) draw(r grid.Region, s *scene, _ bool) {
	p.arena = s.choices.arenaOf(s.view)
	switch {
	case p.arena == nil:
		nothing(r, "The saved pointers of an arena fill this.")
		return
	case p.Len() == 0:
		nothing(r, noMarks(s, p.arena))
		return
	}
	p.cursor.at = min(p.cursor.at, p.Len()-1)
	p.cursor.scroll(p.Len(), r.Height()-1)
	p.table.Offset, p.table.Selected = p.cursor.offset, p.cursor.at
	p.table.Draw(r)
}

func (p *marksPane) do(action keymap.Action, s *scene) bool {
	p.arena = s.choices.arenaOf(s.view)
	return action != keymap.JumpToPeak && p.arena != nil && p.cursor.move(action, p.Len())
}

func (p *marksPane) click(_, y, _, _ int, _ *scene) {
	if row := p.cursor.offset + y - 1; y > 0 && p.arena != nil && row < p.Len() {
		p.cursor.at = row
	}
}

// Len is the temporary contexts and the marks.
func (p *marksPane) Len() int { return len(p.arena.Temporaries) + len(p.arena.State.Marks) }

// savedPointer is what a row has saved.
type savedPointer struct {
	temporary *model.OpenTemporary // nil for a mark
	number    int                  // of the mark, from 1
	forward   int64
	frees     int64 // what going back frees, both sides together
}

// saved is a row: the temporary contexts first, the innermost of each kind first.
func (p *marksPane) saved(row int) savedPointer {
	a := p.arena
	if n := len(a.Temporaries); row < n {
		t := &a.Temporaries[n-1-row]
		saved := savedPointer{temporary: t, forward: t.Forward, frees: max(a.State.Forward-t.Forward, 0)}
		if t.Clear {
			saved.frees += max(t.Reverse-a.State.Reverse, 0)
		}
		return saved
	}
	at := len(a.State.Marks) - 1 - (row - len(a.Temporaries))
	forward := a.State.Marks[at]
	return savedPointer{number: at + 1, forward: forward, frees: max(a.State.Forward-forward, 0)}
}

// DrawCell draws one cell of the table.
func (p *marksPane) DrawCell(r grid.Region, row, column int) {
	saved := p.saved(row)
	pen := r.Pen(0, 0)
	switch column {
	case savedName:
		p.drawName(r, &saved)
	case savedForward:
		pen.Bytes(grid.Of(themes.Mark), saved.forward, r.Width())
	case savedFrees:
		pen.Bytes(grid.Of(themes.Forward), saved.frees, r.Width())
	case savedFrame:
		frame := int64(grid.Missing)
		if saved.temporary != nil && saved.temporary.Frame >= 0 {
			frame = saved.temporary.Frame
		}
		pen.Count(grid.Of(themes.Dim), frame, r.Width())
	}
}

func (p *marksPane) drawName(r grid.Region, saved *savedPointer) {
	text := grid.Of(themes.Text)
	switch {
	case saved.temporary == nil:
		pen := r.Pen(0, 0)
		pen.Rune(grid.Of(themes.Mark), r.Glyphs().Mark)
		pen.Text(text, " mark ")
		pen.Count(text, int64(saved.number), 0)
	case saved.temporary.Clear && r.Width() < len("temporary, both sides"):
		r.Fit(0, 0, r.Width(), text, "temp, both", grid.Left)
	case saved.temporary.Clear:
		r.Fit(0, 0, r.Width(), text, "temporary, both sides", grid.Left)
	default:
		r.Fit(0, 0, r.Width(), text, "temporary", grid.Left)
	}
}

func (p *marksPane) selectedText(s *scene) string {
	p.arena = s.choices.arenaOf(s.view)
	if p.arena == nil || p.cursor.at >= p.Len() {
		return ""
	}
	saved := p.saved(p.cursor.at)
	return fmt.Sprintf("%d, going back frees %d", saved.forward, saved.frees)
}

// details are the numbers of the selected row, to the byte.
func (p *marksPane) details(s *scene) (string, []string) {
	p.arena = s.choices.arenaOf(s.view)
	if p.arena == nil || p.cursor.at >= p.Len() {
		return "", nil
	}
	saved := p.saved(p.cursor.at)
	exact := func(n int64) string { return string(grid.AppendExact(nil, n)) }
	lines := []string{"forward pointer  " + exact(saved.forward), "going back frees  " + exact(saved.frees)}
	if saved.temporary == nil {
		return fmt.Sprintf("Mark %d", saved.number), lines
	}
	lines = append(lines, "reverse pointer  "+exact(saved.temporary.Reverse),
		"opened "+model.FormatDuration(s.view.Now-saved.temporary.Ns)+" before, in frame "+frameText(saved.temporary.Frame))
	if saved.temporary.Clear {
		lines = append(lines, "its end puts the reverse pointer back too")
	}
	return "Temporary context", lines
}
