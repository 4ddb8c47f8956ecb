package dump

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// layOut prepares the memory that was there before the first event.
func (d *Device) layOut(p *pairing) *geometry {
	g := newGeometry(rulesOf(d.index.Dump.Settings, d.Host))
	for _, first := range firstPieces(d.Events, d.traced(d.tally.segmentEvents), d.Segments, d.keepsSegment(p)) {
		g.add(first)
		d.Base[Reserved] += first.bytes
	}
	g.lay(d.before)
	return g
}

// conclude adds up what a replay found and compares it with the end state.
func (d *Device) conclude(r *replay) {
	d.pieces = r.g.pieces
	d.adoptSegments()
	d.setBase()
	d.Reserves = len(d.Segments) > 0 || len(d.tally.segmentEvents) > 0
	d.findPeaks(r)
	last := d.At(d.Events.Len() - 1)
	d.End = last
	if d.hasEnd() {
		d.End = d.endTotals()
		d.Exact = d.reachesEnd() && r.sameBlocks()
	}
	d.judge(r, &last)
}

// traced leaves out the events of an earlier recording.
func (d *Device) traced(events []int32) []int32 {
	first, _ := slices.BinarySearch(events, int32(d.begin))
	return events[first:]
}

// hasEnd says whether the dump has an end state.
func (d *Device) hasEnd() bool { return len(d.Segments) > 0 }

// reachesEnd says whether the trace leads to the end state; one that was cut
// off does not.
func (d *Device) reachesEnd() bool { return d.hasEnd() && !d.index.Dump.Truncated }

// keepsSegment says which segments of the end state were there before the
// trace, if the trace has no event for them. That is all of them, but of a
// truncated dump only those in which the trace has a block.
func (d *Device) keepsSegment(p *pairing) func(*recorder.DumpSegment) bool {
	if !d.index.Dump.Truncated {
		return func(*recorder.DumpSegment) bool { return true }
	}
	var used ordered
	for i, s := range d.Segments {
		used.put(s.Address, int32(i))
	}
	touched := make([]bool, len(d.Segments))
	for i, action := range d.Events.Action {
		if action != recorder.DumpAlloc && p.life[i] >= 0 {
			continue
		}
		at := d.Events.Address[i]
		if s, found := used.floor(at); found && at-d.Segments[s].Address < uint64(d.Segments[s].Bytes) {
			touched[s] = true
		}
	}
	return func(s *recorder.DumpSegment) bool {
		number, _ := used.floor(s.Address)
		return touched[number]
	}
}

// lay places the blocks that are older than the trace.
func (g *geometry) lay(before []beforeBlock) {
	order := make([]int32, 0, len(before))
	for i := range before {
		if !before[i].dropped {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(before[a].address, before[b].address) })
	for at, number := range order {
		b := &before[number]
		limit := uint64(0)
		if at+1 < len(order) {
			limit = before[order[at+1]].address
		}
		b.node = g.layOne(b, limit)
		n := &g.nodes[b.node]
		n.before = number
		if b.asked {
			n.flags |= flagRequested
		}
	}
}

// layOne places a block. limit is where the next one begins, 0 without one.
func (g *geometry) layOne(b *beforeBlock, limit uint64) int32 {
	bytes := b.bytes
	if bytes == 0 {
		bytes = g.rules.round(b.requested)
	}
	number, found := g.locate(b.address)
	if !found {
		g.outside++
		return g.detached(b.address, bytes, 0)
	}
	n := &g.nodes[number]
	if n.flags&flagFree == 0 || b.address+uint64(bytes) > n.address+uint64(n.bytes) {
		g.cramped++
		return g.detached(b.address, bytes, 0)
	}
	if n.address < b.address {
		number = g.split(number, int64(b.address-n.address))
		n = &g.nodes[number]
	}
	if b.bytes == 0 {
		bytes = g.guess(n, bytes, limit)
	}
	if bytes < n.bytes {
		g.split(number, bytes)
		n = &g.nodes[number]
	}
	n.flags &^= flagFree
	if b.bytes == 0 && n.flags&flagExpandable == 0 && !g.rules.small(bytes) {
		n.flags |= flagEstimated
	}
	return number
}

// guess is the likely size of a block of which the rounded request alone is
// known, in the free node where it lies. A rest of a large block that is too
// small for another one was not split off. Whether a longer one was is not
// known: the block is taken to be as short as it can be.
func (g *geometry) guess(n *node, rounded int64, limit uint64) int64 {
	end := n.address + uint64(n.bytes)
	if limit > n.address && limit < end {
		end = limit
	}
	room := int64(end - n.address)
	whole := g.rules.host || n.flags&flagExpandable == 0 && !g.rules.small(rounded) && room-rounded <= smallRequest
	if whole && room >= rounded {
		return room
	}
	return rounded
}

// setBase adds up the blocks that are older than the trace.
func (d *Device) setBase() {
	for i := range d.before {
		b := &d.before[i]
		if b.dropped {
			continue
		}
		d.Base[Requested] += b.requested
		if b.asked {
			d.Base[Pending] += b.bytes
		} else {
			d.Base[Allocated] += b.bytes
		}
	}
}

func (d *Device) findPeaks(r *replay) {
	for s := range seriesCount {
		d.Peaks[s] = Peak{Bytes: d.Base[s], Event: BeforeFirst}
		if first := r.high[s].Event; first != BeforeFirst {
			d.Peaks[s].Event, d.Peaks[s].Bytes = d.PeakIn(s, first, first+chunk)
		}
	}
}

// endTotals adds up the end state.
func (d *Device) endTotals() (end Totals) {
	for i := range d.Segments {
		s := &d.Segments[i]
		end[Reserved] += s.Bytes
		if s.Count == 0 { // a writer that keeps no blocks
			end[Requested] += s.Requested
			end[Allocated] += s.Allocated
			end[Pending] += max(s.Active-s.Allocated, 0)
		}
	}
	for i := range d.Blocks.Len() {
		switch d.Blocks.State[i] {
		case recorder.DumpActive:
			end[Allocated] += d.Blocks.Bytes[i]
			end[Requested] += d.Blocks.Requested[i]
		case recorder.DumpPendingFree:
			end[Pending] += d.Blocks.Bytes[i]
			end[Requested] += d.Blocks.Requested[i]
		}
	}
	return end
}

// sameBlocks says whether the blocks after the last event are those of the end
// state.
func (r *replay) sameBlocks() bool {
	used := 0
	for i := range r.d.Blocks.Len() {
		if r.d.Blocks.State[i] == recorder.DumpInactive {
			continue
		}
		used++
		number, starts := r.g.starts.get(r.d.Blocks.Address[i])
		if !starts || r.g.nodes[number].flags&flagFree != 0 || r.g.nodes[number].bytes != r.d.Blocks.Bytes[i] {
			return false
		}
	}
	live := r.p.open.count
	for i := range r.d.before {
		if b := &r.d.before[i]; b.ends == never && !b.dropped {
			if _, open := r.p.open.get(b.address); !open {
				live++
			}
		}
	}
	return used == live
}

// judge puts in words what does not fit together.
func (d *Device) judge(r *replay, last *Totals) {
	p, g := r.p, r.g
	say := func(count int, one, many string) {
		switch {
		case count == 1:
			d.problem("%s", "1 "+one)
		case count > 1:
			d.problem("%d %s", count, many)
		}
	}
	say(p.strayFrees, "free is of a block that had been freed already", "frees are of blocks that had been freed already")
	say(r.doubled, "allocation is at the address of a live block, which was taken to end there", "allocations are at addresses of live blocks, which were taken to end there")
	say(r.otherFree, "free is of another size than was allocated", "frees are of other sizes than were allocated")
	say(p.strayEnds, "block of the end state is at an address that the trace had left free", "blocks of the end state are at addresses that the trace had left free")
	say(p.lost, "block is still allocated after the last event and missing in the end state", "blocks are still allocated after the last event and missing in the end state")
	say(p.otherSize, "block of the end state has another requested size than the trace gave it", "blocks of the end state have other requested sizes than the trace gave them")
	if d.Reserves && !d.index.Dump.Truncated {
		say(g.outside, "block lies outside all segments", "blocks lie outside all segments")
		say(g.cramped, "block has no room where it lies", "blocks have no room where they lie")
		say(g.leaving, "block is in memory that went back to the driver", "blocks are in memory that went back to the driver")
		say(g.overlap, "segment overlaps another one", "segments overlap others")
		if excess := r.excess + d.Base.Active() - d.Base[Reserved]; excess > 0 {
			d.problem("allocated exceeds reserved by up to %s, first after event %d", bytesText(excess), max(r.crossed, 0))
		}
	}
	for _, peak := range d.Peaks {
		if peak.Bytes > absurd {
			d.problem("sizes add up to more than 2^60 bytes: no total can be relied on")
			break
		}
	}
	d.judgeEnd(last)
}

// absurd is a total that no device has. One event adds 2^50 bytes at most, so
// that sums pass through here before they wrap around.
const absurd = 1 << 60

// judgeEnd compares the totals after the last event with those of the end
// state, and these with each other.
func (d *Device) judgeEnd(last *Totals) {
	if left := last[Requested]; left > 0 && !d.hasEnd() && !d.index.Dump.Truncated {
		d.problem("the dump has no segments, and its trace leaves %s allocated", bytesText(left))
	}
	if !d.reachesEnd() {
		return
	}
	if d.Events.Len() > 0 {
		for _, s := range []Series{Requested, Reserved} {
			if d.End[s] != last[s] {
				d.problem("%s bytes are %d after the last event and %d in the end state", s, last[s], d.End[s])
			}
		}
		if !d.Exact {
			d.problem("the blocks after the last event are not those of the end state: allocated bytes within the trace are estimates")
		}
	}
	odd := 0
	for i := range d.Segments {
		s := &d.Segments[i]
		sum := int64(0)
		for at := s.First; at < s.First+s.Count; at++ {
			sum += d.Blocks.Bytes[at]
		}
		if s.Count > 0 && sum != s.Bytes {
			odd++
		}
	}
	if odd > 0 {
		d.problem("the blocks of %d segments do not add up to their size", odd)
	}
}

// adoptSegments takes over what only the end state knows of a segment that is
// still there: older traces have no pool in their events.
func (d *Device) adoptSegments() {
	var byAddress ordered
	for i, s := range d.Segments {
		byAddress.put(s.Address, int32(i))
	}
	for i := range d.pieces {
		p := &d.pieces[i]
		number, found := byAddress.floor(p.address)
		if p.to != never || !found {
			continue
		}
		if s := &d.Segments[number]; p.address-s.Address < uint64(s.Bytes) {
			p.pool, p.small = s.Pool, s.Small
		}
	}
}
