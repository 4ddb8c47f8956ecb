package dump

import (
	"cmp"
	"math/bits"
	"slices"

	"vramscope/recorder"
)

// Direction says from which end stacks grow together into a tree.
type Direction int

// FromAllocator begins with the innermost frame, the one that allocated, and
// shows who called it; FromProgram begins with the outermost one and shows
// what it called.
const (
	FromAllocator Direction = iota
	FromProgram
)

// Tree is all stacks of a dump as one tree. Node 0 is the root; a node's number
// is larger than its parent's. It is built once, weights of a moment are laid
// over it.
type Tree struct {
	Frame  []uint32 // by node: a frame's number or one of the frames that are none
	Parent []int32  // by node; -1 for the root

	starts   []int32 // by node, one more: where its children stand in children
	children []int32
	leaves   []int32 // by stack number, counted from -1: the node at which it ends
}

// Tree returns the stacks as a tree, with or without frames that only add
// noise. The first call of each kind builds it.
func (x *Index) Tree(direction Direction, fold bool) *Tree {
	folded := 0
	if fold {
		folded = 1
	}
	return x.trees[direction&1][folded]()
}

func growTree(dump *recorder.Dump, direction Direction, noise []bool) *Tree {
	t := &Tree{Frame: []uint32{FrameRoot}, Parent: []int32{-1}, leaves: make([]int32, max(dump.Stacks.Len(), 1)+1)}
	known := newAddresses() // parent and frame -> node
	step := func(node int32, frame uint32) int32 {
		key := uint64(node)<<32 | uint64(frame)
		if child, there := known.get(key); there {
			return child
		}
		child := int32(len(t.Frame))
		t.Frame, t.Parent = append(t.Frame, frame), append(t.Parent, node)
		known.put(key, child)
		return child
	}
	t.leaves[0] = step(0, FrameBeforeRecording)
	t.leaves[1] = step(0, FrameNoStack)
	for stack := int32(1); int(stack) < dump.Stacks.Len(); stack++ {
		frames := dump.Stacks.Stack(stack)
		node := int32(0)
		for i := range frames {
			frame := frames[i]
			if direction == FromProgram {
				frame = frames[len(frames)-1-i]
			}
			if int(frame) >= len(noise) || !noise[frame] {
				node = step(node, frame)
			}
		}
		if node == 0 { // nothing but noise
			frame := FrameNoStack
			if len(frames) > 0 {
				frame = frames[0]
			}
			node = step(0, frame)
		}
		t.leaves[stack+1] = node
	}
	t.linkChildren()
	return t
}

// linkChildren lists the children of each node, by a count over the parents.
func (t *Tree) linkChildren() {
	t.starts = make([]int32, len(t.Frame)+1)
	for _, parent := range t.Parent[1:] {
		t.starts[parent+1]++
	}
	for i := 1; i < len(t.starts); i++ {
		t.starts[i] += t.starts[i-1]
	}
	t.children = make([]int32, len(t.Frame)-1)
	next := slices.Clone(t.starts)
	for node := 1; node < len(t.Frame); node++ {
		parent := t.Parent[node]
		t.children[next[parent]] = int32(node)
		next[parent]++
	}
}

// Len is how many nodes there are, the root included.
func (t *Tree) Len() int { return len(t.Frame) }

// Leaf is the node at which a stack ends.
func (t *Tree) Leaf(stack int32) int32 {
	if at := int(stack) + 1; at >= 0 && at < len(t.leaves) {
		return t.leaves[at]
	}
	return t.leaves[0]
}

// Depth is how many steps a node is away from the root.
func (t *Tree) Depth(node int32) (depth int) {
	for ; node > 0; node = t.Parent[node] {
		depth++
	}
	return depth
}

// Weights are the bytes and counts of a tree's nodes at a moment or over a
// range: a node has what its stacks have, together.
type Weights struct {
	Tree  *Tree
	Bytes []int64 // by node
	Count []int64
}

// Weigh lays totals over the tree.
func (t *Tree) Weigh(totals []StackTotal) *Weights {
	w := &Weights{Tree: t, Bytes: make([]int64, t.Len()), Count: make([]int64, t.Len())}
	for _, total := range totals {
		leaf := t.Leaf(total.Stack)
		w.Bytes[leaf] += total.Bytes
		w.Count[leaf] += total.Count
	}
	for node := t.Len() - 1; node > 0; node-- {
		w.Bytes[t.Parent[node]] += w.Bytes[node]
		w.Count[t.Parent[node]] += w.Count[node]
	}
	return w
}

// Children are the children of a node that have anything, the largest first.
func (w *Weights) Children(node int32) []int32 { return w.childrenFrom(node, 0) }

// childrenFrom are the children of a node that have at least so many bytes.
func (w *Weights) childrenFrom(node int32, least int64) []int32 {
	var some []int32
	for _, child := range w.Tree.children[w.Tree.starts[node]:w.Tree.starts[node+1]] {
		if w.Bytes[child] >= least && (w.Count[child] != 0 || w.Bytes[child] != 0) {
			some = append(some, child)
		}
	}
	slices.SortFunc(some, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.Bytes[b], w.Bytes[a]), cmp.Compare(w.Count[b], w.Count[a]), cmp.Compare(a, b))
	})
	return some
}

// Self is what a node has apart from its children: stacks that end there.
func (w *Weights) Self(node int32) (bytes, count int64) {
	bytes, count = w.Bytes[node], w.Count[node]
	for _, child := range w.Tree.children[w.Tree.starts[node]:w.Tree.starts[node+1]] {
		bytes -= w.Bytes[child]
		count -= w.Count[child]
	}
	return bytes, count
}

// FlameBox is a node's place in a flame: a row and the columns [From, To).
type FlameBox struct {
	Node     int32
	Row      int
	From, To int
}

// Flame lays a node and what is below it out over columns and rows, the node
// itself in row 0 over the whole width. Boxes come row by row from left to
// right, the largest child leftmost; those of less than a column are left out.
func (w *Weights) Flame(node int32, columns, rows int) []FlameBox {
	if columns <= 0 || rows <= 0 || w.Bytes[node] <= 0 {
		return nil
	}
	total := uint64(w.Bytes[node])
	column := func(bytes int64) int {
		high, low := bits.Mul64(uint64(bytes), uint64(columns))
		quotient, _ := bits.Div64(high, low, total)
		return int(quotient)
	}
	boxes := []FlameBox{{Node: node, To: columns}}
	offsets := []int64{0} // of each box, in bytes from the left edge
	for at := 0; at < len(boxes); at++ {
		box := boxes[at]
		if box.Row+1 == rows {
			break // all that follow are in the last row too
		}
		offset := offsets[at]
		for _, child := range w.childrenFrom(box.Node, w.Bytes[node]/int64(columns)) {
			from, to := column(offset), column(offset+w.Bytes[child])
			if to > from {
				boxes = append(boxes, FlameBox{Node: child, Row: box.Row + 1, From: from, To: to})
				offsets = append(offsets, offset)
			}
			offset += w.Bytes[child]
		}
	}
	return boxes
}
