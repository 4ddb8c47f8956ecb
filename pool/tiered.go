package pool

import (
	"errors"
	"fmt"
	"sync"
)

// Tiered is the memory of a program on one device: it chooses a tier, builds
// the tier's stack of layers, and keeps what is known about it. It mirrors
// vibespatial's raster memory pool, without its globals.
//
// All methods may be called from any goroutine. One lock guards the stack and
// every call of the upstream. It is given up while the collection hook and the
// out-of-memory observer run, so that these may free blocks and read figures.
type Tiered struct {
	options Options
	clock   func() int64
	ladder  *Ladder
	live    LiveCounter

	mutex       sync.Mutex
	closed      bool
	configured  bool
	choice      TierChoice
	top         Resource
	statistics  *Statistics      // tiers A, B and C
	callback    *FailureCallback // tier B
	carved      Suballocator     // tiers A, B and fallback
	generation  int
	generations []PastGeneration
	failures    int64
}

// Options is what a Tiered is made of.
type Options struct {
	// Upstream is the device. It is required.
	Upstream Upstream
	// Tier decides over the environment; TierNone lets the environment and the
	// device's free memory choose.
	Tier Tier
	// LookupEnv reads the environment; nil is os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// Clock gives monotonic nanoseconds; nil is the process's own.
	Clock func() int64
	// Collect is the collection hook: it drops what nothing needs any more and
	// says how many bytes that freed, or Unknown. It may free blocks and must
	// not allocate any. OnCollect sets it later.
	Collect func() int64
	// Observer is told of every event of the pool, with the lock held; nil for
	// none.
	Observer Observer
	// ObserveOutOfMemory is told of every out-of-memory when it is over, in the
	// goroutine that allocated and without the lock; nil for none.
	ObserveOutOfMemory func(OutOfMemoryReport)
}

var errNoUpstream = errors.New("a pool needs an upstream; pass one, such as NewHost")

// NewTiered makes a Tiered that is not configured yet: the first allocation
// configures it, or Configure.
func NewTiered(options Options) (*Tiered, error) {
	if options.Upstream == nil {
		return nil, errNoUpstream
	}
	clock := clockOr(options.Clock)
	return &Tiered{options: options, clock: clock, ladder: NewLadder(clock)}, nil
}

// Allocate returns a block of at least bytes for the stream, configuring the
// tier if that has not been done. The error is an *OutOfMemoryError when no
// block can be had, a *SizeError for a negative size, or ErrClosed.
func (t *Tiered) Allocate(bytes int64, stream Stream) (Address, error) {
	address, report, err := t.allocate(bytes, stream)
	if report != nil && t.options.ObserveOutOfMemory != nil {
		t.options.ObserveOutOfMemory(*report)
	}
	return address, err
}

// allocate is Allocate under the lock. The report is that of a failure in a
// tier without a failure callback, which makes its own.
func (t *Tiered) allocate(bytes int64, stream Stream) (Address, *OutOfMemoryReport, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if err := t.configure(); err != nil {
		return 0, nil, err
	}
	address, err := t.top.Allocate(bytes, stream)
	if err == nil {
		if address != 0 {
			t.live.Add(bytes)
		}
		return address, nil, nil
	}
	rule, isOutOfMemory := Classify(err)
	if !isOutOfMemory {
		return 0, nil, err
	}
	t.failures++
	if t.callback != nil {
		return 0, nil, err
	}
	report := &OutOfMemoryReport{FailureFacts: t.facts(), Asked: bytes, Rule: rule, Err: err}
	report.Outcome = fmt.Sprintf("failed: tier %s (%s) has no failure callback", t.choice.Tier, t.choice.Tier.Words())
	if t.choice.Tier == TierFallback {
		report.Outcome = "failed: the caching pool had released its free segments and collected, and no room was made"
	}
	return 0, report, err
}

// Free gives the block of that many bytes back, to be reused on stream. The
// error is an *UnknownBlockError, with nothing changed, or ErrClosed. Address 0
// is ignored.
func (t *Tiered) Free(address Address, bytes int64, stream Stream) error {
	if address == 0 {
		return nil
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.closed {
		return ErrClosed
	}
	if !t.configured {
		return &UnknownBlockError{Address: address, Bytes: bytes, Held: Unknown, Where: t.Name()}
	}
	if err := t.top.Free(address, bytes, stream); err != nil {
		return err
	}
	t.live.Add(-bytes)
	return nil
}

// Name is "Tiered". It is no layer of the stack that is drawn.
func (t *Tiered) Name() string { return "Tiered" }

// Upstream is the outermost layer of the stack, nil before it is configured.
func (t *Tiered) Upstream() Resource {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.top
}

// Stack is the layers' names from the outermost to the device:
// Statistics, FailureCallback, Pool, "host memory". It is empty before the tier
// is configured.
func (t *Tiered) Stack() []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var names []string
	for layer := t.top; layer != nil; layer = layer.Upstream() {
		names = append(names, layer.Name())
	}
	if names != nil {
		names = append(names, t.options.Upstream.Name())
	}
	return names
}

// Layout describes the segments and, one segment after the other, their blocks,
// of one moment and generation. Tier C has none to describe.
func (t *Tiered) Layout() (segments []Segment, blocks []Block, generation int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.carved != nil {
		segments, blocks = t.carved.Layout()
	}
	return segments, blocks, t.generation
}

// Ladder is where the failure callback's ladder stands; ok is false in tiers
// that have none.
func (t *Tiered) Ladder() (state LadderState, ok bool) {
	t.mutex.Lock()
	ok = t.callback != nil
	t.mutex.Unlock()
	return t.ladder.State(), ok
}

// PeakCounter is the resettable high-water mark of the bytes asked for and
// live, in every tier and over all generations: what Peaks watches.
func (t *Tiered) PeakCounter() PeakCounter { return &t.live }

// OnCollect registers the collection hook (Options.Collect) or, with nil, takes
// it away.
func (t *Tiered) OnCollect(hook func() int64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.options.Collect = hook
	if t.callback != nil {
		t.callback.replaceCollect(hook)
	}
}

// Close gives everything back to the device; every operation afterwards is
// ErrClosed. Over live allocations it changes nothing and returns a
// *LiveAllocationsError.
func (t *Tiered) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.closed {
		return nil
	}
	if err := t.refuseOverLive("close"); err != nil {
		return err
	}
	t.closed = true
	if t.carved == nil {
		return nil
	}
	return t.carved.Close()
}

// facts reads what a report says of the moment.
func (t *Tiered) facts() FailureFacts {
	facts := FailureFacts{FreeDevice: t.driverFree(), PoolFree: Unknown, LargestFree: Unknown, Generation: t.generation}
	if t.carved != nil {
		usage := t.carved.Usage()
		facts.PoolFree, facts.LargestFree = usage.Free, usage.LargestFree
	}
	return facts
}

// driverFree is the device's free memory, Unknown where it cannot be read.
func (t *Tiered) driverFree() int64 {
	free, _, err := t.options.Upstream.MemoryInfo()
	if err != nil {
		return Unknown
	}
	return free
}
