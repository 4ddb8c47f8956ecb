package nvml

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// How often the driver is asked. NVML takes a lock that the programs it
// watches need too, so that none of these goes faster on demand.
const (
	// MinInterval is the least time between two askings for memory and load:
	// the driver's own window for load is about that long.
	MinInterval = 250 * time.Millisecond

	slowInterval  = time.Second            // temperature, power, clock, processes, slow calls
	lateAfter     = time.Second            // a call that takes longer marks its GPU as not answering
	reopenEvery   = 5 * time.Second        // Init, while the driver is not there
	relistEvery   = 10 * time.Second       // the list of GPUs, while one is lost
	shutdownGrace = 200 * time.Millisecond // what Run waits for calls under way, all together
)

// ErrRunning is what Run returns while another Run in this process has not
// returned.
var ErrRunning = errors.New("NVML is being watched already: one watcher serves the whole process, share it")

// Config says how to watch. The zero value is ready for use.
type Config struct {
	// Interval is the time between two askings for memory and load, at least
	// MinInterval, which is also what 0 means.
	Interval time.Duration
	// LibraryPath is the file of NVML, "" for the loader's own choice.
	LibraryPath string
}

// Watcher watches the GPUs of this machine.
type Watcher struct {
	interval time.Duration
	library  library
	around   surroundings
	clock    clock
	shared   bool // library is the process's own

	processes atomic.Bool
	slow      atomic.Bool
	paused    atomic.Bool
}

// New makes a Watcher. It touches nothing until Run.
func New(config Config) *Watcher {
	return &Watcher{
		interval: max(config.Interval, MinInterval),
		library:  openLibrary(config.LibraryPath),
		around:   theMachine(),
		clock:    wallClock{},
		shared:   true,
	}
}

// SetInterest says what is shown besides memory, load, temperature, power and
// clock: the list of processes (at most once a second, up to some ms in the
// driver), and the slow calls (PCIe throughput, 42 ms in the driver; with the
// list of processes, their load, 2.4 ms). What is not shown is not asked for.
// It may be called from any goroutine; both are off at first.
func (w *Watcher) SetInterest(processes, slow bool) {
	w.processes.Store(processes)
	w.slow.Store(slow)
}

// SetPaused stops the asking, for a dashboard that nobody looks at, and goes
// on with it. It may be called from any goroutine.
func (w *Watcher) SetPaused(paused bool) { w.paused.Store(paused) }

// inUse is whether a Run with the process's own library is under way.
var inUse atomic.Bool

// Run watches until ctx ends, and then returns nil within a fraction of a
// second, also while a call hangs in the driver. ErrRunning is the only error:
// what is wrong with the driver or a GPU is told to the receiver.
func (w *Watcher) Run(ctx context.Context, receiver Receiver) error {
	if w.shared {
		if !inUse.CompareAndSwap(false, true) {
			return ErrRunning
		}
		defer inUse.Store(false)
	}
	s := newSession(w, receiver)
	defer s.end()
	ticks, stop := w.clock.tick(w.interval)
	defer stop()

	s.begin(w.clock.now())
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticks:
			s.tick(now)
		case o := <-s.opened:
			s.afterOpen(o)
		case l := <-s.listed:
			s.afterList(l)
		case <-s.closed:
			s.office = nil
		case r := <-s.results:
			s.afterRead(r)
		case f := <-s.faults:
			receiver.Fault(f)
		}
	}
}
