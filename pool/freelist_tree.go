package pool

// The sizes of one class form a treap: a binary search tree whose shape is that
// of a heap of random priorities, so that it is balanced whatever the order in
// which sizes come and go. Each size is represented by the lowest of its free
// blocks; the others hang below that one (see freelist_heap.go). Because a
// block knows its parent, removing it needs no search.

// place is where a free block stands in its class.
type place struct {
	// In the tree of sizes, for the lowest block of a size.
	children [2]blockID // smaller, larger
	parent   blockID    // none at the root
	priority uint32     // at most the parent's; drawn once for each number

	// In the heap of the blocks of one size.
	child blockID // the first of the blocks below it
	next  blockID // the one after it below the same block
	prev  blockID // the one before it, or the block that it is the first below; none for the lowest of all
}

// The children of a block in the tree of sizes.
const (
	smaller = 0
	larger  = 1
)

// treeAtLeast returns the lowest block of the smallest size that is at least
// the given one, or none.
func (s *blockSlab) treeAtLeast(root blockID, size int64) blockID {
	var found blockID
	for at := root; at != 0; {
		if s.blocks[at].size < size {
			at = s.places[at].children[larger]
		} else {
			found, at = at, s.places[at].children[smaller]
		}
	}
	return found
}

// treeEnd returns the lowest block of the smallest or the largest size of a
// tree that is not empty.
func (s *blockSlab) treeEnd(at blockID, side int) blockID {
	for s.places[at].children[side] != 0 {
		at = s.places[at].children[side]
	}
	return at
}

// treeInsert adds a block without links to a tree that is not empty. If its
// size is new it becomes a leaf and rises to where its priority belongs, two
// steps on average.
func (s *blockSlab) treeInsert(root *blockID, id blockID) {
	size := s.blocks[id].size
	for at := *root; ; {
		child := &s.places[at].children[smaller]
		switch held := s.blocks[at].size; {
		case held == size:
			s.joinSize(root, at, id)
			return
		case held < size:
			child = &s.places[at].children[larger]
		}
		if *child == 0 {
			*child = id
			s.places[id].parent = at
			break
		}
		at = *child
	}
	for own := &s.places[id]; own.parent != 0 && s.places[own.parent].priority < own.priority; {
		s.rotateUp(root, id)
	}
}

// joinSize adds a block to those of its size, of which lowest stands in the
// tree.
func (s *blockSlab) joinSize(root *blockID, lowest, id blockID) {
	if s.blocks[id].address < s.blocks[lowest].address {
		s.treeReplace(root, lowest, id)
	}
	s.heapLink(lowest, id)
}

// rotateUp swaps a block with its parent, keeping the order.
func (s *blockSlab) rotateUp(root *blockID, id blockID) {
	place := &s.places[id]
	parentID := place.parent
	parent := &s.places[parentID]
	side := smaller
	if parent.children[larger] == id {
		side = larger
	}
	inner := place.children[1-side]
	parent.children[side] = inner
	if inner != 0 {
		s.places[inner].parent = parentID
	}
	*s.treeSlot(root, parentID) = id
	place.children[1-side] = parentID
	place.parent = parent.parent
	parent.parent = id
}

// treeSlot is the link that leads to a block.
func (s *blockSlab) treeSlot(root *blockID, id blockID) *blockID {
	parent := s.places[id].parent
	if parent == 0 {
		return root
	}
	children := &s.places[parent].children
	if children[smaller] == id {
		return &children[smaller]
	}
	return &children[larger]
}

// treeReplace puts a block that is in no tree in the place of another one.
func (s *blockSlab) treeReplace(root *blockID, old, id blockID) {
	*s.treeSlot(root, old) = id
	from, to := &s.places[old], &s.places[id]
	to.parent, to.children = from.parent, from.children
	from.parent, from.children = 0, [2]blockID{}
	for _, child := range to.children {
		if child != 0 {
			s.places[child].parent = id
		}
	}
	// The priority goes with the place: it is what keeps the tree in shape.
	to.priority, from.priority = from.priority, to.priority
}

// treeRemove takes a block out, be it the lowest of its size or not.
func (s *blockSlab) treeRemove(root *blockID, id blockID) {
	if s.places[id].prev != 0 {
		s.heapRemove(id)
		return
	}
	if heir := s.heapBelow(id); heir != 0 {
		s.treeReplace(root, id, heir)
		return
	}
	s.treeRemoveSize(root, id)
}

// treeRemoveSize takes out the only block of a size and joins its two subtrees
// in its place.
func (s *blockSlab) treeRemoveSize(root *blockID, id blockID) {
	slot := s.treeSlot(root, id)
	parent := s.places[id].parent
	low, high := s.places[id].children[smaller], s.places[id].children[larger]
	for low != 0 && high != 0 {
		lowPlace, highPlace := &s.places[low], &s.places[high]
		if lowPlace.priority > highPlace.priority {
			*slot = low
			lowPlace.parent = parent
			parent, slot = low, &lowPlace.children[larger]
			low = *slot
		} else {
			*slot = high
			highPlace.parent = parent
			parent, slot = high, &highPlace.children[smaller]
			high = *slot
		}
	}
	rest := low | high
	*slot = rest
	if rest != 0 {
		s.places[rest].parent = parent
	}
}
