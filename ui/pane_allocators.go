package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// allocatorsPane is a process's memory as a sum: its allocators, each with its
// counters and with those that live in its memory below it, then what else the
// driver counts to the process, and the rest of the device.
type allocatorsPane struct {
	table widget.Table
	rows  accountRows
	name  string // of the frame, made of the process that it names
	of    string
}

// accountRows are the lines as a table shows them.
type accountRows struct{ accountLines }

// The columns of the table of allocators.
const (
	allocatorLabel = iota
	allocatorReserved
	allocatorExact
	allocatorAllocated
	allocatorActive
	allocatorCached
	allocatorReleasable
	allocatorPeak
	allocatorLargest
	allocatorRetries
	allocatorOOMs
)

// What a column of labels needs at least, and what it is given before other
// columns are.
const narrowestLabel, widestLabel = 22, 32

func newAllocatorsPane() *allocatorsPane {
	p := &allocatorsPane{}
	p.table = widget.Table{SortColumn: -1, Rows: &p.rows, Columns: []widget.TableColumn{
		allocatorLabel:      {Title: "allocator", Width: narrowestLabel, Grow: 1},
		allocatorReserved:   {Title: "reserved", Width: 10, Align: grid.Right},
		allocatorExact:      {Title: "bytes", Width: 15, Align: grid.Right, Drop: 8},
		allocatorAllocated:  {Title: "allocated", Width: 10, Align: grid.Right, Drop: 1},
		allocatorActive:     {Title: "active", Width: 10, Align: grid.Right, Drop: 9},
		allocatorCached:     {Title: "cached", Width: 10, Align: grid.Right, Drop: 3},
		allocatorReleasable: {Title: "releasable", Width: 10, Align: grid.Right, Drop: 7},
		allocatorPeak:       {Title: "peak", Width: 11, Align: grid.Right, Drop: 2},
		allocatorLargest:    {Title: "largest", Width: 10, Align: grid.Right, Drop: 6},
		allocatorRetries:    {Title: "retries", Width: 7, Align: grid.Right, Drop: 5},
		allocatorOOMs:       {Title: "OOMs", Width: 5, Align: grid.Right, Drop: 4},
	}}
	return p
}

func (p *allocatorsPane) title(s *scene) (string, string) {
	if s.view == nil {
		return "Allocators", ""
	}
	if p.of != s.view.Name || p.name == "" {
		p.of, p.name = s.view.Name, "Allocators of "+s.view.Name
	}
	if p.rows.devices == 1 {
		return p.name, p.rows.device
	}
	return p.name, ""
}

func (*allocatorsPane) keys() keymap.Context { return keymap.List }

// collect makes the lines of a scene and keeps the selection on its allocator.
func (p *allocatorsPane) collect(s *scene) {
	p.rows.update(s)
	p.table.Columns[allocatorLabel].Width = min(max(p.rows.width, narrowestLabel), widestLabel)
	if at := p.rows.find(s.choices.allocator); at >= 0 {
		p.table.Selected = at
	}
	p.settle(1)
}

// settle moves the selection off the headings, in the direction of a step.
func (p *allocatorsPane) settle(step int) {
	last := len(p.rows.lines) - 1
	at := min(max(p.table.Selected, 0), max(last, 0))
	for at >= 0 && at <= last && !p.rows.lines[at].selectable() {
		at += step
	}
	if at < 0 {
		at = min(1, max(last, 0)) // the first line is a heading
	}
	p.table.Selected = min(at, max(last, 0))
}

// selected is the line that is looked at; nil where there is none.
func (p *allocatorsPane) selected(s *scene) *accountLine {
	p.collect(s)
	if p.table.Selected < len(p.rows.lines) {
		return &p.rows.lines[p.table.Selected]
	}
	return nil
}

func (p *allocatorsPane) draw(r grid.Region, s *scene, _ bool) {
	p.collect(s)
	if len(p.rows.lines) == 0 {
		nothing(r, whyNoAllocators(s))
		return
	}
	if r.Height() == 1 {
		p.rows.drawShort(r)
		return
	}
	p.table.Offset = widget.ScrollTo(p.table.Offset, p.table.Selected, r.Height()-1, len(p.rows.lines))
	p.table.Draw(r)
	p.drawRemarks(r)
}

// drawRemarks writes why an allocator tells nothing, over all columns.
func (p *allocatorsPane) drawRemarks(r grid.Region) {
	for i := p.table.Offset; i < len(p.rows.lines) && i-p.table.Offset+1 < r.Height(); i++ {
		line := &p.rows.lines[i]
		if line.kind != accountRemark {
			continue
		}
		pen := r.Pen(4+2*min(line.depth, deepestIndent), i-p.table.Offset+1)
		pen.Fit(grid.Of(themes.Warning), line.label, pen.Left(), grid.Left)
	}
}

// whyNoAllocators is the sentence of a pane that has no allocator to show.
func whyNoAllocators(s *scene) string {
	switch {
	case s.view == nil:
		return "Nothing is watched. A program with a probe fills this: `vramscope run -- python render.py`."
	case s.view.Kind == recorder.KindDevice, s.view.Kind == recorder.KindHost:
		return "The allocators of a process fill this: choose one with c."
	}
	return "This program has told of no allocator yet. The first allocation of torch, CuPy, RMM or JAX fills this."
}

// drawShort is the roots in one row.
func (a *accountRows) drawShort(r grid.Region) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	first := true
	for i := range a.lines {
		line := &a.lines[i]
		if line.kind != accountAllocator || line.depth > 0 {
			continue
		}
		if !first {
			pen.Text(dim, " + ")
		}
		first = false
		pen.Text(grid.Of(themes.Text), line.label)
		pen.Skip(1)
		if line.told != nil {
			pen.Text(dim, "was ")
		}
		pen.Short(line.styled(grid.Of(themes.Reserved)), line.taken(), 0)
	}
}

func (p *allocatorsPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	before := p.table.Selected
	if !moveIn(&p.table, action, len(p.rows.lines)) {
		return false
	}
	step := 1
	if p.table.Selected < before {
		step = -1
	}
	p.settle(step)
	p.choose(s)
	return true
}

// choose tells the other panes which allocator is looked at.
func (p *allocatorsPane) choose(s *scene) {
	s.choices.allocator = ""
	if p.table.Selected < len(p.rows.lines) && p.rows.lines[p.table.Selected].set != nil {
		s.choices.allocator = p.rows.lines[p.table.Selected].set.ID
		s.choices.choosePoolOf(s.view, p.rows.lines[p.table.Selected].set)
	}
}

func (p *allocatorsPane) click(_, y, _, _ int, s *scene) {
	p.collect(s)
	if row := p.table.Offset + y - 1; y > 0 && row < len(p.rows.lines) {
		p.table.Selected = row
		p.settle(1)
		p.choose(s)
	}
}

func (a *accountRows) Len() int { return len(a.lines) }

func (a *accountRows) DrawCell(r grid.Region, row, column int) {
	line := &a.lines[row]
	pen := r.Pen(0, 0)
	width := r.Width()
	if column == allocatorLabel {
		a.drawLabel(r, row)
		return
	}
	if !line.selectable() {
		return
	}
	switch column {
	case allocatorReserved:
		if line.told != nil {
			pen.Bytes(grid.Of(themes.Dim), line.taken(), width)
			return
		}
		drawFigure(r, line.style(), line.figure)
		return
	case allocatorExact:
		if !line.figure.About {
			pen.Count(grid.Of(themes.Dim), line.taken(), width)
		}
		return
	}
	if line.set == nil {
		return
	}
	switch column {
	case allocatorAllocated:
		pen.Bytes(line.styled(grid.Of(themes.Allocated)), line.number(recorder.Allocated), width)
	case allocatorActive:
		pen.Bytes(line.styled(grid.Of(themes.Text)), line.number(recorder.Active), width)
	case allocatorCached:
		pen.Bytes(line.styled(grid.Of(themes.Free)), line.cached(), width)
	case allocatorReleasable:
		pen.Bytes(line.styled(grid.Of(themes.Releasable)), line.number(recorder.Releasable), width)
	case allocatorPeak:
		drawPeakOf(r, line)
	case allocatorLargest:
		pen.Bytes(line.styled(grid.Of(themes.Text)), line.number(recorder.LargestFree), width)
	case allocatorRetries:
		pen.Count(line.styled(countStyle(line.number(recorder.Retries), themes.Warning)), line.number(recorder.Retries), width)
	case allocatorOOMs:
		pen.Count(line.styled(countStyle(line.number(recorder.OOMs), themes.Error)), line.number(recorder.OOMs), width)
	}
}

// drawPeakOf writes the peak of an allocator, with a mark where only samples
// tell it: the true peak is that or more.
func drawPeakOf(r grid.Region, line *accountLine) {
	pen := r.Pen(0, 0)
	if !line.sampled {
		pen.Bytes(grid.Of(themes.Peak), line.peak, r.Width())
		return
	}
	drawMarked(r, line.styled(grid.Of(themes.Peak)), atLeast(r), line.peak)
}

// drawFigure writes a figure into a cell, with a mark where it is about.
func drawFigure(r grid.Region, style grid.Style, f model.Figure) {
	if f.Known && f.About {
		drawMarked(r, style, about(r), f.Value)
		return
	}
	pen := r.Pen(0, 0)
	pen.Bytes(style, value(f), r.Width())
}

// drawMarked writes bytes into a cell after a mark that says how they are known.
func drawMarked(r grid.Region, style grid.Style, mark rune, bytes int64) {
	var room [16]byte
	text := grid.AppendBytes(room[:0], bytes)
	x := max(r.Width()-len(text)-1, 0)
	r.Set(x, 0, mark, style)
	r.Bytes(x+1, 0, style, text)
}

// about is the mark of a number whose parts are of different moments.
func about(r grid.Region) rune {
	if r.Glyphs().Unicode {
		return '≈'
	}
	return '~'
}

// atLeast is the mark of a lower bound.
func atLeast(r grid.Region) rune {
	if r.Glyphs().Unicode {
		return '≥'
	}
	return '>'
}

// countStyle is dim for nothing, and has a role for what has happened.
func countStyle(n int64, role themes.Role) grid.Style {
	if n > 0 {
		return grid.Of(role).With(themes.Bold)
	}
	return grid.Of(themes.Dim)
}

// styled is a style for what a line tells now, and dim for what it told before.
func (l *accountLine) styled(style grid.Style) grid.Style {
	if l.told != nil {
		return grid.Of(themes.Dim)
	}
	return style
}

// style is how the sum's number of a line looks.
func (l *accountLine) style() grid.Style {
	switch {
	case l.kind == accountSum:
		return grid.Of(themes.Used).With(themes.Bold)
	case l.kind == accountPart:
		return grid.Of(themes.Unaccounted)
	case l.depth > 0:
		return grid.Of(themes.Dim)
	}
	return grid.Of(themes.Reserved)
}

// drawLabel writes what a line is, after the sign that says how it counts: what
// has a plus is added, what has an equals sign is the sum so far, what has none lies
// inside another, and what has a question mark is of another moment and not added.
func (a *accountRows) drawLabel(r grid.Region, row int) {
	line := &a.lines[row]
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	switch line.kind {
	case accountDevice:
		pen.Text(grid.Of(themes.Title), line.label)
		return
	case accountRemark: // see drawRemarks
		return
	case accountSum:
		pen.Text(dim, "= ")
		pen.Fit(text.With(themes.Bold), line.label, pen.Left(), grid.Left)
		return
	}
	switch {
	case line.depth > 0:
		pen.Skip(2 * min(line.depth, deepestIndent))
		pen.Rune(grid.Of(themes.Guide), r.Glyphs().TreeCorner)
		pen.Skip(1)
	case line.told != nil:
		pen.Text(dim, "? ")
	case a.isFirst(row):
		pen.Skip(2)
	default:
		pen.Text(dim, "+ ")
	}
	if line.kind == accountPart {
		text = dim
	}
	if line.age > 0 {
		pen.Duration(dim, line.age, 0)
		pen.Text(dim, " ago: ")
	}
	pen.Fit(text, line.label, pen.Left(), grid.Left)
}

// isFirst says whether a line begins a sum.
func (a *accountRows) isFirst(row int) bool {
	return row == 0 || a.lines[row-1].kind == accountDevice
}

func (p *allocatorsPane) origins(s *scene) []origin {
	line := p.selected(s)
	if line == nil {
		return nil
	}
	return line.origins(s.view)
}

func (p *allocatorsPane) details(s *scene) (string, []string) {
	line := p.selected(s)
	if line == nil {
		return "", nil
	}
	var lines []string
	for _, o := range line.origins(s.view) {
		shown := originLine(o)
		lines = append(lines, shown.label+"  "+shown.text)
	}
	return line.label, lines
}

func (p *allocatorsPane) selectedText(s *scene) string {
	line := p.selected(s)
	if line == nil {
		return ""
	}
	return line.label + " " + string(grid.AppendExact(nil, line.taken())) + line.ageText()
}
