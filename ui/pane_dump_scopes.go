package ui

import (
	"vramscope/model/dump"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpScopesPane is the stacks of a memory dump: who allocated. It shows them as
// a tree from the allocator up or from the program down, as a flame graph, or by
// what changed since a moment that was remembered. A node has four numbers,
// each in requested bytes and in blocks: what is live at the moment, what was at
// the peak, what was allocated in the stretch that charts show, and what was
// allocated and never freed.
type dumpScopesPane struct {
	tree      dumpStacks
	flame     dumpFlame
	diff      dumpDiffRows
	direction dump.Direction
	unfolded  bool // frames that only add noise are shown
	flaming   bool
	order     stackOrder
	pattern   filterPattern
	sought    filterPattern // the last pattern, for n and N
	seeking   keymap.Action // a search that waits for its answer
	busy      bool          // what is shown is not yet what was asked for
	titled    stacksTitle
	titles    int // rows of titles above the table
	room      int // columns for the pane's title
}

// stacksMode is how the stacks are shown.
type stacksMode uint8

const (
	stacksTree stacksMode = iota
	stacksFlame
	stacksDiff
)

// stackOrder is what the stacks are sorted by.
type stackOrder struct {
	number   int // weightLive and so on
	count    bool
	name     bool
	reversed bool
}

func newDumpScopesPane() *dumpScopesPane {
	p := &dumpScopesPane{}
	p.tree.init()
	p.diff.init()
	return p
}

func (*dumpScopesPane) keys() keymap.Context { return keymap.Tree }

func (p *dumpScopesPane) prepare(s *scene) { p.take(s) }

func (p *dumpScopesPane) forget() {
	p.tree.forget()
	p.flame = dumpFlame{}
	p.diff.forget()
	p.seeking, p.busy = keymap.None, false
}

// take shows the scene, and says what is missing where nothing can be shown.
func (p *dumpScopesPane) take(s *scene) (mode stacksMode, missing string) {
	m := s.dumpMoment()
	if m.index == nil {
		return stacksTree, whyNoDump(s)
	}
	s.dumps.size.take(m.dumpTrace)
	if p.flaming {
		mode = stacksFlame
	}
	forest := p.grow(s, m)
	if forest == nil {
		return mode, "Building the tree of the dump's stacks..."
	}
	p.tree.take(s, m, forest, p.order)
	if p.compares(s, m) {
		return stacksDiff, p.diff.take(s, m, &p.pattern)
	}
	p.seek(s)
	if p.tree.rows.forest.below(0) > 0 {
		return mode, ""
	}
	if p.pattern.text != "" {
		return mode, "No stack matches the filter. Esc clears it."
	}
	return mode, "No block of this device is known, and no event: there is no stack to show."
}

// compares says whether another moment than the one that is looked at has been
// remembered.
func (p *dumpScopesPane) compares(s *scene, m dumpMoment) bool {
	return s.baseline != nil && s.baseline.dump.index != nil && s.baseline.dump != m
}

// grow asks for the forest that is to be shown, and is the one that can be
// shown meanwhile; nil while there is none.
func (p *dumpScopesPane) grow(s *scene, m dumpMoment) *dumpForest {
	q := forestQuestion{m.dumpTrace, p.direction, p.unfolded, p.pattern.text}
	w := s.dumps
	if w.forest.lacks(q) {
		w.askForest(q, p.pattern)
	}
	forest, ok := w.forest.to(q)
	p.busy = !ok
	if !ok {
		return p.tree.rows.forest
	}
	return forest
}

// seek finds the nodes that match the last pattern, and goes on with a search
// that had to wait for them.
func (p *dumpScopesPane) seek(s *scene) {
	if p.sought.text == "" {
		p.seeking = keymap.None
		return
	}
	w, q := s.dumps, findQuestion{p.tree.rows.forest, p.sought.text}
	if w.found.lacks(q) {
		w.askFound(q, p.sought)
	}
	found, ok := w.found.to(q)
	if !ok || p.seeking == keymap.None {
		return
	}
	rows := &p.tree.rows
	node := int32(0)
	if p.seeking == keymap.NextMatch {
		node, ok = rows.after(p.tree.node, found)
	} else {
		node, ok = rows.before(p.tree.node, found)
	}
	p.seeking = keymap.None
	if ok {
		rows.reveal(node)
		p.tree.pick(s, node)
	}
}

// whyNoDump is the sentence of a pane whose dump is not there.
func whyNoDump(s *scene) string {
	if s.view == nil || s.view.Dump == nil {
		return "The dump is not read yet."
	}
	return "This dump has no device: there is nothing of an allocator in it."
}

// draw draws the pane where it has no frame.
func (p *dumpScopesPane) draw(r grid.Region, s *scene, _ bool) { p.drawIn(r, s, scopesFrame{}) }

// drawFramed draws the pane with its columns' titles in the frame.
func (p *dumpScopesPane) drawFramed(r grid.Region, s *scene, focused bool) {
	p.drawIn(r, s, scopesFrame{framed: true, style: widget.FrameStyle(focused)})
}

func (p *dumpScopesPane) drawIn(r grid.Region, s *scene, frame scopesFrame) {
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
	if !frame.framed && mode != stacksFlame && inner.Height() >= 4 {
		p.titles = 1
	}
	rows := inner.Height() - p.titles
	switch mode {
	case stacksFlame:
		p.drawFlame(inner, s)
	case stacksDiff:
		p.diff.cursor.scroll(p.diff.Len(), rows)
		p.diff.fit(inner.Width())
		p.drawTable(&p.diff.table, &p.diff.cursor, r, inner, frame)
	default:
		p.tree.scroll(rows)
		p.tree.fit(inner.Width(), frame.framed)
		p.tree.table.SortColumn, p.tree.table.Descending = p.order.column(), !p.order.reversed
		p.drawTable(&p.tree.table, &p.tree.cursor, r, inner, frame)
	}
}

// drawTable draws a table with its titles in the frame, above the rows, or not
// at all.
func (p *dumpScopesPane) drawTable(t *widget.Table, cursor *listCursor, r, inner grid.Region, frame scopesFrame) {
	t.Offset, t.Selected, t.Ruled = cursor.offset, cursor.at, frame.framed
	switch {
	case frame.framed:
		t.DrawFramed(r, frame.style)
		p.room = roomBeside(t)
	case p.titles > 0:
		t.Draw(inner)
	default:
		t.Draw(inner.Sub(0, -1, inner.Width(), inner.Height()+1))
	}
}

// drawFlame draws the flame graph of the number that is sorted by.
func (p *dumpScopesPane) drawFlame(r grid.Region, s *scene) {
	weights := p.tree.weights[p.order.number]
	switch {
	case weights == nil:
		nothing(r, "Weighing the stacks...")
	case weights.Bytes(p.tree.rows.root) <= 0:
		nothing(r, "Nothing of it has bytes to draw: sort (s) by another number.")
	default:
		p.flame.take(weights, p.tree.rows.root, r.Width(), r.Height(), s.dumps.names.of(p.tree.rows.forest.question.index))
		p.flame.choose(p.tree.node)
		p.flame.draw(r, p.order.number)
	}
}

func (p *dumpScopesPane) filter() string { return p.pattern.text }

// setFilter shows the stacks with a frame that matches alone.
func (p *dumpScopesPane) setFilter(typed string) error {
	if err := p.pattern.set(typed); err != nil {
		return err
	}
	if p.pattern.text != "" {
		p.sought = p.pattern
	}
	p.tree.matches.reset(&p.pattern)
	return nil
}
