package pool

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotSupported is returned where an upstream or a pool cannot do what was
// asked at all, such as managed memory on a device without it. Ask
// Capabilities first.
var ErrNotSupported = errors.New("not supported by this memory; ask its capabilities first")

// ErrClosed is returned by every operation on a pool or an upstream that was
// closed. Build a new one.
var ErrClosed = errors.New("the pool is closed; build a new one")

// ErrTooManyStreams refuses the 65,536th stream of one pool. Each has a free
// list of its own, for good: a new number for every task is a mistake.
var ErrTooManyStreams = errors.New("a pool serves at most 65,535 streams; use stream numbers again")

// Unknown stands in a byte count for a number that nobody could read. It is
// never zero, so that an unknown number is never shown as one.
const Unknown int64 = -1

// OutOfMemoryError says that no block could be had, with the facts of that
// moment. A failure callback acts on it; everything else passes it on.
type OutOfMemoryError struct {
	Asked       int64  // bytes the caller asked for
	Free        int64  // free bytes of the device, Unknown if unreadable
	Total       int64  // all bytes of the device, Unknown if unreadable
	LargestFree int64  // largest free block that the layer held, bytes; Unknown if it holds none of its own
	Where       string // the layer that gave up: "Pool", "CachingPool", "host memory"
	Reason      string // why, as that layer puts it: "Maximum pool size exceeded"
	Cause       error  // the upstream's error, or nil
}

// Error states the facts and ends with what to do.
func (e *OutOfMemoryError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: out of memory: asked %d bytes", e.Where, e.Asked)
	if e.Free != Unknown && e.Total != Unknown {
		fmt.Fprintf(&text, ", device free %d of %d", e.Free, e.Total)
	}
	if e.LargestFree != Unknown {
		fmt.Fprintf(&text, ", largest free block %d", e.LargestFree)
	}
	if e.Reason != "" {
		fmt.Fprintf(&text, " (%s)", e.Reason)
	}
	text.WriteString("; free blocks, reclaim unused segments or ask for less")
	return text.String()
}

// Unwrap returns the upstream's error.
func (e *OutOfMemoryError) Unwrap() error { return e.Cause }

// UnknownBlockError says that a block was given back that is not live, or with
// another size than it was asked with. Nothing was changed.
type UnknownBlockError struct {
	Address Address
	Bytes   int64  // the size the caller named, bytes
	Held    int64  // the size that the live block at Address was asked with, bytes; Unknown if none is live there
	Where   string // the layer that refused it
}

// Error states the facts and ends with what to do.
func (e *UnknownBlockError) Error() string {
	if e.Held == Unknown {
		return fmt.Sprintf("%s: no live block at %#x (%d bytes were freed there); free each block once, to the pool that gave it",
			e.Where, uint64(e.Address), e.Bytes)
	}
	return fmt.Sprintf("%s: the block at %#x holds %d bytes, not %d; free it with the size it was asked with",
		e.Where, uint64(e.Address), e.Held, e.Bytes)
}

// LiveBlocksError refuses to tear a pool down over blocks that are in use.
type LiveBlocksError struct {
	Count int    // live blocks
	Bytes int64  // their rounded size, bytes
	Where string // the pool that refused
}

// Error states the facts and ends with what to do.
func (e *LiveBlocksError) Error() string {
	return fmt.Sprintf("%s: %d live blocks hold %d bytes; free them first, or close it over them on purpose",
		e.Where, e.Count, e.Bytes)
}

// SizeError refuses a size or an option that can have no meaning, such as a
// negative request or a maximum that is no multiple of the alignment.
type SizeError struct {
	Bytes  int64  // the refused size
	Where  string // who refused it
	Reason string // what is asked of the size, as an instruction: "ask for 0 bytes or more"
}

// Error states the facts and ends with what to do.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: a size of %d bytes is refused; %s", e.Where, e.Bytes, e.Reason)
}
