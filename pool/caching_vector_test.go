package pool

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// cupyHistory is one recorded history of CuPy's MemoryPool on an H200.
type cupyHistory struct {
	UpstreamBlocks []int64   `json:"upstream_blocks"`
	Operations     []cupyRow `json:"operations"`
}

// cupyRow is one operation and what CuPy answered: the upstream block (by
// number, -1 for none) and the offset in it, and its counters afterwards.
type cupyRow struct {
	op            string // m: malloc(argument), f: free(number of the malloc), a: free_all_blocks
	argument      int64
	block, offset int64
	after         cupyCounters
}

func (r *cupyRow) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&r.op, &r.argument, &r.block, &r.offset,
		&r.after.used, &r.after.total, &r.after.free, &r.after.freeBlocks})
}

func readCupyHistories(t *testing.T) []cupyHistory {
	file, err := os.Open("testdata/cupy-pool.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Sequences []cupyHistory }
	if err := json.NewDecoder(unzipped).Decode(&recorded); err != nil {
		t.Fatal(err)
	}
	return recorded.Sequences
}

// All 10,000 recorded answers of CuPy's pool are given again: places, counters
// and sizes taken from upstream. Only where several free chunks have the best
// size, and CuPy's is one of them, CuPy's is taken.
func TestCachingPoolAnswersLikeCuPy(t *testing.T) {
	histories := readCupyHistories(t)
	rows, ties := 0, 0
	for number, history := range histories {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			replay := newCupyReplay(t)
			for i, row := range history.Operations {
				replay.do(row)
				if got := countersOf(replay.pool); got != row.after {
					t.Fatalf("row %d, %+v: %+v", i, row, got)
				}
				rows++
			}
			ties += replay.ties
			for i, bytes := range history.UpstreamBlocks {
				if replay.upstream.requests[i] != bytes {
					t.Errorf("upstream block %d has %d bytes, want %d", i, replay.upstream.requests[i], bytes)
				}
			}
			if len(replay.upstream.requests) != len(history.UpstreamBlocks) {
				t.Errorf("took %d upstream blocks, want %d", len(replay.upstream.requests), len(history.UpstreamBlocks))
			}
		})
	}
	if rows != 10_000 {
		t.Errorf("held %d rows", rows)
	}
	t.Logf("%d rows, %d with a choice", rows, ties)
}

// cupyReplay runs a recorded history on a CachingPool.
type cupyReplay struct {
	t        *testing.T
	upstream *boundedUpstream
	pool     *CachingPool
	heads    []Address // of the upstream blocks, in the order in which they were taken
	mallocs  []benchBlock
	ties     int
}

func newCupyReplay(t *testing.T) *cupyReplay {
	replay := &cupyReplay{t: t, upstream: &boundedUpstream{capacity: 1 << 50}}
	pool, err := NewCachingPool(replay.upstream, CachingPoolOptions{Observer: replay})
	if err != nil {
		t.Fatal(err)
	}
	replay.pool = pool
	return replay
}

// ObservePool numbers the upstream blocks.
func (r *cupyReplay) ObservePool(event Event) {
	if event.Op == OpSegment {
		r.heads = append(r.heads, event.Address)
	}
}

func (r *cupyReplay) do(row cupyRow) {
	switch row.op {
	case "m":
		r.malloc(row)
	case "f":
		block := r.mallocs[row.argument]
		freeOn(r.t, r.pool, block.address, block.bytes, 0)
	case "a":
		if _, err := r.pool.ReleaseFreeSegments(); err != nil {
			r.t.Fatal(err)
		}
	default:
		r.t.Fatalf("unknown operation %q", row.op)
	}
}

func (r *cupyReplay) malloc(row cupyRow) {
	address, err := r.pool.allocate(row.argument, 0, func(arena *freeList, best blockID) blockID {
		if row.block < 0 || row.block >= int64(len(r.heads)) {
			return best
		}
		return r.amongEquals(best, r.heads[row.block]+Address(row.offset))
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mallocs = append(r.mallocs, benchBlock{address, row.argument})
	if row.argument == 0 {
		return
	}
	if want := r.heads[row.block] + Address(row.offset); address != want {
		r.t.Fatalf("%+v: got %#x, want %#x", row, address, want)
	}
}

// amongEquals returns the free block at the recorded place where it has the
// best size, else the best one.
func (r *cupyReplay) amongEquals(best blockID, recorded Address) blockID {
	blocks := r.pool.books.blocks
	for id := range blocks {
		b := &blocks[id]
		if b.free() && b.address == recorded && b.size == blocks[best].size {
			if blockID(id) != best {
				r.ties++
			}
			return blockID(id)
		}
	}
	return best
}
