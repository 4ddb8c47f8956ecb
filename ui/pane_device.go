package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// devicePane is the device looked at, over time: its total as a line, what is
// used, and what the driver keeps.
type devicePane struct {
	axis    timeAxis
	chart   widget.Chart
	series  [2]widget.Series
	columns [2][]widget.Column
	limits  [1]widget.Limit

	name string // of the device, and what it was made of
	view *model.SourceView
	set  *recorder.CounterSet
}

// device is the view and the set that the pane shows: of the chosen device,
// else of the scene's.
func (*devicePane) device(s *scene) (*model.SourceView, *recorder.CounterSet) {
	if chosen := s.snapshot.Find(s.choices.device.view); chosen != nil {
		if set := chosen.FindSet(s.choices.device.set); set != nil && set.Of == recorder.OfDevice {
			return chosen, set
		}
	}
	if s.choices.device.view != "" || s.newest == nil {
		return nil, nil
	}
	return deviceSetOf(s)
}

func (p *devicePane) title(s *scene) (string, string) {
	if view, set := p.device(s); view != nil {
		if p.view != view || p.set != set {
			p.view, p.set, p.name = view, set, deviceTitle(view, set)
			if view.Kind != recorder.KindDevice {
				p.name += " of " + view.Name
			}
		}
		return "Device over time", p.name
	}
	return "Device over time", ""
}

func (*devicePane) keys() keymap.Context { return keymap.Timeline }

func (p *devicePane) do(action keymap.Action, s *scene) bool { return p.axis.do(action, s) }

func (p *devicePane) takeMoment() (int64, bool, bool) { return p.axis.takeMoment() }

func (p *devicePane) click(x, y, _, _ int, s *scene) { p.axis.click(x, y, s) }

func (p *devicePane) draw(r grid.Region, s *scene, _ bool) {
	view, set := p.device(s)
	if view == nil || s.newest == nil {
		nothing(r, "No device tells its memory over time. A GPU with its driver, or a program that samples its device, fills this.")
		return
	}
	// The device's own history, on the time axis of the selected source: their
	// clocks are one.
	there := *s
	there.newest = view
	p.axis.prepare(&p.chart, s, r)
	from, to := s.choices.window.of(s)
	p.chart.From, p.chart.To, p.chart.Unit = from, to, widget.Seconds
	p.axis.from, p.axis.to, p.axis.unit = from, to, widget.Seconds
	p.columns[0] = p.usedColumns(p.columns[0][:0], &there, set)
	p.columns[1] = p.axis.columns(p.columns[1][:0], &there, set.ID, recorder.DriverReserved)
	p.series[0] = widget.Series{Name: "used", Style: grid.Of(themes.Used), Kind: widget.Area, Columns: p.columns[0]}
	p.series[1] = widget.Series{Name: "driver", Style: grid.Of(themes.Driver), Kind: widget.Dotted, Columns: p.columns[1]}
	p.chart.Series = p.series[:]
	p.chart.Limits = p.limits[:0]
	p.chart.High = 0
	if total, ok := set.Values.Get(recorder.Total); ok {
		p.chart.High = total
		p.chart.Limits = append(p.chart.Limits, widget.Limit{Value: total, Style: grid.Of(themes.Total)})
	}
	p.chart.Draw(r)
}

// usedColumns are what is used of the device over time: where only free and
// total are told, what is not free.
func (p *devicePane) usedColumns(into []widget.Column, there *scene, set *recorder.CounterSet) []widget.Column {
	total, known := set.Values.Get(recorder.Total)
	if set.Values.Known(recorder.Used) || !known {
		return p.axis.columns(into, there, set.ID, recorder.Used)
	}
	columns := p.axis.columns(into, there, set.ID, recorder.Free)
	for i := range columns {
		c := &columns[i]
		c.Min, c.Max, c.Last = total-c.Max, total-c.Min, total-c.Last
	}
	return columns
}
