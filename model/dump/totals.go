package dump

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// StackTotal is what a stack has: live, allocated or left over.
type StackTotal struct {
	Stack int32 // BeforeRecording for older blocks of which nothing says who allocated them
	Bytes int64 // requested
	Count int64 // blocks or allocations
}

// LiveByStack adds up by stack what is live after an event, by requested bytes,
// the largest first. The sum is At(event)[Requested].
func (d *Device) LiveByStack(event int) []StackTotal {
	sums := d.sums()
	d.eachBefore(event, func(b *beforeBlock) { sums.add(b.stack, b.requested, 1) })
	for _, block := range d.tracedLive(event) {
		alloc := block.alloc()
		sums.add(d.Events.Stack[alloc], d.Events.Bytes[alloc], 1)
	}
	return sums.sorted()
}

// UnfreedByStack adds up by stack what the trace allocated and did not free.
func (d *Device) UnfreedByStack() []StackTotal {
	sums := d.sums()
	for _, block := range d.tracedLive(d.Events.Len() - 1) {
		alloc := block.alloc()
		sums.add(d.Events.Stack[alloc], d.Events.Bytes[alloc], 1)
	}
	return sums.sorted()
}

// EndByStack adds up by stack the blocks of the end state; without one, what is
// live after the last event.
func (d *Device) EndByStack() []StackTotal {
	if d.Exact || !d.hasEnd() || d.Blocks.Len() == 0 {
		return d.LiveByStack(d.Events.Len() - 1)
	}
	sums := d.sums()
	for i := range d.Blocks.Len() {
		if d.Blocks.State[i] != recorder.DumpInactive {
			sums.add(stackBefore(d.Blocks.Stack[i]), d.Blocks.Requested[i], 1)
		}
	}
	return sums.sorted()
}

// AllocatedByStack adds up by stack what the events [from, to) allocated,
// freed since or not. Its cost does not grow with the range.
func (d *Device) AllocatedByStack(from, to int) []StackTotal {
	from, to = d.clamp(from, to)
	allocated, stacks := &d.tally.allocated, max(d.index.Dump.Stacks.Len(), 1)
	upTo, before := allocated.until(d.Events, to, stacks), allocated.until(d.Events, from, stacks)
	sums := d.sums()
	for stack := range upTo {
		if count := upTo[stack].count - before[stack].count; count > 0 {
			sums.add(int32(stack), upTo[stack].bytes-before[stack].bytes, count)
		}
	}
	return sums.sorted()
}

// stackSums adds up by stack.
type stackSums struct {
	totals []StackTotal
	places []int32 // of a stack in totals, counted from 1; BeforeRecording has the last
}

func (d *Device) sums() *stackSums {
	return &stackSums{places: make([]int32, max(d.index.Dump.Stacks.Len(), 1)+1)}
}

func (s *stackSums) add(stack int32, bytes, count int64) {
	at := int(stack)
	if at < 0 || at >= len(s.places)-1 {
		at, stack = len(s.places)-1, BeforeRecording
	}
	if s.places[at] == 0 {
		s.totals = append(s.totals, StackTotal{Stack: stack})
		s.places[at] = int32(len(s.totals))
	}
	total := &s.totals[s.places[at]-1]
	total.Bytes += bytes
	total.Count += count
}

func (s *stackSums) sorted() []StackTotal {
	slices.SortFunc(s.totals, compareTotals)
	return s.totals
}

// compareTotals puts the larger one first.
func compareTotals(a, b StackTotal) int {
	switch {
	case a.Bytes != b.Bytes:
		return cmp.Compare(b.Bytes, a.Bytes)
	case a.Count != b.Count:
		return cmp.Compare(b.Count, a.Count)
	}
	return cmp.Compare(a.Stack, b.Stack)
}
