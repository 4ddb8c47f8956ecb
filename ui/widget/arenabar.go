package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// ArenaBar is an arena as a bar: its forward (temporary) side grows from the
// left, its reverse (persistent) side from the right.
type ArenaBar struct {
	Capacity  int64   // bytes; 0 or less or grid.Missing is an arena of unknown size
	Forward   int64   // bytes used from the left
	Reverse   int64   // bytes used from the right
	HighWater int64   // the simultaneous maximum of both, drawn as if all lay at the left; grid.Missing leaves it out
	Marks     []int64 // saved forward pointers, bytes from the left
}

// Draw draws the bar into the first row of a region. Marks stand under it in
// the second row if there is one, and over it otherwise. Each side that is not
// empty shows at least a sliver.
func (a *ArenaBar) Draw(r grid.Region) {
	width := r.Width() - 2
	if width < 1 {
		return
	}
	glyphs, edge := r.Glyphs(), grid.Of(themes.Border)
	r.Set(0, 0, glyphs.CapLeft, edge)
	r.Set(width+1, 0, glyphs.CapRight, edge)
	bar := r.Sub(1, 0, width, r.Height())
	if a.Capacity <= 0 {
		bar.Fit(0, 0, width, grid.Of(themes.Dim), "unknown", grid.Center)
		return
	}
	for x := range width {
		bar.Set(x, 0, glyphs.Empty, grid.Of(themes.Free))
	}
	if a.HighWater > 0 {
		bar.Set(scale(a.HighWater, a.Capacity, width), 0, glyphs.HighWater, grid.Of(themes.HighWater))
	}
	a.drawForward(bar)
	a.drawReverse(bar)
	row := min(1, r.Height()-1)
	for _, mark := range a.Marks {
		if mark >= 0 && mark <= a.Capacity {
			bar.Set(scale(mark, a.Capacity, width), row, glyphs.Mark, grid.Of(themes.Mark))
		}
	}
}

// drawForward fills from the left in eighths of a column.
func (a *ArenaBar) drawForward(bar grid.Region) {
	width := bar.Width()
	eighths := portion(a.Forward, a.Capacity, width*8)
	if a.Reverse > 0 {
		eighths = min(eighths, (width-1)*8)
	}
	for x := 0; x*8 < eighths; x++ {
		bar.Set(x, 0, bar.Glyphs().Left[min(8, eighths-x*8)], grid.Of(themes.Forward))
	}
}

// drawReverse fills from the right in halves of a column, up to where the
// forward side ends.
func (a *ArenaBar) drawReverse(bar grid.Region) {
	width := bar.Width()
	halves := portion(a.Reverse, a.Capacity, width*2)
	first := (portion(a.Forward, a.Capacity, width*8) + 7) / 8
	for i := 0; i*2 < halves; i++ {
		x, glyph := width-1-i, bar.Glyphs().Left[8]
		if i > 0 && x < first {
			break
		}
		if halves-i*2 == 1 {
			glyph = bar.Glyphs().HalfRight
		}
		bar.Set(x, 0, glyph, grid.Of(themes.Reverse))
	}
}

// portion is part of a whole in steps, at least one step for what is not
// nothing and at most all of them.
func portion(part, whole int64, steps int) int {
	if part <= 0 || whole <= 0 || steps <= 0 {
		return 0
	}
	return min(max(1, int(float64(part)/float64(whole)*float64(steps)+0.5)), steps)
}
