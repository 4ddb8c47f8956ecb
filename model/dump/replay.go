package dump

import (
	"slices"

	"vramscope/recorder"
)

// The bits of Device.change. Below them stands the size of the event's block
// in units of 512 bytes.
const (
	changeWide  = 1 << 31 // the size stands in Device.wide
	changeAsked = 1 << 30 // of a free: it was asked for in an event before
	changeUnits = changeAsked - 1
)

// replay runs a device's events through its allocator's address space and
// writes the running totals, relative to the state before the first event.
type replay struct {
	d    *Device
	p    *pairing
	g    *geometry
	now  Totals
	high [seriesCount]Peak // of each series, with the first event of its chunk

	excess    int64 // the most that active exceeds reserved
	crossed   int   // the first event after which it does
	doubled   int   // allocations at the address of a live block
	otherFree int   // frees of another size than was allocated
}

// newReplay begins a replay in the memory that was there before the first
// event.
func newReplay(d *Device, p *pairing, g *geometry) *replay {
	d.change = d.change[:0]
	d.pyramid = pyramid{levels: [][]extent{nil}}
	r := &replay{d: d, p: p, g: g}
	for s := range r.high {
		r.high[s].Event = BeforeFirst
	}
	return r
}

// run replays the events up to one, which ends a chunk or is the last.
func (r *replay) run(to int) {
	p := &r.d.pyramid
	from := len(r.d.change)
	r.d.change = slices.Grow(r.d.change, to-from)[:to]
	p.levels[0] = slices.Grow(p.levels[0], (to-from+chunk-1)/chunk)
	p.last = slices.Grow(p.last, (to-from+chunk-1)/chunk)
	for first := from; first < to; first += chunk {
		e := noExtent
		for i := first; i < min(first+chunk, to); i++ {
			r.d.change[i] = 0
			r.step(int32(i))
			e.add(&r.now)
		}
		p.levels[0], p.last = append(p.levels[0], e), append(p.last, r.now)
		for s := range r.high {
			if e.max[s] > r.high[s].Bytes {
				r.high[s] = Peak{Bytes: e.max[s], Event: first}
			}
		}
	}
}

// finish is called after the last event. The columns life and change are final
// afterwards, and so are the sizes of older blocks.
func (r *replay) finish() {
	r.d.pyramid.close()
	r.p.open.each(func(_ uint64, block int32) {
		r.setSize(block, r.nodeOf(block).bytes)
	})
	for i := range r.d.before {
		if b := &r.d.before[i]; b.ends == never && !b.dropped {
			b.bytes = r.g.nodes[b.node].bytes
		}
	}
}

func (r *replay) step(event int32) {
	if int(event) < r.d.begin {
		return
	}
	events := r.d.Events
	switch events.Action[event] {
	case recorder.DumpAlloc:
		r.alloc(event)
	case recorder.DumpFreeRequested:
		if r.d.freeOnRequest {
			r.free(event)
		} else {
			r.request(event)
		}
	case recorder.DumpFreeCompleted, recorder.DumpFree:
		r.free(event)
	case recorder.DumpSegmentAlloc, recorder.DumpSegmentMap:
		r.now[Reserved] += events.Bytes[event]
		r.g.add(pieceOfEvent(events, event))
	case recorder.DumpSegmentFree, recorder.DumpSegmentUnmap:
		r.now[Reserved] -= events.Bytes[event]
		r.g.remove(event, events.Address[event], events.Bytes[event])
	default:
		return
	}
	if excess := r.now.Active() - r.now[Reserved]; excess > r.excess {
		r.excess, r.crossed = excess, int(event)
	}
}

func (r *replay) alloc(event int32) {
	if len(r.d.closes) > 0 {
		if old, closes := r.d.closes[event]; closes {
			r.closeOld(event, old.block)
		}
	}
	events := r.d.Events
	requested := events.Bytes[event]
	number := r.g.take(events.Address[event], requested, r.g.rules.round(requested), events.Stream[event])
	r.d.change[event] = uint32(number)
	r.now[Requested] += requested
	r.now[Allocated] += r.g.nodes[number].bytes
}

// closeOld ends a live block whose address an event allocates again. When its
// free had been asked for, only the end of that is missing.
func (r *replay) closeOld(event, block int32) {
	asked := r.nodeOf(block).flags&flagRequested != 0
	if !asked {
		r.doubled++
	}
	r.d.closes[event] = closing{block, asked}
	r.end(block)
}

// request moves a block from allocated to pending.
func (r *replay) request(event int32) {
	block := r.d.life[event]
	if block == never {
		return
	}
	n := r.nodeOf(block)
	n.flags |= flagRequested
	r.now[Allocated] -= n.bytes
	r.now[Pending] += n.bytes
	r.d.change[event] = r.d.packed(event, n.bytes)
}

func (r *replay) free(event int32) {
	block := r.d.life[event]
	if block == never {
		return
	}
	if r.d.requestedOf(block) != r.d.Events.Bytes[event] {
		r.otherFree++
	}
	n := r.nodeOf(block)
	r.d.change[event] = r.d.packed(event, n.bytes)
	if n.flags&flagRequested != 0 {
		r.d.change[event] |= changeAsked
	}
	r.end(block)
}

// end gives a block's memory back.
func (r *replay) end(block int32) {
	n := r.nodeOf(block)
	r.now[Requested] -= r.d.requestedOf(block)
	if n.flags&flagRequested != 0 {
		r.now[Pending] -= n.bytes
	} else {
		r.now[Allocated] -= n.bytes
	}
	number := r.numberOf(block)
	r.setSize(block, n.bytes)
	r.g.release(number)
}

// numberOf is the node of a live block.
func (r *replay) numberOf(block int32) int32 {
	if block < 0 {
		return r.d.before[^block].node
	}
	return int32(r.d.change[block])
}

func (r *replay) nodeOf(block int32) *node { return &r.g.nodes[r.numberOf(block)] }

// setSize writes a block's size over the node that it had.
func (r *replay) setSize(block int32, bytes int64) {
	if block < 0 {
		r.d.before[^block].bytes = bytes
	} else {
		r.d.change[block] = r.d.packed(block, bytes)
	}
}

// packed is a size as it stands in the column change.
func (d *Device) packed(event int32, bytes int64) uint32 {
	if units := uint64(bytes) / blockUnit; bytes >= 0 && bytes%blockUnit == 0 && units <= changeUnits {
		return uint32(units)
	}
	if d.wide == nil {
		d.wide = map[int32]int64{}
	}
	d.wide[event] = bytes
	return changeWide
}

// sizeAt is the size in bytes of the block that an event allocates or frees.
func (d *Device) sizeAt(event int) int64 {
	change := d.change[event]
	if change&changeWide != 0 {
		return d.wide[int32(event)]
	}
	return int64(change&changeUnits) * blockUnit
}

// requestedOf is what was asked for with a block.
func (d *Device) requestedOf(block int32) int64 {
	if block < 0 {
		return d.before[^block].requested
	}
	return d.Events.Bytes[block]
}

// sizeOf is the size in bytes of a block.
func (d *Device) sizeOf(block int32) int64 {
	if block < 0 {
		return d.before[^block].bytes
	}
	return d.sizeAt(int(block))
}

// apply adds to the totals what an event does.
func (d *Device) apply(at *Totals, event int) {
	if event < d.begin {
		return
	}
	switch d.Events.Action[event] {
	case recorder.DumpAlloc:
		at[Requested] += d.Events.Bytes[event]
		at[Allocated] += d.sizeAt(event)
		if len(d.closes) > 0 {
			if old, closes := d.closes[int32(event)]; closes {
				d.applyEnd(at, d.requestedOf(old.block), d.sizeOf(old.block), old.asked)
			}
		}
	case recorder.DumpFreeRequested:
		block := d.life[event]
		if block == never {
			return
		}
		if d.freeOnRequest {
			d.applyEnd(at, d.requestedOf(block), d.sizeAt(event), false)
			return
		}
		at[Allocated] -= d.sizeAt(event)
		at[Pending] += d.sizeAt(event)
	case recorder.DumpFreeCompleted, recorder.DumpFree:
		if block := d.life[event]; block != never {
			d.applyEnd(at, d.requestedOf(block), d.sizeAt(event), d.change[event]&changeAsked != 0)
		}
	case recorder.DumpSegmentAlloc, recorder.DumpSegmentMap:
		at[Reserved] += d.Events.Bytes[event]
	case recorder.DumpSegmentFree, recorder.DumpSegmentUnmap:
		at[Reserved] -= d.Events.Bytes[event]
	}
}

func (d *Device) applyEnd(at *Totals, requested, bytes int64, asked bool) {
	at[Requested] -= requested
	if asked {
		at[Pending] -= bytes
	} else {
		at[Allocated] -= bytes
	}
}
