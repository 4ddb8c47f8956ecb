package arena

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Number is what a typed view may hold: fixed-size values without pointers,
// which the garbage collector would not find inside an arena.
type Number interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Slice allocates a temporary array of T on the forward side and returns a
// view of it, in row-major order. No extents at all are a scalar, one item.
// The items are not cleared.
//
// Errors are those of Arena.Alloc, and a *ViewError where the buffer cannot be
// seen as T. Nothing moves then.
func Slice[T Number](a *Arena, extents ...int) ([]T, error) {
	return view[T](a, false, extents)
}

// SlicePersist is Slice on the reverse side.
func SlicePersist[T Number](a *Arena, extents ...int) ([]T, error) {
	return view[T](a, true, extents)
}

// Clone allocates a temporary array on the forward side and copies source
// into it. Errors are those of Slice.
func Clone[T Number](a *Arena, source []T) ([]T, error) {
	clone, err := view[T](a, false, []int{len(source)})
	copy(clone, source)
	return clone, err
}

// ViewError is a typed view that the arena's buffer cannot give.
type ViewError struct {
	Arena  string // the arena's name
	Type   string // the item type asked for
	Reason string // why, in words
}

// Error is a sentence that says what to do.
func (e *ViewError) Error() string {
	return fmt.Sprintf("arena %q cannot be seen as %s: %s", e.Arena, e.Type, e.Reason)
}

func view[T Number](a *Arena, persist bool, extents []int) ([]T, error) {
	var item T
	numel, err := elements(extents)
	if err != nil {
		return nil, err
	}
	if reason := a.viewProblem(uint64(unsafe.Alignof(item))); reason != "" {
		return nil, &ViewError{Arena: a.name, Type: reflect.TypeFor[T]().String(), Reason: reason}
	}
	dtype := ""
	if a.observer != nil {
		dtype = reflect.TypeFor[T]().Kind().String()
	}
	block, err := a.allocate(numel, int64(unsafe.Sizeof(item)), persist, dtype, directly+1)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(block.memory)), numel), nil
}

// viewProblem says why items of an alignment cannot be seen, or "". Blocks
// are aligned from the arena's start, so a caller's buffer that starts between
// two items leaves every block there.
func (a *Arena) viewProblem(alignment uint64) string {
	switch {
	case !a.managed || a.released:
		return ""
	case a.memory == nil:
		return "its buffer has no host view; use Alloc and the block's address"
	case a.hostAlignment&(alignment-1) != 0:
		return fmt.Sprintf("its buffer does not start at a multiple of %d bytes; pass one that does", alignment)
	}
	return ""
}
