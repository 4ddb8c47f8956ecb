package widget

import (
	"testing"

	"vramscope/ui/grid"
)

func TestFrames(t *testing.T) {
	checkPictures(t, []picture{
		{
			"one pane", 24, 3,
			func(r grid.Region) { Frame(r, 0); Title(r, "Arena 0", "32.0 GiB", false) }, `
┌ Arena 0 ─── 32.0 GiB ┐
│                      │
└──────────────────────┘`, `
+ Arena 0 --- 32.0 GiB +
|                      |
+----------------------+`,
		},
		{
			"a note without room", 18, 2,
			func(r grid.Region) { Frame(r, 0); Title(r, "Arena 0", "32.0 GiB", false) }, `
┌ Arena 0 ───────┐
└────────────────┘`, "",
		},
		{
			"a title without room", 9, 2,
			func(r grid.Region) { Frame(r, 0); Title(r, "Headroom", "x", false) }, `
┌ Head… ┐
└───────┘`, "",
		},
		{
			"rules", 9, 5,
			func(r grid.Region) { Frame(r, 0); Rule(r, 2, 0); ColumnRule(r, 4, 0) }, `
┌───┬───┐
│   │   │
├───┼───┤
│   │   │
└───┴───┘`, `
+---+---+
|   |   |
+---+---+
|   |   |
+---+---+`,
		},
	})
}

func TestSharedSides(t *testing.T) {
	checkPictures(t, []picture{{
		"panes that share their sides", 32, 6,
		func(r grid.Region) {
			left, right, below := r.Sub(0, 0, 16, 4), r.Sub(15, 0, 17, 4), r.Sub(0, 3, 32, 3)
			for _, pane := range []grid.Region{left, right, below} {
				Frame(pane, FrameStyle(false))
			}
			Title(left, "Headroom", "", true)
			Title(right, "Pool", "gen 3", false)
			Title(below, "Timeline", "60 s", false)
		}, `
┌ Headroom ────┬ Pool ── gen 3 ┐
│              │               │
│              │               │
├ Timeline ────┴───────── 60 s ┤
│                              │
└──────────────────────────────┘`, `
+ Headroom ----+ Pool -- gen 3 +
|              |               |
|              |               |
+ Timeline ----+--------- 60 s +
|                              |
+------------------------------+`,
	}})
}
