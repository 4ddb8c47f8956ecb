package model

import (
	"iter"
	"slices"
	"sort"
)

// Segment is what a pool took from its upstream in one piece. It is immutable.
type Segment struct {
	Address uint64
	Bytes   int64

	leaves []*blockLeaf // in address order, none empty
	count  int          // blocks
	epoch  uint64       // of the table that may still write it
}

// Block is a part of a segment. The blocks of a segment tile it.
type Block struct {
	Address   uint64
	Bytes     int64 // rounded
	Requested int64 // as asked; 0 for a free block
	Since     int64 // monotonic ns of the allocation or free, 0 unknown
	Stream    uint32
	Live      bool
}

// leafLength is how many blocks of a segment are copied at most when one of
// them changes after a snapshot was taken.
const leafLength = 128

// blockLeaf is a short run of neighbouring blocks.
type blockLeaf struct {
	blocks []Block
	epoch  uint64
}

// Len is how many blocks the segment has.
func (s *Segment) Len() int { return s.count }

// Blocks are the blocks in address order.
func (s *Segment) Blocks() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for _, leaf := range s.leaves {
			for _, block := range leaf.blocks {
				if !yield(block) {
					return
				}
			}
		}
	}
}

// BlockAt is the block that holds an address; not ok outside the segment.
func (s *Segment) BlockAt(address uint64) (Block, bool) {
	leaf, at := s.search(address)
	if leaf < 0 {
		return Block{}, false
	}
	return s.leaves[leaf].blocks[at], true
}

// search finds the block that holds an address: its leaf, and its place there.
// leaf is -1 outside the segment.
func (s *Segment) search(address uint64) (leaf, at int) {
	if address < s.Address || address-s.Address >= uint64(s.Bytes) || len(s.leaves) == 0 {
		return -1, 0
	}
	leaf = sort.Search(len(s.leaves), func(i int) bool { return s.leaves[i].blocks[0].Address > address }) - 1
	if leaf < 0 {
		return -1, 0
	}
	blocks := s.leaves[leaf].blocks
	at = sort.Search(len(blocks), func(i int) bool { return blocks[i].Address > address }) - 1
	if block := &blocks[at]; address-block.Address >= uint64(block.Bytes) {
		return -1, 0
	}
	return leaf, at
}

// segmentTable is the segments of one pool while they change. What it published
// stays as it was: a segment or a leaf that a reader may hold is copied before
// it is written.
type segmentTable struct {
	segments []*Segment // in address order
	shared   bool       // segments was published
	epoch    uint64     // what has another epoch was published
}

// publish is the segments as they are now, for readers.
func (t *segmentTable) publish() []*Segment {
	if !t.shared {
		t.shared = true
		t.epoch++
	}
	return t.segments
}

// resume is a table that goes on from what was published.
func resumeSegments(segments []*Segment) segmentTable {
	epoch := uint64(1)
	for _, segment := range segments {
		epoch = max(epoch, segment.epoch+1)
	}
	return segmentTable{segments: segments, shared: true, epoch: epoch}
}

// find is the place of the segment that holds an address; -1 when none does.
func (t *segmentTable) find(address uint64) int {
	i := t.place(address+1) - 1
	if i < 0 || address-t.segments[i].Address >= uint64(t.segments[i].Bytes) {
		return -1
	}
	return i
}

// place is where a segment at that address belongs.
func (t *segmentTable) place(address uint64) int {
	if address == 0 { // address+1 of the last byte there is
		return len(t.segments)
	}
	return sort.Search(len(t.segments), func(i int) bool { return t.segments[i].Address >= address })
}

// unshare makes the row of segments writable.
func (t *segmentTable) unshare() {
	if t.shared {
		t.segments = append(make([]*Segment, 0, len(t.segments)+8), t.segments...)
		t.shared = false
	}
}

// own makes a segment and one leaf of it writable.
func (t *segmentTable) own(segment int) *Segment {
	t.unshare()
	s := t.segments[segment]
	if s.epoch != t.epoch {
		c := *s
		c.leaves = append(make([]*blockLeaf, 0, len(s.leaves)+4), s.leaves...)
		c.epoch = t.epoch
		s = &c
		t.segments[segment] = s
	}
	return s
}

func (t *segmentTable) ownLeaf(s *Segment, leaf int) *blockLeaf {
	l := s.leaves[leaf]
	if l.epoch != t.epoch {
		l = &blockLeaf{blocks: append(make([]Block, 0, leafLength+2), l.blocks...), epoch: t.epoch}
		s.leaves[leaf] = l
	}
	return l
}

// add takes a segment in, as one block that is free; false when it overlaps one
// that is there.
func (t *segmentTable) add(address uint64, bytes int64, blocks ...Block) bool {
	if bytes <= 0 || address+uint64(bytes) < address {
		return false
	}
	i := t.place(address)
	if i > 0 && address-t.segments[i-1].Address < uint64(t.segments[i-1].Bytes) ||
		i < len(t.segments) && t.segments[i].Address-address < uint64(bytes) {
		return false
	}
	if len(blocks) == 0 {
		blocks = []Block{{Address: address, Bytes: bytes}}
	}
	segment := &Segment{Address: address, Bytes: bytes, count: len(blocks), epoch: t.epoch}
	segment.leaves = makeLeaves(blocks, t.epoch)
	t.unshare()
	t.segments = append(t.segments, nil)
	copy(t.segments[i+1:], t.segments[i:])
	t.segments[i] = segment
	return true
}

func makeLeaves(blocks []Block, epoch uint64) []*blockLeaf {
	const fill = leafLength * 3 / 4
	leaves := make([]*blockLeaf, 0, (len(blocks)+fill-1)/fill)
	for len(blocks) > 0 {
		n := min(fill, len(blocks))
		leaves = append(leaves, &blockLeaf{blocks: append(make([]Block, 0, leafLength+2), blocks[:n]...), epoch: epoch})
		blocks = blocks[n:]
	}
	return leaves
}

// remove takes a segment out; false when there is none at that address.
func (t *segmentTable) remove(address uint64) (*Segment, bool) {
	i := t.place(address)
	if i == len(t.segments) || t.segments[i].Address != address {
		return nil, false
	}
	gone := t.segments[i]
	t.unshare()
	t.segments = append(t.segments[:i], t.segments[i+1:]...)
	return gone, true
}

// clear takes every segment out.
func (t *segmentTable) clear() { t.segments, t.shared = nil, false }

// replace puts blocks in place of the one at a position. They must tile it.
func (t *segmentTable) replace(s *Segment, leaf, at int, with ...Block) {
	l := t.ownLeaf(s, leaf)
	grown := len(with) - 1
	for range grown {
		l.blocks = append(l.blocks, Block{})
	}
	copy(l.blocks[at+len(with):], l.blocks[at+1:len(l.blocks)-grown])
	copy(l.blocks[at:], with)
	s.count += grown
	if len(l.blocks) <= leafLength {
		return
	}
	half := len(l.blocks) / 2
	upper := &blockLeaf{blocks: append(make([]Block, 0, leafLength+2), l.blocks[half:]...), epoch: t.epoch}
	l.blocks = l.blocks[:half]
	s.leaves = append(s.leaves, nil)
	copy(s.leaves[leaf+2:], s.leaves[leaf+1:])
	s.leaves[leaf+1] = upper
}

// absorb joins a block with its upper neighbour: the lower one takes its bytes.
func (t *segmentTable) absorb(s *Segment, leaf, at int) {
	upLeaf, upAt, ok := s.next(leaf, at)
	if !ok {
		return
	}
	upper := s.leaves[upLeaf].blocks[upAt]
	lower := t.ownLeaf(s, leaf)
	lower.blocks[at].Bytes += upper.Bytes
	lower.blocks[at].Since = max(lower.blocks[at].Since, upper.Since)
	from := t.ownLeaf(s, upLeaf)
	from.blocks = append(from.blocks[:upAt], from.blocks[upAt+1:]...)
	s.count--
	if len(from.blocks) == 0 {
		s.leaves = append(s.leaves[:upLeaf], s.leaves[upLeaf+1:]...)
	}
}

// next is the position of the neighbour above; not ok at the segment's end.
func (s *Segment) next(leaf, at int) (int, int, bool) {
	if at+1 < len(s.leaves[leaf].blocks) {
		return leaf, at + 1, true
	}
	return leaf + 1, 0, leaf+1 < len(s.leaves)
}

// previous is the position of the neighbour below; not ok at the segment's head.
func (s *Segment) previous(leaf, at int) (int, int, bool) {
	if at > 0 {
		return leaf, at - 1, true
	}
	if leaf == 0 {
		return 0, 0, false
	}
	return leaf - 1, len(s.leaves[leaf-1].blocks) - 1, true
}

// freeStreams are the streams that have free blocks, in order.
func (t *segmentTable) freeStreams() (streams []uint32) {
	known := map[uint32]bool{}
	for _, s := range t.segments {
		for _, leaf := range s.leaves {
			for i := range leaf.blocks {
				if block := &leaf.blocks[i]; !block.Live && !known[block.Stream] {
					known[block.Stream] = true
					streams = append(streams, block.Stream)
				}
			}
		}
	}
	slices.Sort(streams)
	return streams
}

// takeOver gives the free blocks of other streams to one, and joins neighbours.
func (t *segmentTable) takeOver(into uint32, from func(stream uint32) bool) {
	moves := func(block *Block) bool { return !block.Live && block.Stream != into && from(block.Stream) }
	for i, s := range t.segments {
		if !s.any(moves) {
			continue
		}
		blocks := make([]Block, 0, s.count)
		for block := range s.Blocks() {
			if moves(&block) {
				block.Stream = into
			}
			if n := len(blocks); n > 0 && blocks[n-1].freeOn(into) && block.freeOn(into) {
				blocks[n-1].Bytes += block.Bytes
				blocks[n-1].Since = max(blocks[n-1].Since, block.Since)
				continue
			}
			blocks = append(blocks, block)
		}
		s = t.own(i)
		s.leaves, s.count = makeLeaves(blocks, t.epoch), len(blocks)
	}
}

func (s *Segment) any(is func(*Block) bool) bool {
	for _, leaf := range s.leaves {
		for i := range leaf.blocks {
			if is(&leaf.blocks[i]) {
				return true
			}
		}
	}
	return false
}
