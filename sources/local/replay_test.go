package local

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vramscope/pool"
	"vramscope/recorder"
)

// Whoever follows the events alone stands where the states say.
func TestEventsLeadToTheStates(t *testing.T) {
	_, records := recorded(t, Options{Seed: 3, Frames: 120})
	trees := map[int64]*recorder.ScopeTree{}
	blocks := newFollowedPool()
	compared := 0
	for _, record := range records {
		switch r := record.(type) {
		case *recorder.ArenaEvents:
			if trees[r.Arena] == nil {
				trees[r.Arena] = recorder.NewScopeTree(recorder.TreeLimits{})
			}
			trees[r.Arena].ObserveBatch(r)
		case *recorder.PoolEvents:
			blocks.follow(t, r)
		case *recorder.State:
			if r.Continued || r.More {
				t.Fatal("a state of the demo does not fit a line: join it here")
			}
			for i := range r.Arenas {
				if tree := trees[r.Arenas[i].ID]; tree != nil {
					compareArena(t, tree, &r.Arenas[i])
					compared++
				}
			}
			if compared > 0 {
				blocks.compare(t, &r.Pools[0])
			}
		}
	}
	if compared < 5 {
		t.Errorf("%d states were compared", compared)
	}
}

func compareArena(t *testing.T, tree *recorder.ScopeTree, want *recorder.ArenaState) {
	t.Helper()
	got := *want
	tree.Snapshot().FillState(&got)
	if diff := cmp.Diff(*want, got, cmpopts.EquateEmpty(), zeroColumns()); diff != "" {
		t.Fatalf("arena %d by its events (+) and by its state (-):\n%s", want.ID, diff)
	}
}

// zeroColumns takes a column of zeros for one that was left out, as the wire
// does.
func zeroColumns() cmp.Option {
	return cmp.Options{transformZeros[int32](), transformZeros[int64](), transformZeros[uint32]()}
}

func transformZeros[N int32 | int64 | uint32]() cmp.Option {
	onlyZeros := func(column []N) bool {
		for _, n := range column {
			if n != 0 {
				return false
			}
		}
		return true
	}
	return cmp.FilterValues(func(x, y []N) bool { return onlyZeros(x) && onlyZeros(y) }, cmp.Ignore())
}

// followedPool is a pool as its events tell it.
type followedPool struct {
	segments map[string]int64
	live     map[string]int64
}

func newFollowedPool() *followedPool {
	return &followedPool{segments: map[string]int64{}, live: map[string]int64{}}
}

func (p *followedPool) follow(t *testing.T, batch *recorder.PoolEvents) {
	t.Helper()
	for i, op := range batch.Op {
		address := recorder.FormatAddress(batch.Address[i])
		switch op {
		case pool.OpSegment:
			p.segments[address] = batch.Bytes[i]
		case pool.OpSegmentFree:
			if p.segments[address] != batch.Bytes[i] {
				t.Fatalf("a segment of %d bytes goes back that has %d", batch.Bytes[i], p.segments[address])
			}
			delete(p.segments, address)
		case pool.OpAlloc:
			if _, taken := p.live[address]; taken {
				t.Fatalf("%s is handed out twice", address)
			}
			p.live[address] = batch.Bytes[i]
		case pool.OpFree:
			if p.live[address] != batch.Bytes[i] {
				t.Fatalf("%s comes back with %d bytes and had %d", address, batch.Bytes[i], p.live[address])
			}
			delete(p.live, address)
		case pool.OpRebuild:
			clear(p.segments)
			clear(p.live)
		}
	}
}

func (p *followedPool) compare(t *testing.T, state *recorder.PoolState) {
	t.Helper()
	segments, live := map[string]int64{}, map[string]int64{}
	for i, address := range state.Segments.Address {
		segments[address] = state.Segments.Bytes[i]
	}
	for i, address := range state.Blocks.Address {
		if len(state.Blocks.Live) > 0 && state.Blocks.Live[i] == 1 {
			live[address] = state.Blocks.Bytes[i]
		}
	}
	if diff := cmp.Diff(segments, p.segments); diff != "" {
		t.Fatalf("segments by events (+) and by state (-):\n%s", diff)
	}
	if diff := cmp.Diff(live, p.live); diff != "" {
		t.Fatalf("live blocks by events (+) and by state (-):\n%s", diff)
	}
}
