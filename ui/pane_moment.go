package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// momentPane is the numbers at the cursor: the moment itself, the main counters
// with how they changed, and what happened nearest to it.
type momentPane struct {
	rows   momentRows
	lines  []int // what is drawn: rows, and as -1 - row the heading of the set that begins with it
	offset int
	width  int // when it was drawn last
}

func (p *momentPane) title(s *scene) (string, string) {
	both := p.width >= bothChanges
	switch {
	case s.newest == nil:
		return "Moment", ""
	case s.baseline != nil && both:
		return "Moment", "value, since d, a frame"
	case s.baseline != nil:
		return "Moment", "value, since d"
	case s.past && both:
		return "At the cursor", "then, until now, a frame"
	case s.past:
		return "At the cursor", "then, until now"
	}
	return "Now", "value, a frame"
}

func (*momentPane) keys() keymap.Context { return keymap.List }

func (p *momentPane) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Up:
		p.offset--
	case keymap.Down:
		p.offset++
	case keymap.Top:
		p.offset = 0
	case keymap.Bottom:
		p.offset = len(p.lines)
	default:
		return false
	}
	p.offset = min(max(p.offset, 0), max(len(p.lines)-1, 0))
	return true
}

func (p *momentPane) draw(r grid.Region, s *scene, _ bool) {
	if s.view == nil {
		nothing(r, "The numbers of the moment that is looked at fill this.")
		return
	}
	p.rows.update(s)
	p.width = r.Width()
	height := r.Height()
	if height <= 1 {
		p.drawShort(r, s)
		return
	}
	drawWhen(r.Row(0), s)
	room := height - 1
	if height >= 5 {
		if nearest := nearestMoment(s); nearest != nil {
			rows := 1
			if height >= 9 {
				rows = 2
			}
			room -= rows
			drawNearest(r.Sub(0, height-rows, r.Width(), rows), s, nearest)
		}
	}
	headed := p.arrange(s, r.Width())
	p.offset = min(p.offset, max(len(p.lines)-room, 0))
	for i := 0; i < room && p.offset+i < len(p.lines); i++ {
		line := p.lines[p.offset+i]
		if line < 0 {
			r.Fit(0, 1+i, r.Width(), grid.Of(themes.Dim), p.rows.rows[-1-line].set, grid.Left)
			continue
		}
		p.drawRow(r.Row(1+i), s, &p.rows.rows[line], headed)
	}
	if len(p.rows.rows) == 0 {
		r.Text(0, 1, grid.Of(themes.Dim), "no counter is known of this moment")
	}
}

// arrange finds the lines for a width: where the name of a set and of a counter
// do not fit side by side, the set's has a line of its own.
func (p *momentPane) arrange(s *scene, width int) (headed bool) {
	label, _, _, _ := p.columns(s, width)
	for i := range p.rows.rows {
		row := &p.rows.rows[i]
		headed = headed || grid.Width(row.set)+1+grid.Width(row.name) > label
	}
	p.lines = p.lines[:0]
	for i := range p.rows.rows {
		if headed && (i == 0 || p.rows.rows[i].of != p.rows.rows[i-1].of) {
			p.lines = append(p.lines, -1-i)
		}
		p.lines = append(p.lines, i)
	}
	return headed
}

// columns are the widths of a row's label, value and changes, and how many
// changes it has.
func (p *momentPane) columns(s *scene, width int) (label, value, change, changes int) {
	value, change = momentValue, momentChange
	if width < longMoments {
		value, change = momentShortValue, momentShortChange
	}
	changes = 1
	switch {
	case width >= bothChanges && (s.past || s.baseline != nil):
		changes = 2
	case width < 8+value+change:
		changes = 0
	}
	return max(width-value-changes*change, 1), value, change, changes
}

// drawWhen says which moment it is: from the start, by the clock, in which frame.
func drawWhen(r grid.Region, s *scene) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	drawMilliseconds(&pen, text.With(themes.Bold), s.moment-s.newest.First)
	if wall := wallOf(s.newest, s.moment); wall != 0 {
		pen.Skip(2)
		drawClock(&pen, text, wall)
	}
	if frame := s.newest.FrameAt(s.moment); frame >= 0 {
		pen.Text(dim, "  frame ")
		pen.Count(text, frame, 0)
	}
	if s.past && pen.Left() >= 14 {
		pen.Text(dim, "  ")
		pen.Duration(dim, s.newest.Now-s.moment, 0)
		pen.Text(dim, " ago")
	}
}

// drawMilliseconds writes a time in seconds with three decimals.
func drawMilliseconds(pen *grid.Pen, style grid.Style, ns int64) {
	if ns < 0 {
		pen.Rune(style, '-')
		ns = -ns
	}
	milliseconds := ns / 1e6
	pen.Count(style, milliseconds/1000, 0)
	pen.Rune(style, '.')
	for _, unit := range [...]int64{100, 10, 1} {
		pen.Rune(style, rune('0'+milliseconds/unit%10))
	}
	pen.Text(style, " s")
}

// Columns of a number and of its change, long and short, and the widths from
// which on the long ones fit, and growth stands beside the change.
const (
	momentValue, momentChange           = 10, 11
	momentShortValue, momentShortChange = 7, 8
	longMoments                         = 38
	bothChanges                         = 56
)

func (p *momentPane) drawRow(r grid.Region, s *scene, row *momentRow, headed bool) {
	short := r.Width() < longMoments
	label, value, change, changes := p.columns(s, r.Width())
	style := grid.Of(themes.Text)
	if row.old {
		style = grid.Of(themes.Dim)
	}
	if headed {
		r.Fit(1, 0, label-1, grid.Of(themes.Text), row.name, grid.Left)
	} else {
		drawMomentLabel(r.Sub(0, 0, label, 1), row)
	}
	if short {
		drawShortNumber(r.Sub(label, 0, value, 1), style, row.value, false)
	} else {
		pen := r.Pen(label, 0)
		pen.Bytes(style, row.value, value)
	}
	first := row.change
	if !s.past && s.baseline == nil {
		first = row.growth
	}
	for i, bytes := range [...]int64{first, row.growth} {
		if i < changes {
			drawChange(r.Sub(label+value+i*change, 0, change, 1), bytes, short)
		}
	}
}

// drawMomentLabel names a number, with what it belongs to in front where there
// is room.
func drawMomentLabel(r grid.Region, row *momentRow) {
	name := grid.Width(row.name)
	if room := r.Width() - name - 2; room > 3 {
		set := min(room, grid.Width(row.set))
		r.Fit(0, 0, set, grid.Of(themes.Dim), row.set, grid.Left)
		r = r.Sub(set+1, 0, r.Width()-set-1, 1)
	}
	r.Text(0, 0, grid.Of(themes.Text), row.name)
}

// drawChange writes a difference; one that is nothing is dim.
func drawChange(r grid.Region, bytes int64, short bool) {
	style := grid.Of(themes.Dim)
	switch {
	case bytes == grid.Missing:
	case bytes > 0:
		style = grid.Of(themes.Warning)
	case bytes < 0:
		style = grid.Of(themes.OK)
	}
	if short {
		drawShortNumber(r, style, bytes, true)
		return
	}
	pen := r.Pen(0, 0)
	pen.Delta(style, bytes, r.Width())
}

// drawShortNumber writes a number of bytes in a few columns, as a difference
// with its sign.
func drawShortNumber(r grid.Region, style grid.Style, bytes int64, signed bool) {
	var room [16]byte
	text := room[:0]
	if signed && bytes > 0 {
		text = append(text, '+')
	}
	text = grid.AppendShort(text, bytes)
	columns := len(text)
	if bytes == grid.Missing {
		columns = 1
	}
	r.Bytes(max(r.Width()-columns, 0), 0, style, text)
}

// drawNearest tells of a moment, and how far it lies from the one looked at.
func drawNearest(r grid.Region, s *scene, m *model.Moment) {
	dim := grid.Of(themes.Dim)
	glyph, style := momentLook(r.Glyphs(), m.Kind)
	pen := r.Pen(0, 0)
	pen.Rune(style, glyph)
	pen.Skip(1)
	distance := m.Ns - s.moment
	switch {
	case distance < 0:
		pen.Duration(dim, -distance, 0)
		pen.Text(dim, " before")
	case distance > 0:
		pen.Duration(dim, distance, 0)
		pen.Text(dim, " after")
	default:
		pen.Text(dim, "at this moment")
	}
	if r.Height() > 1 {
		pen = r.Pen(2, 1)
	} else {
		pen.Text(dim, ": ")
	}
	pen.Fit(grid.Of(themes.Text), m.Text, pen.Left(), grid.Left)
}

// drawShort is the moment in one row, with as many numbers as fit.
func (p *momentPane) drawShort(r grid.Region, s *scene) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	drawMilliseconds(&pen, text.With(themes.Bold), s.moment-s.newest.First)
	if frame := s.newest.FrameAt(s.moment); frame >= 0 && pen.Left() > 16 {
		pen.Text(dim, " frame ")
		pen.Count(text, frame, 0)
	}
	for i := range p.rows.rows {
		row := &p.rows.rows[i]
		if row.value == grid.Missing {
			continue
		}
		if pen.Left() < len(row.name)+8 {
			return
		}
		pen.Skip(1)
		pen.Text(dim, row.name)
		pen.Skip(1)
		pen.Short(text, row.value, 0)
	}
}

func (p *momentPane) origins(s *scene) (all []origin) {
	if s.view == nil {
		return nil
	}
	for i := range s.view.Sets {
		set := &s.view.Sets[i]
		for _, counter := range momentCounters(set.Of) {
			all = append(all, origin{name: set.ID + " " + counter.name, figure: s.view.Figure(set, counter.counter)})
		}
	}
	return all
}

func (*momentPane) details(s *scene) (string, []string) { return momentDetails(s) }
