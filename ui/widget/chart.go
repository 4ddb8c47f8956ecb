package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// Column is what a value did in one column of a chart. Its fields are those of
// the model's column, so that one converts to the other.
type Column struct {
	Min, Max int64 // over the column's stretch of the axis
	Last     int64 // at its end
	Known    bool  // false: nothing is known, and nothing is drawn
}

// SeriesKind is how a series is drawn. Series of one chart should differ in it,
// for those who see no colours.
type SeriesKind uint8

// The kinds.
const (
	Line      SeriesKind = iota // a line through the values
	Dotted                      // a line of every second dot
	Area                        // all below the value
	ShadeArea                   // half of the dots below it
	LightArea                   // a quarter of the dots below it
)

// Series is one value over the axis.
type Series struct {
	Name    string
	Style   grid.Style
	Kind    SeriesKind
	Columns []Column // see Chart.Resolution
}

// AxisUnit is what the horizontal axis counts.
type AxisUnit uint8

// The units.
const (
	Seconds AxisUnit = iota // its numbers are nanoseconds, labelled as times
	Frames                  // its numbers are frames
)

// Marker is an event on the axis.
type Marker struct {
	At    int64 // on the horizontal axis
	Glyph rune  // one of the Event glyphs
	Style grid.Style
}

// Limit is a horizontal line at a value, such as the size of the device.
type Limit struct {
	Value int64
	Style grid.Style
}

// Chart is values in bytes over time or frames. Series are drawn in their
// order, so areas come before lines.
type Chart struct {
	Series    []Series
	Low, High int64 // the vertical axis, bytes; High not above Low takes the highest value there is
	From, To  int64 // the horizontal axis
	Unit      AxisUnit
	Zero      int64  // labels of times count from here; the newest moment of a live chart
	Live      bool   // Zero is the newest moment, and its label says so
	Newest    string // what that label says: "" is "now"
	Markers   []Marker
	Limits    []Limit
	Cursor    int64 // on the horizontal axis
	HasCursor bool
}

const (
	axisWidth     = 6  // "47.6G" and the line
	minAxisWidth  = 24 // narrower charts have no vertical axis
	minAxisHeight = 4  // lower charts have no labels below
)

// Plot is the part of a region of the given size in which the values are
// drawn: all but the axes. Mouse clicks are told by it.
func (c *Chart) Plot(width, height int) grid.Rect {
	plot := grid.Rect{W: max(width, 0), H: max(height, 0)}
	if width >= minAxisWidth {
		plot.X, plot.W = axisWidth, width-axisWidth
	}
	if height >= minAxisHeight {
		plot.H--
	}
	return plot
}

// Resolution is how many columns a series needs to fill a region of the given
// width: two for each column of characters with braille, otherwise one. Where
// there are fewer, those that there are stand at the left.
func (c *Chart) Resolution(glyphs *themes.Glyphs, width int) int {
	plot := c.Plot(width, 1)
	if glyphs.Braille {
		return plot.W * 2
	}
	return plot.W
}

// At is the place on the horizontal axis of column x of the plot.
func (c *Chart) At(plot grid.Rect, x int) int64 {
	if plot.W <= 1 {
		return c.From
	}
	return c.From + int64(float64(c.To-c.From)*float64(x)/float64(plot.W-1)+0.5)
}

// columnOf is the column of the plot for a place on the axis, and whether it
// lies within.
func (c *Chart) columnOf(plot grid.Rect, at int64) (int, bool) {
	if at < c.From || at > c.To || plot.W <= 0 {
		return 0, false
	}
	if c.To == c.From {
		return plot.W - 1, true
	}
	return int(float64(at-c.From)/float64(c.To-c.From)*float64(plot.W-1) + 0.5), true
}

// top is the value at the upper end of the vertical axis.
func (c *Chart) top() int64 {
	if c.High > c.Low {
		return c.High
	}
	top := c.Low + 1
	for i := range c.Series {
		for _, column := range c.Series[i].Columns {
			if column.Known {
				top = max(top, column.Max)
			}
		}
	}
	for _, limit := range c.Limits {
		top = max(top, limit.Value)
	}
	return top
}

// Draw draws the chart all over a region.
func (c *Chart) Draw(r grid.Region) {
	rect := c.Plot(r.Width(), r.Height())
	if rect.Empty() {
		return
	}
	plot, top := r.At(rect), c.top()
	for _, limit := range c.Limits {
		y := rowOf(limit.Value, c.Low, top, rect.H)
		for x := range rect.W {
			plot.Set(x, y, r.Glyphs().Baseline, limit.Style)
		}
	}
	for i := range c.Series {
		if r.Glyphs().Braille {
			drawBraille(plot, &c.Series[i], c.Low, top)
		} else {
			drawLetters(plot, &c.Series[i], i, c.Low, top)
		}
	}
	if rect.X > 0 {
		c.drawValues(r, rect, top)
	}
	if rect.H < r.Height() {
		c.drawTimes(r.Sub(rect.X, rect.H, rect.W, 1), rect)
	}
	for i := range c.Markers {
		if x, inside := c.columnOf(rect, c.Markers[i].At); inside {
			plot.Set(x, 0, c.Markers[i].Glyph, c.Markers[i].Style)
		}
	}
	if c.HasCursor {
		c.drawCursor(plot, rect)
	}
}

// drawCursor draws a line down the plot and keeps what it crosses.
func (c *Chart) drawCursor(plot grid.Region, rect grid.Rect) {
	x, inside := c.columnOf(rect, c.Cursor)
	if !inside {
		return
	}
	for y := range rect.H {
		if char, _ := plot.Get(x, y); char == ' ' {
			plot.Set(x, y, plot.Glyphs().CursorLine, grid.Of(themes.Accent))
		} else {
			plot.Restyle(x, y, grid.Of(themes.Cursor))
		}
	}
}

// rowOf is the row of a value in a plot of the given height.
func rowOf(value, low, high int64, height int) int {
	return height - 1 - level(value, low, high, height)
}

// level is a value as one of n levels from 0.
func level(value, low, high int64, n int) int {
	if value <= low {
		return 0
	}
	return min(int(float64(value-low)/float64(high-low)*float64(n-1)+0.5), n-1)
}

// Legend names the series and shows how each is drawn, as many as fit, with
// blanks around it, so that it can stand on a frame. It returns the columns
// that it took.
func (c *Chart) Legend(r grid.Region, x, y int) int {
	dim := grid.Of(themes.Dim)
	p := r.Pen(x, y)
	p.Rune(dim, ' ')
	for i := range c.Series {
		s := &c.Series[i]
		if p.Left() < grid.Width(s.Name)+4 {
			break
		}
		sample := sampleOf(r.Glyphs(), s.Kind, i)
		p.Rune(s.Style, sample)
		p.Rune(s.Style, sample)
		p.Rune(dim, ' ')
		p.Text(dim, s.Name)
		p.Rune(dim, ' ')
	}
	return p.X() - x
}

// LegendWidth is the columns that the whole legend takes.
func (c *Chart) LegendWidth() int {
	width := 1
	for i := range c.Series {
		width += grid.Width(c.Series[i].Name) + 4
	}
	return width
}

// sampleOf is a character that looks like series number i in the chart.
func sampleOf(glyphs *themes.Glyphs, kind SeriesKind, i int) rune {
	switch {
	case kind == Area:
		return glyphs.Fills[themes.FillSolid]
	case kind == ShadeArea:
		return glyphs.Fills[themes.FillMedium]
	case kind == LightArea:
		return glyphs.Fills[themes.FillLight]
	case !glyphs.Braille:
		return glyphs.Lines[i%len(glyphs.Lines)]
	case kind == Dotted:
		return glyphs.LegendDots
	default:
		return glyphs.LegendLine
	}
}
