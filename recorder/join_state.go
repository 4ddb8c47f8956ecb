package recorder

import "errors"

// ErrStateTooLarge says that the parts of a state hold more than a reader keeps
// of one. They are dropped; what was known before stays.
var ErrStateTooLarge = errors.New("a state that was cut in parts does not end; wait for the next state")

// maxJoined is what the parts of a state may take together, bytes.
const maxJoined = 48 << 20

// StateJoiner puts the parts of a state together again. The zero value is
// ready. It belongs to one goroutine.
type StateJoiner struct {
	parts []*State
	taken int64
}

// Add takes a state. It returns the whole state with the last of its parts, nil
// before that; a state that was not cut is returned as it is. A part without
// its beginning is passed over.
func (j *StateJoiner) Add(part *State) (*State, error) {
	if !part.Continued {
		j.drop()
	} else if len(j.parts) == 0 {
		return nil, nil
	}
	if !part.More && len(j.parts) == 0 {
		return part, nil
	}
	j.taken += part.memory()
	if j.taken > maxJoined {
		j.drop()
		return nil, ErrStateTooLarge
	}
	j.parts = append(j.parts, part)
	if part.More {
		return nil, nil
	}
	whole := joinStates(j.parts)
	j.drop()
	return whole, nil
}

func (j *StateJoiner) drop() { j.parts, j.taken = nil, 0 }

// memory is about what the state takes, bytes.
func (s *State) memory() int64 {
	const entry, row, block, param = 1024, 88, 64, 64
	taken := int64(entry * (1 + len(s.Arenas) + len(s.Pools) + len(s.NonArena)/16))
	for i := range s.Arenas {
		a := &s.Arenas[i]
		taken += int64(8*len(a.Marks) + row*(len(a.Open)+len(a.Tree.Parent)+len(a.Abandoned.Parent)))
		for _, sets := range [][]ParamSet{a.Tree.Params, a.Abandoned.Params} {
			for _, set := range sets {
				taken += int64(param * (1 + len(set.Params)))
			}
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		taken += int64(block * (len(p.Blocks.Address) + len(p.Segments.Address) + len(p.Generations)))
	}
	return taken
}

// joinStates makes one state of parts.
func joinStates(parts []*State) *State {
	whole := *parts[0]
	whole.More, whole.Arenas, whole.Pools, whole.NonArena = false, nil, nil, nil
	arenas, pools := map[int64][]*ArenaState{}, map[int64][]*PoolState{}
	var arenaOrder, poolOrder []int64
	for _, part := range parts {
		whole.NonArena = append(whole.NonArena, part.NonArena...)
		for i := range part.Arenas {
			entry := &part.Arenas[i]
			if len(arenas[entry.ID]) == 0 {
				arenaOrder = append(arenaOrder, entry.ID)
			}
			arenas[entry.ID] = append(arenas[entry.ID], entry)
		}
		for i := range part.Pools {
			entry := &part.Pools[i]
			if len(pools[entry.ID]) == 0 {
				poolOrder = append(poolOrder, entry.ID)
			}
			pools[entry.ID] = append(pools[entry.ID], entry)
		}
	}
	for _, id := range arenaOrder {
		whole.Arenas = append(whole.Arenas, joinArena(arenas[id]))
	}
	for _, id := range poolOrder {
		whole.Pools = append(whole.Pools, joinPool(pools[id]))
	}
	return &whole
}

func joinArena(entries []*ArenaState) ArenaState {
	whole := *entries[0]
	if len(entries) == 1 {
		return whole
	}
	whole.Marks, whole.Open = nil, nil
	trees, abandoned := make([]*TreeColumns, len(entries)), make([]*TreeColumns, len(entries))
	for i, entry := range entries {
		whole.Marks = append(whole.Marks, entry.Marks...)
		whole.Open = append(whole.Open, entry.Open...)
		trees[i], abandoned[i] = &entry.Tree, &entry.Abandoned
	}
	whole.Tree, whole.Abandoned = joinTree(trees), joinTree(abandoned)
	return whole
}

func joinTree(parts []*TreeColumns) TreeColumns {
	length := func(t *TreeColumns) int { return len(t.Parent) }
	whole := TreeColumns{
		Parent:      joinColumn(parts, length, func(t *TreeColumns) []int32 { return t.Parent }),
		Name:        joinColumn(parts, length, func(t *TreeColumns) []uint32 { return t.Name }),
		Count:       joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.Count }),
		Open:        joinColumn(parts, length, func(t *TreeColumns) []int32 { return t.Open }),
		Unclosed:    joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.Unclosed }),
		AllocCount:  joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.AllocCount }),
		SelfBytes:   joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.SelfBytes }),
		Peak:        joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.Peak }),
		PeakForward: joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.PeakForward }),
		PeakReverse: joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.PeakReverse }),
		PeakNs:      joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.PeakNs }),
		PeakFrame:   joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.PeakFrame }),
		PeakBound:   joinColumn(parts, length, func(t *TreeColumns) []int64 { return t.PeakBound }),
	}
	for _, part := range parts {
		whole.Params = append(whole.Params, part.Params...)
	}
	return whole
}

func joinPool(entries []*PoolState) PoolState {
	whole := *entries[0]
	if len(entries) == 1 {
		return whole
	}
	segments, blocks := make([]*SegmentColumns, len(entries)), make([]*BlockColumns, len(entries))
	whole.Generations = nil
	for i, entry := range entries {
		segments[i], blocks[i] = &entry.Segments, &entry.Blocks
		whole.Generations = append(whole.Generations, entry.Generations...)
	}
	ofSegment := func(s *SegmentColumns) int { return len(s.Address) }
	whole.Segments = SegmentColumns{
		Address: joinColumn(segments, ofSegment, func(s *SegmentColumns) []string { return s.Address }),
		Bytes:   joinColumn(segments, ofSegment, func(s *SegmentColumns) []int64 { return s.Bytes }),
	}
	ofBlock := func(b *BlockColumns) int { return len(b.Address) }
	whole.Blocks = BlockColumns{
		Address:   joinColumn(blocks, ofBlock, func(b *BlockColumns) []string { return b.Address }),
		Bytes:     joinColumn(blocks, ofBlock, func(b *BlockColumns) []int64 { return b.Bytes }),
		Requested: joinColumn(blocks, ofBlock, func(b *BlockColumns) []int64 { return b.Requested }),
		Stream:    joinColumn(blocks, ofBlock, func(b *BlockColumns) []uint32 { return b.Stream }),
		Live:      joinColumn(blocks, ofBlock, func(b *BlockColumns) []uint8 { return b.Live }),
	}
	return whole
}

// joinColumn puts one column of all parts together. A part that left it out has
// zeros there; if all did, it stays left out.
func joinColumn[P, T any](parts []*P, length func(*P) int, column func(*P) []T) []T {
	total, held := 0, false
	for _, part := range parts {
		total += length(part)
		held = held || len(column(part)) > 0
	}
	if !held {
		return nil
	}
	joined := make([]T, total)
	at := 0
	for _, part := range parts {
		copy(joined[at:], column(part))
		at += length(part)
	}
	return joined
}
