package ui

import (
	"math/bits"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// dumpMomentPane is the numbers at the moment of a dump: the event with its
// stack, and what was asked for, handed out, reserved and free then.
type dumpMomentPane struct {
	offset int
	rows   []dumpRow
}

// dumpRow is a number at the moment, and how it changes until the end or since
// the moment that was remembered. What is not known is grid.Missing.
type dumpRow struct {
	name    string
	value   int64
	change  int64
	percent bool // of a thousandth
}

func (p *dumpMomentPane) title(s *scene) (string, string) {
	f := s.dumpFacts()
	switch {
	case f == nil:
		return "Moment", ""
	case s.baseline != nil && s.baseline.dump.index == f.index:
		return "At the cursor", "value, since d"
	case f.atEnd:
		return "End state", ""
	}
	return "At the cursor", "then, until the end"
}

func (*dumpMomentPane) keys() keymap.Context { return keymap.List }

// prepare has the map of the moment read: it says how well memory is used.
func (*dumpMomentPane) prepare(s *scene) { spaceOf(s) }

func (*dumpMomentPane) forget() {}

func (p *dumpMomentPane) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Up:
		p.offset--
	case keymap.Down:
		p.offset++
	case keymap.Top:
		p.offset = 0
	case keymap.Bottom:
		p.offset = len(p.rows)
	default:
		return false
	}
	p.offset = min(max(p.offset, 0), max(len(p.rows)-1, 0))
	return true
}

// collect makes the rows of the moment.
func (p *dumpMomentPane) collect(s *scene, f *dumpFacts) {
	p.rows = p.rows[:0]
	other := f.device.End
	hasOther := !f.atEnd
	sign := int64(1)
	if b := s.baseline; b != nil && b.dump.index == f.index && b.dump.number == f.number {
		other, hasOther, sign = totalsOf(f.device, b.dump), true, -1
	}
	add := func(name string, value, then int64) {
		change := int64(grid.Missing)
		if hasOther && then != grid.Missing && value != grid.Missing {
			change = sign * (then - value)
		}
		p.rows = append(p.rows, dumpRow{name: name, value: value, change: change})
	}
	add("requested", f.totals[dump.Requested], other[dump.Requested])
	add("allocated", f.totals[dump.Allocated], other[dump.Allocated])
	if f.device.Peaks[dump.Pending].Bytes > 0 {
		add("pending free", f.totals[dump.Pending], other[dump.Pending])
	}
	if f.device.Reserves {
		add("reserved", f.totals[dump.Reserved], other[dump.Reserved])
		add("free in pool", f.totals[dump.Reserved]-f.totals.Active(), other[dump.Reserved]-other.Active())
	}
	space, _ := spaceOf(s)
	if space == nil {
		return
	}
	p.rows = append(p.rows,
		dumpRow{name: "largest free", value: space.space.Largest, change: grid.Missing},
		dumpRow{name: "fragmentation", value: int64(space.space.Fragmentation()*1000 + 0.5), change: grid.Missing, percent: true},
		dumpRow{name: "releasable", value: space.space.Releasable, change: grid.Missing},
		dumpRow{name: "rounding", value: space.space.Rounding(), change: grid.Missing},
	)
}

// totalsOf are the totals of a moment that was remembered.
func totalsOf(d *dump.Device, m dumpMoment) dump.Totals {
	if m.moment == dump.AtEnd {
		return d.End
	}
	return d.At(m.event)
}

func (p *dumpMomentPane) draw(r grid.Region, s *scene, _ bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "The numbers of the moment that is looked at fill this."))
		return
	}
	p.collect(s, f)
	if r.Height() <= 1 {
		p.drawShort(r, f)
		return
	}
	drawDumpMoment(r.Row(0), f)
	above := 1
	if !f.atEnd && f.event >= 0 && r.Height() >= 4 {
		drawDumpAction(r.Row(1), f)
		above = 2
		if r.Height() >= 6 {
			name := s.dumps.names.of(f.index).frame(s.dumps.names.of(f.index).stack(f.stackOf()))
			drawFrameName(r.Row(2), name)
			above = 3
		}
	}
	room := r.Height() - above
	p.offset = min(p.offset, max(len(p.rows)-room, 0))
	for i := 0; i < room && p.offset+i < len(p.rows); i++ {
		drawDumpRow(r.Row(above+i), &p.rows[p.offset+i])
	}
}

// drawDumpMoment says which moment it is: the event of how many, and the time
// since the first one.
func drawDumpMoment(r grid.Region, f *dumpFacts) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	switch {
	case f.atEnd:
		pen.Text(text.With(themes.Bold), "end state")
		pen.Text(dim, " after ")
		pen.Count(text, int64(f.device.Events.Len()), 0)
		pen.Text(dim, " events")
		return
	case f.event < 0:
		pen.Text(text.With(themes.Bold), "before the first event")
		pen.Text(dim, " of ")
		pen.Count(text, int64(f.device.Events.Len()), 0)
		return
	}
	pen.Text(dim, "event ")
	pen.Count(text.With(themes.Bold), int64(f.event), 0)
	pen.Text(dim, " of ")
	pen.Count(text, int64(f.device.Events.Len()), 0)
	if us := f.device.TimeAt(f.event); us != 0 && pen.Left() >= 10 {
		pen.Text(dim, "  +")
		drawMilliseconds(&pen, text, (us-f.device.FirstUs)*1000)
		if pen.Left() >= 10 {
			pen.Skip(2)
			drawClock(&pen, dim, us*1000)
		}
	}
}

// drawDumpAction is what the event did.
func drawDumpAction(r grid.Region, f *dumpFacts) {
	e, at := f.device.Events, f.event
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	style := text
	if e.Action[at] == recorder.DumpOOM {
		style = grid.Of(themes.Error).With(themes.Bold)
		pen.Rune(style, r.Glyphs().EventOOM)
		pen.Skip(1)
	}
	pen.Text(style, e.Action[at].String())
	pen.Skip(1)
	pen.Bytes(text, e.Bytes[at], 0)
	if e.Address[at] != 0 && pen.Left() >= 20 {
		pen.Text(dim, " at ")
		drawHex(&pen, dim, e.Address[at])
	}
	if pen.Left() >= 6 {
		pen.Text(dim, " s")
		pen.Count(dim, int64(e.Stream[at]), 0)
	}
	if pool := f.index.PoolID(e.Pool[at]); pool != ([2]int64{}) && pen.Left() >= 12 {
		pen.Text(dim, " pool ")
		pen.Count(dim, pool[0], 0)
		pen.Rune(dim, ',')
		pen.Count(dim, pool[1], 0)
	}
}

// drawHex writes an address of any length.
func drawHex(pen *grid.Pen, style grid.Style, address uint64) {
	const figures = "0123456789abcdef"
	pen.Text(style, "0x")
	for shift := (bits.Len64(address|1) - 1) / 4 * 4; shift >= 0; shift -= 4 {
		pen.Rune(style, rune(figures[address>>shift&15]))
	}
}

// drawFrameName writes a frame's function and, dim, its place.
func drawFrameName(r grid.Region, name frameName) {
	place := grid.Width(name.short)
	if name.short == "" || r.Width() < place+8 {
		r.FitMiddle(0, 0, r.Width(), grid.Of(themes.Text), name.name)
		return
	}
	width := min(grid.Width(name.name), r.Width()-place-1)
	r.FitMiddle(0, 0, width, grid.Of(themes.Text), name.name)
	r.Text(width+1, 0, grid.Of(themes.Dim), name.short)
}

func drawDumpRow(r grid.Region, row *dumpRow) {
	value, change := momentValue, momentChange
	short := r.Width() < longMoments
	if short {
		value, change = momentShortValue, momentShortChange
	}
	if r.Width() < 8+value+change {
		change = 0
	}
	label := max(r.Width()-value-change, 1)
	r.Fit(0, 0, label, grid.Of(themes.Dim), row.name, grid.Left)
	cell := r.Sub(label, 0, value, 1)
	switch {
	case row.percent:
		pen := cell.Pen(0, 0)
		pen.Percent(grid.Of(themes.Text), row.value, 1000, value)
	case short:
		drawShortNumber(cell, grid.Of(themes.Text), row.value, false)
	default:
		pen := cell.Pen(0, 0)
		pen.Bytes(grid.Of(themes.Text), row.value, value)
	}
	if change > 0 && row.change != grid.Missing {
		drawChange(r.Sub(label+value, 0, change, 1), row.change, short)
	}
}

// drawShort is the moment in one row, with as many numbers as fit.
func (p *dumpMomentPane) drawShort(r grid.Region, f *dumpFacts) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	switch {
	case f.atEnd:
		pen.Text(text.With(themes.Bold), "end")
	case f.event < 0:
		pen.Text(text.With(themes.Bold), "before")
	default:
		pen.Count(text.With(themes.Bold), int64(f.event), 0)
		pen.Skip(1)
		pen.Text(text, f.device.Events.Action[f.event].String())
		pen.Skip(1)
		pen.Short(text, f.device.Events.Bytes[f.event], 0)
	}
	for i := range p.rows {
		row := &p.rows[i]
		if row.percent || pen.Left() < len(row.name)+8 {
			return
		}
		pen.Skip(1)
		pen.Text(dim, row.name)
		pen.Skip(1)
		pen.Short(text, row.value, 0)
	}
}

func (p *dumpMomentPane) origins(s *scene) (all []origin) {
	f := s.dumpFacts()
	if f == nil {
		return nil
	}
	for series := dump.Requested; series <= dump.Reserved; series++ {
		figure := model.Figure{Known: true, Value: f.totals[series], Origin: f.originOf(series)}
		if series == dump.Reserved && !f.device.Reserves {
			figure = model.Figure{Why: "the dump says nothing about segments"}
		}
		all = append(all, origin{name: series.String(), figure: figure})
	}
	return append(all, spaceOrigins(s)...)
}

// spaceOrigins are the numbers of the map of the moment.
func spaceOrigins(s *scene) []origin {
	space, why := spaceOf(s)
	figure := func(value int64) model.Figure {
		if space == nil {
			return model.Figure{Why: why}
		}
		return model.Figure{Known: true, Value: value, Origin: "the map of segments and blocks at the moment"}
	}
	var use dump.Space
	if space != nil {
		use = space.space
	}
	return []origin{
		{name: "free in the pool", figure: figure(use.Free)}, {name: "largest free block", figure: figure(use.Largest)},
		{name: "releasable", figure: figure(use.Releasable)}, {name: "rounding", figure: figure(use.Rounding())},
	}
}

func (*dumpMomentPane) details(s *scene) (string, []string) {
	if f := s.dumpFacts(); f != nil {
		return f.details()
	}
	return "", nil
}

func (*dumpMomentPane) selectedText(s *scene) string {
	f := s.dumpFacts()
	if f == nil {
		return ""
	}
	title, lines := f.titleText(), f.eventLines(nil)
	if len(lines) == 0 {
		return title
	}
	return title + ", " + lines[0]
}
