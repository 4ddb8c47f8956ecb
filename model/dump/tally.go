package dump

import (
	"math"

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
	backwards     bool // some time is before the one in front of it
	unsteady      bool // the same, an unknown one counted as 0
	allocated     allocatedByStack
}

// allocatedByStack holds what each stack had allocated at certain events, so
// that the sum over any range needs a look at a few events only. The rows lie
// so far apart that they take about a byte for each event.
type allocatedByStack struct {
	stride int            // events between two rows
	stacks int            // numbers of stacks
	rows   []stackAccount // row k is for the events before (k+1)*stride
}

type stackAccount struct{ bytes, count int64 }

// leastStride is how many events there are between two rows at least.
const leastStride = 16384

func countActions(actions []recorder.DumpAction) *[256]int {
	var count [256]int
	for _, action := range actions {
		count[action]++
	}
	return &count
}

func take(events *recorder.DumpEvents, stacks int) *tally {
	t := &tally{allocated: allocatedByStack{stride: max(leastStride, 16*stacks), stacks: stacks}, seen: make([]uint64, stacks/64+1)}
	var accounts []stackAccount // only for a row to come: there may be many idle devices
	if events.Len() > t.allocated.stride {
		accounts = make([]stackAccount, stacks)
	}
	last := int64(math.MinInt64)
	for i, action := range events.Action {
		if i > 0 && i%t.allocated.stride == 0 {
			t.allocated.rows = append(t.allocated.rows, accounts...)
		}
		stack := events.Stack[i]
		if uint32(stack) >= uint32(stacks) {
			stack = 0
		}
		if word, bit := &t.seen[stack/64], uint64(1)<<(stack%64); *word&bit == 0 {
			*word |= bit
			t.stacks++
		}
		now := events.TimeUs[i]
		t.unsteady = t.unsteady || now < last
		if now != 0 {
			t.backwards = t.backwards || now < last
			if !t.timed {
				t.firstUs, t.timed = now, true
			}
			last = now
		}
		switch action {
		case recorder.DumpAlloc:
			if accounts != nil {
				accounts[stack].bytes += events.Bytes[i]
				accounts[stack].count++
			}
		case recorder.DumpSegmentAlloc, recorder.DumpSegmentFree, recorder.DumpSegmentMap, recorder.DumpSegmentUnmap:
			t.segmentEvents = append(t.segmentEvents, int32(i))
		case recorder.DumpOOM:
			t.ooms = append(t.ooms, int32(i))
		case recorder.DumpUserDefined:
			t.userDefined++
		}
	}
	if t.timed {
		t.lastUs = last
	}
	return t
}
