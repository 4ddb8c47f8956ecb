package pool

import "math/bits"

// The free blocks of one size class form a treap: a binary search tree by
// (size, address) whose shape is that of a heap of pseudo-random priorities,
// so that it is balanced whatever the order in which blocks come and go. The
// links lie in the blocks themselves. Because a block knows its parent,
// removing it needs no search.

// priority spreads block numbers over 32 bits. It is computed, not stored: a
// visited block is in a register already. Two rounds are needed, since blocks
// at equal distances (every n-th one freed) would line up after one.
func priority(id blockID) uint32 {
	const odd = 0x9e3779b97f4a7c15
	mixed := uint64(id) * odd
	mixed ^= mixed >> 32
	mixed *= odd
	return uint32(mixed >> 32)
}

// The children of a block in its tree.
const (
	left  = 0 // what comes before it
	right = 1 // what comes after it
)

// before is 1 where the block comes before (size, address) in the order by
// size, then by address, and 0 elsewhere. It is also the side on which to look
// on: which way a search turns cannot be foreseen, so it must not be a branch.
func (b *block) before(size int64, address Address) uint64 {
	_, borrow := bits.Sub64(uint64(b.address), uint64(address), 0)
	_, borrow = bits.Sub64(uint64(b.size), uint64(size), borrow)
	return borrow
}

// treeLowerBound returns the first block that is not before (size, address),
// or none.
func treeLowerBound(blocks []block, root blockID, size int64, address Address) blockID {
	var found blockID
	for at := root; at != 0; {
		b := &blocks[at]
		side := b.before(size, address)
		keep := -blockID(side) // all ones where the block is too small
		found = found&keep | at&^keep
		at = b.children[side&1]
	}
	return found
}

// treeFirst returns the first block of a tree that is not empty.
func treeFirst(blocks []block, root blockID) blockID { return treeEnd(blocks, root, left) }

// treeLast returns the last block of a tree that is not empty.
func treeLast(blocks []block, root blockID) blockID { return treeEnd(blocks, root, right) }

func treeEnd(blocks []block, at blockID, side int) blockID {
	for blocks[at].children[side] != 0 {
		at = blocks[at].children[side]
	}
	return at
}

// treeInsert hangs a block without links into a tree that is not empty: as a
// leaf, then up to where its priority belongs, two steps on average.
func treeInsert(blocks []block, root *blockID, id blockID) {
	b := &blocks[id]
	for at := *root; ; {
		parent := &blocks[at]
		child := &parent.children[parent.before(b.size, b.address)&1]
		if *child == 0 {
			*child = id
			b.parent = at
			break
		}
		at = *child
	}
	for own := priority(id); b.parent != 0 && priority(b.parent) < own; {
		rotateUp(blocks, root, id)
	}
}

// rotateUp swaps a block with its parent, keeping the order.
func rotateUp(blocks []block, root *blockID, id blockID) {
	b := &blocks[id]
	parentID := b.parent
	parent := &blocks[parentID]
	side := left
	if parent.children[right] == id {
		side = right
	}
	inner := b.children[1-side]
	parent.children[side] = inner
	if inner != 0 {
		blocks[inner].parent = parentID
	}
	*treeSlot(blocks, root, parentID) = id
	b.children[1-side] = parentID
	b.parent = parent.parent
	parent.parent = id
}

// treeSlot is the link that leads to a block.
func treeSlot(blocks []block, root *blockID, id blockID) *blockID {
	parent := blocks[id].parent
	if parent == 0 {
		return root
	}
	children := &blocks[parent].children
	if children[left] == id {
		return &children[left]
	}
	return &children[right]
}

// treeRemove takes a block out and joins its two subtrees in its place.
func treeRemove(blocks []block, root *blockID, id blockID) {
	slot := treeSlot(blocks, root, id)
	b := &blocks[id]
	parent := b.parent
	low, high := b.children[left], b.children[right]
	for low != 0 && high != 0 {
		if priority(low) > priority(high) {
			*slot = low
			blocks[low].parent = parent
			parent, slot = low, &blocks[low].children[right]
			low = *slot
		} else {
			*slot = high
			blocks[high].parent = parent
			parent, slot = high, &blocks[high].children[left]
			high = *slot
		}
	}
	rest := low | high
	*slot = rest
	if rest != 0 {
		blocks[rest].parent = parent
	}
}
