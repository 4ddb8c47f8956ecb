package local

import (
	"errors"
	"fmt"

	"vramscope/pool"
	"vramscope/pool/cuda"
	"vramscope/recorder"
)

// Card is a GPU as a render needs it: *cuda.Context is one.
type Card interface {
	pool.Upstream
	pool.Orderer // a block that changes its stream waits for the other's work
	Device() cuda.Device
	ContextBytes() int64
	Fill(address pool.Address, bytes int64, value byte, stream pool.Stream) error
	Copy(to, from pool.Address, bytes int64, stream pool.Stream) error
	Read(address pool.Address, into []byte) error
	Synchronize() error
	SynchronizeStream(stream pool.Stream) error
	DefaultPool() (cuda.DefaultPool, error)
	TrimDefaultPool(keep int64) error
	ResetDefaultPoolPeaks() error
	AllocateAsync(bytes int64, stream pool.Stream) (pool.Address, error)
	FreeAsync(address pool.Address, stream pool.Stream) error
	Close() error
}

var _ Card = (*cuda.Context)(nil)

// GPU is a card as the device of a render, which takes no more of it than it is
// allowed. It satisfies Device. One goroutine uses it.
type GPU struct {
	Card
	identity Identity
	limit    int64 // bytes that the render may take
	plain    int64 // bytes taken by Allocate and AllocateManaged
	shared   int64 // bytes taken from the default pool
	share    float64
	refusal  string
	closed   bool
}

var (
	_ Device     = (*GPU)(nil)
	_ sharedPool = (*GPU)(nil)
)

// MemoryError says that memory does not hold what was written there: two blocks
// overlap, or an address is wrong.
type MemoryError struct {
	Address pool.Address
	Offset  int64 // of the first wrong byte, from Address
	Want    byte
	Got     byte
}

// Error states the facts and ends with what to do.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the block at %#x holds %#x in byte %d where %#x was written: two blocks overlap or the memory is faulty; end the program and check the GPU's ECC errors",
		uint64(e.Address), e.Got, e.Offset, e.Want)
}

// Identity says which card it is.
func (g *GPU) Identity() Identity { return g.identity }

// Room is what the driver has free, within the limit.
func (g *GPU) Room() (bytes int64, err error) {
	free, _, err := g.Card.MemoryInfo()
	return max(0, min(free, g.left())), err
}

// left is what the limit leaves.
func (g *GPU) left() int64 { return g.limit - g.plain - g.shared }

// Held is what the process has taken from the driver by its own count: blocks,
// the default pool, and the context.
func (g *GPU) Held() int64 {
	held := g.plain + max(0, g.Card.ContextBytes())
	if shared, err := g.Card.DefaultPool(); err == nil {
		held += shared.Reserved
	}
	return held
}

// Refusal says that the limit refused the last allocation that failed.
func (g *GPU) Refusal() string { return g.refusal }

// Allocate takes plain memory. Beyond the limit the error is a *LimitError,
// unless the driver could not give so much either: then it is the driver's own.
func (g *GPU) Allocate(bytes int64) (pool.Address, error) {
	beyond := bytes > g.left()
	if beyond {
		if free, _, err := g.Card.MemoryInfo(); err == nil && bytes <= free {
			return 0, g.refuse(bytes)
		}
	}
	address, err := g.Card.Allocate(bytes)
	if err != nil {
		g.refusal = ""
		return 0, err
	}
	if beyond { // memory came free in between
		if err := g.Card.Free(address, bytes); err != nil {
			return 0, err
		}
		return 0, g.refuse(bytes)
	}
	g.plain += bytes
	return address, nil
}

// AllocateManaged takes managed memory, never beyond the limit.
func (g *GPU) AllocateManaged(bytes int64) (pool.Address, error) {
	if bytes > g.left() {
		return 0, g.refuse(bytes)
	}
	address, err := g.Card.AllocateManaged(bytes)
	if err != nil {
		g.refusal = ""
		var managed *cuda.ManagedLimitError
		if errors.As(err, &managed) {
			g.refusal = managed.Error()
		}
		return 0, err
	}
	g.plain += bytes
	return address, nil
}

// Free gives a block back.
func (g *GPU) Free(address pool.Address, bytes int64) error {
	err := g.Card.Free(address, bytes)
	if err == nil {
		g.plain -= bytes
	}
	return err
}

func (g *GPU) refuse(bytes int64) error {
	free, total, err := g.Card.MemoryInfo()
	if err != nil {
		free, total = pool.Unknown, pool.Unknown
	}
	limit := &LimitError{Asked: bytes, Limit: g.limit, Taken: g.plain + g.shared, free: free, total: total}
	g.refusal = limit.Error()
	return limit
}

// LimitError says that an allocation would take more than the render is
// allowed, though the device may have it. It is a *pool.OutOfMemoryError to
// whoever handles that.
type LimitError struct {
	Asked int64 // bytes
	Limit int64 // bytes that may be taken
	Taken int64 // bytes of it that are

	free, total int64
}

// Error states the facts and ends with what to do.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit refused it, not the driver: %s of the %s that --memory allows are taken and %s were asked for; allow more",
		sizeText(e.Taken), sizeText(e.Limit), sizeText(e.Asked))
}

// Unwrap is the same as an out-of-memory.
func (e *LimitError) Unwrap() error {
	return &pool.OutOfMemoryError{
		Asked: e.Asked, Free: e.free, Total: e.total, LargestFree: pool.Unknown, Where: "the render's limit",
		Reason: "--memory allows no more",
	}
}

// View is nil: the host sees nothing of the card's memory.
func (g *GPU) View(pool.Address, int64) []byte { return nil }

// Settle waits for everything in flight.
func (g *GPU) Settle() error { return g.Card.Synchronize() }

// Close gives the context back.
func (g *GPU) Close() error {
	if g.closed {
		return nil
	}
	g.closed = true
	return g.Card.Close()
}

// SharedShare is the share of the limit that the render keeps in the default
// pool.
func (g *GPU) SharedShare() float64 { return g.share }

// AllocateShared takes from the device's default pool, within the limit.
func (g *GPU) AllocateShared(bytes int64, stream pool.Stream) (pool.Address, error) {
	if bytes > g.left() {
		return 0, g.refuse(bytes)
	}
	address, err := g.Card.AllocateAsync(bytes, stream)
	if err == nil {
		g.shared += bytes
	}
	return address, err
}

// FreeShared gives a block back to the device's default pool.
func (g *GPU) FreeShared(address pool.Address, bytes int64, stream pool.Stream) error {
	err := g.Card.FreeAsync(address, stream)
	if err == nil {
		g.shared -= bytes
	}
	return err
}

// TrimSharedPool waits for the device and gives back what the default pool holds
// unused.
func (g *GPU) TrimSharedPool() error { return g.Card.TrimDefaultPool(0) }

// ResetSharedPeaks begins a new window for the default pool's peaks.
func (g *GPU) ResetSharedPeaks() error { return g.Card.ResetDefaultPoolPeaks() }

// sizeText is a size in words.
func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes < 1<<20:
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// gpuCalls are the calls that numbers of a card come from.
const (
	callMemInfo     = "cuMemGetInfo"
	callHeldByGPU   = "pool/cuda's own count, and the context's share"
	callContext     = "NVML free memory before and after the context was made"
	callDefaultPool = "cuMemPoolGetAttribute"
)

// Beside is the context's own share, and the default pool where it has one.
func (g *GPU) Beside(process string) []recorder.CounterSet {
	sets := []recorder.CounterSet{g.contextSet(process)}
	if set, ok := g.SharedPool(process); ok {
		sets = append(sets, set)
	}
	return sets
}

func (g *GPU) contextSet(process string) recorder.CounterSet {
	set := recorder.CounterSet{ID: "context", Of: recorder.OfContext, Name: "CUDA context", Device: g.identity.ID, Call: callContext, In: process}
	if bytes := g.Card.ContextBytes(); bytes >= 0 {
		set.Values.Set(recorder.Used, bytes)
	} else {
		set.Why = map[string]string{"used": "NVML did not tell the free memory before and after the context was made"}
	}
	return set
}

// SharedPool is what the driver says of the device's default pool. A driver
// without one has no set.
func (g *GPU) SharedPool(process string) (recorder.CounterSet, bool) {
	shared, err := g.Card.DefaultPool()
	if err != nil {
		return recorder.CounterSet{}, false
	}
	set := recorder.CounterSet{ID: "default-pool", Of: recorder.OfPool, Name: "default pool of the device", Device: g.identity.ID,
		Call: callDefaultPool, In: process, Why: map[string]string{
			"largest_free": "the driver does not say how its pool is cut up",
			"releasable":   "the driver does not say which of its pool's segments are free as a whole; a trim shows it",
		}}
	set.Values.Set(recorder.Reserved, shared.Reserved)
	set.Values.Set(recorder.Allocated, shared.Used)
	set.Values.Set(recorder.Free, max(0, shared.Reserved-shared.Used))
	set.Values.Set(recorder.PeakReserved, shared.ReservedPeak)
	set.Values.Set(recorder.PeakAllocated, shared.UsedPeak)
	return set, true
}
