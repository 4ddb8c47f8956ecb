//go:build cuda && linux && cgo

package local

import (
	"errors"
	"testing"

	"vramscope/pool"
	"vramscope/pool/cuda"
	"vramscope/pool/cuda/cudatest"
	"vramscope/recorder"
)

// TestCUDARenderGivesEverythingBack runs a render over the driver's calls in
// every tier, and reads what is free before and after.
func TestCUDARenderGivesEverythingBack(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{Memory: 2 << 30, Context: 64 << 20}) == nil {
		return
	}
	watch, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	// With the first managed block the driver takes memory of its own, for good.
	managed, err := watch.AllocateManaged(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Free(managed, 2<<20); err != nil {
		t.Fatal(err)
	}
	before, _, err := watch.MemoryInfo()
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range []pool.Tier{pool.TierA, pool.TierB, pool.TierC, pool.TierFallback} {
		context, err := cuda.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		records, err := onCard(t, context, GPUOptions{Memory: MinimumMemory, Share: 0.1},
			Options{Frames: 60, Tier: tier, RescuedEvery: 20, FailedEvery: 25}, nil)
		if err != nil {
			t.Fatalf("tier %s: %v", tier, err)
		}
		after, _, err := watch.MemoryInfo()
		if err != nil || after != before {
			t.Errorf("tier %s: %d were free before and %d after (%v)", tier, before, after, err)
		}
		if got := all[*recorder.State](records)[0].Pools[0].Tier; got != tier.String() {
			t.Errorf("the pool is of tier %s, want %s", got, tier)
		}
		checkDriverOOM(t, tier, records, 2<<30)
		// What the allocators hold is what the driver gave, but for the driver's
		// granularity of 2 MiB for each block.
		for _, sample := range all[*recorder.Sample](records) {
			taken := before - value(t, set(sample, recorder.OfDevice), recorder.Free)
			held := value(t, set(sample, recorder.OfProcess), recorder.Used)
			if context := set(sample, recorder.OfContext); context.Values.Known(recorder.Used) {
				held -= value(t, context, recorder.Used)
			}
			if held > taken || held < taken-64<<20 {
				t.Fatalf("tier %s: the render holds %d, the driver gave %d", tier, held, taken)
			}
		}
	}
	if err := watch.Close(); err != nil {
		t.Error(err)
	}
}

// TestCUDARenderEndsWithItsDevice loses the device between two frames.
func TestCUDARenderEndsWithItsDevice(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Memory: 2 << 30})
	if machine == nil {
		return
	}
	context, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	frames := 0
	_, err = onCard(t, context, GPUOptions{Memory: MinimumMemory}, Options{Frames: 30}, func(r *Render) {
		if frames++; frames == 5 {
			machine.On(cudatest.Lost(0))
		}
	})
	var lost *cuda.LostError
	if !errors.As(err, &lost) || frames > 7 {
		t.Errorf("after %d frames the render ended with %v", frames, err)
	}
}
