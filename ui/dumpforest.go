package ui

import (
	"vramscope/model/dump"
)

// dumpForest is the tree of a dump's stacks with what of it is shown: the stacks
// that a device has used and that a filter keeps.
type dumpForest struct {
	question forestQuestion // that it is the answer to

	tree   *dump.Tree
	within []int32         // by node, and one more: how many of the nodes before it are shown
	ending []int32         // likewise: at how many of them a stack ends
	stacks map[int32]int32 // a stack that ends at a node
	kept   []bool          // by stack, counted from BeforeRecording
}

// forestQuestion is which forest.
type forestQuestion struct {
	dumpTrace
	direction dump.Direction
	unfolded  bool   // frames that only add noise are shown
	filter    string // as it was typed
}

// growForest builds a forest.
func growForest(q forestQuestion, pattern filterPattern) *dumpForest {
	f := &dumpForest{question: q, tree: q.index.Tree(q.direction, !q.unfolded), stacks: map[int32]int32{}}
	f.kept = usedStacks(q.dumpTrace)
	if pattern.pattern != nil {
		f.filter(pattern)
	}
	shown := make([]bool, f.tree.Len())
	shown[0] = true
	for at, kept := range f.kept {
		if stack := int32(at) - 1; kept {
			leaf := f.tree.Leaf(stack)
			shown[leaf] = true
			if _, known := f.stacks[leaf]; !known {
				f.stacks[leaf] = stack
			}
		}
	}
	for node := len(shown) - 1; node > 0; node-- {
		if shown[node] {
			shown[f.tree.Parent[node]] = true
		}
	}
	f.within = countBefore(shown)
	clear(shown)
	for leaf := range f.stacks {
		shown[leaf] = true
	}
	f.ending = countBefore(shown)
	return f
}

// countBefore is by place how many before it are true, and how many in all.
func countBefore(marks []bool) []int32 {
	counts := make([]int32, len(marks)+1)
	for i, marked := range marks {
		counts[i+1] = counts[i]
		if marked {
			counts[i+1]++
		}
	}
	return counts
}

// usedStacks says of each stack, counted from BeforeRecording, whether a block
// of the device ever had it.
func usedStacks(t dumpTrace) []bool {
	device := t.device()
	used := make([]bool, max(t.index.Dump.Stacks.Len(), 1)+1)
	for _, totals := range [...][]dump.StackTotal{
		device.AllocatedByStack(0, device.Events.Len()), device.LiveByStack(dump.BeforeFirst), device.EndByStack(),
	} {
		for _, total := range totals {
			if at := int(total.Stack) + 1; at >= 0 && at < len(used) {
				used[at] = true
			}
		}
	}
	return used
}

// filter keeps the stacks with a frame that matches; with an inverted pattern,
// those without one.
func (f *dumpForest) filter(pattern filterPattern) {
	invert := pattern.invert
	pattern.invert = false
	matches := matchingFrames(f.question.index, &pattern)
	hit := make([]bool, f.tree.Len()) // the node matches, or one above it
	for node := 1; node < len(hit); node++ {
		hit[node] = hit[f.tree.Parent[node]] || matches(f.tree.Frame[node])
	}
	for at := range f.kept {
		f.kept[at] = f.kept[at] && hit[f.tree.Leaf(int32(at)-1)] != invert
	}
}

// matchingFrames says of frames whether a pattern matches their name, file and
// line. It looks at each once.
func matchingFrames(index *dump.Index, pattern *filterPattern) func(frame uint32) bool {
	answers := map[uint32]bool{}
	return func(frame uint32) bool {
		matches, known := answers[frame]
		if !known {
			matches = pattern.matches(index.FrameName(frame) + " " + index.FramePlace(frame))
			answers[frame] = matches
		}
		return matches
	}
}

// keep keeps the totals of stacks that are shown.
func (f *dumpForest) keep(totals []dump.StackTotal) []dump.StackTotal {
	kept := totals[:0:0]
	for _, total := range totals {
		if at := int(total.Stack) + 1; at >= 0 && at < len(f.kept) && f.kept[at] {
			kept = append(kept, total)
		}
	}
	return kept
}

// shows says whether a node is shown.
func (f *dumpForest) shows(node int32) bool { return f.within[node+1] > f.within[node] }

// below is how many nodes are shown below one.
func (f *dumpForest) below(node int32) int {
	return int(f.within[f.tree.End(node)] - f.within[node+1])
}

// stackCount is how many stacks go through a node.
func (f *dumpForest) stackCount(node int32) int {
	return int(f.ending[f.tree.End(node)] - f.ending[node])
}

// childCount is how many children of a node are shown.
func (f *dumpForest) childCount(node int32) (count int) {
	for child, end := node+1, f.tree.End(node); child < end; child = f.tree.End(child) {
		if f.shows(child) {
			count++
		}
	}
	return count
}

// children appends those children of a node that are shown.
func (f *dumpForest) children(into []int32, node int32) []int32 {
	for child, end := node+1, f.tree.End(node); child < end; child = f.tree.End(child) {
		if f.shows(child) {
			into = append(into, child)
		}
	}
	return into
}

// onlyChild is the one child of a node that has no other.
func (f *dumpForest) onlyChild(node int32) (only int32, ok bool) {
	if f.below(node) == 0 {
		return 0, false
	}
	child := node + 1
	for !f.shows(child) {
		child = f.tree.End(child)
	}
	return child, f.within[f.tree.End(node)] == f.within[f.tree.End(child)]
}

// stackBelow is the stack that ends at a node, or of those below it one that
// weighs the most.
func (f *dumpForest) stackBelow(node int32, weights *dump.Weights) int32 {
	for {
		if stack, ends := f.stacks[node]; ends {
			return stack
		}
		best, most := int32(-1), int64(0)
		for child, end := node+1, f.tree.End(node); child < end; child = f.tree.End(child) {
			bytes := int64(0)
			if weights != nil {
				bytes = weights.Bytes(child)
			}
			if f.shows(child) && (best < 0 || bytes > most) {
				best, most = child, bytes
			}
		}
		if best < 0 {
			return dump.BeforeRecording
		}
		node = best
	}
}

// path is the frames from the root to a node, the root's left out.
func (f *dumpForest) path(node int32) []uint32 {
	path := make([]uint32, f.tree.Depth(node))
	for at := len(path) - 1; at >= 0; at-- {
		path[at] = f.tree.Frame[node]
		node = f.tree.Parent[node]
	}
	return path
}

// at is the node at the end of a path, or as far as there is one.
func (f *dumpForest) at(path []uint32) (node int32) {
	for _, frame := range path {
		found := false
		for child, end := node+1, f.tree.End(node); child < end && !found; child = f.tree.End(child) {
			if f.tree.Frame[child] == frame && f.shows(child) {
				node, found = child, true
			}
		}
		if !found {
			break
		}
	}
	return node
}

// foundNodes are the nodes of a forest whose frame matches a pattern.
type foundNodes struct {
	within []int32 // by node, and one more: how many of the nodes before it match
}

// findQuestion is which nodes.
type findQuestion struct {
	forest  *dumpForest
	pattern string // as it was typed
}

// find finds the nodes that are shown and match.
func (f *dumpForest) find(pattern filterPattern) *foundNodes {
	matches := matchingFrames(f.question.index, &pattern)
	marks := make([]bool, f.tree.Len())
	for node := 1; node < len(marks); node++ {
		marks[node] = f.shows(int32(node)) && matches(f.tree.Frame[node])
	}
	return &foundNodes{countBefore(marks)}
}

func (n *foundNodes) matches(node int32) bool { return n.within[node+1] > n.within[node] }

// between is how many nodes match from one on up to another.
func (n *foundNodes) between(from, to int32) int32 { return n.within[to] - n.within[from] }

// The numbers that the tree has of each node.
const (
	weightLive      = iota // at the moment
	weightPeak             // at the peak of requested bytes
	weightAllocated        // in the stretch that charts show
	weightUnfreed          // allocated in the trace and not freed by its end
	weightCount
)

// weightQuestion is which weights of a forest's nodes.
type weightQuestion struct {
	forest   *dumpForest
	of       dumpTrace
	moment   dump.Moment // for what is live
	from, to int         // events, for what was allocated
}

// weigh weighs a forest by one of the numbers.
func (q *weightQuestion) weigh(number int) *dump.Weights {
	device := q.of.device()
	var totals []dump.StackTotal
	switch number {
	case weightLive:
		totals, _ = device.ByStack(q.moment) // of a moment that there is
	case weightPeak:
		totals = device.LiveByStack(device.Peaks[dump.Requested].Event)
	case weightAllocated:
		totals = device.AllocatedByStack(q.from, q.to)
	case weightUnfreed:
		totals = device.UnfreedByStack()
	}
	return q.forest.tree.Weigh(q.forest.keep(totals))
}
