package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/keymap"
)

// trueHints are hints that say what works on what is looked at: those of keys that
// act are marked where nobody would obey, and the recording's says that it ends
// one that runs. What is marked says why when it is pressed.
func (d *Dashboard) trueHints(all []keymap.Hint, context keymap.Context) []keymap.Hint {
	on := hintsOn{recording: d.feed.Recording() != ""}
	if view := d.scene.newest; view != nil {
		on.hello, on.acts, on.lives = view.Hello, canAct(view), view.File == "" && !isOver(view)
	}
	kept := &d.hintsTrue[context]
	if kept.hints != nil && kept.on == on {
		return kept.hints
	}
	kept.on, kept.hints = on, append(kept.hints[:0:0], all...)
	for i := range kept.hints {
		hint := &kept.hints[i]
		name, acts := commandOf[hint.Action]
		switch {
		case hint.Action == keymap.Record && on.recording:
			hint.Label = "stop"
		case hint.Action == keymap.Record:
			hint.Off = !on.lives
		case !acts:
		case !on.acts, on.hello != nil && d.scene.newest.Kind == recorder.KindProcess && !model.Obeys(d.scene.newest, name):
			hint.Off = true
		}
	}
	return kept.hints
}

// canAct says whether a key can act where a source is selected: a GPU passes it on
// to its programs.
func canAct(view *model.SourceView) bool {
	if view.File != "" || isOver(view) {
		return false
	}
	return view.Kind == recorder.KindProcess && view.Hello != nil || view.Kind == recorder.KindDevice && view.FirstDevice() != ""
}

// hintsOn is what the hints depend on.
type hintsOn struct {
	hello       *recorder.Hello // of the process that is looked at
	acts, lives bool
	recording   bool
}

// keptHints are the hints made for it.
type keptHints struct {
	on    hintsOn
	hints []keymap.Hint
}
