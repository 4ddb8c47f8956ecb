package pool

// Free blocks of one size form a pairing heap by address: of these only the
// lowest is ever asked for, and any may leave when a neighbour is freed. Adding
// one takes one comparison, and so does taking one out that has none below it,
// as most have; taking out the lowest costs the logarithm on average, though the
// first time after n were added it looks at all n.

// heapLink hangs the higher of two heaps below the lower one, which it returns.
func (s *blockSlab) heapLink(a, b blockID) blockID {
	if s.blocks[b].address < s.blocks[a].address {
		a, b = b, a
	}
	low, high := &s.places[a], &s.places[b]
	high.prev = a
	high.next = low.child
	if low.child != 0 {
		s.places[low.child].prev = b
	}
	low.child = b
	return a
}

// heapBelow makes one heap of all that hang below a block and returns its
// lowest, or none. They are linked in pairs first and the pairs then from last
// to first, which is what bounds the cost.
func (s *blockSlab) heapBelow(id blockID) blockID {
	var pairs blockID // chain through next
	for at := s.places[id].child; at != 0; {
		first, second := at, s.places[at].next
		if second == 0 {
			at = 0
		} else {
			at = s.places[second].next
			first = s.heapLink(first, second)
		}
		s.places[first].next = pairs
		pairs = first
	}
	if pairs == 0 {
		return 0
	}
	lowest := pairs
	for at := s.places[pairs].next; at != 0; {
		next := s.places[at].next
		lowest = s.heapLink(lowest, at)
		at = next
	}
	s.places[lowest].next, s.places[lowest].prev = 0, 0
	return lowest
}

// heapRemove takes out a block that is not the lowest. What hangs below it
// takes its place.
func (s *blockSlab) heapRemove(id blockID) {
	heir := s.heapBelow(id)
	gone := &s.places[id]
	after := gone.next
	if heir != 0 {
		s.places[heir].next, s.places[heir].prev = gone.next, gone.prev
		if gone.next != 0 {
			s.places[gone.next].prev = heir
		}
		after = heir
	} else if gone.next != 0 {
		s.places[gone.next].prev = gone.prev
	}
	if before := &s.places[gone.prev]; before.child == id {
		before.child = after
	} else {
		before.next = after
	}
}
