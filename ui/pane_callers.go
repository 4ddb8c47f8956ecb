package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// callersPane is who allocated from an arena, and which item types, since its
// events are seen.
type callersPane struct {
	lists   [2]rollupList
	current int // the list that has the cursor
	both    bool
	top     int // rows of the first list where both are seen
	titled  callersTitle
}

// The lists.
const (
	byCaller = iota
	byDType
)

// rollupList is one of the lists.
type rollupList struct {
	table   widget.Table
	cursor  listCursor
	arena   *model.ArenaView
	rows    []model.Rollup
	total   int64 // bytes, of all rows
	pattern filterPattern
	sort    int
	stale   bool
}

// The columns of the tables.
const (
	rollupName = iota
	rollupBytes
	rollupShare
	rollupCount
)

func newCallersPane() *callersPane {
	p := &callersPane{}
	for i, title := range [...]string{"caller", "type"} {
		list := &p.lists[i]
		list.sort = rollupBytes
		list.table = widget.Table{Rows: list, Descending: true, Columns: []widget.TableColumn{
			rollupName:  {Title: title, Width: 12, Grow: 1},
			rollupBytes: {Title: "bytes", Width: longBytes, Align: grid.Right},
			rollupShare: {Title: "share", Width: 7, Align: grid.Right, Drop: 2},
			rollupCount: {Title: "allocs", Width: 8, Align: grid.Right, Drop: 1},
		}}
	}
	return p
}

// callersTitle is what the title depends on, and the title with its note.
type callersTitle struct {
	current    int
	typed      string
	late       bool // events were seen some time after its beginning
	text, note string
	written    bool
}

func (p *callersPane) title(s *scene) (string, string) {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		return "Callers", ""
	}
	t := callersTitle{current: p.current, typed: p.lists[p.current].pattern.text, written: true}
	// A calibration dump has every event of its arenas, whatever times they have.
	t.late = s.newest.Kind != recorder.KindCalibration && a.State.Created > 0 && a.Since > a.State.Created+1e9
	t.text, t.note = p.titled.text, p.titled.note
	if t != p.titled {
		t.text, t.note = [...]string{"Callers", "Item types"}[t.current], ""
		if t.typed != "" {
			t.text += ", filter " + t.typed
		}
		if t.late {
			t.note = "not from the start"
		}
		p.titled = t
	}
	return t.text, t.note
}

func (*callersPane) keys() keymap.Context { return keymap.List }

// take follows the scene.
func (p *callersPane) take(s *scene) *model.ArenaView {
	a := s.choices.arenaOf(s.view)
	if a != nil {
		p.lists[byCaller].take(a, byCaller)
		p.lists[byDType].take(a, byDType)
	}
	return a
}

// take sorts and filters the rows of an arena, once.
func (l *rollupList) take(a *model.ArenaView, which int) {
	if l.arena == a && !l.stale {
		return
	}
	l.arena, l.stale = a, false
	all := a.Callers()
	if which == byDType {
		all = a.DTypes()
	}
	l.rows, l.total = l.rows[:0], 0
	for i := range all {
		l.total += all[i].Bytes
		if l.pattern.matches(all[i].Name) {
			l.rows = append(l.rows, all[i])
		}
	}
	if l.sort != rollupBytes || !l.table.Descending { // they come by bytes
		slices.SortStableFunc(l.rows, l.compare)
	}
	l.table.SortColumn = l.sort
	l.cursor.at = min(l.cursor.at, max(len(l.rows)-1, 0))
}

func (l *rollupList) compare(a, b model.Rollup) int {
	order := 0
	switch l.sort {
	case rollupName:
		order = strings.Compare(a.Name, b.Name)
	case rollupCount:
		order = cmp.Compare(a.Count, b.Count)
	default:
		order = cmp.Compare(a.Bytes, b.Bytes)
	}
	if l.table.Descending {
		return -order
	}
	return order
}

func (p *callersPane) draw(r grid.Region, s *scene, _ bool) {
	a := p.take(s)
	switch {
	case a == nil:
		nothing(r, "Who allocates from an arena, and which item types, fills this.")
		return
	case a.Events == 0 || hasScopesAlone(a):
		nothing(r, noCallers(s, a))
		return
	}
	const least = 9
	p.both = r.Height() >= least
	if !p.both {
		p.lists[p.current].draw(r, true)
		return
	}
	types := min(len(p.lists[byDType].rows)+1, r.Height()/2-1)
	p.top = r.Height() - types
	p.lists[byCaller].draw(r.Sub(0, 0, r.Width(), p.top), p.current == byCaller)
	p.lists[byDType].draw(r.Sub(0, p.top, r.Width(), types), p.current == byDType)
}

// draw draws a list; the current one shows its cursor.
func (l *rollupList) draw(r grid.Region, current bool) {
	if len(l.rows) == 0 {
		text := "Nothing was allocated while events were seen."
		if l.pattern.text != "" {
			text = "Nothing matches the filter. Esc clears it."
		}
		nothing(r, text)
		return
	}
	fitBytes(l.table.Columns, r.Width()+shortStream-shortCallers)
	l.cursor.scroll(len(l.rows), r.Height()-1)
	l.table.Offset, l.table.Selected = l.cursor.offset, -1
	if current {
		l.table.Selected = l.cursor.at
	}
	l.table.Draw(r)
}

// shortCallers is the width under which bytes are written short here.
const shortCallers = 26

func (p *callersPane) do(action keymap.Action, s *scene) bool {
	if p.take(s) == nil {
		return false
	}
	list := &p.lists[p.current]
	switch action {
	case keymap.Left:
		p.current = byCaller
	case keymap.Right:
		p.current = byDType
	case keymap.SortByName:
		list.sortBy(rollupName, false)
	case keymap.SortBySize, keymap.SortBySelf, keymap.SortByTotal:
		list.sortBy(rollupBytes, true)
	case keymap.SortByCount, keymap.SortByAllocs:
		list.sortBy(rollupCount, true)
	case keymap.ReverseSort:
		list.sortBy(list.sort, !list.table.Descending)
	case keymap.JumpToPeak:
		return false
	default:
		return list.cursor.move(action, len(list.rows))
	}
	return true
}

func (l *rollupList) sortBy(column int, descending bool) {
	l.sort, l.table.Descending, l.stale = column, descending, true
}

func (p *callersPane) click(x, y, _, _ int, s *scene) {
	if p.take(s) == nil {
		return
	}
	if p.both && y >= p.top {
		p.current, y = byDType, y-p.top
	} else if p.both {
		p.current = byCaller
	}
	list := &p.lists[p.current]
	if y > 0 {
		if row := list.cursor.offset + y - 1; row < len(list.rows) {
			list.cursor.at = row
		}
		return
	}
	switch column := list.table.ColumnAt(x); {
	case column == rollupName || column == rollupBytes || column == rollupCount:
		list.sortBy(column, column != rollupName != (column == list.sort && list.table.Descending == (column != rollupName)))
	}
}

func (p *callersPane) filter() string { return p.lists[p.current].pattern.text }

func (p *callersPane) setFilter(text string) error {
	list := &p.lists[p.current]
	list.stale = true
	return list.pattern.set(text)
}

// Len is the number of rows.
func (l *rollupList) Len() int { return len(l.rows) }

// DrawCell draws one cell of the table.
func (l *rollupList) DrawCell(r grid.Region, index, column int) {
	row := &l.rows[index]
	pen := r.Pen(0, 0)
	switch column {
	case rollupName:
		name := row.Name
		if name == "" {
			name = "not told"
		}
		drawReason(r, 0, r.Width(), grid.Of(themes.Text), name)
	case rollupBytes:
		drawScopeBytes(r, themes.Self, row.Bytes)
	case rollupShare:
		pen.Percent(grid.Of(themes.Dim), row.Bytes, l.total, r.Width())
	case rollupCount:
		pen.Count(grid.Of(themes.Dim), row.Count, r.Width())
	}
}

func (p *callersPane) selectedText(s *scene) string {
	list := &p.lists[p.current]
	if p.take(s) == nil || list.cursor.at >= len(list.rows) {
		return ""
	}
	row := &list.rows[list.cursor.at]
	return fmt.Sprintf("%s %d bytes in %d allocations", row.Name, row.Bytes, row.Count)
}
