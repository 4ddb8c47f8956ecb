package ui

import (
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
)

// dumpTimelineName is the title of a dump's timeline, and what it was made of.
type dumpTimelineName struct {
	text     string
	serial   uint64
	from, to int
	timed    bool
}

func (p *dumpTimelinePane) title(s *scene) (string, string) {
	f := s.dumpFacts()
	if f == nil {
		return "Timeline", ""
	}
	note := ""
	if !p.legend {
		note = p.legendText()
	}
	return p.titleText(f), note
}

// titleText says which stretch is shown.
func (p *dumpTimelinePane) titleText(f *dumpFacts) string {
	name := dumpTimelineName{serial: f.serial, from: p.from, to: p.to, timed: p.timed, text: p.name.text}
	if name == p.name && name.text != "" {
		return name.text
	}
	name.text = "Timeline"
	if p.small {
		name.text = f.device.Name()
	}
	if n := p.to - p.from; n > 0 {
		name.text += ", events " + countText(p.from) + " to " + countText(p.to-1)
		if n < f.device.Events.Len() {
			name.text += " of " + countText(f.device.Events.Len())
		}
	}
	if p.timed && p.to > p.from {
		name.text += ", " + string(grid.AppendDuration(nil, p.place(f.device, p.to-1)-p.place(f.device, p.from)))
	}
	p.name = name
	return name.text
}

// countText is a number with commas.
func countText(n int) string { return string(grid.AppendCount(nil, int64(n))) }

// legendText is the legend without colours, for the frame.
func (p *dumpTimelinePane) legendText() string {
	n := &p.note
	if p.glyphs == nil || n.glyphs == p.glyphs && len(n.names) == len(p.plan) {
		return n.text
	}
	n.text, n.names, n.glyphs = "", n.names[:0], p.glyphs
	for i := range p.plan {
		if i > 0 {
			n.text += "  "
		}
		sample := string(sampleOf(p.glyphs, p.plan[i].kind, i))
		n.text += sample + sample + " " + p.plan[i].name
		n.names = append(n.names, p.plan[i].name)
	}
	return n.text
}

// drawLegend names the series with their values at the moment, and says at the
// right end what the marks stand for.
func (p *dumpTimelinePane) drawLegend(r grid.Region, f *dumpFacts) {
	dim, text, short := grid.Of(themes.Dim), grid.Of(themes.Text), r.Width() < 116
	pen := r.Pen(0, 0)
	for i := range p.plan {
		series := &p.plan[i]
		if pen.Left() < grid.Width(series.name)+9 {
			break
		}
		sample := sampleOf(p.glyphs, series.kind, i)
		pen.Rune(series.style, sample)
		pen.Rune(series.style, sample)
		pen.Skip(1)
		pen.Text(dim, series.name)
		pen.Skip(1)
		drawAmount(&pen, short, text, f.valueOf(series))
		pen.Skip(2)
	}
	p.drawMarks(r, pen.X(), f)
}

// drawMarks says how many allocations failed, and where the peak is marked.
func (p *dumpTimelinePane) drawMarks(r grid.Region, from int, f *dumpFacts) {
	ooms := len(f.device.OOMEvents)
	width := len("| peak")
	if ooms > 0 {
		width += digits(uint64(ooms)) + len("x OOM") + 3
	}
	x := r.Width() - width
	if x < from {
		return
	}
	pen := r.Pen(x, 0)
	if ooms > 0 {
		pen.Rune(grid.Of(themes.Error), r.Glyphs().EventOOM)
		pen.Skip(1)
		pen.Count(grid.Of(themes.Text), int64(ooms), 0)
		pen.Text(grid.Of(themes.Dim), " OOM  ")
	}
	pen.Rune(grid.Of(themes.Peak), r.Glyphs().HighWater)
	pen.Text(grid.Of(themes.Dim), " peak")
}

// Rows that lanes of spans may take, and the rows that the chart keeps.
const (
	mostSpanLanes = 4
	leastChart    = 6
)

// lanes is how many lanes of spans there is room for.
func (p *dumpTimelinePane) lanes(f *dumpFacts, height int) int {
	used := 0
	for i := range f.device.Spans() {
		used = max(used, f.device.Spans()[i].Lane+1)
		if used >= mostSpanLanes {
			break
		}
	}
	return max(min(used, mostSpanLanes, height-leastChart), 0)
}

// drawLanes draws what the program marked, each span as wide as it lasted.
func (p *dumpTimelinePane) drawLanes(r grid.Region, f *dumpFacts) {
	spans := f.device.Spans()
	for i := range spans {
		span := &spans[i]
		if span.From >= p.to {
			break
		}
		if span.Lane >= r.Height() {
			continue
		}
		if x, width := p.columnsOf(f.device, span.From, span.To, r.Width()); width > 0 {
			drawSpan(r.Sub(x, span.Lane, width, 1), span, grid.Series(i))
		}
	}
}

func drawSpan(r grid.Region, span *dump.Span, style grid.Style) {
	r.Fill(grid.Rect{W: r.Width(), H: 1}, r.Glyphs().LegendLine, style)
	if !span.NoStart && r.Width() > 2 {
		r.Set(0, 0, r.Glyphs().TreeTee, style)
	}
	if r.Width() > 3 {
		r.TextIn(1, 0, r.Width()-2, style, span.Name)
	}
}
