package pool

import (
	"math"
	"slices"
	"testing"
)

// eventLog keeps what an Observer is told.
type eventLog []Event

func (l *eventLog) ObservePool(event Event) { *l = append(*l, event) }

// A short life of a pool, with every number that it shows.
func TestUsageCountsWhatHappens(t *testing.T) {
	upstream := &boundedUpstream{capacity: 8192}
	pool := newTestPool(t, upstream, PoolOptions{InitialSize: 4096})
	a := allocateOn(t, pool, 1000, 0)
	b := allocateOn(t, pool, 300, 0)
	c := allocateOn(t, pool, 256, 0)
	freeOn(t, pool, b, 300, 0)
	wantOutOfMemory(t, pool, 8000, 0)

	usage := pool.Usage()
	want := Usage{
		Reserved: 4096, Allocated: 1280, Requested: 1256, Free: 2816, LargestFree: 2304,
		Segments: 1, LiveBlocks: 2, FreeBlocks: 2,
		PeakReserved: 4096, PeakAllocated: 1792, PeakRequested: 1556, PeakLiveBlocks: 3,
		LifetimeAllocations: 3, LifetimeFrees: 1, LifetimeAllocated: 1792, LifetimeRequested: 1556, LifetimeFailures: 1,
		SegmentsTaken: 1,
	}
	if usage != want {
		t.Errorf("\n%+v, want\n%+v", usage, want)
	}
	if fraction, ok := usage.Fragmentation(); !ok || math.Abs(fraction-2.0/11) > 1e-12 {
		t.Errorf("fragmentation %v, %v", fraction, ok)
	}
	histogram := pool.FreeHistogram()
	if histogram[9] != (HistogramBin{1, 512}) || histogram[11] != (HistogramBin{1, 2304}) {
		t.Errorf("histogram %v", histogram)
	}

	freeOn(t, pool, a, 1000, 0)
	freeOn(t, pool, c, 256, 0)
	pool.ResetPeaks()
	usage = pool.Usage()
	if usage.Releasable != 4096 || usage.PeakAllocated != 0 || usage.PeakReserved != 4096 || usage.LifetimeAllocated != 1792 {
		t.Errorf("%+v", usage)
	}
	if _, err := pool.ReleaseFreeSegments(); err != nil {
		t.Fatal(err)
	}
	if _, ok := pool.Usage().Fragmentation(); ok {
		t.Error("nothing is free: there is no fragmentation to tell")
	}
}

func TestLayoutTilesTheSegments(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 20}
	pool := newTestPool(t, upstream, PoolOptions{InitialSize: 1024})
	a := allocateOn(t, pool, 300, 3)
	b := allocateOn(t, pool, 2000, 0)
	segments, blocks := pool.Layout()
	wantSegments := []Segment{
		{Address: a, Bytes: 1024, Allocated: 512, Blocks: 2, LiveBlocks: 1},
		{Address: b, Bytes: 2048, Allocated: 2048, Blocks: 1, LiveBlocks: 1},
	}
	wantBlocks := []Block{
		{Address: a, Bytes: 512, Requested: 300, Stream: 3, Live: true},
		{Address: a + 512, Bytes: 512},
		{Address: b, Bytes: 2048, Requested: 2000, Live: true},
	}
	if !slices.Equal(segments, wantSegments) || !slices.Equal(blocks, wantBlocks) {
		t.Errorf("%+v\n%+v", segments, blocks)
	}
	if !slices.Equal(pool.Segments(), segments) {
		t.Error("Segments and Layout differ")
	}
}

func TestObserverIsToldOfEverything(t *testing.T) {
	var log eventLog
	upstream := &boundedUpstream{capacity: 1 << 20}
	pool := newTestPool(t, upstream, PoolOptions{Generation: 2, Observer: &log})
	address := allocateOn(t, pool, 300, 3)
	freeOn(t, pool, address, 300, 4)
	if _, err := pool.ReleaseFreeSegments(); err != nil {
		t.Fatal(err)
	}
	allocateOn(t, pool, 1, 0)
	if err := pool.CloseOverLive(); err != nil {
		t.Fatal(err)
	}
	later := address + 512
	want := []Event{
		{Op: OpSegment, Stream: 3, Generation: 2, Address: address, Bytes: 512},
		{Op: OpAlloc, Stream: 3, Generation: 2, Address: address, Bytes: 512, Requested: 300},
		{Op: OpFree, Stream: 4, Generation: 2, Address: address, Bytes: 512},
		{Op: OpSegmentFree, Generation: 2, Address: address, Bytes: 512},
		{Op: OpSegment, Generation: 2, Address: later, Bytes: 256},
		{Op: OpAlloc, Generation: 2, Address: later, Bytes: 256, Requested: 1},
		{Op: OpSegmentFree, Generation: 2, Address: later, Bytes: 256},
	}
	if !slices.Equal(log, want) {
		t.Errorf("told %+v", log)
	}
}

// The hot path makes no garbage once the pool has seen its largest state.
func TestAllocationMakesNoGarbage(t *testing.T) {
	pool, _ := NewPool(&countingUpstream{}, PoolOptions{})
	caching, _ := NewCachingPool(&countingUpstream{}, CachingPoolOptions{})
	for _, allocator := range []Suballocator{pool, caching} {
		keep := allocateOn(t, allocator, 1<<20, 0)
		freeOn(t, allocator, keep, 1<<20, 0)
		allocs := testing.AllocsPerRun(100, func() {
			a, _ := allocator.Allocate(1000, 0)
			b, _ := allocator.Allocate(70_000, 0)
			_ = allocator.Free(a, 1000, 0)
			_ = allocator.Free(b, 70_000, 0)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", allocator.Name(), allocs)
		}
	}
}
