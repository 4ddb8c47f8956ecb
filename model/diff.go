package model

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// Change is what became of a scope between two moments or two recordings.
type Change uint8

// The changes.
const (
	ChangeNone Change = iota
	ChangeGrown
	ChangeShrunk
	ChangeNew
	ChangeGone
)

var changeNames = [...]string{"unchanged", "grown", "shrunk", "new", "gone"}

// String is the change in a word.
func (c Change) String() string { return changeNames[min(int(c), len(changeNames)-1)] }

// ScopeDiff is one path of two scope trees side by side. Where a tree has no such
// path its numbers are zero and Before or After is false.
type ScopeDiff struct {
	Name   string
	Parent int  // place in the list of the row above, -1 under the root
	Depth  int  // 0 under the root
	Before bool // the first tree has it
	After  bool // the second one has it

	CountBefore, CountAfter           int64 // scopes
	AllocCountBefore, AllocCountAfter int64 // scopes inside included
	SelfBefore, SelfAfter             int64 // bytes
	TotalBefore, TotalAfter           int64 // bytes, scopes inside included
	PeakBefore, PeakAfter             int64 // bytes, above entry
	BoundBefore, BoundAfter           int64 // the most that the peaks can have been, 0 where every move was seen
}

// PeaksAreLeast says which of the peaks are lower bounds: their difference is then
// not known.
func (d *ScopeDiff) PeaksAreLeast() (before, after bool) {
	return d.BoundBefore > d.PeakBefore, d.BoundAfter > d.PeakAfter
}

// DiffPath is the names from the outermost scope down to a row of a list.
func DiffPath(diffs []ScopeDiff, row int) []string {
	path := make([]string, diffs[row].Depth+1)
	for ; row >= 0; row = diffs[row].Parent {
		path[diffs[row].Depth] = diffs[row].Name
	}
	return path
}

// Change says what became of the scope, by its total bytes, or by its peak where
// those are the same.
func (d *ScopeDiff) Change() Change {
	switch {
	case !d.Before:
		return ChangeNew
	case !d.After:
		return ChangeGone
	}
	switch cmp.Or(cmp.Compare(d.TotalAfter, d.TotalBefore), cmp.Compare(d.PeakAfter, d.PeakBefore)) {
	case 1:
		return ChangeGrown
	case -1:
		return ChangeShrunk
	}
	return ChangeNone
}

// DiffScopes puts two scope trees side by side, path by path, parents before
// their children and siblings of the largest change in peak first. It serves two
// moments of one arena as well as arenas of two recordings. Abandoned scopes are
// left out.
func DiffScopes(before, after *ArenaView) []ScopeDiff {
	var d differ
	d.take(before, false)
	d.take(after, true)
	return d.ordered()
}

// differ joins trees by path.
type differ struct {
	diffs []ScopeDiff
	rows  map[diffKey]int // their places; nil until a row does not stand where it is expected
}

type diffKey struct {
	parent int
	name   string
}

func (d *differ) take(a *ArenaView, after bool) {
	if a == nil || a.Scopes == nil {
		return
	}
	d.diffs = slices.Grow(d.diffs, max(0, a.Scopes.Len()-len(d.diffs)))
	places := make([]int, a.Scopes.Len())
	for row := range int32(len(places)) {
		key := diffKey{parent: -1, name: a.strings.String(a.Scopes.Name(row))}
		depth := 0
		if up := a.Scopes.Parent(row); up >= 0 {
			key.parent = places[up]
			depth = d.diffs[key.parent].Depth + 1
		}
		place := d.place(key, int(row), after)
		if place == len(d.diffs) {
			d.diffs = append(d.diffs, ScopeDiff{Name: key.name, Parent: key.parent, Depth: depth})
			if d.rows != nil {
				d.rows[key] = place
			}
		}
		places[row] = place
		d.diffs[place].set(a.Scopes.Row(row), after)
	}
}

// place is where a path stands, one behind the last for a new one. The paths of
// one tree differ, and those of an earlier moment of it have the same rows as
// before: only where that does not hold, rows are looked up.
func (d *differ) place(key diffKey, row int, after bool) int {
	if !after {
		return len(d.diffs)
	}
	if row < len(d.diffs) && d.diffs[row].Parent == key.parent && d.diffs[row].Name == key.name {
		return row
	}
	if d.rows == nil {
		d.rows = make(map[diffKey]int, len(d.diffs))
		for i := range d.diffs {
			d.rows[diffKey{d.diffs[i].Parent, d.diffs[i].Name}] = i
		}
	}
	if place, ok := d.rows[key]; ok {
		return place
	}
	return len(d.diffs)
}

func (d *ScopeDiff) set(row recorder.ScopeRow, after bool) {
	if after {
		d.After = true
		d.CountAfter, d.AllocCountAfter = d.CountAfter+row.Count, d.AllocCountAfter+row.AllocCount
		d.SelfAfter, d.TotalAfter = d.SelfAfter+row.SelfBytes, d.TotalAfter+row.TotalBytes
		d.PeakAfter, d.BoundAfter = max(d.PeakAfter, row.Peak), max(d.BoundAfter, row.PeakBound)
		return
	}
	d.Before = true
	d.CountBefore, d.AllocCountBefore = d.CountBefore+row.Count, d.AllocCountBefore+row.AllocCount
	d.SelfBefore, d.TotalBefore = d.SelfBefore+row.SelfBytes, d.TotalBefore+row.TotalBytes
	d.PeakBefore, d.BoundBefore = max(d.PeakBefore, row.Peak), max(d.BoundBefore, row.PeakBound)
}

// ordered lists the rows as a tree.
func (d *differ) ordered() []ScopeDiff {
	starts, children := d.children()
	ordered := make([]ScopeDiff, 0, len(d.diffs))
	type step struct{ old, parent int }
	var steps []step
	push := func(above, parent int) {
		below := children[starts[above+1]:starts[above+2]]
		for i := len(below) - 1; i >= 0; i-- {
			steps = append(steps, step{below[i], parent})
		}
	}
	push(-1, -1)
	for len(steps) > 0 {
		next := steps[len(steps)-1]
		steps = steps[:len(steps)-1]
		diff := d.diffs[next.old]
		diff.Parent = next.parent
		ordered = append(ordered, diff)
		push(next.old, len(ordered)-1)
	}
	return ordered
}

// children are the rows below each row, those below row r at
// children[starts[r+1]:starts[r+2]], the root's at children[starts[0]:starts[1]].
func (d *differ) children() (starts, children []int) {
	starts, children = make([]int, len(d.diffs)+2), make([]int, len(d.diffs))
	for i := range d.diffs {
		starts[d.diffs[i].Parent+2]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	next := slices.Clone(starts)
	for i := range d.diffs {
		above := d.diffs[i].Parent + 1
		children[next[above]] = i
		next[above]++
	}
	for above := range len(d.diffs) + 1 {
		slices.SortStableFunc(children[starts[above]:starts[above+1]], func(a, b int) int {
			return cmp.Compare(d.diffs[b].weight(), d.diffs[a].weight())
		})
	}
	return starts, children
}

// weight is how much a row matters: by how much its peak changed.
func (d *ScopeDiff) weight() int64 {
	change := d.PeakAfter - d.PeakBefore
	if change < 0 {
		return -change
	}
	return change
}
