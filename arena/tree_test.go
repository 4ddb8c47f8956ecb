package arena_test

import (
	"slices"
	"testing"

	"vramscope/arena"
)

// tree is a test's observer: it keeps every event, and folds them into the
// figures of a scope tree as plainly as they can be written down.
type tree struct {
	events    []arena.Event
	root      *node
	stack     []*node
	numbers   map[uint64]*node
	abandoned []*node
}

// node has the figures of algan's ScopeRecord.
type node struct {
	name                       string
	params                     map[string]string
	entryForward, entryReverse int64
	exitForward, exitReverse   int64
	events                     []arena.Event
	children                   []*node
	allocations                int
	peakForward, peakReverse   int64
}

func newTree() *tree {
	root := &node{name: "<root>"}
	return &tree{root: root, stack: []*node{root}, numbers: map[uint64]*node{}}
}

func (t *tree) current() *node { return t.stack[len(t.stack)-1] }

func (t *tree) ObserveArena(event arena.Event) {
	event.Params = slices.Clone(event.Params)
	t.events = append(t.events, event)
	switch event.Op {
	case arena.OpScopeOpen:
		n := &node{name: event.Name, params: map[string]string{},
			entryForward: event.Forward, entryReverse: event.Reverse,
			exitForward: event.Forward, exitReverse: event.Reverse}
		n.note(event.Params)
		t.current().children = append(t.current().children, n)
		t.stack = append(t.stack, n)
		t.numbers[event.Scope] = n
	case arena.OpScopeClose:
		n := t.numbers[event.Scope]
		at := slices.Index(t.stack, n)
		if at < 0 {
			panic("a scope closes that is not open")
		}
		n.exitForward, n.exitReverse = event.Forward, event.Reverse
		t.stack = t.stack[:at]
	case arena.OpParams:
		t.current().note(event.Params)
	case arena.OpAlloc, arena.OpPersist:
		t.current().events = append(t.current().events, event)
		for _, n := range t.stack {
			n.allocations++
			n.peakForward = max(n.peakForward, event.Forward-n.entryForward)
			n.peakReverse = max(n.peakReverse, n.entryReverse-event.Reverse)
		}
	case arena.OpTempPush, arena.OpTempPop:
		t.current().events = append(t.current().events, event)
	case arena.OpReset:
		if len(t.stack) > 1 {
			outermost := t.stack[1]
			t.root.children = slices.DeleteFunc(t.root.children, func(n *node) bool { return n == outermost })
			t.abandoned = append(t.abandoned, outermost)
		}
		t.stack = t.stack[:1]
	}
}

func (n *node) note(params []arena.Param) {
	for _, p := range params {
		if n.params == nil {
			n.params = map[string]string{}
		}
		n.params[p.Name] = p.String()
	}
}

// selfBytes is what algan calls total_bytes.
func (n *node) selfBytes() int64 {
	var total int64
	for _, event := range n.events {
		if event.Op == arena.OpAlloc || event.Op == arena.OpPersist {
			total += event.Bytes
		}
	}
	return total
}

func (n *node) names() []string {
	var names []string
	for _, child := range n.children {
		names = append(names, child.name)
	}
	return names
}

func ops(events []arena.Event) []arena.Op {
	var all []arena.Op
	for _, event := range events {
		all = append(all, event.Op)
	}
	return all
}

// newArena makes an arena and fails the test where it cannot.
func newArena(t testing.TB, config arena.Config) *arena.Arena {
	t.Helper()
	a, err := arena.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// alloc takes forward bytes that must fit.
func alloc(t testing.TB, a *arena.Arena, numel, itemSize int64) arena.Block {
	t.Helper()
	block, err := a.Alloc(numel, itemSize)
	if err != nil {
		t.Fatal(err)
	}
	return block
}

// persist takes reverse bytes that must fit.
func persist(t testing.TB, a *arena.Arena, numel, itemSize int64) arena.Block {
	t.Helper()
	block, err := a.AllocPersist(numel, itemSize)
	if err != nil {
		t.Fatal(err)
	}
	return block
}

// expect compares the pointers and the high-water.
func expect(t testing.TB, a *arena.Arena, forward, reverse, highWater int64) {
	t.Helper()
	f, r := a.Pointers()
	if f != forward || r != reverse || a.HighWater() != highWater {
		t.Fatalf("forward %d, reverse %d, high-water %d; want %d, %d, %d",
			f, r, a.HighWater(), forward, reverse, highWater)
	}
}
