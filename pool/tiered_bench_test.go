package pool

import "testing"

// The layers over the pool must cost little beside it and make no garbage.
func BenchmarkTieredAllocateAndFree(b *testing.B) {
	for _, tier := range []Tier{TierA, TierB, TierFallback} {
		b.Run("tier "+tier.String(), func(b *testing.B) {
			host, err := NewHost(HostOptions{Capacity: 1 << 30, Capabilities: poolsOnly})
			if err != nil {
				b.Fatal(err)
			}
			tiered, err := NewTiered(Options{Upstream: host, Tier: tier, LookupEnv: environment{}.lookup})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				address, err := tiered.Allocate(4096, 0)
				if err != nil {
					b.Fatal(err)
				}
				if err := tiered.Free(address, 4096, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPeakRegion is one region of a watched device, begun and ended.
func BenchmarkPeakRegion(b *testing.B) {
	peaks, counter := watched()
	counter.Add(1000)
	b.ReportAllocs()
	for b.Loop() {
		peaks.End(peaks.Begin(cuda))
	}
}
