package ui

import (
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// flow writes labelled numbers and texts one after the other into a region, in
// as many rows as they take. One that does not fit into a row any more begins
// the next. The room belongs to the pane, so that drawing makes no garbage.
type flow struct {
	r    grid.Region
	x, y int
	room []byte

	short bool // bytes are written short
}

// begin starts at the top of a region.
func (f *flow) begin(r grid.Region) { f.r, f.x, f.y, f.short = r, 0, 0, false }

// flowGap is the blanks between two of them.
const flowGap = 3

// bytes, count and duration write a number; grid.Missing shows as unknown.
func (f *flow) bytes(label string, style grid.Style, n int64) {
	f.amount(n)
	f.written(label, style)
}

func (f *flow) amount(n int64) {
	if f.short {
		f.room = grid.AppendShort(f.room[:0], n)
	} else {
		f.room = grid.AppendBytes(f.room[:0], n)
	}
}

func (f *flow) count(label string, style grid.Style, n int64) {
	f.room = grid.AppendCount(f.room[:0], n)
	f.written(label, style)
}

func (f *flow) duration(label string, style grid.Style, ns int64) {
	f.room = grid.AppendDuration(f.room[:0], ns)
	f.written(label, style)
}

func (f *flow) percent(label string, style grid.Style, part, whole int64) {
	f.room = grid.AppendPercent(f.room[:0], part, whole)
	f.written(label, style)
}

// since writes a duration with the words behind it.
func (f *flow) since(label string, style grid.Style, ns int64, behind string) {
	f.room = grid.AppendDuration(f.room[:0], ns)
	f.room = append(append(f.room, ' '), behind...)
	f.written(label, style)
}

// bytesIn writes bytes, and in how many pieces they are.
func (f *flow) bytesIn(label string, style grid.Style, n, pieces int64) {
	f.amount(n)
	f.room = grid.AppendCount(append(f.room, " in "...), pieces)
	f.written(label, style)
}

// made writes what the program has made itself, of numbers.
func (f *flow) made(label string, style grid.Style, text []byte) {
	f.room = append(f.room[:0], text...)
	f.written(label, style)
}

// written writes what stands in the room behind a label.
func (f *flow) written(label string, style grid.Style) {
	columns := 0
	for _, b := range f.room {
		if b&0xc0 != 0x80 {
			columns++
		}
	}
	f.label(label, columns)
	f.x += f.r.Bytes(f.x, f.y, style, f.room) + flowGap
}

// text writes a text, which may be anything, behind a label. A sentence that is
// longer than a row goes on in the next ones; where there are none, dots say so.
func (f *flow) text(label string, style grid.Style, text string) {
	if text == "" && label == "" {
		return
	}
	f.label(label, grid.Width(text))
	wrap := widget.Wrap(text, max(f.r.Width()-f.x, 1))
	row, more := wrap.Next()
	for more {
		width := f.r.Text(f.x, f.y, style, row)
		if row, more = wrap.Next(); !more {
			f.x += width + flowGap
			return
		}
		if f.y+1 >= f.r.Height() {
			f.r.Set(min(f.x+width, f.r.Width()-1), f.y, f.r.Glyphs().Ellipsis, style)
			f.x, f.y = 0, f.y+1
			return
		}
		f.x, f.y = 0, f.y+1
	}
}

// label writes a label that so many columns are to follow, in the row in which
// all of it fits.
func (f *flow) label(label string, columns int) {
	width := grid.Width(label)
	if label != "" {
		width++
	}
	if f.x > 0 && f.x+width+columns > f.r.Width() {
		f.line()
	}
	if label != "" {
		f.x += f.r.Text(f.x, f.y, grid.Of(themes.Dim), label) + 1
	}
}

// line begins the next row, unless nothing stands in this one.
func (f *flow) line() {
	if f.x > 0 {
		f.x, f.y = 0, f.y+1
	}
}

// full says that there is no row left.
func (f *flow) full() bool { return f.y >= f.r.Height() }
