package recorder

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vramscope/arena"
)

// through writes the parts of a state, reads them and joins them.
func through(t interface{ Fatal(...any) }, state *State) (*State, int) {
	var joiner StateJoiner
	parts := SplitState(state)
	for i, part := range parts {
		record, err := DecodeLine([]byte(mustLine(t, part)))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := joiner.Add(record.(*State))
		if err != nil {
			t.Fatal(err)
		}
		if (whole != nil) != (i == len(parts)-1) {
			t.Fatal("whole after part ", i, " of ", len(parts))
		}
		if whole != nil {
			return whole, len(parts)
		}
	}
	t.Fatal("no part")
	return nil, 0
}

func TestSplitStateJoinsAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := &State{}
		fillRandom(t, reflectElem(state))
		state.Continued, state.More = false, false
		// Entries of one ID are joined, so that IDs must differ.
		for i := range state.Arenas {
			state.Arenas[i].ID = int64(i)
		}
		for i := range state.Pools {
			state.Pools[i].ID = int64(i)
		}
		whole, _ := through(t, state)
		if diff := cmp.Diff(string(appendGeneric(nil, state)), string(appendGeneric(nil, whole))); diff != "" {
			t.Fatalf("(-cut +joined):\n%s", diff)
		}
	})
}

func TestHugeStatesAreCut(t *testing.T) {
	tree, _ := bigTree(100_000)
	state := &State{Head: Head{Src: "pid:1", Ns: 5}, Recording: true}
	for id := range int64(2) {
		arenaState := ArenaState{ID: id, Name: "frame"}
		tree.Snapshot().FillState(&arenaState)
		for row := range int32(500) {
			arenaState.Tree.Params = append(arenaState.Tree.Params, ParamSet{Row: row * 7, Params: []arena.Param{arena.Text("x", strings.Repeat("\x01", MaxParamText))}})
		}
		for range 1000 {
			arenaState.Marks = append(arenaState.Marks, math.MinInt64)
		}
		state.Arenas = append(state.Arenas, arenaState)
	}
	pool := PoolState{ID: 9, Name: "pool"}
	for i := range 100_000 {
		pool.Blocks.Address = append(pool.Blocks.Address, FormatAddress(math.MaxUint64))
		pool.Blocks.Bytes = append(pool.Blocks.Bytes, math.MinInt64)
		pool.Blocks.Requested = append(pool.Blocks.Requested, int64(i))
		pool.Blocks.Stream = append(pool.Blocks.Stream, math.MaxUint32)
		pool.Blocks.Live = append(pool.Blocks.Live, uint8(i%2))
	}
	for i := range 10_000 {
		pool.Segments.Address = append(pool.Segments.Address, FormatAddress(uint64(i)))
		pool.Segments.Bytes = append(pool.Segments.Bytes, int64(i))
		pool.Generations = append(pool.Generations, PoolGeneration{Generation: i, Ended: math.MinInt64})
	}
	state.Pools = append(state.Pools, pool)
	for i := range 5000 {
		state.NonArena = append(state.NonArena, NonArena{Name: fmt.Sprint("\x00 project ", i), InputBytes: 1, PeakBytes: 2})
	}
	whole, parts := through(t, state)
	if parts < 10 {
		t.Errorf("%d parts", parts)
	}
	if string(appendGeneric(nil, state)) != string(appendGeneric(nil, whole)) {
		t.Error("the joined state differs")
	}
	loaded, err := LoadScopeTree(&whole.Arenas[1], TreeLimits{})
	if err != nil || loaded.Snapshot().Len() != 100_000 {
		t.Errorf("the joined tree: %v", err)
	}
}

func TestJoinerTakesPartsAsTheyCome(t *testing.T) {
	var joiner StateJoiner
	add := func(part *State, want bool) {
		t.Helper()
		whole, err := joiner.Add(part)
		if err != nil || (whole != nil) != want {
			t.Fatalf("got %v, %v", whole, err)
		}
	}
	add(&State{Continued: true}, false)             // its beginning was lost
	add(&State{Continued: true, More: true}, false) // the same
	add(&State{More: true}, false)
	add(&State{}, true) // another state begins: the parts before are dropped
	add(&State{More: true}, false)
	add(&State{Continued: true, More: true}, false)
	add(&State{Continued: true}, true)
	add(&State{Continued: true}, false)
}

func TestJoinerIsBounded(t *testing.T) {
	var joiner StateJoiner
	part := &State{More: true, Arenas: []ArenaState{{Tree: TreeColumns{Parent: make([]int32, 100_000)}}}}
	for range 100 {
		if _, err := joiner.Add(part); errors.Is(err, ErrStateTooLarge) {
			return
		}
		part = &State{More: true, Continued: true, Arenas: part.Arenas}
	}
	t.Error("100 parts of 100,000 rows are held")
}

func TestParamsFit(t *testing.T) {
	short := []arena.Param{arena.Int("frames", 8)}
	if got := ParamsFit(short); &got[0] != &short[0] {
		t.Error("parameters that fit are copied")
	}
	long := make([]arena.Param, 100)
	for i := range long {
		long[i] = arena.Text(strings.Repeat("n", 1000), strings.Repeat("t", 1000))
	}
	got := ParamsFit(long)
	if len(got) != MaxParams || len(got[0].Name) != MaxParamName || len(got[0].Text) != MaxParamText || len(long[0].Name) != 1000 {
		t.Errorf("%d parameters, %d, %d", len(got), len(got[0].Name), len(got[0].Text))
	}
}
