package pool

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// orderingUpstream knows how far each stream has waited for each other, as a
// device does: seen[s][t] is up to which piece of t's work s comes after.
type orderingUpstream struct {
	boundedUpstream
	work  map[Stream]int
	seen  map[[2]Stream]int
	calls int
	fail  error
}

func newOrderingUpstream(capacity int64) *orderingUpstream {
	return &orderingUpstream{
		boundedUpstream: boundedUpstream{capacity: capacity},
		work:            make(map[Stream]int),
		seen:            make(map[[2]Stream]int),
	}
}

func (u *orderingUpstream) OrderStreams(stream, after Stream) error {
	u.calls++
	if u.fail != nil {
		return u.fail
	}
	u.see(stream, after, u.work[after])
	for pair, piece := range u.seen { // what after waited for, stream waits for
		if pair[0] == after {
			u.see(stream, pair[1], piece)
		}
	}
	return nil
}

func (u *orderingUpstream) see(stream, after Stream, piece int) {
	u.seen[[2]Stream{stream, after}] = max(u.seen[[2]Stream{stream, after}], piece)
}

// use is a piece of work on a stream.
func (u *orderingUpstream) use(stream Stream) int {
	u.work[stream]++
	u.see(stream, stream, u.work[stream])
	return u.work[stream]
}

// Whatever happens, no stream is given memory that another may still be working
// on: every byte's last work comes before.
func TestStreamsAreOrderedBeforeTheyShareMemory(t *testing.T) {
	type lastWork struct {
		stream Stream
		piece  int
	}
	rapid.Check(t, func(t *rapid.T) {
		upstream := newOrderingUpstream(64 << 10)
		p, err := NewPool(upstream, PoolOptions{InitialSize: 8 << 10})
		if err != nil {
			t.Fatal(err)
		}
		type handedOut struct {
			linearBlock
			stream Stream
		}
		var live []handedOut
		last := make(map[Address]lastWork) // by 256 bytes
		streams := rapid.Uint32Range(0, 3)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				at := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				block := live[at]
				if err := p.Free(block.address, block.size, block.stream); err != nil {
					t.Fatal(err)
				}
				live = slices.Delete(live, at, at+1)
				continue
			}
			stream := Stream(streams.Draw(t, "stream"))
			bytes := rapid.Int64Range(1, 4<<10).Draw(t, "bytes")
			address, err := p.Allocate(bytes, stream)
			if isOutOfMemory(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for at := address; at < address+Address(bytes); at += 256 {
				earlier, used := last[at]
				if seen := upstream.seen[[2]Stream{stream, earlier.stream}]; used && seen < earlier.piece {
					t.Fatalf("stream %d got %#x, where stream %d did its work %d; it has waited for %d",
						stream, at, earlier.stream, earlier.piece, seen)
				}
			}
			piece := upstream.use(stream)
			for at := address; at < address+Address(bytes); at += 256 {
				last[at] = lastWork{stream, piece}
			}
			live = append(live, handedOut{linearBlock{address, bytes}, stream})
		}
	})
}

// A stream's own blocks need no order: the device keeps it.
func TestOwnBlocksAskForNoOrder(t *testing.T) {
	upstream := newOrderingUpstream(1 << 20)
	p, err := NewPool(upstream, PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		address, err := p.Allocate(4096, 7)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Free(address, 4096, 7); err != nil {
			t.Fatal(err)
		}
	}
	if upstream.calls != 0 {
		t.Errorf("%d orders for blocks of one stream", upstream.calls)
	}
}

// Where the streams cannot be ordered the block is not handed out, and is not
// lost either.
func TestFailedOrderHandsNothingOut(t *testing.T) {
	broken := errors.New("the device is lost")
	for _, merge := range []bool{false, true} {
		upstream := newOrderingUpstream(2048)
		p, err := NewPool(upstream, PoolOptions{InitialSize: 2048})
		if err != nil {
			t.Fatal(err)
		}
		asked := int64(1024)
		if merge { // two halves in two lists: no list has the whole
			var halves [2]Address
			for i := range halves {
				if halves[i], err = p.Allocate(1024, 0); err != nil {
					t.Fatal(err)
				}
			}
			for i, address := range halves {
				if err := p.Free(address, 1024, Stream(i+1)); err != nil {
					t.Fatal(err)
				}
			}
			asked = 2048
		}
		upstream.fail = broken
		if _, err := p.Allocate(asked, 1); !errors.Is(err, broken) {
			t.Fatalf("merge %v: %v", merge, err)
		}
		if usage := p.Usage(); usage.LiveBlocks != 0 || usage.Free != 2048 {
			t.Errorf("merge %v: %d live blocks, %d bytes free", merge, usage.LiveBlocks, usage.Free)
		}
		upstream.fail = nil
		if _, err := p.Allocate(asked, 1); err != nil {
			t.Errorf("merge %v: afterwards: %v", merge, err)
		}
	}
}
