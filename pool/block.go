package pool

import "math"

// blockID names a block by its place in the slab. 0 is no block, so that a
// zero link ends a chain.
type blockID uint32

// block is a stretch of a segment, free or live. Blocks of a segment tile it
// without a gap and are linked in address order. Blocks live in one slice and
// refer to each other by number: the garbage collector has nothing to follow,
// and a block that is not in use costs nothing to reuse. Two fill a cache line
// exactly, since what freeing one costs is mostly reading its neighbours.
type block struct {
	address Address
	size    int64   // bytes, rounded
	prev    blockID // the neighbour below in the same segment; none at the head of a segment
	next    blockID // the neighbour above in the same segment; in the chain of spare blocks, the next spare
	segment segmentID
	list    listID // free: the list it is in; live: that of the stream for which it was handed out
	slack   uint16 // live: size minus what was asked, bytes, below the rounding; isFree while free
}

// isFree in place of a slack marks a free block.
const isFree = math.MaxUint16

// free reports whether the block is in a free list.
func (b *block) free() bool { return b.slack == isFree }

// freeIn reports whether the block is in that free list.
func (b *block) freeIn(list listID) bool { return b.slack == isFree && b.list == list }

// requested is what was asked for a live block, in bytes.
func (b *block) requested() int64 { return b.size - int64(b.slack) }

// blockSlab owns all blocks of a pool. It grows to the largest number of
// blocks that existed at one time and is not given back before the pool is.
type blockSlab struct {
	blocks []block // blocks[0] is never used
	places []place // places[id]: where the block stands in its size class, while free
	spare  blockID // chain of blocks that are not in use, through next
	mixed  uint64  // the state that priorities are drawn from
}

// create returns a block with undefined content. It may move the slab: take
// pointers into it afterwards.
func (s *blockSlab) create() blockID {
	if id := s.spare; id != 0 {
		s.spare = s.blocks[id].next
		return id
	}
	if len(s.blocks) == 0 {
		s.blocks = append(s.blocks, block{})
		s.places = append(s.places, place{})
	}
	s.blocks = append(s.blocks, block{})
	s.places = append(s.places, place{priority: s.drawPriority()})
	return blockID(len(s.blocks) - 1)
}

// discard puts a block back for create.
func (s *blockSlab) discard(id blockID) {
	s.blocks[id] = block{next: s.spare}
	s.spare = id
}

// drawPriority gives numbers without a pattern, the same in every run
// (splitmix64).
func (s *blockSlab) drawPriority() uint32 {
	s.mixed += 0x9e3779b97f4a7c15
	z := s.mixed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32(z >> 32)
}

// segmentID names a segment by its place in the ledger.
type segmentID uint32

// segment is one stretch of memory taken from upstream. Blocks never span two
// segments, even where these touch: each goes back whole.
type segment struct {
	address Address
	size    int64   // bytes; 0 where the entry is not in use
	first   blockID // the block at its head
	live    int     // live blocks in it; 0 makes it releasable
}
