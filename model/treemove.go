package model

import "slices"

// Toggle opens a row that is closed and closes one that is open.
func (t *TreeView) Toggle(row VisibleRow) { t.SetOpen(row, !row.Open) }

// SetOpen opens or closes a row.
func (t *TreeView) SetOpen(row VisibleRow, open bool) {
	if !row.Opens || t.toggled == nil {
		return
	}
	t.toggled[t.ID(row)] = open
	t.stale = true
}

// OpenTo opens every row down to a depth, 0 being under the root, and closes the
// others. What was opened and closed one by one is forgotten.
func (t *TreeView) OpenTo(depth int) {
	t.depth, t.toggled, t.stale = int32(min(depth, 1<<20)), map[RowID]bool{}, true
}

// Above is the place among Rows of the row above the one at index; -1 for a row
// under the root.
func (t *TreeView) Above(index int) int {
	rows := t.Rows()
	for i := index - 1; i >= 0; i-- {
		if rows[i].Depth < rows[index].Depth {
			return i
		}
	}
	return -1
}

// Reveal opens the rows above a row, and says where it is then; not ok when the
// tree has no such row or the filter hides it.
func (t *TreeView) Reveal(id RowID) (index int, ok bool) {
	for _, part := range []*treePart{&t.main, &t.abandoned} {
		abandoned := part == &t.abandoned
		for row, candidate := range part.ids {
			if candidate.in(abandoned) == id {
				t.openAbove(part, int32(row), abandoned)
				return t.Find(id)
			}
		}
	}
	return t.Find(id)
}

func (t *TreeView) openAbove(part *treePart, row int32, abandoned bool) {
	if abandoned {
		t.toggled[abandonedHead] = true
	}
	for above := part.scopes.Parent(row); above >= 0; above = part.scopes.Parent(above) {
		t.toggled[part.ids[above].in(abandoned)] = true
	}
	t.stale = true
}

// Search finds the next row, or the one before, whose name matches a regular
// expression, in the order in which the whole tree would be shown, and opens what
// is above it. It goes round at the end. The error is the expression's; not ok
// means that no row matches.
func (t *TreeView) Search(pattern string, from int, forward bool) (index int, ok bool, err error) {
	filter, err := parseTreeFilter(pattern)
	if err != nil || !filter.on() || t.main.scopes == nil {
		return from, false, err
	}
	rows := t.Rows()
	here := RowID(0)
	if from >= 0 && from < len(rows) {
		here = t.ID(rows[from])
	}
	found, ok := t.nextMatch(&filter, here, forward)
	if !ok {
		return from, false, nil
	}
	index, ok = t.Reveal(found)
	return index, ok, nil
}

// nextMatch is the next row that passes after the one of an ID, or the one
// before it.
func (t *TreeView) nextMatch(filter *treeFilter, here RowID, forward bool) (RowID, bool) {
	var order []VisibleRow
	t.everything(&t.main, -1, &order)
	if t.abandoned.scopes.Len() > 0 {
		t.everything(&t.abandoned, -1, &order)
	}
	at := len(order)
	var matches []int
	for i, row := range order {
		if t.ID(row) == here {
			at = i
		}
		if filter.passes(t.Name(row)) {
			matches = append(matches, i)
		}
	}
	if len(matches) == 0 {
		return 0, false
	}
	next, exact := slices.BinarySearch(matches, at)
	switch {
	case forward && exact:
		next++
	case !forward:
		next--
	}
	return t.ID(order[matches[(next+len(matches))%len(matches)]]), true
}

// everything lists all rows that the filter leaves, open or not.
func (t *TreeView) everything(part *treePart, above int32, order *[]VisibleRow) {
	for _, row := range part.below(above) {
		if t.filter.on() && part.kept[row] == 0 {
			continue
		}
		*order = append(*order, VisibleRow{Row: row, Abandoned: part == &t.abandoned})
		t.everything(part, row, order)
	}
}
