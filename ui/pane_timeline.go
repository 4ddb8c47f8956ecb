package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// timelinePane is memory over time: what the process's allocators hold and hand
// out, its arenas, and what is used on the device. Its cursor is the moment that
// the whole dashboard shows.
type timelinePane struct {
	timeAxis
	plan    timelinePlan
	columns timelineColumns
	chart   widget.Chart
	series  []widget.Series
	spark   []int64
	counts  [len(markedKinds)]int64 // of moments that are shown
	glyphs  *themes.Glyphs
	legend  bool // it has a row of its own
	name    timelineName
	note    timelineNote
}

// timelineName is the title, and what it was made of.
type timelineName struct {
	text       string
	length     int64
	first      int64
	last       int64
	unit       widget.AxisUnit
	device     string // of several, the one that is shown
	all, fixed bool
}

// timelineNote is the legend as the note on the frame, where it has no row of
// its own.
type timelineNote struct {
	text   string
	names  []string
	glyphs *themes.Glyphs
}

// legendHeight is the height from which on the legend has a row of its own.
const legendHeight = 7

func (p *timelinePane) title(s *scene) (string, string) {
	if s.newest == nil {
		return "Timeline", ""
	}
	note := ""
	if !p.legend {
		note = p.legendText()
	}
	return p.titleText(s), note
}

// titleText says how much is shown and, of several devices, of which one.
func (p *timelinePane) titleText(s *scene) string {
	w := &s.choices.window
	from, to := w.of(s)
	name := timelineName{length: to - from, unit: p.unit, device: p.plan.only, all: w.all, fixed: w.fixed}
	if p.unit == widget.Frames {
		name.length, name.first, name.last = 0, p.from, p.to
	}
	name.text = p.name.text
	if name == p.name && name.text != "" {
		return name.text
	}
	if p.unit == widget.Frames {
		name.text = "Timeline, frames " + string(grid.AppendCount(nil, p.from)) + " to " + string(grid.AppendCount(nil, p.to))
	} else {
		name.text = "Timeline " + string(grid.AppendDuration(nil, to-from))
	}
	if name.device != "" {
		name.text += " of " + name.device
	}
	p.name = name
	return name.text
}

// legendText is the legend without colours: the series differ in shape.
func (p *timelinePane) legendText() string {
	n := &p.note
	if p.glyphs == nil || n.glyphs == p.glyphs && p.plan.isNamed(n.names) {
		return n.text
	}
	n.text, n.names, n.glyphs = "", n.names[:0], p.glyphs
	for i := range p.plan.series {
		if i > 0 {
			n.text += "  "
		}
		sample := string(sampleOf(p.glyphs, p.plan.series[i].kind, i))
		n.text += sample + sample + " " + p.plan.series[i].name
		n.names = append(n.names, p.plan.series[i].name)
	}
	return n.text
}

// sampleOf is a character that looks as a series is drawn.
func sampleOf(glyphs *themes.Glyphs, kind widget.SeriesKind, i int) rune {
	switch {
	case kind == widget.Area:
		return glyphs.Fills[themes.FillSolid]
	case kind == widget.ShadeArea:
		return glyphs.Fills[themes.FillMedium]
	case kind == widget.LightArea:
		return glyphs.Fills[themes.FillLight]
	case !glyphs.Braille:
		return glyphs.Lines[i%len(glyphs.Lines)]
	case kind == widget.Dotted:
		return glyphs.LegendDots
	}
	return glyphs.LegendLine
}

func (*timelinePane) keys() keymap.Context { return keymap.Timeline }

func (p *timelinePane) draw(r grid.Region, s *scene, _ bool) {
	p.legend, p.glyphs = false, r.Glyphs()
	if s.newest == nil {
		nothing(r, "Nothing is watched. The memory of a program, a GPU or a recording over time fills this.")
		return
	}
	p.plan.make(s)
	if len(p.plan.series) == 0 {
		nothing(r, "This source has told of no memory yet. The counters of an allocator, an arena or a device fill this.")
		return
	}
	if p.legend = r.Height() >= legendHeight; p.legend {
		p.fill(s, r.Sub(0, 1, r.Width(), r.Height()-1))
		p.drawLegend(r.Row(0), s)
		p.chart.Draw(r.Sub(0, 1, r.Width(), r.Height()-1))
		return
	}
	p.fill(s, r)
	if r.Height() == 1 {
		p.drawSparkline(r)
		return
	}
	p.chart.Draw(r)
}

// fill makes the chart for a region.
func (p *timelinePane) fill(s *scene, r grid.Region) {
	p.prepare(&p.chart, s, r)
	p.columns.fill(&p.plan, &p.timeAxis, s)
	p.series = p.series[:0]
	for i := range p.plan.series {
		planned := &p.plan.series[i]
		p.series = append(p.series, widget.Series{Name: planned.name, Style: planned.style, Kind: planned.kind, Columns: p.columns.series[i]})
	}
	p.chart.Series, p.chart.Limits = p.series, p.plan.limits
}

// drawSparkline is the first series in one row, with its value at the cursor or
// at the end in place of the axis.
func (p *timelinePane) drawSparkline(r grid.Region) {
	columns := p.columns.series[0]
	each := max(len(columns)/max(p.plot.W, 1), 1)
	p.spark = p.spark[:0]
	for from := 0; from+each <= len(columns); from += each {
		highest := int64(grid.Missing)
		for _, column := range columns[from : from+each] {
			if column.Known {
				highest = max(highest, column.Max)
			}
		}
		p.spark = append(p.spark, highest)
	}
	if p.plot.X > 0 {
		pen := r.Pen(0, 0)
		pen.Short(p.plan.series[0].style, p.valueOf(0), p.plot.X-1)
	}
	plot := r.Sub(p.plot.X, 0, p.plot.W, 1)
	widget.Sparkline(plot, p.spark, 0, p.plan.series[0].style)
	for i := range p.markers {
		if x := p.columnOf(p.markers[i].At); x >= 0 {
			plot.Set(x, 0, p.markers[i].Glyph, p.markers[i].Style)
		}
	}
	if p.chart.HasCursor {
		if x := p.columnOf(p.chart.Cursor); x >= 0 {
			_, style := plot.Get(x, 0)
			plot.Restyle(x, 0, style.With(themes.Inverse))
		}
	}
}

// columnOf is the column of the plot for a place on the axis, -1 for none.
func (p *timelinePane) columnOf(at int64) int {
	from, to := p.chart.From, p.chart.To
	if at < from || at > to || to <= from || p.plot.W <= 0 {
		return -1
	}
	return int(float64(at-from)/float64(to-from)*float64(p.plot.W-1) + 0.5)
}

// valueOf is the value of a series at the cursor, or the newest one.
func (p *timelinePane) valueOf(series int) int64 {
	columns := p.columns.series[series]
	if p.chart.HasCursor && p.chart.To > p.chart.From {
		share := float64(p.chart.Cursor-p.chart.From) / float64(p.chart.To-p.chart.From)
		if share < 0 || share > 1 || len(columns) == 0 {
			return grid.Missing
		}
		column := columns[min(int(share*float64(len(columns))), len(columns)-1)]
		return grid.Known(column.Last, column.Known)
	}
	for i := len(columns) - 1; i >= 0; i-- {
		if columns[i].Known {
			return columns[i].Last
		}
	}
	return grid.Missing
}

// drawLegend names the series with their values at the cursor or the end, and
// counts what the marks stand for.
func (p *timelinePane) drawLegend(r grid.Region, s *scene) {
	dim, text, short := grid.Of(themes.Dim), grid.Of(themes.Text), r.Width() < 100
	pen := r.Pen(0, 0)
	for i := range p.plan.series {
		series := &p.plan.series[i]
		was := series.silent && !p.chart.HasCursor // at the end of the series, which is not that of the time
		if pen.Left() < grid.Width(series.name)+9 || was && pen.Left() < grid.Width(series.name)+9+len("was ") {
			break
		}
		sample := sampleOf(p.glyphs, series.kind, i)
		pen.Rune(series.style, sample)
		pen.Rune(series.style, sample)
		pen.Skip(1)
		pen.Text(dim, series.name)
		pen.Skip(1)
		if was {
			pen.Text(dim, "was ")
		}
		drawAmount(&pen, short, text, p.valueOf(i))
		pen.Skip(2)
	}
	p.drawMarks(r, pen.X(), s)
}

// drawMarks says at the right end what happened in the stretch that is shown: in
// words where there is room, else by marks and counts.
func (p *timelinePane) drawMarks(r grid.Region, from int, s *scene) {
	inWords, short := 0, 0
	for i, kind := range markedKinds {
		p.counts[i] = p.countOf(s, kind)
		if n := p.counts[i]; n > 0 {
			columns := digits(uint64(n)) + (digits(uint64(n))-1)/3
			short += columns + 2
			inWords += columns + 5 + len(momentName(kind, n))
		}
	}
	words := r.Width()-inWords >= from
	x := r.Width() - inWords + 2
	if !words {
		x = r.Width() - short + 1
	}
	if short == 0 || x < from {
		return
	}
	pen := r.Pen(x, 0)
	for i, kind := range markedKinds {
		if p.counts[i] == 0 {
			continue
		}
		glyph, style := momentLook(r.Glyphs(), kind)
		pen.Rune(style, glyph)
		if words {
			pen.Skip(1)
		}
		pen.Count(grid.Of(themes.Text), p.counts[i], 0)
		pen.Skip(1)
		if words {
			pen.Text(grid.Of(themes.Dim), momentName(kind, p.counts[i]))
			pen.Skip(2)
		}
	}
}

// markedKinds are the kinds of moments that the legend counts.
var markedKinds = [...]model.MomentKind{
	model.MomentOOM, model.MomentRescued, model.MomentRebuild, model.MomentArenaReset, model.MomentAction, model.MomentLost,
}

// momentName is what so many moments of a kind are.
func momentName(kind model.MomentKind, n int64) string {
	names := &momentNames[kind]
	if n == 1 {
		return names[0]
	}
	return names[1]
}

// momentNames are the kinds that the legend counts, one of each and more.
var momentNames = [...][2]string{
	model.MomentOOM: {"OOM", "OOMs"}, model.MomentRescued: {"rescued", "rescued"}, model.MomentRebuild: {"rebuild", "rebuilds"},
	model.MomentArenaReset: {"reset", "resets"}, model.MomentAction: {"action", "actions"}, model.MomentLost: {"lost", "lost"},
}

// countOf is how many moments of a kind lie in the stretch that is shown.
func (*timelinePane) countOf(s *scene, kind model.MomentKind) (n int64) {
	from, to := s.choices.window.of(s)
	for i := range s.newest.Moments {
		if m := &s.newest.Moments[i]; m.Kind == kind && m.Ns >= from && m.Ns <= to {
			n++
		}
	}
	return n
}

func (p *timelinePane) do(action keymap.Action, s *scene) bool { return p.timeAxis.do(action, s) }

func (p *timelinePane) click(x, y, _, _ int, s *scene) {
	if p.legend {
		y--
	}
	p.timeAxis.click(x, y, s)
}

func (p *timelinePane) origins(s *scene) (all []origin) {
	p.plan.make(s)
	for i := range p.plan.series {
		series := &p.plan.series[i]
		for _, part := range series.counters {
			view := part.view
			if s.past {
				view = view.At(s.moment)
			}
			all = append(all, origin{name: series.name + " of " + part.set, figure: view.Figure(view.FindSet(part.set), part.counter)})
		}
		if series.arenas != noArenas && s.view != nil {
			for _, arena := range s.view.Arenas {
				all = append(all, arenaOrigin(series, arena))
			}
		}
	}
	return all
}

func arenaOrigin(series *plannedSeries, arena *model.ArenaView) origin {
	figure := model.Figure{Value: arena.State.Forward + arena.State.Length - arena.State.Reverse, Known: arena.State.Length > 0,
		Origin: "forward + (length - reverse), from the arena's events and samples", Why: "the arena's length was not told: it is watched from the middle of its life"}
	if series.arenas == rootsLength {
		figure.Value, figure.Origin = arena.State.Length, "the arena's length"
	}
	return origin{name: series.name + " of arena " + arena.State.Name, figure: figure}
}

func (p *timelinePane) selectedText(s *scene) string {
	if s.newest == nil || len(p.columns.series) == 0 {
		return ""
	}
	text := string(grid.AppendDuration(nil, s.moment-s.newest.First)) + " from the start"
	for i := range p.plan.series {
		text += ", " + p.plan.series[i].name + " " + string(grid.AppendBytes(nil, p.valueOf(i)))
	}
	return text
}

func (p *timelinePane) details(s *scene) (string, []string) { return momentDetails(s) }
