package pool

// Statistics is a layer that counts what goes through it. It mirrors RMM's
// statistics_resource_adaptor: it counts bytes as asked for, not as rounded.
// An allocation of 0 bytes is no block (address 0) and is not counted.
//
// It knows no lock: one goroutine uses it at a time, or its owner's lock guards
// it.
type Statistics struct {
	upstream Resource
	counts   Counts
}

// Counts is what a Statistics layer has counted since its generation began. The
// names say what the original's do not: RMM's "total" is over the lifetime.
type Counts struct {
	CurrentBytes  int64 // live now, as asked
	CurrentCount  int64
	PeakBytes     int64 // the most that was live at one time
	PeakCount     int64
	LifetimeBytes int64 // of all allocations together, freed or not
	LifetimeCount int64
}

// NewStatistics puts the layer over upstream, with all counters at 0.
func NewStatistics(upstream Resource) *Statistics {
	return &Statistics{upstream: upstream}
}

// Allocate asks the layer below and counts what it gave.
func (s *Statistics) Allocate(bytes int64, stream Stream) (Address, error) {
	address, err := s.upstream.Allocate(bytes, stream)
	if err != nil || address == 0 {
		return address, err
	}
	c := &s.counts
	c.CurrentBytes += bytes
	c.CurrentCount++
	c.PeakBytes = max(c.PeakBytes, c.CurrentBytes)
	c.PeakCount = max(c.PeakCount, c.CurrentCount)
	c.LifetimeBytes += bytes
	c.LifetimeCount++
	return address, nil
}

// Free passes the block down and takes it off. A free that is refused below is
// not counted.
func (s *Statistics) Free(address Address, bytes int64, stream Stream) error {
	if err := s.upstream.Free(address, bytes, stream); err != nil {
		return err
	}
	if address != 0 {
		s.counts.CurrentBytes -= bytes
		s.counts.CurrentCount--
	}
	return nil
}

// Name is "Statistics".
func (s *Statistics) Name() string { return "Statistics" }

// Upstream is the layer below.
func (s *Statistics) Upstream() Resource { return s.upstream }

// Counts reads the counters.
func (s *Statistics) Counts() Counts { return s.counts }

// restart puts a new generation's pool below and starts the counters at 0.
func (s *Statistics) restart(upstream Resource) {
	s.upstream = upstream
	s.counts = Counts{}
}
