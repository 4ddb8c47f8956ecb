package widget

import (
	"vramscope/ui/grid"
)

// fromBelow are the dots of a cell's left and right column that are filled
// from below up to a height of 0 to 4.
var fromBelow = [2][5]uint8{
	{0x00, 0x40, 0x44, 0x46, 0x47},
	{0x00, 0x80, 0xa0, 0xb0, 0xb8},
}

// patterns are the dots of a cell that a kind of series leaves, indexed by
// SeriesKind. Those of Line and Dotted mean nothing.
var patterns = [...]uint8{Area: 0xff, ShadeArea: 0x95, LightArea: 0x21}

// drawBraille draws a series with two columns and four rows of dots in a cell.
// An area replaces what is below its upper edge, a line lies over what is
// there.
func drawBraille(plot grid.Region, s *Series, low, high int64) {
	width, height := plot.Width(), plot.Height()
	isArea := s.Kind >= Area
	for x := range width {
		if 2*x >= len(s.Columns) {
			return
		}
		var from, to [2]int // dots from below, from inclusive, to exclusive
		nothing := true
		for side := range 2 {
			i := 2*x + side
			if i >= len(s.Columns) || !s.Columns[i].Known || s.Kind == Dotted && i%2 == 1 {
				continue
			}
			lowest, highest := s.reach(i)
			to[side] = level(highest, low, high, 4*height) + 1
			if !isArea {
				from[side] = level(lowest, low, high, 4*height)
			}
			nothing = false
		}
		if nothing {
			continue
		}
		lowest, highest := min(from[0], from[1])/4, (max(to[0], to[1])-1)/4
		if to[0] == 0 {
			lowest = from[1] / 4
		} else if to[1] == 0 {
			lowest = from[0] / 4
		}
		for row := lowest; row <= highest; row++ {
			mask := dots(0, from[0], to[0], row) | dots(1, from[1], to[1], row)
			drawDots(plot, x, height-1-row, mask, s, isArea)
		}
	}
}

// reach is the lowest and highest value to draw in column i: those of the
// column, and for a line where the column before it ended, so that it does not
// break.
func (s *Series) reach(i int) (lowest, highest int64) {
	column := &s.Columns[i]
	if s.Kind != Line || i == 0 || !s.Columns[i-1].Known {
		return column.Min, column.Max
	}
	before := s.Columns[i-1].Last
	return min(column.Min, before), max(column.Max, before)
}

// dots are the dots of one column of a cell in the given row of cells from
// below that lie between two heights.
func dots(side, from, to, row int) uint8 {
	above, below := min(max(to-4*row, 0), 4), min(max(from-4*row, 0), 4)
	return fromBelow[side][above] &^ fromBelow[side][below]
}

// drawDots puts dots into one cell. Those of an area take the place of what is
// below its upper edge.
func drawDots(plot grid.Region, x, y int, mask uint8, s *Series, isArea bool) {
	switch {
	case mask == 0:
	case !isArea:
		plot.Dots(x, y, 0, mask, s.Style)
	default:
		// A column that is not full ends here: it keeps all its dots, so that a
		// shade has an outline.
		shade := mask
		for _, full := range [2]uint8{fromBelow[0][4], fromBelow[1][4]} {
			if mask&full == full {
				shade = shade&^full | full&patterns[s.Kind]
			}
		}
		plot.Dots(x, y, mask, shade, s.Style)
	}
}

// drawLetters draws series number i with one character a column.
func drawLetters(plot grid.Region, s *Series, i int, low, high int64) {
	height := plot.Height()
	glyph := sampleOf(plot.Glyphs(), s.Kind, i)
	for x := range min(plot.Width(), len(s.Columns)) {
		if !s.Columns[x].Known || s.Kind == Dotted && x%2 == 1 {
			continue
		}
		lowest, highest := s.reach(x)
		from, to := level(lowest, low, high, height), level(highest, low, high, height)
		if s.Kind >= Area {
			from = 0
		}
		for row := from; row <= to; row++ {
			plot.Set(x, height-1-row, glyph, s.Style)
		}
	}
}
