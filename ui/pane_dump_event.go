package ui

import (
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpEventPane is everything about the event that is looked at: what happened,
// the stack, and for a failed allocation why it failed and what would have had
// to go.
type dumpEventPane struct {
	all    bool // frames that only add noise are shown too
	offset int
	rows   int // that there are, as it was drawn last
	page   int
	key    eventKey
	lines  []string // what happened
	frames []string
	failed bool
}

// eventKey is what the lines were made for.
type eventKey struct {
	serial uint64
	event  int
	atEnd  bool
	all    bool
	why    bool // it is known why the allocation failed
}

func (p *dumpEventPane) title(s *scene) (string, string) {
	f := s.dumpFacts()
	if f == nil {
		return "Event", ""
	}
	note := ""
	if !p.all && f.stackOf() != 0 {
		note = "enter shows all frames"
	}
	return f.titleText(), note
}

func (*dumpEventPane) keys() keymap.Context { return keymap.List }

// prepare has a failed allocation explained.
func (*dumpEventPane) prepare(s *scene) { whyFailed(s) }

// whyFailed explains the allocation that is looked at where it failed: nil while
// that is worked out, and of other events.
func whyFailed(s *scene) *dumpFailure {
	f := s.dumpFacts()
	if f == nil || !f.failed() {
		return nil
	}
	if failure, _ := failureOf(s); failure != nil && failure.Event == f.event {
		return failure
	}
	return nil
}

// forget lets go of the dump.
func (p *dumpEventPane) forget() { *p = dumpEventPane{all: p.all} }

func (p *dumpEventPane) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Up:
		p.offset--
	case keymap.Down:
		p.offset++
	case keymap.PageUp:
		p.offset -= max(p.page-1, 1)
	case keymap.PageDown:
		p.offset += max(p.page-1, 1)
	case keymap.Top:
		p.offset = 0
	case keymap.Bottom:
		p.offset = p.rows
	case keymap.Details:
		p.all = !p.all
	default:
		return false
	}
	p.offset = min(max(p.offset, 0), max(p.rows-p.page, 0))
	return true
}

// collect makes the lines of the moment, once.
func (p *dumpEventPane) collect(s *scene, f *dumpFacts) {
	failure := whyFailed(s)
	key := eventKey{f.serial, f.event, f.atEnd, p.all, failure != nil}
	if p.key == key {
		return
	}
	if p.key.event != key.event || p.key.atEnd != key.atEnd || p.key.serial != key.serial {
		p.offset = 0
	}
	p.key = key
	var why []string
	if failure != nil {
		why = f.index.Explain(&failure.OOM)
	} else if f.failed() {
		why = []string{"Why it failed is being worked out."}
	}
	p.lines, p.frames = f.eventLines(why), nil
	if stack := f.stackOf(); stack != 0 {
		p.frames = f.stackLines(stack, p.all)
	}
	p.failed = f.failed()
}

func (p *dumpEventPane) draw(r grid.Region, s *scene, _ bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "The selected event's details fill this: who allocated, when it was freed, why an allocation failed."))
		return
	}
	p.collect(s, f)
	p.page = max(r.Height(), 1)
	p.rows = p.height(r.Width())
	p.offset = min(p.offset, max(p.rows-p.page, 0))
	y := -p.offset
	for i, line := range p.lines {
		style := grid.Of(themes.Text)
		if p.failed && i == 0 {
			style = grid.Of(themes.Error).With(themes.Bold)
		}
		y += paragraphAt(r, y, 0, style, line)
	}
	for _, frame := range p.frames {
		y += paragraphAt(r, y, 2, grid.Of(themes.Dim), frame)
	}
	widget.Scrollbar(r.Sub(r.Width()-1, 0, 1, r.Height()), p.offset, p.page, p.rows)
}

// height is how many rows all of it takes.
func (p *dumpEventPane) height(width int) (rows int) {
	for _, line := range p.lines {
		rows += widget.WrapHeight(line, width-1)
	}
	for _, frame := range p.frames {
		rows += widget.WrapHeight(frame, width-3)
	}
	return rows
}

// paragraphAt draws a text from a row on, which may lie above the region, and
// returns the rows that it takes.
func paragraphAt(r grid.Region, y, indent int, style grid.Style, text string) int {
	wrapped, rows := widget.Wrap(text, r.Width()-1-indent), 0
	for line, more := wrapped.Next(); more; line, more = wrapped.Next() {
		if at := y + rows; at >= 0 && at < r.Height() {
			r.Text(indent, at, style, line)
		}
		rows++
	}
	return rows
}

func (p *dumpEventPane) selectedText(s *scene) string {
	return (&dumpMomentPane{}).selectedText(s)
}
