package pool

// Managed hands out managed memory, block by block, straight from upstream. It
// mirrors RMM's managed_memory_resource. To its observer each block is a
// segment of its own.
//
// It knows no lock: one goroutine uses it at a time, or its owner's lock guards
// it.
type Managed struct {
	upstream Upstream
	observer Observer
}

// NewManaged makes the layer. The upstream must be capable of managed memory.
// observer may be nil.
func NewManaged(upstream Upstream, observer Observer) *Managed {
	return &Managed{upstream: upstream, observer: observer}
}

// Allocate takes bytes of managed memory; 0 bytes give address 0. The error is
// an *OutOfMemoryError, a *SizeError for a negative size, or ErrNotSupported.
func (m *Managed) Allocate(bytes int64, stream Stream) (Address, error) {
	if bytes == 0 {
		return 0, nil
	}
	if bytes < 0 {
		return 0, &SizeError{Bytes: bytes, Where: m.Name(), Reason: "ask for 0 bytes or more"}
	}
	address, err := m.upstream.AllocateManaged(bytes)
	if err != nil {
		return 0, err
	}
	m.observe(Event{Op: OpSegment, Stream: stream, Address: address, Bytes: bytes})
	m.observe(Event{Op: OpAlloc, Stream: stream, Address: address, Bytes: bytes, Requested: bytes})
	return address, nil
}

// Free gives the block back to upstream. Address 0 is ignored.
func (m *Managed) Free(address Address, bytes int64, stream Stream) error {
	if address == 0 {
		return nil
	}
	if err := m.upstream.Free(address, bytes); err != nil {
		return err
	}
	m.observe(Event{Op: OpFree, Stream: stream, Address: address, Bytes: bytes})
	m.observe(Event{Op: OpSegmentFree, Address: address, Bytes: bytes})
	return nil
}

// Name is "Managed".
func (m *Managed) Name() string { return "Managed" }

// Upstream is nil: it is the lowest Resource of its stack.
func (m *Managed) Upstream() Resource { return nil }

func (m *Managed) observe(event Event) {
	if m.observer != nil {
		m.observer.ObservePool(event)
	}
}
