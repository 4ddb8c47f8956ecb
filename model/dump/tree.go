package dump

import (
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

// Tree is all stacks of a dump as one tree, laid out depth first: node 0 is
// the root and what is below a node comes right after it. It is built once;
// weights of a moment are laid over it.
type Tree struct {
	Frame  []uint32 // by node: a frame's number or one of the frames that are none
	Parent []int32  // by node; -1 for the root

	ends   []int32 // by node: the first node after it that is not below it
	leaves []int32 // by stack number, counted from -1: the node at which it ends

	// Nodes in a row that belong to the same stacks are one group, and weights
	// are kept by group: deep stacks have many nodes and few branches.
	groups  []int32 // by node
	parents []int32 // by group: the group above it; -1 for the root's
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

// growTree sorts the stacks by their frames: then a stack shares with the one
// before it what it shares with any before.
func growTree(dump *recorder.Dump, direction Direction, noise []bool) *Tree {
	paths := pathsOf(dump, direction, noise)
	order := make([]int32, len(paths))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return slices.Compare(paths[a], paths[b]) })
	t := &Tree{Frame: []uint32{FrameRoot}, Parent: []int32{-1}, ends: []int32{0}, leaves: make([]int32, len(paths))}
	var last []uint32
	open := []int32{0} // the nodes from the root to the last one
	for _, number := range order {
		path := paths[number]
		shared := 0
		for shared < min(len(path), len(last)) && path[shared] == last[shared] {
			shared++
		}
		t.close(open[shared+1:])
		open = open[:shared+1]
		for _, frame := range path[shared:] {
			parent := open[len(open)-1]
			open = append(open, int32(len(t.Frame)))
			t.Frame, t.Parent, t.ends = append(t.Frame, frame), append(t.Parent, parent), append(t.ends, 0)
		}
		t.leaves[number] = open[len(open)-1]
		last = path
	}
	t.close(open)
	t.group()
	return t
}

// pathsOf is the way from the root to each stack, counted from
// BeforeRecording.
func pathsOf(dump *recorder.Dump, direction Direction, noise []bool) [][]uint32 {
	paths := make([][]uint32, max(dump.Stacks.Len(), 1)+1)
	paths[0], paths[1] = []uint32{FrameBeforeRecording}, []uint32{FrameNoStack}
	all := make([]uint32, 0, len(dump.Stacks.Frames)+len(paths))
	for stack := int32(1); int(stack) < dump.Stacks.Len(); stack++ {
		frames := dump.Stacks.Stack(stack)
		first := len(all)
		for _, frame := range frames {
			if int(frame) >= len(noise) || !noise[frame] {
				all = append(all, frame)
			}
		}
		switch {
		case len(frames) == 0:
			all = append(all, FrameNoStack)
		case len(all) == first: // nothing but noise
			all = append(all, frames[0])
		}
		path := all[first:len(all):len(all)]
		if direction == FromProgram {
			slices.Reverse(path)
		}
		paths[stack+1] = path
	}
	return paths
}

// close ends nodes before the next one that is made.
func (t *Tree) close(nodes []int32) {
	for _, node := range nodes {
		t.ends[node] = int32(len(t.Frame))
	}
}

func (t *Tree) group() {
	ends := make([]bool, len(t.Frame)) // a stack ends at the node
	for _, leaf := range t.leaves {
		ends[leaf] = true
	}
	t.groups, t.parents = make([]int32, len(t.Frame)), []int32{-1}
	for node := int32(1); int(node) < len(t.Frame); node++ {
		parent := t.Parent[node]
		if parent > 0 && !ends[parent] && t.ends[node] == t.ends[parent] && node == parent+1 {
			t.groups[node] = t.groups[parent]
			continue
		}
		t.groups[node] = int32(len(t.parents))
		t.parents = append(t.parents, t.groups[parent])
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

// End is the first node after a node that is not below it. The children of a
// node are node+1, the End of that, and so on up to the node's own End.
func (t *Tree) End(node int32) int32 { return t.ends[node] }

// Below says whether a node is another one or below it.
func (t *Tree) Below(node, above int32) bool { return node >= above && node < t.ends[above] }

// Weights are the bytes and counts of a tree's nodes at a moment or over a
// range: a node has what its stacks have, together.
type Weights struct {
	Tree  *Tree
	bytes []int64 // by group
	count []int64
}

// Weigh lays totals over the tree, in any order.
func (t *Tree) Weigh(totals []StackTotal) *Weights {
	w := &Weights{Tree: t, bytes: make([]int64, len(t.parents)), count: make([]int64, len(t.parents))}
	for _, total := range totals {
		group := t.groups[t.Leaf(total.Stack)]
		w.bytes[group] += total.Bytes
		w.count[group] += total.Count
	}
	for group := len(t.parents) - 1; group > 0; group-- {
		w.bytes[t.parents[group]] += w.bytes[group]
		w.count[t.parents[group]] += w.count[group]
	}
	return w
}

// Bytes is what a node and those below it have.
func (w *Weights) Bytes(node int32) int64 { return w.bytes[w.Tree.groups[node]] }

// Count is how many blocks or allocations a node and those below it have.
func (w *Weights) Count(node int32) int64 { return w.count[w.Tree.groups[node]] }

// Children are the children of a node that have anything, the largest first.
func (w *Weights) Children(node int32) []int32 { return w.childrenFrom(node, 0) }

// childrenFrom are the children of a node that have at least so many bytes.
func (w *Weights) childrenFrom(node int32, least int64) []int32 {
	var some []int32
	for child := node + 1; child < w.Tree.ends[node]; child = w.Tree.ends[child] {
		if bytes := w.Bytes(child); bytes >= least && (bytes != 0 || w.Count(child) != 0) {
			some = append(some, child)
		}
	}
	slices.SortFunc(some, func(a, b int32) int {
		return compareTotals(
			StackTotal{Stack: a, Bytes: w.Bytes(a), Count: w.Count(a)},
			StackTotal{Stack: b, Bytes: w.Bytes(b), Count: w.Count(b)})
	})
	return some
}

// Self is what a node has apart from its children: stacks that end there.
func (w *Weights) Self(node int32) (bytes, count int64) {
	bytes, count = w.Bytes(node), w.Count(node)
	for child := node + 1; child < w.Tree.ends[node]; child = w.Tree.ends[child] {
		bytes -= w.Bytes(child)
		count -= w.Count(child)
	}
	return bytes, count
}
