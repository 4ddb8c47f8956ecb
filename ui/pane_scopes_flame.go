package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// scopeFlame is the scopes of an arena as a flame graph. Boxes are as wide as the
// bytes that were allocated in a scope and in those inside it: the one column
// that adds up.
type scopeFlame struct {
	flame  widget.Flame
	rows   []int32 // of the cells; -1 is the arena itself
	scopes *recorder.ScopeSnapshot
	table  *recorder.StringTable
	root   int32
	arena  *model.ArenaView
	width  int
	page   int // rows of boxes that were seen
}

// take makes the boxes of what is below a row, -1 for all.
func (f *scopeFlame) take(view *model.SourceView, arena *model.ArenaView, scopes *recorder.ScopeSnapshot, root int32, width int) {
	if f.scopes == scopes && f.root == root && f.width == width {
		return
	}
	f.scopes, f.root, f.arena, f.width, f.table = scopes, root, arena, width, &view.Strings
	f.flame.Cells, f.rows, f.flame.Total = f.flame.Cells[:0], f.rows[:0], 0
	name := ""
	switch {
	case root >= 0:
		f.flame.Total, name = scopes.TotalBytes(root), f.table.String(scopes.Name(root))
	case arena != nil:
		f.flame.Total, name = scopes.Root().SelfBytes, arenaName(arena)
		for row := range scopes.Children(-1) {
			f.flame.Total += scopes.TotalBytes(row)
		}
	}
	if f.flame.Total > 0 {
		f.add(root, 0, 0, f.flame.Total, name)
	}
}

// add adds the box of a row and those below it that are not too narrow to be
// seen. Trees can be as deep as their limits allow, a few hundred rows.
func (f *scopeFlame) add(row int32, depth int, from, to int64, name string) {
	style := grid.Of(themes.Arena)
	if row >= 0 {
		style = grid.Series(int(f.scopes.Name(row)))
	}
	f.flame.Cells = append(f.flame.Cells, widget.FlameCell{Depth: depth, From: from, To: to, Name: name, Style: style})
	f.rows = append(f.rows, row)
	for child := range f.scopes.Children(row) {
		bytes := f.scopes.TotalBytes(child)
		if float64(bytes)*float64(f.width) >= float64(f.flame.Total) {
			f.add(child, depth+1, from, from+bytes, f.table.String(f.scopes.Name(child)))
		}
		from += bytes
	}
}

// find selects the box of a row.
func (f *scopeFlame) find(row int32) {
	f.flame.Selected = -1
	for i, candidate := range f.rows {
		if candidate == row {
			f.flame.Selected = i
		}
	}
}

// move is the row of the box next to the selected one in a direction; false for
// other actions, and where there is none.
func (f *scopeFlame) move(action keymap.Action) (row int32, ok bool) {
	at := f.flame.Selected
	if len(f.rows) == 0 {
		return 0, false
	}
	if at < 0 {
		return f.rows[0], true
	}
	cells := f.flame.Cells
	best := -1
	closer := func(i int, better bool) {
		if best < 0 || better {
			best = i
		}
	}
	for i := range cells {
		c, selected := &cells[i], &cells[at]
		switch {
		case action == keymap.Up && c.Depth == selected.Depth-1 && c.From <= selected.From && c.To >= selected.To:
			closer(i, true)
		case action == keymap.Down && c.Depth == selected.Depth+1 && c.From >= selected.From && c.To <= selected.To:
			closer(i, best >= 0 && c.To-c.From > cells[best].To-cells[best].From)
		case action == keymap.Close && c.Depth == selected.Depth && c.To <= selected.From:
			closer(i, best >= 0 && c.To > cells[best].To)
		case action == keymap.Open && c.Depth == selected.Depth && c.From >= selected.To:
			closer(i, best >= 0 && c.From < cells[best].From)
		}
	}
	if best < 0 {
		return 0, false
	}
	return f.rows[best], true
}

// draw draws the boxes, and what the selected one is below them.
func (f *scopeFlame) draw(r grid.Region) {
	height := r.Height()
	if height >= 3 {
		height--
		f.drawSelected(r.Row(height))
	}
	f.page = height
	if at := f.flame.Selected; at >= 0 {
		depth := f.flame.Cells[at].Depth
		f.flame.Top = min(max(f.flame.Top, depth-height+1), depth)
	}
	f.flame.Draw(r.Sub(0, 0, r.Width(), height))
}

func (f *scopeFlame) drawSelected(r grid.Region) {
	if f.flame.Selected < 0 {
		r.Text(0, 0, grid.Of(themes.Dim), "boxes are as wide as the bytes allocated in them")
		return
	}
	c, row := &f.flame.Cells[f.flame.Selected], f.rows[f.flame.Selected]
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	pen.Text(c.Style, c.Name)
	pen.Text(dim, "  total ")
	pen.Bytes(grid.Of(themes.Total), c.To-c.From, 0)
	pen.Text(dim, ", ")
	pen.Percent(dim, c.To-c.From, f.flame.Total, 0)
	if row < 0 {
		return
	}
	numbers := f.scopes.Row(row)
	label, n := leastOf("self", numbers.SelfBytes, numbers.CountIsLeast())
	pen.Text(dim, "  ")
	pen.Text(dim, label)
	pen.Text(dim, " ")
	pen.Bytes(grid.Of(themes.Self), n, 0)
	label, n = leastOf("peak", numbers.Peak, numbers.PeakIsLeast())
	pen.Text(dim, "  ")
	pen.Text(dim, label)
	pen.Text(dim, " ")
	pen.Bytes(grid.Of(themes.Peak), n, 0)
	pen.Text(dim, "  ")
	pen.Count(dim, f.scopes.Count(row), 0)
	pen.Rune(dim, r.Glyphs().Times)
}

// at is the row of the box at a place; false where there is none.
func (f *scopeFlame) at(x, y int) (row int32, ok bool) {
	if y >= f.page {
		return 0, false
	}
	at := f.flame.At(f.width, f.page, x, y)
	if at < 0 {
		return 0, false
	}
	return f.rows[at], true
}
