package recorder

import (
	"iter"

	"vramscope/arena"
)

// ScopeSnapshot is an immutable picture of a ScopeTree. Snapshots of one tree
// share what did not change between them. Rows are numbered from 0, parents
// before their children; -1 stands for the root and for no row. A row keeps its
// number until the arena is reset with scopes open.
type ScopeSnapshot struct {
	rowsView
	abandoned *ScopeSnapshot
	open      []OpenScope
	root      RootTotals
	length    int64
	forward   int64
	reverse   int64
	highWater int64
	folded    int64
	bound     int64 // see Unheard
}

// ScopeRow is the numbers of one row. Bytes are as TreeColumns says.
type ScopeRow struct {
	Parent      int32  // -1 under the root
	Depth       int32  // 1 under the root
	Name        uint32 // string number
	Open        int32  // scopes still open
	Count       int64  // scopes merged into the row
	Unclosed    int64  // of these, unwound implicitly: their exit is not known
	AllocCount  int64  // scopes inside included
	SelfBytes   int64
	TotalBytes  int64 // scopes inside included
	Peak        int64 // simultaneous, above entry
	PeakForward int64
	PeakReverse int64
	PeakNs      int64 // when Peak was set
	PeakFrame   int64 // -1 unknown
	PeakBound   int64 // see TreeColumns
	Params      []arena.Param
}

// PeakIsLeast says that Peak is a lower bound: the pointers may have gone up and
// come back while nobody looked.
func (r *ScopeRow) PeakIsLeast() bool { return r.PeakBound > r.Peak }

// CountIsLeast says the same of AllocCount, SelfBytes and TotalBytes: what is not
// told by events is counted by how far the pointers moved.
func (r *ScopeRow) CountIsLeast() bool { return r.PeakBound > 0 }

// Snapshot is the tree at this moment. It costs what has changed since the last
// one, not what the tree holds.
func (t *ScopeTree) Snapshot() *ScopeSnapshot {
	t.settle()
	snapshot := &ScopeSnapshot{
		rowsView:  t.rows.view(),
		abandoned: &ScopeSnapshot{rowsView: t.abandoned.view(), root: RootTotals{PeakFrame: -1}},
		root: RootTotals{
			AllocCount: t.root.sums.allocs, SelfBytes: t.root.sums.self,
			Peak: t.root.peaks.both, PeakForward: t.root.peaks.forward,
			PeakNs: t.root.peaks.ns, PeakFrame: t.root.peaks.frame, PeakBound: t.root.peaks.bound,
		},
		length: t.length, forward: t.forward, reverse: t.reverse, highWater: t.highWater, folded: t.folded,
	}
	if len(t.stack) > 1 {
		snapshot.open = make([]OpenScope, 0, len(t.stack)-1)
	}
	for i := range t.stack[1:] {
		scope := &t.stack[i+1]
		peaks := scope.peaks()
		snapshot.open = append(snapshot.open, OpenScope{
			Number: scope.number, Node: scope.row, EntryForward: scope.entryForward, EntryReverse: scope.entryReverse,
			PeakForward: peaks.forward, PeakReverse: peaks.reverse, Peak: peaks.both, PeakBound: peaks.bound,
			Opened: scope.opened,
		})
	}
	return snapshot
}

// EmptyScopeSnapshot is the picture of a tree that has no rows.
var EmptyScopeSnapshot = NewScopeTree(TreeLimits{}).Snapshot()

// Len is the number of rows.
func (s *ScopeSnapshot) Len() int { return s.rows }

// Row is all numbers of a row.
func (s *ScopeSnapshot) Row(row int32) ScopeRow {
	chunk, at := s.chunk(row)
	sums, peaks := &chunk.sums[at], &chunk.peaks[at]
	return ScopeRow{
		Parent: chunk.parent[at], Depth: chunk.depth[at], Name: chunk.name[at], Open: chunk.open[at],
		Count: sums.count, Unclosed: sums.unclosed, AllocCount: sums.allocs, SelfBytes: sums.self, TotalBytes: sums.total,
		Peak: peaks.both, PeakForward: peaks.forward, PeakReverse: peaks.reverse, PeakNs: peaks.ns, PeakFrame: peaks.frame,
		PeakBound: max(peaks.bound, s.bound), Params: s.Params(row),
	}
}

// Parent is the row above, -1 under the root.
func (s *ScopeSnapshot) Parent(row int32) int32 {
	chunk, at := s.chunk(row)
	return chunk.parent[at]
}

// Depth is 1 for a row under the root.
func (s *ScopeSnapshot) Depth(row int32) int32 {
	chunk, at := s.chunk(row)
	return chunk.depth[at]
}

// Name is the row's string number.
func (s *ScopeSnapshot) Name(row int32) uint32 {
	chunk, at := s.chunk(row)
	return chunk.name[at]
}

// Count is the scopes that are merged into the row.
func (s *ScopeSnapshot) Count(row int32) int64 {
	chunk, at := s.chunk(row)
	return chunk.sums[at].count
}

// AllocCount is the allocations of the row, of the scopes inside too.
func (s *ScopeSnapshot) AllocCount(row int32) int64 {
	chunk, at := s.chunk(row)
	return chunk.sums[at].allocs
}

// SelfBytes is the bytes asked for in the row itself.
func (s *ScopeSnapshot) SelfBytes(row int32) int64 {
	chunk, at := s.chunk(row)
	return chunk.sums[at].self
}

// TotalBytes is the bytes asked for in the row and in the scopes inside.
func (s *ScopeSnapshot) TotalBytes(row int32) int64 {
	chunk, at := s.chunk(row)
	return chunk.sums[at].total
}

// Peak is the row's simultaneous peak above its entry, bytes.
func (s *ScopeSnapshot) Peak(row int32) int64 {
	chunk, at := s.chunk(row)
	return chunk.peaks[at].both
}

// Params is the parameters last seen on a row. The slice must not be changed.
func (s *ScopeSnapshot) Params(row int32) []arena.Param {
	chunk, at := s.chunk(row)
	if block := chunk.params[at]; block != nil {
		return block.params
	}
	return nil
}

// IsOpen says whether a scope of the row is open.
func (s *ScopeSnapshot) IsOpen(row int32) bool {
	chunk, at := s.chunk(row)
	return chunk.open[at] > 0
}

// Live is what is in the row's open scope now, on both sides, in bytes:
// forward - entry + entry - reverse. known is false for a row that has no open
// scope.
func (s *ScopeSnapshot) Live(row int32) (bytes int64, known bool) {
	for i := range s.open {
		if open := &s.open[i]; open.Node == row {
			return s.forward - open.EntryForward + open.EntryReverse - s.reverse, true
		}
	}
	return 0, false
}

// FirstChild is the first row under a row, in the order in which they were
// first opened; -1 if there is none. FirstChild(-1) is the first one under the
// root.
func (s *ScopeSnapshot) FirstChild(row int32) int32 {
	if row < 0 {
		return s.firstTop
	}
	chunk, at := s.chunk(row)
	return chunk.firstChild[at]
}

// NextSibling is the next row under the same parent, -1 if there is none.
func (s *ScopeSnapshot) NextSibling(row int32) int32 {
	chunk, at := s.chunk(row)
	return chunk.nextSibling[at]
}

// Children yields the rows under a row (-1: under the root), in the order in
// which they were first opened.
func (s *ScopeSnapshot) Children(row int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for child := s.FirstChild(row); child >= 0; child = s.NextSibling(child) {
			if !yield(child) {
				return
			}
		}
	}
}

// Path is the names from the outermost scope down to row, as string numbers.
func (s *ScopeSnapshot) Path(row int32) []uint32 {
	if row < 0 {
		return nil
	}
	path := make([]uint32, s.Depth(row))
	for at := len(path) - 1; at >= 0; at-- {
		path[at] = s.Name(row)
		row = s.Parent(row)
	}
	return path
}

// Open is the open scopes, outermost first. The slice must not be changed.
func (s *ScopeSnapshot) Open() []OpenScope { return s.open }

// Innermost is the row of the innermost open scope, -1 if none is open.
func (s *ScopeSnapshot) Innermost() int32 {
	if len(s.open) == 0 {
		return -1
	}
	return s.open[len(s.open)-1].Node
}

// Root is what the arena counted over its life, in scopes and outside of them.
func (s *ScopeSnapshot) Root() RootTotals { return s.root }

// Unheard is the same picture of an arena of whose events not all were told, in
// which so many bytes were in use at the most: what it counts are lower bounds.
func (s *ScopeSnapshot) Unheard(used int64) *ScopeSnapshot {
	unheard := *s
	unheard.bound = max(s.bound, used)
	unheard.root.PeakBound = max(s.root.PeakBound, unheard.bound)
	unheard.open = make([]OpenScope, len(s.open))
	for i, open := range s.open {
		open.PeakBound = max(open.PeakBound, unheard.bound)
		unheard.open[i] = open
	}
	return &unheard
}

// Abandoned is the tree of the scopes that were open when the arena was reset.
// Nothing is open in it.
func (s *ScopeSnapshot) Abandoned() *ScopeSnapshot {
	if s.abandoned == nil {
		return EmptyScopeSnapshot
	}
	return s.abandoned
}

// Pointers is the arena's forward and reverse pointer, bytes from its start.
func (s *ScopeSnapshot) Pointers() (forward, reverse int64) { return s.forward, s.reverse }

// HighWater is the largest forward + (length-reverse) after an allocation since
// the last reset, bytes.
func (s *ScopeSnapshot) HighWater() int64 { return s.highWater }

// Folded is how many scopes were counted in rows named FoldedName because the
// tree's bounds were reached.
func (s *ScopeSnapshot) Folded() int64 { return s.folded }

// Changed yields the stretches [from, to) of rows that may differ from those of
// an earlier snapshot of the same tree (nil: all of them). A view that keeps an
// order of rows looks at these alone.
func (s *ScopeSnapshot) Changed(earlier *ScopeSnapshot) iter.Seq2[int32, int32] {
	return func(yield func(int32, int32) bool) {
		for i, chunk := range s.chunks {
			if earlier != nil && i < len(earlier.chunks) && earlier.chunks[i] == chunk && s.rows == earlier.rows {
				continue
			}
			from := i * rowsPerChunk
			if !yield(int32(from), int32(min(from+rowsPerChunk, s.rows))) {
				return
			}
		}
	}
}

// chunk is the chunk and place of a row.
func (s *ScopeSnapshot) chunk(row int32) (*rowChunk, int) {
	return s.chunks[row/rowsPerChunk], int(row % rowsPerChunk)
}
