package ui

import (
	"fmt"
	"strings"

	"vramscope/model"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// treeKeyOf is what an action sorts scopes by.
var treeKeyOf = map[keymap.Action]model.TreeKey{
	keymap.SortByName: model.TreeByName, keymap.SortByLive: model.TreeByLive, keymap.SortBySelf: model.TreeBySelf,
	keymap.SortByTotal: model.TreeByTotal, keymap.SortBySize: model.TreeByTotal, keymap.SortByPeak: model.TreeByPeak,
	keymap.SortByCount: model.TreeByCount, keymap.SortByAllocs: model.TreeByAllocs, keymap.SortByAge: model.TreeByOrder,
}

// do carries out an action on the scopes.
func (p *scopesPane) do(action keymap.Action, s *scene) bool {
	mode, missing := p.take(s)
	if key, ok := treeKeyOf[action]; ok {
		p.sortBy(scopeOrder{key: key})
		return true
	}
	switch action {
	case keymap.ReverseSort:
		p.sortBy(scopeOrder{key: p.order.key, reversed: !p.order.reversed})
	case keymap.Flame:
		if mode == scopesSum {
			return false // the dashboard says why
		}
		p.flaming = !p.flaming && mode == scopesTree
	case keymap.NextMatch, keymap.PreviousMatch:
		p.search(s, mode, action == keymap.NextMatch)
	default:
		if missing != "" && action != keymap.DrillOut {
			return false
		}
		return p.doIn(mode, action, s)
	}
	return true
}

func (p *scopesPane) doIn(mode scopesMode, action keymap.Action, s *scene) bool {
	switch mode {
	case scopesSum:
		return p.sums.do(action, s)
	case scopesDiff:
		return p.diff.do(action, s)
	case scopesFlame:
		return p.doFlame(action, s)
	}
	return p.tree.do(action, s)
}

// doFlame moves among the boxes; drilling is the tree's.
func (p *scopesPane) doFlame(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.DrillIn, keymap.DrillOut:
		return p.tree.do(action, s)
	case keymap.Toggle:
		return p.tree.do(keymap.DrillIn, s)
	case keymap.Top:
		p.chooseRow(s, p.flame.root)
	case keymap.Up, keymap.Down, keymap.Open, keymap.Close:
		if row, ok := p.flame.move(action); ok {
			p.chooseRow(s, row)
		}
	default:
		return false
	}
	return true
}

// chooseRow selects the scope of a row of the flame graph.
func (p *scopesPane) chooseRow(s *scene, row int32) {
	if row < 0 {
		return
	}
	var path []string
	for _, name := range p.flame.scopes.Path(row) {
		path = append(path, p.flame.table.String(name))
	}
	abandoned := false
	if n := len(p.tree.roots); n > 0 {
		abandoned = p.tree.roots[n-1].abandoned
	}
	s.choices.scope.choose(path, abandoned)
	p.tree.take(s)
}

// sortBy sorts every way of showing the scopes.
func (p *scopesPane) sortBy(order scopeOrder) {
	p.order = order
	p.tree.view.SortBy(order.key)
	p.tree.view.SetReversed(order.reversed)
	p.tree.stale = true
}

func (p *scopesPane) search(s *scene, mode scopesMode, forward bool) {
	if p.last == "" || mode == scopesSum || mode == scopesDiff {
		return
	}
	p.tree.search(treePattern(p.last), s, forward)
}

// treePattern is a pattern for the tree: small letters alone match capitals too,
// as in every list.
func treePattern(typed string) string {
	body, invert := strings.CutPrefix(typed, "!")
	if body == "" {
		return ""
	}
	if body == strings.ToLower(body) {
		body = "(?i)" + body
	}
	if invert {
		return "!" + body
	}
	return body
}

func (p *scopesPane) filter() string { return p.typed }

// setFilter filters every way of showing the scopes. A pattern that is none
// leaves what was there.
func (p *scopesPane) setFilter(typed string) error {
	if err := p.pattern.set(typed); err != nil {
		return err
	}
	if err := p.tree.view.Filter(treePattern(typed)); err != nil {
		return fmt.Errorf("%q is no regular expression: escape special characters with \\", typed)
	}
	p.typed = typed
	if typed != "" {
		p.last = typed
	}
	p.tree.matches.reset(&p.pattern)
	p.tree.stale, p.diff.stale, p.sums.stale = true, true, true
	return nil
}

// click sorts by a column's title, and selects rows; a selected one opens or
// closes.
func (p *scopesPane) click(x, y, _, _ int, s *scene) {
	mode, missing := p.take(s)
	if missing != "" {
		return
	}
	if mode == scopesFlame {
		p.clickFlame(x, y, s)
		return
	}
	if y < p.titles {
		p.clickTitle(mode, x)
		return
	}
	y -= p.titles
	switch mode {
	case scopesSum:
		p.sums.pick(s, p.sums.cursor.offset+y)
	case scopesDiff:
		p.diff.pick(p.diff.cursor.offset + y)
		p.diff.choose(s)
	default:
		index := p.tree.cursor.offset + y
		if index == p.tree.cursor.at && p.tree.found {
			p.tree.do(keymap.Toggle, s)
			return
		}
		p.tree.pick(s, index)
	}
}

func (p *scopesPane) clickFlame(x, y int, s *scene) {
	row, ok := p.flame.at(x, y)
	if !ok {
		return
	}
	if at := p.flame.flame.Selected; at >= 0 && p.flame.rows[at] == row {
		p.tree.do(keymap.DrillIn, s)
		return
	}
	p.chooseRow(s, row)
}

// clickTitle sorts by the column at a place; again, the other way round.
func (p *scopesPane) clickTitle(mode scopesMode, x int) {
	table, columns := &p.tree.table, treeSortColumns
	switch mode {
	case scopesSum:
		table, columns = &p.sums.table, sumSortColumns
	case scopesDiff:
		table, columns = &p.diff.table, diffSortColumns
	}
	clicked := table.ColumnAt(x)
	for key, column := range columns {
		if column == clicked {
			p.sortBy(scopeOrder{key: key, reversed: key == p.order.key && !p.order.reversed})
			return
		}
	}
}

// selectedText is the path of the selected scope with its numbers.
func (p *scopesPane) selectedText(s *scene) string {
	mode, missing := p.take(s)
	if missing != "" {
		return ""
	}
	if mode == scopesSum {
		sum := s.choices.sums.selected()
		if sum == nil {
			return ""
		}
		return sum.Name + leastText("self", sum.SelfBytes, sum.CountIsLeast) + leastText("total", sum.TotalBytes, sum.CountIsLeast) +
			leastText("largest peak", sum.Peak, sum.PeakIsLeast)
	}
	scopes, row := s.choices.scope.find(s.view, s.choices.arenaOf(s.view))
	if row < 0 {
		return strings.Join(s.choices.scope.path, "/")
	}
	numbers := scopes.Row(row)
	return strings.Join(s.choices.scope.path, "/") + leastText("self", numbers.SelfBytes, numbers.CountIsLeast()) +
		leastText("total", numbers.TotalBytes, numbers.CountIsLeast()) + leastText("peak", numbers.Peak, numbers.PeakIsLeast())
}

// leastText is a label and a number that may be a lower bound, for the clipboard.
func leastText(label string, n int64, isLeast bool) string {
	label, n = leastOf(label, n, isLeast)
	if n == grid.Missing {
		return " " + label + " not known"
	}
	return fmt.Sprintf(" %s %d", label, n)
}

// origins says where the numbers of the selected scope come from.
func (p *scopesPane) origins(s *scene) []origin {
	mode, missing := p.take(s)
	switch {
	case missing != "":
		return nil
	case mode == scopesSum:
		return sumOrigins(s)
	}
	return scopeOrigins(s)
}

var (
	_ framed     = (*scopesPane)(nil)
	_ clicker    = (*scopesPane)(nil)
	_ copier     = (*scopesPane)(nil)
	_ originator = (*scopesPane)(nil)
	_ filterer   = (*scopesPane)(nil)
)
