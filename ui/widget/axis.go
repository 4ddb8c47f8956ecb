package widget

import (
	"cmp"
	"strconv"

	"vramscope/themes"
	"vramscope/ui/grid"
)

// drawValues draws the vertical axis at the left of the plot: the highest and
// the lowest value, and one or three between them where there is room.
func (c *Chart) drawValues(r grid.Region, plot grid.Rect, top int64) {
	style := grid.Of(themes.Axis)
	for y := range plot.H {
		r.Set(plot.X-1, y, r.Glyphs().AxisLine, style)
	}
	steps := 1
	switch {
	case plot.H >= 13:
		steps = 4
	case plot.H >= 5:
		steps = 2
	}
	for i := range steps + 1 {
		y := (plot.H - 1) * i / steps
		r.Set(plot.X-1, y, r.Glyphs().AxisTick, style)
		// The value of the row, not of the step: rows are few.
		value := top
		if plot.H > 1 {
			value = top - int64(float64(top-c.Low)*float64(y)/float64(plot.H-1))
		}
		p := r.Pen(0, y)
		p.Short(style, value, axisWidth-1)
		if plot.H == 1 {
			return
		}
	}
}

// minLabelDistance is the columns between the beginnings of two labels.
const minLabelDistance = 12

// timeSteps are the distances of labels on an axis of times, in nanoseconds;
// under a millisecond and above a day they go on in powers of ten.
var timeSteps = [...]int64{
	1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 15e9, 30e9,
	60e9, 120e9, 300e9, 600e9, 900e9, 1800e9, 3600e9, 7200e9, 6 * 3600e9, 12 * 3600e9, 24 * 3600e9,
}

// labelStep is a round distance of labels, at least as long as asked.
func labelStep(unit AxisUnit, atLeast float64) int64 {
	if unit == Seconds && atLeast > 5e5 {
		for _, step := range timeSteps {
			if float64(step) >= atLeast {
				return step
			}
		}
	}
	step := int64(1)
	if unit == Seconds && atLeast > 24*3600e9 {
		step = 24 * 3600e9
	}
	for float64(step) < atLeast && step < 1<<58 {
		switch {
		case float64(2*step) >= atLeast:
			return 2 * step
		case float64(5*step) >= atLeast:
			return 5 * step
		}
		step *= 10
	}
	return step
}

// drawTimes writes the labels of the horizontal axis into the row below the
// plot, each beginning under its place; the last one ends there.
func (c *Chart) drawTimes(row grid.Region, plot grid.Rect) {
	if c.To <= c.From || plot.W < minLabelDistance {
		return
	}
	style := grid.Of(themes.Axis)
	step := labelStep(c.Unit, float64(c.To-c.From)*minLabelDistance/float64(plot.W))
	var buffer [32]byte
	last := c.appendLabel(buffer[:0], c.To, step)
	lastAt := max(0, plot.W-labelWidth(last))
	free := lastAt - 1 // the column that no other label may touch
	row.Bytes(lastAt, 0, style, last)
	for at := firstMultiple(c.From, c.zero(), step); at < c.To; at += step {
		x, _ := c.columnOf(plot, at)
		label := c.appendLabel(buffer[:0], at, step)
		if x+labelWidth(label) < free {
			row.Bytes(x, 0, style, label)
		}
		if at > c.To-step { // the next one would overflow or be the last
			break
		}
	}
}

// zero is where labels count from.
func (c *Chart) zero() int64 {
	if c.Unit == Frames {
		return 0
	}
	return c.Zero
}

// firstMultiple is the first place from on that is a multiple of step away
// from zero.
func firstMultiple(from, zero, step int64) int64 {
	rest := (from - zero) % step
	if rest > 0 {
		rest -= step
	}
	return from - rest
}

// appendLabel writes the label of a place on the horizontal axis.
func (c *Chart) appendLabel(dst []byte, at, step int64) []byte {
	if c.Unit == Frames {
		return grid.AppendCount(dst, at)
	}
	since := at - c.Zero
	if since == 0 && c.Live {
		return append(dst, cmp.Or(c.Newest, "now")...)
	}
	size := max(since, -since)
	if step < 1e9 && size < 1000e9 {
		// Tenths and less: as many decimals as the step has.
		decimals := 1
		for limit := int64(1e8); step < limit && decimals < 9; limit /= 10 {
			decimals++
		}
		return append(strconv.AppendFloat(dst, float64(since)/1e9, 'f', decimals, 64), " s"...)
	}
	if size < 120e9 {
		return append(strconv.AppendInt(dst, (since+sign(since)*5e8)/1e9, 10), " s"...)
	}
	return grid.AppendDuration(dst, since)
}

func sign(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}

// labelWidth is the columns of a label: its runes.
func labelWidth(label []byte) int {
	columns := 0
	for _, b := range label {
		if b&0xc0 != 0x80 {
			columns++
		}
	}
	return columns
}
