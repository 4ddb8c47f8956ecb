package ui

import (
	"fmt"

	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpFailurePane explains the last allocation of a memory dump that had failed
// by the moment that is looked at, and where none had, how the allocator was
// set.
type dumpFailurePane struct {
	offset  int // the first line that is seen
	page    int
	wrapped wrappedLines
	heading failureTitle
}

// dumpFailure is an allocation that failed, explained.
type dumpFailure struct {
	dump.OOM
	lines []string
}

// lastFailure is the moment of the last allocation that had failed by a moment,
// and its number among those of the trace, counted from 1; 0 where none had.
func lastFailure(m dumpMoment) (failed dumpMoment, number int) {
	for i, event := range m.device().OOMEvents {
		if int(event) > m.event {
			break
		}
		failed, number = dumpMoment{m.dumpTrace, dump.AtEvent(int(event)), int(event)}, i+1
	}
	return failed, number
}

// failureOf is the failure to explain; nil while it is worked out, and with
// number 0 where there is none.
func failureOf(s *scene) (failure *dumpFailure, number int) {
	m := s.dumpMoment()
	if m.index == nil {
		return nil, 0
	}
	failed, number := lastFailure(m)
	if number == 0 {
		return nil, 0
	}
	w := s.dumps
	w.size.take(m.dumpTrace)
	if w.failure.lacks(failed) {
		w.askFailure(failed)
	}
	failure, _ = w.failure.to(failed)
	return failure, number
}

// explain explains the failure at a moment.
func explain(failed dumpMoment) *dumpFailure {
	f := &dumpFailure{OOM: failed.device().OOM(failed.event)}
	f.lines = failed.index.Explain(&f.OOM)
	asked := "Asked for by " + failed.index.StackName(f.Stack) + "."
	if len(f.lines) > 0 { // the first repeats what stands above it
		f.lines = append(append(f.lines[1:], asked), f.lines[0])
	}
	return f
}

// failureTitle is the title, and what it was made of.
type failureTitle struct {
	number, all int
	event       int
	text        string
}

func (p *dumpFailurePane) title(s *scene) (string, string) {
	m := s.dumpMoment()
	if m.index == nil {
		return "Out of memory", ""
	}
	failed, number := lastFailure(m)
	title := failureTitle{number, len(m.device().OOMEvents), failed.event, p.heading.text}
	if title != p.heading || title.text == "" {
		title.text = "Settings of the allocator"
		if number > 0 {
			title.text = fmt.Sprintf("Out of memory at event %s, %d of %d", grid.AppendCount(nil, int64(title.event)), number, title.all)
		}
		p.heading = title
	}
	return p.heading.text, ""
}

func (*dumpFailurePane) keys() keymap.Context { return keymap.List }

func (*dumpFailurePane) prepare(s *scene) { failureOf(s) }

func (p *dumpFailurePane) forget() { p.wrapped, p.offset = wrappedLines{}, 0 }

func (p *dumpFailurePane) do(action keymap.Action, _ *scene) bool {
	c := listCursor{at: p.offset, page: p.page}
	if !c.move(action, max(len(p.wrapped.lines)-p.page+1, 1)) {
		return false
	}
	p.offset = c.at
	return true
}

func (p *dumpFailurePane) draw(r grid.Region, s *scene, _ bool) {
	m := s.dumpMoment()
	if m.index == nil {
		nothing(r, whyNoDump(s))
		return
	}
	failure, number := failureOf(s)
	switch {
	case number == 0:
		p.drawSettings(r, m)
	case failure == nil:
		nothing(r, "Working out why the allocation failed...")
	default:
		drawFailure(r.Row(0), failure)
		p.wrapped.take(failure, failure.lines, r.Width())
		p.drawLines(r.Sub(0, 1, r.Width(), r.Height()-1))
	}
}

// drawFailure is the failure in a row.
func drawFailure(r grid.Region, failure *dumpFailure) {
	dim, short := grid.Of(themes.Dim), isNarrow(r)
	pen := r.Pen(0, 0)
	pen.Rune(grid.Of(themes.Error), r.Glyphs().EventOOM)
	pen.Skip(1)
	pen.Text(grid.Of(themes.Error).With(themes.Bold), string(failure.Reason))
	pen.Text(dim, ": asked ")
	drawAmount(&pen, short, grid.Of(themes.Accent), failure.Asked)
	if short {
		pen.Text(dim, ", free ")
	} else {
		pen.Text(dim, ", device free ")
	}
	drawAmount(&pen, short, grid.Of(themes.Free), grid.Known(failure.Driver, failure.Driver >= 0))
}

// drawSettings writes how the allocator was set.
func (p *dumpFailurePane) drawSettings(r grid.Region, m dumpMoment) {
	text := "No allocation of this dump failed."
	if len(m.device().OOMEvents) > 0 {
		text = "No allocation had failed by this moment: o goes to the next that did."
	}
	if m.device().Events.Len() == 0 {
		text = "This dump has no trace: whether an allocation failed is not known."
	}
	p.wrapped.makeOf(m.index, r.Width(), text)
	p.drawLines(r)
}

func (p *dumpFailurePane) drawLines(r grid.Region) {
	p.page = max(r.Height(), 1)
	p.offset = min(p.offset, max(len(p.wrapped.lines)-p.page, 0))
	for y := range r.Height() {
		if p.offset+y >= len(p.wrapped.lines) {
			return
		}
		r.Text(0, y, grid.Of(themes.Text), p.wrapped.lines[p.offset+y])
	}
	if more := len(p.wrapped.lines) - p.offset - r.Height(); more > 0 && r.Height() > 0 {
		r.Set(r.Width()-1, r.Height()-1, r.Glyphs().Ellipsis, grid.Of(themes.Dim))
	}
}

// wrappedLines are sentences cut into lines, once for each width.
type wrappedLines struct {
	failure *dumpFailure
	index   *dump.Index
	head    string
	width   int
	lines   []string
}

// take cuts the sentences of a failure.
func (w *wrappedLines) take(failure *dumpFailure, sentences []string, width int) {
	if w.failure == failure && w.width == width {
		return
	}
	*w = wrappedLines{failure: failure, width: width}
	for _, sentence := range sentences {
		w.add(sentence)
	}
}

// makeOf cuts a sentence, and a dump's settings one by one.
func (w *wrappedLines) makeOf(index *dump.Index, width int, head string) {
	if w.failure == nil && w.index == index && w.width == width && w.head == head {
		return
	}
	*w = wrappedLines{index: index, width: width, head: head}
	w.add(head)
	for _, setting := range index.Dump.Settings {
		w.add(dump.CleanText(setting.Key) + " = " + dump.CleanText(setting.Value))
	}
	if len(index.Dump.Settings) == 0 {
		w.add("The dump does not say how the allocator was set.")
	}
}

func (w *wrappedLines) add(sentence string) {
	wrapper := widget.Wrap(sentence, w.width)
	for line, more := wrapper.Next(); more; line, more = wrapper.Next() {
		w.lines = append(w.lines, line)
	}
}

// details are the explanation as a whole, and the settings.
func (p *dumpFailurePane) details(s *scene) (string, []string) {
	m := s.dumpMoment()
	if m.index == nil {
		return "", nil
	}
	var lines []string
	title := "Settings of the allocator"
	if failure, number := failureOf(s); failure != nil {
		title = fmt.Sprintf("Out of memory at event %d, %d of %d", failure.Event, number, len(m.device().OOMEvents))
		lines = append(lines, failure.lines...)
		for _, total := range failure.Go[:min(len(failure.Go), mostNodeBlocks)] {
			lines = append(lines, fmt.Sprintf("%s in %d of %s", grid.AppendBytes(nil, total.Bytes), total.Count, m.index.StackName(total.Stack)))
		}
	}
	for _, setting := range m.index.Dump.Settings {
		lines = append(lines, "setting "+dump.CleanText(setting.Key)+" = "+dump.CleanText(setting.Value))
	}
	return title, lines
}

var (
	_ detailer = (*dumpFailurePane)(nil)
	_ preparer = (*dumpFailurePane)(nil)
)
