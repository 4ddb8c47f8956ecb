package pool

import (
	"math"
	"slices"
	"sort"
)

// ledger keeps the books that Pool and CachingPool share: the segments, the
// blocks that tile them, the free lists of the streams, the live blocks by
// address, and the counters. It carves and joins blocks; which block serves a
// request, and when memory is taken from upstream, its owner decides. It knows
// no lock and no upstream.
type ledger struct {
	blockSlab
	segments     []segment // segments[0] is never used
	spareSegment []segmentID
	live         liveTable
	lists        []*freeList // by listID
	ordered      []*freeList // the same by stream, ascending
	recent       *freeList   // the list asked for last
	counters     counters
}

// counters are kept up to date by every change, so that reading them costs
// nothing. Bytes and counts.
type counters struct {
	reserved, allocated, requested, releasable int64
	segments, liveBlocks, freeBlocks           int

	peakReserved, peakAllocated, peakRequested int64
	peakLiveBlocks                             int

	allocations, frees, allocatedEver, requestedEver int64
	segmentsTaken, segmentsReturned, failures        int64
}

// maximumLists is how many streams a listID can tell apart.
const maximumLists = math.MaxUint16

// list returns the free list of a stream, new if need be. The error is
// ErrTooManyStreams.
func (l *ledger) list(stream Stream) (*freeList, error) {
	if l.recent != nil && l.recent.stream == stream {
		return l.recent, nil
	}
	at := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].stream >= stream })
	if at == len(l.ordered) || l.ordered[at].stream != stream {
		if len(l.lists) == maximumLists {
			return nil, ErrTooManyStreams
		}
		list := &freeList{stream: stream, id: listID(len(l.lists))}
		l.lists = append(l.lists, list)
		l.ordered = slices.Insert(l.ordered, at, list)
	}
	l.recent = l.ordered[at]
	return l.recent, nil
}

// addSegment books a segment taken from upstream and returns the one free
// block that it consists of, in that list.
func (l *ledger) addSegment(address Address, size int64, list *freeList) blockID {
	var id segmentID
	if n := len(l.spareSegment); n > 0 {
		id, l.spareSegment = l.spareSegment[n-1], l.spareSegment[:n-1]
	} else {
		if len(l.segments) == 0 {
			l.segments = append(l.segments, segment{})
		}
		l.segments = append(l.segments, segment{})
		id = segmentID(len(l.segments) - 1)
	}
	first := l.create()
	l.blocks[first] = block{address: address, size: size, segment: id, list: list.id, slack: isFree}
	list.insert(&l.blockSlab, first)
	l.segments[id] = segment{address: address, size: size, first: first}

	c := &l.counters
	c.freeBlocks++
	c.segments++
	c.segmentsTaken++
	c.reserved += size
	c.releasable += size
	c.peakReserved = max(c.peakReserved, c.reserved)
	return first
}

// dropSegment forgets a segment without live blocks, with all its free ones,
// in whosever list they are.
func (l *ledger) dropSegment(id segmentID) {
	s := &l.segments[id]
	for at := s.first; at != 0; {
		b := &l.blocks[at]
		next := b.next
		l.lists[b.list].remove(&l.blockSlab, at)
		l.discard(at)
		l.counters.freeBlocks--
		at = next
	}
	l.counters.segments--
	l.counters.segmentsReturned++
	l.counters.reserved -= s.size
	l.counters.releasable -= s.size
	*s = segment{}
	l.spareSegment = append(l.spareSegment, id)
}

// take hands out the low end of a free block, which is in the list. What is
// left, however small, stays in that list. owner is the list of the stream for
// which it is handed out.
func (l *ledger) take(list *freeList, id blockID, size, requested int64, owner *freeList) Address {
	if l.blocks[id].size == size {
		list.remove(&l.blockSlab, id)
		l.counters.freeBlocks--
	} else {
		id = l.split(list, id, size)
	}
	b := &l.blocks[id]
	b.list = owner.id
	b.slack = uint16(size - requested)
	l.live.insert(b.address, id)

	s := &l.segments[b.segment]
	c := &l.counters
	if s.live == 0 {
		c.releasable -= s.size
	}
	s.live++
	c.liveBlocks++
	c.allocated += size
	c.requested += requested
	c.allocations++
	c.allocatedEver += size
	c.requestedEver += requested
	c.peakLiveBlocks = max(c.peakLiveBlocks, c.liveBlocks)
	c.peakAllocated = max(c.peakAllocated, c.allocated)
	c.peakRequested = max(c.peakRequested, c.requested)
	return b.address
}

// split cuts size bytes off the low end of a free block and returns them as a
// new block in no list. The rest keeps the old number: it is the longer one
// where many are carved from one, and its neighbour below is then the block
// carved last, which is at hand.
func (l *ledger) split(list *freeList, id blockID, size int64) blockID {
	low := l.create()
	b := &l.blocks[id]
	l.blocks[low] = block{address: b.address, size: size, prev: b.prev, next: id, segment: b.segment}
	if b.prev != 0 {
		l.blocks[b.prev].next = low
	} else {
		l.segments[b.segment].first = low
	}
	b.prev = low
	list.resize(&l.blockSlab, id, b.address+Address(size), b.size-size)
	return low
}

// give takes a live block, which the slot of the live table holds, back into a
// list.
func (l *ledger) give(id blockID, slot uint64, list *freeList) {
	b := &l.blocks[id]
	l.live.remove(slot)

	s := &l.segments[b.segment]
	c := &l.counters
	s.live--
	if s.live == 0 {
		c.releasable += s.size
	}
	c.liveBlocks--
	c.frees++
	c.allocated -= b.size
	c.requested -= b.requested()
	c.freeBlocks++
	l.join(list, id)
}

// join puts a block that is in no list into one, in one piece with the
// neighbours that are in the same list. Neighbours in the list of another
// stream stay apart until the lists are merged, as in RMM: their stream may
// still be using them.
func (l *ledger) join(list *freeList, id blockID) {
	b := &l.blocks[id]
	b.list = list.id
	b.slack = isFree
	below := b.prev != 0 && l.blocks[b.prev].freeIn(list.id)
	above := b.next != 0 && l.blocks[b.next].freeIn(list.id)
	switch {
	case below && above:
		next := b.next
		list.remove(&l.blockSlab, next)
		list.resize(&l.blockSlab, b.prev, l.blocks[b.prev].address, l.blocks[b.prev].size+b.size+l.blocks[next].size)
		l.unlink(next)
		l.unlink(id)
	case below:
		list.resize(&l.blockSlab, b.prev, l.blocks[b.prev].address, l.blocks[b.prev].size+b.size)
		l.unlink(id)
	case above:
		list.resize(&l.blockSlab, b.next, b.address, b.size+l.blocks[b.next].size)
		l.unlink(id)
	default:
		list.insert(&l.blockSlab, id)
	}
}

// unlink takes a free block, whose bytes a neighbour has taken over, out of
// its segment.
func (l *ledger) unlink(id blockID) {
	b := &l.blocks[id]
	if b.prev != 0 {
		l.blocks[b.prev].next = b.next
	} else {
		l.segments[b.segment].first = b.next
	}
	if b.next != 0 {
		l.blocks[b.next].prev = b.prev
	}
	l.discard(id)
	l.counters.freeBlocks--
}

// merge moves all blocks of one list into another, joining neighbours.
func (l *ledger) merge(into, from *freeList) {
	for id := from.any(); id != 0; id = from.any() {
		from.remove(&l.blockSlab, id)
		l.join(into, id)
	}
}

// largestFree returns the size of the largest free block of any stream, 0 if
// there is none.
func (l *ledger) largestFree() int64 {
	var largest int64
	for _, list := range l.lists {
		largest = max(largest, list.largest(&l.blockSlab))
	}
	return largest
}

// clear forgets all segments and blocks, live ones too, and lets go of the
// memory that described them. Peaks and lifetime totals stay.
func (l *ledger) clear() {
	kept := l.counters
	kept.reserved, kept.allocated, kept.requested, kept.releasable = 0, 0, 0, 0
	kept.segments, kept.liveBlocks, kept.freeBlocks = 0, 0, 0
	*l = ledger{counters: kept}
}
