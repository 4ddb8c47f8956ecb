package pool

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

func newTestPool(t *testing.T, upstream Upstream, options PoolOptions) *Pool {
	t.Helper()
	pool, err := NewPool(upstream, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := audit(&pool.books); err != nil {
			t.Error(err)
		}
	})
	return pool
}

func allocateOn(t *testing.T, from Resource, bytes int64, stream Stream) Address {
	t.Helper()
	address, err := from.Allocate(bytes, stream)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func freeOn(t *testing.T, to Resource, address Address, bytes int64, stream Stream) {
	t.Helper()
	if err := to.Free(address, bytes, stream); err != nil {
		t.Fatal(err)
	}
}

// wantOutOfMemory returns the failure of an allocation that must fail.
func wantOutOfMemory(t *testing.T, from Resource, bytes int64, stream Stream) *OutOfMemoryError {
	t.Helper()
	address, err := from.Allocate(bytes, stream)
	var full *OutOfMemoryError
	if !errors.As(err, &full) {
		t.Fatalf("allocating %d gave %#x, %v", bytes, address, err)
	}
	return full
}

// The worked checks of the growth rules: a maximum of 1024 grows by half of
// what remains, and no maximum grows by the pool's size or the request.
func TestPoolGrowth(t *testing.T) {
	t.Run("half way to the maximum", func(t *testing.T) {
		upstream := &boundedUpstream{capacity: 1 << 30}
		pool := newTestPool(t, upstream, PoolOptions{MaximumSize: 1024})
		allocateOn(t, pool, 256, 0)
		if !slices.Equal(upstream.requests, []int64{512}) {
			t.Errorf("grew by %v, want max(256, 1024/2) = 512", upstream.requests)
		}
		full := wantOutOfMemory(t, pool, 600, 0)
		if full.Asked != 600 || !strings.HasPrefix(full.Reason, "Maximum pool size exceeded") || full.LargestFree != 256 {
			t.Errorf("%+v", full)
		}
		if full.Free != 1<<30-512 || full.Total != 1<<30 || full.Where != "Pool" {
			t.Errorf("%+v", full)
		}
		if len(upstream.requests) != 1 {
			t.Errorf("asked upstream %v although 768 exceed the 512 that remain", upstream.requests)
		}
	})
	t.Run("doubling", func(t *testing.T) {
		upstream := &boundedUpstream{capacity: 1 << 30}
		pool := newTestPool(t, upstream, PoolOptions{InitialSize: 1 << 20})
		allocateOn(t, pool, 1<<20+1, 0)
		allocateOn(t, pool, 1<<20+1, 0)
		if want := []int64{1 << 20, 1048832, 1<<20 + 1048832}; !slices.Equal(upstream.requests, want) {
			t.Errorf("grew by %v, want %v", upstream.requests, want)
		}
	})
}

// Half of what remains need not be a multiple of 256. A pool of such a size
// rounds up what remains below its maximum, as RMM does, and so may pass it by
// less than 256 bytes.
func TestPoolMayPassItsMaximumByLessThanTheAlignment(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 30}
	pool := newTestPool(t, upstream, PoolOptions{MaximumSize: 768})
	allocateOn(t, pool, 1, 0)
	allocateOn(t, pool, 512, 0)
	if want := []int64{384, 512}; !slices.Equal(upstream.requests, want) || pool.Size() != 896 {
		t.Errorf("grew by %v to %d, want %v", upstream.requests, pool.Size(), want)
	}
	wantOutOfMemory(t, pool, 256, 0)
}

// On failure the try is halved down to the request, and the request is tried
// once.
func TestPoolHalvesWhatUpstreamRefuses(t *testing.T) {
	upstream := &boundedUpstream{capacity: 10_000}
	pool := newTestPool(t, upstream, PoolOptions{InitialSize: 8192})
	allocateOn(t, pool, 8192, 0)
	allocateOn(t, pool, 1000, 0)
	if want := []int64{8192, 8192, 4096, 2048, 1024}; !slices.Equal(upstream.requests, want) {
		t.Errorf("asked %v, want %v", upstream.requests, want)
	}
	upstream.requests = nil
	full := wantOutOfMemory(t, pool, 1000, 0)
	if want := []int64{9216, 4608, 2304, 1152, 1024}; !slices.Equal(upstream.requests, want) {
		t.Errorf("asked %v, want %v", upstream.requests, want)
	}
	var cause *OutOfMemoryError
	if !errors.As(full.Cause, &cause) || cause.Where != "bounded" || cause.Asked != 1024 {
		t.Errorf("cause %v", full.Cause)
	}
}

// A lost device is no lack of room: nothing is tried again, and the failure
// callback above must not take it for one.
func TestPoolPassesOtherFailuresOn(t *testing.T) {
	lost := errors.New("the GPU has fallen off the bus")
	pool := newTestPool(t, &failingUpstream{err: lost}, PoolOptions{})
	_, err := pool.Allocate(100, 0)
	var full *OutOfMemoryError
	if !errors.Is(err, lost) || errors.As(err, &full) {
		t.Errorf("got %v", err)
	}
}

type failingUpstream struct {
	countingUpstream
	err error
}

func (u *failingUpstream) Allocate(int64) (Address, error) { return 0, u.err }

// The best fit wins, and among equals the lowest address.
func TestPoolTakesTheBestFitAtTheLowestAddress(t *testing.T) {
	pool := newTestPool(t, &countingUpstream{}, PoolOptions{InitialSize: 1 << 20})
	sizes := []int64{1024, 256, 512, 256, 1024, 256, 512, 256, 768, 256}
	var at []Address
	for _, size := range sizes {
		at = append(at, allocateOn(t, pool, size, 0))
	}
	for _, i := range []int{6, 4, 0, 2, 8} {
		freeOn(t, pool, at[i], sizes[i], 0)
	}
	for _, step := range []struct {
		bytes int64
		want  Address
	}{
		{512, at[2]}, {500, at[6]}, {257, at[8]}, // 768 is the best fit for 512 now
		{256, at[8] + 512}, // what was left of it
		{900, at[0]}, {1024, at[4]},
	} {
		if got := allocateOn(t, pool, step.bytes, 0); got != step.want {
			t.Errorf("allocating %d gave %#x, want %#x", step.bytes, got, step.want)
		}
	}
}

// Freed blocks join with both neighbours, but never across the head of a
// segment, although segments may touch.
func TestPoolJoinsNeighboursWithinASegment(t *testing.T) {
	upstream := &countingUpstream{}
	pool := newTestPool(t, upstream, PoolOptions{})
	first := allocateOn(t, pool, HostAlignment, 0)
	second := allocateOn(t, pool, HostAlignment, 0)
	if second != first+Address(HostAlignment) {
		t.Fatal("the segments do not touch")
	}
	freeOn(t, pool, first, HostAlignment, 0)
	freeOn(t, pool, second, HostAlignment, 0)
	if usage := pool.Usage(); usage.FreeBlocks != 2 || usage.LargestFree != HostAlignment {
		t.Errorf("joined across the head of a segment: %+v", usage)
	}

	a := allocateOn(t, pool, HostAlignment/4, 0)
	b := allocateOn(t, pool, HostAlignment/4, 0)
	c := allocateOn(t, pool, HostAlignment/4, 0)
	freeOn(t, pool, a, HostAlignment/4, 0)
	freeOn(t, pool, c, HostAlignment/4, 0) // joins with the rest of the segment
	if usage := pool.Usage(); usage.FreeBlocks != 3 {
		t.Errorf("%+v", usage)
	}
	freeOn(t, pool, b, HostAlignment/4, 0) // joins with both
	if usage := pool.Usage(); usage.FreeBlocks != 2 || usage.LargestFree != HostAlignment {
		t.Errorf("%+v", usage)
	}
}

// A stream takes from its own list first, then what fits from another's, whose
// list keeps the rest; then it takes the other lists over; then the pool grows.
func TestPoolLooksInTheOrderOfRMM(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 30}
	pool := newTestPool(t, upstream, PoolOptions{InitialSize: 4096})
	low := allocateOn(t, pool, 2048, 1)
	high := allocateOn(t, pool, 2048, 2)
	freeOn(t, pool, low, 2048, 1)
	freeOn(t, pool, high, 2048, 2)

	if got := allocateOn(t, pool, 1024, 3); got != low {
		t.Errorf("stream 3 has nothing: got %#x, want stream 1's %#x", got, low)
	}
	want := []StreamUsage{{1, 1024, 1, 1024}, {2, 2048, 1, 2048}}
	if got := pool.Streams(); !slices.Equal(got, want) {
		t.Errorf("the rest belongs to stream 1: %v, want %v", got, want)
	}
	freeOn(t, pool, low, 1024, 3)
	if got := pool.Streams(); len(got) != 3 || got[2] != (StreamUsage{3, 1024, 1, 1024}) {
		t.Errorf("a block goes to the list it is freed on: %v", got)
	}

	// 3072 lie in no list. With that of stream 1 they do, and stream 3 keeps its own.
	if got := allocateOn(t, pool, 3072, 2); got != low+1024 {
		t.Errorf("got %#x, want %#x after one merge", got, low+1024)
	}
	if got := pool.Streams(); !slices.Equal(got, []StreamUsage{{3, 1024, 1, 1024}}) {
		t.Errorf("merged more than was needed: %v", got)
	}
	if len(upstream.requests) != 1 {
		t.Errorf("grew too early: %v", upstream.requests)
	}
	allocateOn(t, pool, 2048, 1)
	if want := []int64{4096, 4096}; !slices.Equal(upstream.requests, want) {
		t.Errorf("grew by %v, want %v", upstream.requests, want)
	}
}

// A segment goes back whole, even if its free blocks lie in several lists;
// what a live block holds stays, and the report says so.
func TestPoolReleasesWholeFreeSegments(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 30}
	pool := newTestPool(t, upstream, PoolOptions{})
	a := allocateOn(t, pool, 1024, 1)
	b := allocateOn(t, pool, 2048, 1)
	c := allocateOn(t, pool, 1024, 1) // in the third segment, with 2048 left
	freeOn(t, pool, b, 2048, 2)
	d := allocateOn(t, pool, 1024, 1) // from b's segment
	freeOn(t, pool, d, 1024, 1)
	if pool.Releasable() != 2048 || len(pool.Streams()) != 2 {
		t.Fatalf("releasable %d, %v", pool.Releasable(), pool.Streams())
	}
	done, err := pool.ReleaseFreeSegments()
	want := SegmentRelease{Bytes: 2048, Segments: 1, KeptFree: 2048, KeptSegments: 1, KeptBlocks: 1}
	if err != nil || done != want {
		t.Errorf("released %+v, %v, want %+v", done, err, want)
	}
	if pool.Size() != 4096 || pool.Releasable() != 0 || upstream.used != 4096 {
		t.Errorf("size %d, releasable %d, upstream %d", pool.Size(), pool.Releasable(), upstream.used)
	}
	freeOn(t, pool, a, 1024, 0)
	freeOn(t, pool, c, 1024, 0)
	if done, err := pool.ReleaseFreeSegments(); err != nil || done.Bytes != 4096 || pool.Size() != 0 {
		t.Errorf("released %+v, %v", done, err)
	}
	allocateOn(t, pool, 256, 0)
	if last := upstream.requests[len(upstream.requests)-1]; last != 256 {
		t.Errorf("an empty pool grew by %d", last)
	}
}

// keepingUpstream takes nothing back.
type keepingUpstream struct {
	boundedUpstream
	err error
}

func (u *keepingUpstream) Free(Address, int64) error { return u.err }

// What upstream does not take back stays usable.
func TestPoolKeepsSegmentsThatUpstreamRefuses(t *testing.T) {
	upstream := &keepingUpstream{boundedUpstream{capacity: 1 << 20}, errors.New("stuck")}
	pool := newTestPool(t, upstream, PoolOptions{InitialSize: 1024})
	done, err := pool.ReleaseFreeSegments()
	if !errors.Is(err, upstream.err) || done.Bytes != 0 || pool.Releasable() != 1024 {
		t.Errorf("released %+v, %v", done, err)
	}
	if address := allocateOn(t, pool, 1024, 0); address != 1<<20 {
		t.Errorf("the segment is lost: %#x", address)
	}
	if err := pool.CloseOverLive(); !errors.Is(err, upstream.err) {
		t.Errorf("close: %v", err)
	}
}

func TestPoolRefusesToFreeWhatIsNotLive(t *testing.T) {
	pool := newTestPool(t, &countingUpstream{}, PoolOptions{})
	address := allocateOn(t, pool, 1000, 0)
	for _, wrong := range []struct {
		address Address
		bytes   int64
		held    int64
	}{
		{address + 256, 1000, Unknown},
		{address, 768, 1000},
		{address, 1025, 1000},
		{address, 0, 1000},
		{address, -1, 1000},
		{1, 1000, Unknown},
	} {
		var unknown *UnknownBlockError
		if err := pool.Free(wrong.address, wrong.bytes, 0); !errors.As(err, &unknown) || unknown.Held != wrong.held {
			t.Errorf("freeing %d at %#x: %v", wrong.bytes, wrong.address, err)
		}
	}
	if pool.Usage().LiveBlocks != 1 {
		t.Error("a refused free changed something")
	}
	freeOn(t, pool, address, 769, 0) // any size that rounds to the block's
	var unknown *UnknownBlockError
	if err := pool.Free(address, 1000, 0); !errors.As(err, &unknown) {
		t.Errorf("freed twice: %v", err)
	}
	if err := pool.Free(0, 0, 0); err != nil {
		t.Errorf("no block: %v", err)
	}
}

func TestPoolRefusesSizes(t *testing.T) {
	for _, options := range []PoolOptions{
		{InitialSize: 255}, {MaximumSize: 1000}, {InitialSize: -256}, {MaximumSize: -256},
		{InitialSize: 1024, MaximumSize: 512},
	} {
		var size *SizeError
		if _, err := NewPool(&countingUpstream{}, options); !errors.As(err, &size) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	pool := newTestPool(t, &countingUpstream{}, PoolOptions{})
	if address, err := pool.Allocate(0, 0); address != 0 || err != nil {
		t.Errorf("0 bytes: %#x, %v", address, err)
	}
	var size *SizeError
	if _, err := pool.Allocate(-1, 0); !errors.As(err, &size) {
		t.Errorf("-1 bytes: %v", err)
	}
	wantOutOfMemory(t, pool, 1<<63-1, 0)
	var full *OutOfMemoryError
	if _, err := NewPool(&boundedUpstream{capacity: 1000}, PoolOptions{InitialSize: 1024}); !errors.As(err, &full) {
		t.Errorf("initial size beyond the device: %v", err)
	}
}

func TestPoolServesABoundedNumberOfStreams(t *testing.T) {
	pool := newTestPool(t, &countingUpstream{}, PoolOptions{})
	address := allocateOn(t, pool, 256, 0)
	for stream := range Stream(maximumLists - 1) {
		if _, err := pool.books.list(stream + 1); err != nil {
			t.Fatal(stream, err)
		}
	}
	if _, err := pool.Allocate(256, 1<<31); !errors.Is(err, ErrTooManyStreams) {
		t.Errorf("allocating on one stream more: %v", err)
	}
	if err := pool.Free(address, 256, 1<<31); !errors.Is(err, ErrTooManyStreams) || pool.Usage().LiveBlocks != 1 {
		t.Errorf("freeing on one stream more: %v", err)
	}
	freeOn(t, pool, address, 256, maximumLists-1)
}

func TestPoolCloses(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 20}
	pool := newTestPool(t, upstream, PoolOptions{InitialSize: 4096})
	address := allocateOn(t, pool, 1000, 0)
	allocateOn(t, pool, 256, 0)
	var live *LiveBlocksError
	if err := pool.Close(); !errors.As(err, &live) || live.Count != 2 || live.Bytes != 1280 {
		t.Fatalf("close over live blocks: %v", err)
	}
	if pool.Size() != 4096 {
		t.Error("a refused close changed something")
	}
	if err := pool.CloseOverLive(); err != nil || upstream.used != 0 {
		t.Errorf("close: %v, upstream still holds %d", err, upstream.used)
	}
	if _, err := pool.Allocate(1, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("allocate: %v", err)
	}
	if err := pool.Free(address, 1000, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("free: %v", err)
	}
	if _, err := pool.ReleaseFreeSegments(); !errors.Is(err, ErrClosed) {
		t.Errorf("release: %v", err)
	}
	if err := pool.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	usage := pool.Usage()
	if usage.Reserved != 0 || usage.LiveBlocks != 0 || usage.PeakAllocated != 1280 || usage.SegmentsReturned != 1 {
		t.Errorf("%+v", usage)
	}
}

// One lock a pool, as in RMM: goroutines on streams of their own, with one that
// reads and one that releases, leave a sound ledger.
func TestPoolServesGoroutines(t *testing.T) {
	host, err := NewHost(HostOptions{Capacity: 64 << 20, Capabilities: Capabilities{Pool: true}})
	if err != nil {
		t.Fatal(err)
	}
	pool := newTestPool(t, host, PoolOptions{MaximumSize: 48 << 20})
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			random := newRandom(uint64(worker))
			var live []benchBlock
			for range 2000 {
				if len(live) < 20 {
					bytes := 1 + random.Int64N(1<<16)
					address, err := pool.Allocate(bytes, Stream(worker))
					if err != nil {
						t.Error(err)
						return
					}
					host.Bytes(address, bytes)[bytes-1] = byte(worker)
					live = append(live, benchBlock{address, bytes})
					continue
				}
				block := live[0]
				live = live[1:]
				if host.Bytes(block.address, block.bytes)[block.bytes-1] != byte(worker) {
					t.Errorf("somebody else wrote to the block at %#x", block.address)
				}
				if err := pool.Free(block.address, block.bytes, Stream(worker)); err != nil {
					t.Error(err)
				}
			}
			for _, block := range live {
				if err := pool.Free(block.address, block.bytes, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Go(func() {
		for range 200 {
			if _, err := pool.ReleaseFreeSegments(); err != nil {
				t.Error(err)
			}
			_, blocks := pool.Layout()
			var sum int64
			for _, block := range blocks {
				sum += block.Bytes
			}
			_ = sum
			pool.Usage()
			pool.FreeHistogram()
		}
	})
	group.Wait()
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if host.Allocated() != 0 {
		t.Errorf("the host still holds %d", host.Allocated())
	}
}
