package torchsnap

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// lay puts the blocks of one device's segments one behind the other: as they
// stand in the columns, where their order there is right.
func (a *assembly) lay(segments []segmentRows) deviceState {
	state := deviceState{
		ordinal:  segments[0].ordinal,
		segments: withRoom[recorder.DumpSegment](a.m.account, nil, len(segments)),
	}
	next, inPlace := 0, true
	first := -1
	for i := range segments {
		s := &segments[i]
		s.blocks = slices.DeleteFunc(s.blocks, func(run value) bool { return !a.claim(run) })
		a.place(s)
		s.First = int32(next)
		for _, run := range s.blocks {
			from, count := run.run()
			if first < 0 {
				first = from
			}
			inPlace = inPlace && from == first+next
			next += count
			s.Count += int32(count)
		}
		inPlace = inPlace && a.ordered(s)
		state.segments = append(state.segments, s.DumpSegment)
	}
	switch {
	case next == 0:
	case inPlace:
		state.blocks = a.m.blocksBetween(first, first+next)
	default:
		state.blocks = a.copyBlocks(segments, next)
	}
	return state
}

// claim says whether a run of blocks may be laid: no more are laid in all
// than the file holds.
func (a *assembly) claim(run value) bool {
	_, count := run.run()
	if a.m.blocksLaid+count > a.m.blockCount {
		a.problem("the same blocks stand in several segments and count once")
		return false
	}
	a.m.blocksLaid += count
	return true
}

// place gives the blocks of an older snapshot, which has no addresses for
// them, the places that they take in their segment.
func (a *assembly) place(s *segmentRows) {
	blocks := &a.m.blocks
	next := s.Address
	for row := range s.eachBlock {
		if blocks.State[row]&stateUnplaced != 0 {
			blocks.State[row] &^= stateUnplaced
			blocks.Address[row] = next
		}
		next = blocks.Address[row] + uint64(blocks.Bytes[row])
	}
}

// eachBlock iterates over the rows of a segment's blocks.
func (s *segmentRows) eachBlock(yield func(row int) bool) {
	for _, run := range s.blocks {
		first, count := run.run()
		for row := first; row < first+count; row++ {
			if !yield(row) {
				return
			}
		}
	}
}

// ordered says whether a segment's blocks stand by address.
func (a *assembly) ordered(s *segmentRows) bool {
	last := uint64(0)
	for row := range s.eachBlock {
		if a.m.blocks.Address[row] < last {
			return false
		}
		last = a.m.blocks.Address[row]
	}
	return true
}

// copyBlocks copies the blocks of segments in their order, count in all.
func (a *assembly) copyBlocks(segments []segmentRows, count int) recorder.DumpBlocks {
	account, from := a.m.account, &a.m.blocks
	order := withRoom[int32](account, nil, count)
	for i := range segments {
		begin := len(order)
		for row := range segments[i].eachBlock {
			order = append(order, int32(row))
		}
		slices.SortStableFunc(order[begin:], func(x, y int32) int {
			return cmp.Compare(from.Address[x], from.Address[y])
		})
	}
	to := recorder.DumpBlocks{
		Address: lengthened[uint64](account, nil, count), Bytes: lengthened[int64](account, nil, count),
		Requested: lengthened[int64](account, nil, count), State: lengthened[recorder.DumpBlockState](account, nil, count),
		Stack: lengthened[int32](account, nil, count),
	}
	for i, row := range order {
		to.Address[i], to.Bytes[i], to.Requested[i] = from.Address[row], from.Bytes[row], from.Requested[row]
		to.State[i], to.Stack[i] = from.State[row], from.Stack[row]
	}
	return to
}

// blocksBetween is the blocks of some rows, in place.
func (c *columns) blocksBetween(first, end int) recorder.DumpBlocks {
	b := &c.blocks
	return recorder.DumpBlocks{
		Address: b.Address[first:end:end], Bytes: b.Bytes[first:end:end], Requested: b.Requested[first:end:end],
		State: b.State[first:end:end], Stack: b.Stack[first:end:end],
	}
}
