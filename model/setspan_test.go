package model

import (
	"slices"
	"testing"

	"vramscope/recorder"
)

// Sets that are not sampled any more are still told of, with when they were.
func TestSetSpans(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	arena := func(id string) recorder.CounterSet {
		return counters(id, recorder.OfArena, "host", "pool:1", map[recorder.Counter]int64{recorder.Length: 100})
	}
	k.addSample(1000, []recorder.CounterSet{arena("arena:1"), setOf("pool:1", recorder.Reserved, 5)})
	k.addSample(2000, []recorder.CounterSet{arena("arena:1"), setOf("pool:1", recorder.Reserved, 5)})
	k.addSample(9000, []recorder.CounterSet{arena("arena:2"), setOf("pool:1", recorder.Reserved, 5)})
	view := &SourceView{history: k.publish(), Now: 9000}
	first := SetSpan{ID: "arena:1", First: 1000, Last: 2000, In: "pool:1"}
	second := SetSpan{ID: "arena:2", First: 9000, Last: 9000, In: "pool:1"}
	if got := view.SetSpans(nil, recorder.OfArena); !slices.Equal(got, []SetSpan{first, second}) {
		t.Errorf("the arenas are %v", got)
	}
	view.Now = 1500 // of the past: what came later is not known yet
	first.Last = 1500
	if got := view.SetSpans(nil, recorder.OfArena); !slices.Equal(got, []SetSpan{first}) {
		t.Errorf("at 1500 the arenas are %v", got)
	}
	if got := (&SourceView{}).SetSpans(nil, recorder.OfArena); got != nil {
		t.Errorf("nobody told of %v", got)
	}
}
