package probe

import (
	"time"

	"golang.org/x/sys/unix"
)

// started pairs the system's monotonic clock with Go's own reading of it,
// which costs no system call.
var started, startedAt = func() (int64, time.Time) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0, time.Now()
	}
	return now.Nano(), time.Now()
}()

// Monotonic is CLOCK_MONOTONIC in nanoseconds, which all processes of a
// machine share.
func Monotonic() int64 { return started + int64(time.Since(startedAt)) }
