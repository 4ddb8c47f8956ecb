package ui

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// dumpScopePane is everything about the node of the stack tree that is selected:
// its frame, its numbers, and the largest blocks that its stacks hold.
type dumpScopePane struct {
	stacks *dumpStacks // where it is selected
	flow   flow
	label  []byte
	head   dumpMomentTitle
	way    nodeWay
	blocks nodeBlocks
}

// nodeWay is the stack of a node up to where it is, in words.
type nodeWay struct {
	forest *dumpForest
	node   int32
	text   string
}

// take writes the frames on the way to a node, innermost first.
func (w *nodeWay) take(t *dumpStacks) {
	forest := t.rows.forest
	if w.forest == forest && w.node == t.node {
		return
	}
	const most = 20
	path := t.path
	if forest.question.direction == dump.FromProgram {
		path = slices.Clone(path)
		slices.Reverse(path)
	}
	var text strings.Builder
	for i, frame := range path[:min(len(path), most)] {
		if i > 0 {
			text.WriteString(" < ")
		}
		text.WriteString(t.names.frame(frame).name)
	}
	if len(path) > most {
		text.WriteString(" < ...")
	}
	*w = nodeWay{forest, t.node, text.String()}
}

// nodeBlocks are the largest live blocks of a node's stacks.
type nodeBlocks struct {
	space  *dumpSpace
	forest *dumpForest
	node   int32
	found  []int32 // in the space, the largest first
}

// mostNodeBlocks is how many blocks of a node are told.
const mostNodeBlocks = 12

// take finds the blocks.
func (b *nodeBlocks) take(space *dumpSpace, forest *dumpForest, node int32) {
	if b.space == space && b.forest == forest && b.node == node {
		return
	}
	b.space, b.forest, b.node, b.found = space, forest, node, b.found[:0]
	for _, number := range space.largest {
		if len(b.found) == mostNodeBlocks {
			return
		}
		if forest.tree.Below(forest.tree.Leaf(space.blocks[number].Stack), node) {
			b.found = append(b.found, number)
		}
	}
}

func (p *dumpScopePane) title(s *scene) (string, string) {
	return p.head.take("Stack", s.dumpMoment()), ""
}

func (*dumpScopePane) keys() keymap.Context { return keymap.List }

func (*dumpScopePane) do(keymap.Action, *scene) bool { return false }

func (*dumpScopePane) prepare(s *scene) { spaceOf(s) }

func (p *dumpScopePane) forget() { p.way, p.blocks = nodeWay{}, nodeBlocks{} }

func (p *dumpScopePane) draw(r grid.Region, s *scene, _ bool) {
	forest := p.stacks.rows.forest
	if s.dumpMoment().index == nil || forest == nil {
		nothing(r, "The stack that is selected among the stacks fills this.")
		return
	}
	p.drawHead(r.Row(0))
	r = r.Sub(0, 1, r.Width(), r.Height()-1)
	if r.Width() < shortScope {
		p.drawShort(r.Row(0))
		r = r.Sub(0, 1, r.Width(), r.Height()-1)
	}
	f := &p.flow
	f.begin(r)
	p.writeNumbers()
	f.line()
	if p.way.take(p.stacks); len(p.stacks.path) > 1 {
		f.text("stack", grid.Of(themes.Text), p.way.text)
		f.line()
	}
	p.writeBlocks(s, forest)
}

// drawHead writes the node's frame, and how many stacks go through it.
func (p *dumpScopePane) drawHead(r grid.Region) {
	forest := p.stacks.rows.forest
	name := p.stacks.names.frame(forest.tree.Frame[p.stacks.node])
	stacks := forest.stackCount(p.stacks.node)
	p.label = append(grid.AppendCount(p.label[:0], int64(stacks)), " stacks"...)
	width := len(p.label)
	if stacks < 2 || width > r.Width()/3 {
		width = 0
	} else {
		r.Sub(r.Width()-width, 0, width, 1).Bytes(0, 0, grid.Of(themes.Dim), p.label)
	}
	pen := r.Sub(0, 0, max(r.Width()-width-1, 0), 1).Pen(0, 0)
	pen.Text(grid.Of(themes.Accent).With(themes.Bold), name.name)
	pen.Skip(2)
	if left := pen.Left(); left < grid.Width(name.place) {
		pen.Text(grid.Of(themes.Text), name.short)
	} else {
		pen.Text(grid.Of(themes.Text), name.place)
	}
}

// drawShort writes the four numbers without their counts.
func (p *dumpScopePane) drawShort(r grid.Region) {
	pen := r.Pen(0, 0)
	for number, name := range shortStackTitles {
		bytes, _ := p.stacks.numbers(p.stacks.node, number)
		pen.Text(grid.Of(themes.Dim), name)
		pen.Skip(1)
		pen.Short(grid.Of(stackRoles[number]), bytes, 0)
		pen.Skip(1)
	}
}

// writeNumbers writes the four numbers, each with its count.
func (p *dumpScopePane) writeNumbers() {
	f := &p.flow
	for number, name := range numberNames {
		bytes, count := p.stacks.numbers(p.stacks.node, number)
		f.bytesIn(name, grid.Of(stackRoles[number]), bytes, count)
	}
	if weights := p.stacks.weights[weightLive]; weights != nil && p.stacks.rows.forest.below(p.stacks.node) > 0 {
		if bytes, count := weights.Self(p.stacks.node); count > 0 {
			f.bytesIn("live of stacks that end here", grid.Of(themes.Live), bytes, count)
		}
	}
}

// writeBlocks writes the largest live blocks, as many as fit.
func (p *dumpScopePane) writeBlocks(s *scene, forest *dumpForest) {
	f := &p.flow
	if f.full() {
		return
	}
	space, why := spaceOf(s)
	if space == nil {
		f.text("blocks", grid.Of(themes.Dim), why)
		return
	}
	if space.index != forest.question.index {
		return
	}
	p.blocks.take(space, forest, p.stacks.node)
	label := "largest blocks"
	for _, number := range p.blocks.found {
		if f.full() {
			return
		}
		block := &space.blocks[number]
		p.label = grid.AppendBytes(p.label[:0], block.Bytes)
		p.label = append(p.label, " at "...)
		p.label = appendAddress(p.label, block.Address)
		if block.Alloc >= 0 {
			p.label = append(p.label, " of event "...)
			p.label = grid.AppendCount(p.label, int64(block.Alloc))
		}
		if block.State == recorder.DumpPendingFree {
			p.label = append(p.label, ", pending"...)
		}
		f.made(label, grid.Of(themes.Text), p.label)
		label = ""
	}
	if len(p.blocks.found) == 0 {
		f.text("blocks", grid.Of(themes.Dim), "none of its stacks holds one "+momentText(s.dumpMoment()))
	}
}

// details are all frames on the way to the node, and its numbers to the byte.
func (p *dumpScopePane) details(s *scene) (string, []string) {
	t := p.stacks
	if s.dumpMoment().index == nil || t.rows.forest == nil {
		return "", nil
	}
	var lines []string
	for number, name := range numberNames {
		bytes, count := t.numbers(t.node, number)
		lines = append(lines, fmt.Sprintf("%s  %s in %s", name, grid.AppendExact(nil, bytes), grid.AppendCount(nil, count)))
	}
	lines = append(lines, "frames, from the one that was selected outwards:")
	if t.rows.forest.question.direction == dump.FromAllocator {
		lines[len(lines)-1] = "frames, from the allocator up to the one that was selected:"
	}
	path := t.path[max(len(t.path)-maximumFrames, 0):]
	for at := range path {
		frame := path[at]
		if t.rows.forest.question.direction == dump.FromProgram {
			frame = path[len(path)-1-at]
		}
		name := t.names.frame(frame)
		lines = append(lines, "  "+name.name+"  "+name.place)
	}
	if space, _ := spaceOf(s); space != nil && space.index == t.rows.forest.question.index {
		p.blocks.take(space, t.rows.forest, t.node)
		for _, number := range p.blocks.found {
			lines = append(lines, dumpBlockText(&space.blocks[number]))
		}
	}
	return "Stack", lines
}

func (p *dumpScopePane) origins(s *scene) []origin {
	if s.dumpMoment().index == nil || p.stacks.rows.forest == nil {
		return nil
	}
	return p.stacks.origins(s)
}

// dumpMomentTitle is a title that says which moment is looked at, made once.
type dumpMomentTitle struct {
	of   dumpMoment
	text string
}

func (t *dumpMomentTitle) take(name string, m dumpMoment) string {
	if m.index == nil {
		return name
	}
	if t.of != m {
		t.of = m
		t.text = name + ", " + momentText(m)
		if n := m.device().Events.Len(); n > 0 && m.moment != dump.AtEnd {
			t.text += " of " + string(grid.AppendCount(nil, int64(n)))
		}
		if len(m.index.Devices) > 1 {
			t.text += " of " + m.device().Name()
		}
	}
	return t.text
}

var (
	_ detailer   = (*dumpScopePane)(nil)
	_ originator = (*dumpScopePane)(nil)
	_ preparer   = (*dumpScopePane)(nil)
)
