package ui

import (
	"slices"
	"strings"

	"vramscope/model"
	"vramscope/model/costs"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// costScopesPane is the scopes of a calibration file, on each route, with what
// they take for the number of frames that is asked for.
type costScopesPane struct {
	table   widget.Table
	cursor  listCursor
	order   costOrder
	pattern filterPattern
	sought  filterPattern // the last pattern, for n and N
	of      costRowsOf
	rows    []int // in Index.Scopes
	largest int64 // peak, bytes
	index   *costs.Index
	answers []costs.Answer
	text    costTitle
}

// costOrder is what the scopes are sorted by; by peak at first.
type costOrder struct {
	by       keymap.Action
	reversed bool
}

// costRowsOf is what the rows depend on.
type costRowsOf struct {
	index   *costs.Index
	asked   int
	order   costOrder
	pattern string
}

// costTitle is what the title depends on, and the title.
type costTitle struct {
	of   costRowsOf
	text string
}

// The columns of the table.
const (
	costName = iota
	costRoute
	costModel
	costAllocs
	costReverse
	costEnd
	costPeak
	costBar
)

func newCostScopesPane() *costScopesPane {
	p := &costScopesPane{order: costOrder{by: keymap.SortByPeak}}
	p.table = widget.Table{Rows: p, Descending: true, Columns: []widget.TableColumn{
		costName:    {Title: "scope", Width: 12, Grow: 1},
		costRoute:   {Title: "route", Width: 10, Grow: 3, Drop: 3},
		costModel:   {Title: "model", Width: 7, Drop: 6},
		costAllocs:  {Title: "allocs", Width: 7, Align: grid.Right, Drop: 5},
		costReverse: {Title: "reverse", Width: longBytes, Align: grid.Right, Drop: 4},
		costEnd:     {Title: "end", Width: longBytes, Align: grid.Right, Drop: 2},
		costPeak:    {Title: "peak", Width: longBytes, Align: grid.Right},
		costBar:     {Title: "relative", Width: 8, Grow: 1, Drop: 1},
	}}
	return p
}

func (*costScopesPane) keys() keymap.Context { return keymap.List }

func (p *costScopesPane) title(s *scene) (string, string) {
	if p.take(s) == "" && p.text.of != p.of {
		p.text = costTitle{p.of, "Scopes for " + framesText(s.choices.cost.question.Frames)}
		if drivers := s.choices.cost.question.DriversText(); drivers != "" {
			p.text.text += ", " + drivers
		}
		if p.of.pattern != "" {
			p.text.text += ", filter " + p.of.pattern
		}
	}
	if p.text.text == "" {
		return "Scopes", ""
	}
	return p.text.text, "replayed"
}

// take finds the rows of a scene, and says what is missing where there are none.
func (p *costScopesPane) take(s *scene) (missing string) {
	index, answers := s.costs()
	if index == nil {
		return costsUnread(s)
	}
	p.index, p.answers = index, answers
	if of := (costRowsOf{index, s.choices.cost.asked, p.order, p.pattern.text}); of != p.of {
		p.of = of
		p.collect()
	}
	p.cursor.at = max(slices.Index(p.rows, s.choices.cost.scope), 0)
	switch {
	case len(p.rows) > 0:
		return ""
	case p.pattern.text != "":
		return "No scope matches the filter. Esc clears it."
	}
	return "No scope is in this file: its tables are empty."
}

// costsUnread is the sentence of a pane whose file is not there.
func costsUnread(s *scene) string {
	if s.view != nil && s.view.StatusWhy != "" {
		return s.view.StatusWhy
	}
	return "The calibration file is not read yet."
}

func (p *costScopesPane) collect() {
	p.rows, p.largest = p.rows[:0], 0
	for i := range p.index.Scopes {
		if p.pattern.matches(p.rowText(i)) {
			p.rows = append(p.rows, i)
			p.largest = max(p.largest, p.answers[i].Peak.Bytes)
		}
	}
	slices.SortStableFunc(p.rows, func(a, b int) int {
		by := p.compare(a, b)
		if p.order.reversed {
			return -by
		}
		return by
	})
	p.table.SortColumn = map[keymap.Action]int{
		keymap.SortByName: costName, keymap.SortByPeak: costPeak, keymap.SortByAllocs: costAllocs, keymap.SortByLive: costEnd,
	}[p.order.by]
	p.table.Descending = (p.order.by == keymap.SortByName) == p.order.reversed
}

func (p *costScopesPane) compare(a, b int) int {
	x, y := &p.index.Scopes[a], &p.index.Scopes[b]
	switch p.order.by {
	case keymap.SortByName:
		return strings.Compare(x.Name, y.Name)
	case keymap.SortByAllocs:
		return int(y.Allocs - x.Allocs)
	case keymap.SortByLive:
		return p.answers[b].End.Compare(p.answers[a].End)
	}
	return p.answers[b].Peak.Compare(p.answers[a].Peak)
}

// rowText is a row as filters see it.
func (p *costScopesPane) rowText(i int) string {
	return p.index.Scopes[i].Name + " " + p.index.Scopes[i].Route
}

func (p *costScopesPane) draw(r grid.Region, s *scene, _ bool) {
	if missing := p.take(s); missing != "" {
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
	if titles > 0 {
		p.table.Draw(r)
	} else {
		p.table.Draw(r.Sub(0, -1, r.Width(), r.Height()+1))
	}
}

// Len and DrawCell are the table's rows.
func (p *costScopesPane) Len() int { return len(p.rows) }

// DrawCell draws one cell.
func (p *costScopesPane) DrawCell(r grid.Region, row, column int) {
	scope, answer := &p.index.Scopes[p.rows[row]], &p.answers[p.rows[row]]
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	pen, width := r.Pen(0, 0), r.Width()
	bytes := func(style grid.Style, amount costs.Amount) {
		if width <= shortBytes {
			pen.Short(style, grid.Known(amount.Bytes, amount.Known), width)
		} else {
			pen.Bytes(style, grid.Known(amount.Bytes, amount.Known), width)
		}
	}
	switch column {
	case costName:
		r.Fit(0, 0, width, text.With(themes.Bold), scope.Name, grid.Left)
	case costRoute:
		r.FitMiddle(0, 0, width, text, scope.Varies)
	case costModel:
		r.Fit(0, 0, width, dim, string(scope.Model()), grid.Left)
	case costAllocs:
		pen.Count(text, grid.Known(scope.Allocs, scope.Allocs >= 0), width)
	case costReverse:
		bytes(grid.Of(themes.Reverse), answer.ReversePeak)
	case costEnd:
		bytes(grid.Of(themes.Live), answer.End)
	case costPeak:
		bytes(grid.Of(themes.Peak), answer.Peak)
	case costBar:
		if answer.Peak.Known {
			widget.MiniBar(r, answer.Peak.Bytes, p.largest, grid.Of(themes.Peak))
		} else if len(answer.Needs) > 0 {
			r.Fit(0, 0, width, dim, "needs "+answer.Needs[0], grid.Left)
		}
	}
}

func (p *costScopesPane) do(action keymap.Action, s *scene) bool {
	if p.take(s) != "" {
		return false
	}
	switch action {
	case keymap.SortByName, keymap.SortByPeak, keymap.SortByAllocs, keymap.SortByLive:
		p.order = costOrder{by: action}
	case keymap.ReverseSort:
		p.order.reversed = !p.order.reversed
	case keymap.NextMatch:
		p.seek(s, 1)
	case keymap.PreviousMatch:
		p.seek(s, -1)
	default:
		if !p.cursor.move(action, len(p.rows)) {
			return false
		}
		s.choices.cost.scope = p.rows[p.cursor.at]
	}
	return true
}

// seek selects the next row that matches the last pattern.
func (p *costScopesPane) seek(s *scene, step int) {
	for i := 1; i <= len(p.rows); i++ {
		row := p.rows[(p.cursor.at+len(p.rows)+step*i%len(p.rows))%len(p.rows)]
		if p.sought.matches(p.rowText(row)) {
			s.choices.cost.scope = row
			return
		}
	}
}

func (p *costScopesPane) filter() string { return p.pattern.text }

func (p *costScopesPane) setFilter(pattern string) error {
	if err := p.pattern.set(pattern); err != nil {
		return err
	}
	if p.pattern.text != "" {
		p.sought = p.pattern
	}
	return nil
}

func (p *costScopesPane) click(_, y, _, height int, s *scene) {
	if height >= 4 {
		y--
	}
	if row := p.cursor.offset + y; y >= 0 && row < len(p.rows) {
		s.choices.cost.scope = p.rows[row]
	}
}

func (p *costScopesPane) selectedText(s *scene) string {
	_, lines := costDetails(s)
	return strings.Join(lines[:min(len(lines), 3)], ", ")
}

func (p *costScopesPane) details(s *scene) (string, []string) { return costDetails(s) }

func (p *costScopesPane) origins(s *scene) []origin { return costOrigins(s) }

// costOrigins says where the numbers of the selected scope come from.
func costOrigins(s *scene) []origin {
	scope, answer := s.costScope()
	if scope == nil {
		return nil
	}
	from := "the file's events, replayed for " + framesText(s.choices.cost.question.Frames) + " from an arena's begin"
	if scope.Cost.Units != nil {
		from = "reckoned: " + scope.Formula()
	}
	figure := func(a costs.Amount, more string) model.Figure {
		return model.Figure{Value: a.Bytes, Known: a.Known, Why: a.Why, Origin: from + more}
	}
	return []origin{
		{name: "peak", figure: figure(answer.Peak, "; what was released before the end counts")}, {name: "end", figure: figure(answer.End, "")},
		{name: "reverse peak", figure: figure(answer.ReversePeak, "; without an arena's length charged its worst padding")},
		{name: "reverse end", figure: figure(answer.ReverseEnd, "")},
		{name: "allocations", figure: model.Figure{Value: scope.Allocs, Known: scope.Allocs >= 0, Why: "a scope that was measured by units has no events in the file", Origin: "events of the file"}, count: true},
	}
}
