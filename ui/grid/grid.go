// Package grid is the sheet of character cells that every pane draws into,
// and the only place where text becomes bytes for a terminal.
//
// A pane draws through a Region, a clipped rectangle of the grid; nothing can
// be drawn outside it. Names and messages come from programs and files that
// are not to be trusted: they are cleaned where they are drawn (see Sanitize),
// so that Encode writes nothing but text, newlines and the colour sequences of
// this package.
//
// A frame costs no garbage but the one string that Encode returns.
package grid

import (
	"strings"

	"vramscope/themes"
)

// MaxSide bounds both sides of a grid, in cells. A terminal that claims more
// is given a picture of this size.
const MaxSide = 1024

// Cell kinds.
const (
	narrow  uint8 = iota // one column
	wide                 // the first of two columns
	covered              // the second of two columns; its character is the cell before it
)

// cell is one place on the screen. A character that needs several runes is a
// negative number into the grid's table of clusters.
type cell struct {
	char  rune
	style Style
	arms  uint8 // of a frame's line, see themes.ArmUp; 0 for text
	kind  uint8
}

var blank = cell{char: ' '}

// maxClusters bounds the table of clusters of one frame; what comes after is
// drawn as unreadable.
const maxClusters = 4096

// Grid is a sheet of cells. It belongs to one goroutine.
type Grid struct {
	width, height int
	cells         []cell
	styles        *Styles
	glyphs        *themes.Glyphs
	clusters      []string
	clusterIDs    map[string]rune
	output        []byte   // reused by Encode
	scratch       [64]byte // numbers on their way to cells
}

// New makes an empty grid of no size that draws with the given styles and
// glyphs, which it does not change.
func New(styles *Styles, glyphs *themes.Glyphs) *Grid {
	return &Grid{styles: styles, glyphs: glyphs, clusterIDs: map[string]rune{}}
}

// SetLook changes styles and glyphs from the next frame on; what has been
// drawn keeps its characters.
func (g *Grid) SetLook(styles *Styles, glyphs *themes.Glyphs) {
	g.styles, g.glyphs = styles, glyphs
}

// Resize gives the grid a size in cells and clears it. Sides under 0 count as
// 0, above MaxSide as MaxSide. Memory is kept for the next time.
func (g *Grid) Resize(width, height int) {
	width, height = min(max(width, 0), MaxSide), min(max(height, 0), MaxSide)
	if width == 0 || height == 0 {
		width, height = 0, 0
	}
	g.width, g.height = width, height
	if n := width * height; n <= cap(g.cells) {
		g.cells = g.cells[:n]
	} else {
		g.cells = make([]cell, n)
	}
	g.Clear()
}

// Clear makes every cell a blank in the plain style.
func (g *Grid) Clear() {
	if len(g.clusters) > 0 {
		g.clusters = g.clusters[:0]
		clear(g.clusterIDs)
	}
	if len(g.cells) == 0 {
		return
	}
	g.cells[0] = blank
	for filled := 1; filled < len(g.cells); filled *= 2 {
		copy(g.cells[filled:], g.cells[:filled])
	}
}

// Width is the number of columns.
func (g *Grid) Width() int { return g.width }

// Height is the number of rows.
func (g *Grid) Height() int { return g.height }

// Glyphs is the table that kernels draw with.
func (g *Grid) Glyphs() *themes.Glyphs { return g.glyphs }

// All is the region of the whole grid.
func (g *Grid) All() Region {
	whole := Rect{W: g.width, H: g.height}
	return Region{grid: g, area: whole, clip: whole}
}

// put writes one character that is known to be drawable. The place must be
// inside the grid. Half of a wide character that it covers becomes a blank.
func (g *Grid) put(x, y int, char rune, style Style, kind uint8) {
	i := y*g.width + x
	c := &g.cells[i]
	if c.kind != narrow {
		g.unpair(i, x)
	}
	*c = cell{char: char, style: style, kind: kind}
}

// unpair blanks the other half of the wide character that cell i is part of.
func (g *Grid) unpair(i, x int) {
	switch g.cells[i].kind {
	case wide:
		if x+1 < g.width && g.cells[i+1].kind == covered {
			g.cells[i+1].char, g.cells[i+1].kind = ' ', narrow
		}
	case covered:
		if x > 0 && g.cells[i-1].kind == wide {
			g.cells[i-1].char, g.cells[i-1].kind = ' ', narrow
		}
	}
}

// putWide writes a character of two columns at x and x+1, both inside.
func (g *Grid) putWide(x, y int, char rune, style Style) {
	g.put(x, y, char, style, wide)
	i := y*g.width + x + 1
	if g.cells[i].kind == wide {
		g.unpair(i, x+1)
	}
	g.cells[i] = cell{style: style, kind: covered}
}

// cluster is the number by which a cell holds a character of several runes;
// false when the table of this frame is full.
func (g *Grid) cluster(text string) (rune, bool) {
	if id, known := g.clusterIDs[text]; known {
		return id, true
	}
	if len(g.clusters) >= maxClusters {
		return 0, false
	}
	text = strings.Clone(text)
	g.clusters = append(g.clusters, text)
	id := -rune(len(g.clusters))
	g.clusterIDs[text] = id
	return id, true
}
