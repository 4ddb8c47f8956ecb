package dump

import (
	"cmp"
	"math"
	"slices"

	"vramscope/recorder"
)

// tally is what one look at the columns finds, apart from which block is
// which.
type tally struct {
	segmentEvents []int32
	ooms          []int32
	userDefined   int
	seen          []uint64 // a bit by stack: it stands at some event
	stacks        int      // how many were seen, an empty one too
	firstUs       int64    // Unix microseconds; 0 when no event has a time
	lastUs        int64
	timed         bool
	backwards     bool     // some time is before the one in front of it
	unsteady      bool     // the same, an unknown one counted as 0
	counts        [256]int // of each action
	allocated     allocatedByStack

	read int   // events looked at
	last int64 // the time of the last event that has one
}

// look takes the events up to one into account. stacks is how many numbers of
// stacks there are by now.
func (t *tally) look(events *recorder.DumpEvents, to, stacks int) {
	if t.read == 0 {
		t.last = math.MinInt64
	}
	for len(t.seen)*64 < stacks {
		t.seen = append(t.seen, 0)
	}
	for i := t.read; i < to; i++ {
		stack := knownStack(events.Stack[i], stacks)
		if word, bit := &t.seen[stack/64], uint64(1)<<(stack%64); *word&bit == 0 {
			*word |= bit
			t.stacks++
		}
		t.time(events.TimeUs[i])
		action := events.Action[i]
		t.counts[action]++
		switch action {
		case recorder.DumpSegmentAlloc, recorder.DumpSegmentFree, recorder.DumpSegmentMap, recorder.DumpSegmentUnmap:
			t.segmentEvents = append(t.segmentEvents, int32(i))
		case recorder.DumpOOM:
			t.ooms = append(t.ooms, int32(i))
		case recorder.DumpUserDefined:
			t.userDefined++
		}
	}
	t.read = to
	t.allocated.look(events, to, stacks)
}

func (t *tally) time(now int64) {
	t.unsteady = t.unsteady || now < t.last
	if now == 0 {
		return
	}
	t.backwards = t.backwards || now < t.last
	if !t.timed {
		t.firstUs, t.timed = now, true
	}
	t.last, t.lastUs = now, now
}

// knownStack is an event's stack, or the empty one for a number that is none.
func knownStack(stack int32, stacks int) int32 {
	if uint32(stack) < uint32(stacks) {
		return stack
	}
	return 0
}

// allocatedByStack holds what each stack had allocated at certain events, so
// that the sum over any range needs a look at a few events only. They lie so
// far apart that they take about a byte for each event.
type allocatedByStack struct {
	marks    []accountMark
	accounts []stackAccount // of the events before read
	read     int
	next     int // where the next mark will be
}

// accountMark is what each stack had allocated in the events before one.
type accountMark struct {
	event    int
	accounts []stackAccount // by stack; those of later ones are empty
}

type stackAccount struct{ bytes, count int64 }

// leastStride is how many events there are between two marks at least.
const leastStride = 16384

func (a *allocatedByStack) look(events *recorder.DumpEvents, to, stacks int) {
	for {
		a.next = max(a.next, a.read+max(leastStride, 16*stacks))
		if a.next >= to {
			return
		}
		a.accounts = append(a.accounts, make([]stackAccount, max(stacks-len(a.accounts), 0))...)
		addAccounts(a.accounts, events, a.read, a.next)
		a.read = a.next
		a.marks = append(a.marks, accountMark{a.read, slices.Clone(a.accounts)})
	}
}

// addAccounts adds what the events [from, to) allocate.
func addAccounts(accounts []stackAccount, events *recorder.DumpEvents, from, to int) {
	for i := from; i < to; i++ {
		if events.Action[i] == recorder.DumpAlloc {
			account := &accounts[knownStack(events.Stack[i], len(accounts))]
			account.bytes += events.Bytes[i]
			account.count++
		}
	}
}

// until is what each stack allocated in the events before one.
func (a *allocatedByStack) until(events *recorder.DumpEvents, event, stacks int) []stackAccount {
	accounts := make([]stackAccount, stacks)
	from := 0
	at, exact := slices.BinarySearchFunc(a.marks, event, func(m accountMark, event int) int { return cmp.Compare(m.event, event) })
	if !exact {
		at--
	}
	if at >= 0 {
		from = a.marks[at].event
		copy(accounts, a.marks[at].accounts)
	}
	addAccounts(accounts, events, from, event)
	return accounts
}
