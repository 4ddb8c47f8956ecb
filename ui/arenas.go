package ui

import (
	"fmt"
	"strconv"

	"vramscope/model"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// turnArena looks at another arena, or at all of them together.
func (d *Dashboard) turnArena(action keymap.Action) {
	view := d.scene.view
	if view == nil || len(view.Arenas) == 0 {
		d.say(widget.StatusInfo, "this source has no arena")
		return
	}
	c := &d.choices
	if action == keymap.AllArenas {
		c.allArenas = !c.allArenas
		if c.allArenas {
			d.say(widget.StatusInfo, fmt.Sprintf("the scopes (4) are summed by name over %d arenas; A ends it", len(view.Arenas)))
		} else {
			d.say(widget.StatusInfo, "looking at "+arenaName(c.arenaOf(view))+" alone")
		}
		return
	}
	step := 1
	if action == keymap.PreviousArena {
		step = -1
	}
	chosen, at, ok := c.nextArena(view, step)
	if !ok {
		d.say(widget.StatusInfo, "no other arena in that direction")
		return
	}
	text := fmt.Sprintf("looking at %s, arena %d of %d", arenaName(chosen), at+1, len(view.Arenas))
	if chosen.State.Released != 0 {
		text += "; it has been released"
	}
	d.say(widget.StatusInfo, text)
}

// nextArena looks at the arena so many places on. It is not ok, and nothing
// changes, where there is none.
func (c *choices) nextArena(view *model.SourceView, step int) (chosen *model.ArenaView, at int, ok bool) {
	current := c.arenaOf(view)
	for i, arena := range view.Arenas {
		if arena == current {
			at = i + step
		}
	}
	if at < 0 || at >= len(view.Arenas) {
		return current, at - step, false
	}
	c.arena, c.allArenas = view.Arenas[at].ID, false
	return view.Arenas[at], at, true
}

// arenaName is what to call an arena. Names come from the program: they are
// cleaned where they are drawn.
func arenaName(arena *model.ArenaView) string {
	if arena.State.Name != "" {
		return arena.State.Name
	}
	return "arena " + strconv.FormatInt(arena.ID, 10)
}
