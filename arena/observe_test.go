package arena_test

import (
	"slices"
	"testing"

	"vramscope/arena"
)

func TestSwappedObserverDoesNotSeeForeignScopesClosing(t *testing.T) {
	first, second := newTree(), newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: first})
	scope := a.Scope("first's")
	if previous := a.SetObserver(second); previous != arena.Observer(first) {
		t.Fatalf("previous %v", previous)
	}
	scope.End()
	if len(second.events) != 0 {
		t.Fatalf("%+v", second.events)
	}
	a.SetObserver(first)
	seen := len(first.events)
	scope.End()
	if len(first.events) != seen {
		t.Fatal("the scope ended while another watched; it does not end again")
	}
}

// A recording inside a scope: the previous observer is back before the scope
// ends, and sees it ending.
func TestPreviousObserverIsRestored(t *testing.T) {
	first, second := newTree(), newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: first})
	outer := a.Scope("outer")
	previous := a.SetObserver(second)
	inner := a.Scope("recorded")
	alloc(t, a, 8, 1)
	if a.State().Scopes != 1 {
		t.Fatalf("%d scopes open for the second observer", a.State().Scopes)
	}
	inner.End()
	a.SetObserver(previous)
	outer.End()
	if n := first.root.children[0]; n.exitForward != 8 || n.allocations != 0 {
		t.Fatalf("%+v", n)
	}
	if n := second.root.children[0]; n.exitForward != 8 || n.allocations != 1 {
		t.Fatalf("%+v", n)
	}
	if got := ops(first.events); !slices.Equal(got, []arena.Op{arena.OpNew, arena.OpScopeOpen, arena.OpScopeClose}) {
		t.Fatalf("the first observer saw %v", got)
	}
}

// Two observers taking turns over scopes that overlap: each sees its own.
func TestInterleavedObservers(t *testing.T) {
	first, second := newTree(), newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: first})
	one := a.Scope("one")
	a.SetObserver(second)
	two := a.Scope("two")
	a.SetObserver(first)
	a.Scope("three")
	one.End() // and with it three, not two
	if a.State().Scopes != 0 {
		t.Fatalf("%d scopes open for the first", a.State().Scopes)
	}
	a.SetObserver(second)
	if a.State().Scopes != 1 {
		t.Fatalf("%d scopes open for the second", a.State().Scopes)
	}
	two.End()
	if last := second.events[len(second.events)-1]; last.Op != arena.OpScopeClose || last.Scope != 2 {
		t.Fatalf("%+v", last)
	}
}

func TestObserverMaySwitchOff(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	scope := a.Scope("open")
	a.SetObserver(nil)
	alloc(t, a, 8, 1)
	a.Mark()
	a.Temporary(true, nil).End()
	scope.End()
	a.Reset("")
	a.Release("")
	if got := ops(observer.events); !slices.Equal(got, []arena.Op{arena.OpNew, arena.OpScopeOpen}) {
		t.Fatalf("%v", got)
	}
}

// observerFunc cannot be compared; such an observer is a new one each time.
type observerFunc func(arena.Event)

func (f observerFunc) ObserveArena(event arena.Event) { f(event) }

func TestObserverThatCannotBeCompared(t *testing.T) {
	var seen []arena.Op
	observer := observerFunc(func(event arena.Event) { seen = append(seen, event.Op) })
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	scope := a.Scope("open")
	a.SetObserver(nil)
	a.SetObserver(observer)
	scope.End()
	if !slices.Equal(seen, []arena.Op{arena.OpNew, arena.OpScopeOpen}) {
		t.Fatalf("%v", seen)
	}
}

func TestEveryOperationIsObservedWithThePointersAfterIt(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	alloc(t, a, 8, 1)
	a.Mark()
	alloc(t, a, 4, 1)
	if err := a.Restore(); err != nil {
		t.Fatal(err)
	}
	temporary := a.Temporary(true, nil)
	persist(t, a, 4, 1)
	temporary.End()
	if err := a.SetPointers(2, 50); err != nil {
		t.Fatal(err)
	}
	a.Reset("again")
	a.Release("done")
	type row struct {
		op               arena.Op
		forward, reverse int64
	}
	var got []row
	for _, event := range observer.events {
		got = append(got, row{event.Op, event.Forward, event.Reverse})
	}
	want := []row{
		{arena.OpNew, 0, 64}, {arena.OpAlloc, 8, 64}, {arena.OpMark, 8, 64}, {arena.OpAlloc, 12, 64},
		{arena.OpRestore, 8, 64}, {arena.OpTempPush, 8, 64}, {arena.OpPersist, 8, 60}, {arena.OpTempPop, 8, 64},
		{arena.OpSet, 2, 50}, {arena.OpReset, 0, 64}, {arena.OpRelease, 0, 64},
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
	if push := observer.events[5]; !push.Clear {
		t.Fatal("the push does not say that it clears")
	}
}

//go:noinline
func uploadScene(a *arena.Arena) error {
	_, err := a.Alloc(1, 1)
	return err
}

// projectInlined is small enough to vanish into its caller, and is named still.
func projectInlined(a *arena.Arena) error { _, err := a.AllocPersist(1, 1); return err }

type stage struct{ arena *arena.Arena }

//go:noinline
func (s *stage) resolve() error { _, err := arena.SlicePersist[uint16](s.arena, 1); return err }

//go:noinline
func call(allocate func(numel, itemSize int64) (arena.Block, error)) error {
	_, err := allocate(1, 1)
	return err
}

func TestCallerIsTheFunctionThatAllocates(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 256, Observer: observer})
	calls := []struct {
		call func() error
		want string
	}{
		{func() error { return uploadScene(a) }, "arena_test.uploadScene"},
		{func() error { return projectInlined(a) }, "arena_test.projectInlined"},
		{(&stage{a}).resolve, "arena_test.(*stage).resolve"},
		{func() error { _, err := arena.Slice[float32](a, 2, 2); return err },
			"arena_test.TestCallerIsTheFunctionThatAllocates.func3"},
		{func() error { _, err := arena.Clone(a, []int32{1}); return err },
			"arena_test.TestCallerIsTheFunctionThatAllocates.func4"},
		{func() error { _, err := a.AllocTyped(arena.DTypeBool, false, 1); return err },
			"arena_test.TestCallerIsTheFunctionThatAllocates.func5"},
		{func() error { allocate := a.Alloc; return call(allocate) }, "arena_test.call"},
	}
	for range 2 { // the second time from memory
		for _, c := range calls {
			if err := c.call(); err != nil {
				t.Fatal(err)
			}
			if got := observer.events[len(observer.events)-1].Caller; got != c.want {
				t.Errorf("caller %q, want %q", got, c.want)
			}
		}
	}
}

// A goroutine that begins with an allocation has at most the wrapper that the
// compiler makes for it, and never the runtime, as its caller.
func TestCallerOfAGoroutine(t *testing.T) {
	done := make(chan string)
	a := newArena(t, arena.Config{Bytes: 8, Observer: observerFunc(func(event arena.Event) {
		if event.Op == arena.OpAlloc {
			done <- event.Caller
		}
	})})
	go a.Alloc(1, 1)
	if caller := <-done; caller != arena.UnknownCaller && caller != "arena_test.TestCallerOfAGoroutine.gowrap1" {
		t.Fatalf("caller %q", caller)
	}
}
