package ui

import (
	"slices"
	"strings"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// headName is what a source is called in the header: a dump or a calibration
// file without its folder, so that what is shown of it has room.
func headName(view *model.SourceView) string {
	if isDump(view) || isCosts(view) {
		return view.Name[strings.LastIndexByte(view.Name, '/')+1:]
	}
	return view.Name
}

// drawDumpHeader says which moment of a dump is shown, of which device, and how
// far the dump can be trusted.
func (d *Dashboard) drawDumpHeader(p *grid.Pen, separate func()) {
	f := d.scene.dumpFacts()
	if f == nil {
		return
	}
	style := grid.Of(themes.Header)
	separate()
	switch {
	case f.atEnd && f.reading:
		p.Text(style, "the first ")
		p.Count(style.With(themes.Bold), int64(f.device.Events.Len()), 0)
		p.Text(style, " events")
	case f.atEnd:
		p.Text(style.With(themes.Bold), "end state")
		p.Text(style, " after ")
		p.Count(style, int64(f.device.Events.Len()), 0)
		p.Text(style, " events")
	case f.event < 0:
		p.Text(style.With(themes.Bold), "before the first event")
	default:
		p.Text(style, "event ")
		p.Count(style.With(themes.Bold), int64(f.event), 0)
		p.Text(style, " of ")
		p.Count(style, int64(f.device.Events.Len()), 0)
	}
	if len(f.index.Devices) > 1 {
		separate()
		p.Text(style, f.device.Name())
	}
	d.drawBadge(p, f, separate)
	separate()
	p.Text(grid.Of(themes.Dim), f.index.Dump.Format)
}

// drawBadge warns of a history that is cut and of what does not add up, with the
// reason as far as there is room.
func (d *Dashboard) drawBadge(p *grid.Pen, f *dumpFacts, separate func()) {
	if f.reading {
		return // it looks cut as long as it is being read
	}
	warning := grid.Of(themes.Warning)
	if word := f.history; word != "whole" {
		separate()
		style := warning
		if word == "late start" {
			style = grid.Of(themes.Header)
		}
		p.Text(style, word)
	}
	if len(f.index.Problems) > 0 {
		separate()
		p.Text(warning.With(themes.Bold), "inconsistent: ")
		p.Text(warning, f.index.Problems[0])
	}
}

// hintsOnDump are a context's hints on a memory dump: nothing there obeys, and
// what people look for first are the peak and why it failed.
func hintsOnDump(all []keymap.Hint, context keymap.Context) (hints []keymap.Hint) {
	for _, hint := range all {
		binding := keymap.Find(hint.Action)
		if hint.Action != keymap.Record && hint.Action != keymap.Pause && !(binding != nil && binding.Acts) {
			hints = append(hints, hint)
		}
	}
	for i := range hints {
		switch hints[i].Action {
		case keymap.AxisUnit:
			hints[i].Label = "s/events"
		case keymap.Follow:
			hints[i].Label = "end state"
		}
	}
	for i, action := range [...]keymap.Action{keymap.JumpToPeak, keymap.NextOOM} {
		if binding := keymap.Find(action); binding != nil && binding.In(context) {
			hints = slices.Insert(hints, min(i, len(hints)), keymap.Hint{Key: binding.Keys[0], Label: binding.Help, Action: action})
		}
	}
	return hints
}
