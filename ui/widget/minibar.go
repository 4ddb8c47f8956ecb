package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// MiniBar draws part of a whole as a bar over the first row of a region, in
// eighths of a column. What is not nothing shows at least one eighth; what is
// missing shows as unknown, not as empty.
func MiniBar(r grid.Region, part, whole int64, style grid.Style) {
	width := r.Width()
	if part == grid.Missing || whole == grid.Missing {
		r.Set(0, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
		return
	}
	eighths := portion(part, whole, width*8)
	for x := 0; x*8 < eighths; x++ {
		r.Set(x, 0, r.Glyphs().Left[min(8, eighths-x*8)], style)
	}
}

// Sparkline draws the newest values, as many as there are columns, into the
// first row of a region, the newest at its right end. highest is the value of
// a full column; 0 takes the highest of those shown. A missing value leaves
// its column blank; zero is the lowest step.
func Sparkline(r grid.Region, values []int64, highest int64, style grid.Style) {
	width := r.Width()
	if width <= 0 {
		return
	}
	if len(values) > width {
		values = values[len(values)-width:]
	}
	if highest <= 0 {
		for _, v := range values {
			highest = max(highest, v)
		}
	}
	x := width - len(values)
	for i, v := range values {
		if v != grid.Missing {
			r.Set(x+i, 0, r.Glyphs().Lower[max(1, portion(v, highest, 8))], style)
		}
	}
}

// Dots draws a count as dots: those used up are full, the rest empty. It
// returns the columns that it took.
func Dots(r grid.Region, x, y int, used, total int, style grid.Style) int {
	for i := range total {
		glyph := r.Glyphs().DotEmpty
		if i < used {
			glyph = r.Glyphs().DotFull
		}
		r.Set(x+i, y, glyph, style)
	}
	return max(total, 0)
}
