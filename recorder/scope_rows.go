package recorder

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"vramscope/arena"
)

// rowsPerChunk is how many rows share their memory. It is small, so that a
// change of one row copies little, and large enough that a snapshot of a big
// tree copies few pointers.
const rowsPerChunk = 64

// rowChunk is the columns of rowsPerChunk rows. It is written only by a
// scopeRows whose generation is its owner; snapshots share it with everybody
// else.
type rowChunk struct {
	owner       uint64
	parent      [rowsPerChunk]int32 // -1 under the root
	firstChild  [rowsPerChunk]int32 // -1 none
	lastChild   [rowsPerChunk]int32
	nextSibling [rowsPerChunk]int32
	depth       [rowsPerChunk]int32 // 1 under the root
	open        [rowsPerChunk]int32
	name        [rowsPerChunk]uint32
	sums        [rowsPerChunk]rowSums
	peaks       [rowsPerChunk]rowPeaks
	params      [rowsPerChunk]*paramBlock
}

// rowSums is what adds up over the scopes of a row.
type rowSums struct {
	count, unclosed, allocs int64
	self, total             int64 // bytes
}

func (s *rowSums) add(other rowSums) {
	s.count += other.count
	s.unclosed += other.unclosed
	s.allocs += other.allocs
	s.self += other.self
	s.total += other.total
}

func (s rowSums) minus(other rowSums) rowSums {
	return rowSums{
		count: s.count - other.count, unclosed: s.unclosed - other.unclosed, allocs: s.allocs - other.allocs,
		self: s.self - other.self, total: s.total - other.total,
	}
}

// rowPeaks is what has its maximum over the scopes of a row, in bytes, and
// when and in which frame the simultaneous one was reached.
type rowPeaks struct {
	both, forward, reverse int64
	ns, frame              int64
	bound                  int64 // the most that both can have been, where moves were not seen; 0 where all were
}

// raise takes other in: each peak is the larger of the two, the earlier one
// where they are equal.
func (p *rowPeaks) raise(other rowPeaks) {
	p.forward = max(p.forward, other.forward)
	p.reverse = max(p.reverse, other.reverse)
	p.bound = max(p.bound, other.bound)
	if other.both > p.both {
		p.both, p.ns, p.frame = other.both, other.ns, other.frame
	}
}

// paramBlock is the parameters last seen on a row. Like a chunk it has an
// owner.
type paramBlock struct {
	owner  uint64
	params []arena.Param
}

// scopeRows is a growing tree of merged scopes in chunked columns, parents
// before children. Its owner changes it; view gives out what is there at that
// moment, and chunks that do not change after that are shared.
type scopeRows struct {
	limits     TreeLimits
	chunks     []*rowChunk
	rows       int
	ordinary   int // rows that are not folded ones
	generation uint64
	firstTop   int32 // first row under the root, -1 none
	lastTop    int32
	index      []int32 // open hash of (parent, name): row+1, 0 for an empty cell
	seed       uint64
	paramBytes int64
	merged     []arena.Param // scratch

	published []*rowChunk // chunks as the last view holds them
	changed   bool        // since then
}

// newScopeRows returns an empty tree.
func newScopeRows(limits TreeLimits) scopeRows {
	return scopeRows{limits: limits, generation: 1, firstTop: -1, lastTop: -1, seed: rand.Uint64(), changed: true}
}

// view is an immutable picture of the tree. A later change copies the chunk it
// touches.
func (t *scopeRows) view() rowsView {
	if t.changed {
		t.published = slices.Clone(t.chunks)
		t.changed = false
		t.generation++
	}
	return rowsView{chunks: t.published, rows: t.rows, firstTop: t.firstTop}
}

// rowsView is an immutable picture of a tree.
type rowsView struct {
	chunks   []*rowChunk
	rows     int
	firstTop int32
}

// read is the chunk and place of a row, not to be written.
func (t *scopeRows) read(row int32) (*rowChunk, int) {
	return t.chunks[row/rowsPerChunk], int(row % rowsPerChunk)
}

// write is the chunk and place of a row, to be written: a copy, if a view
// shares it.
func (t *scopeRows) write(row int32) (*rowChunk, int) {
	at := row / rowsPerChunk
	chunk := t.chunks[at]
	if chunk.owner != t.generation {
		fresh := new(rowChunk)
		*fresh = *chunk
		fresh.owner = t.generation
		t.chunks[at] = fresh
		t.changed = true
		chunk = fresh
	}
	return chunk, int(row % rowsPerChunk)
}

// child is the row of scopes of that name under parent (-1 for the root), made
// if there is none. Beyond the limits it is a row named FoldedName under the
// same parent, and folded says so; a folded row is its own child.
func (t *scopeRows) child(parent int32, name uint32) (row int32, folded bool) {
	depth := int32(0)
	if parent >= 0 {
		chunk, at := t.read(parent)
		if chunk.name[at] == FoldedName {
			return parent, true
		}
		depth = chunk.depth[at]
	}
	if row, known := t.find(parent, name); known {
		return row, name == FoldedName
	}
	if name != FoldedName && t.ordinary < t.limits.Rows && int(depth) < t.limits.Depth {
		t.ordinary++
		return t.add(parent, depth+1, name), false
	}
	if row, known := t.find(parent, FoldedName); known {
		return row, true
	}
	return t.add(parent, depth+1, FoldedName), true
}

// add appends a row.
func (t *scopeRows) add(parent, depth int32, name uint32) int32 {
	row := int32(t.rows)
	if t.rows%rowsPerChunk == 0 {
		t.chunks = append(t.chunks, &rowChunk{owner: t.generation})
	}
	t.rows++
	t.changed = true
	chunk, at := t.write(row)
	chunk.parent[at], chunk.depth[at], chunk.name[at], chunk.open[at] = parent, depth, name, 0
	chunk.firstChild[at], chunk.lastChild[at], chunk.nextSibling[at] = -1, -1, -1
	chunk.sums[at], chunk.peaks[at] = rowSums{}, rowPeaks{frame: -1}
	chunk.params[at] = nil
	t.link(parent, row)
	t.insert(row)
	return row
}

// link puts a row behind its parent's last child.
func (t *scopeRows) link(parent, row int32) {
	last := t.lastTop
	if parent >= 0 {
		chunk, at := t.write(parent)
		last = chunk.lastChild[at]
		chunk.lastChild[at] = row
		if last < 0 {
			chunk.firstChild[at] = row
		}
	} else {
		t.lastTop = row
		if last < 0 {
			t.firstTop = row
		}
	}
	if last >= 0 {
		chunk, at := t.write(last)
		chunk.nextSibling[at] = row
	}
}

// truncate takes the rows from n on away. Whoever calls it mends the parents
// that stay with unlink.
func (t *scopeRows) truncate(n int) {
	for row := int32(t.rows) - 1; int(row) >= n; row-- {
		t.remove(row)
		chunk, at := t.read(row)
		if chunk.name[at] != FoldedName {
			t.ordinary--
		}
		if block := chunk.params[at]; block != nil {
			t.paramBytes -= paramsSize(block.params)
		}
	}
	if n < t.rows {
		t.changed = true
	}
	t.rows = n
	kept := (n + rowsPerChunk - 1) / rowsPerChunk
	clear(t.chunks[kept:])
	t.chunks = t.chunks[:kept]
}

// unlink makes last (-1 for none) the last child of parent again.
func (t *scopeRows) unlink(parent, last int32) {
	if parent >= 0 {
		if chunk, at := t.read(parent); chunk.lastChild[at] == last {
			return
		}
		chunk, at := t.write(parent)
		chunk.lastChild[at] = last
		if last < 0 {
			chunk.firstChild[at] = -1
		}
	} else {
		t.lastTop = last
		if last < 0 {
			t.firstTop = -1
		}
	}
	if last >= 0 {
		chunk, at := t.write(last)
		chunk.nextSibling[at] = -1
	}
}

// mergeParams takes params into those last seen on a row: the last value of a
// name counts.
func (t *scopeRows) mergeParams(row int32, params []arena.Param) {
	if len(params) == 0 {
		return
	}
	chunk, at := t.read(row)
	block := chunk.params[at]
	var held []arena.Param
	if block != nil {
		held = block.params
	}
	t.merged = mergeParams(append(t.merged[:0], held...), params)
	grown := paramsSize(t.merged) - paramsSize(held)
	if slices.Equal(held, t.merged) || t.paramBytes+grown > t.limits.ParamBytes {
		return
	}
	t.paramBytes += grown
	chunk, at = t.write(row)
	if block == nil || block.owner != t.generation {
		block = &paramBlock{owner: t.generation}
		chunk.params[at] = block
	}
	block.params = append(block.params[:0], t.merged...)
}

// MaxParams is the most parameters that a scope keeps; further ones are left
// out.
const MaxParams = 64

// mergeParams takes added into params: the last one of a name counts.
func mergeParams(params, added []arena.Param) []arena.Param {
	for _, param := range added {
		at := slices.IndexFunc(params, func(p arena.Param) bool { return p.Name == param.Name })
		switch {
		case at >= 0:
			params[at] = param
		case len(params) < MaxParams:
			params = append(params, param)
		}
	}
	return params
}

// paramsSize is the memory that parameters take, in bytes.
func paramsSize(params []arena.Param) int64 {
	const fixed = 64 // an arena.Param on a 64-bit machine
	size := int64(0)
	for i := range params {
		size += fixed + int64(len(params[i].Name)+len(params[i].Text))
	}
	return size
}

// find looks a row up by its parent and name.
func (t *scopeRows) find(parent int32, name uint32) (int32, bool) {
	if len(t.index) == 0 {
		return 0, false
	}
	mask := uint32(len(t.index) - 1)
	for cell := t.hash(parent, name) & mask; ; cell = (cell + 1) & mask {
		row := t.index[cell] - 1
		if row < 0 {
			return 0, false
		}
		chunk, at := t.read(row)
		if chunk.parent[at] == parent && chunk.name[at] == name {
			return row, true
		}
	}
}

// insert puts a row into the index, which is kept at most half full.
func (t *scopeRows) insert(row int32) {
	if 2*t.rows > len(t.index) {
		t.index = make([]int32, max(2*len(t.index), 64))
		for r := range int32(t.rows) {
			t.place(r)
		}
		return
	}
	t.place(row)
}

func (t *scopeRows) place(row int32) {
	mask := uint32(len(t.index) - 1)
	chunk, at := t.read(row)
	cell := t.hash(chunk.parent[at], chunk.name[at]) & mask
	for t.index[cell] != 0 {
		cell = (cell + 1) & mask
	}
	t.index[cell] = row + 1
}

// remove takes a row out of the index and moves rows behind it that a search
// would no longer reach.
func (t *scopeRows) remove(row int32) {
	mask := uint32(len(t.index) - 1)
	chunk, at := t.read(row)
	hole := t.hash(chunk.parent[at], chunk.name[at]) & mask
	for t.index[hole] != row+1 {
		hole = (hole + 1) & mask
	}
	for cell := (hole + 1) & mask; t.index[cell] != 0; cell = (cell + 1) & mask {
		chunk, at := t.read(t.index[cell] - 1)
		home := t.hash(chunk.parent[at], chunk.name[at]) & mask
		if (cell-home)&mask >= (cell-hole)&mask {
			t.index[hole] = t.index[cell]
			hole = cell
		}
	}
	t.index[hole] = 0
}

// hash mixes a key with the tree's seed, so that no file can choose rows that
// collide.
func (t *scopeRows) hash(parent int32, name uint32) uint32 {
	high, low := bits.Mul64(uint64(uint32(parent))<<32|uint64(name)^t.seed, t.seed|0x9e3779b97f4a7c15)
	return uint32(high ^ low ^ low>>32)
}
