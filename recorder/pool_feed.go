package recorder

import "vramscope/pool"

// PoolFeed watches one pool for a Stream. It is the pool's observer.
type PoolFeed struct {
	stream *Stream
	batch  PoolEvents
}

// WatchPool begins to watch a pool. The observer costs one test while no
// events are wanted.
func (s *Stream) WatchPool() *PoolFeed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	feed := &PoolFeed{stream: s, batch: PoolEvents{Head: Head{Src: s.options.Source}, Pool: s.lastID}}
	s.pools = append(s.pools, feed)
	s.stateDue = true
	return feed
}

// ID is the pool's number in its source: that of its PoolState.
func (f *PoolFeed) ID() int64 { return f.batch.Pool }

// Changed says that the pool was configured or rebuilt, so that a state is due.
func (f *PoolFeed) Changed() {
	f.stream.mu.Lock()
	defer f.stream.mu.Unlock()
	f.stream.stateDue = true
}

// ObservePool takes an event of the pool in. It is pool.Observer's method.
func (f *PoolFeed) ObservePool(event pool.Event) {
	s := f.stream
	if event.Op != pool.OpRebuild && !s.events.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.Op == pool.OpRebuild {
		s.stateDue = true
	}
	if !s.events.Load() {
		return
	}
	if n := f.batch.Len(); n == MaxBatch || n > 0 && (f.batch.Frame != s.frame || f.batch.Generation != event.Generation) {
		s.flush()
	}
	f.batch.Append(PoolEvent{
		Ns: s.options.Clock(), Frame: s.frame, Generation: event.Generation, Op: event.Op, Address: uint64(event.Address),
		Bytes: event.Bytes, Requested: event.Requested, Stream: uint32(event.Stream),
	})
}

// flush emits the pool's events that have not gone out.
func (f *PoolFeed) flush() {
	if f.batch.Len() == 0 {
		return
	}
	f.stream.options.Emit(&f.batch)
	f.batch.Reset()
}
