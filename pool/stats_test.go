package pool

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func documented(t *testing.T, tiered *Tiered) string {
	t.Helper()
	text, err := tiered.Stats().DocumentedJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// 1 MiB twice, one of them freed. Tier A grows by half of what its maximum leaves.
func TestTheDocumentedKeysOfEveryTier(t *testing.T) {
	for tier, want := range map[Tier]string{
		TierA: `{"configured":true,"current_bytes":1048576,"current_count":1,"peak_bytes":2097152,"peak_count":2,` +
			`"pool_size":26843520,"tier":"A","total_bytes":2097152,"total_count":2}`,
		TierB: `{"configured":true,"current_bytes":1048576,"current_count":1,"peak_bytes":2097152,"peak_count":2,` +
			`"pool_size":2097152,"tier":"B","total_bytes":2097152,"total_count":2}`,
		TierC: `{"configured":true,"current_bytes":1048576,"current_count":1,"peak_bytes":2097152,"peak_count":2,` +
			`"tier":"C","total_bytes":2097152,"total_count":2}`,
		TierFallback: `{"configured":true,"free_bytes":1048576,"tier":"fallback","total_bytes":2097152,"used_bytes":1048576}`,
	} {
		tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsAndManages}, Options{Tier: tier})
		if got := documented(t, tiered); got != `{"configured":false,"tier":""}` {
			t.Errorf("before it is configured: %s", got)
		}
		mustAllocate(t, tiered, 1<<20)
		mustFree(t, tiered, mustAllocate(t, tiered, 1<<20), 1<<20)
		if got := documented(t, tiered); got != want {
			t.Errorf("tier %s:\n%s, want\n%s", tier, got, want)
		}
	}
}

func TestAnUnknownNumberHasNoKey(t *testing.T) {
	stats := Stats{Tier: TierFallback, Configured: true, UsedBytes: Unknown, FreeBytes: Unknown, HeldBytes: Unknown}
	if text, _ := stats.DocumentedJSON(); string(text) != `{"configured":true,"tier":"fallback"}` {
		t.Errorf("got %s", text)
	}
	stats = Stats{Tier: TierB, Configured: true, HasCounts: true, PoolBytes: Unknown}
	if _, has := stats.Documented()["pool_size"]; has {
		t.Error("a pool size that nobody could read")
	}
}

func TestStatisticsAgreeWithAPlainCount(t *testing.T) {
	host, err := NewHost(HostOptions{Capacity: 1 << 30, Capabilities: poolsOnly})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		pool, err := NewPool(host, PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = pool.CloseOverLive() }()
		statistics := NewStatistics(pool)
		var live []Block
		var want Counts
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				at := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				block := live[at]
				live = slices.Delete(live, at, at+1)
				if err := statistics.Free(block.Address, block.Requested, 0); err != nil {
					t.Fatal(err)
				}
				if err := statistics.Free(block.Address, block.Requested, 0); err == nil {
					t.Fatal("freed twice")
				}
				want.CurrentBytes -= block.Requested
				want.CurrentCount--
			} else {
				bytes := rapid.Int64Range(1, 1<<16).Draw(t, "bytes")
				address, err := statistics.Allocate(bytes, 0)
				if err != nil {
					t.Fatal(err)
				}
				live = append(live, Block{Address: address, Requested: bytes})
				want.CurrentBytes += bytes
				want.CurrentCount++
				want.LifetimeBytes += bytes
				want.LifetimeCount++
				want.PeakBytes = max(want.PeakBytes, want.CurrentBytes)
				want.PeakCount = max(want.PeakCount, want.CurrentCount)
			}
			if got := statistics.Counts(); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}
	})
}

func TestTheFullerNumbersComeFromThePool(t *testing.T) {
	tiered, _ := tieredOver(t, smallDevice, Options{})
	if stats := tiered.Stats(); stats.HasCounts || stats.HasUsage || stats.PoolBytes != Unknown {
		t.Errorf("before it is configured: %+v", stats)
	}
	mustFree(t, tiered, mustAllocate(t, tiered, 16<<20), 16<<20)
	mustAllocate(t, tiered, 4<<20)
	stats := tiered.Stats()
	if !stats.HasCounts || !stats.HasUsage || stats.Usage.Free != 12<<20 || stats.Usage.LargestFree != 12<<20 ||
		stats.Usage.Releasable != 0 || stats.UsedBytes != Unknown || stats.HeldBytes != Unknown {
		t.Errorf("got %+v", stats)
	}
}

func TestManagedMemoryIsASegmentABlock(t *testing.T) {
	list := &eventList{}
	tiered, host := tieredOver(t, HostOptions{Capacity: 1 << 20, ManagedLimit: 64 << 20, Capabilities: poolsAndManages},
		Options{Tier: TierC, Observer: list})
	address := mustAllocate(t, tiered, 32<<20) // more than the device
	if host.Allocated() != 32<<20 {
		t.Errorf("%d allocated", host.Allocated())
	}
	mustFree(t, tiered, address, 32<<20)
	if want := []Op{OpSegment, OpAlloc, OpFree, OpSegmentFree}; !slices.Equal(list.ops(), want) {
		t.Errorf("events %v", list.ops())
	}
	if _, err := tiered.Allocate(-1, 0); err == nil {
		t.Error("a negative size")
	}
	if err := tiered.Free(address, 32<<20, 0); err == nil {
		t.Error("freed twice")
	}
}
