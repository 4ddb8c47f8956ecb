package arena_test

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"vramscope/arena"
)

type celsius float32

func TestViewsShareTheBuffer(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 256})
	alloc(t, a, 3, 1)
	matrix, err := arena.Slice[float32](a, 2, 3)
	if err != nil || len(matrix) != 6 || cap(matrix) != 6 {
		t.Fatalf("%v, %v", matrix, err)
	}
	if uint64(uintptr(unsafe.Pointer(&matrix[0]))) != a.Base()+4 {
		t.Fatal("the view does not start at its offset")
	}
	persistent, err := arena.SlicePersist[complex128](a, 2)
	if err != nil || len(persistent) != 2 {
		t.Fatalf("%v, %v", persistent, err)
	}
	expect(t, a, 28, 224, 60)
	for _, extents := range [][]int{{0}, {3, 0}} {
		if empty, err := arena.Slice[celsius](a, extents...); err != nil || empty == nil || len(empty) != 0 {
			t.Fatalf("%v, %v", empty, err)
		}
	}
	clone, err := arena.Clone(a, []celsius{1, 2, 3})
	if err != nil || !slices.Equal(clone, []celsius{1, 2, 3}) {
		t.Fatalf("%v, %v", clone, err)
	}
	if clone, err := arena.Clone(a, make([]int64, 100)); clone != nil || err == nil {
		t.Fatalf("%v, %v", clone, err)
	}
}

func TestViewNamesItsType(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 256, Observer: observer})
	for want, view := range map[string]func() error{
		"float32": func() error { _, err := arena.Slice[celsius](a, 1); return err },
		"uint8":   func() error { _, err := arena.Slice[byte](a, 1); return err },
		"bool":    func() error { _, err := arena.SlicePersist[bool](a, 1); return err },
	} {
		if err := view(); err != nil {
			t.Fatal(err)
		}
		if got := observer.events[len(observer.events)-1].DType; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestViewOfABufferThatStartsBetweenItems(t *testing.T) {
	words := make([]uint64, 8)
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 64)
	a := newArena(t, arena.Config{Memory: buffer[2:]})
	if _, err := arena.Slice[uint16](a, 3); err != nil {
		t.Fatal(err)
	}
	var view *arena.ViewError
	if _, err := arena.Slice[float32](a, 1); !errors.As(err, &view) {
		t.Fatalf("error %v", err)
	}
	expect(t, a, 6, 62, 6)
	alloc(t, a, 1, 4) // as bytes it is fine
}

func TestViewsRefuseBadExtents(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	for _, extents := range [][]int{{-1}, {2, -3}, {1 << 62, 4}, {1 << 61}} {
		var wrong *arena.ExtentError
		if _, err := arena.Slice[float64](a, extents...); !errors.As(err, &wrong) {
			t.Errorf("%v: error %v", extents, err)
		}
	}
	expect(t, a, 0, 64, 0)
}
