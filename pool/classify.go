package pool

import (
	"errors"
	"strings"
)

// FailureClass says what kind of "no memory" an error is. A render retries the
// first two, in different ways, and passes everything else on.
type FailureClass uint8

// The classes.
const (
	// FailureOther is not about memory, or not known to be.
	FailureOther FailureClass = iota
	// FailureOutOfMemory is an allocator that could get no memory.
	FailureOutOfMemory
	// FailureArenaFull is an arena whose two pointers would cross: algan's
	// InsufficientMemoryException. The device may have plenty.
	FailureArenaFull
)

// String is the class in words.
func (c FailureClass) String() string {
	switch c {
	case FailureOutOfMemory:
		return "out of memory"
	case FailureArenaFull:
		return "arena full"
	default:
		return "other"
	}
}

// RuleType is the rule that matched when an error is an *OutOfMemoryError,
// whatever its text says.
const RuleType = "*OutOfMemoryError"

// outOfMemoryTexts are looked for in this order. They do not imply one another:
// the first has spaces where the second has underscores.
var outOfMemoryTexts = [...]string{
	"out of memory",
	"cuda_error_out_of_memory",
	"cudaerrormemoryallocation",
}

// Classify says whether an error is an allocator that ran out of memory, and by
// which rule: RuleType, or the text that its message holds. It mirrors algan's
// is_cuda_oom: the type first; then the lower-cased message of errors that have
// no type of their own to say otherwise; then no, whatever the message says.
func Classify(err error) (rule string, isOutOfMemory bool) {
	if err == nil {
		return "", false
	}
	var typed *OutOfMemoryError
	if errors.As(err, &typed) {
		return RuleType, true
	}
	if saysOtherwise(err) {
		return "", false
	}
	message := strings.ToLower(err.Error())
	for _, text := range outOfMemoryTexts {
		if strings.Contains(message, text) {
			return text, true
		}
	}
	return "", false
}

// ClassifyFailure gives the class of an error and the rule that matched.
func ClassifyFailure(err error) (class FailureClass, rule string) {
	if isArenaFull(err) {
		return FailureArenaFull, "InsufficientArena"
	}
	if rule, ok := Classify(err); ok {
		return FailureOutOfMemory, rule
	}
	return FailureOther, ""
}

// insufficientArena is what an arena's error says of itself. This package does
// not know the arena, which stands beside it.
type insufficientArena interface{ InsufficientArena() bool }

func isArenaFull(err error) bool {
	var full insufficientArena
	return err != nil && errors.As(err, &full) && full.InsufficientArena()
}

// saysOtherwise is true for errors whose type settles that they are no failed
// allocation of a device, as MemoryError and ValueError are in algan: a misuse
// whose message quotes an out-of-memory must not start a retry.
func saysOtherwise(err error) bool {
	var (
		block *UnknownBlockError
		live  *LiveBlocksError
		busy  *LiveAllocationsError
		size  *SizeError
	)
	return isArenaFull(err) ||
		errors.As(err, &block) || errors.As(err, &live) || errors.As(err, &busy) || errors.As(err, &size) ||
		errors.Is(err, ErrNotSupported) || errors.Is(err, ErrClosed)
}
