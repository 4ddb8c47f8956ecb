package arena_test

import (
	"errors"
	"slices"
	"testing"

	"vramscope/arena"
)

func TestTemporaryRestores(t *testing.T) {
	floorAt := func(offset int64) func() int64 { return func() int64 { return offset } }
	for _, c := range []struct {
		name    string
		clear   bool
		floor   func() int64
		forward int64
		reverse int64
	}{
		{"the forward pointer alone", false, nil, 10, 70},
		{"both", true, nil, 10, 90},
		{"both, down to a floor", true, floorAt(80), 10, 80},
		{"both, with a floor that keeps nothing more", true, floorAt(arena.NoFloor), 10, 90},
		{"both, with a floor above", true, floorAt(99), 10, 90},
		{"the forward pointer, with a floor below the reverse one", false, floorAt(40), 10, 40},
		{"with a floor below forward, which counts as forward", true, floorAt(3), 10, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newArena(t, arena.Config{Bytes: 100})
			alloc(t, a, 10, 1)
			persist(t, a, 10, 1)
			temporary := a.Temporary(c.clear, c.floor)
			alloc(t, a, 30, 1)
			persist(t, a, 20, 1)
			temporary.End()
			expect(t, a, c.forward, c.reverse, 70)
			alloc(t, a, 0, 1)
			temporary.End()
			expect(t, a, c.forward, c.reverse, 70+max(0, c.forward+100-c.reverse-70))
		})
	}
}

func TestFloorIsAskedAtTheEnd(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 100})
	floor := int64(arena.NoFloor)
	temporary := a.Temporary(true, func() int64 { return floor })
	table := persist(t, a, 25, 1)
	floor = table.Offset()
	persist(t, a, 25, 1)
	temporary.End()
	expect(t, a, 0, 75, 50)
}

func TestTemporaryEndsOnPanic(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 100, Observer: observer})
	failure := errors.New("kernel")
	func() {
		defer func() {
			if recovered := recover(); recovered != failure {
				t.Errorf("recovered %v", recovered)
			}
		}()
		defer a.Temporary(true, nil).End()
		alloc(t, a, 30, 1)
		a.Temporary(false, nil) // whose end never comes
		persist(t, a, 30, 1)
		panic(failure)
	}()
	expect(t, a, 0, 100, 60)
	want := []arena.Op{arena.OpNew, arena.OpTempPush, arena.OpAlloc, arena.OpTempPush, arena.OpPersist,
		arena.OpTempPop, arena.OpTempPop}
	if got := ops(observer.events); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func TestFloorThatPanicsEndsTheContextAllTheSame(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 100, Observer: observer})
	temporary := a.Temporary(true, func() int64 { panic("no table") })
	alloc(t, a, 30, 1)
	persist(t, a, 30, 1)
	func() {
		defer func() {
			if recover() != "no table" {
				t.Error("the floor's panic was swallowed")
			}
		}()
		temporary.End()
	}()
	expect(t, a, 0, 100, 60)
	if last := observer.events[len(observer.events)-1]; last.Op != arena.OpTempPop || last.Forward != 0 || last.Reverse != 100 {
		t.Fatalf("%+v", last)
	}
	if a.State().Temporaries != 0 {
		t.Fatal("the context is still open")
	}
}

func TestContextsEndedOutOfOrder(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 100})
	outer := a.Temporary(false, nil)
	alloc(t, a, 10, 1)
	inner := a.Temporary(true, nil)
	alloc(t, a, 10, 1)
	persist(t, a, 10, 1)
	outer.End() // and inner, which clears, with it
	expect(t, a, 0, 100, 30)
	alloc(t, a, 5, 1)
	inner.End()
	expect(t, a, 5, 100, 30)
	(arena.Temporary{}).End()
}

// Pointers set below a context's begin, and persistent memory grown over it:
// restoring must not cross the pointers.
func TestTemporaryNeverCrossesThePointers(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 100})
	alloc(t, a, 60, 1)
	temporary := a.Temporary(false, nil)
	if err := a.SetPointers(0, 100); err != nil {
		t.Fatal(err)
	}
	persist(t, a, 70, 1)
	temporary.End()
	expect(t, a, 30, 30, 70)
}
