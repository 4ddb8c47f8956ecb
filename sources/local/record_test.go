package local

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vramscope/pool"
	"vramscope/recorder"
)

func TestOneSeedGivesTheSameBytes(t *testing.T) {
	options := Options{Seed: 7, Frames: 60}
	first, _ := recorded(t, options)
	second, _ := recorded(t, options)
	if !bytes.Equal(first, second) {
		t.Error("two runs of one seed differ")
	}
	options.Seed = 8
	if other, _ := recorded(t, options); bytes.Equal(first, other) {
		t.Error("two seeds give the same records")
	}
}

// Whatever the seed, a hundred frames have everything that a dashboard has to
// show.
func TestHundredFramesHaveEverything(t *testing.T) {
	for seed := range int64(6) {
		_, records := recorded(t, Options{Seed: seed, Frames: 110})
		var split, rescued, failed int
		for _, oom := range all[*recorder.OOM](records) {
			switch {
			case strings.HasPrefix(oom.ID, "arena:"):
				split++
				if oom.Asked <= *oom.LargestFree || !strings.Contains(oom.Scope, "wavefront_state") {
					t.Errorf("seed %d: an arena that fills says asked %d, free %d, scope %q", seed, oom.Asked, *oom.LargestFree, oom.Scope)
				}
			case oom.Rescued:
				rescued++
				if len(oom.Steps) == 0 {
					t.Errorf("seed %d: a rescued out-of-memory has no steps", seed)
				}
			default:
				failed++
			}
		}
		if split == 0 || rescued == 0 || failed == 0 {
			t.Errorf("seed %d: %d splits, %d rescued, %d not; want some of each", seed, split, rescued, failed)
		}
		names := map[string]bool{}
		for _, peak := range all[*recorder.Peak](records) {
			names[peak.Name] = true
			if peak.PeakBytes <= 0 || peak.InputBytes <= 0 {
				t.Errorf("seed %d: a transient of %+v", seed, peak.NonArena)
			}
		}
		if !names["project"] || !names["merge"] {
			t.Errorf("seed %d: transients %v, want project and merge", seed, names)
		}
		checkFragmentation(t, seed, records)
		checkAbandoned(t, seed, records)
		if frames := all[*recorder.Frame](records); len(frames) != 110 || frames[109].N != 109 {
			t.Errorf("seed %d: %d frames", seed, len(frames))
		}
		if last := records[len(records)-1]; last.Type() != "bye" {
			t.Errorf("seed %d: it ends with %q", seed, last.Type())
		}
	}
}

func checkFragmentation(t *testing.T, seed int64, records []recorder.Record) {
	t.Helper()
	worst := 0.0
	for _, sample := range all[*recorder.Sample](records) {
		pools := set(sample, recorder.OfPool)
		if free := value(t, pools, recorder.Free); free > 0 {
			worst = max(worst, 1-float64(value(t, pools, recorder.LargestFree))/float64(free))
		}
	}
	if worst < 0.5 {
		t.Errorf("seed %d: fragmentation is %.2f at most, want it to build up", seed, worst)
	}
}

func checkAbandoned(t *testing.T, seed int64, records []recorder.Record) {
	t.Helper()
	rows, depth := 0, 0
	for _, state := range all[*recorder.State](records) {
		for _, arena := range state.Arenas {
			rows = max(rows, len(arena.Abandoned.Parent))
			for row := range arena.Tree.Parent {
				d := 1
				for up := arena.Tree.Parent[row]; up >= 0; up = arena.Tree.Parent[up] {
					d++
				}
				depth = max(depth, d)
			}
		}
	}
	if rows == 0 || depth < 5 {
		t.Errorf("seed %d: %d rows are abandoned and the tree is %d deep; want some and 5", seed, rows, depth)
	}
}

func TestSamplesAreOfOneMomentAndAddUp(t *testing.T) {
	_, records := recorded(t, Options{Frames: 60, Hz: 50})
	samples := all[*recorder.Sample](records)
	if len(samples) < 250 {
		t.Fatalf("%d samples in 6 seconds at 50 Hz", len(samples))
	}
	for _, sample := range samples {
		device, process, pools := set(sample, recorder.OfDevice), set(sample, recorder.OfProcess), set(sample, recorder.OfPool)
		total, free, used := value(t, device, recorder.Total), value(t, device, recorder.Free), value(t, device, recorder.Used)
		if total != free+used {
			t.Fatalf("device: total %d is not free %d + used %d", total, free, used)
		}
		held := value(t, pools, recorder.Reserved)
		if arena := set(sample, recorder.OfArena); arena != nil {
			held += value(t, arena, recorder.Length)
			if arena.In != process.ID {
				t.Fatalf("the arena lies in %q, and its buffer is from the device itself", arena.In)
			}
		}
		if mine := value(t, process, recorder.Used); held > mine || mine > used {
			t.Fatalf("arena and pool hold %d, the process %d, the device has %d used", held, mine, used)
		}
		if process.Why["cpu_time"] == "" || process.Values.Known(recorder.CPUTime) {
			t.Fatal("a recording in a time of its own has a processor time")
		}
		for _, s := range sample.Sets {
			if s.Call == "" {
				t.Fatalf("%s does not say which call its numbers are from", s.ID)
			}
		}
	}
}

func TestEveryTierRuns(t *testing.T) {
	for _, tier := range []pool.Tier{pool.TierA, pool.TierB, pool.TierC, pool.TierFallback} {
		_, records := recorded(t, Options{Frames: 110, Tier: tier})
		states := all[*recorder.State](records)
		if got := states[0].Pools[0].Tier; got != tier.String() {
			t.Errorf("the pool is of tier %s, want %s", got, tier)
		}
		if frames := all[*recorder.Frame](records); len(frames) != 110 {
			t.Errorf("tier %s renders %d frames", tier, len(frames))
		}
	}
}

func TestSmallestAndLargestMemory(t *testing.T) {
	for _, memory := range []int64{MinimumMemory, 8 << 30} {
		recorded(t, Options{Frames: 60, Memory: memory})
	}
}

func TestNothingGoesWrongWhenTurnedOff(t *testing.T) {
	_, records := recorded(t, Options{Frames: 200, FullEvery: Never, RescuedEvery: Never, FailedEvery: Never})
	for _, oom := range all[*recorder.OOM](records) {
		t.Errorf("frame %d: %s asked %d: %s", *oom.Frame, oom.ID, oom.Asked, oom.Outcome)
	}
}

func TestOptionsAreRefusedInASentence(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Frames: 1, Memory: 1 << 20}, "memory"},
		{Options{Frames: 1, Memory: 1 << 50}, "memory"},
		{Options{Frames: 1, Speed: -3}, "speed"},
		{Options{Frames: 1, Speed: 1e9}, "speed"},
		{Options{Frames: 1, Hz: -1}, "hz"},
		{Options{Frames: -1, For: time.Second}, "frames"},
		{Options{For: -time.Second}, "frames"},
		{Options{}, "frames"},
	} {
		err := Record(context.Background(), c.options, func(recorder.Record) error { return nil })
		var refused *OptionError
		if !errors.As(err, &refused) || refused.Option != c.want {
			t.Errorf("%+v: %v, want a refusal of %s", c.options, err, c.want)
		}
	}
}

func TestErrorOfTheWriterEndsTheRun(t *testing.T) {
	full := errors.New("disk full")
	written := 0
	err := Record(context.Background(), Options{Frames: 1000}, func(recorder.Record) error {
		if written++; written > 50 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || written != 51 {
		t.Errorf("Record = %v after %d records", err, written)
	}
}

func TestDurationEndsTheRun(t *testing.T) {
	_, records := recorded(t, Options{For: 2 * time.Second})
	if frames := len(all[*recorder.Frame](records)); frames < 10 || frames > 30 {
		t.Errorf("%d frames in 2 seconds at 10 frames a second", frames)
	}
}

// The cost of a frame with its events: a tenth of a processor at ten frames a
// second would be 10 ms.
func BenchmarkFrame(b *testing.B) {
	b.ReportAllocs()
	err := Record(context.Background(), Options{Frames: int64(b.N)}, func(recorder.Record) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
}
