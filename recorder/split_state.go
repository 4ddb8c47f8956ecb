package recorder

import "vramscope/arena"

// Bounds of what parts of a state take on a line, in bytes.
const (
	wireInt     = len(`-9223372036854775808,`)
	wireTreeRow = 3*len(`4294967295,`) + 10*wireInt
	wireOpen    = 9*wireInt + len(`{"n":,"node":,"f":,"r":,"pf":,"pr":,"p":,"pm":,"ns":},`)
	wireSegment = len(`"0xffffffffffffffff",`) + wireInt
	wireBlock   = wireSegment + wireInt + len(`4294967295,1,`)
	wireGens    = 6*wireInt + 64
	wireEntry   = 2048 // keys and numbers of an arena or a pool
)

// SplitState cuts a state into records that fit a line each, so that
// StateJoiner gives the whole back. The parts share the state's columns. A
// state that fits is returned as it is.
func SplitState(state *State) []*State {
	c := stateCutter{state: state}
	c.begin()
	first := c.part
	first.Recording, first.Dropped, first.DroppedPeaks = state.Recording, state.Dropped, state.DroppedPeaks
	cut(&c, state.NonArena, func(n *NonArena) int { return maxEscape*len(n.Name) + 3*wireInt + 64 }, func(entries []NonArena) {
		c.part.NonArena = entries
	})
	for i := range state.Arenas {
		c.arena(&state.Arenas[i])
	}
	for i := range state.Pools {
		c.pool(&state.Pools[i])
	}
	return c.parts
}

// stateCutter fills one part after another.
type stateCutter struct {
	state *State
	parts []*State
	part  *State
	left  int // bytes that the part can still take
	// reopen makes an entry of the current arena or pool in a new part.
	reopen func()
}

// begin starts a part.
func (c *stateCutter) begin() {
	part := &State{Head: c.state.Head, Frame: c.state.Frame}
	if c.part != nil {
		c.part.More = true
		part.Continued = true
	}
	c.part = part
	c.parts = append(c.parts, part)
	c.left = MaxLine - lineReserve - maxEscape*len(part.Src)
	if c.reopen != nil {
		c.left -= wireEntry
		c.reopen()
	}
}

// need makes sure that n bytes fit into the part, or as many as a part has.
func (c *stateCutter) need(n int) {
	if c.left < n {
		c.begin()
	}
	c.left -= n
}

// cut hands rows out in runs that fit.
func cut[T any](c *stateCutter, rows []T, size func(*T) int, put func([]T)) {
	for from := 0; from < len(rows); {
		c.need(size(&rows[from]))
		to := from + 1
		for to < len(rows) && c.left >= size(&rows[to]) {
			c.left -= size(&rows[to])
			to++
		}
		put(rows[from:to:to])
		from = to
	}
}

// cutRows is the same for n rows of one size, in columns.
func (c *stateCutter) cutRows(n, size int, put func(from, to int)) {
	for from := 0; from < n; {
		c.need(size)
		to := min(n, from+1+c.left/size)
		c.left -= (to - from - 1) * size
		put(from, to)
		from = to
	}
}

// arena adds an arena.
func (c *stateCutter) arena(a *ArenaState) {
	c.reopen = nil
	c.need(wireEntry + maxEscape*(len(a.Name)+len(a.Job)+len(a.From)+len(a.Device)+len(a.Base)))
	entry := *a
	entry.Marks, entry.Open, entry.Tree, entry.Abandoned = nil, nil, TreeColumns{}, TreeColumns{}
	c.part.Arenas = append(c.part.Arenas, entry)
	c.reopen = func() { c.part.Arenas = append(c.part.Arenas, ArenaState{ID: a.ID}) }
	into := func() *ArenaState { return &c.part.Arenas[len(c.part.Arenas)-1] }
	cut(c, a.Marks, func(*int64) int { return wireInt }, func(marks []int64) { into().Marks = marks })
	cut(c, a.Open, func(*OpenScope) int { return wireOpen }, func(open []OpenScope) { into().Open = open })
	c.tree(&a.Tree, func() *TreeColumns { return &into().Tree })
	c.tree(&a.Abandoned, func() *TreeColumns { return &into().Abandoned })
	c.reopen = nil
}

// tree adds a tree to the current entry.
func (c *stateCutter) tree(t *TreeColumns, into func() *TreeColumns) {
	c.cutRows(len(t.Parent), wireTreeRow, func(from, to int) { *into() = t.slice(from, to) })
	cut(c, t.Params, func(set *ParamSet) int { return paramsWireBound(set.Params) + 32 }, func(sets []ParamSet) { into().Params = sets })
}

// slice is the rows [from, to) without their parameters.
func (t *TreeColumns) slice(from, to int) TreeColumns {
	return TreeColumns{
		Parent: rows(t.Parent, from, to), Name: rows(t.Name, from, to), Count: rows(t.Count, from, to),
		Open: rows(t.Open, from, to), Unclosed: rows(t.Unclosed, from, to), AllocCount: rows(t.AllocCount, from, to),
		SelfBytes: rows(t.SelfBytes, from, to), Peak: rows(t.Peak, from, to), PeakForward: rows(t.PeakForward, from, to),
		PeakReverse: rows(t.PeakReverse, from, to), PeakNs: rows(t.PeakNs, from, to), PeakFrame: rows(t.PeakFrame, from, to),
		PeakBound: rows(t.PeakBound, from, to),
	}
}

// rows is a stretch of a column, nil if the column was left out.
func rows[T any](column []T, from, to int) []T {
	if len(column) == 0 {
		return nil
	}
	return column[from:to:to]
}

// pool adds a pool.
func (c *stateCutter) pool(p *PoolState) {
	c.reopen = nil
	size := wireEntry + maxEscape*(len(p.Name)+len(p.Device)+len(p.Tier)+len(p.Why))
	for _, layer := range p.Stack {
		size += maxEscape*len(layer) + len(`"",`)
	}
	if p.Ladder != nil {
		size += maxEscape * len(p.Ladder.LastAction)
	}
	c.need(size)
	entry := *p
	entry.Segments, entry.Blocks, entry.Generations = SegmentColumns{}, BlockColumns{}, nil
	c.part.Pools = append(c.part.Pools, entry)
	c.reopen = func() { c.part.Pools = append(c.part.Pools, PoolState{ID: p.ID}) }
	into := func() *PoolState { return &c.part.Pools[len(c.part.Pools)-1] }
	s, b := &p.Segments, &p.Blocks
	c.cutRows(len(s.Address), wireSegment, func(from, to int) {
		into().Segments = SegmentColumns{Address: rows(s.Address, from, to), Bytes: rows(s.Bytes, from, to)}
	})
	c.cutRows(len(b.Address), wireBlock, func(from, to int) {
		into().Blocks = BlockColumns{
			Address: rows(b.Address, from, to), Bytes: rows(b.Bytes, from, to), Requested: rows(b.Requested, from, to),
			Stream: rows(b.Stream, from, to), Live: rows(b.Live, from, to),
		}
	})
	cut(c, p.Generations, func(*PoolGeneration) int { return wireGens }, func(gens []PoolGeneration) { into().Generations = gens })
	c.reopen = nil
}

// ParamsFit cuts parameters down to what a batch and a state can carry:
// MaxParams of them, with names of MaxParamName and texts of MaxParamText bytes.
// It returns params itself where nothing is too long.
func ParamsFit(params []arena.Param) []arena.Param {
	fit := len(params) <= MaxParams
	for i := range params {
		fit = fit && len(params[i].Name) <= MaxParamName && len(params[i].Text) <= MaxParamText
	}
	if fit {
		return params
	}
	short := make([]arena.Param, min(len(params), MaxParams))
	copy(short, params)
	for i := range short {
		short[i].Name = shortened(short[i].Name, MaxParamName)
		short[i].Text = shortened(short[i].Text, MaxParamText)
	}
	return short
}

// shortened is a text of at most limit bytes.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:limit-len(foldedText)] + foldedText
}
