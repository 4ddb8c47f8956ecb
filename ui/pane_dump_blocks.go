package ui

import (
	"math/bits"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpBlocksPane is the address space of a dump's allocator at the moment that is
// looked at, as a map that can be walked: the block under the cursor is told
// below it, with its stack. Colours say how long a block has been held, whose it
// is, or only what is in use.
type dumpBlocksPane struct {
	sheet  blockSheet
	cursor dumpBlockCursor
	zoom   int
	offset int // the first row of the sheet that is shown
	colour blockColour
	drawn  []widget.BlockCell
	marks  []grid.Style // of the cells, where colours say whose a block is
	place  mapPlace
	note   dumpBlocksNote
}

// blockColour is what the colours of the map say.
type blockColour uint8

const (
	colourAge blockColour = iota
	colourStack
	colourUse
)

var blockColours = [...]string{colourAge: "by age", colourStack: "by stack", colourUse: "by use"}

// dumpBlocksNote is the note on the frame, and what it was made of.
type dumpBlocksNote struct {
	text         string
	segment, all int
	zoom         int
	colour       blockColour
}

func (p *dumpBlocksPane) title(s *scene) (string, string) {
	space, _ := spaceOf(s)
	if space == nil {
		return "Blocks", ""
	}
	p.cursor.find(s, space)
	n := dumpBlocksNote{segment: p.cursor.segment, all: len(space.segments), zoom: p.zoom, colour: p.colour, text: p.note.text}
	if n != p.note || n.text == "" {
		n.text = "segment " + string(grid.AppendCount(nil, int64(n.segment)+1)) + " of " + string(grid.AppendCount(nil, int64(n.all)))
		if n.zoom > 0 {
			n.text += ", zoom " + string(grid.AppendCount(nil, 1<<n.zoom)) + "x"
		}
		n.text += ", " + blockColours[n.colour]
		p.note = n
	}
	return "Blocks", n.text
}

func (*dumpBlocksPane) keys() keymap.Context { return keymap.BlockMap }

func (*dumpBlocksPane) prepare(s *scene) { spaceOf(s) }

func (p *dumpBlocksPane) forget() {
	p.sheet, p.cursor, p.zoom, p.offset = blockSheet{}, dumpBlockCursor{}, 0, 0
}

func (p *dumpBlocksPane) draw(r grid.Region, s *scene, focused bool) {
	space, why := spaceOf(s)
	if space == nil {
		nothing(r, why)
		return
	}
	height := r.Height()
	if height <= 0 {
		return
	}
	p.cursor.find(s, space)
	p.place = mapPlace{gutter: gutterOf(r.Width()), height: height}
	if height >= 2 {
		rows := 1
		if height >= 8 && r.Width() < twoRowBlock {
			rows = 2
		}
		p.place.height -= rows
		p.cursor.draw(r.Sub(0, height-rows, r.Width(), rows), s)
		height -= rows
	}
	if height >= 5 {
		p.place.height--
		p.drawLegend(r.Row(height - 1))
	}
	p.sheet.arrange(space.starts, r.Width()-p.place.gutter-1, p.place.height, p.zoom)
	p.offset = widget.ScrollTo(p.offset, p.sheet.rowOf(p.cursor.segment, p.cursor.at().Address), p.place.height, p.sheet.rows)
	p.drawMap(r.Sub(0, 0, r.Width(), p.place.height), focused)
}

// twoRowBlock is the width under which what is told of a block takes two rows
// where there are enough.
const twoRowBlock = 130

// drawMap draws the rows that can be seen, segment by segment.
func (p *dumpBlocksPane) drawMap(r grid.Region, focused bool) {
	end := min(p.offset+r.Height(), p.sheet.rows)
	for row := p.offset; row < end; {
		segment := p.sheet.segmentAtRow(row)
		next := p.sheet.rows
		if segment+1 < len(p.sheet.starts) {
			next = p.sheet.starts[segment+1]
		}
		rows := min(next, end) - row
		p.drawSegment(r.Sub(0, row-p.offset, r.Width(), rows), segment, row-p.sheet.starts[segment], focused)
		row += rows
	}
}

// drawSegment draws the rows of a segment from one of them on.
func (p *dumpBlocksPane) drawSegment(r grid.Region, segment, from int, focused bool) {
	b, width := &p.sheet, p.sheet.width
	shown := &p.cursor.space.segments[segment]
	first := int64(from) * int64(width)
	cells := int(min((shown.Bytes-1)/b.cellBytes+1-first, int64(width*r.Height())))
	p.paint(shown, first*b.cellBytes, b.cellBytes, cells)
	here := segment == p.cursor.segment
	drawn := widget.BlockMap{Cells: p.drawn, Cursor: -1, Releasable: shown.releasable()}
	at := b.cellOf(p.cursor.segment, p.cursor.at().Address) - first
	if here && at >= 0 && at < int64(len(p.drawn)) {
		drawn.Cursor = int(at)
	}
	drawSegmentLabel(r, p.place.gutter, shown.Address, shown.Bytes, here, from == 0)
	part := r.Sub(p.place.gutter, 0, r.Width()-p.place.gutter, r.Height())
	drawn.Draw(part)
	for i, style := range p.marks {
		if x, y := 1+i%width, i/width; style != 0 && i != drawn.Cursor {
			part.Restyle(x, y, style)
		}
	}
	if here && focused {
		last := at + (p.cursor.at().Bytes-1)/b.cellBytes
		for i := max(at+1, 0); i <= min(last, int64(len(p.drawn)-1)); i++ {
			x, y := 1+int(i)%width, int(i)/width
			_, style := part.Get(x, y)
			part.Restyle(x, y, style.With(themes.Underline))
		}
	}
}

// paint fills the cells of a segment from an offset on.
func (p *dumpBlocksPane) paint(segment *dumpSegment, offset, cellBytes int64, cells int) {
	p.drawn, p.marks = p.drawn[:0], p.marks[:0]
	for range cells {
		p.drawn = append(p.drawn, widget.BlockCell{Step: widget.NoStep})
		p.marks = append(p.marks, 0)
	}
	if cells == 0 {
		return
	}
	from := segment.Address + uint64(offset)
	end := segment.Address + min(uint64(offset+int64(cells)*cellBytes), uint64(segment.Bytes))
	space := p.cursor.space
	for number := max(space.find(from), segment.First); number < segment.First+segment.Count; number++ {
		block := &space.blocks[number]
		if block.Address >= end {
			return
		}
		p.paintBlock(block, from, end, cellBytes)
	}
}

// paintBlock fills the cells between two addresses that a block lies in.
func (p *dumpBlocksPane) paintBlock(block *dump.Block, from, end uint64, cellBytes int64) {
	low, high := max(block.Address, from), min(block.Address+uint64(block.Bytes), end)
	for low < high {
		i := int64(low-from) / cellBytes
		part := min(int64(high-low), (i+1)*cellBytes-int64(low-from))
		low += uint64(part)
		cell := &p.drawn[i]
		switch block.State {
		case recorder.DumpActive:
			cell.Live += part
		case recorder.DumpPendingFree:
			cell.Pending += part
		default:
			cell.Free += part
			continue
		}
		switch p.colour {
		case colourAge: // the newest block in a cell is its colour
			if step := p.age(block); cell.Step == widget.NoStep || step < cell.Step {
				cell.Step = step
			}
		case colourStack:
			p.marks[i] = stackColour(block.Stack)
		}
	}
}

// stackColour is one of the colours without a meaning, always the same for a
// stack.
func stackColour(stack int32) grid.Style {
	if stack == dump.BeforeRecording {
		return grid.Of(themes.Dim)
	}
	return grid.Series(int(stack) % themes.SeriesCount)
}

// age is the step of a block's colour: each is twice as many events ago as the
// one before it, and the last one is older than the trace.
func (p *dumpBlocksPane) age(block *dump.Block) int {
	const last = themes.RampSteps - 1
	if block.Alloc < 0 {
		return last
	}
	all := bits.Len(uint(p.cursor.space.device().Events.Len()))
	ago := bits.Len(uint(max(p.cursor.space.event-block.Alloc, 0)))
	return min(ago*last/max(all, 1), last-1)
}

func (p *dumpBlocksPane) drawLegend(r grid.Region) {
	dim := grid.Of(themes.Dim)
	x := widget.BlockLegend(r, p.place.gutter+1, 0) + p.place.gutter + 1
	pen := r.Pen(x, 0)
	switch {
	case p.colour == colourAge && pen.Left() >= 21:
		pen.Text(dim, "new ")
		for step := range themes.RampSteps {
			pen.Rune(grid.Step(themes.Age, step), r.Glyphs().BlockFull)
		}
		pen.Text(dim, " long held")
	case p.colour == colourStack && pen.Left() >= 26:
		pen.Text(dim, "one colour for each stack")
	}
}

func (p *dumpBlocksPane) do(action keymap.Action, s *scene) bool {
	space, _ := spaceOf(s)
	if space == nil {
		return false
	}
	p.cursor.find(s, space)
	switch action {
	case keymap.ZoomIn:
		p.zoom = min(p.zoom+1, p.sheet.deepest())
	case keymap.ZoomOut:
		p.zoom = max(p.zoom-1, 0)
	case keymap.ZoomAll:
		p.zoom = 0
	case keymap.SortByAge:
		p.colour = colourAge
	case keymap.SortByName, keymap.SortByAllocs:
		p.colour = colourStack
	case keymap.SortByLive, keymap.SortBySize, keymap.SortByTotal:
		p.colour = colourUse
	case keymap.ReverseSort:
		p.colour = (p.colour + 1) % blockColour(len(blockColours))
	default:
		p.sheet.arrange(space.starts, p.sheet.width, p.sheet.height, p.zoom)
		if !p.cursor.do(action, &p.sheet, p.place.height) {
			return false
		}
		p.cursor.choose(s)
	}
	return true
}

func (p *dumpBlocksPane) click(x, y, _, _ int, s *scene) {
	space, _ := spaceOf(s)
	if space == nil || y >= p.place.height || p.sheet.width <= 0 {
		return
	}
	p.cursor.find(s, space)
	p.sheet.arrange(space.starts, p.sheet.width, p.sheet.height, p.zoom)
	if _, address, ok := p.sheet.addressAt(p.offset+y, x-p.place.gutter-1); ok {
		p.cursor.goTo(address)
		p.cursor.choose(s)
	}
}

func (p *dumpBlocksPane) selectedText(s *scene) string {
	space, _ := spaceOf(s)
	if space == nil {
		return ""
	}
	p.cursor.find(s, space)
	return dumpBlockText(p.cursor.at()) + " " + space.index.StackName(p.cursor.at().Stack)
}

func (p *dumpBlocksPane) details(s *scene) (string, []string) {
	space, _ := spaceOf(s)
	if space == nil {
		return "", nil
	}
	p.cursor.find(s, space)
	return "Block", p.cursor.details(s)
}

var (
	_ clicker  = (*dumpBlocksPane)(nil)
	_ copier   = (*dumpBlocksPane)(nil)
	_ detailer = (*dumpBlocksPane)(nil)
	_ preparer = (*dumpBlocksPane)(nil)
)
