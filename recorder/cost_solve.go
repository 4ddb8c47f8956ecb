package recorder

import (
	"fmt"

	"vramscope/arena"
)

// FrameRun is a scope's own events as they were recorded once, for so many
// frames. Events other than allocations and temporary contexts are passed over.
type FrameRun struct {
	Frames int64
	Events []ArenaEvent
}

// SolveTrace finds the trace that two runs of one scope come from: of each
// allocation the items for each frame, and those however many frames. 7 items
// for 1 frame and 13 for 3 are 4 and 3 for each frame. The error is a
// *SolveError.
func SolveTrace(a, b FrameRun) (CostTrace, error) {
	if a.Frames > b.Frames {
		a, b = b, a
	}
	if a.Frames == b.Frames {
		return nil, &SolveError{Reason: SolveSameFrames, Event: -1, LowFrames: a.Frames, HighFrames: b.Frames}
	}
	low, high := memoryEvents(a.Events), memoryEvents(b.Events)
	failed := func(reason SolveReason, event int, from, to int64) error {
		return &SolveError{Reason: reason, Event: event, LowFrames: a.Frames, HighFrames: b.Frames, Low: from, High: to}
	}
	if len(low) != len(high) {
		return nil, failed(SolveOtherCount, -1, int64(len(low)), int64(len(high)))
	}
	trace := make(CostTrace, 0, len(low))
	for i := range low {
		event, reason := solveEvent(low[i], high[i], a.Frames, b.Frames)
		if reason != solved {
			return nil, failed(reason, i, itemsOf(low[i]), itemsOf(high[i]))
		}
		trace = append(trace, event)
	}
	return trace, nil
}

func memoryEvents(events []ArenaEvent) []*ArenaEvent {
	var kept []*ArenaEvent
	for i := range events {
		switch events[i].Op {
		case arena.OpAlloc, arena.OpPersist, arena.OpTempPush, arena.OpTempPop:
			kept = append(kept, &events[i])
		}
	}
	return kept
}

func itemsOf(event *ArenaEvent) int64 { return event.Bytes / max(event.ItemSize, 1) }

// solveEvent is one event of the trace, or why there is none.
func solveEvent(low, high *ArenaEvent, lowFrames, highFrames int64) (CostEvent, SolveReason) {
	event := CostEvent{Op: low.Op}
	switch {
	case low.IsAllocation() != high.IsAllocation(), !low.IsAllocation() && low.Op != high.Op:
		return event, SolveOtherKind
	case !low.IsAllocation():
		event.Clear = low.Flags&FlagClear != 0
		return event, solved
	case low.Op != high.Op, low.DType != high.DType, low.ItemSize != high.ItemSize, low.ItemSize > 1<<31-1:
		return event, SolveOtherType
	}
	span, delta := highFrames-lowFrames, itemsOf(high)-itemsOf(low)
	if span <= 0 || delta%span != 0 {
		return event, SolveNotAffine
	}
	fixed, ok := times(delta/span, lowFrames)
	if !ok {
		return event, SolveNotAffine
	}
	event.ItemSize = int32(max(low.ItemSize, 1))
	event.Slope, event.Intercept = delta/span, itemsOf(low)-fixed
	return event, solved
}

// PerFrameTrace is the trace to fall back on where one run alone is known, or two
// do not agree: every item is charged for each frame, which is never less than
// what any number of frames up from the run's takes. A run of several frames is
// charged as if it were of one.
func PerFrameTrace(run FrameRun) CostTrace {
	trace := CostTrace{}
	for _, e := range memoryEvents(run.Events) {
		event := CostEvent{Op: e.Op, Clear: e.Flags&FlagClear != 0}
		if e.IsAllocation() {
			event.ItemSize, event.Slope = int32(min(max(e.ItemSize, 1), 1<<31-1)), itemsOf(e)
		}
		trace = append(trace, event)
	}
	return trace
}

// SolveReason is why two runs come from no trace.
type SolveReason uint8

// The reasons.
const (
	solved          SolveReason = iota
	SolveSameFrames             // both are of the same number of frames
	SolveOtherCount             // the numbers of events differ
	SolveOtherKind              // an event is of another kind
	SolveOtherType              // an allocation is of another type, or on the other side
	SolveNotAffine              // an allocation does not grow by whole items for each frame
)

// SolveError says why two runs of a scope come from no trace.
type SolveError struct {
	Reason                SolveReason
	Event                 int // its number among the events, -1 for all of them
	LowFrames, HighFrames int64
	Low, High             int64 // SolveOtherCount: events; else items, of each run
}

// Error is one sentence that says what to do.
func (e *SolveError) Error() string {
	switch e.Reason {
	case SolveSameFrames:
		return fmt.Sprintf("both runs are of %d frames: record one of another number of frames", e.LowFrames)
	case SolveOtherCount:
		return fmt.Sprintf("%d events at %d frames and %d at %d: what the scope does depends on its data, so take the larger run's peak as it is", e.Low, e.LowFrames, e.High, e.HighFrames)
	case SolveOtherKind:
		return fmt.Sprintf("event %d is of another kind at %d frames than at %d: what the scope does depends on its data, so take the larger run's peak as it is", e.Event, e.LowFrames, e.HighFrames)
	case SolveOtherType:
		return fmt.Sprintf("event %d is of another type or side at %d frames than at %d: what the scope does depends on its data, so take the larger run's peak as it is", e.Event, e.LowFrames, e.HighFrames)
	}
	return fmt.Sprintf("event %d goes from %d items at %d frames to %d at %d, which is no whole number a frame: take the larger run's peak as it is", e.Event, e.Low, e.LowFrames, e.High, e.HighFrames)
}
