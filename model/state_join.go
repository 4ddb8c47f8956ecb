package model

import "vramscope/recorder"

// join puts the parts of one moment's state together. It is not complete while
// more parts are to come, nor when a part has no beginning.
func (f *fold) join(part *recorder.State) (whole *recorder.State, complete bool) {
	switch {
	case !part.Continued && !part.More:
		f.joined = nil
		return part, true
	case !part.Continued:
		first := *part
		f.joined = &first
		return nil, false
	case f.joined == nil:
		f.problems.add("state", "a part came whose beginning is missing")
		return nil, false
	}
	joinStates(f.joined, part)
	if part.More {
		return nil, false
	}
	whole, f.joined = f.joined, nil
	return whole, true
}

// joinStates adds a part to those before it. Entries of one ID are joined column
// by column, and their other values are those of the first one.
func joinStates(whole, part *recorder.State) {
	whole.NonArena = append(whole.NonArena[:len(whole.NonArena):len(whole.NonArena)], part.NonArena...)
	arenas := append([]recorder.ArenaState(nil), whole.Arenas...)
	for i := range part.Arenas {
		// Parts follow one another, so that what is continued is the last entry.
		if n := len(arenas); n > 0 && arenas[n-1].ID == part.Arenas[i].ID {
			arenas[n-1].Open = append(arenas[n-1].Open[:len(arenas[n-1].Open):len(arenas[n-1].Open)], part.Arenas[i].Open...)
			joinTrees(&arenas[n-1].Tree, &part.Arenas[i].Tree)
			joinTrees(&arenas[n-1].Abandoned, &part.Arenas[i].Abandoned)
			continue
		}
		arenas = append(arenas, part.Arenas[i])
	}
	pools := append([]recorder.PoolState(nil), whole.Pools...)
	for i := range part.Pools {
		if n := len(pools); n > 0 && pools[n-1].ID == part.Pools[i].ID {
			joinPools(&pools[n-1], &part.Pools[i])
			continue
		}
		pools = append(pools, part.Pools[i])
	}
	whole.Arenas, whole.Pools = arenas, pools
}

func joinTrees(whole, part *recorder.TreeColumns) {
	n, m := len(whole.Parent), len(part.Parent)
	whole.Name = joinColumn(whole.Name, n, part.Name, m)
	whole.Open = joinColumn(whole.Open, n, part.Open, m)
	whole.Count = joinColumn(whole.Count, n, part.Count, m)
	whole.Unclosed = joinColumn(whole.Unclosed, n, part.Unclosed, m)
	whole.AllocCount = joinColumn(whole.AllocCount, n, part.AllocCount, m)
	whole.SelfBytes = joinColumn(whole.SelfBytes, n, part.SelfBytes, m)
	whole.Peak = joinColumn(whole.Peak, n, part.Peak, m)
	whole.PeakForward = joinColumn(whole.PeakForward, n, part.PeakForward, m)
	whole.PeakReverse = joinColumn(whole.PeakReverse, n, part.PeakReverse, m)
	whole.PeakNs = joinColumn(whole.PeakNs, n, part.PeakNs, m)
	whole.PeakFrame = joinColumn(whole.PeakFrame, n, part.PeakFrame, m)
	whole.Parent = joinColumn(whole.Parent, n, part.Parent, m)
	whole.Params = append(whole.Params[:len(whole.Params):len(whole.Params)], part.Params...)
}

func joinPools(whole, part *recorder.PoolState) {
	n, m := len(whole.Segments.Address), len(part.Segments.Address)
	whole.Segments.Bytes = joinColumn(whole.Segments.Bytes, n, part.Segments.Bytes, m)
	whole.Segments.Address = joinColumn(whole.Segments.Address, n, part.Segments.Address, m)
	blocks, more := &whole.Blocks, &part.Blocks
	n, m = len(blocks.Address), len(more.Address)
	blocks.Bytes = joinColumn(blocks.Bytes, n, more.Bytes, m)
	blocks.Requested = joinColumn(blocks.Requested, n, more.Requested, m)
	blocks.Stream = joinColumn(blocks.Stream, n, more.Stream, m)
	blocks.Live = joinColumn(blocks.Live, n, more.Live, m)
	blocks.Address = joinColumn(blocks.Address, n, more.Address, m)
}

// joinColumn joins a column of n rows with one of m. A column that was left out
// holds zeros.
func joinColumn[T any](whole []T, n int, part []T, m int) []T {
	if len(whole) == 0 && len(part) == 0 {
		return nil
	}
	if len(whole) < n {
		whole = append(whole, make([]T, n-len(whole))...)
	}
	if len(part) == 0 {
		return append(whole, make([]T, m)...)
	}
	return append(whole, part...)
}
