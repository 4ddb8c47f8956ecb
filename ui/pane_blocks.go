package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// blocksPane is the pool's segments as a map of addresses that one can walk: the
// block under the cursor is told below it. Colours say how long ago something
// changed, or only what is live.
type blocksPane struct {
	sheet  blockSheet
	cursor blockCursor
	zoom   int
	offset int  // the first row of the sheet that is shown
	byLive bool // colours say what is live, not for how long
	cells  []model.Cell
	drawn  []widget.BlockCell
	place  mapPlace
	note   blocksNote
}

// mapPlace is where the map was drawn last, for clicks.
type mapPlace struct{ gutter, height int }

// blocksNote is the note on the frame, and what it was made of.
type blocksNote struct {
	text          string
	segment, all  int
	zoom          int
	byLive, known bool
}

func (p *blocksPane) title(s *scene) (string, string) {
	pool, _ := blocksOf(s)
	if pool == nil {
		return "Blocks", ""
	}
	p.cursor.find(s, pool)
	n := &p.note
	if !n.known || n.segment != p.cursor.segment || n.all != len(pool.Segments) || n.zoom != p.zoom || n.byLive != p.byLive {
		*n = blocksNote{segment: p.cursor.segment, all: len(pool.Segments), zoom: p.zoom, byLive: p.byLive, known: true}
		n.text = "segment " + string(grid.AppendCount(nil, int64(n.segment)+1)) + " of " + string(grid.AppendCount(nil, int64(n.all)))
		if n.zoom > 0 {
			n.text += ", zoom " + string(grid.AppendCount(nil, 1<<n.zoom)) + "x"
		}
		if n.byLive {
			n.text += ", by use"
		} else {
			n.text += ", by age"
		}
	}
	return "Blocks", n.text
}

func (*blocksPane) keys() keymap.Context { return keymap.BlockMap }

func (p *blocksPane) draw(r grid.Region, s *scene, focused bool) {
	pool, why := blocksOf(s)
	if pool == nil {
		nothing(r, why)
		return
	}
	height := r.Height()
	if height <= 0 {
		return
	}
	p.cursor.find(s, pool)
	p.place = mapPlace{gutter: gutterOf(r.Width()), height: height}
	if height >= 2 {
		p.place.height--
		p.cursor.drawBlock(r.Row(height-1), s)
	}
	if height >= 6 {
		p.place.height--
		p.drawLegend(r.Row(height - 2))
	}
	p.sheet.arrange(pool.Segments, r.Width()-p.place.gutter-1, p.place.height, p.zoom)
	p.offset = widget.ScrollTo(p.offset, p.sheet.rowOf(p.cursor.segment, p.cursor.block.Address), p.place.height, p.sheet.rows)
	p.drawMap(r.Sub(0, 0, r.Width(), p.place.height), s, focused)
}

// gutterOf is how many columns stand in front of the map for the segments'
// sizes, and where there is room for their addresses.
func gutterOf(width int) int {
	switch {
	case width >= 100:
		return addressWidth + 1 + sizeWidth
	case width >= 50:
		return sizeWidth
	}
	return 0
}

// Columns of an address and of a short size.
const (
	addressWidth = 15
	sizeWidth    = 5
)

// drawMap draws the rows that can be seen, segment by segment.
func (p *blocksPane) drawMap(r grid.Region, s *scene, focused bool) {
	end := min(p.offset+r.Height(), p.sheet.rows)
	for row := p.offset; row < end; {
		segment := p.sheet.segmentAtRow(row)
		next := p.sheet.rows
		if segment+1 < len(p.sheet.starts) {
			next = p.sheet.starts[segment+1]
		}
		rows := min(next, end) - row
		p.drawSegment(r.Sub(0, row-p.offset, r.Width(), rows), s, segment, row-p.sheet.starts[segment], focused)
		row += rows
	}
}

// drawSegment draws the rows of a segment from one of them on.
func (p *blocksPane) drawSegment(r grid.Region, s *scene, segment, from int, focused bool) {
	b, width := &p.sheet, p.sheet.width
	shown := b.segments[segment]
	first := int64(from) * int64(width)
	cells := int(min((shown.Bytes-1)/b.cellBytes+1-first, int64(width*r.Height())))
	p.cells = shown.CellsFrom(p.cells[:0], first*b.cellBytes, b.cellBytes, cells)
	p.drawn = p.drawn[:0]
	for i := range p.cells {
		cell := &p.cells[i]
		p.drawn = append(p.drawn, widget.BlockCell{Live: cell.Live, Free: cell.Free, Step: p.step(cell, s.moment)})
	}
	here := segment == p.cursor.segment
	drawn := widget.BlockMap{Cells: p.drawn, Cursor: -1, Releasable: isReleasable(shown)}
	at := b.cellOf(p.cursor.segment, p.cursor.block.Address) - first
	if here && at >= 0 && at < int64(len(p.drawn)) {
		drawn.Cursor = int(at)
	}
	drawSegmentLabel(r, p.place.gutter, shown.Address, shown.Bytes, here, from == 0)
	part := r.Sub(p.place.gutter, 0, r.Width()-p.place.gutter, r.Height())
	drawn.Draw(part)
	if here && focused {
		last := at + (p.cursor.block.Bytes-1)/b.cellBytes
		for i := max(at+1, 0); i <= min(last, int64(len(p.drawn)-1)); i++ {
			x, y := 1+int(i)%width, int(i)/width
			_, style := part.Get(x, y)
			part.Restyle(x, y, style.With(themes.Underline))
		}
	}
}

// step is the colour of a cell: how long ago something in it changed.
func (p *blocksPane) step(cell *model.Cell, now int64) int {
	if p.byLive || cell.Newest <= 0 {
		return widget.NoStep
	}
	age := now - cell.Newest
	for step, limit := range ageSteps {
		if age < limit {
			return step
		}
	}
	return len(ageSteps)
}

// ageSteps are the ages, in ns, from which on the next colour is taken.
var ageSteps = [themes.RampSteps - 1]int64{1e8, 5e8, 2e9, 1e10, 6e10, 3e11, 18e11}

// drawSegmentLabel names a segment in the gutter in front of its first row, as
// far as the gutter is wide.
func drawSegmentLabel(r grid.Region, gutter int, address uint64, bytes int64, here, first bool) {
	if gutter == 0 || !first {
		return
	}
	style := grid.Of(themes.Dim)
	if here {
		style = grid.Of(themes.Accent)
	}
	x := 0
	if gutter > sizeWidth {
		fitAddress(r.Sub(0, 0, addressWidth, 1), style, address)
		x = addressWidth + 1
	}
	pen := r.Pen(x, 0)
	pen.Short(style, bytes, sizeWidth)
}

func (p *blocksPane) drawLegend(r grid.Region) {
	dim := grid.Of(themes.Dim)
	x := widget.BlockLegend(r, p.place.gutter+1, 0) + p.place.gutter + 1
	pen := r.Pen(x, 0)
	if p.byLive || pen.Left() < 21 {
		return
	}
	pen.Text(dim, "new ")
	for step := range themes.RampSteps {
		pen.Rune(grid.Step(themes.Age, step), r.Glyphs().BlockFull)
	}
	pen.Text(dim, " long held")
}

func (p *blocksPane) do(action keymap.Action, s *scene) bool {
	pool, _ := blocksOf(s)
	if pool == nil {
		return false
	}
	p.cursor.find(s, pool)
	switch action {
	case keymap.ZoomIn:
		p.zoom = min(p.zoom+1, p.sheet.deepest())
	case keymap.ZoomOut:
		p.zoom = max(p.zoom-1, 0)
	case keymap.ZoomAll:
		p.zoom = 0
	case keymap.SortByAge:
		p.byLive = false
	case keymap.SortByLive, keymap.SortBySize, keymap.SortByTotal:
		p.byLive = true
	case keymap.ReverseSort:
		p.byLive = !p.byLive
	default:
		p.sheet.arrange(pool.Segments, p.sheet.width, p.sheet.height, p.zoom)
		if !p.cursor.do(action, &p.sheet, p.place.height) {
			return false
		}
		p.cursor.choose(s)
	}
	return true
}

func (p *blocksPane) click(x, y, _, _ int, s *scene) {
	pool, _ := blocksOf(s)
	if pool == nil || y >= p.place.height || p.sheet.width <= 0 {
		return
	}
	p.sheet.arrange(pool.Segments, p.sheet.width, p.sheet.height, p.zoom)
	if segment, address, ok := p.sheet.addressAt(p.offset+y, x-p.place.gutter-1); ok {
		p.cursor.goTo(pool.Segments, segment, address)
		p.cursor.choose(s)
	}
}

func (p *blocksPane) selectedText(s *scene) string {
	pool, _ := blocksOf(s)
	if pool == nil {
		return ""
	}
	p.cursor.find(s, pool)
	return blockText(&p.cursor.block)
}

func (p *blocksPane) details(s *scene) (string, []string) {
	pool, _ := blocksOf(s)
	if pool == nil {
		return "", nil
	}
	p.cursor.find(s, pool)
	return "Block", blockDetails(&p.cursor.block, pool.Segments[p.cursor.segment], s)
}
