package pool

import "time"

// started is the moment from which this package's own clock counts. time.Since
// reads the monotonic clock, so that a set wall clock changes nothing.
var started = time.Now()

// clockOr is the clock that was given, in monotonic nanoseconds, or else the
// process's own.
func clockOr(clock func() int64) func() int64 {
	if clock != nil {
		return clock
	}
	return func() int64 { return int64(time.Since(started)) }
}
