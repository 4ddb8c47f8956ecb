//go:build !linux

package pool

// mapAnonymous takes memory from Go's heap where there is no mmap that is known
// to behave.
func mapAnonymous(bytes int64) ([]byte, error) { return make([]byte, bytes), nil }

// unmapAnonymous leaves it to the garbage collector.
func unmapAnonymous([]byte) error { return nil }
