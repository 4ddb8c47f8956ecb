package model

import (
	"regexp"
	"strings"

	"vramscope/recorder"
)

// TreeView is a scope tree as somebody looks at it: which rows are open, sorted
// by what, filtered how. Another tree may be shown at any time, that of the next
// snapshot or of another moment: rows keep their state by their path. It belongs
// to one goroutine. The zero value shows nothing and sorts by peak.
type TreeView struct {
	arena     *ArenaView
	main      treePart
	abandoned treePart
	key       TreeKey
	reversed  bool
	filter    treeFilter
	depth     int32          // rows down to it are open unless toggled
	toggled   map[RowID]bool // open or not, where somebody said so
	visible   []VisibleRow
	stale     bool
}

// VisibleRow is a row on the screen.
type VisibleRow struct {
	Row       int32 // of the tree; -1 for the head of the abandoned scopes
	Depth     int32 // 0 under the root
	Abandoned bool  // of the tree of abandoned scopes
	Opens     bool  // there are rows under it
	Open      bool  // they are shown
	Context   bool  // shown because of a row below it alone: the filter does not pass its name
}

// abandonedHead is the ID of the row that stands above the abandoned scopes.
const abandonedHead RowID = 1

// defaultDepth is how deep a tree is open before anybody touches it.
const defaultDepth = 2

// Show takes another tree, and keeps what is open, sorted and filtered.
func (t *TreeView) Show(arena *ArenaView) {
	if t.arena == arena {
		return
	}
	if t.toggled == nil {
		t.toggled, t.depth = map[RowID]bool{}, defaultDepth
	}
	t.arena, t.stale = arena, true
	scopes := recorder.EmptyScopeSnapshot
	var table recorder.StringTable
	if arena != nil && arena.Scopes != nil {
		scopes, table = arena.Scopes, arena.strings
	}
	t.main.show(scopes, &table)
	t.abandoned.show(scopes.Abandoned(), &table)
}

// Arena is what is shown, nil at first.
func (t *TreeView) Arena() *ArenaView { return t.arena }

// Key is what the tree is sorted by.
func (t *TreeView) Key() TreeKey { return t.key }

// SortBy sorts the tree.
func (t *TreeView) SortBy(key TreeKey) {
	if t.key != key {
		t.key, t.main.sorted, t.abandoned.sorted, t.stale = key, false, false, true
	}
}

// Reversed says whether the tree is sorted the other way round.
func (t *TreeView) Reversed() bool { return t.reversed }

// SetReversed turns the order of sorting round. Rows without a number to sort by
// stay last.
func (t *TreeView) SetReversed(reversed bool) {
	if t.reversed != reversed {
		t.reversed, t.main.sorted, t.abandoned.sorted, t.stale = reversed, false, false, true
	}
}

// Rows are the rows to be shown, from top to bottom. The slice is valid until
// the view changes.
func (t *TreeView) Rows() []VisibleRow {
	if t.stale {
		t.flatten()
	}
	return t.visible
}

// Filter shows the rows whose name matches a regular expression, with those above
// them; one that begins with "!" shows the rows that do not match. Rows below a
// match stay where they are. "" shows everything. The error is the expression's;
// then nothing changes.
func (t *TreeView) Filter(pattern string) error {
	filter, err := parseTreeFilter(pattern)
	if err != nil {
		return err
	}
	t.filter, t.main.filters, t.abandoned.filters, t.stale = filter, false, false, true
	return nil
}

// FilterPattern is the filter as it was typed.
func (t *TreeView) FilterPattern() string { return t.filter.pattern }

// treeFilter decides on names.
type treeFilter struct {
	pattern    string
	expression *regexp.Regexp
	invert     bool
}

func parseTreeFilter(pattern string) (treeFilter, error) {
	text, invert := strings.CutPrefix(pattern, "!")
	if text == "" {
		return treeFilter{pattern: pattern}, nil
	}
	expression, err := regexp.Compile(text)
	return treeFilter{pattern: pattern, expression: expression, invert: invert}, err
}

func (f *treeFilter) on() bool { return f.expression != nil }

func (f *treeFilter) passes(name string) bool { return f.expression.MatchString(name) != f.invert }

// flatten lists the rows that are shown.
func (t *TreeView) flatten() {
	t.stale = false
	t.visible = t.visible[:0]
	if t.main.scopes == nil {
		return
	}
	t.prepare(&t.main)
	t.walk(&t.main, -1, 0)
	if t.abandoned.scopes.Len() == 0 {
		return
	}
	t.prepare(&t.abandoned)
	at := len(t.visible)
	head := VisibleRow{Row: -1, Abandoned: true, Opens: true, Open: t.isOpen(abandonedHead, 0)}
	t.visible = append(t.visible, head)
	if head.Open {
		t.walk(&t.abandoned, -1, 1)
		if t.filter.on() && len(t.visible) == at+1 {
			t.visible = t.visible[:at]
		}
	}
}

func (t *TreeView) prepare(part *treePart) {
	part.sort(t.key, t.reversed)
	part.filter(&t.filter)
}

// walk lists the rows under a row. Trees can be as deep as their limits allow,
// a few hundred rows.
func (t *TreeView) walk(part *treePart, above int32, depth int32) {
	for _, row := range part.below(above) {
		kept := keptMatch
		if t.filter.on() {
			if kept = part.kept[row]; kept == 0 {
				continue
			}
		}
		visible := VisibleRow{Row: row, Depth: depth, Abandoned: part == &t.abandoned, Opens: part.scopes.FirstChild(row) >= 0,
			Context: kept&(keptMatch|keptBelow) == 0}
		if visible.Opens {
			visible.Open = t.isOpen(part.ids[row].in(visible.Abandoned), depth) || t.filter.on() && kept&keptAbove != 0
		}
		t.visible = append(t.visible, visible)
		if visible.Open {
			t.walk(part, row, depth+1)
		}
	}
}

// in keeps the IDs of the two trees apart.
func (id RowID) in(abandoned bool) RowID {
	if abandoned {
		return ^id
	}
	return id
}

func (t *TreeView) isOpen(id RowID, depth int32) bool {
	if open, said := t.toggled[id]; said {
		return open
	}
	return depth < t.depth
}

// part is the tree that a row is in.
func (t *TreeView) part(row VisibleRow) *treePart {
	if row.Abandoned {
		return &t.abandoned
	}
	return &t.main
}

// ID names a row of Rows across snapshots.
func (t *TreeView) ID(row VisibleRow) RowID {
	if row.Row < 0 {
		return abandonedHead
	}
	return t.part(row).ids[row.Row].in(row.Abandoned)
}

// Find is the place of a row among Rows; not ok when it is not shown.
func (t *TreeView) Find(id RowID) (index int, ok bool) {
	for i, row := range t.Rows() {
		if t.ID(row) == id {
			return i, true
		}
	}
	return 0, false
}

// Name is the row's name, not sanitised for a terminal.
func (t *TreeView) Name(row VisibleRow) string {
	if row.Row < 0 {
		return "abandoned"
	}
	part := t.part(row)
	return part.table.String(part.scopes.Name(row.Row))
}

// Path is the names from the outermost scope down to the row.
func (t *TreeView) Path(row VisibleRow) []string {
	part := t.part(row)
	var path []string
	for _, name := range part.scopes.Path(row.Row) {
		path = append(path, part.table.String(name))
	}
	return path
}

// Numbers are the row's numbers. The head of the abandoned scopes has the count
// alone: how many were abandoned.
func (t *TreeView) Numbers(row VisibleRow) recorder.ScopeRow {
	if row.Row >= 0 {
		return t.part(row).scopes.Row(row.Row)
	}
	head := recorder.ScopeRow{Parent: -1}
	for child := range t.abandoned.scopes.Children(-1) {
		head.Count += t.abandoned.scopes.Count(child)
		head.AllocCount += t.abandoned.scopes.AllocCount(child)
	}
	return head
}

// Live is what is in the row's open scope now, in bytes; not ok for a row that
// has none.
func (t *TreeView) Live(row VisibleRow) (bytes int64, ok bool) {
	if row.Abandoned {
		return 0, false
	}
	return t.main.scopes.Live(row.Row)
}
