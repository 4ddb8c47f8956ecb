package pool

import (
	"errors"
	"slices"
	"testing"
)

// eventList is an Observer that keeps what it is told.
type eventList struct{ events []Event }

func (l *eventList) ObservePool(event Event) { l.events = append(l.events, event) }

func (l *eventList) ops() []Op {
	var ops []Op
	for _, event := range l.events {
		ops = append(ops, event.Op)
	}
	return ops
}

func TestARebuildIsANewGeneration(t *testing.T) {
	// With a maximum a pool grows by half of what is left, without one by what is asked.
	for tier, size := range map[Tier]int64{TierA: 53687040 / 2, TierB: 3 << 20} {
		clock, list := &manualClock{now: 9 * second}, &eventList{}
		tiered, _ := tieredOver(t, smallDevice, Options{Tier: tier, Clock: clock.read, Observer: list})
		mustFree(t, tiered, mustAllocate(t, tiered, 3<<20), 3<<20)
		mustFree(t, tiered, mustAllocate(t, tiered, 2<<20), 2<<20)
		stack := tiered.Stack()

		report, err := tiered.Rebuild()

		want := RebuildReport{
			Tier: tier, Done: true, Generation: 1, Freed: size,
			What:             "tore the pool down and built tier " + tier.String() + " again as generation 1",
			DriverFreeBefore: 64<<20 - size, DriverFreeAfter: 64 << 20,
		}
		if err != nil || report != want {
			t.Errorf("got %+v, %v", report, err)
		}
		if stats := tiered.Stats(); stats.Counts != (Counts{}) || stats.PoolBytes != 0 || stats.Generation != 1 || stats.Tier != tier {
			t.Errorf("counters do not start new: %+v", stats)
		}
		if choice, _ := tiered.Choice(); choice.Tier != tier || !slices.Equal(tiered.Stack(), stack) {
			t.Errorf("another tier: %+v, %v", choice, tiered.Stack())
		}
		past := tiered.Generations()
		if len(past) != 1 || past[0].Generation != 0 || past[0].PoolBytes != size || past[0].Ended != 9*second ||
			past[0].PeakBytes != 3<<20 || past[0].LifetimeBytes != 5<<20 || past[0].LifetimeCount != 2 ||
			past[0].Usage.SegmentsTaken != 1 {
			t.Errorf("the old statistics: %+v", past)
		}
		mustAllocate(t, tiered, 1000)
		wantOps := []Op{OpSegment, OpAlloc, OpFree, OpAlloc, OpFree, OpSegmentFree, OpRebuild, OpSegment, OpAlloc}
		if !slices.Equal(list.ops(), wantOps) {
			t.Errorf("events %v", list.ops())
		}
		for i, event := range list.events {
			if want := map[bool]int{true: 1}[i >= 6]; event.Generation != want {
				t.Errorf("event %d is of generation %d", i, event.Generation)
			}
		}
	}
}

func TestARebuildKeepsTheMaximumOfTierA(t *testing.T) {
	tiered, _ := tieredOver(t, smallDevice, Options{Tier: TierA})
	for range 2 {
		if _, err := tiered.Allocate(60<<20, 0); err == nil {
			t.Error("more than 80 % of the device")
		}
		if _, err := tiered.Rebuild(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARebuildIsRefusedOverLiveAllocations(t *testing.T) {
	tiered, host := tieredOver(t, smallDevice, Options{})
	address := mustAllocate(t, tiered, 5000)
	mustAllocate(t, tiered, 3000)

	report, err := tiered.Rebuild()

	var live *LiveAllocationsError
	if !errors.As(err, &live) || *live != (LiveAllocationsError{Count: 2, Bytes: 8000, What: "rebuild"}) {
		t.Fatalf("got %v", err)
	}
	want := "rebuild refused: 2 live allocations hold 7.8 KiB (8000 bytes); " +
		"free them first, or reclaim to release whole free segments"
	if err.Error() != want || report.What != want || report.Done || report.Generation != 0 {
		t.Errorf("got %+v\n%v", report, err)
	}
	if host.Bytes(address, 5000) == nil || tiered.Generation() != 0 || len(tiered.Generations()) != 0 {
		t.Error("something changed")
	}
}

func TestARebuildOfTheOtherTiers(t *testing.T) {
	both := HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages}

	tiered, _ := tieredOver(t, both, Options{})
	report, err := tiered.Rebuild()
	if err != nil || report.Done || report.What != "nothing to rebuild: no tier is configured yet" || report.DriverFreeAfter != 64<<20 {
		t.Errorf("unconfigured: %+v, %v", report, err)
	}

	tiered, _ = tieredOver(t, both, Options{Tier: TierC})
	mustAllocate(t, tiered, 1<<20)
	report, err = tiered.Rebuild()
	if err != nil || report.Done || report.Generation != 0 ||
		report.What != "nothing to rebuild: managed memory has no pool, each block goes back when it is freed" {
		t.Errorf("tier C: %+v, %v", report, err)
	}

	// The fallback tier frees what is free, also beside what is live.
	tiered, _ = tieredOver(t, both, Options{Tier: TierFallback})
	mustAllocate(t, tiered, 1<<20)
	half := mustAllocate(t, tiered, 4<<20)
	mustFree(t, tiered, half, 4<<20)
	mustAllocate(t, tiered, 1<<20) // carved out of the 4 MiB
	mustFree(t, tiered, mustAllocate(t, tiered, 8<<20), 8<<20)
	report, err = tiered.Rebuild()
	if err != nil || !report.Done || report.Freed != 8<<20 || report.Generation != 0 ||
		report.DriverFreeAfter-report.DriverFreeBefore != 8<<20 ||
		report.Why != "1 segment holds live blocks: 3.0 MiB free in them cannot go back" {
		t.Errorf("fallback: %+v, %v", report, err)
	}
}

func TestPastGenerationsAreBounded(t *testing.T) {
	tiered, _ := tieredOver(t, smallDevice, Options{Tier: TierA})
	if _, err := tiered.Configure(); err != nil {
		t.Fatal(err)
	}
	for range MaximumGenerations + 5 {
		if _, err := tiered.Rebuild(); err != nil {
			t.Fatal(err)
		}
	}
	past := tiered.Generations()
	if len(past) != MaximumGenerations || past[0].Generation != 5 || past[len(past)-1].Generation != MaximumGenerations+4 {
		t.Errorf("%d kept, from %d to %d", len(past), past[0].Generation, past[len(past)-1].Generation)
	}
}

// stubbornUpstream is host memory that keeps what it gave.
type stubbornUpstream struct {
	*Host
	refuses bool
}

var errStubborn = errors.New("the driver does not take it back")

func (s *stubbornUpstream) Free(address Address, bytes int64) error {
	if s.refuses {
		return errStubborn
	}
	return s.Host.Free(address, bytes)
}

func TestAnUpstreamThatTakesNothingBackIsReported(t *testing.T) {
	for _, tier := range []Tier{TierB, TierFallback} {
		host, err := NewHost(smallDevice)
		if err != nil {
			t.Fatal(err)
		}
		upstream := &stubbornUpstream{Host: host, refuses: true}
		tiered, err := NewTiered(Options{Upstream: upstream, Tier: tier, LookupEnv: environment{}.lookup})
		if err != nil {
			t.Fatal(err)
		}
		mustFree(t, tiered, mustAllocate(t, tiered, 40<<20), 40<<20)

		check := tiered.EnsureHeadroom(0.5)
		if check.Acted || check.Freed != 0 || check.Why != "the free segments could not be given back" {
			t.Errorf("tier %s: headroom %+v", tier, check)
		}
		outcome := tiered.ReleaseEffects(calmHost).EmptyCaches()
		if outcome.Freed != 0 || outcome.Why == "" {
			t.Errorf("tier %s: empty caches %+v", tier, outcome)
		}
		report, err := tiered.Rebuild()
		if !errors.Is(err, errStubborn) || report.DriverFreeAfter != 24<<20 {
			t.Errorf("tier %s: rebuild %+v, %v", tier, report, err)
		}
		mustFree(t, tiered, mustAllocate(t, tiered, 1000), 1000)
	}
}
