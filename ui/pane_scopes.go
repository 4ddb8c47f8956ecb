package ui

import (
	"strings"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// scopesPane is the scopes of an arena: which took the memory and which set the
// peak. It shows them as a tree, as a flame graph, by what changed since a moment
// that was remembered, or summed by name over all arenas.
type scopesPane struct {
	tree    scopeTreeRows
	flame   scopeFlame
	diff    *scopeDiffRows
	sums    *scopeSumRows
	flaming bool
	order   scopeOrder
	pattern filterPattern
	typed   string // the pattern as it was typed
	last    string // the last one, for n and N
	titled  scopesTitle
	room    int  // columns for the title, 0 is any number
	arrow   bool // at the column that is sorted by
	titles  int  // rows of titles above the table
}

// scopesMode is how the scopes are shown.
type scopesMode uint8

const (
	scopesTree scopesMode = iota
	scopesFlame
	scopesDiff
	scopesSum
)

func newScopesPane() *scopesPane {
	p := &scopesPane{}
	p.diff, p.sums = newScopeDiffRows(&p.pattern), newScopeSumRows(&p.pattern)
	p.tree.table = widget.Table{Rows: &p.tree, Descending: true, Ruled: true, Columns: []widget.TableColumn{
		scopeName:  {Title: "scope", Grow: 3},
		scopeLive:  {Title: "live now", Width: 10, Align: grid.Right, Drop: 3},
		scopeSelf:  {Title: "self", Width: 10, Align: grid.Right, Drop: 4},
		scopeTotal: {Title: "total", Width: 10, Align: grid.Right, Drop: 2},
		scopePeak:  {Title: "peak", Width: 10, Align: grid.Right, Drop: 1},
		scopeBar:   {Title: "relative", Width: 8, Grow: 1, Drop: 5},
	}}
	p.tree.matches.reset(&p.pattern)
	return p
}

func (*scopesPane) keys() keymap.Context { return keymap.Tree }

// mode is how the scopes of a scene are shown.
func (p *scopesPane) mode(s *scene) scopesMode {
	switch {
	case s.sumsArenas():
		return scopesSum
	case s.baseline != nil && s.view != nil:
		return scopesDiff
	case p.flaming:
		return scopesFlame
	}
	return scopesTree
}

// take shows the scene, and says what would fill the pane where nothing does.
func (p *scopesPane) take(s *scene) (mode scopesMode, missing string) {
	mode = p.mode(s)
	if s.view == nil {
		return mode, "Scopes of a program with an arena fill this: `vramscope demo` shows one, `vramscope run -- python render.py` starts yours."
	}
	if why := notSpoken(s.view); why != "" {
		return mode, why
	}
	if len(s.view.Arenas) == 0 {
		return mode, "This source has no arena. A program that allocates from one, and names its stages as scopes, fills this."
	}
	switch mode {
	case scopesSum:
		p.sums.take(s, p.order)
		missing = p.emptied(s, len(p.sums.rows), noScopesAnywhere)
	case scopesDiff:
		p.diff.take(s, p.order)
		missing = p.emptied(s, len(p.diff.visible), noScopeChanged)
	default:
		p.tree.take(s)
		missing = p.emptied(s, p.tree.rowCount(), noScopesHere)
		if p.tree.lost {
			missing = "This arena has no scope " + rootText(p.tree.roots) + ". A comma leads back out of it."
		}
	}
	return mode, missing
}

// emptied is what to say of so many rows; "" where there are some.
func (p *scopesPane) emptied(s *scene, rows int, why func(*scene) string) string {
	switch {
	case rows > 0:
		return ""
	case p.typed != "":
		return "No scope matches the filter. Esc clears it."
	}
	return why(s)
}

func noScopesHere(s *scene) string { return noScopes(s, s.choices.arenaOf(s.view)) }

func noScopeChanged(*scene) string {
	return "No scope has changed since the moment that is remembered. d forgets it."
}

// rootText is the path of the scope that was drilled into.
func rootText(roots []scopeChoice) string {
	if len(roots) == 0 {
		return ""
	}
	return strings.Join(roots[len(roots)-1].path, " / ")
}

// draw draws the pane where it has no frame.
func (p *scopesPane) draw(r grid.Region, s *scene, _ bool) { p.drawIn(r, s, scopesFrame{}) }

// drawFramed draws the pane with its columns' titles in the frame.
func (p *scopesPane) drawFramed(r grid.Region, s *scene, focused bool) {
	p.drawIn(r, s, scopesFrame{framed: true, style: widget.FrameStyle(focused)})
}

// scopesFrame is the frame that the pane is drawn in, if any.
type scopesFrame struct {
	framed bool
	style  grid.Style
}

func (p *scopesPane) drawIn(r grid.Region, s *scene, frame scopesFrame) {
	inner := r
	if frame.framed {
		inner = r.Sub(1, 1, r.Width()-2, r.Height()-2)
	}
	p.titles, p.room = 0, 0
	mode, missing := p.take(s)
	if missing != "" {
		nothing(inner, missing)
		return
	}
	if !frame.framed && inner.Height() >= 4 {
		p.titles = 1
	}
	switch mode {
	case scopesFlame:
		p.titles = 0
		p.takeFlame(s, inner.Width())
		p.flame.draw(inner)
	case scopesTree:
		rows := inner.Height() - p.titles
		p.tree.cursor.scroll(p.tree.rowCount(), rows)
		p.tree.findRails(p.tree.cursor.offset, rows)
		p.drawTable(&p.tree.table, &p.tree.cursor, r, inner, s, frame)
		p.drawReason(inner)
	case scopesDiff:
		p.diff.cursor.scroll(len(p.diff.visible), inner.Height()-p.titles)
		p.drawTable(&p.diff.table, &p.diff.cursor, r, inner, s, frame)
	case scopesSum:
		p.sums.cursor.scroll(len(p.sums.rows), inner.Height()-p.titles)
		p.drawTable(&p.sums.table, &p.sums.cursor, r, inner, s, frame)
	}
}

// Under shortWidth columns bytes are written short, so that names have room.
const (
	shortWidth = 76
	shortBytes = 6
	longBytes  = 10
	shortName  = 14
	longName   = 22
)

// drawTable draws a table with its titles in the frame, above the rows, or not at
// all.
func (p *scopesPane) drawTable(t *widget.Table, cursor *listCursor, r, inner grid.Region, s *scene, frame scopesFrame) {
	t.Offset, t.Selected, t.Ruled = cursor.offset, cursor.at, frame.framed
	if t == &p.tree.table && !p.tree.found {
		t.Selected = -1
	}
	t.SortColumn, t.Descending = p.sortColumn(t), !p.order.reversed
	fitColumns(t, inner.Width())
	switch {
	case frame.framed:
		t.DrawFramed(r, frame.style)
		p.room, p.arrow = roomBeside(t), t.SortColumn > 0 && t.Shows(t.SortColumn)
		title, _ := p.title(s)
		drawCountTitles(r.Sub(1, 0, r.Width()-2, 1), t, grid.Width(title)+2)
	case p.titles > 0:
		t.Draw(inner)
		drawCountTitles(inner.Row(0), t, len(t.Columns[0].Title))
	default:
		t.Draw(inner.Sub(0, -1, inner.Width(), inner.Height()+1))
	}
}

// drawCountTitles names the counts at the right end of the first column, whose own
// title takes so many columns of characters.
func drawCountTitles(row grid.Region, t *widget.Table, taken int) {
	end := 1
	for t.ColumnAt(end) == 0 {
		end++
	}
	scopes, allocations := scopeCountWidths(end - 1)
	if t.Columns[1].Title == "change" || scopes == 0 || taken+2 > end-scopes-allocations {
		return
	}
	style := grid.Of(themes.Dim).With(themes.Bold)
	row.Text(end-allocations-len(" runs "), 0, style, " runs ")
	if allocations > 0 {
		row.Text(end-len(" allocs "), 0, style, " allocs ")
	}
}

// fitColumns gives a table's columns of bytes the width for short or long
// numbers.
func fitColumns(t *widget.Table, width int) {
	name, from, to := longName, shortBytes, longBytes
	if width < shortWidth {
		name, from, to = shortName, longBytes, shortBytes
	}
	t.Columns[0].Width = name
	for i := range t.Columns[1:] {
		c := &t.Columns[i+1]
		if c.Width == from && c.Align == grid.Right {
			c.Width = to
		}
		for _, titles := range shortTitles {
			if c.Title == titles[0] && name == shortName || c.Title == titles[1] && name == longName {
				c.Title = titles[1]
				if name == longName {
					c.Title = titles[0]
				}
			}
		}
	}
}

// shortTitles are the titles of columns that are too long for short numbers, with
// what stands in their place.
var shortTitles = [...][2]string{{"live now", "live"}, {"peak then", "then"}, {"peak now", "now"}}

// sortColumn is the column of a table that is sorted by, -1 for none of them.
func (p *scopesPane) sortColumn(t *widget.Table) int {
	columns := map[model.TreeKey]int(nil)
	switch t {
	case &p.tree.table:
		columns = treeSortColumns
	case &p.diff.table:
		columns = diffSortColumns
	case &p.sums.table:
		columns = sumSortColumns
	}
	if column, ok := columns[p.order.key]; ok {
		return column
	}
	return -1
}

var (
	treeSortColumns = map[model.TreeKey]int{
		model.TreeByName: scopeName, model.TreeByLive: scopeLive, model.TreeBySelf: scopeSelf, model.TreeByTotal: scopeTotal, model.TreeByPeak: scopePeak,
	}
	diffSortColumns = map[model.TreeKey]int{
		model.TreeByName: diffName, model.TreeByPeak: diffPeakBy, model.TreeByTotal: diffTotalBy, model.TreeByCount: diffCountBy,
	}
	sumSortColumns = map[model.TreeKey]int{
		model.TreeByName: sumName, model.TreeBySelf: sumSelf, model.TreeByTotal: sumTotal, model.TreeByPeak: sumPeak,
	}
)

// drawReason writes why scopes were abandoned over the columns of bytes of the
// row that stands above them.
func (p *scopesPane) drawReason(r grid.Region) {
	t := &p.tree
	for y := range t.cursor.page {
		index := t.cursor.offset + y
		if index >= t.rowCount() || t.row(index).Row >= 0 {
			continue
		}
		from := 0
		for from < r.Width() && t.table.ColumnAt(from) != scopeLive && t.table.ColumnAt(from) != scopePeak && t.table.ColumnAt(from) != scopeTotal {
			from++
		}
		to := r.Width()
		if t.rowCount() > t.cursor.page {
			to-- // the scrollbar
		}
		style := grid.Of(themes.Abandoned)
		line := r.Sub(from, y+p.titles, to-from, 1)
		if index == t.table.Selected {
			style = grid.Of(themes.Selection)
		}
		line.Clear(style)
		line.Fit(0, 0, line.Width(), style, t.reason.text, grid.Left)
		return
	}
}

// takeFlame makes the flame graph of what the tree was drilled into.
func (p *scopesPane) takeFlame(s *scene, width int) {
	arena := s.choices.arenaOf(s.view)
	scopes, root := arena.Scopes, int32(-1)
	if n := len(p.tree.roots); n > 0 {
		scopes, root = p.tree.roots[n-1].find(s.view, arena)
	}
	p.flame.take(s.view, arena, scopes, root, width)
	chosen, row := s.choices.scope.find(s.view, arena)
	if chosen != scopes {
		row = -2 // an abandoned scope while the others are shown
	}
	p.flame.find(row)
}
