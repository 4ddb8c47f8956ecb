package pool

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
)

// Allocations fail, collections free blocks that other goroutines cached, the
// pool is rebuilt and read, all at once. Afterwards nothing is lost: every
// count is 0 and every byte goes back.
func TestFailuresRebuildsAndReadersAtOnce(t *testing.T) {
	for _, tier := range []Tier{TierA, TierB, TierC, TierFallback} {
		clock := &manualClock{}
		var cacheLock sync.Mutex
		var cache []Address
		const size = 4 << 20
		tiered, host := tieredOver(t, HostOptions{Capacity: 32 << 20, Capabilities: poolsAndManages},
			Options{Tier: tier, Clock: clock.read, ObserveOutOfMemory: func(OutOfMemoryReport) {}})
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		emptyCache := func() int64 {
			cacheLock.Lock()
			cached := cache
			cache = nil
			cacheLock.Unlock()
			for _, address := range cached {
				must(tiered.Free(address, size, 0))
			}
			return int64(len(cached)) * size
		}
		tiered.OnCollect(emptyCache)

		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				random := rand.New(rand.NewPCG(uint64(worker), 0))
				for range 100 {
					address, err := tiered.Allocate(size, Stream(worker))
					if _, full := Classify(err); full {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					if random.IntN(2) == 0 {
						must(tiered.Free(address, size, 0))
						continue
					}
					cacheLock.Lock()
					cache = append(cache, address)
					cacheLock.Unlock()
				}
			})
		}
		wait.Go(func() {
			for range 50 {
				var live *LiveAllocationsError
				if _, err := tiered.Rebuild(); err != nil && !errors.As(err, &live) {
					t.Error(err)
				}
				tiered.Layout()
				tiered.EnsureHeadroom(HeadroomFraction)
				NewReleasePolicy(tiered.ReleaseEffects(calmHost), nil).Release(false)
			}
		})
		wait.Wait()
		emptyCache()

		stats := tiered.Stats()
		if stats.CurrentBytes != 0 || stats.CurrentCount != 0 || stats.Usage.LiveBlocks != 0 {
			t.Errorf("tier %s: left over %+v", tier, stats)
		}
		if _, current := tiered.PeakCounter().ReadPeak(); current != 0 {
			t.Errorf("tier %s: the live counter stands at %d", tier, current)
		}
		if err := errors.Join(tiered.Close(), host.Close()); err != nil {
			t.Errorf("tier %s: %v", tier, err)
		}
	}
}
