package ui

import (
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// dumpBlockCursor is the block of a dump's map that somebody stands on.
type dumpBlockCursor struct {
	space   *dumpSpace
	block   int // its place in the space
	segment int // that it is in
}

// find stands on the block that holds the address that is looked at, or the
// first one.
func (c *dumpBlockCursor) find(s *scene, space *dumpSpace) {
	c.space = space
	c.stand(space.find(s.choices.dump.address))
}

func (c *dumpBlockCursor) stand(block int) {
	c.block, c.segment = block, c.space.segmentOf(block)
}

func (c *dumpBlockCursor) at() *dump.Block { return &c.space.blocks[c.block] }

// choose shares the block, and who allocated it, with the other panes.
func (c *dumpBlockCursor) choose(s *scene) {
	block := c.at()
	s.choices.dump.address = block.Address
	if block.State != recorder.DumpInactive {
		s.choices.dump.stack = block.Stack
	}
}

// goTo stands on the block that holds an address.
func (c *dumpBlockCursor) goTo(address uint64) { c.stand(c.space.find(address)) }

// do moves by an action; page is how many rows can be seen.
func (c *dumpBlockCursor) do(action keymap.Action, b *blockSheet, page int) bool {
	last := len(c.space.segments) - 1
	switch action {
	case keymap.Left:
		c.stand(max(c.block-1, 0))
	case keymap.Right:
		c.stand(min(c.block+1, len(c.space.blocks)-1))
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
		c.stand(0)
	case keymap.Bottom:
		c.stand(len(c.space.blocks) - 1)
	case keymap.NextSegment:
		c.stand(c.space.segments[min(c.segment+1, last)].First)
	case keymap.PreviousSegment:
		c.stand(c.space.segments[max(c.segment-1, 0)].First)
	default:
		return false
	}
	return true
}

// down stands on the block below this one in the sheet, past its end; up on the
// one above its beginning.
func (c *dumpBlockCursor) down(b *blockSheet) {
	block := c.at()
	end := block.Address + uint64(block.Bytes) - 1
	c.enter(b, b.rowOf(c.segment, end)+1, c.column(b))
}

func (c *dumpBlockCursor) up(b *blockSheet) {
	c.enter(b, b.rowOf(c.segment, c.at().Address)-1, c.column(b))
}

// column is the column of the sheet in which the block begins.
func (c *dumpBlockCursor) column(b *blockSheet) int {
	return int(b.cellOf(c.segment, c.at().Address) % int64(b.width))
}

// enter stands on what lies at a place of the sheet, or at the end of its row
// where that is shorter.
func (c *dumpBlockCursor) enter(b *blockSheet, row, column int) {
	if row < 0 {
		c.stand(0)
		return
	}
	if row >= b.rows {
		c.stand(len(c.space.blocks) - 1)
		return
	}
	if _, address, ok := b.addressAt(row, column); ok {
		c.goTo(address)
		return
	}
	segment := &c.space.segments[b.segmentAtRow(row)]
	c.stand(segment.First + segment.Count - 1)
}

// draw tells of the block in one row or two.
func (c *dumpBlockCursor) draw(r grid.Region, s *scene) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	block := c.at()
	var room [20]byte
	pen := r.Pen(0, 0)
	pen.Skip(r.Bytes(0, 0, text, appendAddress(room[:0], block.Address)))
	pen.Skip(1)
	c.drawState(&pen)
	pen.Skip(1)
	pen.Bytes(text, block.Bytes, 0)
	if block.State == recorder.DumpInactive {
		names := s.dumps.names.of(c.space.index)
		segment := &c.space.segments[c.segment]
		pen.Text(dim, " for pool ")
		pen.Text(text, names.pool(segment.Pool))
		pen.Text(dim, " stream ")
		pen.Text(text, names.stream(segment.Stream))
		return
	}
	pen.Text(dim, " asked ")
	pen.Bytes(text, block.Requested, 0)
	pen.Text(dim, " since ")
	if block.Alloc >= 0 {
		pen.Text(dim, "event ")
		pen.Count(text, int64(block.Alloc), 0)
	} else {
		pen.Text(text, "before the recording")
	}
	if block.Free != dump.NotFreed && c.space.moment != dump.AtEnd {
		pen.Text(dim, " until ")
		pen.Count(text, int64(block.Free), 0)
	}
	if r.Height() > 1 {
		pen = r.Pen(0, 1)
		pen.Text(dim, "by ")
	} else {
		pen.Text(dim, " by ")
	}
	name := s.dumps.names.of(c.space.index).frame(s.dumps.names.stack(block.Stack))
	pen.Text(text, name.name)
	pen.Skip(1)
	pen.Text(dim, name.short)
}

// drawState writes what has become of the block.
func (c *dumpBlockCursor) drawState(pen *grid.Pen) {
	switch c.at().State {
	case recorder.DumpActive:
		pen.Text(grid.Of(themes.Allocated).With(themes.Bold), "live")
	case recorder.DumpPendingFree:
		pen.Text(grid.Of(themes.Pending).With(themes.Bold), "pending")
	default:
		pen.Text(grid.Of(themes.Free).With(themes.Bold), "free")
	}
}

// dumpBlockText is a block in one line.
func dumpBlockText(block *dump.Block) string {
	text := string(appendAddress(nil, block.Address))
	switch block.State {
	case recorder.DumpActive:
		text += " live "
	case recorder.DumpPendingFree:
		text += " pending "
	default:
		return text + " free " + string(grid.AppendExact(nil, block.Bytes))
	}
	text += string(grid.AppendExact(nil, block.Bytes)) + ", asked " + string(grid.AppendExact(nil, block.Requested))
	if block.Alloc >= 0 {
		text += ", since event " + string(grid.AppendCount(nil, int64(block.Alloc)))
	}
	if block.Free != dump.NotFreed {
		text += " until event " + string(grid.AppendCount(nil, int64(block.Free)))
	}
	return text
}

// details is everything that is known of the block.
func (c *dumpBlockCursor) details(s *scene) []string {
	block, segment := c.at(), &c.space.segments[c.segment]
	names := s.dumps.names.of(c.space.index)
	lines := []string{dumpBlockText(block),
		"in the segment at " + string(appendAddress(nil, segment.Address)) + " of " + string(grid.AppendExact(nil, segment.Bytes)) +
			", " + string(grid.AppendExact(nil, int64(block.Address-segment.Address))) + " from its beginning",
		"pool " + names.pool(segment.Pool) + ", stream " + names.stream(segment.Stream) + ", " + kindOf(segment)}
	if block.State == recorder.DumpInactive {
		return append(lines, "A free block serves requests of its own pool, stream and size class alone.")
	}
	if waste := block.Bytes - block.Requested; waste > 0 {
		lines = append(lines, "Rounding takes "+string(grid.AppendExact(nil, waste))+".")
	}
	if block.State == recorder.DumpPendingFree {
		lines = append(lines, "The program has freed it; another stream still uses it.")
	}
	lines = append(lines, "allocated by, innermost first:")
	return append(lines, names.lines(block.Stack)...)
}
