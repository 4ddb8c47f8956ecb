package pool

import "sync"

// LiveCounter is a PeakCounter of our own: whoever allocates adds the bytes and
// whoever frees takes them off. The zero value stands at 0.
type LiveCounter struct {
	mutex         sync.Mutex
	current, peak int64
}

// Add counts bytes that were allocated, or freed when negative.
func (c *LiveCounter) Add(bytes int64) {
	c.mutex.Lock()
	c.current += bytes
	c.peak = max(c.peak, c.current)
	c.mutex.Unlock()
}

// ReadPeak reads the peak since the last TakePeak and the current bytes.
func (c *LiveCounter) ReadPeak() (peak, current int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.peak, c.current
}

// TakePeak reads both and resets the peak to the current bytes.
func (c *LiveCounter) TakePeak() (peak, current int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	peak, c.peak = c.peak, c.current
	return peak, c.current
}
