package ui

import (
	"cmp"
	"strings"

	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpStacks is the stack tree as a table.
type dumpStacks struct {
	rows    stackRows
	table   widget.Table
	cursor  listCursor
	narrow  bool
	seen    []stackRow // the rows that are seen, from the cursor's offset on
	node    int32      // that is selected
	path    []uint32   // of it, to find it in another tree
	stack   int32      // that is shared with the other panes
	drilled []int32    // the roots before the one that is shown
	weights [weightCount]*dump.Weights
	asked   [weightCount]weightQuestion
	waits   bool // some weights are not known yet
	order   stackOrder
	by      *dump.Weights // that the rows are sorted by
	matches nameMatches
	names   *dumpNames
}

// stackRow is a row that is seen.
type stackRow struct {
	node  int32
	depth int
	rails uint64
}

// The columns of the tree's table: after the name, for each number its bytes and
// its count.
const (
	stackName    = 0
	stackNumbers = 1
	stackBar     = stackNumbers + 2*weightCount
)

// stackRoles are what the numbers mean.
var stackRoles = [weightCount]themes.Role{
	weightLive: themes.Live, weightPeak: themes.Peak, weightAllocated: themes.Total, weightUnfreed: themes.Self,
}

func (t *dumpStacks) init() {
	t.rows.order = t.compare
	t.stack = dump.BeforeRecording
	t.matches.reset(nil)
	t.table = widget.Table{Rows: t, Columns: []widget.TableColumn{
		stackName: {Title: "stack", Grow: 3},
		1:         {Title: "live", Align: grid.Right}, 2: {Title: "blocks", Align: grid.Right, Drop: 4},
		3: {Title: "at peak", Align: grid.Right, Drop: 1}, 4: {Title: "blocks", Align: grid.Right, Drop: 6},
		5: {Title: "allocated", Align: grid.Right, Drop: 2}, 6: {Title: "allocs", Align: grid.Right, Drop: 5},
		7: {Title: "unfreed", Align: grid.Right, Drop: 3}, 8: {Title: "blocks", Align: grid.Right, Drop: 7},
		stackBar: {Title: "share", Width: 8, Grow: 1, Drop: 8},
	}}
}

func (t *dumpStacks) forget() {
	order := t.rows.order
	t.rows = stackRows{order: order}
	t.seen, t.node, t.path, t.drilled, t.stack = t.seen[:0], 0, nil, nil, dump.BeforeRecording
	t.weights, t.asked, t.by, t.names = [weightCount]*dump.Weights{}, [weightCount]weightQuestion{}, nil, nil
	t.cursor = listCursor{}
}

// take shows a forest with what its nodes weigh at a moment.
func (t *dumpStacks) take(s *scene, m dumpMoment, forest *dumpForest, order stackOrder) {
	t.names = s.dumps.names.of(forest.question.index)
	if t.rows.forest != forest {
		t.move(s, forest)
	}
	t.weigh(s, m)
	by := t.weights[order.number]
	if by == nil {
		by = t.by
	}
	if t.order != order || t.by != by {
		t.order, t.by = order, by
		t.rows.resort()
	}
	if c := &s.choices.dump; c.stack != t.stack {
		t.stack = c.stack
		if leaf := forest.tree.Leaf(c.stack); c.stack != dump.BeforeRecording && forest.shows(leaf) {
			t.stand(s, leaf)
		}
	}
	s.choices.dump.node = t.node
}

// move goes over to another forest. What was open and what was selected is found
// again, by the frames on the way to it where the tree is of the same kind, and
// otherwise by its stack.
func (t *dumpStacks) move(s *scene, forest *dumpForest) {
	old := t.rows
	alike := old.forest != nil && old.forest.question.direction == forest.question.direction && old.forest.question.unfolded == forest.question.unfolded
	path := t.path
	t.weights, t.asked, t.by, t.drilled = [weightCount]*dump.Weights{}, [weightCount]weightQuestion{}, nil, nil
	t.rows.show(forest)
	if alike {
		if old.all {
			t.rows.openAll()
		}
		t.rows.copy(&old)
	}
	node := int32(0)
	switch leaf := forest.tree.Leaf(t.stack); {
	case alike:
		node = forest.at(path)
	case t.stack != dump.BeforeRecording && forest.shows(leaf):
		node = leaf
	}
	t.rows.reveal(node)
	t.node, t.path = node, forest.path(node)
	s.choices.dump.node = node
}

// weigh asks for what the nodes weigh.
func (t *dumpStacks) weigh(s *scene, m dumpMoment) {
	w, forest := s.dumps, t.rows.forest
	of := forest.question.dumpTrace
	if of != m.dumpTrace {
		return // of a part of the dump that is about to be replaced
	}
	from, to := s.choices.dump.stretch(of.device())
	t.waits = false
	for number := range t.weights {
		q := weightQuestion{forest: forest, of: of}
		switch number {
		case weightLive:
			q.moment = m.moment
		case weightAllocated:
			q.from, q.to = from, to
		}
		if w.weights[number].lacks(q) {
			w.askWeights(number, q)
		}
		t.weights[number], _ = w.weights[number].to(q)
		t.waits = t.waits || t.weights[number] == nil
	}
}

// numbers are what a node has of a number; both are missing while that is not
// known, and where the dump does not say.
func (t *dumpStacks) numbers(node int32, number int) (bytes, count int64) {
	weights := t.weights[number]
	if weights == nil || number != weightLive && t.rows.forest.question.device().Events.Len() == 0 {
		return grid.Missing, grid.Missing
	}
	return weights.Bytes(node), weights.Count(node)
}

// compare puts the larger one first; names from A to Z.
func (t *dumpStacks) compare(a, b int32) int {
	order := 0
	switch {
	case t.order.name:
		x, y := t.names.frame(t.rows.forest.tree.Frame[a]), t.names.frame(t.rows.forest.tree.Frame[b])
		order = cmp.Or(strings.Compare(x.name, y.name), strings.Compare(x.place, y.place))
	case t.by == nil:
	case t.order.count:
		order = cmp.Or(cmp.Compare(t.by.Count(b), t.by.Count(a)), cmp.Compare(t.by.Bytes(b), t.by.Bytes(a)))
	default:
		order = cmp.Or(cmp.Compare(t.by.Bytes(b), t.by.Bytes(a)), cmp.Compare(t.by.Count(b), t.by.Count(a)))
	}
	if t.order.reversed {
		order = -order
	}
	return cmp.Or(order, cmp.Compare(a, b))
}

// pick selects a node that is shown.
func (t *dumpStacks) pick(s *scene, node int32) {
	t.node, t.path = node, t.rows.forest.path(node)
	t.stack = t.rows.forest.stackBelow(node, t.by)
	s.choices.dump.node, s.choices.dump.stack = node, t.stack
}

// stand selects the node of a stack that was chosen elsewhere.
func (t *dumpStacks) stand(s *scene, node int32) {
	if !t.rows.forest.tree.Below(node, t.rows.root) {
		t.rows.root, t.drilled = 0, nil
	}
	t.rows.reveal(node)
	t.node, t.path = node, t.rows.forest.path(node)
	s.choices.dump.node = node
}

// pickRow selects the node in a row.
func (t *dumpStacks) pickRow(s *scene, row int) {
	if t.rows.goTo(row) {
		t.cursor.at = row
		t.pick(s, t.rows.node())
	}
}

// scroll finds the rows that are seen in a window of so many.
func (t *dumpStacks) scroll(rows int) {
	at, shown := t.rows.rowOf(t.node)
	for node := t.node; !shown && node != 0; at, shown = t.rows.rowOf(node) {
		node = t.rows.forest.tree.Parent[node]
	}
	t.cursor.at = at
	t.cursor.scroll(t.rows.count(), rows)
	t.seen = t.seen[:0]
	for more := t.rows.goTo(t.cursor.offset); more && len(t.seen) < rows; more = t.rows.next() {
		t.seen = append(t.seen, stackRow{t.rows.node(), t.rows.depth(), t.rows.rails()})
	}
}

// do carries out an action on the tree.
func (t *dumpStacks) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.ExpandAll:
		t.rows.openAll()
	case keymap.CollapseAll:
		t.collapse(s)
	case keymap.DrillIn:
		if t.rows.root != t.node {
			t.drilled = append(t.drilled, t.rows.root)
			t.rows.root = t.node
			t.rows.open(t.node)
		}
	case keymap.DrillOut:
		if n := len(t.drilled); n > 0 {
			t.rows.root, t.drilled = t.drilled[n-1], t.drilled[:n-1]
			t.rows.reveal(t.node)
		}
	case keymap.Toggle:
		if t.rows.isOpen(t.node) {
			t.rows.set(t.node, false)
		} else {
			t.rows.open(t.node)
		}
	case keymap.Open:
		if !t.rows.isOpen(t.node) {
			t.rows.open(t.node)
		} else if children := t.rows.children(t.node); len(children) > 0 {
			t.pick(s, children[0])
		}
	case keymap.Close:
		if t.rows.isOpen(t.node) {
			t.rows.set(t.node, false)
		} else if t.node != t.rows.root {
			t.pick(s, t.rows.forest.tree.Parent[t.node])
		}
	default:
		t.cursor.at, _ = t.rows.rowOf(t.node)
		if !t.cursor.move(action, t.rows.count()) {
			return false
		}
		t.pickRow(s, t.cursor.at)
	}
	return true
}

// collapse closes every node and selects what is left of the way to the one that
// was selected.
func (t *dumpStacks) collapse(s *scene) {
	t.rows.closeAll()
	for _, shown := t.rows.rowOf(t.node); !shown && t.node != t.rows.root; _, shown = t.rows.rowOf(t.node) {
		t.pick(s, t.rows.forest.tree.Parent[t.node])
	}
}

// Len is the number of rows.
func (t *dumpStacks) Len() int { return t.rows.count() }

// DrawCell draws one cell of the table.
func (t *dumpStacks) DrawCell(r grid.Region, index, column int) {
	at := index - t.cursor.offset
	if at < 0 || at >= len(t.seen) {
		return
	}
	row := &t.seen[at]
	switch column {
	case stackName:
		t.drawName(r, row)
	case stackBar:
		part, whole := t.sortedBy(row.node), t.sortedBy(t.rows.root)
		widget.MiniBar(r, part, whole, grid.Of(stackRoles[t.order.number]))
	default:
		number := (column - stackNumbers) / 2
		bytes, count := t.numbers(row.node, number)
		if (column-stackNumbers)%2 == 0 {
			drawScopeBytes(r, stackRoles[number], bytes)
		} else {
			pen := r.Pen(0, 0)
			pen.Count(grid.Of(themes.Dim), count, r.Width())
		}
	}
}

// sortedBy is a node's number that is sorted by.
func (t *dumpStacks) sortedBy(node int32) int64 {
	bytes, count := t.numbers(node, t.order.number)
	if t.order.count {
		return count
	}
	return bytes
}

// drawName draws a row's place in the tree, the function and where it stands.
func (t *dumpStacks) drawName(r grid.Region, row *stackRow) {
	forest := t.rows.forest
	frame := forest.tree.Frame[row.node]
	name := t.names.frame(frame)
	node := widget.Node{Depth: row.depth, Rails: row.rails, Name: name.name, Style: grid.Of(themes.Text)}
	if name.place == "" {
		node.Style = grid.Of(themes.Dim)
	}
	switch {
	case forest.below(row.node) == 0:
	case t.rows.isOpen(row.node):
		node.State = widget.NodeOpen
	default:
		node.State = widget.NodeClosed
	}
	node.MatchFrom, node.MatchTo = t.matches.span(name.name)
	width := grid.Width(name.name)
	if 2*row.depth+2+width > r.Width() {
		node.MatchTo = node.MatchFrom // the name is cut
	}
	x := widget.TreeName(r, &node) + width + 1
	if left := r.Width() - x; name.short != "" && left >= 6 {
		r.Fit(x, 0, left, grid.Of(themes.Dim), name.short, grid.Left)
	}
}

// fit gives the columns the width for short or long numbers.
func (t *dumpStacks) fit(width int, framed bool) {
	t.narrow = width < wideStacks
	name, bytes, count := 40, longBytes, 7
	if t.narrow {
		name, bytes = 26, shortBytes
	}
	if !framed && width < shortWidth {
		name = shortName
	}
	titles := longStackTitles
	if t.narrow {
		titles = shortStackTitles
	}
	t.table.Columns[stackName].Width = name
	for number := range weightCount {
		t.table.Columns[stackNumbers+2*number].Width = max(bytes, len(titles[number])+2)
		t.table.Columns[stackNumbers+2*number].Title = titles[number]
		t.table.Columns[stackNumbers+2*number+1].Width = count
	}
}

// wideStacks is the width from which on bytes are written long.
const wideStacks = 100

// The titles of the columns of bytes; those that are sorted by have an arrow
// before them.
var (
	longStackTitles  = [weightCount]string{"live", "at peak", "allocated", "unfreed"}
	shortStackTitles = [weightCount]string{"live", "peak", "alloc", "left"}
)

// column is the column that is sorted by.
func (o stackOrder) column() int {
	switch {
	case o.name:
		return stackName
	case o.count:
		return stackNumbers + 2*o.number + 1
	}
	return stackNumbers + 2*o.number
}
