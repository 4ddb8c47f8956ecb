package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// headroomPane is the device as a bar, the headroom with its formula, and the
// host's own memory.
type headroomPane struct {
	gauge    widget.Gauge
	segments [5]widget.Segment
	gates    [2]widget.Gate
}

func (*headroomPane) title(s *scene) (string, string) {
	if s.view == nil {
		return "Headroom", ""
	}
	h := s.headroom()
	note := headroomNote(h)
	if h.Age > 0 {
		note = string(grid.AppendDuration(nil, h.Age)) + " ago: " + note
	}
	return "Headroom", note
}

// headroomNote is the gate that the device has crossed, else its name.
func headroomNote(h *model.Headroom) string {
	switch {
	case h.Host != nil && h.HeadroomGate.Crossed:
		return "15 % or less available"
	case h.Host != nil && h.PressureGate.Crossed:
		return "cgroup over 60 %"
	case h.HeadroomGate.Known && h.HeadroomGate.Crossed:
		return "under 15 % free"
	case h.PressureGate.Known && h.PressureGate.Crossed:
		return "under 20 % free"
	}
	return h.Name
}

func (*headroomPane) keys() keymap.Context          { return keymap.List }
func (*headroomPane) do(keymap.Action, *scene) bool { return false }

func (p *headroomPane) draw(r grid.Region, s *scene, _ bool) {
	if s.view == nil {
		nothing(r, "Nothing is watched. A program with a probe, a GPU or a recording fills this: `vramscope run -- python render.py`, `vramscope demo`, `vramscope FILE`.")
		return
	}
	if why := notSpoken(s.view); why != "" {
		nothing(r, why)
		return
	}
	h := s.headroom()
	if !h.DriverTotal.Known && !h.DriverFree.Known {
		whose := "The device's"
		if h.Device == model.HostDevice {
			whose = "The machine's"
		}
		nothing(r, whose+" memory is not known: "+h.DriverFree.Why)
		return
	}
	p.reckon(s, h, about(r))
	switch r.Height() {
	case 0:
	case 1:
		p.drawShort(r, h)
	case 2:
		p.drawBar(r.Row(0), h)
		drawFormula(r.Row(1), h)
	case 3:
		p.drawBar(r.Row(0), h)
		drawFormula(r.Row(1), h)
		drawLargest(r.Row(2), s, h)
	default:
		p.drawBar(r.Row(0), h)
		p.drawParts(r.Row(1), h)
		drawFormula(r.Row(2), h)
		drawLargest(r.Row(3), s, h)
		if r.Height() > 4 {
			drawGates(r.Row(4), h)
		}
	}
}

// reckon fills the bar: what the process uses, what lies free in its pools,
// what others use, what the driver keeps, and what is free. Mark stands for about.
func (p *headroomPane) reckon(s *scene, h *model.Headroom, mark rune) {
	own := s.inside().Driver.Or(s.inside().Held)
	if h.Host != nil {
		own = h.Host.Resident // of what an allocator reserves, pages that were never written take none
	}
	if h.Gone || h.Age > 0 {
		own = model.Figure{} // none of what is used now is its own, or it is of another moment
	}
	inPool := int64(0)
	if h.PoolAtLeast.Known && own.Known {
		inPool = min(h.PoolAtLeast.Value, own.Value)
	}
	segments := p.segments[:0]
	if own.Known {
		segments = append(segments, widget.Segment{Name: s.view.Name, Value: own.Value - inPool, Style: grid.Of(themes.Used), Fill: themes.FillSolid})
		if inPool > 0 {
			segments = append(segments, widget.Segment{Name: "in pool", Value: inPool, Style: grid.Of(themes.Reserved), Fill: themes.FillMedium})
		}
	}
	if others, name := othersOf(s, h, own, mark); others > 0 || others == 0 && !own.Known {
		segments = append(segments, widget.Segment{Name: name, Value: others, Style: grid.Of(themes.Others), Fill: themes.FillDense})
	}
	if h.DriverReserved.Known {
		segments = append(segments, widget.Segment{Name: "driver", Value: h.DriverReserved.Value, Style: grid.Of(themes.Driver), Fill: themes.FillLight})
	}
	p.gauge.Segments = segments
	p.gauge.Total = value(h.DriverTotal)
	p.gauge.Gates = p.gates[:0]
	if !h.DriverTotal.Known {
		return
	}
	gateAt := func(at int64) {
		p.gauge.Gates = append(p.gauge.Gates, widget.Gate{At: at, Style: grid.Of(themes.Gate)})
	}
	switch isLimit := h.Host != nil && h.DriverTotal.Value != value(h.Host.Total); {
	case isLimit && h.PressureGate.Known:
		gateAt(h.PressureGate.At) // of what the control group uses
	case isLimit:
	case h.Host != nil && h.HeadroomGate.Known:
		gateAt(h.DriverTotal.Value - h.HeadroomGate.At)
	case h.Host == nil:
		for _, gate := range [...]model.Gate{h.HeadroomGate, h.PressureGate} {
			if gate.Known {
				gateAt(h.DriverTotal.Value - gate.At)
			}
		}
	}
}

// othersOf is what is used of the device besides the process's own bytes, and
// what to call it; grid.Missing where it is not known.
func othersOf(s *scene, h *model.Headroom, own model.Figure, mark rune) (bytes int64, name string) {
	switch {
	case !h.DriverUsed.Known:
		return grid.Missing, ""
	case !own.Known:
		return h.DriverUsed.Value, "used"
	case h.Host != nil:
		return max(h.DriverUsed.Value-own.Value, 0), "others"
	case !s.inside().Driver.Known: // its own context is among it
		return max(h.DriverUsed.Value-own.Value, 0), "used besides"
	}
	others := model.OthersOn(s.view, s.beside, s.device)
	if others.About {
		if mark == '≈' {
			return others.Value, "others ≈"
		}
		return others.Value, "others ~"
	}
	return value(others), "others"
}

func (p *headroomPane) drawBar(r grid.Region, h *model.Headroom) {
	pen := r.Pen(0, 0)
	what := "device "
	if h.Host != nil {
		what = "memory "
	}
	pen.Text(grid.Of(themes.Dim), what)
	pen.Bytes(grid.Of(themes.Total), value(h.DriverTotal), 0)
	pen.Skip(1)
	if left := pen.Left(); left >= 4 {
		p.gauge.Draw(r.Sub(pen.X(), 0, left, 1))
	}
}

func (p *headroomPane) drawShort(r grid.Region, h *model.Headroom) {
	pen := r.Pen(0, 0)
	pen.Text(grid.Of(themes.Dim), "headroom ")
	pen.Bytes(headroomStyle(h), value(h.Bytes), 0)
	pen.Skip(1)
	if left := pen.Left(); left >= 4 {
		p.gauge.Draw(r.Sub(pen.X(), 0, left, 1))
	}
}

// headroomStyle is how the headroom looks: a number below zero or a crossed
// gate is not told by its colour alone, the title and the sign say it too.
func headroomStyle(h *model.Headroom) grid.Style {
	switch {
	case !h.AtLeast.Known:
		return grid.Of(themes.Dim)
	case h.AtLeast.Value < 0 || h.HeadroomGate.Crossed:
		return grid.Of(themes.Error).With(themes.Bold)
	case h.PressureGate.Crossed:
		return grid.Of(themes.Warning).With(themes.Bold)
	}
	return grid.Of(themes.Accent).With(themes.Bold)
}

// drawParts names the parts of the bar, as many as fit, each with its fill.
func (p *headroomPane) drawParts(r grid.Region, h *model.Headroom) {
	pen := r.Pen(1, 0)
	part := func(fill rune, style grid.Style, name string, bytes int64) {
		if pen.Left() < min(grid.Width(name), 12)+10 {
			return
		}
		pen.Rune(style, fill)
		pen.Skip(1)
		pen.Fit(grid.Of(themes.Dim), name, min(grid.Width(name), max(pen.Left()-9, 1)), grid.Left)
		pen.Skip(1)
		pen.Short(grid.Of(themes.Text), bytes, 0)
		pen.Skip(2)
	}
	for i := range p.gauge.Segments {
		segment := &p.gauge.Segments[i]
		part(r.Glyphs().Fills[segment.Fill], segment.Style, segment.Name, segment.Value)
	}
	part(r.Glyphs().Empty, grid.Of(themes.Free), "free", value(h.DriverFree))
}

// formulaWidth is the columns that a formula takes with long numbers.
const formulaWidth = 84

// writeBytes is how a pen writes a number of bytes.
type writeBytes func(pen *grid.Pen, style grid.Style, bytes int64, width int)

// numbersFor is how bytes are written in a region: short where it is narrow.
func numbersFor(r grid.Region) writeBytes {
	if r.Width() < formulaWidth {
		return (*grid.Pen).Short
	}
	return (*grid.Pen).Bytes
}

// drawFormula writes the headroom and what it is reckoned from; in a narrow
// place with short numbers.
func drawFormula(r grid.Region, h *model.Headroom) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	number := numbersFor(r)
	pen.Text(dim, "headroom ")
	writeBound(&pen, r, number, headroomStyle(h), h.Bytes, h.AtLeast)
	pen.Text(dim, " = free ")
	number(&pen, plain, value(h.DriverFree), 0)
	if h.Host == nil || h.PoolFree.Known || h.PoolAtLeast.Known {
		pen.Text(dim, " + in pool ")
		writeBound(&pen, r, number, plain, h.PoolFree, h.PoolAtLeast)
	}
	pen.Text(dim, " - reserve ")
	number(&pen, plain, value(h.Reserve), 0)
}

// writeBound writes a number or, where only a lower bound of it is known, that
// with a mark.
func writeBound(pen *grid.Pen, r grid.Region, number writeBytes, style grid.Style, exact, bound model.Figure) {
	if !exact.Known && bound.Known {
		pen.Rune(style, atLeast(r))
		exact = bound
	}
	number(pen, style, value(exact), 0)
}

// drawLargest writes the largest single allocation and the host's memory.
func drawLargest(r grid.Region, s *scene, h *model.Headroom) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	label := "largest single allocation "
	if r.Width() < formulaWidth {
		label = "largest single "
	}
	pen.Text(dim, label)
	pen.Short(grid.Of(themes.Accent), value(h.Largest), 0)
	if h.LargestIn != "" {
		pen.Text(dim, " in ")
		pen.Fit(dim, h.LargestIn, min(grid.Width(h.LargestIn), 12), grid.Left)
	}
	host := s.host()
	if !host.Available.Known {
		return
	}
	style := grid.Of(themes.Text)
	if h.Host == nil || value(host.Total) != value(h.DriverTotal) { // else it stands above
		pen.Text(dim, "  host ")
		if host.AvailableGate.Crossed {
			style = grid.Of(themes.Warning).With(themes.Bold)
		}
		pen.Short(style, value(host.Available), 0)
		pen.Text(dim, " free of ")
		pen.Short(dim, value(host.Total), 0)
	}
	if host.CgroupLimit.Known {
		style = grid.Of(themes.Text)
		pen.Text(dim, "  cgroup ")
		if host.CgroupGate.Crossed {
			style = grid.Of(themes.Warning).With(themes.Bold)
		}
		pen.Percent(style, value(host.CgroupCurrent), value(host.CgroupLimit), 0)
		pen.Text(dim, " of ")
		pen.Short(dim, value(host.CgroupLimit), 0)
		pen.Text(dim, " (gate 60 %)")
	}
}

// drawGates says where the gates of the release policy lie.
func drawGates(r grid.Region, h *model.Headroom) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	gate := func(label string, g model.Gate) {
		pen.Text(dim, label)
		if !g.Known {
			pen.Rune(dim, r.Glyphs().Unknown)
		} else if g.Crossed {
			pen.Text(grid.Of(themes.Warning).With(themes.Bold), "crossed")
		} else {
			pen.Text(grid.Of(themes.OK), "clear")
		}
		pen.Skip(2)
	}
	if h.Host != nil {
		gate("15 % available ", h.HeadroomGate)
		gate("cgroup 60 % ", h.PressureGate)
		return
	}
	gate("15 % free ", h.HeadroomGate)
	gate("20 % free ", h.PressureGate)
	gate("128 MiB cached ", h.CacheGate)
}

func (*headroomPane) origins(s *scene) []origin {
	if s.view == nil {
		return nil
	}
	h, host := s.headroom(), s.host()
	all := []origin{{name: "headroom", figure: h.Bytes}}
	if !h.Bytes.Known {
		all = append(all, origin{name: "headroom, at least", figure: h.AtLeast}, origin{name: "in the pools, at least", figure: h.PoolAtLeast})
	}
	if h.Host != nil {
		return append(all, hostOrigins(h)...)
	}
	return append(all, []origin{
		{name: "free on the device", figure: h.DriverFree},
		{name: "device total", figure: h.DriverTotal}, {name: "device used", figure: h.DriverUsed},
		{name: "driver's reserve", figure: h.DriverReserved}, {name: "free in the pools", figure: h.PoolFree},
		{name: "reserve held back", figure: h.Reserve}, {name: "largest single allocation", figure: h.Largest},
		{name: "largest free block", figure: h.LargestBlock}, {name: "cached", figure: h.Cached},
		{name: "host available", figure: host.Available}, {name: "host total", figure: host.Total},
		{name: "this process, resident", figure: host.Resident},
		{name: "cgroup current", figure: host.CgroupCurrent}, {name: "cgroup limit", figure: host.CgroupLimit},
	}...)
}

// hostOrigins are the origins where the machine's own memory is the device.
func hostOrigins(h *model.Headroom) []origin {
	host := h.Host
	all := []origin{{name: "free", figure: h.DriverFree}, {name: "all that can be used", figure: h.DriverTotal}, {name: "used", figure: h.DriverUsed}}
	if h.PoolFree.Known || h.PoolAtLeast.Known {
		all = append(all, origin{name: "free in the pools", figure: h.PoolFree}, origin{name: "largest free block", figure: h.LargestBlock})
	}
	return append(all, []origin{
		{name: "reserve held back", figure: h.Reserve}, {name: "largest single allocation", figure: h.Largest},
		{name: "available", figure: host.Available}, {name: "RAM", figure: host.Total}, {name: "this process, resident", figure: host.Resident},
		{name: "cgroup current", figure: host.CgroupCurrent}, {name: "cgroup limit", figure: host.CgroupLimit},
	}...)
}

func (*headroomPane) selectedText(s *scene) string {
	if s.view == nil {
		return ""
	}
	h := s.headroom()
	text := "headroom " + h.Formula()
	if only := h.Only(); only != "" {
		text += "; " + only
	}
	return text
}
