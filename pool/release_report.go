package pool

import (
	"fmt"
	"strings"
	"time"
)

// ReleaseReport is what a release did. Byte counts are Unknown where they could
// not be read.
type ReleaseReport struct {
	Trigger   string // what called for it, in words
	Forced    bool
	Deferred  bool // it waits for the end of the coalescing scope
	BackedOff bool // host pressure was skipped because the last runs gained little

	Lines []ReleaseLine // what was done, in order; empty when nothing was

	Reclaimable         int64 // cached bytes that the decision saw
	DriverFreeBefore    int64
	DriverFreeAfter     int64
	HostAvailableBefore int64
	HostAvailableAfter  int64
	BackoffSkip         int // calls that host pressure alone will not act on
	BackoffWindow       int
	Nanoseconds         int64 // how long it took
}

// ReleaseGauge says which number a line's Before and After are readings of.
type ReleaseGauge uint8

// The gauges.
const (
	GaugeCached        ReleaseGauge = iota // reserved − allocated of the device
	GaugeDriverFree                        // free on the device, by the driver
	GaugeHostAvailable                     // available on the host
)

// String is the gauge in words.
func (g ReleaseGauge) String() string {
	return [...]string{"cached", "driver free", "host available"}[g]
}

// ReleaseLine is one thing that was done.
type ReleaseLine struct {
	What        string       // "collect", "empty caches", "clear imports", "trim host", "reset runtime"
	Gauge       ReleaseGauge // what Before and After are readings of
	Before      int64        // bytes, or Unknown
	After       int64        // bytes, or Unknown
	Freed       int64        // as the effect itself counted, bytes; Unknown when it did not
	Nanoseconds int64        // how long it took
	Why         string       // why less came back than hoped, "" when nothing was held back
}

// Acted says whether anything was done.
func (r ReleaseReport) Acted() bool { return len(r.Lines) > 0 }

// String is the line as a sentence: "empty caches: driver free 1.0 GiB →
// 3.0 GiB in 2.1ms; 3 segments hold live blocks: 12.0 MiB free in them cannot
// go back".
func (l ReleaseLine) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s %s → %s", l.What, l.Gauge, formatBytes(l.Before), formatBytes(l.After))
	if l.Freed != Unknown {
		fmt.Fprintf(&text, ", %s freed", formatBytes(l.Freed))
	}
	fmt.Fprintf(&text, " in %s", time.Duration(l.Nanoseconds).Round(10*time.Microsecond))
	if l.Why != "" {
		text.WriteString("; " + l.Why)
	}
	return text.String()
}

// String is the whole report, a line each. Where nothing was done it says why.
func (r ReleaseReport) String() string {
	switch {
	case r.Deferred:
		return "nothing yet: " + r.Trigger
	case !r.Acted():
		return "nothing done: " + r.Trigger
	}
	lines := make([]string, 0, len(r.Lines)+1)
	lines = append(lines, r.Trigger)
	for _, line := range r.Lines {
		lines = append(lines, line.String())
	}
	return strings.Join(lines, "\n")
}
