package dump

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// checkpoints hold which blocks live at certain events. They lie so far apart
// that they take a byte for each event at most.
type checkpoints struct {
	events []int32 // after which the checkpoint holds
	starts []int32 // in blocks, one more than events
	blocks []liveBlock
}

// liveBlock is a block that lives at a moment: its alloc event, or ^ that when
// its free was asked for. Rows of them are in the order of their allocation.
type liveBlock int32

func (b liveBlock) alloc() int32 {
	if b < 0 {
		return int32(^b)
	}
	return int32(b)
}

// leastBetween is how many events lie between two checkpoints at least.
const leastBetween = 8192

func markLive(d *Device) checkpoints {
	c := checkpoints{starts: []int32{0}}
	var live []liveBlock
	from, between := 0, leastBetween
	for n := d.Events.Len(); from+between < n; {
		to := from + between
		live = d.advance(live, from, to)
		c.events = append(c.events, int32(to-1))
		c.blocks = append(c.blocks, live...)
		c.starts = append(c.starts, int32(len(c.blocks)))
		from, between = to, max(leastBetween, 4*len(live))
	}
	return c
}

// advance takes the blocks that live before event from and makes them those
// that live after event to-1, in place.
func (d *Device) advance(live []liveBlock, from, to int) []liveBlock {
	kept := live[:0]
	after := int32(to - 1)
	for _, block := range live {
		if d.life[block.alloc()] > after {
			kept = append(kept, block)
		}
	}
	actions := d.Events.Action[:to]
	for i := from; i < to; i++ {
		switch actions[i] {
		case recorder.DumpAlloc:
			if d.life[i] > after {
				kept = append(kept, liveBlock(i))
			}
		case recorder.DumpFreeRequested:
			if i+1 < to && actions[i+1] == recorder.DumpFreeCompleted && d.life[i+1] == d.life[i] {
				continue // the usual case: its block is gone
			}
			markAsked(kept, d.life[i])
		}
	}
	return kept
}

// markAsked notes that the free of a block was asked for, if it is among those
// that live.
func markAsked(live []liveBlock, block int32) {
	at, found := slices.BinarySearchFunc(live, block, func(b liveBlock, block int32) int { return cmp.Compare(b.alloc(), block) })
	if found && live[at] >= 0 {
		live[at] = ^live[at]
	}
}

// tracedLive are the blocks that the trace allocated and that live after an
// event.
func (d *Device) tracedLive(event int) []liveBlock {
	event = min(event, d.Events.Len()-1)
	if event < 0 {
		return nil
	}
	at, exact := slices.BinarySearch(d.live.events, int32(event))
	if !exact {
		at--
	}
	if at < 0 {
		return d.advance(nil, 0, event+1)
	}
	live := slices.Clone(d.live.blocks[d.live.starts[at]:d.live.starts[at+1]])
	return d.advance(live, int(d.live.events[at])+1, event+1)
}

// Block is a block at a moment.
type Block struct {
	Address   uint64
	Bytes     int64 // rounded up, as the allocator counts it
	Requested int64 // as asked for; 0 for an inactive block
	State     recorder.DumpBlockState
	Stack     int32 // who allocated it; BeforeRecording when nothing says
	Alloc     int   // the event that allocated it, BeforeFirst for an older one and for free memory
	Free      int   // the event that ends it, NotFreed without one
}

// NotFreed stands for the event that ends a block which the trace does not
// free.
const NotFreed = int(never)

// LiveAt returns the blocks that are not free after an event: older ones first,
// then by the order of their allocation. It looks at the blocks and a few
// thousand events, however long the trace is.
func (d *Device) LiveAt(event int) []Block {
	traced := d.tracedLive(event)
	blocks := make([]Block, 0, len(traced)+len(d.before))
	d.eachBefore(event, func(b *beforeBlock) { blocks = append(blocks, d.olderBlock(b, event)) })
	for _, block := range traced {
		blocks = append(blocks, d.tracedBlock(block))
	}
	return blocks
}

// eachBefore visits the older blocks that live after an event.
func (d *Device) eachBefore(event int, visit func(*beforeBlock)) {
	for i := range d.before {
		if b := &d.before[i]; !b.dropped && int(b.ends) > event {
			visit(b)
		}
	}
}

func (d *Device) olderBlock(b *beforeBlock, event int) Block {
	block := Block{
		Address: b.address, Bytes: b.bytes, Requested: b.requested, State: recorder.DumpActive,
		Stack: b.stack, Alloc: BeforeFirst, Free: int(b.ends),
	}
	if b.asked || int(b.request) <= event {
		block.State = recorder.DumpPendingFree
	}
	return block
}

func (d *Device) tracedBlock(live liveBlock) Block {
	alloc := live.alloc()
	block := Block{
		Address: d.Events.Address[alloc], Bytes: d.sizeAt(int(alloc)), Requested: d.Events.Bytes[alloc],
		State: recorder.DumpActive, Stack: d.Events.Stack[alloc], Alloc: int(alloc), Free: int(d.life[alloc]),
	}
	if live < 0 {
		block.State = recorder.DumpPendingFree
	}
	return block
}
