package dump

// geometry is the address space of an allocator while its trace is replayed:
// stretches of memory from the driver, each tiled by free and used nodes as
// PyTorch's caching allocator tiles its segments. A free node is as long as
// its free neighbours allow, so the node at an address says which block an
// allocation there got.
type geometry struct {
	rules  rules
	nodes  []node     // 0 stands before the first node of every stretch
	spare  int32      // first of the nodes to use again, linked by next
	starts *addresses // first byte of each attached node -> node
	ends   *addresses // first byte after a growing stretch -> its end node

	pieces []piece
	open   ordered // first byte of each mapped piece -> piece

	steps   int // left for looking through nodes one by one
	outside int // allocations outside all known memory
	cramped int // allocations where too little was free
	leaving int // blocks in memory that went back to the driver
	overlap int // memory from the driver that overlaps other memory
}

// node is a stretch of memory: a block, free memory, or, with flagEnd, the
// mark after the last node of a stretch.
type node struct {
	address    uint64
	bytes      int64
	prev, next int32
	before     int32 // number of the older block that it is, -1 none
	stream     uint16
	flags      uint16
}

const (
	flagFree       = 1 << iota
	flagExpandable // the stretch can grow
	flagEnd
	flagDetached  // belongs to no stretch
	flagEstimated // its length is a guess
	flagRequested // its free was requested
)

// mostSteps bounds the work on traces whose addresses fit no memory.
const mostSteps = 20_000_000

func newGeometry(r rules) *geometry {
	return &geometry{rules: r, nodes: make([]node, 1, 1024), starts: newAddresses(), ends: newAddresses(), steps: mostSteps}
}

// create makes a node of a spare one or a new one.
func (g *geometry) create(n node) int32 {
	if g.spare == 0 {
		g.nodes = append(g.nodes, n)
		return int32(len(g.nodes) - 1)
	}
	number := g.spare
	g.spare = g.nodes[number].next
	g.nodes[number] = n
	return number
}

// discard takes a node out of use.
func (g *geometry) discard(number int32) {
	n := &g.nodes[number]
	if n.flags&(flagDetached|flagEnd) == 0 {
		g.unlist(n.address, number)
	}
	*n = node{next: g.spare}
	g.spare = number
}

// unlist forgets that a node starts at an address.
func (g *geometry) unlist(address uint64, number int32) {
	if at := g.starts.find(address); g.starts.slots[at].filled && g.starts.slots[at].number == number {
		g.starts.empty(at)
	}
}

// take gives an allocation at an address its node. rounded is what was asked
// for, in whole units.
func (g *geometry) take(address uint64, requested, rounded int64, stream uint16) int32 {
	number, known := g.starts.get(address)
	if !known {
		number, known = g.carve(address)
	}
	if !known {
		g.outside++
		return g.detached(address, rounded, stream)
	}
	n := &g.nodes[number]
	if n.flags&flagFree == 0 || n.bytes < requested {
		g.cramped++
		return g.detached(address, rounded, stream)
	}
	if bytes := g.rules.block(rounded, n.bytes, n.flags&flagExpandable != 0); bytes > 0 && bytes < n.bytes {
		g.split(number, bytes)
		n = &g.nodes[number]
	}
	n.flags &^= flagFree
	n.before = -1
	return number
}

func (g *geometry) detached(address uint64, bytes int64, stream uint16) int32 {
	return g.create(node{address: address, bytes: bytes, before: -1, stream: stream, flags: flagDetached})
}

// split cuts a node after so many bytes; the rest is a free node.
func (g *geometry) split(number int32, bytes int64) int32 {
	n := &g.nodes[number]
	rest := g.create(node{
		address: n.address + uint64(bytes), bytes: n.bytes - bytes, prev: number, next: n.next, before: -1,
		stream: n.stream, flags: flagFree | n.flags&flagExpandable,
	})
	n = &g.nodes[number]
	g.nodes[n.next].prev = rest
	n.next, n.bytes = rest, bytes
	g.starts.put(g.nodes[rest].address, rest)
	return rest
}

// release frees a used node and joins it with its free neighbours.
func (g *geometry) release(number int32) {
	n := &g.nodes[number]
	if n.flags&flagDetached != 0 {
		g.discard(number)
		return
	}
	n.flags = n.flags&flagExpandable | flagFree
	n.before = -1
	if g.nodes[n.prev].flags&flagFree != 0 {
		number = n.prev
		g.absorb(number)
	}
	if g.nodes[g.nodes[number].next].flags&flagFree != 0 {
		g.absorb(number)
	}
}

// absorb joins a node with the one after it.
func (g *geometry) absorb(number int32) {
	n := &g.nodes[number]
	gone := n.next
	n.bytes += g.nodes[gone].bytes
	n.next = g.nodes[gone].next
	g.nodes[n.next].prev = number
	g.discard(gone)
}

// carve finds the free node around an address at which none starts and makes
// one start there. When the node before the free one has an estimated length,
// the allocation shows that it reaches up to the address.
func (g *geometry) carve(address uint64) (int32, bool) {
	number, found := g.locate(address)
	if !found || g.nodes[number].flags&flagFree == 0 {
		return 0, false
	}
	n := &g.nodes[number]
	front := int64(address - n.address)
	before := &g.nodes[n.prev]
	whole := front <= smallRequest || g.rules.maximumSplit != unlimitedSplitBytes
	if n.prev == 0 || before.flags&(flagEstimated|flagRequested) != flagEstimated || !whole {
		return g.split(number, front), true
	}
	g.unlist(n.address, number)
	before.bytes += front
	n.address, n.bytes = address, n.bytes-front
	g.starts.put(address, number)
	return number, true
}

// locate finds the node that holds an address, by walking along a stretch.
func (g *geometry) locate(address uint64) (int32, bool) {
	if number, starts := g.starts.get(address); starts {
		return number, true
	}
	number, found := g.nodeBelow(address)
	for found && g.steps > 0 {
		g.steps--
		n := &g.nodes[number]
		if n.flags&flagEnd != 0 || n.address > address {
			return 0, false
		}
		if address-n.address < uint64(n.bytes) {
			return number, true
		}
		number = n.next
	}
	return 0, false
}

// nodeBelow finds a node from which a walk leads to an address: that at the
// start of the nearest mapped piece whose start is one.
func (g *geometry) nodeBelow(address uint64) (int32, bool) {
	at := address
	for g.steps > 0 {
		g.steps--
		number, found := g.open.floor(at)
		if !found {
			return 0, false
		}
		p := &g.pieces[number]
		if at-p.address >= uint64(p.bytes) {
			return 0, false // a gap lies between
		}
		if first, starts := g.starts.get(p.address); starts {
			return first, true
		}
		if p.address == 0 {
			return 0, false
		}
		at = p.address - 1
	}
	return 0, false
}
