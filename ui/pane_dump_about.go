package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// dumpAboutPane is what a dump says of itself: its format, what it holds, the
// allocator's settings, and what does not add up.
type dumpAboutPane struct {
	name   string // of the source, as the title was made of it
	text   string // the title
	cursor listCursor
	lines  []noteLine
	serial uint64
}

func (p *dumpAboutPane) title(s *scene) (string, string) {
	if s.view == nil {
		return "About", ""
	}
	if p.name != s.view.Name || p.text == "" {
		p.name, p.text = s.view.Name, "About "+headName(s.view)
	}
	return p.text, ""
}

func (*dumpAboutPane) keys() keymap.Context { return keymap.List }

func (p *dumpAboutPane) do(action keymap.Action, s *scene) bool {
	f := s.dumpFacts()
	if f == nil {
		return false
	}
	p.collect(s, f)
	return p.cursor.move(action, len(p.lines))
}

// collect says what there is to say, once.
func (p *dumpAboutPane) collect(s *scene, f *dumpFacts) {
	if p.serial == f.serial && len(p.lines) > 0 {
		return
	}
	p.serial = f.serial
	plain := func(text string) { p.lines = append(p.lines, noteLine{text, grid.Of(themes.Text)}) }
	d, read := f.device, f.index.Dump
	p.lines = p.lines[:0]
	plain(dump.CleanText(read.Format) + ", " + model.FormatBytes(read.Bytes))
	plain(d.Name() + ": " + countText(d.Events.Len()) + " events, " + countText(len(d.Segments)) + " segments, " +
		countText(d.Blocks.Len()) + " blocks, " + countText(d.UsedStacks) + " distinct stacks")
	if text := f.timeText(d.Events.Len() - 1); d.Timed() && text != "" {
		plain("the last event: " + text)
	}
	if n := len(read.Annotations); n > 0 {
		plain(countText(n) + " marks by the program")
	}
	p.lines = append(p.lines, notesOf(f)...)
	for _, setting := range read.Settings {
		p.lines = append(p.lines, noteLine{dump.CleanText(setting.Key) + "  " + dump.CleanText(setting.Value), grid.Of(themes.Dim)})
	}
	for _, extra := range read.Extras {
		p.lines = append(p.lines, noteLine{"kept aside: " + dump.CleanText(extra), grid.Of(themes.Dim)})
	}
}

func (p *dumpAboutPane) draw(r grid.Region, s *scene, focused bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "What a dump says of itself fills this."))
		return
	}
	p.collect(s, f)
	p.cursor.at = min(p.cursor.at, len(p.lines)-1)
	p.cursor.scroll(len(p.lines), r.Height())
	for y := 0; y < r.Height() && p.cursor.offset+y < len(p.lines); y++ {
		line := &p.lines[p.cursor.offset+y]
		row := r.Row(y)
		if focused && p.cursor.offset+y == p.cursor.at {
			row = row.Forced(grid.Of(themes.Selection))
			row.Clear(0)
		}
		row.Fit(0, 0, r.Width(), line.style, line.text, grid.Left)
	}
}

func (p *dumpAboutPane) details(s *scene) (string, []string) {
	if f := s.dumpFacts(); f != nil {
		if p.collect(s, f); p.cursor.at < len(p.lines) {
			return "About this dump", []string{p.lines[p.cursor.at].text}
		}
	}
	return "", nil
}

func (p *dumpAboutPane) selectedText(s *scene) string {
	if _, lines := p.details(s); len(lines) > 0 {
		return lines[0]
	}
	return ""
}
