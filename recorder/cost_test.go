package recorder

import (
	"errors"
	"math"
	"slices"
	"testing"

	"vramscope/arena"

	"pgregory.net/rapid"
)

func allocated(intercept, slope int64, itemSize int32) CostEvent {
	return CostEvent{Op: arena.OpAlloc, Intercept: intercept, Slope: slope, ItemSize: itemSize}
}

var push, pop = CostEvent{Op: arena.OpTempPush}, CostEvent{Op: arena.OpTempPop}

// TestReplayWorkedExample holds the engine to the published numbers: 4n floats,
// 64n in a temporary context and 4n after it, for two frames.
func TestReplayWorkedExample(t *testing.T) {
	trace := CostTrace{allocated(0, 4, 4), push, allocated(0, 64, 4), pop, allocated(0, 4, 4)}
	got, err := trace.Replay(2, ReplayFrom{})
	if want := (Replayed{Peak: 544, End: 64, AllocCount: 3}); err != nil || got != want {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
}

func TestReplayTable(t *testing.T) {
	persist := func(slope int64, itemSize int32) CostEvent {
		return CostEvent{Op: arena.OpPersist, Slope: slope, ItemSize: itemSize}
	}
	clear := CostEvent{Op: arena.OpTempPush, Clear: true}
	for _, test := range []struct {
		name   string
		trace  CostTrace
		frames int64
		from   ReplayFrom
		want   Replayed
	}{
		{"nothing", CostTrace{}, 5, ReplayFrom{Forward: 7}, Replayed{}},
		{"padding in front", CostTrace{allocated(3, 0, 1), allocated(0, 1, 8)}, 1, ReplayFrom{}, Replayed{Peak: 16, End: 16, AllocCount: 2}},
		{"padding follows from the place", CostTrace{allocated(1, 0, 8)}, 1, ReplayFrom{Forward: 1}, Replayed{Peak: 15, End: 15, AllocCount: 1}},
		{"reverse, length unknown: the worst padding", CostTrace{persist(2, 4)}, 1, ReplayFrom{}, Replayed{ReversePeak: 11, ReverseEnd: 11, AllocCount: 1}},
		{"reverse, length known: 15 bytes, two floats", CostTrace{persist(2, 4)}, 1, ReplayFrom{Length: 15}, Replayed{ReversePeak: 11, ReverseEnd: 11, AllocCount: 1}},
		{"reverse, aligned", CostTrace{persist(2, 4)}, 1, ReplayFrom{Length: 16}, Replayed{ReversePeak: 8, ReverseEnd: 8, AllocCount: 1}},
		{"a context that clears", CostTrace{clear, persist(1, 1), pop}, 6, ReplayFrom{}, Replayed{ReversePeak: 6, AllocCount: 1}},
		{"a context that does not", CostTrace{push, persist(1, 1), pop}, 6, ReplayFrom{}, Replayed{ReversePeak: 6, ReverseEnd: 6, AllocCount: 1}},
		{"an end without a beginning", CostTrace{allocated(4, 0, 1), pop, allocated(4, 0, 1)}, 1, ReplayFrom{}, Replayed{Peak: 8, End: 8, AllocCount: 2}},
		{"no frames", CostTrace{allocated(0, 9, 4), allocated(2, 9, 4)}, 0, ReplayFrom{}, Replayed{Peak: 8, End: 8, AllocCount: 2}},
	} {
		if got, err := test.trace.Replay(test.frames, test.from); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
}

// TestReplayRefusesWhatCannotBeCounted says so instead of a number that wrapped
// around.
func TestReplayRefusesWhatCannotBeCounted(t *testing.T) {
	for _, test := range []struct {
		trace  CostTrace
		frames int64
		event  int
	}{
		{CostTrace{allocated(0, 1, 1)}, -1, -1},
		{CostTrace{allocated(-5, 1, 1)}, 4, 0},
		{CostTrace{allocated(1, 0, 1), allocated(0, math.MaxInt64, 4)}, 2, 1},
		{CostTrace{allocated(math.MaxInt64, 1, 1)}, 1, 0},
		{CostTrace{allocated(0, 1<<40, 1<<30)}, 1, 0},
		{slices.Repeat(CostTrace{allocated(1<<59, 0, 1)}, 5), 1, 4 - 1},
	} {
		_, err := test.trace.Replay(test.frames, ReplayFrom{})
		var failed *ReplayError
		if !errors.As(err, &failed) || failed.Event != test.event || failed.Frames != test.frames {
			t.Errorf("%v at %d frames: %v", test.trace, test.frames, err)
		}
	}
}

func TestStepsRunAPointer(t *testing.T) {
	trace := CostTrace{allocated(0, 4, 4), push, allocated(0, 64, 4), pop, allocated(0, 4, 4)}
	var forward []int64
	var depth, peak []int
	for i, step := range trace.Steps(2, ReplayFrom{}) {
		forward, depth = append(forward, step.Forward), append(depth, step.Depth)
		if step.SetPeak {
			peak = append(peak, i)
		}
	}
	if want := []int64{32, 32, 544, 32, 64}; !slices.Equal(forward, want) {
		t.Errorf("pointers %v, want %v", forward, want)
	}
	if !slices.Equal(depth, []int{0, 0, 1, 0, 0}) || !slices.Equal(peak, []int{0, 2}) {
		t.Errorf("depths %v, peaks at %v", depth, peak)
	}
}

func recorded(op arena.Op, items, itemSize int64, dtype uint32) ArenaEvent {
	return ArenaEvent{Op: op, Bytes: items * itemSize, ItemSize: itemSize, DType: dtype}
}

func TestSolveTraceWorkedExample(t *testing.T) {
	trace, err := SolveTrace(
		FrameRun{3, []ArenaEvent{recorded(arena.OpAlloc, 13, 4, 1)}},
		FrameRun{1, []ArenaEvent{recorded(arena.OpAlloc, 7, 4, 1)}})
	if err != nil || len(trace) != 1 || trace[0] != allocated(4, 3, 4) {
		t.Fatalf("%v, %v", trace, err)
	}
}

func TestSolveTraceReasons(t *testing.T) {
	one := []ArenaEvent{recorded(arena.OpAlloc, 7, 4, 1)}
	for _, test := range []struct {
		name     string
		low      FrameRun
		high     FrameRun
		want     SolveReason
		at       int
		sentence string
	}{
		{"the same frames", FrameRun{2, one}, FrameRun{2, one}, SolveSameFrames, -1,
			"both runs are of 2 frames: record one of another number of frames"},
		{"an allocation more", FrameRun{1, one}, FrameRun{2, append(slices.Clone(one), one...)}, SolveOtherCount, -1,
			"1 events at 1 frames and 2 at 2: what the scope does depends on its data, so take the larger run's peak as it is"},
		{"another kind", FrameRun{1, one}, FrameRun{2, []ArenaEvent{{Op: arena.OpTempPush}}}, SolveOtherKind, 0,
			"event 0 is of another kind at 1 frames than at 2: what the scope does depends on its data, so take the larger run's peak as it is"},
		{"another type", FrameRun{1, one}, FrameRun{2, []ArenaEvent{recorded(arena.OpAlloc, 7, 4, 2)}}, SolveOtherType, 0,
			"event 0 is of another type or side at 1 frames than at 2: what the scope does depends on its data, so take the larger run's peak as it is"},
		{"the other side", FrameRun{1, one}, FrameRun{2, []ArenaEvent{recorded(arena.OpPersist, 7, 4, 1)}}, SolveOtherType, 0,
			"event 0 is of another type or side at 1 frames than at 2: what the scope does depends on its data, so take the larger run's peak as it is"},
		{"half an item a frame", FrameRun{1, one}, FrameRun{3, []ArenaEvent{recorded(arena.OpAlloc, 8, 4, 1)}}, SolveNotAffine, 0,
			"event 0 goes from 7 items at 1 frames to 8 at 3, which is no whole number a frame: take the larger run's peak as it is"},
	} {
		_, err := SolveTrace(test.low, test.high)
		var failed *SolveError
		if !errors.As(err, &failed) || failed.Reason != test.want || failed.Event != test.at || err.Error() != test.sentence {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestSolvedTraceGivesItsRunsBack is the property that solving rests on: the
// trace replayed for the frames of either run takes what that run took.
func TestSolvedTraceGivesItsRunsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trace CostTrace
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			event := CostEvent{Op: arena.Op(rapid.IntRange(int(arena.OpAlloc), int(arena.OpTempPop)).Draw(t, "op"))}
			switch event.Op {
			case arena.OpTempPush:
				event.Clear = rapid.Bool().Draw(t, "clear")
			case arena.OpAlloc, arena.OpPersist:
				event.Intercept, event.Slope = rapid.Int64Range(0, 1000).Draw(t, "intercept"), rapid.Int64Range(0, 1000).Draw(t, "slope")
				event.ItemSize = 1 << rapid.IntRange(0, 4).Draw(t, "size")
			}
			trace = append(trace, event)
		}
		low, high := rapid.Int64Range(1, 40).Draw(t, "low"), rapid.Int64Range(41, 90).Draw(t, "high")
		solvedTrace, err := SolveTrace(runOf(trace, high), runOf(trace, low))
		if err != nil || !slices.Equal(solvedTrace, trace) {
			t.Fatalf("%v became %v, %v", trace, solvedTrace, err)
		}
		from := ReplayFrom{Forward: rapid.Int64Range(0, 9).Draw(t, "forward"), Length: rapid.Int64Range(0, 1).Draw(t, "known") * (1 << 30)}
		run := runOf(trace, high)
		want := ReplayPointers(func(yield func(*ArenaEvent) bool) {
			for i := range run.Events {
				if !yield(&run.Events[i]) {
					return
				}
			}
		}, from)
		if got, err := trace.Replay(high, from); err != nil || got != want {
			t.Fatalf("%+v, %v, want %+v", got, err, want)
		}
		single := PerFrameTrace(runOf(trace, 1))
		most, _ := single.Replay(high, ReplayFrom{})
		if real, _ := trace.Replay(high, ReplayFrom{}); most.Peak+16*int64(len(trace)) < real.Peak {
			t.Fatalf("a frame's items charged for each of %d frames come to %d, and the trace takes %d", high, most.Peak, real.Peak)
		}
	})
}

func runOf(trace CostTrace, frames int64) FrameRun {
	run := FrameRun{Frames: frames}
	for i := range trace {
		event := ArenaEvent{Op: trace[i].Op, ItemSize: int64(trace[i].ItemSize)}
		if trace[i].Clear {
			event.Flags = FlagClear
		}
		if event.IsAllocation() {
			items, _ := trace[i].Items(frames)
			event.Bytes = items * event.ItemSize
		}
		run.Events = append(run.Events, event)
	}
	return run
}
