package ui

import (
	"slices"

	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// drawCostHeader says for what the scopes of a calibration file are sized.
func (d *Dashboard) drawCostHeader(p *grid.Pen, separate func()) {
	index, _ := d.scene.costs()
	if index == nil {
		return
	}
	style := grid.Of(themes.Header)
	separate()
	p.Text(style, "replayed for ")
	p.Count(style.With(themes.Bold), d.choices.cost.question.Frames, 0)
	if d.choices.cost.question.Frames == 1 {
		p.Text(style, " frame")
	} else {
		p.Text(style, " frames")
	}
	if version := index.Costs.Version; version != "" {
		separate()
		p.Text(style, "algan ")
		p.Text(style, version)
	}
}

// hintsOnCosts are a context's hints on a calibration file: nothing there obeys,
// and the number of frames is what people turn.
func hintsOnCosts(all []keymap.Hint, context keymap.Context) (hints []keymap.Hint) {
	for _, hint := range all {
		binding := keymap.Find(hint.Action)
		if hint.Action != keymap.Record && hint.Action != keymap.Pause && hint.Action != keymap.AxisUnit && !(binding != nil && binding.Acts) {
			hints = append(hints, hint)
		}
	}
	if binding := keymap.Find(keymap.MoreFrames); binding.In(context) {
		hints = slices.Insert(hints, 0, keymap.Hint{Key: "+/-", Label: binding.Help, Action: keymap.MoreFrames})
	}
	return hints
}
