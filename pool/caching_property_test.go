package pool

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// linearCaching states the rules of CuPy's MemoryPool on a plain list of
// chunks: the model of CachingPool.
type linearCaching struct {
	upstream Upstream
	limit    int64
	total    int64
	chunks   []linearChunk // by address; chunks of one upstream block lie side by side
}

type linearChunk struct {
	address Address
	size    int64
	stream  Stream
	live    bool
	block   Address // the upstream block that it is a part of
}

func (p *linearCaching) Allocate(bytes int64, stream Stream) (Address, error) {
	if bytes == 0 {
		return 0, nil
	}
	size := (bytes + 511) / 512 * 512
	best := -1
	for i, c := range p.chunks {
		if !c.live && c.stream == stream && c.size >= size && (best < 0 || c.size < p.chunks[best].size) {
			best = i
		}
	}
	if best < 0 {
		address, err := p.fetch(size)
		if err != nil {
			return 0, err
		}
		best = len(p.chunks) // addresses ascend
		p.chunks = append(p.chunks, linearChunk{address, size, stream, false, address})
	}
	chunk := &p.chunks[best]
	chunk.live = true
	if rest := chunk.size - size; rest > 0 {
		chunk.size = size
		p.chunks = slices.Insert(p.chunks, best+1,
			linearChunk{chunk.address + Address(size), rest, stream, false, chunk.block})
	}
	return p.chunks[best].address, nil
}

func (p *linearCaching) fetch(size int64) (Address, error) {
	if p.limit > 0 && p.total+size > p.limit {
		return 0, errors.New("limit")
	}
	p.total += size
	address, err := p.upstream.Allocate(size)
	if err != nil {
		p.release()
		address, err = p.upstream.Allocate(size)
	}
	if err != nil {
		p.release()
		address, err = p.upstream.Allocate(size)
	}
	if err != nil {
		p.total -= size
	}
	return address, err
}

func (p *linearCaching) Free(address Address) {
	at := slices.IndexFunc(p.chunks, func(c linearChunk) bool { return c.address == address })
	p.chunks[at].live = false
	p.join(at)
	p.join(at - 1)
}

// join makes one chunk of two that are free and lie in one upstream block.
func (p *linearCaching) join(at int) {
	if at < 0 || at+1 >= len(p.chunks) {
		return
	}
	low, high := &p.chunks[at], p.chunks[at+1]
	if !low.live && !high.live && low.block == high.block {
		low.size += high.size
		p.chunks = slices.Delete(p.chunks, at+1, at+2)
	}
}

// release gives back the chunks that are all of their upstream block.
func (p *linearCaching) release() {
	parts := map[Address]int{}
	for _, c := range p.chunks {
		parts[c.block]++
	}
	p.chunks = slices.DeleteFunc(p.chunks, func(c linearChunk) bool {
		if c.live || parts[c.block] > 1 {
			return false
		}
		p.total -= c.size
		return p.upstream.Free(c.address, c.size) == nil
	})
}

// Over several streams, with a limit and an upstream that fills up, every
// answer of CachingPool is that of the plain list.
func TestCachingPoolAnswersLikeTheLinearList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.SampledFrom([]int64{1 << 40, 1 << 20, 100_000}).Draw(t, "capacity")
		limit := rapid.SampledFrom([]int64{0, 0, 300_000}).Draw(t, "limit")
		failEvery := rapid.SampledFrom([]int{0, 0, 2, 5}).Draw(t, "failEvery")
		upstream := &boundedUpstream{capacity: capacity, failEvery: failEvery}
		modelUpstream := &boundedUpstream{capacity: capacity, failEvery: failEvery}
		var events eventSums
		pool, err := NewCachingPool(upstream, CachingPoolOptions{Limit: limit, Observer: &events})
		if err != nil {
			t.Fatal(err)
		}
		model := &linearCaching{upstream: modelUpstream, limit: limit}
		var live []benchBlock
		allocate := func(t *rapid.T) {
			stream := Stream(rapid.IntRange(0, 2).Draw(t, "stream"))
			bytes := rapid.OneOf(rapid.Int64Range(0, 3000), rapid.Int64Range(1, 100_000)).Draw(t, "bytes")
			got, err := pool.Allocate(bytes, stream)
			want, modelErr := model.Allocate(bytes, stream)
			if got != want || (err == nil) != (modelErr == nil) {
				t.Fatalf("allocate %d on %d: %#x %v, model %#x %v", bytes, stream, got, err, want, modelErr)
			}
			if err == nil && bytes > 0 {
				live = append(live, benchBlock{got, bytes})
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate":      allocate,
			"allocateAgain": allocate,
			"free": func(t *rapid.T) {
				if len(live) == 0 {
					return
				}
				at := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				if err := pool.Free(live[at].address, live[at].bytes, 9); err != nil {
					t.Fatal(err)
				}
				model.Free(live[at].address)
				live = slices.Delete(live, at, at+1)
			},
			"release": func(t *rapid.T) {
				if _, err := pool.ReleaseFreeSegments(); err != nil {
					t.Fatal(err)
				}
				model.release()
			},
			"": func(t *rapid.T) {
				if err := audit(&pool.books); err != nil {
					t.Fatal(err)
				}
				usage := pool.Usage()
				if usage.Reserved != model.total || !slices.Equal(upstream.requests, modelUpstream.requests) {
					t.Fatalf("%+v, model %d; asked %v, model %v", usage, model.total, upstream.requests, modelUpstream.requests)
				}
				if err := events.compare(usage); err != nil {
					t.Fatal(err)
				}
				_, blocks := pool.Layout()
				if len(blocks) != len(model.chunks) {
					t.Fatalf("%d blocks, model %d", len(blocks), len(model.chunks))
				}
				for i, c := range model.chunks {
					if b := blocks[i]; b.Address != c.address || b.Bytes != c.size || b.Stream != c.stream || b.Live != c.live {
						t.Fatalf("block %+v, model %+v", b, c)
					}
				}
			},
		})
	})
}
