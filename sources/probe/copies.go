package probe

import (
	"sync"

	"vramscope/recorder"
)

// keptCopies is how many copied batches of a kind are kept to be used again.
const keptCopies = 16

// copies copies batches of events, which their owner uses again, into memory
// that is used again, too.
type copies struct {
	mu     sync.Mutex
	arenas []*recorder.ArenaEvents
	pools  []*recorder.PoolEvents
}

func isEvents(record recorder.Record) bool {
	switch record.(type) {
	case *recorder.ArenaEvents, *recorder.PoolEvents:
		return true
	}
	return false
}

// of is a copy of a batch of events.
func (c *copies) of(record recorder.Record) recorder.Record {
	switch batch := record.(type) {
	case *recorder.ArenaEvents:
		into := take(c, &c.arenas)
		copyArenaEvents(into, batch)
		return into
	case *recorder.PoolEvents:
		into := take(c, &c.pools)
		copyPoolEvents(into, batch)
		return into
	}
	return record
}

// giveBack takes a copy back once its line is made.
func (c *copies) giveBack(record recorder.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch batch := record.(type) {
	case *recorder.ArenaEvents:
		if len(c.arenas) < keptCopies {
			c.arenas = append(c.arenas, batch)
		}
	case *recorder.PoolEvents:
		if len(c.pools) < keptCopies {
			c.pools = append(c.pools, batch)
		}
	}
}

func take[B any](c *copies, kept *[]*B) *B {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(*kept) - 1
	if last < 0 {
		return new(B)
	}
	batch := (*kept)[last]
	*kept = (*kept)[:last]
	return batch
}

func copyArenaEvents(into, from *recorder.ArenaEvents) {
	into.Reset()
	into.Head, into.Arena, into.Frame = from.Head, from.Arena, from.Frame
	into.Ns = append(into.Ns, from.Ns...)
	into.Op = append(into.Op, from.Op...)
	into.Flags = append(into.Flags, from.Flags...)
	into.Bytes = append(into.Bytes, from.Bytes...)
	into.ItemSize = append(into.ItemSize, from.ItemSize...)
	into.Forward = append(into.Forward, from.Forward...)
	into.Reverse = append(into.Reverse, from.Reverse...)
	into.Scope = append(into.Scope, from.Scope...)
	into.Text = append(into.Text, from.Text...)
	into.DType = append(into.DType, from.DType...)
	for _, entry := range from.Params {
		n := len(into.Params)
		if n < cap(into.Params) {
			into.Params = into.Params[:n+1]
		} else {
			into.Params = append(into.Params, recorder.EventParams{})
		}
		into.Params[n].Index = entry.Index
		into.Params[n].Params = append(into.Params[n].Params[:0], entry.Params...)
	}
}

func copyPoolEvents(into, from *recorder.PoolEvents) {
	into.Reset()
	into.Head, into.Pool, into.Frame, into.Generation = from.Head, from.Pool, from.Frame, from.Generation
	into.Ns = append(into.Ns, from.Ns...)
	into.Op = append(into.Op, from.Op...)
	into.Address = append(into.Address, from.Address...)
	into.Bytes = append(into.Bytes, from.Bytes...)
	into.Requested = append(into.Requested, from.Requested...)
	into.Stream = append(into.Stream, from.Stream...)
}
