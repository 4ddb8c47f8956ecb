package pool

import (
	"errors"
	"fmt"
	"testing"
)

// fullArena is the arena's error, as far as this package can see it.
type fullArena struct{ full bool }

func (fullArena) Error() string             { return "arena: out of memory, so to say" }
func (e fullArena) InsufficientArena() bool { return e.full }

func TestWhatIsAnOutOfMemory(t *testing.T) {
	typed := &OutOfMemoryError{Asked: 1, Where: "Pool"}
	for _, row := range []struct {
		name string
		err  error
		rule string
		want bool
	}{
		{"nothing", nil, "", false},
		{"the type", typed, RuleType, true},
		{"the type, wrapped in words that say otherwise", fmt.Errorf("all is well: %w", typed), RuleType, true},
		{"the type inside a misuse", errors.Join(&SizeError{}, typed), RuleType, true},

		{"words", errors.New("CUDA Out Of Memory: tried to allocate"), "out of memory", true},
		{"the driver's name", errors.New("CUDA_ERROR_OUT_OF_MEMORY"), "cuda_error_out_of_memory", true},
		{"the runtime's name", errors.New("cudaErrorMemoryAllocation (2)"), "cudaerrormemoryallocation", true},
		{"both: the first rule", errors.New("CUDA_ERROR_OUT_OF_MEMORY: out of memory"), "out of memory", true},
		{"underscores are no spaces", errors.New("out_of_memory"), "", false},
		{"another failure", errors.New("illegal memory access"), "", false},
		{"no words at all", errors.New(""), "", false},

		{"a full arena", fullArena{full: true}, "", false},
		{"not a full arena, in words", fullArena{full: false}, "out of memory", true},
		{"a misuse that quotes one", fmt.Errorf("after out of memory: %w", &UnknownBlockError{Held: Unknown}), "", false},
		{"a refused size", fmt.Errorf("out of memory? %w", &SizeError{}), "", false},
		{"a refused rebuild", fmt.Errorf("out of memory? %w", &LiveAllocationsError{}), "", false},
		{"a refused close", fmt.Errorf("out of memory? %w", &LiveBlocksError{}), "", false},
		{"not supported", fmt.Errorf("out of memory? %w", ErrNotSupported), "", false},
		{"closed", fmt.Errorf("out of memory? %w", ErrClosed), "", false},
	} {
		rule, got := Classify(row.err)
		if got != row.want || rule != row.rule {
			t.Errorf("%s: %v by %q, want %v by %q", row.name, got, rule, row.want, row.rule)
		}
	}
}

func TestAFullArenaIsAClassOfItsOwn(t *testing.T) {
	for _, row := range []struct {
		err   error
		class FailureClass
		words string
	}{
		{fmt.Errorf("scope trace: %w", fullArena{full: true}), FailureArenaFull, "arena full"},
		{&OutOfMemoryError{}, FailureOutOfMemory, "out of memory"},
		{errors.New("device lost"), FailureOther, "other"},
		{nil, FailureOther, "other"},
	} {
		if class, _ := ClassifyFailure(row.err); class != row.class || class.String() != row.words {
			t.Errorf("%v is %s", row.err, class)
		}
	}
}
