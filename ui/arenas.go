package ui

import (
	"fmt"
	"slices"
	"strconv"

	"vramscope/model"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// turnArena looks at another arena, or at all of them together.
func (d *Dashboard) turnArena(action keymap.Action) {
	view := d.scene.view
	if view == nil || len(view.Arenas) == 0 {
		d.turnMemory(action)
		return
	}
	if action == keymap.AllArenas {
		d.turnSumming()
		return
	}
	step := 1
	if action == keymap.PreviousArena {
		step = -1
	}
	summed := d.scene.sumsArenas()
	chosen, at, ok := d.scene.nextArena(step)
	if !ok {
		d.say(widget.StatusInfo, "no other arena in that direction")
		return
	}
	text := fmt.Sprintf("looking at %s, arena %d of %d", arenaName(chosen), at+1, len(view.Arenas))
	if chosen.State.Released != 0 {
		text += "; it has been released"
	}
	if summed {
		text += "; A sums the scopes of all arenas again"
	}
	d.say(widget.StatusInfo, text)
}

// turnSumming sums the scopes over all arenas, or looks at one arena.
func (d *Dashboard) turnSumming() {
	c, view := &d.choices, d.scene.view
	if !d.scene.sumsArenas() {
		c.summing = sumAlways
		d.say(widget.StatusInfo, "view 4 sums the scopes of all arenas up by name; A looks at one again")
		return
	}
	c.summing = sumNever
	d.say(widget.StatusInfo, "looking at "+arenaName(c.arenaOf(view))+" alone; A sums the scopes of all arenas")
}

// turnMemory looks at another device of a process that has no arena.
func (d *Dashboard) turnMemory(action keymap.Action) {
	if d.scene.view == nil {
		d.say(widget.StatusInfo, "nothing is watched")
		return
	}
	devices := d.scene.view.Devices(d.scene.beside)
	if len(devices) < 2 || action == keymap.AllArenas {
		d.say(widget.StatusInfo, "this source has no arena, and memory on no other device")
		return
	}
	at := max(slices.Index(devices, d.scene.device), 0) + 1
	if action == keymap.PreviousArena {
		at -= 2
	}
	if at < 0 || at >= len(devices) {
		d.say(widget.StatusInfo, "no other device in that direction")
		return
	}
	d.choices.memory, d.choices.allocator = devices[at], ""
	d.setScene()
	d.say(widget.StatusInfo, fmt.Sprintf("headroom and timeline are now those of %s, device %d of %d", d.scene.headroom().Name, at+1, len(devices)))
}

// arenaName is what to call an arena. Names come from the program: they are
// cleaned where they are drawn.
func arenaName(arena *model.ArenaView) string {
	if arena.State.Name != "" {
		return arena.State.Name
	}
	return "arena " + strconv.FormatInt(arena.ID, 10)
}
