package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// ladderPane is the pool's failure callback in detail, and what each generation
// of the pool had counted when it ended.
type ladderPane struct {
	table widget.Table
	rows  generationRows
}

// generationRows are the generations of a pool, the one under way first and then
// those that ended, newest first.
type generationRows struct {
	facts poolFacts
	view  *model.SourceView
}

// The columns of the table of generations.
const (
	generationNumber = iota
	generationEnded
	generationPeak
	generationSize
	generationBytes
	generationCount
)

func newLadderPane() *ladderPane {
	p := &ladderPane{}
	p.table = widget.Table{SortColumn: -1, Selected: -1, Rows: &p.rows, Columns: []widget.TableColumn{
		generationNumber: {Title: "generation", Width: 10, Align: grid.Right},
		generationEnded:  {Title: "ended", Width: 8, Align: grid.Right, Drop: 2},
		generationPeak:   {Title: "peak", Width: 10, Align: grid.Right},
		generationSize:   {Title: "size", Width: 10, Align: grid.Right, Drop: 1},
		generationBytes:  {Title: "over its life", Width: 13, Align: grid.Right, Drop: 4},
		generationCount:  {Title: "allocations", Width: 11, Align: grid.Right, Drop: 3},
	}}
	return p
}

func (*ladderPane) title(s *scene) (string, string) { return "Failure callback, generations", "" }
func (*ladderPane) keys() keymap.Context            { return keymap.List }

func (p *ladderPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	switch action {
	case keymap.Up:
		p.table.Offset--
	case keymap.Down:
		p.table.Offset++
	case keymap.Top:
		p.table.Offset = 0
	case keymap.Bottom:
		p.table.Offset = p.rows.Len()
	default:
		return false
	}
	p.table.Offset = min(max(p.table.Offset, 0), max(p.rows.Len()-1, 0))
	return true
}

func (p *ladderPane) collect(s *scene) (ok bool) {
	p.rows.facts, ok = poolFactsOf(s)
	p.rows.view = s.view
	return ok
}

// tallLadder is the height from which on every retry has a row of its own.
const tallLadder = 14

func (p *ladderPane) draw(r grid.Region, s *scene, _ bool) {
	if !p.collect(s) {
		nothing(r, whyNoPool(s))
		return
	}
	height := r.Height()
	facts := &p.rows.facts
	switch {
	case height <= 0:
		return
	case height >= tallLadder:
		p.drawRungs(r.Sub(0, 0, r.Width(), poolRetries+1))
		p.drawCounts(r.Row(poolRetries + 1))
		p.drawGenerations(r.Sub(0, poolRetries+3, r.Width(), height-poolRetries-3))
		return
	}
	facts.drawRetries(r.Row(0))
	if height > 1 {
		p.drawCounts(r.Row(1))
	}
	if height > 2 {
		p.drawGenerations(r.Sub(0, 2, r.Width(), height-2))
	}
}

// drawGenerations is the table, or as much of it as says something in one row.
func (p *ladderPane) drawGenerations(r grid.Region) {
	if r.Height() == 1 {
		p.drawCurrent(r)
		return
	}
	visible := r.Height() - 1
	p.table.Offset = min(max(p.table.Offset, 0), max(p.rows.Len()-visible, 0))
	p.table.Draw(r)
}

// drawCurrent is the generation under way in a row.
func (p *ladderPane) drawCurrent(r grid.Region) {
	dim := grid.Of(themes.Dim)
	facts := &p.rows.facts
	pen := r.Pen(0, 0)
	pen.Text(dim, "generation ")
	pen.Count(grid.Of(themes.Text), facts.generation(), 0)
	pen.Text(dim, " peak ")
	pen.Bytes(grid.Of(themes.Peak), facts.peak, 0)
	pen.Text(dim, " allocations ")
	pen.Count(grid.Of(themes.Text), counterOf(facts.set, recorder.LifetimeCount), 0)
}

// drawCounts is what the failure callback has done so far.
func (p *ladderPane) drawCounts(r grid.Region) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	facts := &p.rows.facts
	pen := r.Pen(0, 0)
	if oom := p.lastFailure(); oom != nil {
		pen.Text(dim, "last failed ")
		pen.Bytes(grid.Of(themes.Accent), oom.Asked, 0)
		if oom.Rescued {
			pen.Text(grid.Of(themes.OK), ", rescued")
		} else {
			pen.Text(grid.Of(themes.Error), ", not rescued")
		}
	} else if ladder := facts.ladder(); ladder != nil && ladder.LastAsked > 0 {
		pen.Text(dim, "last failed ")
		pen.Bytes(grid.Of(themes.Accent), ladder.LastAsked, 0)
	} else {
		pen.Text(dim, "no allocation failed that is known")
	}
	if facts.exhausted != grid.Missing {
		style := text
		if facts.exhausted > 0 {
			style = grid.Of(themes.Error).With(themes.Bold)
		}
		pen.Text(dim, "  exhausted ")
		pen.Count(style, facts.exhausted, 0)
	}
	ladder := facts.ladder()
	if ladder == nil || ladder.Collections == nil && ladder.Rebuilds == nil && ladder.SegmentFrees == nil {
		return // it does not count what it did
	}
	pen.Text(dim, "  gc ")
	pen.Count(text, countIn(ladder.Collections), 0)
	pen.Text(dim, " rebuilds ")
	pen.Count(text, countIn(ladder.Rebuilds), 0)
	pen.Text(dim, " releases ")
	pen.Count(text, countIn(ladder.SegmentFrees), 0)
}

// ladder is the failure callback as the program told of it last; nil where it
// did not.
func (f *poolFacts) ladder() *recorder.Ladder {
	if f.pool == nil {
		return nil
	}
	return f.pool.State.Ladder
}

// generation is the number of the pool's generation.
func (f *poolFacts) generation() int64 {
	if f.pool != nil {
		return int64(f.pool.State.Generation)
	}
	return counterOf(f.set, recorder.Generation)
}

// lastFailure is the newest allocation of the pool that failed; nil when none
// did.
func (p *ladderPane) lastFailure() *recorder.OOM {
	facts := &p.rows.facts
	if facts.set == nil {
		return nil
	}
	for i := len(p.rows.view.OOMs) - 1; i >= 0; i-- {
		if oom := p.rows.view.OOMs[i]; oom.ID == facts.set.ID {
			return oom
		}
	}
	return nil
}

// drawRungs is a row for each retry: whether it is spent, what it does, and what
// it did for the allocation that failed last.
func (p *ladderPane) drawRungs(r grid.Region) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	facts := &p.rows.facts
	if facts.retries == grid.Missing {
		r.Text(0, 0, dim, facts.whyNoRetries())
		return
	}
	head := r.Pen(0, 0)
	head.Text(dim, "retries of this second: ")
	head.Count(text, facts.retries, 0)
	head.Text(dim, " of 5")
	if facts.cooldown > 0 {
		head.Text(dim, ", granted again in ")
		head.Duration(text, facts.cooldown, 0)
	}
	failure := p.lastFailure()
	for attempt := range int64(poolRetries) {
		pen := r.Pen(0, 1+int(attempt))
		mark, style := r.Glyphs().DotEmpty, dim
		if attempt < facts.retries {
			mark, style = r.Glyphs().DotFull, retriesStyle(facts.retries)
		}
		pen.Rune(style, mark)
		pen.Skip(1)
		pen.Count(text, attempt+1, 0)
		pen.Skip(1)
		pen.Fit(text, retryAction(attempt), 8, grid.Left)
		if failure != nil {
			drawStep(&pen, failure, int(attempt)+1)
		}
	}
}

// drawStep writes what a retry did for an allocation that failed.
func drawStep(pen *grid.Pen, oom *recorder.OOM, attempt int) {
	dim := grid.Of(themes.Dim)
	for i := range oom.Steps {
		step := &oom.Steps[i]
		if step.Attempt != attempt {
			continue
		}
		pen.Text(dim, " last time: ")
		pen.Text(grid.Of(themes.Text), step.Action)
		freed := int64(grid.Missing)
		if step.Freed != nil {
			freed = *step.Freed
		}
		pen.Text(dim, " freed ")
		pen.Bytes(grid.Of(themes.Accent), freed, 0)
		pen.Text(dim, " in ")
		pen.Duration(dim, step.Ns, 0)
		if step.Why != "" {
			pen.Text(dim, ": ")
			pen.Text(dim, step.Why)
		}
		return
	}
}

func (rows *generationRows) Len() int {
	if rows.facts.pool == nil {
		return 1
	}
	return 1 + len(rows.facts.pool.State.Generations)
}

func (rows *generationRows) DrawCell(r grid.Region, row, column int) {
	text := grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	if row == 0 {
		rows.drawNow(&pen, column, r.Width())
		return
	}
	ended := rows.facts.pool.State.Generations
	g := &ended[len(ended)-row]
	switch column {
	case generationNumber:
		pen.Count(text, int64(g.Generation), r.Width())
	case generationEnded:
		if wall := wallOf(rows.view, g.Ended); wall != 0 && g.Ended != 0 {
			drawClock(&pen, grid.Of(themes.Dim), wall)
		} else {
			pen.Fit(grid.Of(themes.Dim), unknownText(r), r.Width(), grid.Right)
		}
	case generationPeak:
		pen.Bytes(grid.Of(themes.Peak), g.PeakBytes, r.Width())
	case generationSize:
		pen.Bytes(grid.Of(themes.Reserved), g.PoolBytes, r.Width())
	case generationBytes:
		pen.Bytes(text, g.LifetimeBytes, r.Width())
	case generationCount:
		pen.Count(text, g.LifetimeCount, r.Width())
	}
}

// drawNow is a cell of the generation under way.
func (rows *generationRows) drawNow(pen *grid.Pen, column, width int) {
	text := grid.Of(themes.Text).With(themes.Bold)
	facts := &rows.facts
	switch column {
	case generationNumber:
		pen.Count(text, facts.generation(), width)
	case generationEnded:
		pen.Fit(grid.Of(themes.Dim), "now", width, grid.Right)
	case generationPeak:
		pen.Bytes(grid.Of(themes.Peak), facts.peak, width)
	case generationSize:
		pen.Bytes(grid.Of(themes.Reserved), facts.size, width)
	case generationBytes:
		pen.Bytes(text, counterOf(facts.set, recorder.LifetimeBytes), width)
	case generationCount:
		pen.Count(text, counterOf(facts.set, recorder.LifetimeCount), width)
	}
}

// unknownText is the mark of a number that is not known, as text.
func unknownText(r grid.Region) string {
	if r.Glyphs().Unicode {
		return "–"
	}
	return "-"
}

func (p *ladderPane) origins(s *scene) (all []origin) {
	facts, ok := poolFactsOf(s)
	if !ok {
		return nil
	}
	for _, c := range [...]recorder.Counter{recorder.LadderUsed, recorder.LadderExhausted, recorder.Retries, recorder.OOMs, recorder.Generation, recorder.LifetimeCount} {
		all = append(all, origin{name: counterName(c), figure: s.view.Figure(facts.set, c), count: true})
	}
	for _, c := range [...]recorder.Counter{recorder.PeakAllocated, recorder.Reserved, recorder.LifetimeBytes} {
		all = append(all, origin{name: counterName(c), figure: s.view.Figure(facts.set, c)})
	}
	return all
}

func (p *ladderPane) details(s *scene) (string, []string) {
	if !p.collect(s) || p.rows.facts.pool == nil {
		return "", nil
	}
	lines := poolDetails(p.rows.facts.pool)
	if oom := p.lastFailure(); oom != nil {
		lines = append(append(lines, "The allocation that failed last: "+model.OOMText(oom)), model.OOMDetail(oom)...)
	}
	return "Failure callback of " + p.rows.facts.pool.State.Name, lines
}
