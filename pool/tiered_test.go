package pool

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

// calmHost is a host without pressure, so that a test does not depend on the
// machine that it runs on.
var calmHost = HostEffects{Memory: func() HostMemory {
	return HostMemory{Total: 100 * gib, Available: 90 * gib, CgroupCurrent: Unknown, CgroupLimit: Unknown}
}}

// tieredOver is a Tiered over host memory with an empty environment.
func tieredOver(t *testing.T, device HostOptions, options Options) (*Tiered, *Host) {
	t.Helper()
	host, err := NewHost(device)
	if err != nil {
		t.Fatal(err)
	}
	options.Upstream = host
	if options.LookupEnv == nil {
		options.LookupEnv = environment{}.lookup
	}
	tiered, err := NewTiered(options)
	if err != nil {
		t.Fatal(err)
	}
	return tiered, host
}

func mustAllocate(t *testing.T, resource Resource, bytes int64) Address {
	t.Helper()
	address, err := resource.Allocate(bytes, 0)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func mustFree(t *testing.T, resource Resource, address Address, bytes int64) {
	t.Helper()
	if err := resource.Free(address, bytes, 0); err != nil {
		t.Fatal(err)
	}
}

func TestTheStacksOfTheTiers(t *testing.T) {
	for _, row := range []struct {
		asked Tier
		want  []string
	}{
		{TierA, []string{"Statistics", "Pool", "host memory"}},
		{TierB, []string{"Statistics", "FailureCallback", "Pool", "host memory"}},
		{TierC, []string{"Statistics", "Managed", "host memory"}},
		{TierFallback, []string{"CachingPool", "host memory"}},
	} {
		tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages}, Options{Tier: row.asked})
		if stack := tiered.Stack(); stack != nil || tiered.Upstream() != nil {
			t.Errorf("before it is configured: %v", stack)
		}
		if tier, err := tiered.Configure(); err != nil || tier != row.asked {
			t.Errorf("configured %s, %v", tier, err)
		}
		if stack := tiered.Stack(); !slices.Equal(stack, row.want) {
			t.Errorf("tier %s: %v, want %v", row.asked, stack, row.want)
		}
		if top := tiered.Upstream(); top.Name() != row.want[0] {
			t.Errorf("tier %s: the top is %s", row.asked, top.Name())
		}
		mustFree(t, tiered, mustAllocate(t, tiered, 1000), 1000)
		if err := tiered.Close(); err != nil {
			t.Errorf("tier %s: %v", row.asked, err)
		}
	}
}

func TestConfigureIsIdempotent(t *testing.T) {
	env := environment{}
	tiered, host := tieredOver(t, HostOptions{Capacity: 100 << 20, Capabilities: poolsAndManages}, Options{LookupEnv: env.lookup})
	if choice, ok := tiered.Choice(); ok || choice.Tier != TierNone {
		t.Errorf("before: %+v", choice)
	}
	first, _ := tiered.Configure()
	before, _ := tiered.Choice()
	env[EnvironmentManagedMemory] = "1"
	if err := host.SetForeign(90 << 20); err != nil {
		t.Fatal(err)
	}
	second, _ := tiered.Configure()
	if after, _ := tiered.Choice(); first != TierB || second != TierB || after != before {
		t.Errorf("%s, then %s: %+v, %+v", first, second, before, after)
	}
}

func TestConfigureFromManyGoroutines(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				address, err := tiered.Allocate(1000, 0)
				if err == nil {
					err = tiered.Free(address, 1000, 0)
				}
				if err != nil {
					t.Error(err)
				}
				tiered.Stats()
				tiered.Stack()
				tiered.Ladder()
			}
		})
	}
	wait.Wait()
	if stats := tiered.Stats(); stats.CurrentBytes != 0 || stats.LifetimeCount != 1600 || stats.LifetimeBytes != 1600*1000 {
		t.Errorf("got %+v", stats.Counts)
	}
}

func TestTheFirstAllocationConfigures(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{})
	var unknown *UnknownBlockError
	if err := tiered.Free(1, 1, 0); !errors.As(err, &unknown) {
		t.Errorf("a free before anything was allocated: %v", err)
	}
	mustAllocate(t, tiered, 1)
	if choice, ok := tiered.Choice(); !ok || choice.Tier != TierB {
		t.Errorf("got %+v", choice)
	}
}

func TestNothingIsTakenBeforeTheFirstRequest(t *testing.T) {
	for _, tier := range []Tier{TierA, TierB, TierC, TierFallback} {
		tiered, host := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages}, Options{Tier: tier})
		if _, err := tiered.Configure(); err != nil || host.Allocated() != 0 {
			t.Errorf("tier %s took %d bytes, %v", tier, host.Allocated(), err)
		}
	}
}

func TestTierAKeepsItsMaximum(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 100 << 20, Capabilities: poolsOnly}, Options{Tier: TierA})
	mustAllocate(t, tiered, 79<<20)
	var full *OutOfMemoryError
	if _, err := tiered.Allocate(2<<20, 0); !errors.As(err, &full) || full.Where != "Pool" {
		t.Errorf("81 of 80 MiB: %v", err)
	}
}

func TestAllocationsOfNothingAreNotCounted(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages}, Options{Tier: TierB})
	if address := mustAllocate(t, tiered, 0); address != 0 {
		t.Errorf("got %#x", address)
	}
	mustFree(t, tiered, 0, 0)
	if stats := tiered.Stats(); stats.Counts != (Counts{}) {
		t.Errorf("counted %+v", stats.Counts)
	}
	var size *SizeError
	if _, err := tiered.Allocate(-1, 0); !errors.As(err, &size) {
		t.Errorf("a negative size: %v", err)
	}
}

func TestAClosedTieredRefusesEverything(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{})
	address := mustAllocate(t, tiered, 4096)
	var live *LiveAllocationsError
	if err := tiered.Close(); !errors.As(err, &live) || live.Count != 1 || live.Bytes != 4096 {
		t.Errorf("close over a live allocation: %v", err)
	}
	mustFree(t, tiered, address, 4096)
	if err := errors.Join(tiered.Close(), tiered.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	_, allocating := tiered.Allocate(1, 0)
	_, configuring := tiered.Configure()
	_, rebuilding := tiered.Rebuild()
	_, releasing := tiered.ReleaseFreeSegments()
	for _, err := range []error{allocating, configuring, rebuilding, releasing, tiered.Free(address, 4096, 0)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	tiered.Stats()
}

func TestATieredNeedsAnUpstream(t *testing.T) {
	if _, err := NewTiered(Options{}); err == nil {
		t.Error("made one over nothing")
	}
}

func TestPeaksOverATiered(t *testing.T) {
	for _, tier := range []Tier{TierA, TierB, TierC, TierFallback} {
		tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages}, Options{Tier: tier})
		key := DeviceKey{Kind: "host"}
		peaks := NewPeaks()
		peaks.Watch(key, tiered.PeakCounter())
		mustFree(t, tiered, mustAllocate(t, tiered, 9000), 9000)
		region := peaks.Measure(key, func(func() RegionPeak) {
			mustFree(t, tiered, mustAllocate(t, tiered, 5000), 5000)
		})
		if region.Corrected != 5000 {
			t.Errorf("tier %s: region %+v", tier, region)
		}
		if got, _ := peaks.Peak(key); got.Reported != 9000 || got.Current != 0 {
			t.Errorf("tier %s: %+v", tier, got)
		}
	}
}

func TestTheLayoutIsOfOneGeneration(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{})
	if segments, blocks, generation := tiered.Layout(); segments != nil || blocks != nil || generation != 0 {
		t.Error("a layout before anything is configured")
	}
	address := mustAllocate(t, tiered, 1000)
	segments, blocks, generation := tiered.Layout()
	if len(segments) != 1 || len(blocks) != 1 || blocks[0].Address != address || blocks[0].Requested != 1000 || generation != 0 {
		t.Errorf("got %+v, %+v, %d", segments, blocks, generation)
	}
}
