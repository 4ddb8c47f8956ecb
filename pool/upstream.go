package pool

// Address is where a block lies, in the address space of the upstream that
// gave it. 0 is no block.
type Address uint64

// Stream is the queue of work that a block belongs to. A free block serves
// its own stream first. 0 is the default stream.
type Stream uint32

// Capabilities is what an Upstream says it can do. The tier is chosen from it.
type Capabilities struct {
	Pool    bool // blocks may be carved out of larger ones; without it only the fallback tier serves
	Managed bool // AllocateManaged works: memory that may exceed the device and be paged
}

// Upstream is where a pool gets its memory: host memory here, a GPU in
// package cuda. Its methods are called by one goroutine at a time.
type Upstream interface {
	// Name says what it is in words for the screen, such as "host memory".
	Name() string
	// Capabilities says what it can do. It does not change.
	Capabilities() Capabilities
	// MemoryInfo reads the free and total bytes of the device itself, as the
	// driver counts them. It reclaims nothing.
	MemoryInfo() (free, total int64, err error)
	// Allocate takes bytes (> 0) from the device. When there is no room the
	// error is an *OutOfMemoryError.
	Allocate(bytes int64) (Address, error)
	// AllocateManaged takes bytes of managed memory. It fails with
	// ErrNotSupported where Capabilities().Managed is false.
	AllocateManaged(bytes int64) (Address, error)
	// Free gives a block back. bytes is what was asked for it.
	Free(address Address, bytes int64) error
}

// Orderer is an Upstream whose streams run beside each other: a block that one
// stream gave up may still be read and written by work queued there. Host memory
// needs none. Whoever wraps such an Upstream must be an Orderer too: a pool that
// finds none gives the block away as it is.
type Orderer interface {
	// OrderStreams lets all work that is queued on stream from now on wait for
	// the work that is queued on after by now. It waits for nothing itself.
	OrderStreams(stream, after Stream) error
}

// Resource hands out blocks: a pool, or a layer over one (statistics, a
// failure callback). It mirrors RMM's device_memory_resource: the caller says
// the size again when it frees.
type Resource interface {
	// Allocate returns a block of at least bytes (>= 0; 0 gives address 0) for
	// the stream. The error is an *OutOfMemoryError when no block can be had.
	Allocate(bytes int64, stream Stream) (Address, error)
	// Free gives the block of that many bytes back, to be reused on stream.
	Free(address Address, bytes int64, stream Stream) error
	// Name is the layer's name as the stack is drawn: "Statistics", "Pool".
	Name() string
	// Upstream is the next layer, nil at the bottom of the stack.
	Upstream() Resource
}

// Op says what an Event of a pool is. The values are the op codes of the
// record format (recorder/FORMAT.md) and never change meaning.
type Op uint8

// The op codes of pool events.
const (
	OpNone        Op = 0
	OpSegment     Op = 20 // a segment was taken from upstream; Address, Bytes
	OpSegmentFree Op = 21 // a whole segment was given back; Address, Bytes
	OpAlloc       Op = 22 // a block was handed out; Address, Bytes rounded, Requested as asked
	OpFree        Op = 23 // a block came back; Address, Bytes rounded
	OpRebuild     Op = 24 // the pool was torn down and built again; Generation is the new one, all blocks are gone
)

// Event is one thing that happened to a pool, as its Observer sees it.
type Event struct {
	Op         Op
	Stream     Stream
	Generation int
	Address    Address
	Bytes      int64 // rounded size of the block or size of the segment, bytes
	Requested  int64 // OpAlloc: as asked, bytes
}

// Observer is told of everything that happens to a pool, inside the call that
// caused it and with the pool's lock held: it must be quick and must not call
// back into the pool.
type Observer interface {
	ObservePool(event Event)
}
