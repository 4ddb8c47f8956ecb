package ui

import (
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpAxis is the horizontal axis of a chart over a dump's trace, as somebody
// moves along it: in time, or in events where these have no time or where they
// are what is counted. The stretch that is shown and the moment that is looked
// at are the same for all charts (dumpChoices).
type dumpAxis struct {
	plot     grid.Rect // of the chart, in its region
	timed    bool
	from, to int // the events [from, to) are shown
	n        int // columns that the chart draws
	markers  []widget.Marker
}

// prepare sets the chart's axis and cursor for a region of the given size.
func (a *dumpAxis) prepare(c *widget.Chart, s *scene, f *dumpFacts, r grid.Region) {
	a.timed = s.axis == widget.Seconds && f.device.Timed()
	a.from, a.to = s.choices.dump.stretch(f.device)
	c.Unit, c.Zero, c.Live = widget.Frames, 0, false
	if a.timed {
		c.Unit = widget.Seconds
	}
	c.From, c.To = a.place(f.device, a.from), a.place(f.device, a.to-1)
	if !a.timed {
		c.To = int64(a.to)
	}
	c.To = max(c.To, c.From+1)
	c.HasCursor = !f.atEnd
	c.Cursor = min(max(a.place(f.device, max(f.event, 0)), c.From), c.To)
	if event := max(f.event, 0); event < a.from || event >= a.to {
		c.HasCursor = false
	}
	a.plot = c.Plot(r.Width(), r.Height())
	a.n = c.Resolution(r.Glyphs(), r.Width())
}

// place is an event's place on the axis: ns from the first event, or its number.
func (a *dumpAxis) place(d *dump.Device, event int) int64 {
	if a.timed {
		return (d.TimeAt(max(event, 0)) - d.FirstUs) * 1000
	}
	return int64(event)
}

// eventAt is the event at a place on the axis.
func (a *dumpAxis) eventAt(d *dump.Device, place int64) int {
	if a.timed {
		return max(d.LastUntil(d.FirstUs+place/1000), a.from)
	}
	return min(int(place), a.to-1)
}

// columns fills columns with the stretch that is shown.
func (a *dumpAxis) columns(d *dump.Device, into []dump.Column) {
	if a.timed {
		d.ColumnsByTime(into, d.TimeAt(a.from), d.TimeAt(a.to-1)+1)
		return
	}
	d.Columns(into, a.from, a.to)
}

// columnsOf is the columns of the plot, which is so wide, that events [from, to)
// take; none where they lie outside of what is shown.
func (a *dumpAxis) columnsOf(d *dump.Device, from, to, width int) (first, count int) {
	if to <= a.from || from >= a.to || width <= 0 {
		return 0, 0
	}
	low, high := a.place(d, a.from), a.place(d, a.to-1)
	if !a.timed {
		high = int64(a.to)
	}
	share := func(event int) int {
		return int(float64(a.place(d, min(max(event, a.from), a.to-1))-low) / float64(max(high-low, 1)) * float64(width-1))
	}
	first = share(from)
	return first, max(share(to)-first+1, 1)
}

// do carries out an action on the axis; false leaves it to others.
func (a *dumpAxis) do(action keymap.Action, s *scene) bool {
	f := s.dumpFacts()
	if f == nil || f.device.Events.Len() == 0 {
		return false
	}
	c, d := &s.choices.dump, f.device
	a.timed = s.axis == widget.Seconds && d.Timed()
	a.from, a.to = c.stretch(d)
	switch action {
	case keymap.ZoomIn:
		a.zoom(c, d, 0.5)
	case keymap.ZoomOut:
		a.zoom(c, d, 2)
	case keymap.ZoomAll:
		c.from, c.to = 0, 0
	case keymap.PanBack:
		a.pan(c, d, -0.5)
	case keymap.PanForward:
		a.pan(c, d, 0.5)
	case keymap.PageUp:
		a.pan(c, d, -1)
	case keymap.PageDown:
		a.pan(c, d, 1)
	case keymap.Left:
		a.step(c, d, -1)
	case keymap.Right:
		a.step(c, d, 1)
	case keymap.PreviousEvent:
		c.lookAt(d, c.at(d)-1)
	case keymap.NextEvent:
		c.lookAt(d, c.at(d)+1)
	case keymap.Top:
		c.lookAt(d, dump.BeforeFirst)
	case keymap.Bottom, keymap.Follow:
		c.lookAt(d, d.Events.Len())
	default:
		return false
	}
	return true
}

// step moves the cursor by a column of the plot, at least by an event.
func (a *dumpAxis) step(c *dumpChoices, d *dump.Device, direction int) {
	at, width := c.at(d), max(a.plot.W-1, 1)
	if c.atEnd && direction < 0 {
		at-- // the last event stands where the end does
	}
	target := at + direction*max((a.to-a.from)/width, 1)
	if a.timed {
		span := d.TimeAt(a.to-1) - d.TimeAt(a.from)
		us := d.TimeAt(min(max(at, 0), d.Events.Len()-1)) + int64(direction)*max(span/int64(width), 1)
		if direction > 0 {
			target = max(d.FirstFrom(us), at+1)
		} else {
			target = min(d.LastUntil(us), at-1)
		}
	}
	c.lookAt(d, target)
}

// zoom makes the stretch shorter (factor < 1) or longer; the cursor stays where
// it is, or the middle where there is none.
func (a *dumpAxis) zoom(c *dumpChoices, d *dump.Device, factor float64) {
	anchor := a.from + (a.to-a.from)/2
	if event := max(c.event, 0); !c.atEnd && event >= a.from && event < a.to {
		anchor = event
	}
	if !a.timed {
		a.zoomEvents(c, d, factor, anchor)
		return
	}
	low, high, middle := d.TimeAt(a.from), d.TimeAt(a.to-1), d.TimeAt(anchor)
	length := float64(high-low) * factor
	share := float64(middle-low) / float64(max(high-low, 1))
	first := middle - int64(length*share)
	from, to := d.FirstFrom(first), d.LastUntil(first+int64(length))+1
	from, to = min(from, anchor), max(to, anchor+1)
	if to-from < shortestStretch || factor < 1 && to-from == a.to-a.from || factor > 1 && to-from == a.to-a.from {
		a.zoomEvents(c, d, factor, anchor) // nothing happened for a long time
		return
	}
	c.show(d, from, to-from)
}

func (a *dumpAxis) zoomEvents(c *dumpChoices, d *dump.Device, factor float64, anchor int) {
	length := int(float64(a.to-a.from) * factor)
	share := float64(anchor-a.from) / float64(max(a.to-a.from, 1))
	length = max(length, shortestStretch)
	c.show(d, anchor-int(share*float64(length)), length)
}

// pan moves the stretch by a share of its length.
func (a *dumpAxis) pan(c *dumpChoices, d *dump.Device, share float64) {
	length := a.to - a.from
	if !a.timed {
		c.show(d, a.from+int(share*float64(length)), length)
		return
	}
	low, high := d.TimeAt(a.from), d.TimeAt(a.to-1)
	shift := int64(share * float64(high-low))
	if low+shift < d.FirstUs {
		shift = d.FirstUs - low
	}
	if last := d.TimeAt(d.Events.Len() - 1); high+shift > last {
		shift = last - high
	}
	from, to := d.FirstFrom(low+shift), d.LastUntil(high+shift)+1
	if to-from < shortestStretch || from == a.from && to == a.to {
		c.show(d, a.from+int(share*float64(length)), length)
		return
	}
	c.show(d, from, to-from)
}

// click looks at the moment at a place of the region that the chart was drawn
// into.
func (a *dumpAxis) click(x, y int, s *scene) {
	f := s.dumpFacts()
	if f == nil || !a.plot.Contains(x, y) || f.device.Events.Len() == 0 {
		return
	}
	c := widget.Chart{From: a.place(f.device, a.from), To: a.place(f.device, a.to-1)}
	if !a.timed {
		c.To = int64(a.to)
	}
	s.choices.dump.lookAt(f.device, a.eventAt(f.device, c.At(a.plot, x-a.plot.X)))
}

// mark makes the markers of what is shown, those that matter least first, for
// the later ones are drawn over them.
func (a *dumpAxis) mark(f *dumpFacts, glyphs *themes.Glyphs, columns []dump.Column) {
	a.markers = a.markers[:0]
	a.markSegments(f, glyphs, columns)
	for _, series := range [...]dump.Series{dump.Allocated, dump.Requested} {
		if event := max(f.device.Peaks[series].Event, 0); event >= a.from && event < a.to {
			a.markers = append(a.markers, widget.Marker{At: a.place(f.device, event), Glyph: glyphs.HighWater, Style: grid.Of(themes.Peak)})
		}
	}
	for _, event := range f.device.OOMEvents {
		if e := int(event); e >= a.from && e < a.to {
			a.markers = append(a.markers, widget.Marker{At: a.place(f.device, e), Glyph: glyphs.EventOOM, Style: grid.Of(themes.Error)})
		}
	}
}

// markSegments marks where memory came from the driver or went back, unless that
// happens all the time.
func (a *dumpAxis) markSegments(f *dumpFacts, glyphs *themes.Glyphs, columns []dump.Column) {
	for i := 1; i < len(columns); i++ {
		before, at := &columns[i-1], &columns[i]
		if at.From == at.To || at.Min[dump.Reserved] == before.Last[dump.Reserved] && at.Max[dump.Reserved] == before.Last[dump.Reserved] {
			continue
		}
		a.markers = append(a.markers, widget.Marker{At: a.place(f.device, at.From), Glyph: glyphs.EventFrame, Style: grid.Of(themes.Guide)})
	}
	if len(a.markers) > len(columns)/8 {
		a.markers = a.markers[:0]
	}
}
