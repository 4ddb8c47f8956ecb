package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"vramscope/model"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// Whatever is pressed, clicked and shown, at whatever size, the panes of scopes
// and arenas draw, and one frame after another of the same is the same.
func TestAnyKeysOnScopesAndArenas(t *testing.T) {
	empty := newFixture(t)
	quiet := newFixture(t)
	quiet.newArena("quiet", gib)
	two := renderedFixture(t)
	two.arena.Release("done")
	two.newArena("second", 16*gib)
	two.renderFrame()
	snapshots := []*model.Snapshot{
		empty.snapshot(), quiet.snapshot(), renderedSnapshot(t), two.snapshot(), hugeTree(t, 500, 7, 1000), {},
	}
	keys := []string{}
	for _, context := range []keymap.Context{keymap.Tree, keymap.List, keymap.Timeline, keymap.Sort} {
		for _, binding := range keymap.All() {
			switch {
			case !binding.In(context), binding.Action == keymap.Quit, binding.Action == keymap.Suspend, len(binding.Keys[0]) > 1 && binding.Keys[0][:2] == "ct":
			default:
				keys = append(keys, binding.Keys[0])
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		snapshot := rapid.SampledFrom(snapshots)
		d := newScreen(t, snapshot.Draw(rt, "first"), layout.Scopes, 120, 32)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "do") {
			case 0:
				d.show(snapshot.Draw(rt, "next"))
			case 1:
				d.Update(tea.WindowSizeMsg{Width: rapid.IntRange(0, 200).Draw(rt, "width"), Height: rapid.IntRange(0, 60).Draw(rt, "height")})
			case 2:
				d.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: rapid.IntRange(0, 200).Draw(rt, "x"), Y: rapid.IntRange(0, 60).Draw(rt, "y")})
			case 3:
				d.Update(keyOf(rapid.SampledFrom([]string{"3", "4", "1"}).Draw(rt, "view")))
			default:
				d.Update(keyOf(rapid.SampledFrom(keys).Draw(rt, "key")))
			}
			d.drawFrame() // which pane has the keys follows from what was shown last
			if first := d.drawFrame(); first != d.drawFrame() {
				rt.Fatal("the same data is drawn in two ways")
			}
		}
	})
}
