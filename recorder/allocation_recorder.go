package recorder

import (
	"iter"
	"math"
	"sort"

	"vramscope/arena"
)

// RecorderLimits bounds what an AllocationRecorder takes. A zero field stands
// for its default.
type RecorderLimits struct {
	Bytes int64 // memory of scopes and events; what comes later is not kept. Default 32 MiB
}

// AllocationRecorder keeps every scope of one arena apart, and every event with
// its time, frame and pointers, so that the whole tree can be built again from
// the events alone (Replay).
//
// It mirrors algan's AllocationRecorder: an allocation is an event of the
// innermost scope alone and counts in AllocCount and in both peaks of every
// open scope; peaks are taken after an allocation, and no rewind lowers them;
// closing a scope closes every scope opened after it; a reset moves the
// outermost open scope, with all below it, from the root to the abandoned ones.
//
// It belongs to one goroutine.
type AllocationRecorder struct {
	limits    RecorderLimits
	log       EventLog
	chunks    []*[scopesPerChunk]scopeEntry
	scopes    int32
	params    [][]arena.Param // by scopeEntry.params-1
	paramsMem int64
	abandoned []int32
	stack     []openScope // the root first; openScope.row is the scope's number
	settled   bool
	cut       int64
}

const (
	scopesPerChunk  = 128
	scopeEntryBytes = 200 // what a scope takes, rounded up
	openScopeBytes  = 120 // what an open scope takes besides, rounded up
)

// scopeEntry is a scope with its links. It holds no pointer.
type scopeEntry struct {
	parent, firstChild, lastChild, nextSibling, previousSibling int32
	depth                                                       int32
	name                                                        uint32
	params                                                      int32 // 0 none
	state                                                       ScopeState
	entryForward, entryReverse, exitForward, exitReverse        int64
	sums                                                        rowSums
	peaks                                                       rowPeaks
	opened, closed, frame                                       int64
	start, end                                                  logPosition // its events and those of the scopes inside
}

// NewAllocationRecorder returns the recorder of an arena in which nothing
// happened yet.
func NewAllocationRecorder(limits RecorderLimits) *AllocationRecorder {
	if limits.Bytes <= 0 {
		limits.Bytes = 32 << 20
	}
	r := &AllocationRecorder{limits: limits, stack: make([]openScope, 0, 16)}
	r.push(&ArenaEvent{Frame: -1}, -1)
	return r
}

// Observe takes one event in. It copies what it keeps.
func (r *AllocationRecorder) Observe(event *ArenaEvent) {
	if r.cut > 0 || r.Bytes()+maxLogEntry+int64(paramsBound(event.Params)) > r.limits.Bytes {
		r.cut++
		return
	}
	before := r.log.end()
	r.log.Append(event)
	switch event.Op {
	case arena.OpAlloc, arena.OpPersist:
		r.stack[len(r.stack)-1].count(event)
		r.settled = false
	case arena.OpScopeOpen:
		r.push(event, r.top())
	case arena.OpScopeClose:
		r.close(event, before)
	case arena.OpParams:
		r.mergeParams(r.top(), event.Params)
	case arena.OpReset:
		r.clear(event, before)
	case arena.OpNew:
		r.stack[0].entryReverse = event.Bytes
	}
}

// ObserveBatch takes a batch of the arena's events in.
func (r *AllocationRecorder) ObserveBatch(batch *ArenaEvents) {
	for _, event := range batch.All() {
		r.Observe(event)
	}
}

// Replay builds the recorder of a log of events anew.
func Replay(log *EventLog) *AllocationRecorder {
	r := NewAllocationRecorder(RecorderLimits{Bytes: math.MaxInt64})
	for event := range log.All() {
		r.Observe(event)
	}
	return r
}

// Log is every event, in order: a view that the recorder does not change.
func (r *AllocationRecorder) Log() EventLog { return r.log }

// Bytes is the memory that the recorder takes.
func (r *AllocationRecorder) Bytes() int64 {
	return r.log.Bytes() + int64(len(r.chunks))*scopesPerChunk*scopeEntryBytes + int64(cap(r.stack))*openScopeBytes + r.paramsMem
}

// Cut is how many events were not kept because of the limits. They are the
// last ones: scopes that were open then stay open.
func (r *AllocationRecorder) Cut() int64 { return r.cut }

// Len is the number of scopes, the root and abandoned ones included. Scopes are
// numbered from 0, the root, in the order in which they were opened.
func (r *AllocationRecorder) Len() int32 { return r.scopes }

// Scope is the scope of that number.
func (r *AllocationRecorder) Scope(scope int32) ScopeRecord {
	r.settle()
	entry := r.entry(scope)
	record := ScopeRecord{
		Parent: entry.parent, Depth: entry.depth, Name: entry.name,
		EntryForward: entry.entryForward, EntryReverse: entry.entryReverse,
		ExitForward: entry.exitForward, ExitReverse: entry.exitReverse,
		AllocCount: entry.sums.allocs, SelfBytes: entry.sums.self, TotalBytes: entry.sums.total,
		PeakForward: entry.peaks.forward, PeakReverse: entry.peaks.reverse,
		Peak: entry.peaks.both, PeakNs: entry.peaks.ns, PeakFrame: entry.peaks.frame,
		Opened: entry.opened, Closed: entry.closed, Frame: entry.frame, State: entry.state,
	}
	if entry.params > 0 {
		record.Params = r.params[entry.params-1]
	}
	return record
}

// Current is the innermost open scope, 0 (the root) if none is open.
func (r *AllocationRecorder) Current() int32 { return r.top() }

// Abandoned is the outermost of the scopes that were open when the arena was
// reset, oldest first. The slice must not be changed.
func (r *AllocationRecorder) Abandoned() []int32 { return r.abandoned }

// Children yields the scopes right inside a scope, in the order in which they
// were opened, abandoned ones apart.
func (r *AllocationRecorder) Children(scope int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for child := r.entry(scope).firstChild; child >= 0; child = r.entry(child).nextSibling {
			if !yield(child) {
				return
			}
		}
	}
}

// Scopes yields the scopes of that name below the root, each before those
// inside it, abandoned ones apart.
func (r *AllocationRecorder) Scopes(name uint32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for scope := int32(0); scope >= 0; scope = r.after(scope) {
			if scope != 0 && r.entry(scope).name == name && !yield(scope) {
				return
			}
		}
	}
}

// after is the next scope of the root's tree, inner ones first; -1 at its end.
func (r *AllocationRecorder) after(scope int32) int32 {
	entry := r.entry(scope)
	if entry.firstChild >= 0 {
		return entry.firstChild
	}
	for scope > 0 {
		entry = r.entry(scope)
		if entry.nextSibling >= 0 {
			return entry.nextSibling
		}
		scope = entry.parent
	}
	return -1
}

// Events yields the events whose innermost open scope is this one, in order:
// allocations, temporary contexts and whatever else happened, but not the
// beginning and end of scopes. The event it yields is overwritten by the next.
func (r *AllocationRecorder) Events(scope int32) iter.Seq[*ArenaEvent] {
	return func(yield func(*ArenaEvent) bool) {
		entry := r.entry(scope)
		end := entry.end
		if entry.state == ScopeOpen {
			end = r.log.end()
		}
		from := logState{ns: entry.opened, frame: entry.frame, forward: entry.entryForward, reverse: entry.entryReverse}
		var inside []uint64 // numbers of the scopes open inside this one, which never fall
		for reader := r.log.reader(entry.start, from); before(reader.at, end) && reader.next(); {
			switch event := &reader.event; event.Op {
			case arena.OpScopeOpen:
				number := event.Scope
				if n := len(inside); n > 0 {
					number = max(number, inside[n-1])
				}
				inside = append(inside, number)
			case arena.OpScopeClose:
				inside = closeNumber(inside, event.Scope)
			case arena.OpReset:
				inside = inside[:0]
				if !yield(event) {
					return
				}
			default:
				if len(inside) == 0 && !yield(event) {
					return
				}
			}
		}
	}
}

// before says whether one place in a log stands before another.
func before(a, b logPosition) bool {
	return a.chunk < b.chunk || a.chunk == b.chunk && a.offset < b.offset
}

// closeNumber takes a scope and those opened after it off a stack of numbers.
func closeNumber(stack []uint64, number uint64) []uint64 {
	place := sort.Search(len(stack), func(i int) bool { return stack[i] > number }) - 1
	if place < 0 || stack[place] != number {
		return stack
	}
	return stack[:place]
}

func (r *AllocationRecorder) entry(scope int32) *scopeEntry {
	return &r.chunks[scope/scopesPerChunk][scope%scopesPerChunk]
}

// top is the number of the innermost open scope.
func (r *AllocationRecorder) top() int32 { return r.stack[len(r.stack)-1].row }

// push opens a scope inside parent; -1 makes the root.
func (r *AllocationRecorder) push(event *ArenaEvent, parent int32) {
	if r.scopes%scopesPerChunk == 0 {
		r.chunks = append(r.chunks, new([scopesPerChunk]scopeEntry))
	}
	scope := r.scopes
	r.scopes++
	entry := r.entry(scope)
	*entry = scopeEntry{
		parent: parent, firstChild: -1, lastChild: -1, nextSibling: -1, previousSibling: -1, name: event.Text,
		entryForward: event.Forward, entryReverse: event.Reverse, exitForward: event.Forward, exitReverse: event.Reverse,
		peaks: rowPeaks{frame: -1}, opened: event.Ns, frame: event.Frame, start: r.log.end(),
	}
	if parent >= 0 {
		outer := r.entry(parent)
		entry.depth = outer.depth + 1
		entry.previousSibling = outer.lastChild
		if outer.lastChild >= 0 {
			r.entry(outer.lastChild).nextSibling = scope
		} else {
			outer.firstChild = scope
		}
		outer.lastChild = scope
	}
	r.mergeParams(scope, event.Params)
	r.stack = pushOpen(r.stack, event, scope)
}

// mergeParams takes params into those of a scope.
func (r *AllocationRecorder) mergeParams(scope int32, params []arena.Param) {
	if len(params) == 0 {
		return
	}
	entry := r.entry(scope)
	if entry.params == 0 {
		r.params = append(r.params, nil)
		entry.params = int32(len(r.params))
	}
	held := &r.params[entry.params-1]
	r.paramsMem -= paramsSize(*held)
	*held = mergeParams(*held, params)
	r.paramsMem += paramsSize(*held)
}

// close ends the scope that the event names, and every scope opened after it.
// One that is not open is ignored.
func (r *AllocationRecorder) close(event *ArenaEvent, at logPosition) {
	target := findOpen(r.stack, event.Scope)
	if target == 0 {
		return
	}
	for top := len(r.stack) - 1; top > target; top-- {
		r.end(top, event.Ns, at, ScopeUnclosed)
	}
	entry := r.entry(r.stack[target].row)
	entry.exitForward, entry.exitReverse = event.Forward, event.Reverse
	r.end(target, event.Ns, at, ScopeClosed)
	r.stack = r.stack[:target]
}

// clear ends every open scope and moves the outermost one to the abandoned.
func (r *AllocationRecorder) clear(event *ArenaEvent, at logPosition) {
	if len(r.stack) == 1 {
		return
	}
	for top := len(r.stack) - 1; top > 0; top-- {
		r.end(top, event.Ns, at, ScopeAbandoned)
	}
	outermost := r.stack[1].row
	r.stack = r.stack[:1]
	r.detach(outermost)
	r.abandoned = append(r.abandoned, outermost)
}

// detach takes the last scope under the root out of it.
func (r *AllocationRecorder) detach(scope int32) {
	entry, root := r.entry(scope), r.entry(0)
	root.lastChild = entry.previousSibling
	if entry.previousSibling >= 0 {
		r.entry(entry.previousSibling).nextSibling = -1
	} else {
		root.firstChild = -1
	}
	entry.parent, entry.previousSibling = -1, -1
}

// end settles an open scope for good.
func (r *AllocationRecorder) end(place int, ns int64, at logPosition, state ScopeState) {
	r.settleScope(place)
	entry := r.entry(r.stack[place].row)
	entry.closed, entry.end, entry.state = ns, at, state
}

// settle brings the scopes up to what the open ones have counted.
func (r *AllocationRecorder) settle() {
	if r.settled {
		return
	}
	for top := len(r.stack) - 1; top >= 0; top-- {
		r.settleScope(top)
	}
	r.settled = true
}

// settleScope brings an open scope's entry up to date and hands what it counted
// on to the scope around it.
func (r *AllocationRecorder) settleScope(place int) {
	scope := &r.stack[place]
	peaks := scope.peaks()
	if place > 0 {
		r.stack[place-1].absorb(scope)
	} else {
		peaks.reverse = 0 // the root's entry is 0 on both sides in algan
	}
	entry := r.entry(scope.row)
	entry.sums.add(scope.sums())
	entry.peaks.raise(peaks)
	scope.clearSums()
}
