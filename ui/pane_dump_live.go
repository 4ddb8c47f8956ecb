package ui

import (
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpLivePane is what was live at the moment, by who allocated it: the largest
// first, all of it, blocks from before the recording too.
type dumpLivePane struct {
	rows    []dump.StackTotal // those that the filter keeps
	of      liveKey
	bytes   int64 // of all that is live, filtered or not
	count   int64
	cursor  listCursor
	head    int // rows above the list
	pattern filterPattern
	matches []bool // by stack + 1, whether the filter keeps it
	matched string // the filter and the device that matches were found for
	serial  uint64
}

// liveKey is what rows were made for.
type liveKey struct {
	serial  uint64
	event   int
	atEnd   bool
	pattern string
}

func (p *dumpLivePane) title(s *scene) (string, string) {
	f := s.dumpFacts()
	name := "Live then"
	if f == nil || f.atEnd {
		name = "Live at the end"
	}
	if p.pattern.text != "" {
		return name, "filter " + p.pattern.text
	}
	return name, ""
}

func (*dumpLivePane) keys() keymap.Context { return keymap.List }

// forget lets go of the dump.
func (p *dumpLivePane) forget() { p.rows, p.of, p.matches, p.matched = nil, liveKey{}, nil, "" }

func (*dumpLivePane) prepare(*scene) {}

// collect finds the rows of the moment.
func (p *dumpLivePane) collect(f *dumpFacts) {
	key := liveKey{f.serial, f.event, f.atEnd, p.pattern.text}
	if p.of == key {
		return
	}
	p.of = key
	p.bytes, p.count, p.rows = 0, 0, p.rows[:0]
	for _, total := range f.liveStacks() {
		p.bytes += total.Bytes
		p.count += total.Count
		if p.keeps(f, total.Stack) {
			p.rows = append(p.rows, total)
		}
	}
	p.cursor.at = min(p.cursor.at, max(len(p.rows)-1, 0))
}

// keeps says whether the filter keeps a stack: one of its frames matches.
func (p *dumpLivePane) keeps(f *dumpFacts, stack int32) bool {
	if p.pattern.pattern == nil {
		return true
	}
	if p.matched != p.pattern.text || p.serial != f.serial {
		p.matches, p.matched, p.serial = matchingStacks(f.index, p.pattern), p.pattern.text, f.serial
	}
	at := int(stack) + 1
	return at >= 0 && at < len(p.matches) && p.matches[at]
}

// matchingStacks says of each stack, counted from BeforeRecording, whether one
// of its frames matches a pattern; with an inverted pattern, whether none does.
func matchingStacks(index *dump.Index, pattern filterPattern) []bool {
	invert := pattern.invert
	pattern.invert = false
	matches := matchingFrames(index, &pattern)
	kept := make([]bool, max(index.Dump.Stacks.Len(), 1)+1)
	for at := range kept {
		found := false
		for _, frame := range index.Stack(int32(at) - 1) {
			if found = matches(frame); found {
				break
			}
		}
		kept[at] = found != invert
	}
	return kept
}

func (p *dumpLivePane) draw(r grid.Region, s *scene, focused bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "What was live at the moment that is looked at fills this."))
		return
	}
	p.collect(f)
	if len(p.rows) == 0 {
		text := "Nothing was live at this moment."
		if p.pattern.text != "" {
			text = "Nothing matches the filter. Esc clears it."
		}
		nothing(r, text)
		return
	}
	p.head = 0
	if r.Height() >= 3 {
		p.head = 1
		p.drawSum(r.Row(0), f)
	}
	room := r.Height() - p.head
	p.cursor.scroll(len(p.rows), room)
	for y := 0; y < room && p.cursor.offset+y < len(p.rows); y++ {
		p.drawTotal(r.Row(p.head+y), s, f, p.cursor.offset+y, focused)
	}
	widget.Scrollbar(r.Sub(r.Width()-1, p.head, 1, room), p.cursor.offset, room, len(p.rows))
}

// drawSum says what the rows add up to.
func (p *dumpLivePane) drawSum(r grid.Region, f *dumpFacts) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(1, 0)
	pen.Bytes(grid.Of(themes.Live).With(themes.Bold), p.bytes, liveBytes)
	pen.Text(dim, " requested, in ")
	pen.Count(text, p.count, 0)
	pen.Text(dim, " blocks by ")
	pen.Count(text, int64(len(f.liveStacks())), 0)
	pen.Text(dim, " stacks")
	if len(p.rows) < len(f.liveStacks()) && pen.Left() > 16 {
		pen.Text(dim, ", of which ")
		pen.Count(text, int64(len(p.rows)), 0)
		pen.Text(dim, " match")
	}
}

// Columns of a row's numbers.
const (
	liveBytes = 10
	liveShare = 6
	liveCount = 9
)

// drawTotal is a stack: its bytes, their share, the blocks, and who allocated.
func (p *dumpLivePane) drawTotal(r grid.Region, s *scene, f *dumpFacts, row int, focused bool) {
	total := &p.rows[row]
	if row == p.cursor.at && focused {
		r = r.Forced(grid.Of(themes.Selection))
		r.Clear(0)
		r.Set(0, 0, r.Glyphs().Selected, 0)
	}
	dim := grid.Of(themes.Dim)
	pen := r.Pen(1, 0)
	pen.Bytes(grid.Of(themes.Live), total.Bytes, liveBytes)
	if r.Width() >= 50 {
		pen.Percent(dim, total.Bytes, p.bytes, liveShare+1)
	}
	if r.Width() >= 36 {
		pen.Count(grid.Of(themes.Text), total.Count, liveCount)
		pen.Rune(dim, r.Glyphs().Times)
	}
	pen.Skip(1)
	names := s.dumps.names.of(f.index)
	name := frameName{name: "before recording"}
	if total.Stack != dump.BeforeRecording {
		name = names.frame(names.stack(total.Stack))
	}
	drawFrameName(r.Sub(pen.X(), 0, max(r.Width()-pen.X()-1, 0), 1), name)
}

func (p *dumpLivePane) do(action keymap.Action, s *scene) bool {
	f := s.dumpFacts()
	if f == nil {
		return false
	}
	p.collect(f)
	if !p.cursor.move(action, len(p.rows)) {
		return false
	}
	p.choose(s)
	return true
}

// choose shares the selected stack with the panes that show stacks.
func (p *dumpLivePane) choose(s *scene) {
	if p.cursor.at < len(p.rows) {
		s.choices.dump.stack = p.rows[p.cursor.at].Stack
	}
}

func (p *dumpLivePane) click(_, y, _, _ int, s *scene) {
	if at := p.cursor.offset + y - p.head; y >= p.head && at < len(p.rows) {
		p.cursor.at = at
		p.choose(s)
	}
}

func (p *dumpLivePane) filter() string { return p.pattern.text }

func (p *dumpLivePane) setFilter(text string) error { return p.pattern.set(text) }

func (p *dumpLivePane) selectedText(s *scene) string {
	f := s.dumpFacts()
	if f == nil || p.cursor.at >= len(p.rows) {
		return ""
	}
	total := &p.rows[p.cursor.at]
	return string(grid.AppendExact(nil, total.Bytes)) + " in " + countText(int(total.Count)) + " blocks by " + f.index.StackName(total.Stack)
}

func (p *dumpLivePane) details(s *scene) (string, []string) {
	f := s.dumpFacts()
	if f == nil || p.cursor.at >= len(p.rows) {
		return "", nil
	}
	return "Live " + f.momentText(), append([]string{p.selectedText(s), ""}, f.stackLines(p.rows[p.cursor.at].Stack, true)...)
}
