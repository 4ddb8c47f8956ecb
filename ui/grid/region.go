package grid

import "vramscope/themes"

// Rect is a rectangle of cells. W and H under 1 make it empty.
type Rect struct {
	X, Y, W, H int
}

// Empty reports whether the rectangle holds no cell.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether a cell lies in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Intersect is what two rectangles have in common; empty where they have
// nothing.
func (r Rect) Intersect(other Rect) Rect {
	x, y := max(r.X, other.X), max(r.Y, other.Y)
	common := Rect{x, y, min(r.X+r.W, other.X+other.W) - x, min(r.Y+r.H, other.Y+other.H) - y}
	if common.Empty() {
		return Rect{X: x, Y: y}
	}
	return common
}

// Inset is the rectangle without n cells on each side; empty where nothing is
// left.
func (r Rect) Inset(n int) Rect {
	return Rect{r.X + n, r.Y + n, max(0, r.W-2*n), max(0, r.H-2*n)}
}

// Region is a rectangle of a grid with an origin of its own. Whatever is drawn
// outside it is left out. It is a small value: pass it by value.
type Region struct {
	grid   *Grid
	area   Rect // place and size in the grid; may reach beyond it
	clip   Rect // the part of area that can be drawn
	style  Style
	forced bool
}

// Sub is the part of a region at x, y. It may reach beyond the region: what
// lies outside is clipped, and the size stays what was asked.
func (r Region) Sub(x, y, w, h int) Region {
	r.area = Rect{r.area.X + x, r.area.Y + y, max(w, 0), max(h, 0)}
	r.clip = r.clip.Intersect(r.area)
	return r
}

// At is Sub with a rectangle.
func (r Region) At(rect Rect) Region { return r.Sub(rect.X, rect.Y, rect.W, rect.H) }

// Row is one row of a region.
func (r Region) Row(y int) Region { return r.Sub(0, y, r.area.W, 1) }

// Forced is the region with one style for everything that is drawn in it,
// whatever style is asked for: a selected row.
func (r Region) Forced(style Style) Region {
	r.style, r.forced = style, true
	return r
}

// Width is the number of columns of the region.
func (r Region) Width() int { return r.area.W }

// Height is the number of rows of the region.
func (r Region) Height() int { return r.area.H }

// Visible reports whether any cell of the region can be drawn.
func (r Region) Visible() bool { return !r.clip.Empty() }

// Bounds is where the region lies in the grid, for finding out what a mouse
// has hit. It may reach beyond the grid.
func (r Region) Bounds() Rect { return r.area }

// Glyphs is the table that kernels draw with.
func (r Region) Glyphs() *themes.Glyphs { return r.grid.glyphs }

// Set draws one character of the program's own, such as those of
// themes.Glyphs. What is not one column wide is drawn as U+FFFD; text of
// others goes through Text. Outside the region it does nothing.
func (r Region) Set(x, y int, char rune, style Style) {
	x, y = x+r.area.X, y+r.area.Y
	if !r.clip.Contains(x, y) {
		return
	}
	if r.forced {
		style = r.style
	}
	if uint32(char-' ') < 0x5f {
		r.grid.put(x, y, char, style, narrow)
		return
	}
	r.setOther(x, y, char, style)
}

// setOther draws a character outside ASCII at a place of the grid.
func (r Region) setOther(x, y int, char rune, style Style) {
	if !r.grid.glyphs.Unicode {
		r.grid.put(x, y, asciiFor(char), style, narrow)
		return
	}
	if simpleWidth(char) != 1 {
		char = unreadable
	}
	r.grid.put(x, y, char, style, narrow)
}

// Get is the character and style of a cell; a blank outside the region. A
// character of several runes reads as U+FFFD.
func (r Region) Get(x, y int) (rune, Style) {
	x, y = x+r.area.X, y+r.area.Y
	if !r.clip.Contains(x, y) {
		return ' ', 0
	}
	c := r.grid.cells[y*r.grid.width+x]
	if c.char < 0 {
		return unreadable, c.style
	}
	return c.char, c.style
}

// braille is the first of the 256 characters of 2×4 dots. A dot is a bit of
// what is added to it, as Unicode numbers them.
const braille = 0x2800

// Dots changes the dots of a cell: those of clear go, those of set come, the
// others stay. A cell that holds no dots yet has none. Where only ASCII can be
// shown it must not be used, see themes.Glyphs.Braille.
func (r Region) Dots(x, y int, clear, set uint8, style Style) {
	x, y = x+r.area.X, y+r.area.Y
	if !r.clip.Contains(x, y) {
		return
	}
	if r.forced {
		style = r.style
	}
	there := r.grid.cells[y*r.grid.width+x].char - braille
	if uint32(there) > 0xff {
		there = 0
	}
	r.grid.put(x, y, braille+(there&^rune(clear)|rune(set)), style, narrow)
}

// Restyle changes the style of a cell and keeps its character.
func (r Region) Restyle(x, y int, style Style) {
	x, y = x+r.area.X, y+r.area.Y
	if r.clip.Contains(x, y) {
		r.grid.cells[y*r.grid.width+x].style = style
	}
}

// Fill draws one character all over a part of the region.
func (r Region) Fill(rect Rect, char rune, style Style) {
	part := r.At(rect)
	for y := part.clip.Y - part.area.Y; y < part.clip.Y+part.clip.H-part.area.Y; y++ {
		for x := part.clip.X - part.area.X; x < part.clip.X+part.clip.W-part.area.X; x++ {
			part.Set(x, y, char, style)
		}
	}
}

// Clear makes the region blank in a style.
func (r Region) Clear(style Style) {
	r.Fill(Rect{W: r.area.W, H: r.area.H}, ' ', style)
}

// Arms adds a piece of a frame's line to a cell, see themes.ArmUp. Lines that
// meet join; text that was there is gone.
func (r Region) Arms(x, y int, arms uint8, style Style) {
	x, y = x+r.area.X, y+r.area.Y
	if !r.clip.Contains(x, y) {
		return
	}
	if r.forced {
		style = r.style
	}
	arms |= r.grid.cells[y*r.grid.width+x].arms
	r.grid.put(x, y, r.grid.glyphs.Borders[arms&15], style, narrow)
	r.grid.cells[y*r.grid.width+x].arms = arms & 15
}
