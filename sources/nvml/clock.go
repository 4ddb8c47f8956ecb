package nvml

import "time"

// clock is time as the watcher sees it; tests put their own in its place.
type clock interface {
	now() time.Time
	// tick sends about every d until stop; a tick that nobody takes is
	// dropped.
	tick(d time.Duration) (ticks <-chan time.Time, stop func())
	after(d time.Duration) <-chan time.Time
}

type wallClock struct{}

func (wallClock) now() time.Time                         { return time.Now() }
func (wallClock) after(d time.Duration) <-chan time.Time { return time.After(d) }
func (wallClock) tick(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}
