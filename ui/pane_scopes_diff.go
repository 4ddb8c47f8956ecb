package ui

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// scopeDiffRows is what became of the scopes since a moment that was remembered:
// a tree of those that changed, and of those above them.
type scopeDiffRows struct {
	table  widget.Table
	cursor listCursor
	order  scopeOrder

	before, after *model.ArenaView
	diffs         []model.ScopeDiff
	ids           []uint64 // of the paths, by row
	shown         []bool   // by row: it or one below it has changed and passes the filter
	below         [][]int32
	hidden        int // rows that did not change
	visible       []int32
	closed        map[uint64]bool
	selected      uint64
	pattern       *filterPattern
	stale         bool
}

// scopeOrder is what rows are sorted by.
type scopeOrder struct {
	key      model.TreeKey
	reversed bool
}

// The columns of the table.
const (
	diffName = iota
	diffChange
	diffPeakThen
	diffPeakNow
	diffPeakBy
	diffTotalBy
	diffCountBy
	diffColumns
)

func newScopeDiffRows(pattern *filterPattern) *scopeDiffRows {
	d := &scopeDiffRows{closed: map[uint64]bool{}, pattern: pattern}
	d.table = widget.Table{Rows: d, Descending: true, Ruled: true, Columns: []widget.TableColumn{
		diffName:     {Title: "scope", Grow: 1},
		diffChange:   {Title: "change", Width: 8},
		diffPeakThen: {Title: "peak then", Width: 10, Align: grid.Right, Drop: 3},
		diffPeakNow:  {Title: "peak now", Width: 10, Align: grid.Right, Drop: 2},
		diffPeakBy:   {Title: "peak by", Width: 11, Align: grid.Right},
		diffTotalBy:  {Title: "total by", Width: 11, Align: grid.Right, Drop: 4},
		diffCountBy:  {Title: "runs by", Width: 8, Align: grid.Right, Drop: 5},
	}}
	return d
}

// take compares the scene's arena with the same one of the remembered moment, or
// with the one that was looked at then.
func (d *scopeDiffRows) take(s *scene, order scopeOrder) {
	before, after := s.choices.arenaOf(s.baseline.view), s.choices.arenaOf(s.view)
	if d.before != before || d.after != after {
		d.before, d.after, d.stale = before, after, true
		d.diffs = model.DiffScopes(before, after)
		d.identify()
	}
	if d.order != order {
		d.order, d.stale = order, true
	}
	if d.stale {
		d.stale = false
		d.mark()
		d.sort()
		d.flatten()
	}
}

var diffSeed = maphash.MakeSeed()

// identify names each row by its path, so that rows keep their state.
func (d *scopeDiffRows) identify() {
	d.ids = d.ids[:0]
	for i := range d.diffs {
		id := maphash.String(diffSeed, d.diffs[i].Name)
		if above := d.diffs[i].Parent; above >= 0 {
			id = (id ^ d.ids[above]*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
		}
		d.ids = append(d.ids, id)
	}
}

// mark finds the rows that are shown. Parents stand before their children.
func (d *scopeDiffRows) mark() {
	d.shown = slices.Grow(d.shown[:0], len(d.diffs))[:len(d.diffs)]
	clear(d.shown)
	d.hidden = 0
	for i := len(d.diffs) - 1; i >= 0; i-- {
		row := &d.diffs[i]
		if row.Change() != model.ChangeNone && d.pattern.matches(row.Name) {
			d.shown[i] = true
		}
		if !d.shown[i] {
			d.hidden++
		} else if row.Parent >= 0 {
			d.shown[row.Parent] = true
		}
	}
}

// sort orders the rows below each row that is shown.
func (d *scopeDiffRows) sort() {
	for i := range d.below {
		d.below[i] = d.below[i][:0]
	}
	for len(d.below) <= len(d.diffs) {
		d.below = append(d.below, nil)
	}
	for i := range d.diffs {
		if above := d.diffs[i].Parent + 1; d.shown[i] {
			d.below[above] = append(d.below[above], int32(i))
		}
	}
	for _, rows := range d.below {
		slices.SortStableFunc(rows, d.compare)
	}
}

// compare puts the larger change first, names from A to Z.
func (d *scopeDiffRows) compare(a, b int32) int {
	x, y := &d.diffs[a], &d.diffs[b]
	order := 0
	if d.order.key == model.TreeByName {
		order = strings.Compare(x.Name, y.Name)
	} else {
		order = cmp.Compare(d.weight(y), d.weight(x))
	}
	if d.order.reversed {
		return -order
	}
	return order
}

// weight is by how much a row changed in what is sorted by.
func (d *scopeDiffRows) weight(row *model.ScopeDiff) int64 {
	by := row.PeakAfter - row.PeakBefore
	switch d.order.key {
	case model.TreeByTotal:
		by = row.TotalAfter - row.TotalBefore
	case model.TreeBySelf:
		by = row.SelfAfter - row.SelfBefore
	case model.TreeByCount:
		by = row.CountAfter - row.CountBefore
	case model.TreeByAllocs:
		by = row.AllocCountAfter - row.AllocCountBefore
	}
	return max(by, -by)
}

// flatten lists the rows that are open to be seen, and finds the selected one.
func (d *scopeDiffRows) flatten() {
	d.visible = d.visible[:0]
	d.walk(-1)
	for i, row := range d.visible {
		if d.ids[row] == d.selected {
			d.cursor.at = i
			return
		}
	}
	d.pick(min(d.cursor.at, len(d.visible)-1))
}

func (d *scopeDiffRows) walk(above int) {
	for _, row := range d.below[above+1] {
		d.visible = append(d.visible, row)
		if !d.closed[d.ids[row]] {
			d.walk(int(row))
		}
	}
}

func (d *scopeDiffRows) pick(index int) {
	if index >= 0 && index < len(d.visible) {
		d.cursor.at, d.selected = index, d.ids[d.visible[index]]
	}
}

// do carries out an action on the rows.
func (d *scopeDiffRows) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.ExpandAll:
		clear(d.closed)
	case keymap.CollapseAll:
		for i := range d.diffs {
			d.closed[d.ids[i]] = true
		}
	case keymap.Toggle, keymap.Open, keymap.Close:
		if d.cursor.at < len(d.visible) {
			d.doRow(action, int(d.visible[d.cursor.at]))
		}
	case keymap.DrillIn, keymap.DrillOut:
	default:
		if !d.cursor.move(action, len(d.visible)) {
			return false
		}
		d.choose(s)
		return true
	}
	d.flatten()
	d.choose(s)
	return true
}

// doRow opens or closes a row, or goes on from it.
func (d *scopeDiffRows) doRow(action keymap.Action, row int) {
	id := d.ids[row]
	opens, open := len(d.below[row+1]) > 0, !d.closed[id]
	switch {
	case action == keymap.Toggle:
		d.closed[id] = open
	case action == keymap.Open && opens && !open:
		delete(d.closed, id)
	case action == keymap.Open && opens:
		d.pick(d.cursor.at + 1)
	case action == keymap.Close && opens && open:
		d.closed[id] = true
	case action == keymap.Close && d.diffs[row].Parent >= 0:
		d.selected = d.ids[d.diffs[row].Parent]
	}
}

// choose shows the selected scope in the panes beside.
func (d *scopeDiffRows) choose(s *scene) {
	d.pick(d.cursor.at)
	if d.cursor.at < len(d.visible) {
		s.choices.scope.choose(model.DiffPath(d.diffs, int(d.visible[d.cursor.at])), false)
	}
}

// Len is the number of rows.
func (d *scopeDiffRows) Len() int { return len(d.visible) }

// DrawCell draws one cell of the table. What one of the two moments did not have
// is unknown there, not nothing.
func (d *scopeDiffRows) DrawCell(r grid.Region, index, column int) {
	at := int(d.visible[index])
	row := &d.diffs[at]
	pen := r.Pen(0, 0)
	then, now := int64(grid.Missing), int64(grid.Missing)
	if row.Before {
		then = row.PeakBefore
	}
	if row.After {
		now = row.PeakAfter
	}
	thenLeast, nowLeast := row.PeaksAreLeast()
	switch column {
	case diffName:
		d.drawName(r, at, row)
	case diffChange:
		r.Fit(0, 0, r.Width(), changeStyle(row.Change()), row.Change().String(), grid.Left)
	case diffPeakThen:
		drawScopeLeast(r, themes.Dim, then, thenLeast)
	case diffPeakNow:
		drawScopeLeast(r, themes.Peak, now, nowLeast)
	case diffPeakBy:
		if thenLeast || nowLeast {
			r.Set(r.Width()-1, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
			return
		}
		pen.Delta(deltaStyle(row.PeakAfter-row.PeakBefore), row.PeakAfter-row.PeakBefore, r.Width())
	case diffTotalBy:
		pen.Delta(deltaStyle(row.TotalAfter-row.TotalBefore), row.TotalAfter-row.TotalBefore, r.Width())
	case diffCountBy:
		pen.Count(grid.Of(themes.Dim), row.CountAfter-row.CountBefore, r.Width())
	}
}

func (d *scopeDiffRows) drawName(r grid.Region, at int, row *model.ScopeDiff) {
	node := widget.Node{Depth: row.Depth, Name: row.Name, Style: grid.Of(themes.Text)}
	if row.Change() == model.ChangeNone || !d.pattern.matches(row.Name) {
		node.Style = grid.Of(themes.Dim)
	}
	if len(d.below[at+1]) > 0 {
		node.State = widget.NodeOpen
		if d.closed[d.ids[at]] {
			node.State = widget.NodeClosed
		}
	}
	for above, depth := at, row.Depth; depth >= 1 && above >= 0; depth-- {
		siblings := d.below[d.diffs[above].Parent+1]
		if depth < 64 && siblings[len(siblings)-1] != int32(above) {
			node.Rails |= 1 << uint(depth)
		}
		above = d.diffs[above].Parent
	}
	widget.TreeName(r, &node)
}

// changeStyle is what a change looks like: its word says the same.
func changeStyle(change model.Change) grid.Style {
	switch change {
	case model.ChangeGrown, model.ChangeNew:
		return grid.Step(themes.Change, themes.RampSteps-1)
	case model.ChangeShrunk, model.ChangeGone:
		return grid.Step(themes.Change, 0)
	}
	return grid.Of(themes.Dim)
}

func deltaStyle(by int64) grid.Style {
	switch {
	case by > 0:
		return grid.Step(themes.Change, themes.RampSteps-1)
	case by < 0:
		return grid.Step(themes.Change, 0)
	}
	return grid.Of(themes.Dim)
}
