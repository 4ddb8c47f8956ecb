package recorder

import (
	"math"

	"vramscope/arena"
	"vramscope/pool"
)

// eventColumns is where the columns of a line are read to, before it is known
// whether they fit together. It is used again from line to line.
type eventColumns struct {
	op, flags                                       []int64
	times, bytes, item, forward, reverse, requested []int64
	text, dtype, stream                             []int64
	scope, address                                  []uint64
	params                                          []EventParams
	list                                            []arena.Param // of all params, one behind the other
	arenaID, poolID, frame, generation              int64
	hasArena, hasPool                               bool
}

// keptColumn is how many numbers of memory a column keeps from line to line.
const keptColumn = 1 << 14

// reset empties the columns, and gives memory up that a huge line took.
func (c *eventColumns) reset() {
	for _, column := range []*[]int64{
		&c.op, &c.flags, &c.times, &c.bytes, &c.item, &c.forward, &c.reverse, &c.requested, &c.text, &c.dtype, &c.stream,
	} {
		emptyColumn(column)
	}
	emptyColumn(&c.scope)
	emptyColumn(&c.address)
	c.params, c.list = c.params[:0], nil
	c.arenaID, c.poolID, c.frame, c.generation = 0, 0, -1, 0
	c.hasArena, c.hasPool = false, false
}

func emptyColumn[T any](column *[]T) {
	if cap(*column) > keptColumn {
		*column = nil
	}
	*column = (*column)[:0]
}

// readEvents reads a batch, behind its brace. Which kind it is may be said
// after its columns.
func (d *lineDecoder) readEvents() Record {
	s, c := &d.scanner, &d.events
	c.reset()
	var head Head
	for first := true; s.nextKey(&first); {
		if s.null() || s.headKey(&head) {
			continue
		}
		switch string(s.key) {
		case "arena":
			c.arenaID, c.hasArena = s.integer(), true
		case "pool":
			c.poolID, c.hasPool = s.integer(), true
		case "frame":
			c.frame = s.integer()
		case "gen":
			c.generation = int64(int(s.integer()))
		case "dns":
			c.times = s.intColumn(c.times[:0])
		case "op":
			c.op = s.intColumn(c.op[:0])
		case "fl":
			c.flags = s.intColumn(c.flags[:0])
		case "n":
			c.bytes = s.intColumn(c.bytes[:0])
		case "item":
			c.item = s.intColumn(c.item[:0])
		case "f":
			c.forward = s.intColumn(c.forward[:0])
		case "r":
			c.reverse = s.intColumn(c.reverse[:0])
		case "sc":
			c.scope = s.uintColumn(c.scope[:0])
		case "x":
			c.text = s.intColumn(c.text[:0])
		case "dt":
			c.dtype = s.intColumn(c.dtype[:0])
		case "pr":
			s.eventParams(c)
		case "a":
			c.address = s.addressColumn(c.address[:0])
		case "q":
			c.requested = s.intColumn(c.requested[:0])
		case "st":
			c.stream = s.intColumn(c.stream[:0])
		default:
			s.skip()
		}
	}
	switch {
	case s.err != nil:
		return nil
	case c.hasArena == c.hasPool:
		s.fail("a batch of events names one arena or one pool")
		return nil
	case c.hasArena:
		return c.arenaEvents(s, head)
	}
	return c.poolEvents(s, head)
}

// eventParams reads the parameters of a batch's events.
func (s *scanner) eventParams(c *eventColumns) {
	if !s.take('[') {
		return
	}
	c.params, c.list = c.params[:0], nil
	for first := true; s.nextElement(&first) && s.take('[') && s.charge(32); {
		index := s.unsigned(math.MaxInt32)
		if n := len(c.params); n > 0 && int32(index) <= c.params[n-1].Index {
			s.fail("the parameters of events stand in the order of the events")
			return
		}
		if !s.take(',') {
			return
		}
		start := len(c.list)
		c.list = s.params(c.list)
		c.params = append(c.params, EventParams{Index: int32(index), Params: c.list[start:len(c.list):len(c.list)]})
		s.take(']')
	}
}

// arenaEvents makes the batch of an arena from the columns.
func (c *eventColumns) arenaEvents(s *scanner, head Head) Record {
	n := len(c.op)
	const rowBytes = 5*8 + 8 + 2*4 + 2
	if len(c.params) > 0 && int(c.params[len(c.params)-1].Index) >= n {
		s.fail("parameters of an event that is not in the batch")
		return nil
	}
	if len(c.address)+len(c.requested)+len(c.stream) > 0 || !s.charge(int64(n)*rowBytes) {
		s.fail("columns of a pool in a batch of an arena")
		return nil
	}
	numbers, small := make([]int64, 5*n), make([]uint32, 2*n)
	batch := &ArenaEvents{
		Head: head, Arena: c.arenaID, Frame: c.frame,
		Ns: numbers[:n:n], Bytes: numbers[n : 2*n : 2*n], ItemSize: numbers[2*n : 3*n : 3*n],
		Forward: numbers[3*n : 4*n : 4*n], Reverse: numbers[4*n:],
		Op: make([]arena.Op, n), Flags: make([]uint8, n), Scope: make([]uint64, n),
		Text: small[:n:n], DType: small[n:],
	}
	fillTimes(s, batch.Ns, c.times, head.Ns)
	fill(s, batch.Op, c.op, math.MaxUint8)
	fill(s, batch.Flags, c.flags, math.MaxUint8)
	fill(s, batch.Bytes, c.bytes, math.MaxInt64)
	fill(s, batch.ItemSize, c.item, math.MaxInt64)
	fill(s, batch.Forward, c.forward, math.MaxInt64)
	fill(s, batch.Reverse, c.reverse, math.MaxInt64)
	fill(s, batch.Text, c.text, math.MaxUint32)
	fill(s, batch.DType, c.dtype, math.MaxUint32)
	if len(c.scope) == n {
		copy(batch.Scope, c.scope)
	} else if len(c.scope) > 0 {
		s.fail("the columns differ in length")
	}
	if len(c.params) > 0 {
		batch.Params = append([]EventParams(nil), c.params...)
	}
	return batch
}

// poolEvents makes the batch of a pool from the columns.
func (c *eventColumns) poolEvents(s *scanner, head Head) Record {
	n := len(c.op)
	const rowBytes = 3*8 + 8 + 4 + 1
	if len(c.item)+len(c.forward)+len(c.reverse)+len(c.scope)+len(c.text)+len(c.dtype)+len(c.flags)+len(c.params) > 0 ||
		!s.charge(int64(n)*rowBytes) {
		s.fail("columns of an arena in a batch of a pool")
		return nil
	}
	numbers := make([]int64, 3*n)
	batch := &PoolEvents{
		Head: head, Pool: c.poolID, Frame: c.frame, Generation: int(c.generation),
		Ns: numbers[:n:n], Bytes: numbers[n : 2*n : 2*n], Requested: numbers[2*n:],
		Op: make([]pool.Op, n), Address: make([]uint64, n), Stream: make([]uint32, n),
	}
	fillTimes(s, batch.Ns, c.times, head.Ns)
	fill(s, batch.Op, c.op, math.MaxUint8)
	fill(s, batch.Bytes, c.bytes, math.MaxInt64)
	fill(s, batch.Requested, c.requested, math.MaxInt64)
	fill(s, batch.Stream, c.stream, math.MaxUint32)
	if len(c.address) == n {
		copy(batch.Address, c.address)
	} else if len(c.address) > 0 {
		s.fail("the columns differ in length")
	}
	return batch
}

// fill copies a column that was read, or leaves zeros where it was left out. A
// column of signed numbers takes any, others those from 0 to limit.
func fill[T int64 | uint8 | uint32 | arena.Op | pool.Op](s *scanner, into []T, from []int64, limit int64) {
	if len(from) == 0 {
		return
	}
	if len(from) != len(into) {
		s.fail("the columns differ in length")
		return
	}
	if limit == math.MaxInt64 {
		for i, value := range from {
			into[i] = T(value)
		}
		return
	}
	for i, value := range from {
		if uint64(value) > uint64(limit) {
			s.fail("a number of the column is too small or too large")
			return
		}
		into[i] = T(value)
	}
}

// fillTimes adds differences up.
func fillTimes(s *scanner, into, from []int64, ns int64) {
	if len(from) != 0 && len(from) != len(into) {
		s.fail("the columns differ in length")
		return
	}
	for i := range into {
		if len(from) > 0 {
			ns += from[i]
		}
		into[i] = ns
	}
}
