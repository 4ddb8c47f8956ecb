package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// scopeSums are the scopes of all arenas of a source, added up by name.
type scopeSums struct {
	of        *model.SourceView
	whole     []model.ScopeSum
	abandoned []model.ScopeSum
	name      string // the one that is selected
	lost      bool   // it is one of the abandoned
}

// take adds the scopes up, once for each view.
func (c *scopeSums) take(view *model.SourceView) {
	if c.of != view {
		c.of = view
		c.whole, c.abandoned = model.SumScopes(slices.Concat(view.Gone, view.Arenas))
	}
}

// selected is the sum of the selected name; nil when there is none.
func (c *scopeSums) selected() *model.ScopeSum {
	sums := c.whole
	if c.lost {
		sums = c.abandoned
	}
	for i := range sums {
		if sums[i].Name == c.name {
			return &sums[i]
		}
	}
	return nil
}

// scopeSumRows is the table of the sums; the abandoned ones stand apart, below.
type scopeSumRows struct {
	table   widget.Table
	cursor  listCursor
	order   scopeOrder
	of      *model.SourceView
	rows    []sumRow
	whole   int64 // that a full bar stands for
	pattern *filterPattern
	stale   bool
}

// sumRow is a row of the table: a sum, or with nil the head of the abandoned.
type sumRow struct {
	sum       *model.ScopeSum
	abandoned bool
}

// The columns of the table.
const (
	sumName = iota
	sumArenas
	sumSelf
	sumTotal
	sumPeak
	sumBar
)

func newScopeSumRows(pattern *filterPattern) *scopeSumRows {
	t := &scopeSumRows{pattern: pattern}
	t.table = widget.Table{Rows: t, Descending: true, Ruled: true, Columns: []widget.TableColumn{
		sumName:   {Title: "scope", Grow: 3},
		sumArenas: {Title: "arenas", Width: 7, Align: grid.Right, Drop: 3},
		sumSelf:   {Title: "self", Width: 10, Align: grid.Right, Drop: 2},
		sumTotal:  {Title: "total", Width: 10, Align: grid.Right, Drop: 1},
		sumPeak:   {Title: "peak", Width: 10, Align: grid.Right},
		sumBar:    {Title: "relative", Width: 8, Grow: 1, Drop: 4},
	}}
	return t
}

// take shows the sums of the scene's source.
func (t *scopeSumRows) take(s *scene, order scopeOrder) {
	c := &s.choices.sums
	c.take(s.view)
	if t.of == s.view && t.order == order && !t.stale {
		return
	}
	t.of, t.order, t.stale = s.view, order, false
	t.rows, t.whole = t.rows[:0], 0
	t.add(c.whole, false)
	t.add(c.abandoned, true)
	for i, row := range t.rows {
		if row.sum != nil && row.sum.Name == c.name && row.abandoned == c.lost {
			t.cursor.at = i
			return
		}
	}
	t.pick(s, min(t.cursor.at, len(t.rows)-1))
}

// add adds the sums that pass the filter, sorted.
func (t *scopeSumRows) add(sums []model.ScopeSum, abandoned bool) {
	first := len(t.rows)
	if abandoned {
		t.rows = append(t.rows, sumRow{abandoned: true})
		first++
	}
	for i := range sums {
		if t.pattern.matches(sums[i].Name) {
			t.rows = append(t.rows, sumRow{&sums[i], abandoned})
			if !abandoned {
				t.whole = max(t.whole, t.barOf(&sums[i]))
			}
		}
	}
	if abandoned && len(t.rows) == first {
		t.rows = t.rows[:first-1]
		return
	}
	slices.SortStableFunc(t.rows[first:], t.compare)
}

func (t *scopeSumRows) compare(a, b sumRow) int {
	x, y := a.sum, b.sum
	order := 0
	switch t.order.key {
	case model.TreeByName:
		order = strings.Compare(x.Name, y.Name)
	case model.TreeBySelf:
		order = cmp.Compare(y.SelfBytes, x.SelfBytes)
	case model.TreeByTotal:
		order = cmp.Compare(y.TotalBytes, x.TotalBytes)
	case model.TreeByCount:
		order = cmp.Compare(y.Count, x.Count)
	case model.TreeByAllocs:
		order = cmp.Compare(y.AllocCount, x.AllocCount)
	default:
		order = cmp.Compare(y.Peak, x.Peak)
	}
	if t.order.reversed {
		return -order
	}
	return order
}

// barOf is what the bar of a sum shows: what is sorted by.
func (t *scopeSumRows) barOf(sum *model.ScopeSum) int64 {
	switch barColumn(t.order.key) {
	case scopeSelf:
		return sum.SelfBytes
	case scopeTotal:
		return sum.TotalBytes
	}
	return sum.Peak
}

// pick selects a row.
func (t *scopeSumRows) pick(s *scene, index int) {
	if index < 0 || index >= len(t.rows) {
		return
	}
	t.cursor.at = index
	if row := t.rows[index]; row.sum != nil {
		s.choices.sums.name, s.choices.sums.lost = row.sum.Name, row.abandoned
	}
}

// do carries out an action on the rows.
func (t *scopeSumRows) do(action keymap.Action, s *scene) bool {
	if !t.cursor.move(action, len(t.rows)) {
		return false
	}
	t.pick(s, t.cursor.at)
	return true
}

// Len is the number of rows.
func (t *scopeSumRows) Len() int { return len(t.rows) }

// DrawCell draws one cell of the table.
func (t *scopeSumRows) DrawCell(r grid.Region, index, column int) {
	row := &t.rows[index]
	if column == sumName {
		t.drawName(r, row)
		return
	}
	if row.sum == nil {
		return
	}
	pen := r.Pen(0, 0)
	switch column {
	case sumArenas:
		pen.Count(grid.Of(themes.Dim), int64(row.sum.Arenas), r.Width())
	case sumSelf:
		drawScopeLeast(r, themes.Self, row.sum.SelfBytes, row.sum.CountIsLeast)
	case sumTotal:
		drawScopeLeast(r, themes.Total, row.sum.TotalBytes, row.sum.CountIsLeast)
	case sumPeak:
		drawScopeLeast(r, themes.Peak, row.sum.Peak, row.sum.PeakIsLeast)
	case sumBar:
		if !row.abandoned {
			widget.MiniBar(r, t.barOf(row.sum), t.whole, grid.StepOf(themes.Heat, t.barOf(row.sum), t.whole))
		}
	}
}

// sumWhyLeast is why sums over arenas are lower bounds.
const sumWhyLeast = "not every arena told all of its allocations; A looks at one, which says why"

// sumOrigins says where the numbers of the selected sum come from.
func sumOrigins(s *scene) []origin {
	s.choices.sums.take(s.view)
	sum := s.choices.sums.selected()
	if sum == nil {
		return nil
	}
	over := "all scopes called " + sum.Name + " in " + arenasText(sum.Arenas) + " that the program tells of"
	figure := func(n int64, from string, isLeast bool) model.Figure {
		switch {
		case isLeast && n == 0:
			return model.Figure{Why: sumWhyLeast}
		case isLeast:
			from = "at least this: " + sumWhyLeast
		}
		return model.Figure{Value: n, Known: true, Origin: from}
	}
	return []origin{
		{name: "self", figure: figure(sum.SelfBytes, "allocations in the scopes themselves, added up over "+over, sum.CountIsLeast)},
		{name: "total", figure: figure(sum.TotalBytes, "the same with those of scopes inside them, each byte once", sum.CountIsLeast)},
		{name: "largest peak", figure: figure(sum.Peak, fmt.Sprintf("the largest of one scope, in arena %d: peaks are never added", sum.PeakArena), sum.PeakIsLeast)},
		{name: "ran", figure: figure(sum.Count, over, false), count: true},
		{name: "allocations", figure: figure(sum.AllocCount, "scopes inside included", sum.CountIsLeast), count: true},
	}
}

// arenasText is a number of arenas in words.
func arenasText(n int) string {
	if n == 1 {
		return "1 arena"
	}
	return strconv.Itoa(n) + " arenas"
}

func (t *scopeSumRows) drawName(r grid.Region, row *sumRow) {
	node := widget.Node{Style: grid.Of(themes.Text)}
	if row.abandoned {
		node.Style, node.State = grid.Of(themes.Abandoned), widget.NodeLost
	}
	if row.sum == nil {
		node.Name = "abandoned, apart"
		widget.TreeName(r, &node)
		return
	}
	node.Name = row.sum.Name
	if row.abandoned {
		node.Depth = 1
	}
	width := r.Width() - drawScopeCounts(r, row.sum.Count, row.sum.AllocCount, row.sum.CountIsLeast)
	widget.TreeName(r.Sub(0, 0, width, 1), &node)
}
