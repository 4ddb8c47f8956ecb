package ui

import "slices"

// stackRows are the rows of a stack tree that is open in places. They are never
// listed: a tree can have millions of nodes, of which a screen shows sixty. How
// many rows there are below a node is known without looking at them, and the
// children of a node are put in order when one of them is to be seen.
type stackRows struct {
	forest *dumpForest
	order  func(a, b int32) int // of the children of a node
	root   int32                // the node in row 0

	all    bool               // nodes are open but for those in other
	other  map[int32]struct{} // nodes that are open where most are closed, or the other way round
	inner  map[int32]int      // rows below a node, were it open, where they are not simply all or its children
	sorted map[int32][]int32  // children in their order
	top    [1]int32           // the root as the only one of its kind
	steps  []stackStep        // from the root to the node that is stood on
	chain  []int32            // room for a way through the tree
}

// stackStep is one of a node's siblings.
type stackStep struct {
	siblings []int32
	at       int
}

// show shows a forest, with everything closed.
func (r *stackRows) show(forest *dumpForest) {
	r.forest, r.root = forest, 0
	r.closeAll()
	r.resort()
}

// resort says that the order has changed.
func (r *stackRows) resort() { r.sorted = map[int32][]int32{} }

// closeAll closes every node but those above the first choice.
func (r *stackRows) closeAll() {
	r.all, r.other, r.inner = false, map[int32]struct{}{}, map[int32]int{}
	r.open(r.root)
}

// openAll opens every node.
func (r *stackRows) openAll() { r.all, r.other, r.inner = true, map[int32]struct{}{}, map[int32]int{} }

// isOpen says whether the children of a node are shown.
func (r *stackRows) isOpen(node int32) bool {
	_, other := r.other[node]
	return other != r.all && r.forest.below(node) > 0
}

// open opens a node and, where it has a single child, that too, and so on: a
// way without a choice is gone in one step.
func (r *stackRows) open(node int32) {
	r.chain = append(r.chain[:0], node)
	for only, ok := r.forest.onlyChild(node); ok; only, ok = r.forest.onlyChild(only) {
		r.chain = append(r.chain, only)
	}
	// From the innermost one on: a closed node keeps its count to itself.
	for _, node := range slices.Backward(r.chain) {
		r.set(node, true)
	}
}

// set opens or closes a node, and counts the rows around it anew.
func (r *stackRows) set(node int32, open bool) {
	if r.forest.below(node) == 0 || r.isOpen(node) == open {
		return
	}
	rows := r.inside(node)
	r.inner[node] = rows
	if open == r.all {
		delete(r.other, node)
	} else {
		r.other[node] = struct{}{}
	}
	if !open {
		rows = -rows
	}
	for node != 0 {
		node = r.forest.tree.Parent[node]
		r.inner[node] = r.inside(node) + rows
		if !r.isOpen(node) {
			return
		}
	}
}

// reveal opens what is above a node.
func (r *stackRows) reveal(node int32) {
	for node != 0 && node != r.root {
		node = r.forest.tree.Parent[node]
		r.set(node, true)
	}
}

// copy opens what is open in the rows of another forest, as far as this one has
// it.
func (r *stackRows) copy(other *stackRows) {
	nodes := make([]int32, 0, len(other.other))
	for node := range other.other {
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	for _, node := range nodes[:min(len(nodes), maximumCopied)] {
		path := other.forest.path(node)
		if at := r.forest.at(path); r.forest.tree.Depth(at) == len(path) {
			r.set(at, !other.all)
		}
	}
}

// maximumCopied bounds the nodes that stay open or closed when the tree changes.
const maximumCopied = 1000

// inside is how many rows there are below a node, were it open.
func (r *stackRows) inside(node int32) int {
	if rows, counted := r.inner[node]; counted {
		return rows
	}
	if r.all {
		return r.forest.below(node)
	}
	return r.forest.childCount(node)
}

// below is how many rows there are below a node.
func (r *stackRows) below(node int32) int {
	if !r.isOpen(node) {
		return 0
	}
	return r.inside(node)
}

// count is how many rows there are.
func (r *stackRows) count() int {
	if r.forest == nil {
		return 0
	}
	return 1 + r.below(r.root)
}

// children are the children of a node in their order.
func (r *stackRows) children(node int32) []int32 {
	children, known := r.sorted[node]
	if !known {
		children = r.forest.children(nil, node)
		slices.SortFunc(children, r.order)
		r.sorted[node] = children
	}
	return children
}

// goTo stands on a row; false where there is none.
func (r *stackRows) goTo(row int) bool {
	if row < 0 || row >= r.count() {
		return false
	}
	r.top[0] = r.root
	r.steps = append(r.steps[:0], stackStep{siblings: r.top[:]})
	node := r.root
	for row > 0 {
		row-- // the node itself
		siblings := r.children(node)
		at := 0
		for row > r.below(siblings[at]) {
			row -= 1 + r.below(siblings[at])
			at++
		}
		r.steps = append(r.steps, stackStep{siblings, at})
		node = siblings[at]
	}
	return true
}

// next stands on the row below; false where there is none.
func (r *stackRows) next() bool {
	if node := r.node(); r.isOpen(node) {
		r.steps = append(r.steps, stackStep{siblings: r.children(node)})
		return true
	}
	for last := len(r.steps) - 1; last > 0; last-- {
		if step := &r.steps[last]; step.at+1 < len(step.siblings) {
			step.at++
			r.steps = r.steps[:last+1]
			return true
		}
	}
	return false
}

// node is the node that is stood on, depth how far it is from the root.
func (r *stackRows) node() int32 {
	step := &r.steps[len(r.steps)-1]
	return step.siblings[step.at]
}

func (r *stackRows) depth() int { return len(r.steps) - 1 }

// rails has bit d set where what is above the node at depth d, or the node
// itself, has a sibling further down.
func (r *stackRows) rails() (rails uint64) {
	for depth := 1; depth < min(len(r.steps), 64); depth++ {
		if step := &r.steps[depth]; step.at+1 < len(step.siblings) {
			rails |= 1 << uint(depth)
		}
	}
	return rails
}

// rowOf is the row of a node; false where it is not shown, or something above
// it is closed.
func (r *stackRows) rowOf(node int32) (row int, ok bool) {
	if r.forest == nil || !r.forest.shows(node) || !r.forest.tree.Below(node, r.root) {
		return 0, false
	}
	r.chain = r.chain[:0]
	for at := node; at != r.root; at = r.forest.tree.Parent[at] {
		r.chain = append(r.chain, at)
	}
	above := r.root
	for i := len(r.chain) - 1; i >= 0; i-- {
		if !r.isOpen(above) {
			return 0, false
		}
		row++
		for _, sibling := range r.children(above) {
			if sibling == r.chain[i] {
				break
			}
			row += 1 + r.below(sibling)
		}
		above = r.chain[i]
	}
	return row, true
}

// after is the next node in the order of the rows, open or not, that was found;
// before the one in front of it. Both go on at the other end.
func (r *stackRows) after(node int32, found *foundNodes) (next int32, ok bool) {
	tree := r.forest.tree
	if found.between(r.root, tree.End(r.root)) == 0 {
		return 0, false
	}
	if found.between(node+1, tree.End(node)) > 0 {
		return r.firstBelow(node, found), true
	}
	for node != r.root {
		above, passed := tree.Parent[node], false
		for _, sibling := range r.children(above) {
			if passed && found.between(sibling, tree.End(sibling)) > 0 {
				return r.first(sibling, found), true
			}
			passed = passed || sibling == node
		}
		node = above
	}
	return r.first(r.root, found), true
}

func (r *stackRows) before(node int32, found *foundNodes) (previous int32, ok bool) {
	tree := r.forest.tree
	if found.between(r.root, tree.End(r.root)) == 0 {
		return 0, false
	}
	for node != r.root {
		above, best := tree.Parent[node], int32(-1)
		for _, sibling := range r.children(above) {
			if sibling == node {
				break
			}
			if found.between(sibling, tree.End(sibling)) > 0 {
				best = sibling
			}
		}
		if best >= 0 {
			return r.last(best, found), true
		}
		if found.matches(above) {
			return above, true
		}
		node = above
	}
	return r.last(r.root, found), true
}

// first is the first node that was found, of one and those below it; last the
// last one. There is one.
func (r *stackRows) first(node int32, found *foundNodes) int32 {
	if found.matches(node) {
		return node
	}
	return r.firstBelow(node, found)
}

func (r *stackRows) firstBelow(node int32, found *foundNodes) int32 {
	for {
		for _, child := range r.children(node) {
			if found.between(child, r.forest.tree.End(child)) > 0 {
				node = child
				break
			}
		}
		if found.matches(node) {
			return node
		}
	}
}

func (r *stackRows) last(node int32, found *foundNodes) int32 {
	for {
		below := int32(-1)
		for _, child := range r.children(node) {
			if found.between(child, r.forest.tree.End(child)) > 0 {
				below = child
			}
		}
		if below < 0 {
			return node
		}
		node = below
	}
}
