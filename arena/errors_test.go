package arena_test

import (
	"errors"
	"testing"

	"vramscope/arena"
)

// Every error has the facts, and ends by saying what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&arena.InsufficientMemoryError{Arena: "main", Asked: 8, ItemSize: 4, Remaining: 7, Length: 16, Persist: true, Scope: "render/trace"},
			`arena "main" cannot take 8 bytes aligned to 4 on its reverse side in scope "render/trace", ` +
				`where 7 of 16 bytes remain; make the arena larger, end temporary contexts earlier or split the work`},
		{&arena.PointerError{Arena: "main", Forward: 9, Reverse: 8, Length: 16},
			`arena "main" of 16 bytes cannot have forward pointer 9 and reverse pointer 8; pass 0 <= forward <= reverse <= length`},
		{&arena.PoisonError{Variable: "ALGAN_ARENA_POISON", Value: "x\x1b"},
			`ALGAN_ARENA_POISON is "x\x1b"; set it to -1 (off) or to a byte from 0 to 255`},
		{&arena.ViewError{Arena: "main", Type: "float32", Reason: "its buffer has no host view; use Alloc and the block's address"},
			`arena "main" cannot be seen as float32: its buffer has no host view; use Alloc and the block's address`},
		{&arena.HostMemoryError{Asked: 5, Err: errors.New("cannot allocate memory")},
			"the host refuses 5 bytes of memory (cannot allocate memory); ask for less or free some"},
		{&arena.ConfigError{Field: "Memory", Problem: "is short; pass more"}, "arena configuration: Memory is short; pass more"},
	} {
		if c.err.Error() != c.want {
			t.Errorf("%q\nwant %q", c.err, c.want)
		}
	}
}
