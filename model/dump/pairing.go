package dump

import (
	"slices"

	"vramscope/recorder"
)

// never ends a life that the trace does not end. It is larger than any event
// number, so that "ends after" needs no second question.
const never = int32(1<<31 - 1)

// pairing links every allocation of a trace with the event that ended it, and
// every free with what it freed.
type pairing struct {
	events *recorder.DumpEvents
	begin  int // events before it are of an earlier recording and have no effect

	// life holds, for an alloc, the event that ended the block (never if none
	// did); for a free, the alloc's event or ^n for before[n]; never for
	// everything else. While the events are read, a block whose free was asked
	// for holds ^n of that event.
	life   []int32
	before []beforeBlock // blocks that are older than the trace
	open   *addresses    // blocks that live after the last event seen
	closes map[int32]int32

	// freeOnRequest is set for a trace that was told to leave out
	// free_completed: there a block ends when its free is requested. A short
	// trace may just have none; then the end state has blocks that wait.
	freeOnRequest bool

	strayFrees int // frees of an address that the trace had freed already
	unseen     int // frees of blocks that the trace never saw allocated
	strayEnds  int // blocks of the end state whose address the trace had left free
	lost       int // blocks that the trace leaves allocated and the end state does not have
	otherSize  int // blocks that the end state has with another requested size
	lastLost   int32
}

// beforeBlock is a block that was there before the first event.
type beforeBlock struct {
	address   uint64
	requested int64
	bytes     int64 // of the block; 0 while unknown
	stack     int32 // BeforeRecording when nothing says
	ends      int32 // the event that completed its free
	request   int32 // the event that asked for it
	node      int32 // its place in the geometry
	asked     bool  // its free was asked for before the first event
	dropped   bool  // turned out to be no such block
}

func newPairing(begin int) *pairing {
	return &pairing{begin: begin, open: newAddresses(), closes: map[int32]int32{}, lastLost: -1}
}

// read pairs the events up to one with those before it.
func (p *pairing) read(events *recorder.DumpEvents, to int) {
	p.events = events
	from := len(p.life)
	p.life = slices.Grow(p.life, to-from)[:to]
	for ; from < min(p.begin, to); from++ {
		p.life[from] = int32(from) // ends where it begins: never live
	}
	actions := events.Action[:to]
	for i := from; i < to; i++ {
		event := int32(i)
		p.life[i] = never
		switch actions[i] {
		case recorder.DumpAlloc:
			if old, had := p.open.put(events.Address[i], event); had {
				p.close(old, event)
				p.closes[event] = old
			}
		case recorder.DumpFreeRequested:
			if p.freeOnRequest {
				p.free(event)
				continue
			}
			if next := i + 1; next < to && actions[next] == recorder.DumpFreeCompleted && events.Address[next] == events.Address[i] {
				p.freeAtOnce(event)
				i++
				continue
			}
			p.request(event)
		case recorder.DumpFreeCompleted, recorder.DumpFree:
			p.free(event)
		}
	}
}

// freeAtOnce is the usual case, both frees in a row, in one look-up.
func (p *pairing) freeAtOnce(event int32) {
	block := p.end(event + 1)
	asked := block >= 0 && p.life[block] < 0 || block < 0 && p.before[^block].request != never
	p.close(block, event+1)
	p.life[event], p.life[event+1] = block, block
	switch {
	case asked:
		p.life[event] = never // this one is too many
	case block < 0:
		p.before[^block].request = event
	}
}

// finish is called after the last event. counts says how often each action
// occurs.
func (p *pairing) finish(counts *[256]int) {
	p.open.each(func(_ uint64, block int32) {
		if block >= 0 {
			p.life[block] = never
		}
	})
	if p.unseen > 0 {
		p.dropContradicted(len(p.life))
	}
	if counts[recorder.DumpFreeRequested] == 0 || p.freeOnRequest {
		return
	}
	for n := range p.before { // a trace that asks first has not forgotten to
		b := &p.before[n]
		b.asked = b.request == never && b.ends != never && p.events.Action[b.ends] != recorder.DumpAlloc
	}
}

// close ends a block at an event.
func (p *pairing) close(block, event int32) {
	if block >= 0 {
		p.life[block] = event
	} else {
		p.before[^block].ends = event
	}
}

// request notes that the free of a block was asked for.
func (p *pairing) request(event int32) {
	address := p.events.Address[event]
	block, open := p.open.get(address)
	if !open {
		block = p.older(event)
		p.open.put(address, block)
	}
	switch {
	case block < 0 && p.before[^block].request == never:
		p.before[^block].request = event
	case block >= 0 && p.life[block] >= 0:
		p.life[block] = ^event // until its end is found
	default:
		block = never // was asked for before
	}
	p.life[event] = block
}

// free ends the block at the event's address.
func (p *pairing) free(event int32) {
	block := p.end(event)
	p.close(block, event)
	p.life[event] = block
}

// end takes the block at the event's address from those that live.
func (p *pairing) end(event int32) int32 {
	if block, open := p.open.take(p.events.Address[event]); open {
		return block
	}
	return p.older(event)
}

// older notes the block that an event frees as older than the trace.
func (p *pairing) older(event int32) int32 {
	p.unseen++
	p.before = append(p.before, beforeBlock{
		address: p.events.Address[event], requested: p.events.Bytes[event],
		stack: BeforeRecording, ends: never, request: never,
	})
	return ^int32(len(p.before) - 1)
}

// dropContradicted drops older blocks whose address the trace used before it
// freed them: such a free is one too many, not that of an older block.
func (p *pairing) dropContradicted(limit int) {
	first := p.firstUses(limit)
	for n := range p.before {
		b := &p.before[n]
		if b.dropped {
			continue
		}
		touched, _ := first.get(b.address)
		if own := min(b.request, b.ends); touched < own {
			b.dropped = true
			p.strayFrees++
			p.unseen--
			for _, event := range [2]int32{b.request, b.ends} {
				if event != never && p.life[event] == ^int32(n) {
					p.life[event] = never
				}
			}
			if old, closed := p.closes[b.ends]; closed && old == ^int32(n) {
				delete(p.closes, b.ends)
			}
			if number, open := p.open.get(b.address); open && number == ^int32(n) {
				p.open.take(b.address)
			}
		}
	}
}

// firstUses finds the first event at the address of each older block.
func (p *pairing) firstUses(limit int) *addresses {
	first := newAddresses()
	for n := range p.before {
		first.put(p.before[n].address, never)
	}
	missing := first.count
	for i := p.begin; i < limit && missing > 0; i++ {
		switch p.events.Action[i] {
		case recorder.DumpAlloc, recorder.DumpFreeRequested, recorder.DumpFreeCompleted, recorder.DumpFree:
			at := first.find(p.events.Address[i])
			if slot := &first.slots[at]; slot.filled && slot.number == never {
				slot.number = int32(i)
				missing--
			}
		}
	}
	return first
}

// join matches what the trace leaves allocated with the blocks of the end
// state. A block there that the trace never touched is older than the trace.
func (p *pairing) join(blocks *recorder.DumpBlocks) {
	matched, traced := 0, 0
	older := len(p.before)
	for i := range blocks.Len() {
		if blocks.State[i] == recorder.DumpInactive {
			continue
		}
		block, open := p.open.get(blocks.Address[i])
		switch {
		case !open:
			p.before = append(p.before, beforeBlock{
				address: blocks.Address[i], requested: blocks.Requested[i], bytes: blocks.Bytes[i],
				stack: stackBefore(blocks.Stack[i]), ends: never, request: never,
				asked: blocks.State[i] == recorder.DumpPendingFree,
			})
		case block >= 0:
			matched++
			if p.events.Bytes[block] != blocks.Requested[i] {
				p.otherSize++
			}
		default: // its free was requested and not completed
			b := &p.before[^block]
			b.bytes, b.stack = blocks.Bytes[i], stackBefore(blocks.Stack[i])
		}
	}
	if len(p.before) > older {
		p.dropTouched(older)
	}
	p.open.each(func(_ uint64, number int32) {
		if number >= 0 {
			traced++
		}
	})
	if p.lost = max(traced-matched, 0); p.lost > 0 {
		p.findLastLost(blocks)
	}
}

// stackBefore is the stack of a block from before the trace, which may have
// none.
func stackBefore(stack int32) int32 {
	if stack <= 0 {
		return BeforeRecording
	}
	return stack
}

// dropTouched drops those blocks of the end state, from a number on, whose
// address the trace used: they appeared without an event.
func (p *pairing) dropTouched(from int) {
	first := p.firstUses(p.events.Len())
	for n := from; n < len(p.before); n++ {
		if touched, _ := first.get(p.before[n].address); touched != never {
			p.before[n].dropped = true
			p.strayEnds++
		}
	}
}

func (p *pairing) findLastLost(blocks *recorder.DumpBlocks) {
	end := newAddresses()
	for i := range blocks.Len() {
		if blocks.State[i] != recorder.DumpInactive {
			end.put(blocks.Address[i], 0)
		}
	}
	p.open.each(func(address uint64, number int32) {
		if _, there := end.get(address); !there {
			p.lastLost = max(p.lastLost, number)
		}
	})
}
