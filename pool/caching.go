package pool

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CachingAlignment is the rounding of a CachingPool, in bytes, as in CuPy.
const CachingAlignment int64 = 512

// CachingPoolOptions are the choices of a CachingPool. The zero value has no
// limit.
type CachingPoolOptions struct {
	// Limit is the most that is taken from upstream, in bytes; 0 is no limit.
	// ParseCachingLimit reads it as CuPy does.
	Limit int64
	// Collect is called twice where upstream has no room, without the pool's
	// lock, before the last try: it may free blocks. It stands for Python's
	// gc.collect.
	Collect func()
	// Generation is put into every event: 0 for the first pool, one more for
	// each rebuild.
	Generation int
	// Observer is told of everything, if it is not nil.
	Observer Observer
}

// CachingPool keeps what it took from upstream, segment by segment of exactly
// the size that was needed, and splits and joins within these. It mirrors
// CuPy's MemoryPool (14.2): sizes in multiples of 512, one arena of free blocks
// a stream, best fit by size, split whenever sizes differ. Among free blocks of
// one size, where CuPy takes any, it takes the lowest address.
type CachingPool struct {
	suballocator
	limit   int64 // 0: none
	collect func()
	pending int64 // bytes being asked of upstream while the lock is open
}

var _ Suballocator = (*CachingPool)(nil)

// NewCachingPool makes a pool over an upstream. The error is a *SizeError for a
// negative limit.
func NewCachingPool(upstream Upstream, options CachingPoolOptions) (*CachingPool, error) {
	if options.Limit < 0 {
		return nil, &SizeError{Bytes: options.Limit, Where: "CachingPool", Reason: "limit it to 0 bytes (no limit) or more"}
	}
	return &CachingPool{
		suballocator: suballocator{
			name:       "CachingPool",
			upstream:   upstream,
			observer:   options.Observer,
			generation: options.Generation,
		},
		limit:   options.Limit,
		collect: options.Collect,
	}, nil
}

// ParseCachingLimit reads a limit as CuPy reads CUPY_GPU_MEMORY_LIMIT: bytes
// ("1073741824"), or a share of all device memory ("50%"). An empty text and 0
// are no limit, given as 0. total is the device's memory in bytes.
func ParseCachingLimit(text string, total int64) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || math.IsNaN(percent) || percent < 0 || percent > 100 {
			return 0, fmt.Errorf("memory limit %q is refused; name a share from 0%% to 100%%", text)
		}
		return int64(percent / 100 * float64(total)), nil
	}
	bytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil || bytes < 0 {
		return 0, fmt.Errorf("memory limit %q is refused; name whole bytes, 0 or more, or a share such as 50%%", text)
	}
	return bytes, nil
}

// Limit is the most that is taken from upstream, in bytes; ok is false where
// there is no limit.
func (p *CachingPool) Limit() (bytes int64, ok bool) { return p.limit, p.limit > 0 }

// Allocate implements Resource. 0 bytes give address 0 and no block. The error
// is an *OutOfMemoryError, a *SizeError for a negative size,
// ErrTooManyStreams, ErrClosed, or whatever else upstream failed with.
func (p *CachingPool) Allocate(bytes int64, stream Stream) (Address, error) {
	return p.allocate(bytes, stream, nil)
}

// chooseFree picks one of the free blocks of the best size. CuPy leaves open
// which of them it takes, so a recorded history of CuPy can only be followed by
// choosing the one that it took.
type chooseFree func(arena *freeList, best blockID) blockID

// allocate takes the lowest of the best fits unless there is a choice.
func (p *CachingPool) allocate(bytes int64, stream Stream, choose chooseFree) (Address, error) {
	if bytes == 0 {
		return 0, nil
	}
	if bytes < 0 {
		return 0, &SizeError{Bytes: bytes, Where: p.name, Reason: "ask for 0 bytes or more"}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return 0, ErrClosed
	}
	size, ok := roundUp(bytes, CachingAlignment)
	if !ok {
		return 0, p.outOfMemory(bytes, "no address space is that large", nil)
	}
	arena, err := p.books.list(stream)
	if err != nil {
		return 0, err
	}
	id := arena.find(&p.books.blockSlab, size)
	if id == 0 {
		if id, err = p.fetch(size, arena, bytes); err != nil {
			return 0, err
		}
	} else if choose != nil {
		id = choose(arena, id)
	}
	return p.handOut(arena, id, size, bytes, arena), nil
}

// fetch takes a segment of exactly size bytes from upstream. Where there is no
// room it releases what is free, then lets the garbage be collected and
// releases again. The limit is checked before all that, and nothing is done to
// get below it.
func (p *CachingPool) fetch(size int64, arena *freeList, asked int64) (blockID, error) {
	held := p.books.counters.reserved + p.pending
	if p.limit > 0 && size > p.limit-held {
		return 0, p.outOfMemory(asked, fmt.Sprintf("the limit is %d bytes, %d are taken", p.limit, held), nil)
	}
	id, err := p.takeSegment(size, arena)
	if err == nil || !isOutOfMemory(err) {
		return id, err
	}
	p.releaseForRetry()
	id, err = p.takeSegment(size, arena)
	if err == nil || !isOutOfMemory(err) {
		return id, err
	}
	p.collectGarbage(size)
	if p.closed {
		return 0, ErrClosed
	}
	p.releaseForRetry()
	id, err = p.takeSegment(size, arena)
	if err == nil || !isOutOfMemory(err) {
		return id, err
	}
	return 0, p.outOfMemory(asked, fmt.Sprintf("%s has no room for %d bytes, with nothing left to release",
		p.upstream.Name(), size), err)
}

// releaseForRetry releases what is free. A segment that upstream does not take
// back is not this request's concern: whether there is room now, the retry
// finds out.
func (p *CachingPool) releaseForRetry() { _, _ = p.release() }

// collectGarbage calls the hook twice, with the lock open so that it can free
// blocks. The bytes asked for count against the limit meanwhile.
func (p *CachingPool) collectGarbage(size int64) {
	if p.collect == nil {
		return
	}
	p.pending += size
	p.mutex.Unlock()
	defer func() {
		p.mutex.Lock()
		p.pending -= size
	}()
	p.collect()
	p.collect()
}

// Free implements Resource. The block goes back to the arena of the stream that
// it was handed out for, whatever stream is named, as in CuPy. The size must
// round to the block's. Address 0 is ignored. The error is an
// *UnknownBlockError, with nothing changed, or ErrClosed.
func (p *CachingPool) Free(address Address, bytes int64, _ Stream) error {
	if address == 0 {
		return nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	id, slot, err := p.liveBlock(address, bytes, CachingAlignment)
	if err != nil {
		return err
	}
	p.freeBlock(id, slot, p.books.lists[p.books.blocks[id].list])
	return nil
}
