package ui

import (
	"vramscope/model/costs"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// costDriversPane is what scopes grow with besides frames, and how many units of
// each are given.
type costDriversPane struct {
	cursor listCursor
	index  *costs.Index
	rows   []costDriver
	places map[string]int // of drivers in rows
}

// costDriver is a driver with the scopes that it takes bytes of.
type costDriver struct {
	name       string
	from, to   int64 // bytes for each unit, by scope
	scopes     int
	firstScope string
}

func (*costDriversPane) title(*scene) (string, string) { return "Drivers", ":driver NAME=UNITS" }

func (*costDriversPane) keys() keymap.Context { return keymap.List }

// collect finds the drivers of a file, once.
func (p *costDriversPane) collect(s *scene) {
	index, _ := s.costs()
	if index == p.index || index == nil {
		return
	}
	p.index, p.rows, p.places = index, p.rows[:0], map[string]int{}
	for i := range index.Scopes {
		scope := &index.Scopes[i]
		for j, name := range scope.Drivers() {
			p.add(name, scope.Cost.Units.Drivers[j].Bytes, scope.Name)
		}
	}
}

func (p *costDriversPane) add(name string, bytes int64, scope string) {
	at, known := p.places[name]
	if !known {
		if len(p.rows) < mostCostDrivers {
			p.places[name] = len(p.rows)
			p.rows = append(p.rows, costDriver{name: name, from: bytes, to: bytes, scopes: 1, firstScope: scope})
		}
		return
	}
	d := &p.rows[at]
	d.from, d.to = min(d.from, bytes), max(d.to, bytes)
	d.scopes++
}

// mostCostDrivers bounds the list.
const mostCostDrivers = 1000

func (p *costDriversPane) draw(r grid.Region, s *scene, focused bool) {
	p.collect(s)
	switch {
	case p.index == nil:
		nothing(r, costsUnread(s))
		return
	case len(p.rows) == 0:
		nothing(r, "No scope of this file grows with anything but frames.")
		return
	}
	p.cursor.at = min(p.cursor.at, len(p.rows)-1)
	p.cursor.scroll(len(p.rows), r.Height())
	for y := 0; y < r.Height() && p.cursor.offset+y < len(p.rows); y++ {
		d, row := &p.rows[p.cursor.offset+y], r.Row(y)
		if focused && p.cursor.offset+y == p.cursor.at {
			row = row.Forced(grid.Of(themes.Selection))
			row.Clear(0)
		}
		units, given := s.choices.cost.question.Drivers[d.name]
		pen := row.Pen(0, 0)
		pen.Fit(grid.Of(themes.Text), d.name, min(r.Width()/3, 20), grid.Left)
		pen.Skip(1)
		pen.Count(grid.Of(themes.Accent), grid.Known(units, given), 12)
		pen.Text(grid.Of(themes.Dim), " units of ")
		pen.Bytes(grid.Of(themes.Text), d.from, 0)
		if d.to > d.from {
			pen.Text(grid.Of(themes.Dim), " to ")
			pen.Bytes(grid.Of(themes.Text), d.to, 0)
		}
		pen.Text(grid.Of(themes.Dim), " in ")
		pen.Text(grid.Of(themes.Text), d.firstScope)
	}
}

func (p *costDriversPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	return p.cursor.move(action, len(p.rows))
}
