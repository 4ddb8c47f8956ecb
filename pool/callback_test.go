package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// reports collects what a Tiered says of its out-of-memories.
type reports struct{ all []OutOfMemoryReport }

func (r *reports) observe(report OutOfMemoryReport) { r.all = append(r.all, report) }

func (r *reports) only(t *testing.T) OutOfMemoryReport {
	t.Helper()
	if len(r.all) != 1 {
		t.Fatalf("%d reports: %+v", len(r.all), r.all)
	}
	return r.all[0]
}

// steps is the ladder of a report in words: "collect", "rebuild".
func steps(report OutOfMemoryReport) []string {
	var words []string
	for _, step := range report.Steps {
		words = append(words, step.Action.String())
	}
	return words
}

var smallDevice = HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}

func TestACollectionRescuesAnAllocation(t *testing.T) {
	clock, seen := &manualClock{now: 7 * second}, &reports{}
	tiered, _ := tieredOver(t, smallDevice, Options{Clock: clock.read, ObserveOutOfMemory: seen.observe})
	cache := mustAllocate(t, tiered, 60<<20)
	tiered.OnCollect(func() int64 {
		clock.now += 3 * millisecond
		mustFree(t, tiered, cache, 60<<20)
		return 60 << 20
	})

	mustAllocate(t, tiered, 32<<20)

	report := seen.only(t)
	want := OutOfMemoryReport{
		FailureFacts: FailureFacts{FreeDevice: 4 << 20, PoolFree: 0, LargestFree: 0, Generation: 0},
		Asked:        32 << 20, Rule: RuleType, Rescued: true, Outcome: "rescued by retry 1: collect",
	}
	step := LadderStep{Attempt: 1, Rung: 1, Action: ActionCollect, Collected: 60 << 20, Freed: 60 << 20, Nanoseconds: 3 * millisecond}
	if !slices.Equal(report.Steps, []LadderStep{step}) {
		t.Errorf("steps %+v", report.Steps)
	}
	report.Steps = nil
	if fmt.Sprintf("%+v", report) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", report, want)
	}
	state, ok := tiered.Ladder()
	if !ok || state.Used != 1 || state.Collections != 1 || state.LastFailed != 32<<20 {
		t.Errorf("ladder %+v", state)
	}
}

// With blocks of another size cached, no allocation fits until the fourth retry
// gives the pool back.
func TestTheFourthRetryRebuildsWhereNothingIsLive(t *testing.T) {
	clock, seen := &manualClock{now: 7 * second}, &reports{}
	collections := 0
	tiered, host := tieredOver(t, smallDevice, Options{
		Clock: clock.read, ObserveOutOfMemory: seen.observe,
		Collect: func() int64 { collections++; return Unknown },
	})
	mustFree(t, tiered, mustAllocate(t, tiered, 40<<20), 40<<20)

	mustAllocate(t, tiered, 48<<20)

	report := seen.only(t)
	if got := steps(report); !slices.Equal(got, []string{"collect", "collect", "collect", "rebuild"}) || collections != 4 {
		t.Fatalf("%v after %d collections", got, collections)
	}
	fourth := report.Steps[3]
	if fourth.Freed != 40<<20 || fourth.Collected != Unknown || fourth.Why != "" || !report.Rescued {
		t.Errorf("fourth %+v, rescued %v", fourth, report.Rescued)
	}
	if tiered.Generation() != 1 || report.Generation != 0 {
		t.Errorf("now generation %d, failed in %d", tiered.Generation(), report.Generation)
	}
	if free, _, _ := host.MemoryInfo(); free != 16<<20 {
		t.Errorf("%d free", free)
	}
	if stats := tiered.Stats(); stats.CurrentCount != 1 || stats.LifetimeCount != 1 || stats.LifetimeBytes != 48<<20 {
		t.Errorf("the retried allocation belongs to the new generation alone: %+v", stats.Counts)
	}
}

func TestOverLiveAllocationsRetriesFourAndFiveReleaseFreeSegments(t *testing.T) {
	clock, seen := &manualClock{now: 7 * second}, &reports{}
	tiered, host := tieredOver(t, smallDevice, Options{Clock: clock.read, ObserveOutOfMemory: seen.observe})
	live := mustAllocate(t, tiered, 1<<20)
	memory := host.Bytes(live, 1)
	memory[0] = 42
	mustFree(t, tiered, mustAllocate(t, tiered, 40<<20), 40<<20)

	mustAllocate(t, tiered, 48<<20)

	report := seen.only(t)
	if got := steps(report); !slices.Equal(got, []string{"collect", "collect", "collect", "release free segments"}) {
		t.Fatalf("got %v", got)
	}
	fourth := report.Steps[3]
	if fourth.Freed != 40<<20 || fourth.Why != "no rebuild over 1 live block of 1.0 MiB" {
		t.Errorf("fourth %+v", fourth)
	}
	if tiered.Generation() != 0 || memory[0] != 42 {
		t.Error("something happened to the live allocation")
	}
	if state, _ := tiered.Ladder(); state.SegmentFrees != 1 || state.Rebuilds != 0 {
		t.Errorf("ladder %+v", state)
	}
}

func TestAnAllocationThatCannotBeRescued(t *testing.T) {
	clock, seen := &manualClock{now: 7 * second}, &reports{}
	tiered, _ := tieredOver(t, smallDevice, Options{Clock: clock.read, ObserveOutOfMemory: seen.observe})
	live := mustAllocate(t, tiered, 50<<20)
	mustFree(t, tiered, mustAllocate(t, tiered, 4<<20), 4<<20)

	_, err := tiered.Allocate(32<<20, 0)

	var full *OutOfMemoryError
	if !errors.As(err, &full) || full.Asked != 32<<20 {
		t.Fatalf("got %v", err)
	}
	report := seen.only(t)
	if got := steps(report); !slices.Equal(got,
		[]string{"collect", "collect", "collect", "release free segments", "release free segments"}) {
		t.Errorf("got %v", got)
	}
	if report.Rescued || report.Err == nil || report.Outcome != "failed: 5 retries of this allocation made no room" {
		t.Errorf("rescued %v, outcome %q", report.Rescued, report.Outcome)
	}

	// The next one finds the ladder spent: not one retry.
	clock.now += 400 * millisecond
	if _, err := tiered.Allocate(32<<20, 0); err == nil {
		t.Fatal("there was room")
	}
	report = seen.all[1]
	if len(report.Steps) != 0 || report.Outcome != "failed: all 5 retries are spent, the next is granted in 0.6 s" {
		t.Errorf("%d steps, outcome %q", len(report.Steps), report.Outcome)
	}
	if state, _ := tiered.Ladder(); state.Used != 5 || state.Exhausted != 2 || state.Cooldown != 600*millisecond {
		t.Errorf("ladder %+v", state)
	}
	if stats := tiered.Stats(); stats.Failures != 2 {
		t.Errorf("%d failures", stats.Failures)
	}
	mustFree(t, tiered, live, 50<<20)
}

// In the original a collection of more than a second makes the ladder start
// over each time, so that one allocation is retried for ever.
func TestOneAllocationIsRetriedFiveTimesHoweverSlowTheCollection(t *testing.T) {
	clock, seen := &manualClock{now: 7 * second}, &reports{}
	tiered, _ := tieredOver(t, smallDevice, Options{
		Clock: clock.read, ObserveOutOfMemory: seen.observe,
		Collect: func() int64 { clock.now += 2 * second; return 0 },
	})
	mustAllocate(t, tiered, 50<<20)
	if _, err := tiered.Allocate(32<<20, 0); err == nil {
		t.Fatal("there was room")
	}
	report := seen.only(t)
	if got := steps(report); !slices.Equal(got,
		[]string{"collect", "collect", "collect", "release free segments", "release free segments"}) {
		t.Errorf("got %v", got)
	}
	for i, step := range report.Steps {
		if step.Attempt != i+1 || step.Rung != 1 || step.Nanoseconds != 2*second {
			t.Errorf("step %+v", step)
		}
	}
}

func TestTheHookMayFreeAndReadButRunsOnce(t *testing.T) {
	clock, seen := &manualClock{now: 7 * second}, &reports{}
	tiered, _ := tieredOver(t, smallDevice, Options{Clock: clock.read, ObserveOutOfMemory: seen.observe})
	mustAllocate(t, tiered, 50<<20)
	runs := 0
	tiered.OnCollect(func() int64 {
		runs++
		tiered.Stats()
		tiered.Layout()
		_, _ = tiered.Allocate(32<<20, 0) // it must not, and does
		return 0
	})
	if _, err := tiered.Allocate(40<<20, 0); err == nil {
		t.Fatal("there was room")
	}
	inner := seen.all[0]
	if inner.Asked != 32<<20 || inner.Steps[0].Why != "a collection was already under way" {
		t.Errorf("inside the hook: %+v", inner)
	}
	if runs != 1 {
		t.Errorf("the hook ran %d times: the allocation inside it spent the ladder", runs)
	}
}

func TestAPanickingHookLeavesTheTieredUsable(t *testing.T) {
	for _, tier := range []Tier{TierB, TierFallback} {
		tiered, _ := tieredOver(t, smallDevice, Options{Tier: tier, Collect: func() int64 { panic("a bug in the render") }})
		live := mustAllocate(t, tiered, 50<<20)
		func() {
			defer func() { _ = recover() }()
			_, _ = tiered.Allocate(32<<20, 0)
			t.Errorf("tier %s: no panic", tier)
		}()
		mustFree(t, tiered, live, 50<<20)
		mustFree(t, tiered, mustAllocate(t, tiered, 1000), 1000)
	}
}

func TestAHookThatClosesEndsTheRetries(t *testing.T) {
	seen := &reports{}
	tiered, host := tieredOver(t, smallDevice, Options{ObserveOutOfMemory: seen.observe})
	live := mustAllocate(t, tiered, 50<<20)
	tiered.OnCollect(func() int64 {
		mustFree(t, tiered, live, 50<<20)
		if err := tiered.Close(); err != nil {
			t.Error(err)
		}
		return 50 << 20
	})
	if _, err := tiered.Allocate(32<<20, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if report := seen.only(t); report.Outcome != "failed: the retry ended in another error" || host.Allocated() != 0 {
		t.Errorf("%q with %d bytes left", report.Outcome, host.Allocated())
	}
}

func TestTheOtherTiersReportTheirFailuresToo(t *testing.T) {
	for tier, outcome := range map[Tier]string{
		TierA:        "failed: tier A (pool only) has no failure callback",
		TierC:        "failed: tier C (managed memory) has no failure callback",
		TierFallback: "failed: the caching pool had released its free segments and collected, and no room was made",
	} {
		seen, collections := &reports{}, 0
		tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages},
			Options{Tier: tier, ObserveOutOfMemory: seen.observe, Collect: func() int64 { collections++; return 0 }})
		mustAllocate(t, tiered, 4096)
		if _, err := tiered.Allocate(1<<40, 0); err == nil {
			t.Fatal("there was room")
		}
		report := seen.only(t)
		if report.Outcome != outcome || report.Rescued || report.Rule != RuleType || report.FreeDevice <= 0 {
			t.Errorf("tier %s: %+v", tier, report)
		}
		if (tier == TierC) != (report.PoolFree == Unknown) {
			t.Errorf("tier %s: %d free in its pool", tier, report.PoolFree)
		}
		if want := map[Tier]int{TierFallback: 2}[tier]; collections != want {
			t.Errorf("tier %s: %d collections", tier, collections)
		}
		if _, ok := tiered.Ladder(); ok {
			t.Errorf("tier %s has a ladder", tier)
		}
		if stats := tiered.Stats(); stats.Failures != 1 {
			t.Errorf("tier %s: %d failures", tier, stats.Failures)
		}
	}
}

// brokenResource fails in ways that a pool does not.
type brokenResource struct{ errs []error }

func (b *brokenResource) Allocate(int64, Stream) (Address, error) {
	return 0, next(&b.errs, nil)
}
func (b *brokenResource) Free(Address, int64, Stream) error { return nil }
func (b *brokenResource) Name() string                      { return "Broken" }
func (b *brokenResource) Upstream() Resource                { return nil }

func TestOnlyAnOutOfMemoryIsRetried(t *testing.T) {
	lost := errors.New("the device is lost")
	ladder := NewLadder((&manualClock{}).read)
	callback := NewFailureCallback(&brokenResource{errs: []error{lost}}, FailureCallbackOptions{Ladder: ladder})
	if _, err := callback.Allocate(1, 0); err != lost {
		t.Errorf("got %v", err)
	}
	if state := ladder.State(); state.Used != 0 {
		t.Errorf("spent %d retries on it", state.Used)
	}
}

func TestADriversOwnWordsAreRetriedUntilTheyChange(t *testing.T) {
	seen := &reports{}
	full, lost := errors.New("CUDA_ERROR_OUT_OF_MEMORY"), errors.New("the device is lost")
	callback := NewFailureCallback(&brokenResource{errs: []error{full, full, lost}},
		FailureCallbackOptions{Ladder: NewLadder((&manualClock{}).read), Observe: seen.observe})
	if _, err := callback.Allocate(1, 0); err != lost {
		t.Errorf("got %v", err)
	}
	report := seen.only(t)
	if len(report.Steps) != 2 || report.Rule != "cuda_error_out_of_memory" || !strings.Contains(report.Outcome, "another error") {
		t.Errorf("got %+v", report)
	}
	if report.FreeDevice != Unknown || report.Steps[0].Freed != Unknown || report.Steps[0].Why != "no collection hook is registered" {
		t.Errorf("what nobody knows: %+v", report)
	}
}
