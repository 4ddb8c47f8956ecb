package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// dumpInsidePane is how far a dump can be trusted: what was there before the
// recording, whether its history is whole, and what does not add up.
type dumpInsidePane struct {
	cursor listCursor
	lines  []noteLine
	serial uint64
}

// noteLine is a line with how much it matters.
type noteLine struct {
	text  string
	style grid.Style
}

func (p *dumpInsidePane) title(s *scene) (string, string) {
	f := s.dumpFacts()
	switch {
	case f == nil:
		return "History", ""
	case len(f.index.Problems) > 0 && !f.reading:
		return "History", "inconsistent"
	}
	return "History", f.history
}

// historyWord is a device's history in a word or two.
func historyWord(d *dump.Device) string {
	cut, reason := d.History()
	switch {
	case cut:
		return "history cut"
	case d.Events.Len() == 0:
		return "no history"
	case reason != "":
		return "late start"
	}
	return "whole"
}

func (*dumpInsidePane) keys() keymap.Context { return keymap.List }

func (p *dumpInsidePane) do(action keymap.Action, s *scene) bool {
	f := s.dumpFacts()
	if f == nil {
		return false
	}
	p.collect(f)
	return p.cursor.move(action, len(p.lines))
}

// collect says what there is to say, once.
func (p *dumpInsidePane) collect(f *dumpFacts) {
	if p.serial == f.serial {
		return
	}
	p.serial, p.lines = f.serial, notesOf(f)
}

// notesOf is what there is to know of a dump besides its numbers, what matters
// most first.
func notesOf(f *dumpFacts) (lines []noteLine) {
	if f.reading {
		return []noteLine{{"the file is still being read: this is its end state and the first part of its trace", grid.Of(themes.Text)}}
	}
	cut, reason := f.device.History()
	if base := &f.device.Base; *base != (dump.Totals{}) {
		lines = append(lines, noteLine{"before recording: " + model.FormatBytes(base.Active()) + " allocated, " +
			model.FormatBytes(base[dump.Reserved]) + " reserved", grid.Of(themes.Text)})
	}
	switch {
	case cut:
		lines = append(lines, noteLine{"history cut: " + reason, grid.Of(themes.Warning)})
	case reason == "":
		lines = append(lines, noteLine{"the trace holds the whole history: nothing is known to be older", grid.Of(themes.Text)})
	case len(lines) == 0:
		lines = append(lines, noteLine{reason, grid.Of(themes.Text)})
	}
	for _, problem := range f.index.Problems {
		lines = append(lines, noteLine{upperFirst(problem) + ".", grid.Of(themes.Warning)})
	}
	return lines
}

func (p *dumpInsidePane) draw(r grid.Region, s *scene, focused bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "What is known of a dump's history fills this."))
		return
	}
	p.collect(f)
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

func (p *dumpInsidePane) details(s *scene) (string, []string) {
	f := s.dumpFacts()
	if f == nil {
		return "", nil
	}
	var lines []string
	for _, line := range notesOf(f) {
		lines = append(lines, line.text)
	}
	return "What is known of this dump", append(lines, f.beginLines()...)
}

func (p *dumpInsidePane) selectedText(s *scene) string {
	if f := s.dumpFacts(); f != nil {
		if p.collect(f); p.cursor.at < len(p.lines) {
			return p.lines[p.cursor.at].text
		}
	}
	return ""
}

// unfilledPane is a pane that a memory dump has nothing for; it says what would
// fill it.
type unfilledPane struct {
	name  string
	fills string
}

func (p unfilledPane) title(*scene) (string, string)        { return p.name, "" }
func (unfilledPane) keys() keymap.Context                   { return keymap.List }
func (unfilledPane) do(keymap.Action, *scene) bool          { return false }
func (p unfilledPane) draw(r grid.Region, _ *scene, _ bool) { nothing(r, p.fills) }

// addUnfilledDumpPanes adds the panes about arenas, of which a snapshot knows
// nothing.
func addUnfilledDumpPanes(panes map[layout.Pane]pane) {
	const recording = " A memory dump has none, a recording of the run has: watch the run with vramscope, then m."
	panes[layout.ArenaPane] = unfilledPane{"Arena", "No arena." + recording}
	panes[layout.PointersPane] = unfilledPane{"Pointers", "An arena's pointers over time." + recording}
	panes[layout.MarksPane] = unfilledPane{"Marks", "An arena's saved pointers." + recording}
	panes[layout.StreamPane] = unfilledPane{"Events of the arena", "What a scope did, with a running pointer." + recording}
	panes[layout.CallersPane] = unfilledPane{"Callers", "Who allocated in an arena, and which types." + recording}
}
