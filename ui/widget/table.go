package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// maxColumns bounds the columns of a table.
const maxColumns = 20

// TableColumn is one column of a table.
type TableColumn struct {
	Title   string
	Width   int        // columns of characters that it needs
	Content int        // columns of characters of its widest cell, which it gets before others grow; 0 is Width
	Grow    int        // its share of what is left over; 0 takes none
	Align   grid.Align // of its title; a cell aligns itself
	Drop    int        // 0 is never left out; of the others, the highest goes first
	Empty   bool       // no row has anything in it: it is left out before another is, or is cut
}

// Rows are what a table shows. Only the visible ones are asked for.
type Rows interface {
	// Len is the number of rows.
	Len() int
	// DrawCell draws one cell. The region is one row high and as wide as its
	// column. In the selected row it draws in the style of the selection,
	// whatever style is asked for.
	DrawCell(r grid.Region, row, column int)
}

// Table is rows in columns. Its first column of characters marks the selected
// row; its last one is a scrollbar where not all rows are visible.
type Table struct {
	Columns    []TableColumn
	Rows       Rows
	Offset     int // the first visible row, see ScrollTo
	Selected   int // the selected row; -1 is none
	SortColumn int // the column that the rows are sorted by; -1 is none
	Descending bool
	Ruled      bool // lines between the columns; needs DrawFramed

	spans [maxColumns]span // where the columns lie
}

// span is where a column lies; a width of 0 has been left out.
type span struct {
	x, width int
}

// gap is the columns of characters between two columns of the table.
func (t *Table) gap() int {
	if t.Ruled {
		return 3
	}
	return 1
}

// layout finds the columns that fit into width and where they lie, behind the
// column that marks the selection.
func (t *Table) layout(width int) []span {
	columns := t.Columns[:min(len(t.Columns), maxColumns)]
	spans := t.spans[:len(columns)]
	gap, needed, cut := t.gap(), 1-t.gap(), 0
	for i := range columns {
		spans[i] = span{width: max(columns[i].Width, 1)}
		if i == t.SortColumn {
			spans[i].width = max(spans[i].width, grid.Width(columns[i].Title)+2) // the arrow and a blank
		}
		needed += spans[i].width + gap
		cut += max(columns[i].Content-spans[i].width, 0)
	}
	for {
		last := -1
		if needed+cut > width {
			last = nextToDrop(spans, columns, true)
		}
		if last < 0 && needed > width {
			last = nextToDrop(spans, columns, false)
		}
		if last < 0 {
			break
		}
		needed -= spans[last].width + gap
		cut -= max(columns[last].Content-spans[last].width, 0)
		spans[last].width = 0
	}
	left := width - needed
	for i := range columns {
		if spans[i].width > 0 && left > 0 {
			more := min(max(columns[i].Content-spans[i].width, 0), left)
			spans[i].width += more
			left -= more
		}
	}
	grow(spans, columns, left)
	x := 1
	for i := range spans {
		if spans[i].width > 0 {
			spans[i].width = max(0, min(spans[i].width, width-x))
			spans[i].x = x
			x += spans[i].width + gap
		}
	}
	return spans
}

// nextToDrop is the column that is left out next, of the empty ones or of those
// that may be; -1 is none.
func nextToDrop(spans []span, columns []TableColumn, empty bool) int {
	last := -1
	for i := range columns {
		may := columns[i].Drop > 0
		if empty {
			may = columns[i].Empty
		}
		if spans[i].width > 0 && may && (last < 0 || columns[i].Drop >= columns[last].Drop) {
			last = i
		}
	}
	return last
}

// grow shares what is left among the columns that take it. Too little is taken
// from them as well.
func grow(spans []span, columns []TableColumn, left int) {
	shares := 0
	for i := range columns {
		if spans[i].width > 0 {
			shares += columns[i].Grow
		}
	}
	for i := range columns {
		if shares == 0 {
			return
		}
		if spans[i].width > 0 && columns[i].Grow > 0 {
			part := left * columns[i].Grow / shares
			spans[i].width = max(1, spans[i].width+part)
			left -= part
			shares -= columns[i].Grow
		}
	}
}

// Draw draws the titles into the first row of a region and the rows below.
func (t *Table) Draw(r grid.Region) {
	spans := t.layout(t.bodyWidth(r.Width(), r.Height()-1))
	t.drawTitles(r, spans, 0, false)
	t.drawRows(r.Sub(0, 1, r.Width(), r.Height()-1), spans)
}

// DrawFramed draws the table into a region whose outer cells are a frame that
// has been drawn already: the titles stand in its top side, and the lines
// between the columns join it. The first column's title is left to Title.
func (t *Table) DrawFramed(r grid.Region, frame grid.Style) {
	inner := r.Sub(1, 1, r.Width()-2, r.Height()-2)
	spans := t.layout(t.bodyWidth(inner.Width(), inner.Height()))
	if t.Ruled {
		for i := range spans {
			if i > 0 && spans[i].width > 0 {
				ColumnRule(r, 1+spans[i].x-2, frame)
			}
		}
	}
	t.drawTitles(r.Sub(1, 0, r.Width()-2, 1), spans, 1, true)
	t.drawRows(inner, spans)
}

// bodyWidth is the width for the columns: without the scrollbar if there is
// one.
func (t *Table) bodyWidth(width, height int) int {
	if t.Rows != nil && t.Rows.Len() > max(height, 0) {
		return width - 1
	}
	return width
}

// drawTitles writes the titles from column first on, with an arrow at the one
// that the rows are sorted by.
func (t *Table) drawTitles(row grid.Region, spans []span, first int, onFrame bool) {
	style := grid.Of(themes.Dim).With(themes.Bold)
	for i := first; i < len(spans); i++ {
		if spans[i].width <= 0 {
			continue
		}
		cell := row.Sub(spans[i].x, 0, spans[i].width, 1)
		arrow := t.arrow(cell, i)
		width := grid.Width(t.Columns[i].Title)
		if arrow != 0 {
			width += 2
		}
		x := 0
		if t.Columns[i].Align == grid.Right {
			x = max(0, cell.Width()-width)
		}
		if onFrame {
			row.Set(spans[i].x+x-1, 0, ' ', style)
			row.Set(spans[i].x+min(x+width, cell.Width()), 0, ' ', style)
		}
		p := cell.Pen(x, 0)
		if arrow != 0 {
			p.Rune(grid.Of(themes.Accent), arrow)
			p.Rune(style, ' ')
		}
		p.Text(style, t.Columns[i].Title)
	}
}

// arrow is the mark of the sorted column, 0 for the others.
func (t *Table) arrow(r grid.Region, column int) rune {
	switch {
	case column != t.SortColumn:
		return 0
	case t.Descending:
		return r.Glyphs().SortDown
	default:
		return r.Glyphs().SortUp
	}
}

// drawRows draws the visible rows all over a region.
func (t *Table) drawRows(r grid.Region, spans []span) {
	if t.Rows == nil {
		return
	}
	total := t.Rows.Len()
	for y := range r.Height() {
		row := t.Offset + y
		if row < 0 || row >= total {
			break
		}
		line := r.Row(y)
		if row == t.Selected {
			line = line.Forced(grid.Of(themes.Selection))
			t.clearCells(line, spans)
			line.Set(0, 0, r.Glyphs().Selected, 0)
		}
		for i := range spans {
			if spans[i].width > 0 {
				t.Rows.DrawCell(line.Sub(spans[i].x, 0, spans[i].width, 1), row, i)
			}
		}
	}
	Scrollbar(r.Sub(r.Width()-1, 0, 1, r.Height()), t.Offset, r.Height(), total)
}

// clearCells blanks a row but for the lines between its columns.
func (t *Table) clearCells(line grid.Region, spans []span) {
	if !t.Ruled {
		line.Clear(0)
		return
	}
	line.Set(0, 0, ' ', 0)
	for i := range spans {
		if spans[i].width > 0 {
			line.Sub(spans[i].x-1, 0, spans[i].width+2, 1).Clear(0)
		}
	}
}

// Shows says whether a column was drawn last, or was left out.
func (t *Table) Shows(column int) bool { return t.spans[column].width > 0 }

// ColumnAt is the column of the table at column x of the region that it was
// drawn into last, -1 for none. For DrawFramed, x counts inside the frame.
func (t *Table) ColumnAt(x int) int {
	for i := range min(len(t.Columns), maxColumns) {
		if s := t.spans[i]; s.width > 0 && x >= s.x && x < s.x+s.width {
			return i
		}
	}
	return -1
}
