package ui

import (
	"strconv"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// pointersPane is where an arena's pointers stood over time: the forward side,
// the reverse side, and what both used.
type pointersPane struct {
	axis    timeAxis
	chart   widget.Chart
	columns []model.PointerColumn
	asked   pointersAsked
	limits  [2]widget.Limit
	titled  pointersTitle
}

// The series of the chart; the area comes first, so that lines are seen over it.
const (
	pointersUsed = iota
	pointersForward
	pointersReverse
)

func newPointersPane() *pointersPane {
	p := &pointersPane{}
	p.chart.Series = []widget.Series{
		pointersUsed:    {Name: "used", Style: grid.Of(themes.Arena), Kind: widget.LightArea},
		pointersForward: {Name: "forward", Style: grid.Of(themes.Forward), Kind: widget.Line},
		pointersReverse: {Name: "reverse", Style: grid.Of(themes.Reverse), Kind: widget.Dotted},
	}
	return p
}

// pointersAsked is what the columns depend on.
type pointersAsked struct {
	view     *model.SourceView
	arena    int64
	from, to int64
	unit     widget.AxisUnit
	n        int
}

// pointersTitle is what the title depends on, and the title.
type pointersTitle struct {
	length  int64
	unit    widget.AxisUnit
	text    string
	written bool
}

func (p *pointersPane) title(s *scene) (string, string) {
	if a := s.choices.arenaOf(s.view); a == nil || noPointers(s, a) != "" {
		return "Pointers", ""
	}
	from, to, unit := s.choices.window.axisOf(s)
	t := pointersTitle{length: to - from, unit: unit, text: p.titled.text, written: true}
	if t != p.titled {
		t.text = "Pointers over " + stretchText(t.length, t.unit)
		p.titled = t
	}
	return t.text, ""
}

// stretchText is the length of a stretch of the time axis in words.
func stretchText(length int64, unit widget.AxisUnit) string {
	if unit == widget.Frames {
		return strconv.FormatInt(length+1, 10) + " frames"
	}
	return string(grid.AppendDuration(nil, length))
}

func (*pointersPane) keys() keymap.Context { return keymap.Timeline }

// draw draws the pane where it has no frame.
func (p *pointersPane) draw(r grid.Region, s *scene, _ bool) {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		nothing(r, "The pointers of an arena fill this.")
		return
	}
	if missing := noPointers(s, a); missing != "" {
		nothing(r, missing)
		return
	}
	p.fill(r, s, a)
	p.chart.Draw(r)
}

// drawFramed draws the pane with its legend in the frame.
func (p *pointersPane) drawFramed(r grid.Region, s *scene, focused bool) {
	p.draw(r.Sub(1, 1, r.Width()-2, r.Height()-2), s, focused)
	a := s.choices.arenaOf(s.view)
	if width := p.chart.LegendWidth(); a != nil && noPointers(s, a) == "" && width+30 < r.Width() {
		p.chart.Legend(r, r.Width()-width-2, 0)
	}
}

// fill asks for the columns that are shown, once for each stretch of a snapshot.
func (p *pointersPane) fill(r grid.Region, s *scene, a *model.ArenaView) {
	p.axis.prepare(&p.chart, s, r)
	p.limit(a)
	asked := pointersAsked{s.newest, a.ID, p.axis.from, p.axis.to, p.axis.unit, p.axis.n}
	if asked == p.asked {
		return
	}
	p.asked = asked
	p.columns = p.axis.pointers(p.columns[:0], s, a.ID)
	series := p.chart.Series
	for i := range series {
		series[i].Columns = series[i].Columns[:0]
	}
	for i := range p.columns {
		series[pointersUsed].Columns = append(series[pointersUsed].Columns, chartColumn(p.columns[i].Used))
		series[pointersForward].Columns = append(series[pointersForward].Columns, chartColumn(p.columns[i].Forward))
		series[pointersReverse].Columns = append(series[pointersReverse].Columns, chartColumn(p.columns[i].Reverse))
	}
}

// limit draws the high-water mark, and the arena's end where it is not far away:
// otherwise all would be at the bottom.
func (p *pointersPane) limit(a *model.ArenaView) {
	limits := p.limits[:0]
	if a.State.HighWater > 0 && !a.Partial && a.Crossed() == "" {
		limits = append(limits, widget.Limit{Value: a.State.HighWater, Style: grid.Of(themes.HighWater)})
	}
	if used, length := arenaUse(a); used != grid.Missing && max(used, a.State.HighWater) > length/2 {
		limits = append(limits, widget.Limit{Value: length, Style: grid.Of(themes.Total)})
	}
	p.chart.Limits = limits
}

func (p *pointersPane) do(action keymap.Action, s *scene) bool { return p.axis.do(action, s) }

func (p *pointersPane) click(x, y, _, _ int, s *scene) { p.axis.click(x, y, s) }

func (p *pointersPane) takeMoment() (ns int64, live, ok bool) { return p.axis.takeMoment() }

func (*pointersPane) origins(s *scene) []origin {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		return nil
	}
	return arenaOrigins(s, a)
}
