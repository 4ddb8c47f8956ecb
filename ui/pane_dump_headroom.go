package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpHeadroomPane is how a dump's memory was used at the moment, and the
// headroom at the last failed allocation: the only moment at which a dump says
// what was free on the device.
type dumpHeadroomPane struct {
	gauge    widget.Gauge
	segments [4]widget.Segment
	name     headroomName
}

// headroomName is the title's note, and what it was made of.
type headroomName struct {
	text   string
	serial uint64
	event  int
	atEnd  bool
}

func (p *dumpHeadroomPane) title(s *scene) (string, string) {
	f := s.dumpFacts()
	if f == nil {
		return "Headroom", ""
	}
	name := headroomName{p.name.text, f.serial, f.event, f.atEnd}
	if name != p.name {
		name.text = f.device.Name() + ", " + f.momentText()
		p.name = name
	}
	return "Headroom", p.name.text
}

func (*dumpHeadroomPane) keys() keymap.Context          { return keymap.List }
func (*dumpHeadroomPane) do(keymap.Action, *scene) bool { return false }

// prepare has the map of the moment read.
func (*dumpHeadroomPane) prepare(s *scene) { spaceOf(s) }

func (*dumpHeadroomPane) forget() {}

func (p *dumpHeadroomPane) draw(r grid.Region, s *scene, _ bool) {
	f := s.dumpFacts()
	if f == nil {
		p.drawReading(r, s)
		return
	}
	p.reckon(f)
	draws := [...]func(grid.Region){
		func(r grid.Region) { p.drawBar(r, f) },
		func(r grid.Region) { drawDumpHeadroom(r, s, f) },
		func(r grid.Region) { drawUse(r, s, f) },
		func(r grid.Region) { drawPieces(r, s) },
		func(r grid.Region) { p.drawParts(r) },
	}
	for y, draw := range draws {
		if y < r.Height() {
			draw(r.Row(y))
		}
	}
}

// drawReading says how far the file has been read.
func (*dumpHeadroomPane) drawReading(r grid.Region, s *scene) {
	if s.view == nil || s.view.Status != model.StatusLoading || s.view.Size <= 0 || r.Height() < 2 {
		nothing(r, unreadText(s, "A dump's use of memory fills this."))
		return
	}
	used := widget.Paragraph(r, grid.Of(themes.Dim), unreadText(s, ""))
	row := r.Row(used)
	pen := row.Pen(0, 0)
	drawProgress(&pen, grid.Of(themes.Text), s.view)
	pen.Skip(2)
	widget.MiniBar(row.Sub(pen.X(), 0, pen.Left(), 1), s.view.Done, s.view.Size, grid.Of(themes.Accent))
}

// drawProgress says how much of a file has been read, and how long the rest will
// take.
func drawProgress(pen *grid.Pen, style grid.Style, view *model.SourceView) {
	pen.Percent(style, view.Done, view.Size, 0)
	pen.Text(style, " of ")
	pen.Bytes(style, view.Size, 0)
	if view.DoneCount > 0 {
		pen.Text(style, ", ")
		pen.Count(style, view.DoneCount, 0)
		pen.Text(style, " events")
	}
	if view.LeftNs > 0 {
		pen.Text(style, ", ")
		pen.Duration(style, view.LeftNs, 0)
		pen.Text(style, " left")
	}
}

// reckon fills the bar: what is handed out, what waits for a stream, and what is
// free in the pool; for a failed allocation, what the device had besides.
func (p *dumpHeadroomPane) reckon(f *dumpFacts) {
	t := &f.totals
	p.gauge = widget.Gauge{Total: max(t[dump.Reserved], t.Active())}
	segments := append(p.segments[:0], widget.Segment{Name: "allocated", Value: t[dump.Allocated], Style: grid.Of(themes.Allocated), Fill: themes.FillSolid})
	if t[dump.Pending] > 0 {
		segments = append(segments, widget.Segment{Name: "pending", Value: t[dump.Pending], Style: grid.Of(themes.Pending), Fill: themes.FillDense})
	}
	if free := t[dump.Reserved] - t.Active(); free > 0 {
		segments = append(segments, widget.Segment{Name: "free in the pool", Value: free, Style: grid.Of(themes.Reserved), Fill: themes.FillLight})
	}
	p.gauge.Segments = segments
}

func (p *dumpHeadroomPane) drawBar(r grid.Region, f *dumpFacts) {
	pen := r.Pen(0, 0)
	pen.Text(grid.Of(themes.Dim), "reserved ")
	reserved := f.totals[dump.Reserved]
	if !f.device.Reserves {
		reserved = grid.Missing
	}
	pen.Bytes(grid.Of(themes.Reserved), reserved, 0)
	pen.Skip(1)
	if left := pen.Left(); left >= 4 {
		p.gauge.Draw(r.Sub(pen.X(), 0, left, 1))
	}
}

// drawDumpHeadroom is the headroom at the last failed allocation with its
// formula, or why it is not known.
func drawDumpHeadroom(r grid.Region, s *scene, f *dumpFacts) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	pen.Text(dim, "headroom ")
	bytes, event, known := f.device.Headroom(s.reserve)
	if !known {
		pen.Rune(dim, r.Glyphs().Unknown)
		text := ": what was free on the device is told only when an allocation fails"
		if len(f.device.OOMEvents) > 0 {
			text = ": the failed allocations do not say what was free on the device"
		}
		pen.Fit(dim, text, pen.Left(), grid.Left)
		return
	}
	if oom := f.device.OOM(event); oom.Reason == dump.ReasonLimit {
		// What the device had free says nothing of a process that may not have it.
		pen.Text(grid.Of(themes.Warning), "the process's own limit")
		pen.Text(dim, ": refused ")
		pen.Short(plain, oom.Asked, 0)
		pen.Text(dim, " with ")
		pen.Short(plain, oom.Driver, 0)
		pen.Text(dim, " free on the device, OOM ")
		pen.Count(dim, int64(event), 0)
		return
	}
	number, words := (*grid.Pen).Bytes, r.Width() >= wordyFormula
	if r.Width() < formulaWidth+16 {
		number = (*grid.Pen).Short
	}
	at := f.device.At(event)
	style := grid.Of(themes.Accent).With(themes.Bold)
	if bytes < 0 {
		style = grid.Of(themes.Error).With(themes.Bold)
	}
	number(&pen, style, bytes, 0)
	for i, part := range [...]int64{f.device.Events.Free[event], at[dump.Reserved] - at.Active(), s.reserve} {
		pen.Text(dim, formulaSigns[i])
		if words {
			pen.Text(dim, formulaWords[i])
		}
		number(&pen, plain, part, 0)
	}
	pen.Text(dim, " at OOM ")
	pen.Count(plain, int64(event), 0)
}

// The headroom's formula, and the width from which on its parts are named.
var (
	formulaSigns = [...]string{" = ", " + ", " - "}
	formulaWords = [...]string{"free ", "in pool ", "reserve "}
)

const wordyFormula = 74

// drawUse is what was asked for and handed out at the moment.
func drawUse(r grid.Region, s *scene, f *dumpFacts) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	short := r.Width() < formulaWidth
	part := func(name string, style grid.Style, bytes int64) {
		if pen.Left() < len(name)+8 {
			return
		}
		pen.Text(dim, name)
		pen.Skip(1)
		drawAmount(&pen, short, style, bytes)
		pen.Skip(2)
	}
	part("requested", plain, f.totals[dump.Requested])
	part("allocated", grid.Of(themes.Allocated), f.totals[dump.Allocated])
	if f.totals[dump.Pending] > 0 {
		part("pending free", grid.Of(themes.Pending), f.totals[dump.Pending])
	}
	if f.device.Reserves {
		part("free in pool", grid.Of(themes.Free), f.totals[dump.Reserved]-f.totals.Active())
	}
	if space, _ := spaceOf(s); space != nil {
		part("rounding", dim, space.space.Rounding())
	}
}

// drawPieces is how the free memory lies at the moment.
func drawPieces(r grid.Region, s *scene) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	space, why := spaceOf(s)
	if space == nil {
		r.Text(0, 0, dim, why)
		return
	}
	short := r.Width() < formulaWidth
	pen := r.Pen(0, 0)
	pen.Text(dim, "largest free ")
	drawAmount(&pen, short, grid.Of(themes.Accent), space.space.Largest)
	pen.Text(dim, "  fragmentation ")
	if space.space.Free > 0 {
		pen.Percent(plain, int64(space.space.Fragmentation()*1000+0.5), 1000, 0)
	} else {
		pen.Rune(dim, r.Glyphs().Unknown)
	}
	if pen.Left() > 18 {
		pen.Text(dim, "  releasable ")
		drawAmount(&pen, short, plain, space.space.Releasable)
	}
}

// drawParts names the parts of the bar.
func (p *dumpHeadroomPane) drawParts(r grid.Region) { p.gauge.Legend(r, 0, 0) }

func (*dumpHeadroomPane) origins(s *scene) (all []origin) {
	f := s.dumpFacts()
	if f == nil {
		return nil
	}
	headroom := model.Figure{Why: "the dump has no out-of-memory event that says what was free on the device"}
	if bytes, event, known := f.device.Headroom(s.reserve); known {
		headroom = model.Figure{Known: true, Value: bytes, Origin: "device_free and the replayed pool at event " + countText(event) + ", less the reserve"}
	}
	return append([]origin{{name: "headroom", figure: headroom}}, (&dumpMomentPane{}).origins(s)...)
}

func (*dumpHeadroomPane) selectedText(s *scene) string {
	return (&dumpTimelinePane{}).selectedText(s)
}
