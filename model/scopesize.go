package model

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/arena"
	"vramscope/recorder"
)

// FramesParam is the parameter of a scope that says for how many frames it ran.
const FramesParam = "frames"

// ScopeSize is what a recorded scope takes at any number of frames, as far as
// its runs tell: its own allocations, without those of the scopes inside it.
type ScopeSize struct {
	Trace recorder.CostTrace
	Low   int64  // frames of the runs that it was solved from
	High  int64  // the same as Low where one number of frames is known
	Runs  int    // complete ones that were looked at, of all numbers of frames
	Route string // the other parameters of the runs, "" for none
	// Bound says that every item of a run of one frame is charged for each frame,
	// as algan does where two numbers of frames do not tell how items grow.
	Bound bool
	// Err is why there is no Trace, or why it is a Bound: an *UnsizedError or a
	// *recorder.SolveError.
	Err error
}

// PeakAt is the peak for so many frames, in bytes above the scope's entry, or
// why it is not known.
func (z *ScopeSize) PeakAt(frames int64) Figure {
	if z.Trace == nil {
		return missing(z.Err.Error())
	}
	replayed, err := z.Trace.Replay(frames, recorder.ReplayFrom{})
	if err != nil {
		return missing(err.Error())
	}
	origin := fmt.Sprintf("the scope's own events, replayed; solved from runs of %d and %d frames", z.Low, z.High)
	if z.Bound {
		origin = "at most: a run of 1 frame, charged for each frame"
	}
	return Figure{Value: replayed.Peak, Known: true, Origin: origin}
}

// UnsizedReason is why a scope's runs do not tell what it takes.
type UnsizedReason uint8

// The reasons.
const (
	UnsizedNoRun     UnsizedReason = iota // no complete run is among the events that are kept
	UnsizedNoFrames                       // no run says for how many frames it was
	UnsizedOneCount                       // all runs were for one number of frames
	UnsizedDisagrees                      // runs for one number of frames differ
	UnsizedMoves                          // a run sets the arena's pointers by marks, which no trace holds
)

// UnsizedError says why a scope's runs do not tell what it takes at another
// number of frames.
type UnsizedError struct {
	Reason UnsizedReason
	Frames int64 // UnsizedOneCount, UnsizedDisagrees
}

// Error is one sentence that says what to do.
func (e *UnsizedError) Error() string {
	switch e.Reason {
	case UnsizedNoRun:
		return "no whole run of the scope is among the events that are kept: record while it runs"
	case UnsizedNoFrames:
		return "no run says for how many frames it was: give the scope a parameter named " + FramesParam
	case UnsizedOneCount:
		return fmt.Sprintf("all runs were for %s: record another number", countOf(e.Frames, "frame"))
	case UnsizedMoves:
		return "the scope restores marks or sets the arena's pointers, which a replay cannot follow: take its peak as it is"
	}
	return fmt.Sprintf("two runs for %s differ: what the scope does depends on its data, so take its peak as it is", countOf(e.Frames, "frame"))
}

// ScopeSizer finds the size of a scope of an arena from the events that are kept
// of it. It follows a live arena and belongs to one goroutine.
type ScopeSizer struct {
	list *EventList
	path []string
	size *ScopeSize
	seen int // events of the list that the size was made of
}

// NewScopeSizer is for the scope of a path, the outermost name first.
func NewScopeSizer(arenaID int64, path []string) *ScopeSizer {
	return &ScopeSizer{list: NewEventList(arenaID, path, false), path: path}
}

// mostSizeEvents is how many of a scope's own events are looked at, the newest
// ones.
const mostSizeEvents = 20_000

// Size takes a view in, at most so many new events of it, and is the size as far
// as it is known.
func (z *ScopeSizer) Size(v *SourceView, most int) *ScopeSize {
	z.list.Update(v, most)
	if z.size == nil || z.size.Trace == nil && z.seen != z.list.Len() {
		z.seen = z.list.Len()
		runs := runsOf(z.list, z.path[len(z.path)-1])
		z.size = sizeOf(runs)
	}
	return z.size
}

// scopeRun is a run of a scope from its beginning to its end.
type scopeRun struct {
	frames int64 // 0 where it does not say
	route  string
	events []recorder.ArenaEvent
	moves  bool // it restored a mark or set the pointers
}

// runsOf takes the whole runs out of a scope's own events, the oldest first.
func runsOf(l *EventList, name string) (runs []scopeRun) {
	first := max(l.Len()-mostSizeEvents, 0)
	if first >= l.Len() {
		return nil
	}
	l.from, l.to, l.cachedAt = l.index[first].number, l.index[l.Len()-1].number+1, nil
	var run *openRun
	for i := first; i < l.Len(); i++ {
		event := l.read(l.index[i].number)
		if event == nil {
			run = nil // what is no longer kept
			continue
		}
		switch {
		case event.Op == arena.OpReset, event.Op == arena.OpNew:
			run = nil
		case run == nil:
			if event.Op == arena.OpScopeOpen && l.strings.String(event.Text) == name {
				run = &openRun{number: event.Scope, params: slices.Clone(event.Params)}
			}
		case event.Op == arena.OpScopeClose && event.Scope == run.number:
			runs = append(runs, run.end())
			run = nil
		case event.Op == arena.OpScopeClose && event.Scope < run.number:
			run = nil // ended by the end of an outer scope
		default:
			run.take(event)
		}
	}
	l.from, l.to, l.cachedAt = 0, 0, nil
	return runs
}

// openRun is a run whose end has not come.
type openRun struct {
	number uint64
	params []arena.Param
	events []recorder.ArenaEvent
	moves  bool
}

func (r *openRun) take(event *recorder.ArenaEvent) {
	switch event.Op {
	case arena.OpAlloc, arena.OpPersist, arena.OpTempPush, arena.OpTempPop:
		kept := *event
		kept.Params = nil
		r.events = append(r.events, kept)
	case arena.OpRestore, arena.OpSet:
		r.moves = true
	case arena.OpParams:
		for _, param := range event.Params {
			at := slices.IndexFunc(r.params, func(p arena.Param) bool { return p.Name == param.Name })
			if at >= 0 {
				r.params[at] = param
			} else {
				r.params = append(r.params, param)
			}
		}
	}
}

func (r *openRun) end() scopeRun {
	run := scopeRun{events: r.events, moves: r.moves}
	slices.SortFunc(r.params, func(a, b arena.Param) int { return strings.Compare(a.Name, b.Name) })
	var route []string
	for _, param := range r.params {
		if param.Name == FramesParam && param.Kind == arena.ParamInt && param.Int > 0 {
			run.frames = param.Int
		} else {
			route = append(route, param.Name+"="+param.String())
		}
	}
	run.route = strings.Join(route, " ")
	return run
}

// sizeOf solves the runs on the route of the newest one, from the fewest frames
// and from the most, and holds the others to it.
func sizeOf(runs []scopeRun) *ScopeSize {
	size := &ScopeSize{Runs: len(runs)}
	if len(runs) == 0 {
		size.Err = &UnsizedError{Reason: UnsizedNoRun}
		return size
	}
	newest := &runs[len(runs)-1]
	size.Route = newest.route
	var low, high *scopeRun
	for i := range runs {
		run := &runs[i]
		if run.route != newest.route || run.frames == 0 {
			continue
		}
		if run.moves {
			size.Err = &UnsizedError{Reason: UnsizedMoves}
			return size
		}
		if low == nil || run.frames < low.frames {
			low = run
		}
		if high == nil || run.frames > high.frames {
			high = run
		}
	}
	if low == nil {
		size.Err = &UnsizedError{Reason: UnsizedNoFrames}
		return size
	}
	size.Low, size.High = low.frames, high.frames
	if low.frames == high.frames {
		size.Err = &UnsizedError{Reason: UnsizedOneCount, Frames: low.frames}
		size.boundBy(low)
		return size
	}
	trace, err := recorder.SolveTrace(recorder.FrameRun{Frames: low.frames, Events: low.events}, recorder.FrameRun{Frames: high.frames, Events: high.events})
	if err != nil {
		size.Err = err
		size.boundBy(low)
		return size
	}
	for i := range runs {
		if run := &runs[i]; run.route == newest.route && run.frames > 0 && !follows(trace, run) {
			size.Err = &UnsizedError{Reason: UnsizedDisagrees, Frames: run.frames}
			return size
		}
	}
	size.Trace = trace
	return size
}

// boundBy charges a run of one frame for each frame. What several frames took in
// one run says nothing of each.
func (z *ScopeSize) boundBy(run *scopeRun) {
	if run.frames == 1 {
		z.Trace, z.Bound = recorder.PerFrameTrace(recorder.FrameRun{Frames: 1, Events: run.events}), true
	}
}

// follows says whether a run did what a trace has for its number of frames.
func follows(trace recorder.CostTrace, run *scopeRun) bool {
	if len(run.events) != len(trace) {
		return false
	}
	for i := range trace {
		items, ok := trace[i].Items(run.frames)
		event := &run.events[i]
		if !ok || event.Op != trace[i].Op || trace[i].Allocates() && event.Bytes != items*int64(trace[i].ItemSize) {
			return false
		}
	}
	return true
}
