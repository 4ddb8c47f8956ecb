package pool

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// boundedUpstream gives ascending addresses, without memory, until it is full:
// the same answers to the pool and to its model. Every failEvery-th request
// fails whatever its size, where that is not 0.
type boundedUpstream struct {
	capacity, used int64
	next           Address
	failEvery      int
	requests       []int64 // what was asked, in order: how a pool grew
	live           []linearBlock
}

func (*boundedUpstream) Name() string                           { return "bounded" }
func (*boundedUpstream) Capabilities() Capabilities             { return Capabilities{Pool: true} }
func (*boundedUpstream) AllocateManaged(int64) (Address, error) { return 0, ErrNotSupported }

func (u *boundedUpstream) MemoryInfo() (int64, int64, error) {
	return u.capacity - u.used, u.capacity, nil
}

func (u *boundedUpstream) Allocate(bytes int64) (Address, error) {
	u.requests = append(u.requests, bytes)
	if bytes > u.capacity-u.used || u.failEvery > 0 && len(u.requests)%u.failEvery == 0 {
		return 0, &OutOfMemoryError{Asked: bytes, Free: u.capacity - u.used, Total: u.capacity, LargestFree: Unknown, Where: "bounded"}
	}
	if u.next == 0 {
		u.next = 1 << 20
	}
	address := u.next
	// Segments touch where their size allows it, as cudaMalloc's do.
	rounded, _ := roundUp(bytes, 256)
	u.next += Address(rounded)
	u.used += bytes
	u.live = append(u.live, linearBlock{address, bytes})
	return address, nil
}

func (u *boundedUpstream) Free(address Address, bytes int64) error {
	at := slices.Index(u.live, linearBlock{address, bytes})
	if at < 0 {
		return &UnknownBlockError{Address: address, Bytes: bytes, Held: Unknown, Where: "bounded"}
	}
	u.live = slices.Delete(u.live, at, at+1)
	u.used -= bytes
	return nil
}

// eventSums adds up what an observer is told, as a recorder does that never
// asks the pool itself.
type eventSums struct {
	reserved, allocated, requested int64
	live                           map[Address]Event
}

// ObservePool adds one event.
func (s *eventSums) ObservePool(event Event) {
	if s.live == nil {
		s.live = map[Address]Event{}
	}
	switch event.Op {
	case OpSegment:
		s.reserved += event.Bytes
	case OpSegmentFree:
		s.reserved -= event.Bytes
	case OpAlloc:
		s.allocated += event.Bytes
		s.requested += event.Requested
		s.live[event.Address] = event
	case OpFree:
		s.allocated -= event.Bytes
		s.requested -= s.live[event.Address].Requested
		delete(s.live, event.Address)
	}
}

// compare holds the sums against what the pool says of itself.
func (s *eventSums) compare(usage Usage) error {
	if s.reserved != usage.Reserved || s.allocated != usage.Allocated || s.requested != usage.Requested || len(s.live) != usage.LiveBlocks {
		return fmt.Errorf("events add up to %d reserved, %d allocated, %d requested in %d, the pool says %+v",
			s.reserved, s.allocated, s.requested, len(s.live), usage)
	}
	return nil
}

// poolHistory runs one random history on a Pool and on the linear model.
type poolHistory struct {
	pool                        *Pool
	model                       *linearPool
	poolUpstream, modelUpstream *boundedUpstream
	live                        []benchBlock
	events                      eventSums
}

func newPoolHistory(t *rapid.T) *poolHistory {
	capacity := rapid.SampledFrom([]int64{1 << 40, 1 << 20, 300_000}).Draw(t, "capacity")
	failEvery := rapid.SampledFrom([]int{0, 0, 2, 3, 7}).Draw(t, "failEvery")
	maximum := 256 * rapid.SampledFrom([]int64{0, 1, 4, 1001, 4096}).Draw(t, "maximum/256")
	initial := 256 * rapid.Int64Range(0, 600).Draw(t, "initial/256")
	if maximum > 0 {
		initial = min(initial, maximum)
	}
	h := &poolHistory{
		poolUpstream:  &boundedUpstream{capacity: capacity, failEvery: failEvery},
		modelUpstream: &boundedUpstream{capacity: capacity, failEvery: failEvery},
	}
	var poolErr, modelErr error
	h.pool, poolErr = NewPool(h.poolUpstream, PoolOptions{InitialSize: initial, MaximumSize: maximum, Observer: &h.events})
	h.model, modelErr = newLinearPool(h.modelUpstream, initial, maximum)
	if (poolErr == nil) != (modelErr == nil) {
		t.Fatalf("initial size: pool %v, model %v", poolErr, modelErr)
	}
	if poolErr != nil {
		return nil
	}
	return h
}

func (h *poolHistory) allocate(t *rapid.T) {
	stream := Stream(rapid.IntRange(0, 3).Draw(t, "stream"))
	bytes := rapid.OneOf(
		rapid.Int64Range(0, 2000),
		rapid.SampledFrom([]int64{256, 512, 1024, 16384, 16385}),
		rapid.Int64Range(1, 200_000),
	).Draw(t, "bytes")
	got, err := h.pool.Allocate(bytes, stream)
	want, modelErr := h.model.Allocate(bytes, stream)
	if got != want || (err == nil) != (modelErr == nil) {
		t.Fatalf("allocate %d on %d: pool %#x %v, model %#x %v", bytes, stream, got, err, want, modelErr)
	}
	var full *OutOfMemoryError
	if err != nil && (!errors.As(err, &full) || full.Asked != bytes) {
		t.Fatalf("allocate %d: %v", bytes, err)
	}
	if err == nil && bytes > 0 {
		h.live = append(h.live, benchBlock{got, bytes})
	}
}

func (h *poolHistory) free(t *rapid.T) {
	if len(h.live) == 0 {
		return
	}
	at := rapid.IntRange(0, len(h.live)-1).Draw(t, "which")
	stream := Stream(rapid.IntRange(0, 3).Draw(t, "stream"))
	block := h.live[at]
	h.live = slices.Delete(h.live, at, at+1)
	if err := h.pool.Free(block.address, block.bytes, stream); err != nil {
		t.Fatal(err)
	}
	if err := h.model.Free(block.address, block.bytes, stream); err != nil {
		t.Fatal(err)
	}
}

func (h *poolHistory) release(t *rapid.T) {
	expected := h.pool.Releasable()
	done, err := h.pool.ReleaseFreeSegments()
	if err != nil {
		t.Fatal(err)
	}
	kept, released := h.model.releaseFree(h.modelUpstream.live)
	h.modelUpstream.used -= released
	h.modelUpstream.live = kept
	if done.Bytes != released || done.Bytes != expected {
		t.Fatalf("released %d, announced %d, the model %d", done.Bytes, expected, released)
	}
}

// compare holds every free block, the sizes and the growth so far against the
// model, and the pool's books against themselves.
func (h *poolHistory) compare(t *rapid.T) {
	if err := audit(&h.pool.books); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.poolUpstream.requests, h.modelUpstream.requests) {
		t.Fatalf("growth differs: %v, model %v", h.poolUpstream.requests, h.modelUpstream.requests)
	}
	_, blocks := h.pool.Layout()
	free := slices.DeleteFunc(blocks, func(b Block) bool { return b.Live })
	if model := h.model.freeBlocks(); !slices.Equal(free, model) {
		t.Fatalf("free blocks differ:\n%v\nmodel\n%v", free, model)
	}
	usage := h.pool.Usage()
	if err := h.events.compare(usage); err != nil {
		t.Fatal(err)
	}
	if usage.Reserved != h.model.size || usage.LiveBlocks != len(h.live) {
		t.Fatalf("%+v, model holds %d", usage, h.model.size)
	}
}

// Every answer of Pool, over several streams, with and without a maximum, and
// with an upstream that fills up or fails now and then, is that of the linear
// list: addresses, growth, failures, and what is free afterwards.
func TestPoolAnswersLikeTheLinearList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newPoolHistory(t)
		if h == nil {
			return
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate":      h.allocate,
			"allocateAgain": h.allocate,
			"free":          h.free,
			"release":       h.release,
			"":              h.compare,
		})
		for _, block := range h.live {
			if err := h.pool.Free(block.address, block.bytes, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.pool.Close(); err != nil || h.poolUpstream.used != 0 {
			t.Fatalf("close: %v, upstream still holds %d", err, h.poolUpstream.used)
		}
	})
}

// Long histories with thousands of blocks reach what short ones do not: deep
// trees, a table that grew, blocks whose numbers were used before.
func TestPoolAnswersLikeTheLinearListForLong(t *testing.T) {
	for seed, sizes := range map[uint64]func(*randomSource) int64{
		1: func(r *randomSource) int64 { return mixedSize(r) },
		2: func(r *randomSource) int64 { return fewSizes(r) },
		3: func(r *randomSource) int64 { return 1 + r.Int64N(1<<20) },
	} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := newRandom(seed)
			pool, _ := NewPool(&countingUpstream{}, PoolOptions{})
			model, _ := newLinearPool(&countingUpstream{}, 0, 0)
			var live []benchBlock
			for step := range 30_000 {
				stream := Stream(random.IntN(3))
				if len(live) > 0 && (random.IntN(5) < 2 || step > 15_000 && random.IntN(2) == 0) {
					at := random.IntN(len(live))
					block := live[at]
					live[at] = live[len(live)-1]
					live = live[:len(live)-1]
					if err := pool.Free(block.address, block.bytes, stream); err != nil {
						t.Fatal(step, err)
					}
					if err := model.Free(block.address, block.bytes, stream); err != nil {
						t.Fatal(step, err)
					}
					continue
				}
				bytes := sizes(random)
				got, err := pool.Allocate(bytes, stream)
				if want, _ := model.Allocate(bytes, stream); err != nil || got != want {
					t.Fatalf("step %d: %#x %v, model %#x", step, got, err, want)
				}
				live = append(live, benchBlock{got, bytes})
			}
			if err := audit(&pool.books); err != nil {
				t.Fatal(err)
			}
		})
	}
}
