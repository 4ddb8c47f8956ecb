package recorder

import (
	"math"
	"sort"
)

// noPeak is the peak of a scope in which nothing was allocated yet. A real one
// can be negative: a mark from outside may be restored inside the scope.
const noPeak = math.MinInt64

// openScope is a scope under way. An allocation is counted in the innermost
// one alone; what it counted goes to its row and to the scope around it when
// it ends or when somebody looks. The result is the same as counting every
// allocation in every open scope, at a cost that does not grow with the depth.
type openScope struct {
	number                     uint64 // arena.Event.Scope
	row                        int32  // -1 for the root
	entryForward, entryReverse int64
	opened                     int64 // ns

	// Highest pointers above the entry so far, noPeak before the first
	// allocation, and when the simultaneous peak was reached.
	peakForward, peakReverse, peak int64
	peakNs, peakFrame              int64

	// bound is how far above the entry both pointers together may have gone
	// without an event that tells, noPeak where every move was an event.
	bound int64

	// Counted here and not yet in the row.
	allocs, self, total int64
}

// pushOpen puts a scope on a stack of open ones and returns it. Numbers never
// fall along the stack, whatever a file says, so that findOpen can search.
func pushOpen(stack []openScope, event *ArenaEvent, row int32) []openScope {
	number := event.Scope
	if n := len(stack); n > 0 {
		number = max(number, stack[n-1].number)
	}
	stack = append(stack, openScope{})
	stack[len(stack)-1].begin(number, row, event.Forward, event.Reverse, event.Ns)
	return stack
}

// findOpen is the place of the scope of that number on the stack, 0 (the
// root's) if it is not open.
func findOpen(stack []openScope, number uint64) int {
	place := len(stack) - 1
	if stack[place].number != number {
		place = sort.Search(len(stack), func(i int) bool { return stack[i].number > number }) - 1
	}
	if place <= 0 || stack[place].number != number {
		return 0
	}
	return place
}

// begin makes s a scope that has counted nothing.
func (s *openScope) begin(number uint64, row int32, forward, reverse, ns int64) {
	*s = openScope{
		number: number, row: row, entryForward: forward, entryReverse: reverse, opened: ns,
		peakForward: noPeak, peakReverse: noPeak, peak: noPeak, peakFrame: -1, bound: noPeak,
	}
}

// count takes an allocation in.
func (s *openScope) count(event *ArenaEvent) {
	s.allocs++
	s.self += event.Bytes
	s.total += event.Bytes
	forward := event.Forward - s.entryForward
	reverse := s.entryReverse - event.Reverse
	s.peakForward = max(s.peakForward, forward)
	s.peakReverse = max(s.peakReverse, reverse)
	if both := forward + reverse; both > s.peak {
		s.peak, s.peakNs, s.peakFrame = both, event.Ns, event.Frame
	}
}

// unseen takes in that so many bytes, both sides of an arena of that length
// together, may have been in use while nobody looked.
func (s *openScope) unseen(used, length int64) {
	s.bound = max(s.bound, used-s.entryForward-(length-s.entryReverse))
}

// absorb takes in what a scope inside has counted since it was absorbed last.
func (s *openScope) absorb(inner *openScope) {
	s.allocs += inner.allocs
	s.total += inner.total
	if inner.bound != noPeak {
		s.bound = max(s.bound, inner.bound+inner.entryForward-s.entryForward+s.entryReverse-inner.entryReverse)
	}
	if inner.peak == noPeak {
		return
	}
	forward := inner.entryForward - s.entryForward
	reverse := s.entryReverse - inner.entryReverse
	s.peakForward = max(s.peakForward, inner.peakForward+forward)
	s.peakReverse = max(s.peakReverse, inner.peakReverse+reverse)
	if both := inner.peak + forward + reverse; both > s.peak {
		s.peak, s.peakNs, s.peakFrame = both, inner.peakNs, inner.peakFrame
	}
}

// sums is what was counted and is not yet in the row.
func (s *openScope) sums() rowSums { return rowSums{allocs: s.allocs, self: s.self, total: s.total} }

// clearSums forgets it, once it is.
func (s *openScope) clearSums() { s.allocs, s.self, s.total = 0, 0, 0 }

// peaks is the peaks so far. A scope in which nothing was allocated, or in
// which the pointers stayed below its entry, has none.
func (s *openScope) peaks() rowPeaks {
	return rowPeaks{
		both: max(s.peak, 0), forward: max(s.peakForward, 0), reverse: max(s.peakReverse, 0),
		ns: s.peakNs, frame: s.peakFrame, bound: max(s.bound, 0),
	}
}
