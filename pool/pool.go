package pool

import "fmt"

// PoolAlignment is the rounding of a Pool, in bytes: sizes are rounded up to a
// multiple of it, as in RMM (CUDA_ALLOCATION_ALIGNMENT).
const PoolAlignment int64 = 256

// PoolOptions are the choices of a Pool. The zero value grows on demand,
// without a limit.
type PoolOptions struct {
	// InitialSize is taken from upstream at once, in bytes: a multiple of 256,
	// at most MaximumSize. 0 takes nothing before the first request. (RMM's
	// Python class takes half of the free device memory where no size is
	// given; that is for the caller to compute.)
	InitialSize int64
	// MaximumSize limits what is taken from upstream, in bytes: a multiple of
	// 256. 0 is no limit.
	MaximumSize int64
	// Generation is put into every event: 0 for the first pool, one more for
	// each rebuild.
	Generation int
	// Observer is told of everything, if it is not nil.
	Observer Observer
}

// Pool gives out blocks carved from large segments. It mirrors the answers of
// RMM's pool_memory_resource (26.08): best fit from a free list per stream,
// ties to the lowest address, neighbours joined when freed, growth that doubles
// or goes half way to the maximum. Unlike RMM's it can release whole free
// segments, and it finds its answers in an index instead of walking a list.
type Pool struct {
	suballocator
	maximum int64   // 0: none
	orderer Orderer // nil where upstream's streams need no order
}

var _ Suballocator = (*Pool)(nil)

// NewPool makes a pool over an upstream. The error is a *SizeError for options
// that are refused, and an *OutOfMemoryError where the initial size cannot be
// had.
func NewPool(upstream Upstream, options PoolOptions) (*Pool, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	p := &Pool{
		suballocator: suballocator{
			name:       "Pool",
			upstream:   upstream,
			observer:   options.Observer,
			generation: options.Generation,
		},
		maximum: options.MaximumSize,
	}
	p.orderer, _ = upstream.(Orderer)
	if options.InitialSize > 0 {
		legacy, err := p.books.list(0)
		if err != nil {
			return nil, err
		}
		if _, err := p.expand(options.InitialSize, options.InitialSize, legacy, options.InitialSize); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (o PoolOptions) check() error {
	for _, size := range []int64{o.InitialSize, o.MaximumSize} {
		if size < 0 || size%PoolAlignment != 0 {
			return &SizeError{Bytes: size, Where: "Pool", Reason: "initial and maximum size must be multiples of 256, 0 or more"}
		}
	}
	if o.MaximumSize > 0 && o.InitialSize > o.MaximumSize {
		return &SizeError{Bytes: o.InitialSize, Where: "Pool",
			Reason: fmt.Sprintf("choose an initial size of at most the maximum, %d", o.MaximumSize)}
	}
	return nil
}

// Size is how many bytes the pool has taken from upstream: RMM's pool_size().
func (p *Pool) Size() int64 {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.books.counters.reserved
}

// MaximumSize is the limit of Size in bytes; ok is false where there is none.
func (p *Pool) MaximumSize() (bytes int64, ok bool) { return p.maximum, p.maximum > 0 }

// Allocate implements Resource. It looks, as RMM does, for the best fit in the
// stream's own list, then in the lists of the other streams, then in its own
// list while it merges the others into it one by one, and takes more memory
// from upstream last. The other streams are visited by ascending number, where
// RMM goes by the address of an event. Where a block of another stream is taken
// or its list taken over, upstream orders the two streams first, if it is an
// Orderer: RMM does it from an event that each free records, this from the moment
// of the taking. 0 bytes give address 0. The error is an *OutOfMemoryError, a *SizeError for a negative size, ErrTooManyStreams,
// ErrClosed, or whatever else upstream failed with.
func (p *Pool) Allocate(bytes int64, stream Stream) (Address, error) {
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
	size, ok := roundUp(bytes, PoolAlignment)
	if !ok {
		return 0, p.outOfMemory(bytes, "no address space is that large", nil)
	}
	own, err := p.books.list(stream)
	if err != nil {
		return 0, err
	}
	if id := own.find(&p.books.blockSlab, size); id != 0 {
		return p.handOut(own, id, size, bytes, own), nil
	}
	list, id, err := p.findElsewhere(own, size)
	if err != nil {
		return 0, err
	}
	if id != 0 {
		return p.handOut(list, id, size, bytes, own), nil
	}
	id, err = p.expand(p.growth(size), size, own, bytes)
	if err != nil {
		return 0, err
	}
	return p.handOut(own, id, size, bytes, own), nil
}

// findElsewhere looks for a block in the other streams' lists, and failing that
// in the stream's own while it takes the others over one by one. The error is
// that of upstream, where it could not order the streams.
func (p *Pool) findElsewhere(own *freeList, size int64) (*freeList, blockID, error) {
	for _, other := range p.books.ordered {
		if other != own {
			if id := other.find(&p.books.blockSlab, size); id != 0 {
				return other, id, p.orderAfter(own, other)
			}
		}
	}
	for _, other := range p.books.ordered {
		if other != own && other.count > 0 {
			if err := p.orderAfter(own, other); err != nil {
				return nil, 0, err
			}
			p.books.merge(own, other)
			if id := own.find(&p.books.blockSlab, size); id != 0 {
				return own, id, nil
			}
		}
	}
	return nil, 0, nil
}

// orderAfter lets the stream of a list wait for what the other list's stream has
// still to do to the blocks in it.
func (p *Pool) orderAfter(own, other *freeList) error {
	if p.orderer == nil {
		return nil
	}
	return p.orderer.OrderStreams(own.stream, other.stream)
}

// growth is how much to ask of upstream for a request of that rounded size: the
// pool's size again where there is no maximum, half of what remains below it
// where there is one, and the request if that is more. 0 where the maximum
// forbids it. Half of what remains need not be a multiple of 256.
func (p *Pool) growth(size int64) int64 {
	held := p.books.counters.reserved
	if p.maximum == 0 {
		return max(size, held)
	}
	remaining := p.remaining()
	if size > remaining {
		return 0
	}
	return max(size, remaining/2)
}

// remaining is what the maximum leaves, rounded up as RMM does: a pool of an
// odd size may end up to 255 bytes above its maximum.
func (p *Pool) remaining() int64 {
	left := p.maximum - p.books.counters.reserved
	if left <= 0 {
		return 0
	}
	rounded, _ := roundUp(left, PoolAlignment)
	return rounded
}

// expand takes a segment of the tried size from upstream, or of half of it and
// so on down to the least that serves. An upstream that fails for another
// reason than room is not asked again.
func (p *Pool) expand(try, least int64, list *freeList, asked int64) (blockID, error) {
	if try < least {
		return 0, p.outOfMemory(asked, fmt.Sprintf("Maximum pool size exceeded: %d of %d bytes remain",
			p.remaining(), p.maximum), nil)
	}
	for {
		id, err := p.takeSegment(try, list)
		if err == nil {
			return id, nil
		}
		if !isOutOfMemory(err) {
			return 0, err
		}
		if try == least {
			return 0, p.outOfMemory(asked, fmt.Sprintf("Maximum pool size exceeded: %s has no room for %d bytes more",
				p.upstream.Name(), least), err)
		}
		try = max(least, try/2)
	}
}

// Free implements Resource. The block goes to the free list of the stream
// named, joined with the neighbours in that list. The size must round to the
// block's. Address 0 is ignored. The error is an *UnknownBlockError,
// ErrTooManyStreams or ErrClosed, with nothing changed.
func (p *Pool) Free(address Address, bytes int64, stream Stream) error {
	if address == 0 {
		return nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	id, slot, err := p.liveBlock(address, bytes, PoolAlignment)
	if err != nil {
		return err
	}
	list, err := p.books.list(stream)
	if err != nil {
		return err
	}
	p.freeBlock(id, slot, list)
	return nil
}
