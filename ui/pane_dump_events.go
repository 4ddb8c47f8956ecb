package ui

import (
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpEventsPane is every event of a dump's trace. The selected one is the
// moment that all panes show.
type dumpEventsPane struct {
	rows    dumpEventRows
	set     liveKey                          // what rows were set for
	notes   reckoning[uint64, []stretchNote] // by the serial of the facts
	pattern filterPattern
	top     int // the event in the first row
	page    int // rows that were seen when it was drawn last
	head    int // rows above the list
	shown   []int
}

func newDumpEventsPane() *dumpEventsPane { return &dumpEventsPane{} }

func (p *dumpEventsPane) title(s *scene) (string, string) {
	title := "Events"
	if f := s.dumpFacts(); f != nil && p.pattern.text == "" {
		return title, f.titleText()
	}
	if p.pattern.text != "" {
		return title, "filter " + p.pattern.text
	}
	return title, ""
}

func (*dumpEventsPane) keys() keymap.Context { return keymap.List }

// heavyEvents is from how many events on a trace is looked through off the update
// loop.
const heavyEvents = 4_000_000

// prepare has the trace looked through, once there is a filter.
func (p *dumpEventsPane) prepare(s *scene) {
	f := s.dumpFacts()
	if f == nil || p.pattern.pattern == nil || !p.notes.lacks(f.serial) {
		return
	}
	events := f.device.Events
	p.notes.ask(f.serial, &s.dumps.queue, events.Len() > heavyEvents, func() []stretchNote { return notesOfEvents(events) })
}

// forget lets go of the dump.
func (p *dumpEventsPane) forget() {
	p.rows, p.set, p.top = dumpEventRows{}, liveKey{}, 0
	p.notes.forget()
}

// collect takes the device and the filter in; false while the trace is looked
// through.
func (p *dumpEventsPane) collect(s *scene, f *dumpFacts) (ready bool) {
	p.prepare(s)
	if p.rows.notes, ready = p.notes.to(f.serial); !ready && p.pattern.pattern != nil {
		return false
	}
	key := liveKey{serial: f.serial, atEnd: true, pattern: p.pattern.text}
	if p.set != key {
		p.set = key
		p.rows.set(f, p.pattern)
	}
	return true
}

// selected is the row of the moment: an event, or the number of events for the
// end state; -1 is before them all.
func (p *dumpEventsPane) selected(f *dumpFacts) int {
	if f.atEnd {
		return f.device.Events.Len()
	}
	return f.event
}

// scroll moves what is seen so that the moment is in it.
func (p *dumpEventsPane) scroll(f *dumpFacts, page int) {
	p.page = max(page, 1)
	at := p.rows.next(max(p.selected(f), 0))
	p.top = p.rows.next(min(p.top, f.device.Events.Len()))
	p.fill(f)
	if len(p.shown) == 0 || at < p.shown[0] {
		p.top = at
	} else if at > p.shown[len(p.shown)-1] {
		p.top = p.rows.move(at, 1-p.page)
	}
	p.fill(f)
	if missing := p.page - len(p.shown); missing > 0 {
		p.top = p.rows.move(p.top, -missing)
		p.fill(f)
	}
}

// fill finds the rows that are seen.
func (p *dumpEventsPane) fill(f *dumpFacts) {
	p.shown = p.shown[:0]
	for event := p.top; len(p.shown) < p.page; event = p.rows.next(event + 1) {
		p.shown = append(p.shown, event)
		if event >= f.device.Events.Len() {
			break
		}
	}
}

func (p *dumpEventsPane) draw(r grid.Region, s *scene, _ bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "Every event of the trace fills this."))
		return
	}
	if !p.collect(s, f) {
		nothing(r, "The events are being looked through.")
		return
	}
	p.head = 0
	columns := eventColumnsFor(r.Width(), f)
	if r.Height() >= headedList {
		p.head = 1
		columns.drawTitles(r.Row(0))
	}
	p.scroll(f, r.Height()-p.head)
	at := p.selected(f)
	for y, event := range p.shown {
		row := r.Row(p.head + y)
		if event == at {
			row = row.Forced(grid.Of(themes.Selection))
			row.Clear(0)
			row.Set(0, 0, row.Glyphs().Selected, 0)
		}
		if event == f.device.Events.Len() {
			drawEndRow(row, f)
			continue
		}
		columns.drawEvent(row, s, f, event)
	}
	if last := len(p.shown) - 1; last >= 0 {
		bar := r.Sub(r.Width()-1, p.head, 1, r.Height()-p.head)
		widget.Scrollbar(bar, p.shown[0], p.shown[last]-p.shown[0]+1, f.device.Events.Len()+1)
	}
}

func drawEndRow(r grid.Region, f *dumpFacts) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(1, 0)
	pen.Text(dim, "end state: ")
	pen.Count(dim, int64(len(f.device.Segments)), 0)
	pen.Text(dim, " segments, ")
	pen.Count(dim, int64(f.device.Blocks.Len()), 0)
	pen.Text(dim, " blocks")
}

func (p *dumpEventsPane) do(action keymap.Action, s *scene) bool {
	f := s.dumpFacts()
	if f == nil || !p.collect(s, f) {
		return false
	}
	at, end := p.selected(f), f.device.Events.Len()
	switch action {
	case keymap.Up, keymap.PreviousMatch:
		at = p.rows.move(max(at, 0), -1)
	case keymap.Down, keymap.NextMatch:
		at = p.rows.move(at, 1)
	case keymap.PageUp:
		at = p.rows.move(max(at, 0), -max(p.page-1, 1))
	case keymap.PageDown:
		at = p.rows.move(at, max(p.page-1, 1))
	case keymap.Top:
		at = p.rows.next(0)
	case keymap.Bottom, keymap.Follow:
		at = end
	default:
		return false
	}
	s.choices.dump.lookAt(f.device, at)
	return true
}

func (p *dumpEventsPane) click(_, y, _, _ int, s *scene) {
	f := s.dumpFacts()
	if row := y - p.head; f != nil && row >= 0 && row < len(p.shown) {
		s.choices.dump.lookAt(f.device, p.shown[row])
	}
}

func (p *dumpEventsPane) filter() string { return p.pattern.text }

func (p *dumpEventsPane) setFilter(text string) error { return p.pattern.set(text) }

func (p *dumpEventsPane) selectedText(s *scene) string {
	return (&dumpMomentPane{}).selectedText(s)
}

func (p *dumpEventsPane) details(s *scene) (string, []string) {
	if f := s.dumpFacts(); f != nil {
		return f.details()
	}
	return "", nil
}

// eventColumns is where the parts of an event stand in a row; a width of 0 is
// left out.
type eventColumns struct {
	index, time, action, bytes, address, stream int // widths
	stack                                       int // where it begins, 0 is left out
}

// Widths of the parts of an event.
const (
	eventTimeWidth    = 13
	eventActionWidth  = 14
	eventBytesWidth   = 10
	eventAddressWidth = 14
	eventStreamWidth  = 4
)

// eventColumnsFor fits the parts into a width; who allocated stays longest.
func eventColumnsFor(width int, f *dumpFacts) eventColumns {
	n := uint64(max(f.device.Events.Len(), 1))
	c := eventColumns{index: digits(n) + (digits(n)-1)/3, action: eventActionWidth, bytes: eventBytesWidth}
	if width >= 64 && f.device.Timed() {
		c.time = eventTimeWidth
	}
	if width >= 100 {
		c.address = eventAddressWidth
	}
	if width >= 110 {
		c.stream = eventStreamWidth
	}
	x := 2
	for _, part := range [...]int{c.index, c.time, c.action, c.bytes, c.address, c.stream} {
		if part > 0 {
			x += part + 1
		}
	}
	if width-x >= 10 {
		c.stack = x
	}
	return c
}

// each calls draw for every part with its region.
func (c *eventColumns) each(r grid.Region, draw func(cell grid.Region, part int)) {
	x := 2
	for part, width := range [...]int{c.index, c.time, c.action, c.bytes, c.address, c.stream} {
		if width > 0 {
			draw(r.Sub(x, 0, width, 1), part)
			x += width + 1
		}
	}
	if c.stack > 0 {
		draw(r.Sub(c.stack, 0, r.Width()-c.stack-1, 1), eventStack)
	}
}

// The parts of an event, in their order.
const (
	eventIndex = iota
	eventTime
	eventAction
	eventBytes
	eventAddress
	eventStream
	eventStack
)

var eventTitles = [...]string{"event", "seconds", "action", "bytes", "address", "", "who"}

func (c *eventColumns) drawTitles(r grid.Region) {
	style := grid.Of(themes.Dim).With(themes.Bold)
	c.each(r, func(cell grid.Region, part int) {
		align := grid.Left
		if part == eventIndex || part == eventTime || part == eventBytes {
			align = grid.Right
		}
		cell.Fit(0, 0, cell.Width(), style, eventTitles[part], align)
	})
}

// drawEvent draws a row. A failed allocation stands out by its mark and style.
func (c *eventColumns) drawEvent(r grid.Region, s *scene, f *dumpFacts, event int) {
	e := f.device.Events
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	action := e.Action[event]
	failed := action == recorder.DumpOOM
	if failed {
		text = grid.Of(themes.Error).With(themes.Bold)
		r.Set(1, 0, r.Glyphs().EventOOM, text)
	}
	names := s.dumps.names.of(f.index)
	c.each(r, func(cell grid.Region, part int) {
		pen := cell.Pen(0, 0)
		switch part {
		case eventIndex:
			pen.Count(dim, int64(event), cell.Width())
		case eventTime:
			drawSeconds(cell, dim, f.device.TimeAt(event)-f.device.FirstUs, f.device.TimeAt(event) != 0)
		case eventAction:
			cell.Text(0, 0, actionStyle(action, text), action.String())
		case eventBytes:
			pen.Bytes(text, e.Bytes[event], cell.Width())
		case eventAddress:
			if e.Address[event] != 0 {
				fitAddress(cell, dim, e.Address[event])
			}
		case eventStream:
			pen.Rune(dim, 's')
			pen.Count(dim, int64(e.Stream[event]), 0)
		case eventStack:
			if e.Stack[event] != 0 {
				drawFrameName(cell, names.frame(names.stack(e.Stack[event])))
			}
		}
	})
}

// actionStyle tells what takes memory from what gives it back; the words do too.
func actionStyle(action recorder.DumpAction, text grid.Style) grid.Style {
	switch action {
	case recorder.DumpAlloc:
		return grid.Of(themes.Allocated)
	case recorder.DumpFreeRequested, recorder.DumpFreeCompleted, recorder.DumpFree:
		return grid.Of(themes.Free)
	case recorder.DumpSegmentAlloc, recorder.DumpSegmentFree, recorder.DumpSegmentMap, recorder.DumpSegmentUnmap:
		return grid.Of(themes.Reserved)
	}
	return text
}

// drawSeconds writes microseconds as seconds with six decimals, at the right end
// of a cell.
func drawSeconds(r grid.Region, style grid.Style, us int64, known bool) {
	if !known {
		r.Set(r.Width()-1, 0, r.Glyphs().Unknown, style)
		return
	}
	var room [32]byte
	text := grid.AppendCount(room[:0], us/1_000_000)
	text = append(text, '.')
	for unit := int64(100_000); unit > 0; unit /= 10 {
		text = append(text, byte('0'+us/unit%10))
	}
	r.Bytes(max(r.Width()-len(text), 0), 0, style, text)
}
