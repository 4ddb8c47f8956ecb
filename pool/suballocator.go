package pool

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Suballocator is what Pool and CachingPool have in common: a Resource over an
// Upstream whose state can be read and whose unused segments can be released.
// All methods may be called by several goroutines at once; one lock a pool
// serves them, as in RMM and CuPy.
type Suballocator interface {
	Resource

	// Memory is the upstream that segments come from.
	Memory() Upstream
	// Usage reads the counters.
	Usage() Usage
	// Streams describes the free lists by ascending stream, empty ones left out.
	Streams() []StreamUsage
	// FreeHistogram counts the free blocks of all streams by size.
	FreeHistogram() Histogram
	// Segments describes the segments by ascending address.
	Segments() []Segment
	// Layout describes the segments and, one segment after the other, their
	// Blocks blocks each, both by ascending address and of the same moment.
	Layout() ([]Segment, []Block)
	// Releasable is how many bytes ReleaseFreeSegments would give back now.
	Releasable() int64
	// ReleaseFreeSegments gives every segment without a live block back to
	// upstream. What upstream refuses to take stays, and is the error.
	ReleaseFreeSegments() (SegmentRelease, error)
	// ResetPeaks lets the peaks start over from what is held now.
	ResetPeaks()
	// Close gives everything back to upstream. Over live blocks it changes
	// nothing and returns a *LiveBlocksError. Closing twice is fine.
	Close() error
	// CloseOverLive does the same over live blocks: their addresses mean
	// nothing afterwards.
	CloseOverLive() error
}

// SegmentRelease says what ReleaseFreeSegments did and why it was not more.
type SegmentRelease struct {
	Bytes    int64 // given back to upstream
	Segments int   // how many segments that was

	KeptFree     int64 // free bytes that stay, in segments that hold live blocks
	KeptSegments int   // segments that stay although part of them is free
	KeptBlocks   int   // live blocks that hold these segments
}

// suballocator puts a lock, an upstream and an observer around a ledger.
type suballocator struct {
	name       string
	upstream   Upstream
	observer   Observer
	generation int

	mutex  sync.Mutex
	closed bool
	books  ledger
}

// Name is the layer's name as the stack is drawn.
func (s *suballocator) Name() string { return s.name }

// Upstream is nil: a suballocator is the lowest Resource of its stack. Memory
// names what lies below.
func (s *suballocator) Upstream() Resource { return nil }

// Memory implements Suballocator.
func (s *suballocator) Memory() Upstream { return s.upstream }

// Usage implements Suballocator.
func (s *suballocator) Usage() Usage {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.books.usage()
}

// Streams implements Suballocator.
func (s *suballocator) Streams() []StreamUsage {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.books.streams()
}

// FreeHistogram implements Suballocator.
func (s *suballocator) FreeHistogram() Histogram {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.books.histogram()
}

// Segments implements Suballocator.
func (s *suballocator) Segments() []Segment {
	segments, _ := s.Layout()
	return segments
}

// Layout implements Suballocator.
func (s *suballocator) Layout() ([]Segment, []Block) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.books.layout()
}

// Releasable implements Suballocator.
func (s *suballocator) Releasable() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.books.counters.releasable
}

// ResetPeaks implements Suballocator.
func (s *suballocator) ResetPeaks() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.books.resetPeaks()
}

// ReleaseFreeSegments implements Suballocator. The free blocks of a segment
// may lie in the lists of several streams, not joined; since no block of it is
// live, it goes back all the same. (CuPy's free_all_blocks; RMM has nothing
// like it.) On a real device the upstream's free waits for those streams.
func (s *suballocator) ReleaseFreeSegments() (SegmentRelease, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return SegmentRelease{}, ErrClosed
	}
	return s.release()
}

// release is ReleaseFreeSegments under the lock.
func (s *suballocator) release() (SegmentRelease, error) {
	var done SegmentRelease
	var failures []error
	for id := range s.books.segments {
		segment := s.books.segments[id]
		if segment.size == 0 || segment.live > 0 {
			continue
		}
		if err := s.returnSegment(segmentID(id)); err != nil {
			failures = append(failures, err)
			continue
		}
		done.Bytes += segment.size
		done.Segments++
	}
	s.explainKept(&done)
	return done, errors.Join(failures...)
}

// explainKept counts what stays because a live block is in the same segment.
func (s *suballocator) explainKept(done *SegmentRelease) {
	counters := &s.books.counters
	done.KeptFree = counters.reserved - counters.allocated - counters.releasable
	if done.KeptFree == 0 {
		return
	}
	for id := range s.books.segments {
		segment := &s.books.segments[id]
		if segment.live == 0 {
			continue
		}
		blocks := 0
		for at := segment.first; at != 0; at = s.books.blocks[at].next {
			blocks++
		}
		if blocks > segment.live {
			done.KeptSegments++
			done.KeptBlocks += segment.live
		}
	}
}

// returnSegment gives one segment back to upstream and forgets it.
func (s *suballocator) returnSegment(id segmentID) error {
	segment := s.books.segments[id]
	if err := s.upstream.Free(segment.address, segment.size); err != nil {
		return s.keptError(segment, err)
	}
	s.books.dropSegment(id)
	if s.observer != nil {
		s.observe(Event{Op: OpSegmentFree, Address: segment.address, Bytes: segment.size})
	}
	return nil
}

// keptError says that upstream did not take a segment back.
func (s *suballocator) keptError(segment segment, cause error) error {
	return fmt.Errorf("%s: the segment at %#x of %d bytes was not taken back; reset the device if this repeats: %w",
		s.name, uint64(segment.address), segment.size, cause)
}

// Close implements Suballocator.
func (s *suballocator) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if live := s.books.counters.liveBlocks; live > 0 && !s.closed {
		return &LiveBlocksError{Count: live, Bytes: s.books.counters.allocated, Where: s.name}
	}
	return s.tearDown()
}

// CloseOverLive implements Suballocator.
func (s *suballocator) CloseOverLive() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.tearDown()
}

// tearDown gives all segments back. It goes on over failures: the pool is
// closed afterwards in any case, and a segment that upstream refused is lost
// to it. Peaks and lifetime totals stay to be read.
func (s *suballocator) tearDown() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var failures []error
	for _, segment := range s.books.segments {
		if segment.size == 0 {
			continue
		}
		if err := s.upstream.Free(segment.address, segment.size); err != nil {
			failures = append(failures, s.keptError(segment, err))
			continue
		}
		s.books.counters.segmentsReturned++
		if s.observer != nil {
			s.observe(Event{Op: OpSegmentFree, Address: segment.address, Bytes: segment.size})
		}
	}
	s.books.clear()
	return errors.Join(failures...)
}

// liveBlock finds the live block that a caller wants to free, and its slot. The
// size must round to that of the block, as RMM checks in debug builds.
func (s *suballocator) liveBlock(address Address, bytes, rounding int64) (id blockID, slot uint64, err error) {
	if s.closed {
		return 0, 0, ErrClosed
	}
	id, slot = s.books.live.find(s.books.blocks, address)
	if id == 0 {
		return 0, 0, &UnknownBlockError{Address: address, Bytes: bytes, Held: Unknown, Where: s.name}
	}
	b := &s.books.blocks[id]
	if bytes <= b.size-rounding || bytes > b.size {
		return 0, 0, &UnknownBlockError{Address: address, Bytes: bytes, Held: b.requested(), Where: s.name}
	}
	return id, slot, nil
}

// freeBlock takes a live block back into a list.
func (s *suballocator) freeBlock(id blockID, slot uint64, list *freeList) {
	address, size := s.books.blocks[id].address, s.books.blocks[id].size
	s.books.give(id, slot, list)
	if s.observer != nil {
		s.observe(Event{Op: OpFree, Stream: list.stream, Address: address, Bytes: size})
	}
}

// handOut takes size bytes off a free block of the list, for the stream of the
// owner.
func (s *suballocator) handOut(list *freeList, id blockID, size, requested int64, owner *freeList) Address {
	address := s.books.take(list, id, size, requested, owner)
	if s.observer != nil {
		s.observe(Event{Op: OpAlloc, Stream: owner.stream, Address: address, Bytes: size, Requested: requested})
	}
	return address
}

// takeSegment gets a segment of exactly size bytes from upstream into a list.
func (s *suballocator) takeSegment(size int64, list *freeList) (blockID, error) {
	address, err := s.upstream.Allocate(size)
	if err != nil {
		return 0, err
	}
	id := s.books.addSegment(address, size, list)
	if s.observer != nil {
		s.observe(Event{Op: OpSegment, Stream: list.stream, Address: address, Bytes: size})
	}
	return id, nil
}

// observe tells the observer, which callers have found to be there: without one
// not even the event is put together.
func (s *suballocator) observe(event Event) {
	event.Generation = s.generation
	s.observer.ObservePool(event)
}

// outOfMemory gathers the facts of a failure.
func (s *suballocator) outOfMemory(asked int64, reason string, cause error) error {
	s.books.counters.failures++
	free, total, err := s.upstream.MemoryInfo()
	if err != nil {
		free, total = Unknown, Unknown
	}
	return &OutOfMemoryError{
		Asked:       asked,
		Free:        free,
		Total:       total,
		LargestFree: s.books.largestFree(),
		Where:       s.name,
		Reason:      reason,
		Cause:       cause,
	}
}

// roundUp rounds a size up to a multiple of a power of two. ok is false where
// the result exceeds an int64.
func roundUp(bytes, multiple int64) (rounded int64, ok bool) {
	if bytes > math.MaxInt64-multiple+1 {
		return 0, false
	}
	return (bytes + multiple - 1) &^ (multiple - 1), true
}

// isOutOfMemory reports whether an upstream had no room, in contrast to a lost
// device or a closed upstream, where asking for less is no use.
func isOutOfMemory(err error) bool {
	var full *OutOfMemoryError
	return errors.As(err, &full)
}
