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
	last   []liveBlock // those of the last checkpoint
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

// look sets the checkpoints that lie in the events up to one. These must be
// paired; whether later ones are does not matter.
func (c *checkpoints) look(d *Device, to int) {
	if c.starts == nil {
		c.starts = []int32{0}
	}
	for {
		from := 0
		if n := len(c.events); n > 0 {
			from = int(c.events[n-1]) + 1
		}
		at := from + max(leastBetween, 4*len(c.last))
		if at >= to {
			return
		}
		c.last = d.advance(c.last, from, at)
		c.events = append(c.events, int32(at-1))
		c.blocks = append(c.blocks, c.last...)
		c.starts = append(c.starts, int32(len(c.blocks)))
	}
}

// advance takes the blocks that live before event from and makes them those
// that live after event to-1, in place.
func (d *Device) advance(live []liveBlock, from, to int) []liveBlock {
	kept := live[:0]
	after := int32(to - 1)
	lives := func(alloc int32) bool {
		ends := d.life[alloc]
		return ends > after || ends < 0 // while events come in, below 0: asked for, and not freed yet
	}
	for _, block := range live {
		if lives(block.alloc()) {
			kept = append(kept, block)
		}
	}
	actions := d.Events.Action[:to]
	for i := from; i < to; i++ {
		switch actions[i] {
		case recorder.DumpAlloc:
			if lives(int32(i)) {
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

// Partner is the event at the other end of a block's life: of an alloc the one
// that ended the block, of a free the one that allocated it. Without one, as
// for blocks older than the trace, it is -1.
func (d *Device) Partner(event int) int {
	if event < 0 || event >= d.Events.Len() || d.life[event] == never || d.life[event] < 0 || event < d.begin {
		return BeforeFirst
	}
	return int(d.life[event])
}

// SizeAt is the size in bytes of the block that an event allocates or frees,
// rounded up as the allocator counts it; 0 for other events.
func (d *Device) SizeAt(event int) int64 {
	if event < 0 || event >= d.Events.Len() {
		return 0
	}
	return d.sizeAt(event)
}
