package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// FlameCell is one box of a flame graph.
type FlameCell struct {
	Depth    int   // 0 is the row at the top
	From, To int64 // its share, from and to, in the unit of Flame.Total
	Name     string
	Style    grid.Style
}

// Flame is a tree as boxes that are as wide as their share, with children
// below their parents.
type Flame struct {
	Cells    []FlameCell
	Total    int64 // the width of the whole
	Top      int   // the depth of the first visible row
	Selected int   // the selected cell; -1 is none
}

// Draw draws the boxes all over a region. A box begins with a line, so that
// neighbours can be told apart without colours; one narrower than a column is
// left out.
func (f *Flame) Draw(r grid.Region) {
	for i := range f.Cells {
		c := &f.Cells[i]
		x, width, ok := f.place(c, r.Width(), r.Height())
		if !ok {
			continue
		}
		style := c.Style.With(themes.Inverse)
		box := r.Sub(x, c.Depth-f.Top, width, 1)
		mark := r.Glyphs().CapRight
		if i == f.Selected {
			style, mark = grid.Of(themes.Cursor), r.Glyphs().Pointer
		}
		box.Set(0, 0, mark, style)
		if width > 1 {
			box.Fit(1, 0, width-1, style, c.Name, grid.Left)
		}
	}
}

// place is the columns of a box, and whether any of it can be seen.
func (f *Flame) place(c *FlameCell, width, height int) (x, boxWidth int, ok bool) {
	y := c.Depth - f.Top
	if y < 0 || y >= height || f.Total <= 0 || c.To <= c.From {
		return 0, 0, false
	}
	x = int(float64(c.From) / float64(f.Total) * float64(width))
	boxWidth = int(float64(c.To)/float64(f.Total)*float64(width)) - x
	return x, boxWidth, boxWidth > 0
}

// At is the box at a place of a region of the given size, -1 for none.
func (f *Flame) At(width, height, x, y int) int {
	for i := range f.Cells {
		at, boxWidth, ok := f.place(&f.Cells[i], width, height)
		if ok && f.Cells[i].Depth-f.Top == y && x >= at && x < at+boxWidth {
			return i
		}
	}
	return -1
}
