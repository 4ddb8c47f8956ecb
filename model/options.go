package model

// Limits bound what is kept of one source. A zero field keeps everything.
type Limits struct {
	History   HistoryLimits // counters and frames
	TapeBytes int64         // events and checkpoints, about
}

// Options are the store's settings. The zero value works: DefaultOptions has
// what the program starts with.
type Options struct {
	Live  Limits // of a live source
	Files Limits // of a recording
	// LogEntries bounds the log; the oldest lines go first. 0 is 2,048.
	LogEntries int
	// PublishEvery is how long after a snapshot the next one is published at
	// the earliest, in ns. 0 is 100 ms.
	PublishEvery int64
	// Clock is the time: monotonic ns on the axis that records count on
	// (CLOCK_MONOTONIC), and the same moment in Unix ns. It is needed by Loop.
	Clock func() (monotonic, wall int64)
}

// Defaults of the settings.
const (
	defaultLogEntries   = 2048
	defaultPublishEvery = 100_000_000
)

// DefaultOptions keep ten minutes of a live source's counters in a few
// megabytes, and everything of a recording. The clock is still to be set.
func DefaultOptions() Options {
	return Options{
		Live: Limits{
			History:   HistoryLimits{Duration: 600_000_000_000, Bytes: 4 << 20},
			TapeBytes: 8 << 20,
		},
		LogEntries:   defaultLogEntries,
		PublishEvery: defaultPublishEvery,
	}
}
