package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// Segment is one part of a stacked bar.
type Segment struct {
	Name  string
	Value int64 // in the unit of the bar; grid.Missing and what is under 0 count as nothing
	Style grid.Style
	Fill  int // themes.FillSolid to themes.FillLight; neighbours should differ
}

// Gate is a mark across a bar.
type Gate struct {
	At    int64 // from the left, in the unit of the bar
	Style grid.Style
}

// Gauge is a bar of several parts of one whole.
type Gauge struct {
	Total    int64 // the whole; grid.Missing or 0 and less draw a bar that says it is unknown
	Segments []Segment
	Gates    []Gate
}

// maxSegments bounds the parts of a bar; the rest are not drawn.
const maxSegments = 16

// Draw fills the first row of a region with the bar. Every part that is not
// nothing has at least one column, as far as there are columns. What the parts
// leave over is blank; where they are more than the whole, they are drawn as
// parts of their sum.
func (g *Gauge) Draw(r grid.Region) {
	width := r.Width()
	if width <= 0 {
		return
	}
	if g.Total <= 0 {
		r.Fit(0, 0, width, grid.Of(themes.Dim), "unknown", grid.Center)
		return
	}
	var ends [maxSegments]int
	segments := g.Segments[:min(len(g.Segments), maxSegments)]
	divide(ends[:len(segments)], segments, g.Total, width)
	x := 0
	for i := range segments {
		fill := r.Glyphs().Fills[segments[i].Fill&3]
		for ; x < ends[i]; x++ {
			r.Set(x, 0, fill, segments[i].Style)
		}
	}
	for ; x < width; x++ {
		r.Set(x, 0, ' ', 0)
	}
	for _, gate := range g.Gates {
		if gate.At > 0 && gate.At < g.Total {
			r.Set(scale(gate.At, g.Total, width), 0, r.Glyphs().Gate, gate.Style)
		}
	}
}

// divide sets the column where each part ends.
func divide(ends []int, segments []Segment, total int64, width int) {
	sum := 0.0
	for i := range segments {
		sum += float64(max(segments[i].Value, 0))
	}
	whole := max(sum, float64(total))
	running, end := 0.0, 0
	for i := range segments {
		running += float64(max(segments[i].Value, 0))
		at := int(running/whole*float64(width) + 0.5)
		if segments[i].Value > 0 && at <= end {
			at = end + 1
		}
		end = max(at, end)
		ends[i] = end
	}
	limit := width
	for i := len(segments) - 1; i >= 0; i-- {
		ends[i] = max(0, min(ends[i], limit))
		limit = ends[i]
		if segments[i].Value > 0 {
			limit--
		}
	}
}

// scale is the column of a place on an axis of the given length, from 0 to
// width-1.
func scale(at, length int64, width int) int {
	if length <= 0 || at <= 0 {
		return 0
	}
	// A trifle more, for bytes are rounded down: 80 % belongs to its column.
	return min(int(float64(at)/float64(length)*float64(width)+1e-6), width-1)
}

// Legend writes the parts with their fill and their value in GiB, as many as
// fit, and returns the columns that it took.
func (g *Gauge) Legend(r grid.Region, x, y int) int {
	p := r.Pen(x, y)
	for i := range g.Segments {
		s := &g.Segments[i]
		if p.Left() < grid.Width(s.Name)+9 {
			break
		}
		p.Rune(s.Style, r.Glyphs().Fills[s.Fill&3])
		p.Skip(1)
		p.Labeled(s.Name, 0, s.Value)
	}
	return p.X() - x
}
