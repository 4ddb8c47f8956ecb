package recorder

import (
	"time"

	"golang.org/x/sys/unix"
)

// MonotonicClock returns a clock on CLOCK_MONOTONIC in nanoseconds, which all
// processes of a host share and which stands still while it sleeps. A reading
// costs as much as time.Now.
func MonotonicClock() func() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		// No kernel that Go runs on lacks this clock.
		now = unix.NsecToTimespec(time.Now().UnixNano())
	}
	begun, base := time.Now(), now.Nano()
	return func() int64 { return base + int64(time.Since(begun)) }
}
