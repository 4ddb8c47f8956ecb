package model

import (
	"cmp"
	"math/bits"
	"slices"
)

// Cell is a stretch of a segment on a map of a pool: how many of its bytes are
// handed out and how many are free.
type Cell struct {
	Live, Free int64 // bytes
	Blocks     int   // blocks that begin in the cell
	Largest    int64 // bytes of the largest block that reaches into it
	Newest     int64 // monotonic ns of the newest change in it, 0 unknown
	Stream     uint32
	Mixed      bool // blocks of several streams
}

// Cells divides the segment into n cells of equal length, appended to into. It
// costs one look at each block and allocates nothing when into has room.
func (s *Segment) Cells(into []Cell, n int) []Cell {
	if n <= 0 {
		return into
	}
	into = appendCells(into, n)
	cells := into[len(into)-n:]
	for _, leaf := range s.leaves {
		for i := range leaf.blocks {
			s.paint(cells, &leaf.blocks[i])
		}
	}
	return into
}

// paint adds a block to the cells that it reaches into.
func (s *Segment) paint(cells []Cell, block *Block) {
	begin := block.Address - s.Address
	end := begin + uint64(block.Bytes)
	cell := cellOf(begin, s.Bytes, len(cells))
	cells[cell].Blocks++
	for ; cell < len(cells) && begin < end; cell++ {
		upper := min(end, cellStart(cell+1, s.Bytes, len(cells)))
		if upper <= begin {
			continue
		}
		cells[cell].add(block, int64(upper-begin))
		begin = upper
	}
}

// appendCells appends n empty cells, without garbage where into has room.
func appendCells(into []Cell, n int) []Cell {
	into = slices.Grow(into, n)[:len(into)+n]
	clear(into[len(into)-n:])
	return into
}

// cellStart is the offset at which a cell begins; cellOf is the cell that holds
// an offset. The products of offset and cells do not fit 64 bits.
func cellStart(cell int, bytes int64, n int) uint64 {
	high, low := bits.Mul64(uint64(cell), uint64(bytes))
	start, rest := bits.Div64(high, low, uint64(n))
	if rest > 0 {
		start++
	}
	return start
}

func cellOf(offset uint64, bytes int64, n int) int {
	high, low := bits.Mul64(offset, uint64(n))
	cell, _ := bits.Div64(high, low, uint64(bytes))
	return min(int(cell), n-1)
}

// PoolUse is what the blocks of a pool say when they are added up. Bytes.
type PoolUse struct {
	Segments   int
	Reserved   int64 // in segments
	Live       int64 // in blocks handed out, rounded
	LiveBlocks int
	Requested  int64 // as asked by callers; Live − Requested is lost to rounding
	Free       FreeUse
	Releasable int64 // in segments that are wholly free
	Whole      int   // segments that are wholly free
	Streams    []StreamUse
	Sizes      [64]SizeClass // free blocks, by power of two: Sizes[k] holds 2^k to 2^(k+1)−1 bytes

	places map[uint32]int // place in Streams by number
	last   int            // place of the stream asked for last
}

// FreeUse is what lies in free blocks.
type FreeUse struct {
	Bytes   int64
	Blocks  int
	Largest int64 // the largest of them
}

// Fragmentation is 1 − largest free block / free bytes, 0 to 1. It is not ok
// when nothing is free, for then there is nothing to be in pieces.
func (f FreeUse) Fragmentation() (share float64, ok bool) {
	if f.Bytes <= 0 {
		return 0, false
	}
	return 1 - float64(f.Largest)/float64(f.Bytes), true
}

func (f *FreeUse) add(bytes int64) {
	f.Bytes += bytes
	f.Blocks++
	f.Largest = max(f.Largest, bytes)
}

// StreamUse is the share of one stream. A free block serves its own stream
// first.
type StreamUse struct {
	Stream uint32
	Live   int64
	Free   FreeUse
}

// SizeClass is the free blocks of about one size.
type SizeClass struct {
	Blocks int
	Bytes  int64
}

// Use adds the pool's blocks up. It is not ok while the source has not told of
// its blocks. It costs one look at each block.
func (p *PoolView) Use() (use PoolUse, ok bool) {
	if p.Segments == nil || !p.Complete {
		return PoolUse{}, false
	}
	for _, s := range p.Segments {
		use.Segments++
		use.Reserved += s.Bytes
		live := use.LiveBlocks
		for _, leaf := range s.leaves {
			for i := range leaf.blocks {
				use.add(&leaf.blocks[i])
			}
		}
		if use.LiveBlocks == live {
			use.Releasable += s.Bytes
			use.Whole++
		}
	}
	slices.SortFunc(use.Streams, func(a, b StreamUse) int { return cmp.Compare(a.Stream, b.Stream) })
	use.places = nil
	return use, true
}

func (u *PoolUse) add(block *Block) {
	stream := u.stream(block.Stream)
	if block.Live {
		u.Live += block.Bytes
		u.LiveBlocks++
		u.Requested += block.Requested
		stream.Live += block.Bytes
		return
	}
	u.Free.add(block.Bytes)
	stream.Free.add(block.Bytes)
	class := &u.Sizes[bits.Len64(uint64(block.Bytes))-1]
	class.Blocks++
	class.Bytes += block.Bytes
}

func (u *PoolUse) stream(number uint32) *StreamUse {
	if len(u.Streams) > 0 && u.Streams[u.last].Stream == number {
		return &u.Streams[u.last]
	}
	place, ok := u.places[number]
	if !ok {
		if u.places == nil {
			u.places = map[uint32]int{}
		}
		place = len(u.Streams)
		u.places[number] = place
		u.Streams = append(u.Streams, StreamUse{Stream: number})
	}
	u.last = place
	return &u.Streams[place]
}

// LadderRung is one of the failure callback's retries, as the ladder is drawn.
type LadderRung struct {
	Attempt int    // 1 to 5
	Action  string // what this retry does
	Spent   bool   // used up until the cooldown ends
}

// ladderCollections and ladderRungs mirror vibespatial's callback: three
// collections, then two rebuilds (here over live allocations: releases of whole
// free segments).
const (
	ladderCollections = 3
	ladderRungs       = 5
)

// Ladder is the failure callback of the pool, retry by retry, with the ns until
// the retries are granted again. It is not ok when the pool has none or the
// source has not told.
func (p *PoolView) Ladder() (rungs [ladderRungs]LadderRung, cooldown int64, ok bool) {
	ladder := p.State.Ladder
	if ladder == nil {
		return rungs, 0, false
	}
	for i := range rungs {
		rungs[i] = LadderRung{Attempt: i + 1, Action: "collect", Spent: i < ladder.Used}
		if i >= ladderCollections {
			rungs[i].Action = "rebuild"
		}
	}
	return rungs, ladder.CooldownNs, true
}
