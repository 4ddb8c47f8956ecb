package pool

import (
	"math/rand/v2"
	"testing"
)

const (
	benchLive = 10_000
	benchFree = 5_000
)

// countingUpstream gives addresses without memory, so that a benchmark of the
// pool measures the pool.
type countingUpstream struct{ next Address }

func (*countingUpstream) Name() string                           { return "counting" }
func (*countingUpstream) Capabilities() Capabilities             { return Capabilities{Pool: true} }
func (*countingUpstream) MemoryInfo() (int64, int64, error)      { return 1 << 50, 1 << 50, nil }
func (*countingUpstream) AllocateManaged(int64) (Address, error) { return 0, ErrNotSupported }
func (*countingUpstream) Free(Address, int64) error              { return nil }
func (u *countingUpstream) Allocate(bytes int64) (Address, error) {
	if u.next == 0 {
		u.next = 1 << 40
	}
	address := u.next
	rounded, _ := roundUp(bytes, HostAlignment)
	u.next += Address(rounded)
	return address, nil
}

// randomSource makes histories that are the same in every run.
type randomSource = rand.Rand

func newRandom(seed uint64) *randomSource { return rand.New(rand.NewPCG(seed, 2)) }

// benchAllocator is the part that pools and the linear list share.
type benchAllocator interface {
	Allocate(bytes int64, stream Stream) (Address, error)
	Free(address Address, bytes int64, stream Stream) error
}

type benchBlock struct {
	address Address
	bytes   int64
}

// mixedSize is log-uniform from 256 bytes to 16 MiB, as a render's buffers
// are: many small ones, and every size its own.
func mixedSize(random *randomSource) int64 {
	bits := random.IntN(16)
	return 256<<bits + random.Int64N(256<<bits)
}

// fewSizes draws from eight sizes, as a frame loop does that asks for the same
// buffers over and over.
func fewSizes(random *randomSource) int64 { return 3000 << random.IntN(8) }

// fragment brings an allocator to the wished number of live and free blocks:
// live ones with gaps between, made by freeing blocks that do not touch.
func fragment(b *testing.B, allocator benchAllocator, size func(*randomSource) int64) ([]benchBlock, *randomSource) {
	random := newRandom(1)
	all := make([]benchBlock, benchLive+benchFree)
	for i := range all {
		bytes := size(random)
		address, err := allocator.Allocate(bytes, 0)
		if err != nil {
			b.Fatal(err)
		}
		all[i] = benchBlock{address, bytes}
	}
	live := all[:0]
	for i, block := range all {
		if i%3 != 1 {
			live = append(live, block)
			continue
		}
		if err := allocator.Free(block.address, block.bytes, 0); err != nil {
			b.Fatal(err)
		}
	}
	return live, random
}

// churn frees a random live block and allocates one of a new size, b.N times:
// one operation of the figures is one allocation and one free.
func churn(b *testing.B, allocator benchAllocator, size func(*randomSource) int64) {
	live, random := fragment(b, allocator, size)
	sizes := make([]int64, 1<<12) // few enough to leave the caches to the pool
	for i := range sizes {
		sizes[i] = size(random)
	}
	pick := uint64(1)
	step := func(i int) {
		pick = pick*6364136223846793005 + 1442695040888963407
		block := &live[pick>>32*uint64(len(live))>>32]
		if err := allocator.Free(block.address, block.bytes, 0); err != nil {
			b.Fatal(err)
		}
		block.bytes = sizes[i&0xfff]
		var err error
		if block.address, err = allocator.Allocate(block.bytes, 0); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 1 << 17 {
		if _, linear := allocator.(*linearPool); linear && i > 1<<12 {
			break
		}
		step(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		step(i)
	}
	b.StopTimer()
	if p, ok := allocator.(Suballocator); ok {
		b.ReportMetric(float64(p.Usage().FreeBlocks), "free-blocks")
	}
}

// hold allocates and frees one block at a time in a fragmented pool, so that
// the numbers of live and free blocks stand still.
func hold(b *testing.B, allocator benchAllocator, size func(*randomSource) int64) {
	_, random := fragment(b, allocator, size)
	sizes := make([]int64, 1<<12)
	for i := range sizes {
		sizes[i] = size(random)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		bytes := sizes[i&0xfff]
		address, err := allocator.Allocate(bytes, 0)
		if err != nil {
			b.Fatal(err)
		}
		if err := allocator.Free(address, bytes, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if p, ok := allocator.(Suballocator); ok {
		usage := p.Usage()
		b.ReportMetric(float64(usage.FreeBlocks), "free-blocks")
	}
}

func benchmarkAllocators(b *testing.B, run func(*testing.B, benchAllocator)) {
	b.Run("Pool", func(b *testing.B) {
		p, err := NewPool(&countingUpstream{}, PoolOptions{})
		if err != nil {
			b.Fatal(err)
		}
		run(b, p)
	})
	b.Run("CachingPool", func(b *testing.B) {
		p, err := NewCachingPool(&countingUpstream{}, CachingPoolOptions{})
		if err != nil {
			b.Fatal(err)
		}
		run(b, p)
	})
	b.Run("LinearList", func(b *testing.B) {
		p, err := newLinearPool(&countingUpstream{}, 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		run(b, p)
	})
}

// BenchmarkAllocFree is one allocation and one free with 10,000 live and 5,000
// free blocks of mixed sizes; the goal is 100 ns and no garbage.
func BenchmarkAllocFree(b *testing.B) {
	benchmarkAllocators(b, func(b *testing.B, a benchAllocator) { hold(b, a, mixedSize) })
}

// BenchmarkChurn is the same with a random live block freed and another
// allocated, so that the blocks touched are cold.
func BenchmarkChurn(b *testing.B) {
	benchmarkAllocators(b, func(b *testing.B, a benchAllocator) { churn(b, a, mixedSize) })
}

// BenchmarkChurnFewSizes is BenchmarkChurn over eight sizes: many free blocks
// are alike and the lowest address decides.
func BenchmarkChurnFewSizes(b *testing.B) {
	benchmarkAllocators(b, func(b *testing.B, a benchAllocator) { churn(b, a, fewSizes) })
}
