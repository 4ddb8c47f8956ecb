package recorder

import (
	"iter"

	"vramscope/pool"
)

// PoolEvent is one row of a PoolEvents: a pool.Event with its time and frame.
type PoolEvent struct {
	Ns         int64 // monotonic ns
	Frame      int64 // frame under way, -1 unknown
	Generation int
	Op         pool.Op
	Address    uint64
	Bytes      int64 // rounded size of the block, or size of the segment
	Requested  int64 // pool.OpAlloc: as asked, bytes
	Stream     uint32
}

// Len is how many events the batch holds.
func (b *PoolEvents) Len() int { return len(b.Op) }

// All yields the events of the batch in order.
func (b *PoolEvents) All() iter.Seq2[int, PoolEvent] {
	return func(yield func(int, PoolEvent) bool) {
		for i := range b.Op {
			event := PoolEvent{
				Ns: b.Ns[i], Frame: b.Frame, Generation: b.Generation, Op: b.Op[i],
				Address: b.Address[i], Bytes: b.Bytes[i], Requested: b.Requested[i], Stream: b.Stream[i],
			}
			if !yield(i, event) {
				return
			}
		}
	}
}

// Append adds an event. Its frame and generation are those of the batch.
func (b *PoolEvents) Append(event PoolEvent) {
	if len(b.Op) == 0 {
		b.Head.Ns, b.Frame, b.Generation = event.Ns, event.Frame, event.Generation
	}
	b.Ns = append(b.Ns, event.Ns)
	b.Op = append(b.Op, event.Op)
	b.Address = append(b.Address, event.Address)
	b.Bytes = append(b.Bytes, event.Bytes)
	b.Requested = append(b.Requested, event.Requested)
	b.Stream = append(b.Stream, event.Stream)
}

// Reset empties the batch and keeps its memory.
func (b *PoolEvents) Reset() {
	b.Ns, b.Op, b.Address = b.Ns[:0], b.Op[:0], b.Address[:0]
	b.Bytes, b.Requested, b.Stream = b.Bytes[:0], b.Requested[:0], b.Stream[:0]
}
