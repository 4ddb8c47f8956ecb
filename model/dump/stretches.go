package dump

// piece is memory that one call got from the driver, over its time: a segment,
// or pages of an expandable one.
type piece struct {
	address    uint64
	bytes      int64
	from, to   int32 // events; BeforeFirst and never where the trace does not have them
	stack      int32
	stream     uint16
	pool       uint16
	small      bool
	expandable bool
}

func (p *piece) end() uint64 { return p.address + uint64(p.bytes) }

// add maps a piece: it becomes a stretch of free memory of its own, or, where
// it is expandable, a part of the stretch that it borders on.
func (g *geometry) add(p piece) {
	if p.bytes <= 0 || p.end() < p.address {
		return
	}
	g.evict(&p)
	g.open.put(p.address, int32(len(g.pieces)))
	g.pieces = append(g.pieces, p)
	flags := uint16(flagFree)
	if p.expandable {
		flags |= flagExpandable
	}
	number := g.create(node{address: p.address, bytes: p.bytes, before: -1, stream: p.stream, flags: flags})
	g.starts.put(p.address, number)
	if p.expandable {
		g.append(number)
	} else {
		g.finish(number)
	}
}

// evict unmaps what overlaps with a new piece: the trace does not have the
// event that did.
func (g *geometry) evict(p *piece) {
	for {
		number, found := g.open.floor(p.end() - 1)
		if !found || g.pieces[number].end() <= p.address {
			return
		}
		g.overlap++
		old := &g.pieces[number]
		g.remove(p.from, old.address, old.bytes)
	}
}

// finish puts the end node behind the last node of a stretch.
func (g *geometry) finish(last int32) {
	n := &g.nodes[last]
	end := g.create(node{address: n.address + uint64(n.bytes), prev: last, stream: n.stream, flags: flagEnd | n.flags&flagExpandable})
	n = &g.nodes[last]
	n.next = end
	if n.flags&flagExpandable != 0 {
		g.ends.put(g.nodes[end].address, end)
	}
}

// append joins a new expandable node with the stretches on both sides.
func (g *geometry) append(number int32) {
	n := &g.nodes[number]
	after := n.address + uint64(n.bytes)
	end, borders := g.ends.get(n.address)
	if borders && g.nodes[end].stream == n.stream {
		g.ends.take(n.address)
		n.prev = g.nodes[end].prev
		g.nodes[n.prev].next = number
		g.discard(end)
	}
	first, borders := g.starts.get(after)
	if f := &g.nodes[first]; borders && f.prev == 0 && f.flags&flagExpandable != 0 && f.stream == n.stream {
		n.next, f.prev = first, number
	} else {
		g.finish(number)
	}
	n = &g.nodes[number]
	if n.prev != 0 && g.nodes[n.prev].flags&flagFree != 0 {
		number = n.prev
		g.absorb(number)
	}
	if g.nodes[g.nodes[number].next].flags&flagFree != 0 {
		g.absorb(number)
	}
}

// remove unmaps a stretch of addresses at an event.
func (g *geometry) remove(event int32, address uint64, bytes int64) {
	end := address + uint64(bytes)
	if bytes <= 0 || end < address {
		return
	}
	number, found := g.locate(address) // while the pieces show the way
	g.closePieces(event, address, end)
	if !found {
		return
	}
	if n := &g.nodes[number]; n.address < address {
		if n.flags&flagFree == 0 {
			g.leaving++ // a block reaches into what goes back
			number = n.next
		} else {
			number = g.split(number, int64(address-n.address))
		}
	}
	g.cut(number, end)
}

// cut takes the nodes from one on up to an address out of their stretch.
func (g *geometry) cut(number int32, end uint64) {
	before := g.nodes[number].prev
	for {
		n := &g.nodes[number]
		if n.flags&flagEnd != 0 || n.address >= end {
			break
		}
		if left := n.address + uint64(n.bytes); left > end {
			if n.flags&flagFree == 0 {
				g.leaving++
			} else {
				g.split(number, int64(end-n.address))
				n = &g.nodes[number]
			}
		}
		next := n.next
		if n.flags&flagFree != 0 {
			g.discard(number)
		} else {
			g.leaving++
			g.unlist(n.address, number)
			n.flags = n.flags&(flagRequested|flagEstimated) | flagDetached
			n.prev, n.next = 0, 0
		}
		number = next
	}
	rest := &g.nodes[number]
	rest.prev = 0
	if rest.flags&flagEnd != 0 { // nothing is left behind
		if rest.flags&flagExpandable != 0 {
			g.ends.take(rest.address)
		}
		g.discard(number)
	}
	if before != 0 {
		g.finish(before)
	}
}

// closePieces ends the pieces between two addresses; parts of them that lie
// outside go on as pieces of their own.
func (g *geometry) closePieces(event int32, address, end uint64) {
	for {
		number, found := g.open.floor(end - 1)
		if !found || g.pieces[number].end() <= address {
			return
		}
		p := &g.pieces[number]
		whole := *p
		p.to = event
		g.open.drop(p.address)
		if whole.end() > end {
			g.goOn(whole, event, end, whole.end())
		}
		if whole.address < address {
			g.goOn(whole, event, whole.address, address)
		}
	}
}

func (g *geometry) goOn(p piece, event int32, address, end uint64) {
	p.address, p.bytes, p.from = address, int64(end-address), event
	g.open.put(address, int32(len(g.pieces)))
	g.pieces = append(g.pieces, p)
}
