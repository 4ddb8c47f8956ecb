package pool

import (
	"fmt"
	"sync"
)

// FailureCallback is a layer that answers an out-of-memory of the layer below
// with work that may make room, and tries again. It mirrors RMM's
// failure_callback_resource_adaptor with the callback of vibespatial's raster
// memory pool, with two differences that are meant: one allocation is retried
// LadderRetries times at most, however the ladder's time gate stands (the
// original can retry for ever when a collection takes more than a second), and
// a pool is never rebuilt over live allocations.
type FailureCallback struct {
	upstream Resource
	options  FailureCallbackOptions
	clock    func() int64

	collecting bool // the collection hook runs
}

// FailureCallbackOptions is what a FailureCallback works with.
type FailureCallbackOptions struct {
	// Ladder counts the retries. It is required.
	Ladder *Ladder
	// Collect is the owner's collection hook: it drops what nothing needs, and
	// says how many bytes that freed, or Unknown. nil is no hook. It runs
	// without Lock, may free blocks, and should not allocate from this layer:
	// while it runs, no failing allocation runs it a second time.
	Collect func() int64
	// MakeRoom is the work of the last two retries, after a collection: a
	// rebuild, or in its place a release of whole free segments. freed counts
	// the bytes that went back to the driver, why says why it was no rebuild.
	MakeRoom func() (action LadderAction, freed int64, why string)
	// Facts reads what a report says of the moment of failure.
	Facts func() FailureFacts
	// Observe is told of each out-of-memory when it is over, without Lock held.
	Observe func(OutOfMemoryReport)
	// Lock is held by whoever allocates, and given up while the hook and the
	// observer run; nil where one goroutine does everything.
	Lock sync.Locker
	// Clock gives monotonic nanoseconds; nil takes the process's own.
	Clock func() int64
}

// FailureFacts is how things stood when an allocation failed. Bytes, or Unknown.
type FailureFacts struct {
	FreeDevice  int64 // driver free
	PoolFree    int64 // in free blocks of the pool
	LargestFree int64 // the largest of them
	Generation  int   // of the pool
}

// OutOfMemoryReport is one out-of-memory and what was done about it.
type OutOfMemoryReport struct {
	FailureFacts
	Asked   int64        // bytes
	Rule    string       // how it was recognised (Classify)
	Steps   []LadderStep // the retries, in order
	Rescued bool         // the last retry succeeded
	Outcome string       // how it ended, in words
	Err     error        // what the caller was answered; nil when rescued
}

// LadderStep is one retry.
type LadderStep struct {
	Attempt     int          // of this allocation, 1 to LadderRetries
	Rung        int          // of the ladder, 1 to LadderRetries: higher than Attempt when others failed just before
	Action      LadderAction // what was done before trying again
	Collected   int64        // bytes that the collection hook freed; Unknown when it did not say
	Freed       int64        // ActionCollect: the same; otherwise bytes that went back to the driver; or Unknown
	Nanoseconds int64        // how long the work took
	Why         string       // why less was done than the rung is for, "" otherwise
}

// NewFailureCallback puts the layer over upstream.
func NewFailureCallback(upstream Resource, options FailureCallbackOptions) *FailureCallback {
	return &FailureCallback{upstream: upstream, options: options, clock: clockOr(options.Clock)}
}

// Allocate asks the layer below, and on an out-of-memory works and asks again
// as long as retries are left. The error is then the layer's last one.
func (f *FailureCallback) Allocate(bytes int64, stream Stream) (Address, error) {
	address, err := f.upstream.Allocate(bytes, stream)
	if err == nil {
		return address, nil
	}
	rule, isOutOfMemory := Classify(err)
	if !isOutOfMemory {
		return 0, err
	}
	return f.rescue(bytes, stream, rule, err)
}

// Free passes the block down.
func (f *FailureCallback) Free(address Address, bytes int64, stream Stream) error {
	return f.upstream.Free(address, bytes, stream)
}

// Name is "FailureCallback".
func (f *FailureCallback) Name() string { return "FailureCallback" }

// Upstream is the layer below.
func (f *FailureCallback) Upstream() Resource { return f.upstream }

// replaceUpstream puts another pool under the layer, so that an allocation that
// is being retried goes to the new one.
func (f *FailureCallback) replaceUpstream(upstream Resource) { f.upstream = upstream }

// replaceCollect registers another collection hook.
func (f *FailureCallback) replaceCollect(hook func() int64) { f.options.Collect = hook }

func (f *FailureCallback) rescue(bytes int64, stream Stream, rule string, err error) (address Address, last error) {
	report := OutOfMemoryReport{FailureFacts: f.facts(), Asked: bytes, Rule: rule}
	last = err
	for attempt := 1; ; attempt++ {
		if attempt > LadderRetries {
			f.options.Ladder.noteGivenUp()
			report.Outcome = fmt.Sprintf("failed: %d retries of this allocation made no room", LadderRetries)
			break
		}
		rung, granted := f.options.Ladder.Grant(bytes)
		if !granted {
			report.Outcome = fmt.Sprintf("failed: all %d retries are spent, the next is granted in %.1f s",
				LadderRetries, float64(f.options.Ladder.State().Cooldown)/1e9)
			break
		}
		report.Steps = append(report.Steps, f.work(attempt, rung))
		address, last = f.upstream.Allocate(bytes, stream)
		if last == nil {
			report.Rescued = true
			report.Outcome = fmt.Sprintf("rescued by retry %d: %s", attempt, report.Steps[len(report.Steps)-1].Action)
			break
		}
		if _, still := Classify(last); !still {
			report.Outcome = "failed: the retry ended in another error"
			break
		}
	}
	report.Err = last
	f.deliver(report)
	return address, last
}

// work does what a rung is for. An allocation that is at its fourth retry
// rebuilds even where the ladder's time gate has let the rungs start over.
func (f *FailureCallback) work(attempt, rung int) LadderStep {
	started := f.clock()
	step := LadderStep{Attempt: attempt, Rung: rung, Action: ActionCollect}
	step.Collected, step.Why = f.collect()
	step.Freed = step.Collected
	if max(attempt, rung) > LadderCollections && f.options.MakeRoom != nil {
		step.Action, step.Freed, step.Why = f.options.MakeRoom()
	}
	step.Nanoseconds = f.clock() - started
	f.options.Ladder.note(rung, step.Action)
	return step
}

// collect runs the hook without the lock, and never inside itself.
func (f *FailureCallback) collect() (freed int64, why string) {
	if f.options.Collect == nil {
		return Unknown, "no collection hook is registered"
	}
	if f.collecting {
		return Unknown, "a collection was already under way"
	}
	f.collecting = true
	f.unlock()
	defer func() {
		f.lock()
		f.collecting = false
	}()
	return f.options.Collect(), ""
}

func (f *FailureCallback) facts() FailureFacts {
	if f.options.Facts == nil {
		return FailureFacts{FreeDevice: Unknown, PoolFree: Unknown, LargestFree: Unknown}
	}
	return f.options.Facts()
}

func (f *FailureCallback) deliver(report OutOfMemoryReport) {
	if f.options.Observe == nil {
		return
	}
	f.unlock()
	defer f.lock()
	f.options.Observe(report)
}

func (f *FailureCallback) lock() {
	if f.options.Lock != nil {
		f.options.Lock.Lock()
	}
}

func (f *FailureCallback) unlock() {
	if f.options.Lock != nil {
		f.options.Lock.Unlock()
	}
}
