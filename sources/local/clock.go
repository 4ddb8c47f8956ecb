package local

import (
	"context"
	"time"

	"vramscope/recorder"
)

// clock is the time that a render lives in.
type clock interface {
	// now is monotonic nanoseconds.
	now() int64
	// sleep waits until a moment, until work arrives or until ctx ends.
	sleep(ctx context.Context, until int64, work <-chan struct{})
}

// realClock is the machine's.
type realClock struct {
	read  func() int64
	timer *time.Timer
}

func newRealClock() *realClock {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &realClock{read: recorder.MonotonicClock(), timer: timer}
}

func (c *realClock) now() int64 { return c.read() }

func (c *realClock) sleep(ctx context.Context, until int64, work <-chan struct{}) {
	c.timer.Reset(time.Duration(until - c.now()))
	select {
	case <-c.timer.C:
	case <-work:
		c.timer.Stop()
	case <-ctx.Done():
		c.timer.Stop()
	}
}

// virtualClock passes as it is read, and jumps instead of sleeping: what
// happens at which moment depends on nothing but what is done.
type virtualClock struct{ ns int64 }

// virtualStep is how long each reading takes, in nanoseconds: about what an
// allocation costs.
const virtualStep = 250

func (c *virtualClock) now() int64 {
	c.ns += virtualStep
	return c.ns
}

func (c *virtualClock) sleep(_ context.Context, until int64, _ <-chan struct{}) {
	c.ns = max(c.ns, until)
}
