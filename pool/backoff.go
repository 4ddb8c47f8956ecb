package pool

// Backoff keeps a release from running again and again for nothing: each run
// that gains little doubles the calls that are then skipped. It mirrors algan's
// host reclaim backoff. The zero value skips nothing. One goroutine owns it.
type Backoff struct {
	skip   int
	window int
}

const (
	// BackoffGain is the gain in bytes, inclusive, from which a release counts
	// as effective and the backoff ends.
	BackoffGain int64 = 64 << 20
	// MaximumBackoff is the most calls that are skipped in a row.
	MaximumBackoff = 32
)

// BackedOff says whether this call is to be skipped, and counts it if so.
func (b *Backoff) BackedOff() bool {
	if b.skip == 0 {
		return false
	}
	b.skip--
	return true
}

// Note tells what a run gained: the available bytes of the host before and
// after it. A reading that is Unknown changes nothing.
func (b *Backoff) Note(before, after int64) {
	if before == Unknown || after == Unknown {
		return
	}
	if after-before >= BackoffGain {
		b.skip, b.window = 0, 0
		return
	}
	b.window = min(max(1, 2*b.window), MaximumBackoff)
	b.skip = b.window
}

// State is how many calls are still to be skipped, and the window, which is how
// many were set to be skipped after the last run.
func (b *Backoff) State() (skip, window int) { return b.skip, b.window }
