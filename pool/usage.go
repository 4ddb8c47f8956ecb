package pool

import (
	"math/bits"
	"slices"
)

// Usage is what a pool holds at one moment, and has held. All sizes are in
// bytes. Nothing in it is estimated, and reading it scans nothing.
type Usage struct {
	Reserved    int64 // taken from upstream: RMM's pool_size, CuPy's total_bytes
	Allocated   int64 // in blocks handed out, rounded: CuPy's used_bytes
	Requested   int64 // in the same blocks, as the callers asked
	Free        int64 // Reserved − Allocated: CuPy's free_bytes, the "cached" of the screen
	LargestFree int64 // the largest free block of any stream, 0 if nothing is free
	Releasable  int64 // in segments without a live block: what a release gives back

	Segments   int // segments taken from upstream and not given back
	LiveBlocks int // blocks handed out
	FreeBlocks int // free blocks of all streams: CuPy's n_free_blocks

	PeakReserved   int64 // the largest Reserved since the pool was made or ResetPeaks
	PeakAllocated  int64 // the largest Allocated likewise
	PeakRequested  int64 // the largest Requested likewise
	PeakLiveBlocks int   // the largest LiveBlocks likewise

	LifetimeAllocations int64 // allocations that succeeded, of more than 0 bytes
	LifetimeFrees       int64 // blocks that came back
	LifetimeAllocated   int64 // rounded bytes of all allocations together
	LifetimeRequested   int64 // the same as asked
	LifetimeFailures    int64 // allocations that ended in an *OutOfMemoryError
	SegmentsTaken       int64 // segments ever taken from upstream
	SegmentsReturned    int64 // segments ever given back
}

// Fragmentation is 1 − LargestFree / Free, from 0 (all free bytes in one
// block) to nearly 1. ok is false while nothing is free: there is no such
// number then.
func (u Usage) Fragmentation() (fraction float64, ok bool) {
	if u.Free == 0 {
		return 0, false
	}
	return 1 - float64(u.LargestFree)/float64(u.Free), true
}

// StreamUsage is what the free list of one stream holds.
type StreamUsage struct {
	Stream      Stream
	Free        int64 // bytes
	FreeBlocks  int
	LargestFree int64 // bytes, 0 if nothing is free
}

// Segment is one stretch of memory taken from upstream.
type Segment struct {
	Address    Address
	Bytes      int64
	Allocated  int64 // rounded bytes of its live blocks
	Blocks     int   // free and live blocks that it is cut into
	LiveBlocks int   // 0: a release gives it back
}

// Block is one stretch of a segment, free or handed out.
type Block struct {
	Address   Address
	Bytes     int64  // rounded
	Requested int64  // as asked, bytes; 0 while free
	Stream    Stream // free: the stream that reuses it first; live: for which it was handed out
	Live      bool
}

// Histogram counts free blocks by size: entry n holds those of 2^n up to
// 2^(n+1)-1 bytes.
type Histogram [64]HistogramBin

// HistogramBin is one entry of a Histogram.
type HistogramBin struct {
	Count int64 // free blocks
	Bytes int64 // their sizes together, bytes
}

// usage reads the counters.
func (l *ledger) usage() Usage {
	c := &l.counters
	return Usage{
		Reserved:    c.reserved,
		Allocated:   c.allocated,
		Requested:   c.requested,
		Free:        c.reserved - c.allocated,
		LargestFree: l.largestFree(),
		Releasable:  c.releasable,

		Segments:   c.segments,
		LiveBlocks: c.liveBlocks,
		FreeBlocks: c.freeBlocks,

		PeakReserved:   c.peakReserved,
		PeakAllocated:  c.peakAllocated,
		PeakRequested:  c.peakRequested,
		PeakLiveBlocks: c.peakLiveBlocks,

		LifetimeAllocations: c.allocations,
		LifetimeFrees:       c.frees,
		LifetimeAllocated:   c.allocatedEver,
		LifetimeRequested:   c.requestedEver,
		LifetimeFailures:    c.failures,
		SegmentsTaken:       c.segmentsTaken,
		SegmentsReturned:    c.segmentsReturned,
	}
}

// resetPeaks lets the peaks start over from what is held now.
func (l *ledger) resetPeaks() {
	c := &l.counters
	c.peakReserved = c.reserved
	c.peakAllocated = c.allocated
	c.peakRequested = c.requested
	c.peakLiveBlocks = c.liveBlocks
}

// streams describes the free lists, by stream, leaving out empty ones.
func (l *ledger) streams() []StreamUsage {
	var usages []StreamUsage
	for _, list := range l.ordered {
		if list.count > 0 {
			usages = append(usages, StreamUsage{
				Stream:      list.stream,
				Free:        list.bytes,
				FreeBlocks:  list.count,
				LargestFree: list.largest(&l.blockSlab),
			})
		}
	}
	return usages
}

// histogram counts the free blocks, by a walk over all blocks in memory order:
// some ten microseconds for 10,000, and nothing for those who never ask.
func (l *ledger) histogram() Histogram {
	var histogram Histogram
	for i := range l.blocks {
		if b := &l.blocks[i]; b.free() {
			bin := &histogram[bits.Len64(uint64(b.size))-1]
			bin.Count++
			bin.Bytes += b.size
		}
	}
	return histogram
}

// inAddressOrder lists the segments in use.
func (l *ledger) inAddressOrder() []segmentID {
	ids := make([]segmentID, 0, l.counters.segments)
	for id := range l.segments {
		if l.segments[id].size > 0 {
			ids = append(ids, segmentID(id))
		}
	}
	slices.SortFunc(ids, func(a, b segmentID) int {
		if l.segments[a].address < l.segments[b].address {
			return -1
		}
		return 1
	})
	return ids
}

// layout describes the segments and, one segment after the other, their
// blocks, both by address.
func (l *ledger) layout() ([]Segment, []Block) {
	ids := l.inAddressOrder()
	segments := make([]Segment, 0, len(ids))
	blocks := make([]Block, 0, l.counters.liveBlocks+l.counters.freeBlocks)
	for _, id := range ids {
		s := &l.segments[id]
		described := Segment{Address: s.address, Bytes: s.size, LiveBlocks: s.live}
		for at := s.first; at != 0; at = l.blocks[at].next {
			b := &l.blocks[at]
			described.Blocks++
			listed := Block{Address: b.address, Bytes: b.size, Stream: l.lists[b.list].stream, Live: !b.free()}
			if listed.Live {
				listed.Requested = b.requested()
				described.Allocated += b.size
			}
			blocks = append(blocks, listed)
		}
		segments = append(segments, described)
	}
	return segments, blocks
}
