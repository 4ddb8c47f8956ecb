package model

// CellsFrom is n cells of cellBytes each from an offset of the segment on,
// appended to into: a part of the map that Cells draws whole, at any scale.
// What lies outside the segment holds nothing. It costs one look at each block
// that lies there, and allocates nothing when into has room. Bytes.
func (s *Segment) CellsFrom(into []Cell, offset, cellBytes int64, n int) []Cell {
	if n <= 0 {
		return into
	}
	into = appendCells(into, n)
	if offset < 0 || cellBytes <= 0 || offset >= s.Bytes {
		return into
	}
	part := cellRange{cells: into[len(into)-n:], offset: offset, cellBytes: cellBytes, end: s.Bytes}
	if cellBytes <= (s.Bytes-offset)/int64(n) {
		part.end = offset + cellBytes*int64(n)
	}
	leaf, at := s.search(s.Address + uint64(offset))
	for ; leaf >= 0 && leaf < len(s.leaves); leaf, at = leaf+1, 0 {
		blocks := s.leaves[leaf].blocks
		for i := at; i < len(blocks); i++ {
			begin := int64(blocks[i].Address - s.Address)
			if begin >= part.end {
				return into
			}
			part.paint(begin, &blocks[i])
		}
	}
	return into
}

// cellRange is a part of a segment while blocks are painted into it.
type cellRange struct {
	cells             []Cell
	offset, cellBytes int64
	end               int64 // of the part, an offset of the segment
}

// paint adds a block that begins at an offset of the segment to the cells that
// it reaches into.
func (p *cellRange) paint(begin int64, block *Block) {
	end := min(begin+block.Bytes, p.end)
	if begin >= p.offset {
		p.cells[(begin-p.offset)/p.cellBytes].Blocks++
	}
	for at := max(begin, p.offset); at < end; {
		cell := (at - p.offset) / p.cellBytes
		upper := end
		if rest := p.cellBytes - (at-p.offset)%p.cellBytes; rest < end-at {
			upper = at + rest
		}
		p.cells[cell].add(block, upper-at)
		at = upper
	}
}

// add counts bytes of a block that lie in the cell.
func (c *Cell) add(block *Block, bytes int64) {
	if c.Live+c.Free == 0 {
		c.Stream = block.Stream
	}
	c.Mixed = c.Mixed || c.Stream != block.Stream
	if block.Live {
		c.Live += bytes
	} else {
		c.Free += bytes
	}
	c.Largest = max(c.Largest, block.Bytes)
	c.Newest = max(c.Newest, block.Since)
}
