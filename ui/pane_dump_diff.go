package ui

import (
	"cmp"
	"slices"
	"strings"

	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpDiffRows is what differs between a moment that was remembered, of this
// dump or another one, and the moment that is looked at, stack by stack.
type dumpDiffRows struct {
	table  widget.Table
	cursor listCursor
	order  diffOrder
	shown  reckoning[diffView, []int32]
	diff   *dumpDiff
	view   diffView
	rows   []int32 // in Diff.Rows, that are shown in this order
	busy   bool
}

// dumpDiff is a comparison with its rows in words.
type dumpDiff struct {
	*dump.Diff
	texts []string // by row: the innermost frames
	same  int      // rows that are the same on both sides
}

// diffQuestion is which comparison.
type diffQuestion struct{ then, now dumpMoment }

// diffView is which rows of it are shown, and in which order.
type diffView struct {
	diff   *dumpDiff
	filter string
	order  diffOrder
}

// diffOrder is a column that rows are sorted by.
type diffOrder struct {
	column   int
	reversed bool
}

// The columns of the table.
const (
	changeStack = iota
	changeKind
	changeThen
	changeNow
	changeBy
	changeCount
)

func (d *dumpDiffRows) init() {
	d.order.column = changeBy
	d.table = widget.Table{Rows: d, Columns: []widget.TableColumn{
		changeStack: {Title: "stack", Width: longName, Grow: 1},
		changeKind:  {Title: "change", Width: 6},
		changeThen:  {Title: "then", Width: longBytes, Align: grid.Right, Drop: 2},
		changeNow:   {Title: "now", Width: longBytes, Align: grid.Right, Drop: 1},
		changeBy:    {Title: "by", Width: longBytes + 1, Align: grid.Right},
		changeCount: {Title: "blocks", Width: 8, Align: grid.Right, Drop: 3},
	}}
}

func (d *dumpDiffRows) forget() {
	d.shown.forget()
	d.diff, d.view, d.rows, d.cursor, d.busy = nil, diffView{}, nil, listCursor{}, false
}

// take compares the moment that is looked at with the one that was remembered.
func (d *dumpDiffRows) take(s *scene, m dumpMoment, pattern *filterPattern) (missing string) {
	w, q := s.dumps, diffQuestion{s.baseline.dump, m}
	if w.diff.lacks(q) {
		w.askDiff(q, s.baseline.name, s.view.Name)
	}
	diff, ok := w.diff.to(q)
	if ok {
		d.diff = diff
	}
	if d.busy = !ok; d.diff == nil {
		return "Comparing the two moments stack by stack..."
	}
	view := diffView{d.diff, pattern.text, d.order}
	if d.shown.lacks(view) {
		d.ask(w, view, *pattern)
	}
	if rows, ok := d.shown.to(view); !ok {
		d.busy = true
	} else if d.view != view {
		d.view, d.rows = view, rows
		d.stand(s)
	}
	switch {
	case len(d.rows) > 0 || d.busy:
		return ""
	case pattern.text != "":
		return "No stack that changed matches the filter. Esc clears it."
	}
	return "No stack has changed since the moment that is remembered. d forgets it."
}

func (d *dumpDiffRows) ask(w *dumpWork, view diffView, pattern filterPattern) {
	d.shown.ask(view, &w.queue, w.size.stacks || w.size.blocks, func() []int32 { return view.rows(pattern) })
}

// newDumpDiff compares two moments.
func newDumpDiff(q diffQuestion, then, now string) *dumpDiff {
	side := func(m dumpMoment, name string) dump.Side {
		return dump.Side{Index: m.index, Device: m.number, Name: name, Moment: m.moment}
	}
	compared, err := dump.NewDiff(side(q.then, then), side(q.now, now))
	if err != nil { // the moments are ones that there are
		compared = &dump.Diff{}
	}
	d := &dumpDiff{Diff: compared, texts: make([]string, len(compared.Rows))}
	names := [2]dumpNames{}
	for i := range compared.Rows {
		row := &compared.Rows[i]
		if row.Change == dump.ChangeSame {
			d.same++
			continue
		}
		a, b, _, inB := row.Stacks()
		if inB {
			d.texts[i] = stackText(names[1].of(q.now.index), b)
		} else {
			d.texts[i] = stackText(names[0].of(q.then.index), a)
		}
	}
	return d
}

// stackText is the innermost frames of a stack that are no noise.
func stackText(names *dumpNames, stack int32) string {
	const frames = 4
	var text strings.Builder
	for i, frame := range names.index.FoldedStack(stack) {
		if i == frames {
			break
		}
		name := names.frame(frame)
		if i > 0 {
			text.WriteString(" < ")
		}
		text.WriteString(name.name)
		if name.short != "" && i == 0 {
			text.WriteString(" " + name.short)
		}
	}
	return text.String()
}

// rows are the rows that changed and that a filter keeps, in their order.
func (v *diffView) rows(pattern filterPattern) (rows []int32) {
	keeps := v.filtered(pattern)
	for i := range v.diff.Rows {
		if v.diff.Rows[i].Change != dump.ChangeSame && keeps(&v.diff.Rows[i]) {
			rows = append(rows, int32(i))
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		order := v.compare(a, b)
		if v.order.reversed {
			return -order
		}
		return order
	})
	return rows
}

// filtered says which rows a pattern keeps: those with a frame that matches.
func (v *diffView) filtered(pattern filterPattern) func(row *dump.DiffRow) bool {
	if pattern.pattern == nil {
		return func(*dump.DiffRow) bool { return true }
	}
	invert := pattern.invert
	pattern.invert = false
	type frame struct {
		name, file string
		line       int64
	}
	answers := map[frame]bool{}
	return func(row *dump.DiffRow) bool {
		for i := range row.Frames {
			f := frame{row.Frames[i].Name, row.Frames[i].Filename, -1}
			if row.Frames[i].Line != nil {
				f.line = *row.Frames[i].Line
			}
			matches, known := answers[f]
			if !known {
				matches = pattern.matches(f.name + " " + f.file + ":" + string(grid.AppendCount(nil, f.line)))
				answers[f] = matches
			}
			if matches {
				return !invert
			}
		}
		return invert
	}
}

// compare puts the larger one first; of changes, the larger one either way.
func (v *diffView) compare(a, b int32) int {
	x, y := &v.diff.Rows[a], &v.diff.Rows[b]
	switch v.order.column {
	case changeStack:
		return strings.Compare(v.diff.texts[a], v.diff.texts[b])
	case changeKind:
		return cmp.Or(strings.Compare(string(x.Change), string(y.Change)), cmp.Compare(distance(y.Delta()), distance(x.Delta())))
	case changeThen:
		return cmp.Compare(y.ABytes, x.ABytes)
	case changeNow:
		return cmp.Compare(y.BBytes, x.BBytes)
	case changeCount:
		return cmp.Compare(distance(y.BCount-y.ACount), distance(x.BCount-x.ACount))
	}
	return cmp.Compare(distance(y.Delta()), distance(x.Delta()))
}

func distance(n int64) int64 { return max(n, -n) }

// sort sorts by the column that comes nearest to what an action names.
func (d *dumpDiffRows) sort(action keymap.Action) {
	columns := map[keymap.Action]int{
		keymap.SortByName: changeStack, keymap.SortByLive: changeNow, keymap.SortByPeak: changeThen, keymap.SortByTotal: changeBy,
		keymap.SortBySize: changeBy, keymap.SortByCount: changeCount, keymap.SortByAllocs: changeCount,
	}
	if column, ok := columns[action]; ok {
		d.order = diffOrder{column: column}
	} else if action == keymap.ReverseSort {
		d.order.reversed = !d.order.reversed
	}
}

// clickTitle sorts by the column at a place; again, the other way round.
func (d *dumpDiffRows) clickTitle(x int) {
	if column := d.table.ColumnAt(x); column >= 0 {
		d.order = diffOrder{column, column == d.order.column && !d.order.reversed}
	}
}

// do moves among the rows.
func (d *dumpDiffRows) do(action keymap.Action, s *scene) bool {
	if !d.cursor.move(action, len(d.rows)) {
		return action == keymap.Open || action == keymap.Close || action == keymap.Toggle
	}
	d.pick(s, d.cursor.at)
	return true
}

// pick selects a row, and its stack where the dump that is looked at has it.
func (d *dumpDiffRows) pick(s *scene, index int) {
	if index < 0 || index >= len(d.rows) {
		return
	}
	d.cursor.at = index
	a, b, inA, inB := d.diff.Rows[d.rows[index]].Stacks()
	switch {
	case inB:
		s.choices.dump.stack = b
	case inA && s.baseline.dump.index == s.view.Dump:
		s.choices.dump.stack = a
	}
}

// stand stands on the row of the stack that is selected; where none has it, the
// row that is stood on selects its own.
func (d *dumpDiffRows) stand(s *scene) {
	for i, row := range d.rows {
		if _, b, _, inB := d.diff.Rows[row].Stacks(); inB && b == s.choices.dump.stack {
			d.cursor.at = i
			return
		}
	}
	d.pick(s, min(d.cursor.at, len(d.rows)-1))
}

// same is how many stacks have not changed.
func (d *dumpDiffRows) same() int {
	if d.diff == nil {
		return 0
	}
	return d.diff.same
}

// fit gives the columns the width for short or long numbers.
func (d *dumpDiffRows) fit(width int) {
	name, bytes := longName, longBytes
	if width < shortWidth {
		name, bytes = shortName, shortBytes
	}
	d.table.Columns[changeStack].Width = name
	d.table.Columns[changeThen].Width, d.table.Columns[changeNow].Width = bytes, bytes
	d.table.SortColumn, d.table.Descending = d.order.column, d.order.reversed == (d.order.column == changeStack)
}

// Len is the number of rows.
func (d *dumpDiffRows) Len() int { return len(d.rows) }

// DrawCell draws one cell of the table. What one of the moments did not have is
// unknown there, not nothing.
func (d *dumpDiffRows) DrawCell(r grid.Region, index, column int) {
	row := &d.diff.Rows[d.rows[index]]
	by := row.Delta()
	pen := r.Pen(0, 0)
	switch column {
	case changeStack:
		r.Fit(0, 0, r.Width(), grid.Of(themes.Text), d.diff.texts[d.rows[index]], grid.Left)
	case changeKind:
		r.Fit(0, 0, r.Width(), deltaStyle(by), string(row.Change), grid.Left)
	case changeThen:
		drawScopeBytes(r, themes.Dim, grid.Known(row.ABytes, row.Change != dump.ChangeNew))
	case changeNow:
		drawScopeBytes(r, themes.Live, grid.Known(row.BBytes, row.Change != dump.ChangeGone))
	case changeBy:
		pen.Delta(deltaStyle(by), by, r.Width())
	case changeCount:
		pen.Count(grid.Of(themes.Dim), row.BCount-row.ACount, r.Width())
	}
}

// selectedText is the selected row in a line.
func (d *dumpDiffRows) selectedText() string {
	if d.cursor.at >= len(d.rows) {
		return ""
	}
	number := d.rows[d.cursor.at]
	row := &d.diff.Rows[number]
	return d.diff.texts[number] + " " + string(row.Change) + " " + string(grid.AppendExact(nil, row.ABytes)) + " to " +
		string(grid.AppendExact(nil, row.BBytes)) + ", " + string(grid.AppendCount(nil, row.BCount-row.ACount)) + " blocks"
}
