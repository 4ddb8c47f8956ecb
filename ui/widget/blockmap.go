package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// NoStep is the Step of a block cell that has no colour of a ramp.
const NoStep = -1

// BlockCell is a stretch of addresses.
type BlockCell struct {
	Live    int64 // bytes handed out
	Pending int64 // bytes freed and waiting on a stream
	Free    int64 // bytes that can be handed out; a cell of nothing is no memory of ours
	Step    int   // of the Age ramp, from 0 new to 7 old; NoStep is the colour of allocated memory
}

// BlockMap is the addresses of a segment, cell by cell from its beginning, line
// by line.
type BlockMap struct {
	Cells      []BlockCell
	Cursor     int  // the cell of the cursor; -1 is none
	Releasable bool // the segment is wholly free
}

// Draw draws the map all over a region, as many cells as there are places. The
// cell of the cursor is inverse, and the first column of its line, which holds
// no cell, marks it.
func (m *BlockMap) Draw(r grid.Region) {
	width := r.Width() - 1
	if width <= 0 {
		return
	}
	for i := range min(len(m.Cells), width*r.Height()) {
		char, style := m.look(r.Glyphs(), &m.Cells[i])
		if i == m.Cursor {
			style = style.With(themes.Inverse)
			r.Set(0, i/width, r.Glyphs().Selected, grid.Of(themes.Accent))
		}
		r.Set(1+i%width, i/width, char, style)
	}
}

// CellAt is the cell at a place of a region of the given width, -1 for none.
func (m *BlockMap) CellAt(width, x, y int) int {
	if x < 1 || x >= width || y < 0 {
		return -1
	}
	if i := y*(width-1) + x - 1; i < len(m.Cells) {
		return i
	}
	return -1
}

// look is how a cell is drawn.
func (m *BlockMap) look(glyphs *themes.Glyphs, c *BlockCell) (rune, grid.Style) {
	all := c.Live + c.Pending + c.Free
	style := grid.Of(themes.Allocated)
	if c.Step >= 0 {
		style = grid.Step(themes.Age, c.Step)
	}
	switch {
	case all <= 0:
		return glyphs.BlockUnmapped, grid.Of(themes.Guide)
	case c.Pending > c.Live:
		return glyphs.BlockPending, grid.Of(themes.Pending)
	case c.Live >= all:
		return glyphs.BlockFull, style
	case c.Live+c.Pending >= all-all/2:
		return glyphs.BlockDense, style
	case c.Live+c.Pending > 0:
		return glyphs.BlockSparse, style
	case m.Releasable:
		return glyphs.BlockReleasable, grid.Of(themes.Releasable)
	default:
		return glyphs.BlockFree, grid.Of(themes.Free)
	}
}

// BlockLegend names the states of a block map, as many as fit, and returns the
// columns that it took.
func BlockLegend(r grid.Region, x, y int) int {
	glyphs := r.Glyphs()
	p := r.Pen(x, y)
	for _, entry := range [...]struct {
		char  rune
		style grid.Style
		name  string
	}{
		{glyphs.BlockFull, grid.Of(themes.Allocated), "allocated"},
		{glyphs.BlockDense, grid.Of(themes.Allocated), "mostly"},
		{glyphs.BlockSparse, grid.Of(themes.Allocated), "partly"},
		{glyphs.BlockPending, grid.Of(themes.Pending), "pending"},
		{glyphs.BlockFree, grid.Of(themes.Free), "free"},
		{glyphs.BlockReleasable, grid.Of(themes.Releasable), "releasable"},
	} {
		if p.Left() < len(entry.name)+2 {
			break
		}
		p.Rune(entry.style, entry.char)
		p.Skip(1)
		p.Text(grid.Of(themes.Dim), entry.name)
		p.Skip(2)
	}
	return p.X() - x
}
