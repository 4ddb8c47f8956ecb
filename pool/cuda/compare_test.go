//go:build cuda && linux && cgo

package cuda

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
)

// compareVariable names the file that the figures go to. h200/compare.py sets it
// and puts those of other allocators beside them.
const compareVariable = "VRAMSCOPE_COMPARE"

// What every allocator of the comparison holds while it is measured.
const (
	compareLive = 10_000
	compareFree = 5_000
	frameBlocks = 8 // allocations of one frame
)

var compareSizes = []int64{1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 1 << 30}

// comparison is what compare.py reads.
type comparison struct {
	Device       Device
	ContextBytes int64
	Pairs        map[string][]figure // by allocator, one for each size
	Frames       map[string]figure   // by allocator: frameBlocks allocations of 1 MiB and their end
	Holds        map[string]holding  // by allocator: what it says it holds and what the driver says
	Trace        []replay
}

// figure is the median of batches.
type figure struct {
	Bytes   int64
	Ns      float64
	Objects float64 // of Go's heap, by operation
}

// holding is a claim and the driver's word for it, in bytes.
type holding struct {
	Claimed, Driver, Segments int64
}

// allocator is what pools, the linear list and the driver share here.
type allocator interface {
	Allocate(bytes int64, stream pool.Stream) (pool.Address, error)
	Free(address pool.Address, bytes int64, stream pool.Stream) error
}

// direct is the driver without a pool.
type direct struct{ *Context }

func (d direct) Allocate(bytes int64, _ pool.Stream) (pool.Address, error) {
	return d.Context.Allocate(bytes)
}

func (d direct) Free(address pool.Address, bytes int64, _ pool.Stream) error {
	return d.Context.Free(address, bytes)
}

// TestCompare measures where it is asked to, over the GPU of this machine.
func TestCompare(t *testing.T) {
	path := os.Getenv(compareVariable)
	if path == "" {
		t.Skip(compareVariable + " names no file")
	}
	c := open(t, Options{})
	result := compare(t, c, os.Getenv("VRAMSCOPE_COMPARE_TRACE"), 1)
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestComparisonRuns makes sure that there is something to read before a GPU is
// used for it.
func TestComparisonRuns(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{Memory: 128 << 30}) == nil {
		return
	}
	c := open(t, Options{})
	before := free(t, c)
	result := compare(t, c, "", 100)
	for name, figures := range result.Pairs {
		if len(figures) != len(compareSizes) {
			t.Errorf("%s has %d figures", name, len(figures))
		}
		for _, figure := range figures {
			if figure.Ns <= 0 {
				t.Errorf("%s: %+v", name, figure)
			}
		}
	}
	for name, held := range result.Holds {
		if difference := held.Driver - held.Claimed; difference < 0 || difference > granularity*max(1, held.Segments) {
			t.Errorf("%s claims %d bytes and the driver misses %d", name, held.Claimed, held.Driver)
		}
	}
	if after := free(t, c); after != before {
		t.Errorf("%d of %d bytes are free again", after, before)
	}
}

// compare measures every allocator of this program over one device. hurry divides
// how often everything is done.
func compare(t *testing.T, c *Context, trace string, hurry int) comparison {
	result := comparison{
		Device: c.Device(), ContextBytes: c.ContextBytes(),
		Pairs: map[string][]figure{}, Frames: map[string]figure{}, Holds: map[string]holding{},
	}
	newPool := func() allocator { return must(pool.NewPool(c, pool.PoolOptions{})) }
	newCaching := func() allocator { return must(pool.NewCachingPool(c, pool.CachingPoolOptions{})) }
	newTiered := func() allocator {
		return must(pool.NewTiered(pool.Options{Upstream: c, Tier: pool.TierB, LookupEnv: noEnvironment}))
	}
	for _, candidate := range []struct {
		name  string
		make  func() allocator
		pairs int // in a batch
	}{
		{"Pool", newPool, 20_000},
		{"tier B over Pool", newTiered, 20_000},
		{"CachingPool", newCaching, 20_000},
		{"linear list in Go", func() allocator { return newLinearList(c) }, 500},
		{"cuMemAlloc", func() allocator { return direct{c} }, 10},
	} {
		a := candidate.make()
		before := free(t, c)
		live := fragment(t, a, (compareLive+compareFree)/hurry)
		if s, ok := a.(pool.Suballocator); ok {
			usage := s.Usage()
			result.Holds[candidate.name] = holding{usage.Reserved, before - free(t, c), int64(usage.Segments)}
			// A free block beside the rest of its segment is joined with it.
			if usage.LiveBlocks != compareLive/hurry || usage.FreeBlocks < compareFree/hurry*9/10 {
				t.Errorf("%s: %d live and %d free blocks", candidate.name, usage.LiveBlocks, usage.FreeBlocks)
			}
		}
		pairs := max(2, candidate.pairs/hurry)
		for _, bytes := range compareSizes {
			result.Pairs[candidate.name] = append(result.Pairs[candidate.name], timePairs(t, a, bytes, pairs))
		}
		result.Frames[candidate.name] = timeBatches(pairs/4+1, func() { poolFrame(t, a) })
		for _, block := range live {
			release(t, a, block)
		}
		giveBack(t, a)
	}
	result.Frames["arena"] = timeArena(t, c, 20_000/hurry)
	if trace != "" {
		result.Trace = replayTrace(t, c, trace)
	}
	return result
}

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

type compareBlock struct {
	address pool.Address
	bytes   int64
}

// fragment brings an allocator to its live and free blocks: sizes spread evenly
// over the powers of two from 256 bytes to 8 MiB, every third freed again, so that
// no two free ones touch. compare.py does the same.
func fragment(t *testing.T, a allocator, blocks int) []compareBlock {
	random := rand.New(rand.NewPCG(1, 2))
	var live, gone []compareBlock
	for i := range blocks {
		bits := random.IntN(15)
		block := compareBlock{bytes: 256<<bits + random.Int64N(256<<bits)}
		var err error
		if block.address, err = a.Allocate(block.bytes, 0); err != nil {
			t.Fatal(err)
		}
		if i%3 == 1 {
			gone = append(gone, block)
		} else {
			live = append(live, block)
		}
	}
	for _, block := range gone {
		release(t, a, block)
	}
	return live
}

func release(t *testing.T, a allocator, block compareBlock) {
	if err := a.Free(block.address, block.bytes, 0); err != nil {
		t.Fatal(err)
	}
}

// giveBack closes what can be closed.
func giveBack(t *testing.T, a allocator) {
	if closer, ok := a.(interface{ Close() error }); ok {
		if _, driver := a.(direct); driver {
			return
		}
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// timePairs is one allocation and its free.
func timePairs(t *testing.T, a allocator, bytes int64, pairs int) figure {
	f := timeBatches(pairs, func() {
		address, err := a.Allocate(bytes, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Free(address, bytes, 0); err != nil {
			t.Fatal(err)
		}
	})
	f.Bytes = bytes
	return f
}

// poolFrame is a frame's blocks taken and given back one by one.
func poolFrame(t *testing.T, a allocator) {
	var blocks [frameBlocks]pool.Address
	for i := range blocks {
		address, err := a.Allocate(mebibyte, 0)
		if err != nil {
			t.Fatal(err)
		}
		blocks[i] = address
	}
	for _, address := range blocks {
		if err := a.Free(address, mebibyte, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// timeArena is the same frame in an arena over one buffer: a scope, a mark, the
// allocations, and one restore for all of them.
func timeArena(t *testing.T, c *Context, frames int) figure {
	const length = 1 << 30
	buffer, err := c.Allocate(length)
	if err != nil {
		t.Fatal(err)
	}
	a, err := arena.New(arena.Config{Bytes: length, Base: uint64(buffer)})
	if err != nil {
		t.Fatal(err)
	}
	figure := timeBatches(frames, func() {
		scope := a.Scope("frame", arena.Int("number", 1))
		a.Mark()
		for range frameBlocks {
			if _, err := a.Alloc(mebibyte, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Restore(); err != nil {
			t.Fatal(err)
		}
		scope.End()
	})
	if err := c.Free(buffer, length); err != nil {
		t.Fatal(err)
	}
	return figure
}

// timeBatches does something n times in each of fifteen batches, after one that
// does not count.
func timeBatches(n int, once func()) figure {
	const batches = 15
	for range n {
		once()
	}
	var before, after runtime.MemStats
	times := make([]float64, batches)
	runtime.ReadMemStats(&before)
	for i := range times {
		start := time.Now()
		for range n {
			once()
		}
		times[i] = float64(time.Since(start).Nanoseconds()) / float64(n)
	}
	runtime.ReadMemStats(&after)
	slices.Sort(times)
	return figure{Ns: times[batches/2], Objects: float64(after.Mallocs-before.Mallocs) / float64(n*batches)}
}
