package ui

import (
	"fmt"
	"strings"

	"vramscope/model"
)

// abandonedReason is why scopes of an arena were abandoned, in words.
type abandonedReason struct {
	view  *model.SourceView
	arena *model.ArenaView
	text  string
}

// take finds the reason: what the newest reset that abandoned scopes says.
func (a *abandonedReason) take(view *model.SourceView, arena *model.ArenaView) {
	if a.arena == arena && a.view == view {
		return
	}
	*a = abandonedReason{view: view, arena: arena}
	if view == nil || arena == nil {
		return
	}
	name := arenaName(arena) + " "
	for i := len(view.Moments) - 1; i >= 0; i-- {
		m := &view.Moments[i]
		text, ours := strings.CutPrefix(m.Text, name)
		if m.Kind != model.MomentArenaReset || !ours {
			continue
		}
		a.text = text
		if m.Frame >= 0 {
			a.text = fmt.Sprintf("frame %d: %s", m.Frame, text)
		}
		return
	}
}
