package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// scopeTreeRows are the scopes of an arena as a table that is a tree. Its four
// columns of bytes are never mixed: what is live now, what was allocated over
// the scope's life by itself and in total, and its peak.
type scopeTreeRows struct {
	view     model.TreeView
	table    widget.Table
	cursor   listCursor
	selected model.RowID
	found    bool          // the selected row is shown
	roots    []scopeChoice // that are drilled into, outermost first
	lost     bool          // the arena has no such scope
	choice   int           // version of the choice that was taken over

	arena       *model.ArenaView
	stale       bool // something has changed since settle
	first, last int  // rows of the view that are shown
	depth       int32
	whole       int64 // that a full bar stands for
	rails       []uint64
	reason      abandonedReason
	matches     nameMatches
}

// The columns of the tree's table.
const (
	scopeName = iota
	scopeLive
	scopeSelf
	scopeTotal
	scopePeak
	scopeBar
	scopeColumns
)

// take shows the scene's arena.
func (t *scopeTreeRows) take(s *scene) {
	arena := s.choices.arenaOf(s.view)
	if t.arena != arena {
		t.arena, t.stale = arena, true
		t.view.Show(arena)
		t.reason.take(s.view, arena)
	}
	if c := &s.choices.scope; c.version != t.choice {
		t.choice = c.version
		t.follow(s)
	}
	if t.stale {
		t.settle(s)
	}
	if s.choices.scope.path == nil && t.last > t.first {
		t.pick(s, 0)
	}
}

// follow selects what was chosen elsewhere.
func (t *scopeTreeRows) follow(s *scene) {
	c := &s.choices.scope
	if _, row := c.find(s.view, t.arena); row >= 0 {
		t.selected = t.view.ID(model.VisibleRow{Row: row, Abandoned: c.abandoned})
		t.view.Reveal(t.selected)
		t.stale = true
	}
}

// settle finds what is shown and where the selected row stands.
func (t *scopeTreeRows) settle(s *scene) {
	t.stale = false
	rows := t.view.Rows()
	t.first, t.last, t.depth, t.lost = 0, len(rows), 0, false
	if len(t.roots) > 0 {
		t.settleRoot(s)
		rows = t.view.Rows()
	}
	t.found, t.whole = false, 0
	column := barColumn(t.view.Key())
	for i := t.first; i < t.last; i++ {
		if !t.found && t.view.ID(rows[i]) == t.selected {
			t.found, t.cursor.at = true, i-t.first
		}
		if rows[i].Depth == t.depth && rows[i].Row >= 0 {
			t.whole = max(t.whole, t.number(rows[i], column))
		}
	}
	t.cursor.at = min(t.cursor.at, max(t.rowCount()-1, 0))
}

// settleRoot shows the scope that was drilled into and what is below it.
func (t *scopeTreeRows) settleRoot(s *scene) {
	root := &t.roots[len(t.roots)-1]
	t.first, t.last = 0, 0
	_, row := root.find(s.view, t.arena)
	if row < 0 {
		t.lost = true
		return
	}
	at, shown := t.view.Reveal(t.view.ID(model.VisibleRow{Row: row, Abandoned: root.abandoned}))
	if !shown {
		return
	}
	rows := t.view.Rows()
	t.first, t.depth = at, rows[at].Depth
	for t.last = at + 1; t.last < len(rows) && rows[t.last].Depth > t.depth; t.last++ {
	}
}

// number is a row's number in a column, grid.Missing where it has none.
func (t *scopeTreeRows) number(row model.VisibleRow, column int) int64 {
	switch column {
	case scopeLive:
		if bytes, ok := t.view.Live(row); ok {
			return bytes
		}
		return grid.Missing
	case scopeSelf:
		return t.view.Numbers(row).SelfBytes
	case scopeTotal:
		return t.view.Numbers(row).TotalBytes
	}
	return t.view.Numbers(row).Peak
}

// barColumn is the column that bars are drawn of: the one that is sorted by.
func barColumn(key model.TreeKey) int {
	switch key {
	case model.TreeByLive:
		return scopeLive
	case model.TreeBySelf:
		return scopeSelf
	case model.TreeByTotal:
		return scopeTotal
	}
	return scopePeak
}

func (t *scopeTreeRows) rowCount() int { return t.last - t.first }

// row is a row that is shown.
func (t *scopeTreeRows) row(index int) model.VisibleRow { return t.view.Rows()[t.first+index] }

// pick selects a row that is shown. The head of the abandoned scopes is no scope:
// the panes beside keep the one they have.
func (t *scopeTreeRows) pick(s *scene, index int) {
	if index < 0 || index >= t.rowCount() {
		return
	}
	row := t.row(index)
	t.cursor.at, t.selected, t.found = index, t.view.ID(row), true
	if row.Row >= 0 {
		s.choices.scope.choose(t.view.Path(row), row.Abandoned)
		t.choice = s.choices.scope.version
	}
}

// selectedRow is the row that keys act on.
func (t *scopeTreeRows) selectedRow() (row model.VisibleRow, ok bool) {
	if !t.found || t.cursor.at >= t.rowCount() {
		return row, false
	}
	return t.row(t.cursor.at), true
}

// do carries out an action on the tree.
func (t *scopeTreeRows) do(action keymap.Action, s *scene) bool {
	t.take(s)
	switch action {
	case keymap.ExpandAll:
		t.view.OpenTo(1 << 20)
	case keymap.CollapseAll:
		t.collapse(s)
	case keymap.DrillOut:
		if len(t.roots) > 0 {
			t.roots = t.roots[:len(t.roots)-1]
		}
	case keymap.Toggle, keymap.Open, keymap.Close, keymap.DrillIn:
		if row, ok := t.selectedRow(); ok {
			t.doRow(action, row, s)
		}
	default:
		if !t.cursor.move(action, t.rowCount()) {
			return false
		}
		t.pick(s, t.cursor.at)
		return true
	}
	t.stale = true
	t.settle(s)
	return true
}

// doRow opens or closes the selected row, or goes on from it.
func (t *scopeTreeRows) doRow(action keymap.Action, row model.VisibleRow, s *scene) {
	switch {
	case action == keymap.Toggle:
		t.view.Toggle(row)
	case action == keymap.DrillIn && row.Row >= 0:
		t.roots = append(t.roots, scopeChoice{path: t.view.Path(row), abandoned: row.Abandoned, row: -1})
		t.view.SetOpen(row, true)
	case action == keymap.Open && row.Opens && !row.Open:
		t.view.SetOpen(row, true)
	case action == keymap.Open && row.Opens:
		t.pick(s, t.cursor.at+1)
	case action == keymap.Close && row.Open:
		t.view.SetOpen(row, false)
	case action == keymap.Close:
		if above := t.view.Above(t.first + t.cursor.at); above >= t.first {
			t.pick(s, above-t.first)
		}
	}
}

// collapse closes every row and selects the outermost one around the selected.
func (t *scopeTreeRows) collapse(s *scene) {
	for above := t.first + t.cursor.at; above >= t.first && t.found; above = t.view.Above(above) {
		if t.view.Rows()[above].Depth == t.depth {
			t.pick(s, above-t.first)
			break
		}
	}
	t.view.OpenTo(0)
}

// search selects the next row whose name matches.
func (t *scopeTreeRows) search(pattern string, s *scene, forward bool) {
	index, ok, err := t.view.Search(pattern, t.first+t.cursor.at, forward)
	if err != nil || !ok {
		return
	}
	t.selected = t.view.ID(t.view.Rows()[index])
	t.settle(s)
	if !t.found { // it lies outside what was drilled into
		t.roots = nil
		t.settle(s)
	}
	t.pick(s, t.cursor.at)
}

// findRails finds the lines in front of the rows from one on, so many of them:
// bit d says that at depth d a sibling comes further down.
func (t *scopeTreeRows) findRails(from, count int) {
	rows := t.view.Rows()[t.first:t.last]
	to := min(from+count, len(rows))
	below, lowest := uint64(0), t.depth+64
	for i := to; i < len(rows) && lowest > t.depth+1; i++ {
		if depth := rows[i].Depth; depth < lowest {
			lowest = depth
			below |= 1 << uint(depth-t.depth)
		}
	}
	t.rails = t.rails[:0]
	for range to - from {
		t.rails = append(t.rails, 0)
	}
	for i := to - 1; i >= from; i-- {
		t.rails[i-from] = below
		depth := min(uint(rows[i].Depth-t.depth), 63)
		below = below&(1<<depth-1) | 1<<depth
	}
}

// Len is the number of rows that are shown.
func (t *scopeTreeRows) Len() int { return t.rowCount() }

// DrawCell draws one cell of the table.
func (t *scopeTreeRows) DrawCell(r grid.Region, index, column int) {
	row := t.row(index)
	numbers := t.view.Numbers(row)
	if column == scopeName {
		t.drawName(r, index, row, &numbers)
		return
	}
	if row.Row < 0 {
		return
	}
	switch column {
	case scopeLive:
		t.drawLive(r, row, &numbers)
	case scopeSelf:
		drawScopeLeast(r, themes.Self, numbers.SelfBytes, numbers.CountIsLeast())
	case scopeTotal:
		drawScopeLeast(r, themes.Total, numbers.TotalBytes, numbers.CountIsLeast())
	case scopePeak:
		drawScopeLeast(r, themes.Peak, numbers.Peak, numbers.PeakIsLeast())
	case scopeBar:
		bar := barColumn(t.view.Key())
		if n := t.number(row, bar); n != grid.Missing && row.Abandoned == t.row(0).Abandoned {
			widget.MiniBar(r, n, t.whole, grid.Of(scopeRoles[bar]))
		}
	}
}

// drawLive writes what is in the open scope. One that never closed has nothing
// known, which is said in place of a number.
func (t *scopeTreeRows) drawLive(r grid.Region, row model.VisibleRow, numbers *recorder.ScopeRow) {
	bytes, ok := t.view.Live(row)
	switch {
	case ok:
		drawScopeBytes(r, themes.Live, bytes)
	case numbers.Unclosed > 0 && !row.Abandoned:
		r.Fit(0, 0, r.Width(), grid.Of(themes.Warning), "unclosed", grid.Right)
	default:
		r.Set(r.Width()-1, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
	}
}

// drawName draws a row's place in the tree, its name, how often it ran and how
// often it allocated.
func (t *scopeTreeRows) drawName(r grid.Region, index int, row model.VisibleRow, numbers *recorder.ScopeRow) {
	node := widget.Node{Depth: int(row.Depth - t.depth), Name: t.view.Name(row), Style: grid.Of(themes.Text)}
	if at := index - t.cursor.offset; at >= 0 && at < len(t.rails) {
		node.Rails = t.rails[at]
	}
	switch {
	case row.Row < 0 || row.Abandoned && !row.Opens:
		node.State = widget.NodeLost
	case row.Open:
		node.State = widget.NodeOpen
	case row.Opens:
		node.State = widget.NodeClosed
	}
	switch {
	case row.Abandoned:
		node.Style = grid.Of(themes.Abandoned)
	case row.Context:
		node.Style = grid.Of(themes.Dim)
	default:
		node.MatchFrom, node.MatchTo = t.matches.span(node.Name)
	}
	width := r.Width() - drawScopeCounts(r, numbers.Count, numbers.AllocCount, numbers.CountIsLeast())
	if 2*node.Depth+2+grid.Width(node.Name) > width {
		node.MatchTo = node.MatchFrom // the name is cut
	}
	widget.TreeName(r.Sub(0, 0, width, 1), &node)
}
