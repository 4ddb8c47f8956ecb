package ui

import (
	"fmt"

	"vramscope/model/costs"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// costStreamPane is the events of the selected scope of a calibration file, with
// the pointers that follow from each for so many frames: replayed, since a file
// of the kind holds none.
type costStreamPane struct {
	table  widget.Table
	cursor listCursor
	of     costFactsOf
	rows   []costRow
	peak   int // the row that set the peak, -1 for none
	failed string
	text   string
	note   string
}

// costRow is an event with what the replay found.
type costRow struct {
	event   *recorder.CostEvent
	items   string
	bytes   int64
	forward int64
	reverse int64
	depth   int
}

// mostCostRows is how many events are listed.
const mostCostRows = 100_000

// The columns of the table.
const (
	costEventNumber = iota
	costEventMark
	costEventOp
	costEventItems
	costEventSize
	costEventBytes
	costEventForward
	costEventReverse
)

func newCostStreamPane() *costStreamPane {
	p := &costStreamPane{}
	p.table = widget.Table{Rows: p, SortColumn: -1, Columns: []widget.TableColumn{
		costEventNumber:  {Title: "event", Width: 6, Align: grid.Right, Drop: 3},
		costEventMark:    {Width: 1},
		costEventOp:      {Title: "what", Width: 14, Grow: 1},
		costEventItems:   {Title: "items, n frames", Width: 15, Align: grid.Right, Drop: 2},
		costEventSize:    {Title: "size", Width: 4, Align: grid.Right, Drop: 1},
		costEventBytes:   {Title: "bytes", Width: longBytes, Align: grid.Right},
		costEventForward: {Title: "forward", Width: longBytes, Align: grid.Right},
		costEventReverse: {Title: "reverse", Width: longBytes, Align: grid.Right, Drop: 4},
	}}
	return p
}

func (p *costStreamPane) title(s *scene) (string, string) {
	if scope, _ := s.costScope(); scope == nil || p.take(s, scope) != "" {
		return "Events", ""
	}
	return p.text, p.note
}

func (*costStreamPane) keys() keymap.Context { return keymap.List }

// take replays the selected scope, once for each question, and says why nothing
// is listed.
func (p *costStreamPane) take(s *scene, scope *costs.Scope) (missing string) {
	if of := (costFactsOf{scope, s.choices.cost.asked}); of != p.of {
		if p.of.scope != scope {
			p.cursor = listCursor{}
		}
		p.of = of
		p.replay(scope, s.choices.cost.question.Frames)
	}
	switch {
	case scope.Cost.Trace == nil:
		return scope.Name + " was measured by units of its drivers: the file holds no event of it."
	case p.failed != "":
		return p.failed
	case len(p.rows) == 0:
		return scope.Name + " allocates nothing."
	}
	p.cursor.at = min(p.cursor.at, len(p.rows)-1)
	return ""
}

func (p *costStreamPane) replay(scope *costs.Scope, frames int64) {
	p.rows, p.peak, p.failed = p.rows[:0], -1, ""
	peak := int64(0)
	for i, step := range scope.Cost.Trace.Steps(frames, recorder.ReplayFrom{}) {
		if step.Err != nil {
			p.failed = step.Err.Error()
			return
		}
		if i < mostCostRows {
			row := costRow{event: step.Event, bytes: step.Bytes, forward: step.Forward, reverse: step.Reverse, depth: step.Depth}
			if step.Event.Allocates() {
				row.items = costs.ItemsText(step.Event)
			}
			p.rows = append(p.rows, row)
		}
		if step.SetPeak {
			p.peak, peak = i, step.Forward
		}
	}
	p.text = fmt.Sprintf("Events of %s for %s", scope.Name, framesText(frames))
	if total := len(scope.Cost.Trace); total > mostCostRows {
		p.text += fmt.Sprintf(", the first %s of %s", countText(mostCostRows), countText(total))
	}
	p.note = "replayed"
	if p.peak >= 0 {
		p.note = "replayed, peak " + string(grid.AppendBytes(nil, peak)) + ": x goes there"
	}
}

func (p *costStreamPane) draw(r grid.Region, s *scene, _ bool) {
	scope, _ := s.costScope()
	if scope == nil {
		nothing(r, costsUnread(s))
		return
	}
	if missing := p.take(s, scope); missing != "" {
		nothing(r, missing)
		return
	}
	titles := 0
	if r.Height() >= 4 {
		titles = 1
	}
	p.cursor.scroll(len(p.rows), r.Height()-titles)
	fitBytes(p.table.Columns, r.Width())
	p.table.Offset, p.table.Selected = p.cursor.offset, p.cursor.at
	p.table.Draw(r.Sub(0, titles-1, r.Width(), r.Height()+1-titles))
}

// Len and DrawCell are the table's rows.
func (p *costStreamPane) Len() int { return len(p.rows) }

// DrawCell draws one cell.
func (p *costStreamPane) DrawCell(r grid.Region, row, column int) {
	e := &p.rows[row]
	pen, width := r.Pen(0, 0), r.Width()
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	bytes := func(style grid.Style, n int64) {
		if width <= shortBytes {
			pen.Short(style, n, width)
		} else {
			pen.Bytes(style, n, width)
		}
	}
	switch column {
	case costEventNumber:
		pen.Count(dim, int64(row), width)
	case costEventMark:
		if row == p.peak {
			r.Set(0, 0, r.Glyphs().Mark, grid.Of(themes.Peak).With(themes.Bold))
		}
	case costEventOp:
		pen.Skip(2 * min(e.depth, 8))
		style := text
		if !e.event.Allocates() {
			style = dim
		}
		pen.Text(style, costs.OpText(e.event))
	case costEventItems:
		r.Fit(0, 0, width, text, e.items, grid.Right)
	case costEventSize:
		if e.event.Allocates() {
			pen.Count(dim, int64(e.event.ItemSize), width)
		}
	case costEventBytes:
		if e.event.Allocates() {
			bytes(grid.Of(themes.Self), e.bytes)
		}
	case costEventForward:
		bytes(grid.Of(themes.Forward), e.forward)
	case costEventReverse:
		bytes(grid.Of(themes.Reverse), e.reverse)
	}
}

func (p *costStreamPane) do(action keymap.Action, s *scene) bool {
	scope, _ := s.costScope()
	if scope == nil || p.take(s, scope) != "" {
		return false
	}
	if action == keymap.JumpToPeak && p.peak >= 0 {
		p.cursor.at = min(p.peak, len(p.rows)-1)
		return true
	}
	return p.cursor.move(action, len(p.rows))
}

func (p *costStreamPane) click(_, y, _, height int, _ *scene) {
	if height >= 4 {
		y--
	}
	if row := p.cursor.offset + y; y >= 0 && row < len(p.rows) {
		p.cursor.at = row
	}
}

func (p *costStreamPane) details(s *scene) (string, []string) {
	scope, _ := s.costScope()
	if scope == nil || p.take(s, scope) != "" {
		return "", nil
	}
	e := &p.rows[p.cursor.at]
	lines := []string{costs.EventText(e.event) + ", n being the frames"}
	if e.event.Allocates() {
		lines = append(lines, "asks for  "+string(grid.AppendExact(nil, e.bytes)))
	}
	return fmt.Sprintf("Event %d of %s", p.cursor.at, scope.Name), append(lines,
		"forward pointer after it  "+string(grid.AppendExact(nil, e.forward)), "in use on the reverse side after it  "+string(grid.AppendExact(nil, e.reverse)),
		"replayed from an arena's begin; the file holds no pointer")
}

func (p *costStreamPane) selectedText(s *scene) string {
	if _, lines := p.details(s); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

func (*costStreamPane) origins(s *scene) []origin { return costOrigins(s) }

var (
	_ detailer = (*costStreamPane)(nil)
	_ copier   = (*costStreamPane)(nil)
)
