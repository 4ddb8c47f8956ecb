package grid

import "vramscope/themes"

// Pen writes words and numbers one after the other into a row of a region.
// Whatever does not fit is left out. It makes no garbage.
type Pen struct {
	region Region
	x, y   int
}

// Pen starts writing at a place of the region.
func (r Region) Pen(x, y int) Pen { return Pen{region: r, x: x, y: y} }

// X is the column that is written next.
func (p *Pen) X() int { return p.x }

// Left is how many columns are left.
func (p *Pen) Left() int { return max(0, p.region.area.W-p.x) }

// To goes to a column; back too.
func (p *Pen) To(x int) { p.x = x }

// Skip leaves columns as they are.
func (p *Pen) Skip(columns int) { p.x += columns }

// Text writes text, which may be anything.
func (p *Pen) Text(style Style, text string) {
	p.x += p.region.Text(p.x, p.y, style, text)
}

// Fit writes text in exactly width columns, see Region.Fit.
func (p *Pen) Fit(style Style, text string, width int, align Align) {
	width = min(width, p.Left())
	p.region.Fit(p.x, p.y, width, style, text, align)
	p.x += width
}

// Rune writes one character of one column.
func (p *Pen) Rune(style Style, char rune) {
	p.region.Set(p.x, p.y, char, style)
	p.x++
}

// number writes what an Append function has put into the grid's scratch. A
// number that does not fit is an ellipsis: a part of its digits would be another
// number.
func (p *Pen) number(style Style, text []byte, width int) {
	if left := p.Left(); numberWidth(text) > left {
		if left > 0 {
			p.region.Set(p.x, p.y, p.region.Glyphs().Ellipsis, style)
		}
		p.x += left
		return
	}
	if columns := numberWidth(text); columns < width {
		p.region.blanks(p.x, p.y, width-columns, style)
		p.x += width - columns
	}
	p.x += p.region.Bytes(p.x, p.y, style, text)
}

// numberWidth is the columns of a number: its runes.
func numberWidth(text []byte) int {
	columns := 0
	for _, b := range text {
		if b&0xc0 != 0x80 {
			columns++
		}
	}
	return columns
}

// Bytes writes a number of bytes as AppendBytes does, right-aligned in width
// columns or more; 0 takes as many as it needs. So do the other numbers.
func (p *Pen) Bytes(style Style, n int64, width int) {
	p.number(style, AppendBytes(p.region.grid.scratch[:0], n), width)
}

// GiB writes a number of bytes as AppendGiB does.
func (p *Pen) GiB(style Style, n int64, width int) {
	p.number(style, AppendGiB(p.region.grid.scratch[:0], n), width)
}

// Short writes a number of bytes as AppendShort does.
func (p *Pen) Short(style Style, n int64, width int) {
	p.number(style, AppendShort(p.region.grid.scratch[:0], n), width)
}

// Exact writes a number of bytes as AppendExact does.
func (p *Pen) Exact(style Style, n int64, width int) {
	p.number(style, AppendExact(p.region.grid.scratch[:0], n), width)
}

// Count writes a whole number as AppendCount does.
func (p *Pen) Count(style Style, n int64, width int) {
	p.number(style, AppendCount(p.region.grid.scratch[:0], n), width)
}

// Percent writes part of a whole as AppendPercent does.
func (p *Pen) Percent(style Style, part, whole int64, width int) {
	p.number(style, AppendPercent(p.region.grid.scratch[:0], part, whole), width)
}

// Duration writes a time in nanoseconds as AppendDuration does.
func (p *Pen) Duration(style Style, nanoseconds int64, width int) {
	p.number(style, AppendDuration(p.region.grid.scratch[:0], nanoseconds), width)
}

// Rate writes bytes in a second as AppendRate does.
func (p *Pen) Rate(style Style, bytesPerSecond int64, width int) {
	p.number(style, AppendRate(p.region.grid.scratch[:0], bytesPerSecond), width)
}

// Hertz writes a frequency in thousandths of a hertz as AppendHertz does.
func (p *Pen) Hertz(style Style, millihertz int64, width int) {
	p.number(style, AppendHertz(p.region.grid.scratch[:0], millihertz), width)
}

// Factor writes a ratio as AppendFactor does.
func (p *Pen) Factor(style Style, part, base int64, width int) {
	p.number(style, AppendFactor(p.region.grid.scratch[:0], part, base), width)
}

// Delta writes a difference of bytes as AppendDelta does.
func (p *Pen) Delta(style Style, n int64, width int) {
	p.number(style, AppendDelta(p.region.grid.scratch[:0], n), width)
}

// Labeled writes a dim label, a blank and a number of GiB, and two blanks
// after it: "free 56.2  ".
func (p *Pen) Labeled(label string, style Style, n int64) {
	p.Text(Of(themes.Dim), label)
	p.Skip(1)
	p.GiB(style, n, 0)
	p.Skip(2)
}
