package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// addDumpMomentPanes adds the panes about a memory dump's moments: memory over
// its trace, its events, and what stands for them on the other views.
func addDumpMomentPanes(panes map[layout.Pane]pane) {
	panes[layout.TimelinePane] = &dumpTimelinePane{}
	panes[layout.MomentPane] = &dumpMomentPane{}
	panes[layout.LiveThenPane] = &dumpLivePane{}
	panes[layout.EventsPane] = newDumpEventsPane()
	panes[layout.EventPane] = &dumpEventPane{}
	panes[layout.HeadroomPane] = &dumpHeadroomPane{}
	panes[layout.InsidePane] = &dumpInsidePane{}
	panes[layout.PeaksPane] = &dumpPeaksPane{}
	panes[layout.DevicesPane] = newDumpFilesPane()
	panes[layout.ProcessesPane] = &dumpAboutPane{}
	panes[layout.DevicePane] = &dumpTimelinePane{small: true}
	addUnfilledDumpPanes(panes)
}

// dumpTimelinePane is memory over a dump's trace: what was reserved, handed out
// and asked for, what is older than the recording, and what the program marked.
// Its cursor is the moment that all panes show.
type dumpTimelinePane struct {
	dumpAxis
	small   bool // stands beside others, and is named by its device
	chart   widget.Chart
	plan    []dumpSeries
	columns dumpColumns
	series  []widget.Series
	spark   []int64
	glyphs  *themes.Glyphs
	legend  bool // it has a row of its own
	head    int  // rows above the chart
	name    dumpTimelineName
	note    timelineNote
}

// dumpSeries is a series of the chart.
type dumpSeries struct {
	name   string
	style  grid.Style
	kind   widget.SeriesKind
	series dump.Series
	older  bool // what is left of the blocks from before the recording
}

// planOf is the series that a device has something to say about, areas first.
func (p *dumpTimelinePane) planOf(d *dump.Device) {
	p.plan = p.plan[:0]
	if d.Reserves {
		p.plan = append(p.plan, dumpSeries{"reserved", grid.Of(themes.Reserved), widget.LightArea, dump.Reserved, false})
	}
	p.plan = append(p.plan, dumpSeries{"allocated", grid.Of(themes.Allocated), widget.ShadeArea, dump.Allocated, false})
	if d.Base.Active() > 0 {
		p.plan = append(p.plan, dumpSeries{"before recording", grid.Of(themes.Others), widget.Area, dump.Allocated, true})
	}
	p.plan = append(p.plan, dumpSeries{"requested", grid.Of(themes.Accent), widget.Line, dump.Requested, false})
	if d.Peaks[dump.Pending].Bytes > 0 {
		p.plan = append(p.plan, dumpSeries{"pending free", grid.Of(themes.Pending), widget.Dotted, dump.Pending, false})
	}
}

// valueOf is the value of a series at the moment.
func (f *dumpFacts) valueOf(series *dumpSeries) int64 {
	if !series.older {
		return f.totals[series.series]
	}
	_, held := f.device.OlderAt(f.last())
	return held
}

// dumpColumns are the columns of all series, for the stretch that is shown.
type dumpColumns struct {
	serial   uint64
	from, to int
	n        int
	timed    bool
	asked    []dump.Column
	series   [][]widget.Column
}

// fill asks for the columns, unless they are there.
func (c *dumpColumns) fill(plan []dumpSeries, a *dumpAxis, f *dumpFacts) {
	if c.serial == f.serial && c.from == a.from && c.to == a.to && c.n == a.n && c.timed == a.timed && len(c.series) == len(plan) {
		return
	}
	c.serial, c.from, c.to, c.n, c.timed = f.serial, a.from, a.to, a.n, a.timed
	if cap(c.asked) < a.n {
		c.asked = make([]dump.Column, a.n)
	}
	c.asked = c.asked[:a.n]
	a.columns(f.device, c.asked)
	for len(c.series) < len(plan) {
		c.series = append(c.series, nil)
	}
	c.series = c.series[:len(plan)]
	for i := range plan {
		c.series[i] = c.series[i][:0]
		for j := range c.asked {
			c.series[i] = append(c.series[i], columnOf(&plan[i], &c.asked[j], f.device))
		}
	}
}

// columnOf is a column of a series as a chart draws it.
func columnOf(series *dumpSeries, column *dump.Column, d *dump.Device) widget.Column {
	if !series.older {
		s := series.series
		return widget.Column{Min: column.Min[s], Max: column.Max[s], Last: column.Last[s], Known: true}
	}
	_, first := d.OlderAt(column.From)
	_, last := d.OlderAt(column.To - 1)
	if column.From == column.To {
		first = last
	}
	return widget.Column{Min: min(first, last), Max: max(first, last), Last: last, Known: true}
}

func (*dumpTimelinePane) keys() keymap.Context { return keymap.Timeline }

func (p *dumpTimelinePane) draw(r grid.Region, s *scene, _ bool) {
	p.legend, p.head, p.glyphs = false, 0, r.Glyphs()
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "Memory over the trace fills this."))
		return
	}
	if f.device.Events.Len() == 0 {
		nothing(r, "This dump has no history: only the end state was written. torch.cuda.memory._record_memory_history() before the run fills this.")
		return
	}
	p.planOf(f.device)
	if p.legend = r.Height() >= legendHeight; p.legend {
		p.head = 1
		p.drawLegend(r.Row(0), f)
	}
	if lanes := p.lanes(f, r.Height()-p.head); lanes > 0 {
		p.drawBelow(r, s, f, lanes)
		return
	}
	p.drawChart(r.Sub(0, p.head, r.Width(), r.Height()-p.head), s, f)
}

// drawBelow draws lanes of spans with the chart below them.
func (p *dumpTimelinePane) drawBelow(r grid.Region, s *scene, f *dumpFacts, lanes int) {
	top := p.head
	p.head += lanes
	chart := r.Sub(0, p.head, r.Width(), r.Height()-p.head)
	p.drawChart(chart, s, f)
	p.drawLanes(r.Sub(p.plot.X, top, p.plot.W, lanes), f)
}

func (p *dumpTimelinePane) drawChart(r grid.Region, s *scene, f *dumpFacts) {
	p.prepare(&p.chart, s, f, r)
	p.columns.fill(p.plan, &p.dumpAxis, f)
	p.mark(f, r.Glyphs(), p.columns.asked)
	p.series = p.series[:0]
	for i := range p.plan {
		p.series = append(p.series, widget.Series{Name: p.plan[i].name, Style: p.plan[i].style, Kind: p.plan[i].kind, Columns: p.columns.series[i]})
	}
	p.chart.Series, p.chart.Markers = p.series, p.markers
	if r.Height() == 1 {
		p.drawSparkline(r, f)
		return
	}
	p.chart.Draw(r)
}

// drawSparkline is what was allocated in one row, with its value in place of the
// axis.
func (p *dumpTimelinePane) drawSparkline(r grid.Region, f *dumpFacts) {
	columns, each := p.columns.asked, max(len(p.columns.asked)/max(p.plot.W, 1), 1)
	p.spark = p.spark[:0]
	for from := 0; from+each <= len(columns); from += each {
		highest := int64(0)
		for i := from; i < from+each; i++ {
			highest = max(highest, columns[i].Max[dump.Allocated])
		}
		p.spark = append(p.spark, highest)
	}
	if p.plot.X > 0 {
		pen := r.Pen(0, 0)
		pen.Short(grid.Of(themes.Allocated), f.totals[dump.Allocated], p.plot.X-1)
	}
	plot := r.Sub(p.plot.X, 0, p.plot.W, 1)
	widget.Sparkline(plot, p.spark, 0, grid.Of(themes.Allocated))
	for i := range p.markers {
		if x, _ := p.cell(p.markers[i].At); x >= 0 {
			plot.Set(x, 0, p.markers[i].Glyph, p.markers[i].Style)
		}
	}
	if x, inside := p.cell(p.chart.Cursor); inside && p.chart.HasCursor {
		_, style := plot.Get(x, 0)
		plot.Restyle(x, 0, style.With(themes.Inverse))
	}
}

// cell is the column of the plot for a place on the axis.
func (p *dumpTimelinePane) cell(at int64) (x int, inside bool) {
	from, to := p.chart.From, p.chart.To
	if at < from || at > to || p.plot.W <= 0 {
		return -1, false
	}
	return int(float64(at-from)/float64(to-from)*float64(p.plot.W-1) + 0.5), true
}

func (p *dumpTimelinePane) do(action keymap.Action, s *scene) bool { return p.dumpAxis.do(action, s) }

func (p *dumpTimelinePane) click(x, y, _, _ int, s *scene) { p.dumpAxis.click(x, y-p.head, s) }

func (p *dumpTimelinePane) origins(s *scene) (all []origin) {
	f := s.dumpFacts()
	if f == nil {
		return nil
	}
	p.planOf(f.device)
	for i := range p.plan {
		all = append(all, origin{name: p.plan[i].name, figure: model.Figure{Known: true, Value: f.valueOf(&p.plan[i]), Origin: f.originOf(p.plan[i].series)}})
	}
	return all
}

func (p *dumpTimelinePane) selectedText(s *scene) string {
	f := s.dumpFacts()
	if f == nil {
		return ""
	}
	text := f.momentText()
	p.planOf(f.device)
	for i := range p.plan {
		text += ", " + p.plan[i].name + " " + string(grid.AppendExact(nil, f.valueOf(&p.plan[i])))
	}
	return text
}

func (p *dumpTimelinePane) details(s *scene) (string, []string) {
	if f := s.dumpFacts(); f != nil {
		return f.details()
	}
	return "", nil
}
