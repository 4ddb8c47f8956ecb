package arena

import (
	"errors"
	"fmt"
)

var (
	// ErrReleased is an allocation from an arena whose buffer was given back.
	ErrReleased = errors.New("the arena was released; make a new one")
	// ErrNoMark is a Restore without a mark.
	ErrNoMark = errors.New("the arena has no mark to restore; call Mark first")

	errAddressSpace = errors.New("more than the address space")
)

// InsufficientMemoryError is an allocation that does not fit between the
// pointers. Nothing moved. It mirrors algan's InsufficientMemoryException,
// which carries no message; it does not mean that an allocator failed.
type InsufficientMemoryError struct {
	Arena     string // the arena's name
	Asked     int64  // bytes, padding apart
	ItemSize  int64  // bytes per item, the alignment; padding for it can be what does not fit
	Remaining int64  // bytes between the pointers
	Length    int64  // bytes of the whole arena
	Persist   bool   // asked on the reverse side
	Scope     string // names of the open scopes, outermost first, joined by "/"; "" when none or not observed
}

// Error is a sentence with the facts that says what to do.
func (e *InsufficientMemoryError) Error() string {
	side, scope := "forward", ""
	if e.Persist {
		side = "reverse"
	}
	if e.Scope != "" {
		scope = fmt.Sprintf(" in scope %q", e.Scope)
	}
	return fmt.Sprintf("arena %q cannot take %d bytes aligned to %d on its %s side%s, where %d of %d bytes remain; "+
		"make the arena larger, end temporary contexts earlier or split the work",
		e.Arena, e.Asked, e.ItemSize, side, scope, e.Remaining, e.Length)
}

// InsufficientArena tells package pool, which does not import this one, that
// an arena was full and no allocator failed.
func (e *InsufficientMemoryError) InsufficientArena() bool { return true }

// PointerError is a pair of pointers that the arena cannot have. Nothing moved.
type PointerError struct {
	Arena   string // the arena's name
	Forward int64  // bytes from the start, as asked
	Reverse int64  // bytes from the start, as asked
	Length  int64  // bytes of the whole arena
}

// Error is a sentence that says what is allowed.
func (e *PointerError) Error() string {
	return fmt.Sprintf("arena %q of %d bytes cannot have forward pointer %d and reverse pointer %d; "+
		"pass 0 <= forward <= reverse <= length", e.Arena, e.Length, e.Forward, e.Reverse)
}
