package ui

import (
	"fmt"
	"strings"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// numberOf is the number that an action sorts stacks by.
var numberOf = map[keymap.Action]int{
	keymap.SortByLive: weightLive, keymap.SortByPeak: weightPeak, keymap.SortByTotal: weightAllocated,
	keymap.SortByAllocs: weightAllocated, keymap.SortByUnfreed: weightUnfreed,
}

// do carries out an action on the stacks.
func (p *dumpScopesPane) do(action keymap.Action, s *scene) bool {
	mode, missing := p.take(s)
	if p.sort(action) {
		return true
	}
	switch action {
	case keymap.Flame:
		p.flaming = !p.flaming
	case keymap.Direction:
		p.direction ^= 1
	case keymap.Noise:
		p.unfolded = !p.unfolded
	case keymap.NextMatch, keymap.PreviousMatch:
		if mode != stacksDiff {
			p.seeking = action
		}
	default:
		if p.tree.rows.forest == nil && mode != stacksDiff || missing != "" && action != keymap.DrillOut {
			return false
		}
		return p.doIn(mode, action, s)
	}
	p.take(s)
	return true
}

// sort carries out an action that sorts; false for others.
func (p *dumpScopesPane) sort(action keymap.Action) bool {
	number, ok := numberOf[action]
	switch {
	case ok:
		p.order = stackOrder{number: number, count: action == keymap.SortByAllocs}
	case action == keymap.SortByCount:
		p.order = stackOrder{number: p.order.number, count: true}
	case action == keymap.SortBySize, action == keymap.SortBySelf:
		p.order = stackOrder{number: p.order.number}
	case action == keymap.SortByName:
		p.order = stackOrder{number: p.order.number, name: true}
	case action == keymap.ReverseSort:
		p.order.reversed = !p.order.reversed
	default:
		return false
	}
	p.diff.sort(action)
	return true
}

func (p *dumpScopesPane) doIn(mode stacksMode, action keymap.Action, s *scene) bool {
	switch mode {
	case stacksDiff:
		return p.diff.do(action, s)
	case stacksFlame:
		return p.doFlame(action, s)
	}
	return p.tree.do(action, s)
}

// doFlame moves among the boxes; drilling is the tree's.
func (p *dumpScopesPane) doFlame(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Toggle:
		return p.tree.do(keymap.DrillIn, s)
	case keymap.DrillIn, keymap.DrillOut:
		return p.tree.do(action, s)
	case keymap.Top:
		p.tree.pick(s, p.tree.rows.root)
	case keymap.Up, keymap.Down, keymap.Open, keymap.Close:
		if node, ok := p.flame.move(action); ok {
			p.tree.pick(s, node)
			p.tree.rows.reveal(node)
		}
	default:
		return false
	}
	return true
}

// click sorts by a column's title, and selects rows; a selected one opens or
// closes.
func (p *dumpScopesPane) click(x, y, _, _ int, s *scene) {
	mode, missing := p.take(s)
	switch {
	case missing != "":
	case mode == stacksFlame:
		p.clickFlame(x, y, s)
	case y < p.titles:
		p.clickTitle(mode, x)
	case mode == stacksDiff:
		p.diff.pick(s, p.diff.cursor.offset+y-p.titles)
	default:
		row := p.tree.cursor.offset + y - p.titles
		if row == p.tree.cursor.at {
			p.tree.do(keymap.Toggle, s)
			return
		}
		p.tree.pickRow(s, row)
	}
}

func (p *dumpScopesPane) clickFlame(x, y int, s *scene) {
	node, ok := p.flame.at(x, y)
	switch {
	case !ok:
	case node == p.tree.node:
		p.tree.do(keymap.DrillIn, s)
	default:
		p.tree.pick(s, node)
		p.tree.rows.reveal(node)
	}
}

// clickTitle sorts by the column at a place; again, the other way round.
func (p *dumpScopesPane) clickTitle(mode stacksMode, x int) {
	if mode == stacksDiff {
		p.diff.clickTitle(x)
		return
	}
	column := p.tree.table.ColumnAt(x)
	order := stackOrder{number: p.order.number}
	switch {
	case column < 0 || column == stackBar:
		return
	case column == stackName:
		order.name = true
	default:
		order.number, order.count = (column-stackNumbers)/2, (column-stackNumbers)%2 == 1
	}
	order.reversed = order.column() == p.order.column() && !p.order.reversed
	p.order = order
}

// selectedText is the frames of the selected node from the root, with its
// numbers.
func (p *dumpScopesPane) selectedText(s *scene) string {
	mode, missing := p.take(s)
	switch {
	case missing != "":
		return ""
	case mode == stacksDiff:
		return p.diff.selectedText()
	}
	text := p.tree.pathText()
	for number, name := range numberNames {
		bytes, count := p.tree.numbers(p.tree.node, number)
		text += fmt.Sprintf(" %s %s in %s", name, grid.AppendBytes(nil, bytes), grid.AppendCount(nil, count))
	}
	return text
}

// pathText is the frames on the way to the selected node.
func (t *dumpStacks) pathText() string {
	var parts []string
	for _, frame := range t.path[max(len(t.path)-maximumFrames, 0):] {
		name := t.names.frame(frame)
		parts = append(parts, strings.TrimSpace(name.name+" "+name.place))
	}
	if len(parts) == 0 {
		return "all stacks"
	}
	return strings.Join(parts, " / ")
}

// maximumFrames is how many frames of a stack are written out.
const maximumFrames = 200

// origins says where the numbers of the selected node come from.
func (p *dumpScopesPane) origins(s *scene) []origin {
	if mode, missing := p.take(s); missing != "" || mode == stacksDiff {
		return nil
	}
	return p.tree.origins(s)
}

func (t *dumpStacks) origins(s *scene) (all []origin) {
	m := s.dumpMoment()
	from, to := s.choices.dump.stretch(m.device())
	sources := [weightCount]string{
		weightLive:      "requested bytes of the blocks that live " + momentText(m),
		weightPeak:      fmt.Sprintf("requested bytes of the blocks that live after event %d, the peak of requested bytes", m.device().Peaks[dump.Requested].Event),
		weightAllocated: fmt.Sprintf("bytes asked for by the allocations in the events from %d up to %d, freed since or not", from, to),
		weightUnfreed:   "bytes asked for by allocations that no event of the trace frees",
	}
	for number, name := range numberNames {
		bytes, count := t.numbers(t.node, number)
		why := "the dump has no trace"
		if m.device().Events.Len() > 0 {
			why = "it is being worked out"
		}
		all = append(all, origin{name: name, figure: figureOf(bytes, sources[number], why)},
			origin{name: name + ", number", figure: figureOf(count, sources[number], why), count: true})
	}
	return all
}

// figureOf is a number as a figure, with where it comes from or why it is
// missing.
func figureOf(number int64, from, why string) model.Figure {
	if number == grid.Missing {
		return model.Figure{Why: why}
	}
	return model.Figure{Value: number, Known: true, Origin: from}
}

// momentText says in words when a moment of a dump is.
func momentText(m dumpMoment) string {
	switch {
	case m.moment == dump.AtEnd:
		return "at the end"
	case m.event < 0:
		return "before the first event"
	}
	return "after event " + string(grid.AppendCount(nil, int64(m.event)))
}

var (
	_ framed     = (*dumpScopesPane)(nil)
	_ clicker    = (*dumpScopesPane)(nil)
	_ copier     = (*dumpScopesPane)(nil)
	_ originator = (*dumpScopesPane)(nil)
	_ filterer   = (*dumpScopesPane)(nil)
	_ preparer   = (*dumpScopesPane)(nil)
)
