package recorder

import (
	"fmt"
	"iter"
	"math/bits"

	"vramscope/arena"
)

// CostTrace is a scope's own allocations in their order, each of a length that
// grows with the number of frames. It is nil for a scope that has none; a trace
// without events is not nil.
type CostTrace []CostEvent

// CostEvent is one event of a trace: arena.OpAlloc, arena.OpPersist,
// arena.OpTempPush or arena.OpTempPop.
type CostEvent struct {
	Intercept int64 // items, however many frames
	Slope     int64 // items for each frame
	ItemSize  int32 // bytes
	Op        arena.Op
	Clear     bool // arena.OpTempPush: closing it will clear the persistent side
}

// Allocates says whether the event is an allocation, on either side.
func (e *CostEvent) Allocates() bool { return e.Op == arena.OpAlloc || e.Op == arena.OpPersist }

// Items is how many items the event allocates for so many frames. ok is false
// where they are negative or more than can be counted.
func (e *CostEvent) Items(frames int64) (items int64, ok bool) {
	grown, ok := times(e.Slope, frames)
	if !ok {
		return 0, false
	}
	items = e.Intercept + grown
	if overflowed := (items < e.Intercept) != (grown < 0); overflowed {
		return 0, false
	}
	return items, items >= 0
}

// mostCostBytes bounds what a trace may add up to, so that no sum of pointers
// and padding overflows: 2 EiB.
const mostCostBytes = 1 << 61

// Replay says what the trace takes for so many frames, from a place in an
// arena: algan's replay() to the byte. What was released before the end counts
// in the peak. The error is a *ReplayError.
func (t CostTrace) Replay(frames int64, from ReplayFrom) (Replayed, error) {
	state := newPointerReplay(from)
	for _, step := range t.steps(frames, &state) {
		if step.Err != nil {
			return Replayed{}, step.Err
		}
	}
	return state.replayed(), nil
}

// ReplayStep is an event with the pointers after it.
type ReplayStep struct {
	Event   *CostEvent
	Items   int64
	Bytes   int64 // asked for, padding apart
	Forward int64 // pointer after the event, bytes from the arena's start
	Reverse int64 // bytes in use on the reverse side after the event
	Depth   int   // temporary contexts around it
	SetPeak bool  // the forward side was never higher
	Err     error // a *ReplayError, which ends the steps; nothing else is set then
}

// Steps yields the events in order with a running pointer. The step it yields is
// overwritten by the next.
func (t CostTrace) Steps(frames int64, from ReplayFrom) iter.Seq2[int, *ReplayStep] {
	state := newPointerReplay(from)
	return t.steps(frames, &state)
}

func (t CostTrace) steps(frames int64, state *pointerReplay) iter.Seq2[int, *ReplayStep] {
	return func(yield func(int, *ReplayStep) bool) {
		var step ReplayStep
		var event ArenaEvent
		room := int64(mostCostBytes)
		if frames < 0 || state.from.Forward > room || state.from.ReverseUsed > room || state.from.Length > room {
			yield(0, &ReplayStep{Err: &ReplayError{Event: -1, Frames: frames}})
			return
		}
		for i := range t {
			e := &t[i]
			step = ReplayStep{Event: e}
			event = ArenaEvent{Op: e.Op, ItemSize: int64(e.ItemSize)}
			if e.Clear {
				event.Flags = FlagClear
			}
			if e.Allocates() {
				items, counted := e.Items(frames)
				bytes, fits := times(items, int64(e.ItemSize))
				if !counted || !fits || bytes > room-int64(e.ItemSize) {
					yield(i, &ReplayStep{Err: &ReplayError{Event: i, Frames: frames}})
					return
				}
				room -= bytes + int64(e.ItemSize)
				step.Items, step.Bytes, event.Bytes = items, bytes, bytes
			}
			before, depth := state.result.Peak, len(state.saved)
			state.observe(&event)
			step.Forward, step.Reverse = state.forward, state.reverse
			step.Depth = min(depth, len(state.saved))
			step.SetPeak = state.result.Peak > before
			if !yield(i, &step) {
				return
			}
		}
	}
}

// times is a product; ok is false where it does not fit.
func times(a, b int64) (product int64, ok bool) {
	negative := (a < 0) != (b < 0)
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > 1<<63-1 {
		return 0, false
	}
	if negative {
		return -int64(low), true
	}
	return int64(low), true
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// ReplayError says that a trace cannot be replayed for so many frames.
type ReplayError struct {
	Event  int // its number in the trace, from 0; -1 where the place or the frames are no such
	Frames int64
}

// Error is one sentence that says what to do.
func (e *ReplayError) Error() string {
	if e.Event < 0 {
		return fmt.Sprintf("a trace cannot be replayed for %d frames: ask for a number from 1 up", e.Frames)
	}
	return fmt.Sprintf("event %d comes to a negative or uncountable number of bytes for %d frames: ask for another number of frames", e.Event, e.Frames)
}
