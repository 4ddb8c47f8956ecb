package ui

import (
	"sort"
	"strconv"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// blockCursor is the block of a pool that somebody stands on.
type blockCursor struct {
	segments []*model.Segment
	segment  int // its place
	block    model.Block
}

// find finds the block that is chosen, or the first one of the segment that is.
// The pool has segments.
func (c *blockCursor) find(s *scene, pool *model.PoolView) {
	c.segments = pool.Segments
	if address := s.choices.block; address != 0 {
		at := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].Address > address }) - 1
		if at >= 0 {
			if block, ok := c.segments[at].BlockAt(address); ok {
				c.segment, c.block = at, block
				return
			}
		}
	}
	c.segment = segmentAt(pool, s.choices.segment)
	c.block, _ = c.segments[c.segment].BlockAt(c.segments[c.segment].Address)
}

// choose shares the block with the other panes.
func (c *blockCursor) choose(s *scene) {
	s.choices.segment, s.choices.block = c.segments[c.segment].Address, c.block.Address
}

// goTo stands on the block that holds an address of a segment.
func (c *blockCursor) goTo(segments []*model.Segment, segment int, address uint64) {
	if block, ok := segments[segment].BlockAt(address); ok {
		c.segments, c.segment, c.block = segments, segment, block
	}
}

// do moves by an action; page is how many rows can be seen.
func (c *blockCursor) do(action keymap.Action, b *blockSheet, page int) bool {
	switch action {
	case keymap.Left:
		c.previous()
	case keymap.Right:
		c.next()
	case keymap.Up:
		c.up(b)
	case keymap.Down:
		c.down(b)
	case keymap.PageUp:
		for range max(page, 1) {
			c.up(b)
		}
	case keymap.PageDown:
		for range max(page, 1) {
			c.down(b)
		}
	case keymap.Top:
		c.enter(0)
	case keymap.Bottom:
		c.leave(len(c.segments) - 1)
	case keymap.NextSegment:
		c.enter(min(c.segment+1, len(c.segments)-1))
	case keymap.PreviousSegment:
		c.enter(max(c.segment-1, 0))
	default:
		return false
	}
	return true
}

// enter stands on the first block of a segment, leave on its last one.
func (c *blockCursor) enter(segment int) {
	c.goTo(c.segments, segment, c.segments[segment].Address)
}

func (c *blockCursor) leave(segment int) {
	last := c.segments[segment]
	c.goTo(c.segments, segment, last.Address+uint64(last.Bytes-1))
}

func (c *blockCursor) next() {
	if end := c.end(); end-c.segments[c.segment].Address < uint64(c.segments[c.segment].Bytes) {
		c.goTo(c.segments, c.segment, end)
	} else if c.segment+1 < len(c.segments) {
		c.enter(c.segment + 1)
	}
}

func (c *blockCursor) previous() {
	if c.block.Address > c.segments[c.segment].Address {
		c.goTo(c.segments, c.segment, c.block.Address-1)
	} else if c.segment > 0 {
		c.leave(c.segment - 1)
	}
}

// end is the address behind the block.
func (c *blockCursor) end() uint64 { return c.block.Address + uint64(c.block.Bytes) }

// down stands on the block that lies below in the sheet, past the end of this
// one; up on the one above.
func (c *blockCursor) down(b *blockSheet) {
	segment := c.segments[c.segment]
	cell := b.cellOf(c.segment, c.block.Address)
	at := segment.Address + uint64(cell*b.cellBytes)
	rows := (int64(c.end()-at)-1)/b.rowBytes() + 1
	below := at + uint64(rows*b.rowBytes())
	switch {
	case below-segment.Address < uint64(segment.Bytes):
		c.goTo(c.segments, c.segment, below)
	case c.end()-segment.Address < uint64(segment.Bytes): // the last row is shorter
		c.leave(c.segment)
	case c.segment+1 < len(c.segments):
		c.goToColumn(b, c.segment+1, 0, cell%int64(b.width))
	}
}

func (c *blockCursor) up(b *blockSheet) {
	cell := b.cellOf(c.segment, c.block.Address)
	if cell >= int64(b.width) {
		c.goTo(c.segments, c.segment, c.segments[c.segment].Address+uint64((cell-int64(b.width))*b.cellBytes))
		return
	}
	if c.segment == 0 {
		c.enter(0)
		return
	}
	above := c.segments[c.segment-1]
	lastRow := (above.Bytes - 1) / b.cellBytes / int64(b.width)
	c.goToColumn(b, c.segment-1, lastRow, cell)
}

// goToColumn stands on the block at a column of a segment's row, or at the
// segment's end where the row is shorter.
func (c *blockCursor) goToColumn(b *blockSheet, segment int, row, column int64) {
	target := c.segments[segment]
	offset := min((row*int64(b.width)+column)*b.cellBytes, target.Bytes-1)
	c.goTo(c.segments, segment, target.Address+uint64(offset))
}

// drawBlock tells of the block in a row.
func (c *blockCursor) drawBlock(r grid.Region, s *scene) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	block := &c.block
	var room [20]byte
	pen := r.Pen(0, 0)
	pen.Skip(r.Bytes(0, 0, text, appendAddress(room[:0], block.Address)))
	if block.Live {
		pen.Text(grid.Of(themes.Allocated).With(themes.Bold), " live ")
	} else {
		pen.Text(grid.Of(themes.Free).With(themes.Bold), " free ")
	}
	pen.Bytes(text, block.Bytes, 0)
	pen.Text(dim, " stream ")
	pen.Count(text, int64(block.Stream), 0)
	pen.Text(dim, " for ")
	pen.Duration(text, ageOf(block, s.moment), 0)
	if block.Live {
		pen.Text(dim, " asked ")
		pen.Bytes(text, grid.Known(block.Requested, block.Requested > 0), 0)
	}
}

// ageOf is how long a block has been what it is, in ns; missing where it was not
// seen to become so.
func ageOf(block *model.Block, now int64) int64 {
	if block.Since <= 0 || now < block.Since {
		return grid.Missing
	}
	return now - block.Since
}

// blockText is a block in one line, for the clipboard.
func blockText(block *model.Block) string {
	text := string(appendAddress(nil, block.Address))
	if block.Live {
		text += " live "
	} else {
		text += " free "
	}
	text += string(grid.AppendExact(nil, block.Bytes))
	if block.Live && block.Requested > 0 {
		text += ", asked " + string(grid.AppendExact(nil, block.Requested))
	}
	return text + ", stream " + strconv.FormatUint(uint64(block.Stream), 10)
}

// blockDetails is everything that is known of a block.
func blockDetails(block *model.Block, segment *model.Segment, s *scene) []string {
	lines := []string{blockText(block),
		"in the segment at " + string(appendAddress(nil, segment.Address)) + " of " + string(grid.AppendExact(nil, segment.Bytes)) +
			", " + string(grid.AppendExact(nil, int64(block.Address-segment.Address))) + " from its beginning"}
	switch age := ageOf(block, s.moment); {
	case age == grid.Missing:
		lines = append(lines, "It was there before anybody watched: since when is not known.")
	case block.Live:
		lines = append(lines, "It was handed out "+string(grid.AppendDuration(nil, age))+" ago"+frameOf(s, block.Since)+".")
	default:
		lines = append(lines, "It has been as it is for "+string(grid.AppendDuration(nil, age))+frameOf(s, block.Since)+".")
	}
	if block.Live && block.Requested > 0 && block.Bytes > block.Requested {
		lines = append(lines, "Rounding takes "+string(grid.AppendExact(nil, block.Bytes-block.Requested))+".")
	}
	if !block.Live {
		lines = append(lines, "A free block serves its own stream first.")
	}
	return lines
}

// frameOf says in which frame a moment lies, where that is known.
func frameOf(s *scene, ns int64) string {
	if frame := s.newest.FrameAt(ns); frame >= 0 {
		return ", in frame " + string(grid.AppendCount(nil, frame))
	}
	return ""
}
