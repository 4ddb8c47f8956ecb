package dump

import (
	"slices"

	"vramscope/recorder"
)

// checkpoints hold which blocks live at certain events, as numbers of their
// alloc events in order. They lie so far apart that they take a byte for each
// event at most.
type checkpoints struct {
	events []int32 // after which the checkpoint holds
	starts []int32 // in blocks, one more than events
	blocks []int32
}

// leastBetween is how many events lie between two checkpoints at least.
const leastBetween = 8192

func markLive(d *Device) checkpoints {
	c := checkpoints{starts: []int32{0}}
	var live []int32
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
func (d *Device) advance(live []int32, from, to int) []int32 {
	kept := live[:0]
	after := int32(to - 1)
	for _, block := range live {
		if d.life[block] > after {
			kept = append(kept, block)
		}
	}
	for i, action := range d.Events.Action[from:to] {
		if action == recorder.DumpAlloc && d.life[from+i] > after {
			kept = append(kept, int32(from+i))
		}
	}
	return kept
}

// traced are the alloc events of the blocks that live after an event, in
// order.
func (d *Device) tracedLive(event int) []int32 {
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
	var blocks []Block
	d.eachBefore(event, func(b *beforeBlock) { blocks = append(blocks, d.olderBlock(b, event)) })
	traced := d.tracedLive(event)
	blocks = slices.Grow(blocks, len(traced))
	for _, alloc := range traced {
		blocks = append(blocks, d.tracedBlock(alloc))
	}
	if d.pendingAt(event) {
		d.markPending(blocks, event)
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

func (d *Device) tracedBlock(alloc int32) Block {
	return Block{
		Address: d.Events.Address[alloc], Bytes: d.sizeAt(int(alloc)), Requested: d.Events.Bytes[alloc],
		State: recorder.DumpActive, Stack: d.Events.Stack[alloc], Alloc: int(alloc), Free: int(d.life[alloc]),
	}
}

// pendingAt says whether any block waits for a stream after an event.
func (d *Device) pendingAt(event int) bool {
	at := d.At(event)
	return at[Pending] > 0
}

// markPending finds, among live blocks, those whose free was asked for: by
// looking back for the requests, as far as the oldest block that may have one.
func (d *Device) markPending(blocks []Block, event int) {
	byAlloc := make(map[int32]int, len(blocks))
	for i := range blocks {
		if blocks[i].Alloc >= 0 {
			byAlloc[int32(blocks[i].Alloc)] = i
		}
	}
	left := d.At(event)[Pending]
	for i := range blocks {
		if blocks[i].State == recorder.DumpPendingFree {
			left -= blocks[i].Bytes
		}
	}
	for at := event; at >= 0 && left > 0; at-- {
		if d.Events.Action[at] != recorder.DumpFreeRequested {
			continue
		}
		if i, live := byAlloc[d.life[at]]; live && d.life[at] >= 0 {
			blocks[i].State = recorder.DumpPendingFree
			left -= blocks[i].Bytes
		}
	}
}
