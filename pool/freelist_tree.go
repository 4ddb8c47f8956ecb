package pool

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

// before orders free blocks by size, then by address.
func (b *block) before(size int64, address Address) bool {
	return b.size < size || b.size == size && b.address < address
}

// treeLowerBound returns the first block that is not before (size, address),
// or none.
func treeLowerBound(blocks []block, root blockID, size int64, address Address) blockID {
	var found blockID
	for at := root; at != 0; {
		b := &blocks[at]
		if b.before(size, address) {
			at = b.right
		} else {
			found, at = at, b.left
		}
	}
	return found
}

// treeFirst returns the first block of a tree that is not empty.
func treeFirst(blocks []block, root blockID) blockID {
	for blocks[root].left != 0 {
		root = blocks[root].left
	}
	return root
}

// treeLast returns the last block of a tree that is not empty.
func treeLast(blocks []block, root blockID) blockID {
	for blocks[root].right != 0 {
		root = blocks[root].right
	}
	return root
}

// treeInsert hangs a block without links into a tree that is not empty: as a
// leaf, then up to where its priority belongs, two steps on average.
func treeInsert(blocks []block, root *blockID, id blockID) {
	b := &blocks[id]
	for at := *root; ; {
		parent := &blocks[at]
		side := &parent.left
		if parent.before(b.size, b.address) {
			side = &parent.right
		}
		if *side == 0 {
			*side = id
			b.parent = at
			break
		}
		at = *side
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
	if parent.left == id {
		parent.left = b.right
		if b.right != 0 {
			blocks[b.right].parent = parentID
		}
		b.right = parentID
	} else {
		parent.right = b.left
		if b.left != 0 {
			blocks[b.left].parent = parentID
		}
		b.left = parentID
	}
	b.parent = parent.parent
	parent.parent = id
	switch {
	case b.parent == 0:
		*root = id
	case blocks[b.parent].left == parentID:
		blocks[b.parent].left = id
	default:
		blocks[b.parent].right = id
	}
}

// treeRemove takes a block out and joins its two subtrees in its place.
func treeRemove(blocks []block, root *blockID, id blockID) {
	b := &blocks[id]
	parent := b.parent
	side := root
	if parent != 0 {
		side = &blocks[parent].left
		if *side != id {
			side = &blocks[parent].right
		}
	}
	left, right := b.left, b.right
	for left != 0 && right != 0 {
		if priority(left) > priority(right) {
			*side = left
			blocks[left].parent = parent
			parent, side = left, &blocks[left].right
			left = *side
		} else {
			*side = right
			blocks[right].parent = parent
			parent, side = right, &blocks[right].left
			right = *side
		}
	}
	rest := left | right
	*side = rest
	if rest != 0 {
		blocks[rest].parent = parent
	}
}
