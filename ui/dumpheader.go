package ui

import (
	"slices"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

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
	if d.scene.view.Status == model.StatusLoading {
		return // it looks cut as long as it is being read
	}
	warning := grid.Of(themes.Warning)
	if word := historyWord(f.device); word != "whole" {
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
	for i, action := range [...]keymap.Action{keymap.JumpToPeak, keymap.NextOOM} {
		if binding := keymap.Find(action); binding != nil && binding.In(context) {
			hints = slices.Insert(hints, min(i, len(hints)), keymap.Hint{Key: binding.Keys[0], Label: binding.Help, Action: action})
		}
	}
	return hints
}
