package recorder

import (
	"fmt"
)

// TreeError says what is wrong with the tree of an ArenaState. The arena's
// pointers and facts can still be shown.
type TreeError struct {
	Arena  int64
	Row    int    // the first row that is wrong, -1 for the tree as a whole
	Reason string // what it should have been
}

// Error states the fact and ends with what to do.
func (e *TreeError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("the scope tree of arena %d is broken: %s; wait for the next state", e.Arena, e.Reason)
	}
	return fmt.Sprintf("row %d of the scope tree of arena %d is broken: %s; wait for the next state", e.Row, e.Arena, e.Reason)
}

// FillState writes the tree, the open scopes, the abandoned scopes and the
// pointers into the state of the arena. Columns that hold nothing but zeros are
// filled like the others.
func (s *ScopeSnapshot) FillState(state *ArenaState) {
	state.Length, state.Forward, state.Reverse = s.length, s.forward, s.reverse
	state.HighWater = s.highWater
	state.Root = s.root
	state.Open = s.open
	state.Tree = s.columns()
	state.Abandoned = s.Abandoned().columns()
	state.Folded = s.folded
}

// columns is the tree as it stands in a state.
func (s *ScopeSnapshot) columns() TreeColumns {
	if s.rows == 0 {
		return TreeColumns{}
	}
	columns := makeTreeColumns(s.rows)
	for row := range int32(s.rows) {
		chunk, at := s.chunk(row)
		sums, peaks := &chunk.sums[at], &chunk.peaks[at]
		columns.Parent[row], columns.Name[row], columns.Open[row] = chunk.parent[at], chunk.name[at], chunk.open[at]
		columns.Count[row], columns.Unclosed[row] = sums.count, sums.unclosed
		columns.AllocCount[row], columns.SelfBytes[row] = sums.allocs, sums.self
		columns.Peak[row], columns.PeakForward[row], columns.PeakReverse[row] = peaks.both, peaks.forward, peaks.reverse
		columns.PeakNs[row], columns.PeakFrame[row], columns.PeakBound[row] = peaks.ns, peaks.frame, peaks.bound
		if params := s.Params(row); len(params) > 0 {
			columns.Params = append(columns.Params, ParamSet{Row: row, Params: params})
		}
	}
	return columns
}

// makeTreeColumns returns columns of n rows of zeros.
func makeTreeColumns(n int) TreeColumns {
	numbers := make([]int64, 10*n)
	column := func() []int64 {
		taken := numbers[:n:n]
		numbers = numbers[n:]
		return taken
	}
	return TreeColumns{
		Parent: make([]int32, n), Name: make([]uint32, n), Open: make([]int32, n),
		Count: column(), Unclosed: column(), AllocCount: column(), SelfBytes: column(),
		Peak: column(), PeakForward: column(), PeakReverse: column(), PeakNs: column(), PeakFrame: column(),
		PeakBound: column(),
	}
}

// LoadScopeTree builds the tree that a state describes, to be carried on with
// the events that follow it. The error is a *TreeError.
//
// What the outermost open scope had counted before the state cannot be told
// from what was counted in its rows before it. If the arena is reset before
// that scope closes, only what came after the state moves to the abandoned
// scopes; the state that follows such a reset has it right.
func LoadScopeTree(state *ArenaState, limits TreeLimits) (*ScopeTree, error) {
	t := NewScopeTree(limits)
	t.setLength(state.Length)
	t.forward, t.reverse, t.highWater = state.Forward, state.Reverse, state.HighWater
	t.root.sums = rowSums{allocs: state.Root.AllocCount, self: state.Root.SelfBytes}
	t.root.peaks = rowPeaks{
		both: state.Root.Peak, forward: state.Root.PeakForward, ns: state.Root.PeakNs, frame: state.Root.PeakFrame,
		bound: state.Root.PeakBound,
	}
	if t.root.peaks.both == 0 {
		t.root.peaks.frame = -1
	}
	rows, err := t.rows.load(state.ID, &state.Tree, &t.folded)
	if err != nil {
		return nil, err
	}
	if _, err := t.abandoned.load(state.ID, &state.Abandoned, &t.folded); err != nil {
		return nil, err
	}
	t.folded = max(t.folded, state.Folded)
	t.beginEpoch()
	if err := t.loadOpen(state, rows); err != nil {
		return nil, err
	}
	return t, nil
}

// load adds the rows of columns. It returns where each of them went.
func (t *scopeRows) load(id int64, columns *TreeColumns, folded *int64) ([]int32, error) {
	n := len(columns.Parent)
	if !columns.fits(n) {
		return nil, &TreeError{Arena: id, Row: -1, Reason: "its columns differ in length"}
	}
	rows := make([]int32, n)
	for i := range n {
		parent := columns.Parent[i]
		if parent < -1 || int(parent) >= i {
			return nil, &TreeError{Arena: id, Row: i, Reason: fmt.Sprintf("its parent %d does not stand before it", parent)}
		}
		if parent >= 0 {
			parent = rows[parent]
		}
		row, isFolded := t.child(parent, at(columns.Name, i))
		if isFolded && at(columns.Name, i) != FoldedName {
			*folded += at(columns.Count, i)
		}
		rows[i] = row
		sums := rowSums{
			count: at(columns.Count, i), unclosed: at(columns.Unclosed, i), allocs: at(columns.AllocCount, i),
			self: at(columns.SelfBytes, i),
		}
		if row == parent {
			sums.allocs = 0
		}
		chunk, place := t.write(row)
		chunk.sums[place].add(sums)
		chunk.peaks[place].raise(rowPeaks{
			both: at(columns.Peak, i), forward: at(columns.PeakForward, i), reverse: at(columns.PeakReverse, i),
			ns: at(columns.PeakNs, i), frame: at(columns.PeakFrame, i), bound: at(columns.PeakBound, i),
		})
	}
	for _, set := range columns.Params {
		if set.Row < 0 || int(set.Row) >= n {
			return nil, &TreeError{Arena: id, Row: int(set.Row), Reason: "it has parameters and is not there"}
		}
		t.mergeParams(rows[set.Row], set.Params)
	}
	t.addUpTotals()
	return rows, nil
}

// addUpTotals works the totals out from what stands in the rows themselves.
func (t *scopeRows) addUpTotals() {
	for row := int32(t.rows) - 1; row >= 0; row-- {
		chunk, at := t.write(row)
		chunk.sums[at].total += chunk.sums[at].self
		if parent := chunk.parent[at]; parent >= 0 {
			above, place := t.write(parent)
			above.sums[place].total += chunk.sums[at].total
		}
	}
}

// loadOpen rebuilds the stack of open scopes, which must be a path in the tree.
func (t *ScopeTree) loadOpen(state *ArenaState, rows []int32) error {
	for i := range state.Open {
		open := &state.Open[i]
		if open.Node < 0 || int(open.Node) >= len(rows) {
			return &TreeError{Arena: state.ID, Row: int(open.Node), Reason: "it is open and not there"}
		}
		outer := &t.stack[len(t.stack)-1]
		row := rows[open.Node]
		chunk, at := t.rows.write(row)
		if chunk.parent[at] != outer.row && (row != outer.row || chunk.name[at] != FoldedName) {
			return &TreeError{Arena: state.ID, Row: int(open.Node), Reason: "it is open inside a scope that is not above it"}
		}
		if open.Number <= outer.number {
			return &TreeError{Arena: state.ID, Row: int(open.Node), Reason: "it is open inside a scope that was opened later"}
		}
		t.shadowLoaded(row)
		chunk.open[at]++
		t.stack = append(t.stack, openScope{})
		scope := &t.stack[len(t.stack)-1]
		scope.begin(open.Number, row, open.EntryForward, open.EntryReverse, open.Opened)
		if open.PeakBound > 0 {
			scope.bound = open.PeakBound
		}
		if open.Peak > 0 || open.PeakForward > 0 || open.PeakReverse > 0 {
			scope.peak, scope.peakForward, scope.peakReverse = open.Peak, open.PeakForward, open.PeakReverse
			scope.peakNs, scope.peakFrame = chunk.peaks[at].ns, chunk.peaks[at].frame
		}
	}
	return nil
}

// shadowLoaded keeps a row as it was before its open scope, as far as a state
// tells: without that scope.
func (t *ScopeTree) shadowLoaded(row int32) {
	if t.shadowOfRow(row) == nil {
		t.shadow(row)
	}
	t.shadowOfRow(row).sums.count--
}

// fits says whether every column has n rows or is left out, which stands for
// zeros.
func (c *TreeColumns) fits(n int) bool {
	for _, length := range []int{
		len(c.Name), len(c.Count), len(c.Open), len(c.Unclosed), len(c.AllocCount), len(c.SelfBytes), len(c.Peak),
		len(c.PeakForward), len(c.PeakReverse), len(c.PeakNs), len(c.PeakFrame), len(c.PeakBound),
	} {
		if length != n && length != 0 {
			return false
		}
	}
	return true
}

// at is an element of a column, 0 where the column is left out.
func at[T int32 | uint32 | int64](column []T, i int) T {
	if len(column) == 0 {
		return 0
	}
	return column[i]
}
