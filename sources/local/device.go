package local

import (
	"vramscope/pool"
	"vramscope/recorder"
)

// Device is where a render has its memory: host memory that plays a device, or
// a GPU. One goroutine calls its methods, that of the render.
type Device interface {
	pool.Upstream
	// Identity says which device it is and what the render on it is called. It
	// does not change.
	Identity() Identity
	// Room is how many bytes the render may still take: what the driver has
	// free, within what the render was allowed.
	Room() (bytes int64, err error)
	// Held is what was given out and not freed yet, bytes.
	Held() int64
	// Refusal says why the last allocation that failed was refused where that
	// was not for want of memory on the device; "" where it was.
	Refusal() string
	// View is the host's view of a block, nil where there is none.
	View(address pool.Address, bytes int64) []byte
	// Touch uses a block as a kernel would, on its stream. It may return before
	// the work is done.
	Touch(address pool.Address, bytes int64, stream pool.Stream) error
	// Check reads a part of a live block back that was touched before: a wrong
	// address would be noticed. The error is a *MemoryError then.
	Check(address pool.Address, bytes int64, stream pool.Stream) error
	// Settle waits for the work in flight on the device.
	Settle() error
	// Beside is what the process has there besides its arena and its pool.
	Beside(process string) []recorder.CounterSet
	// Close lets go of the device. A second Close does nothing.
	Close() error
}

// Identity says which device it is, and what the render on it is called.
type Identity struct {
	Program string         // what to call the render: "demo render"
	Called  string         // the same in the middle of a sentence: "the demo"
	ID      string         // of the device in records: a GPU's UUID, or "host"
	Name    string         // of the device
	Key     pool.DeviceKey // under which its peaks are kept
	GPUs    []recorder.GPU // it, where it is one
	Budget  int64          // bytes that the render is allowed to take; its work is cut to it
	Reserve int64          // bytes that headroom holds back
	Excess  int64          // a size that the device cannot have, bytes; 0 where nine tenths of the budget are one
	Seeded  bool           // the render's seed is told to readers: it decides everything that they see
	Queued  bool           // work runs behind the program's back: memory goes back when it has ended

	MemoryCall string            // where free and total come from
	HeldCall   string            // where the process's share comes from
	Missing    map[string]string // counters of the device that are not told, and why
}

// sharedPool is the device's default pool, where it has one: other libraries
// of the process allocate from it, too.
type sharedPool interface {
	// SharedPool is its counter set; ok is false where it has none.
	SharedPool(process string) (set recorder.CounterSet, ok bool)
	// TrimSharedPool gives back what it holds and nobody uses.
	TrimSharedPool() error
	// ResetSharedPeaks begins a new window for its peaks.
	ResetSharedPeaks() error
	// AllocateShared and FreeShared take from it on a stream.
	AllocateShared(bytes int64, stream pool.Stream) (pool.Address, error)
	FreeShared(address pool.Address, bytes int64, stream pool.Stream) error
	// SharedShare is the share of the budget that the render keeps in it.
	SharedShare() float64
}

// neighbour is a device that also plays the other programs on it.
type neighbour interface{ SetForeign(bytes int64) error }
