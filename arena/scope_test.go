package arena_test

import (
	"errors"
	"slices"
	"testing"

	"vramscope/arena"
)

// The worked tree of the specification, arena of 1024 bytes:
// render{3 x u8; trace{10 x f32; 3 x f64 persistent; temp{50 x f32}}; post{5 x f64}}
func TestWorkedTree(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Name: "worked", Bytes: 1024, Observer: observer})
	render := a.Scope("render")
	alloc(t, a, 3, 1)
	trace := a.Scope("trace")
	alloc(t, a, 10, 4)
	persist(t, a, 3, 8)
	temporary := a.Temporary(false, nil)
	alloc(t, a, 50, 4)
	temporary.End()
	trace.End()
	post := a.Scope("post")
	alloc(t, a, 5, 8)
	post.End()
	render.End()

	type row struct {
		entryForward, entryReverse, exitForward, exitReverse int64
		allocations                                          int
		peakForward, peakReverse, self                       int64
	}
	root := observer.root
	root.peakReverse = max(root.peakReverse, 0)
	renderNode := root.children[0]
	for _, c := range []struct {
		node *node
		want row
	}{
		{root, row{0, 0, 0, 0, 5, 244, 0, 0}},
		{renderNode, row{0, 1024, 88, 1000, 5, 244, 24, 3}},
		{renderNode.children[0], row{3, 1024, 44, 1000, 3, 241, 24, 264}},
		{renderNode.children[1], row{44, 1000, 88, 1000, 1, 44, 0, 40}},
	} {
		n := c.node
		got := row{n.entryForward, n.entryReverse, n.exitForward, n.exitReverse,
			n.allocations, n.peakForward, n.peakReverse, n.selfBytes()}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", n.name, got, c.want)
		}
	}
	expect(t, a, 88, 1000, 268) // forward 244 + reverse 24
	if first := observer.events[0]; first.Op != arena.OpNew || first.Bytes != 1024 || first.Name != "worked" || first.Reverse != 1024 {
		t.Errorf("%+v", first)
	}
	if numbers := []uint64{render.Number(), trace.Number(), post.Number()}; !slices.Equal(numbers, []uint64{1, 2, 3}) {
		t.Errorf("scope numbers %v", numbers)
	}
}

func TestOffByDefaultAndTheNullScope(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	scope := a.Scope("nothing", arena.Int("frames", 3))
	if scope != (arena.Scope{}) || scope.Number() != 0 {
		t.Fatalf("%+v", scope)
	}
	a.NoteParams(arena.Int("late", 1))
	scope.End()
	scope.End()
	if a.Observer() != nil || a.State().Scopes != 0 {
		t.Fatal("somebody observes")
	}
}

// 6 x 4 and 5 x 1 are 29 bytes, whatever the padding.
func TestAllocationsAreCaptured(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	scope := a.Scope("captured")
	if _, err := a.AllocTyped(arena.DTypeFloat32, false, 2, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AllocTyped(arena.DTypeUint8, true, 5); err != nil {
		t.Fatal(err)
	}
	scope.End()
	n := observer.root.children[0]
	if n.selfBytes() != 29 {
		t.Fatalf("%d self bytes, want 29", n.selfBytes())
	}
	float, bytes := n.events[0], n.events[1]
	if float.Op != arena.OpAlloc || float.Persist || float.DType != "float32" || float.Bytes/float.ItemSize != 6 || float.ItemSize != 4 {
		t.Errorf("%+v", float)
	}
	if bytes.Op != arena.OpPersist || !bytes.Persist || bytes.DType != "uint8" || bytes.Bytes != 5 || bytes.ItemSize != 1 {
		t.Errorf("%+v", bytes)
	}
}

func TestScopeCountsFromItsEntry(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 1024, Observer: observer})
	alloc(t, a, 32, 1)
	scope := a.Scope("later")
	alloc(t, a, 10, 4)
	persist(t, a, 3, 4)
	scope.End()
	n := observer.root.children[0]
	if n.entryForward != 32 || n.peakForward != 40 || n.peakReverse != 12 {
		t.Fatalf("entry %d, peaks %d and %d; want 32, 40, 12", n.entryForward, n.peakForward, n.peakReverse)
	}
}

func TestTemporaryInsideAScope(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 1024, Observer: observer})
	scope := a.Scope("frame")
	alloc(t, a, 4, 4)
	temporary := a.Temporary(false, nil)
	alloc(t, a, 16, 4)
	temporary.End()
	alloc(t, a, 4, 4)
	scope.End()
	n := observer.root.children[0]
	want := []arena.Op{arena.OpAlloc, arena.OpTempPush, arena.OpAlloc, arena.OpTempPop, arena.OpAlloc}
	if !slices.Equal(ops(n.events), want) || n.peakForward != 80 || n.exitForward != 32 {
		t.Fatalf("ops %v, peak %d, exit %d; want %v, 80, 32", ops(n.events), n.peakForward, n.exitForward, want)
	}
	if pop := n.events[3]; pop.Forward != 16 || pop.Reverse != 1024 {
		t.Fatalf("the pop shows %d/%d, want the pointers after it, 16/1024", pop.Forward, pop.Reverse)
	}
}

func TestNesting(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 1024, Observer: observer})
	outer := a.Scope("outer")
	alloc(t, a, 2, 4)
	inner := a.Scope("inner")
	alloc(t, a, 6, 4)
	inner.End()
	outer.End()
	o := observer.root.children[0]
	if i := o.children[0]; i.peakForward != 24 || o.peakForward != 32 || len(o.events) != 1 || o.allocations != 2 {
		t.Fatalf("inner peak %d, outer peak %d, %d self events, %d allocations; want 24, 32, 1, 2",
			i.peakForward, o.peakForward, len(o.events), o.allocations)
	}
}

func TestScopeClosesOnPanicAndTheNextIsASibling(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 1024, Observer: observer})
	failure := errors.New("kernel")
	func() {
		defer func() {
			if recovered := recover(); recovered != failure {
				t.Errorf("recovered %v", recovered)
			}
		}()
		defer a.Scope("first").End()
		a.Scope("left open")
		panic(failure)
	}()
	a.Scope("second").End()
	if got := observer.root.names(); !slices.Equal(got, []string{"first", "second"}) {
		t.Fatalf("scopes %v", got)
	}
	if left := observer.root.children[0].names(); !slices.Equal(left, []string{"left open"}) {
		t.Fatalf("inside first: %v", left)
	}
	if a.State().Scopes != 0 {
		t.Fatal("a scope is still open")
	}
}

// A scope that a reset cut off is abandoned: only "retry" is under the root,
// its peak is 8, and ending the abandoned ones later is silent.
func TestResetAbandonsOpenScopes(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	wavefront := a.Scope("wavefront")
	alloc(t, a, 60, 1)
	resolve := a.Scope("resolve")
	if _, err := a.Alloc(60, 1); err == nil {
		t.Fatal("it fits")
	}
	a.Reset("arena full")
	retry := a.Scope("retry")
	alloc(t, a, 8, 1)
	seen := len(observer.events)
	resolve.End()
	wavefront.End()
	if len(observer.events) != seen {
		t.Fatalf("ending an abandoned scope emits %+v", observer.events[seen:])
	}
	retry.End()
	if got := observer.root.names(); !slices.Equal(got, []string{"retry"}) || observer.root.children[0].peakForward != 8 {
		t.Fatalf("under the root: %v", got)
	}
	if len(observer.abandoned) != 1 || observer.abandoned[0].name != "wavefront" {
		t.Fatalf("abandoned: %+v", observer.abandoned)
	}
	reset := observer.events[slices.Index(ops(observer.events), arena.OpReset)]
	if reset.Reason != "arena full" || reset.Forward != 0 || reset.Reverse != 64 {
		t.Fatalf("%+v", reset)
	}
	expect(t, a, 8, 64, 8)
}

func TestFailureNamesTheScopeAndIsObserved(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Name: "main", Bytes: 16, Observer: observer})
	defer a.Scope("render").End()
	defer a.Scope("trace").End()
	_, err := a.AllocTyped(arena.DTypeFloat64, true, 3)
	var insufficient *arena.InsufficientMemoryError
	if !errors.As(err, &insufficient) || insufficient.Scope != "render/trace" {
		t.Fatalf("%v", err)
	}
	fail := observer.events[len(observer.events)-1]
	if fail.Op != arena.OpFail || !fail.Persist || fail.Bytes != 24 || fail.ItemSize != 8 || fail.DType != "float64" ||
		fail.Reason != err.Error() || fail.Caller != "arena_test.TestFailureNamesTheScopeAndIsObserved" || fail.Reverse != 16 {
		t.Fatalf("%+v", fail)
	}
}

func TestEndingScopesTwiceAndOutOfOrder(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	outer := a.Scope("outer")
	inner := a.Scope("inner")
	outer.End()
	seen := len(observer.events)
	inner.End()
	outer.End()
	if len(observer.events) != seen {
		t.Fatalf("%+v", observer.events[seen:])
	}
	if last := observer.events[seen-1]; last.Op != arena.OpScopeClose || last.Scope != 1 {
		t.Fatalf("%+v", last)
	}
}

func TestParametersOfScopes(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Observer: observer})
	scope := a.Scope("post", arena.Int("width", 640), arena.Bool("fxaa", true), arena.Float("scale", 0.5), arena.Text("map", "aces"))
	a.NoteParams(arena.Int("width", 1280), arena.Int("cells", 7))
	a.NoteParams()
	inner := a.Scope("inner")
	a.NoteParams(arena.Text("who", "inner"))
	inner.End()
	scope.End()
	a.NoteParams(arena.Text("who", "root"))
	n := observer.root.children[0]
	for name, want := range map[string]string{"width": "1280", "fxaa": "true", "scale": "0.5", "map": "aces", "cells": "7"} {
		if n.params[name] != want {
			t.Errorf("%s = %q, want %q", name, n.params[name], want)
		}
	}
	if n.children[0].params["who"] != "inner" || observer.root.params["who"] != "root" {
		t.Error("parameters went to another scope")
	}
}
