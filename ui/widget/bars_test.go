package widget

import (
	"testing"

	"pgregory.net/rapid"

	"vramscope/themes"
	"vramscope/ui/grid"
)

const gib = 1 << 30

func headroomGauge() Gauge {
	return Gauge{
		Total: 1404 * gib / 10,
		Segments: []Segment{
			{"render.py", 712 * gib / 10, grid.Of(themes.Used), themes.FillSolid},
			{"others", 124 * gib / 10, grid.Of(themes.Others), themes.FillDense},
			{"driver", 6 * gib / 10, grid.Of(themes.Driver), themes.FillMedium},
			{"free", 562 * gib / 10, grid.Of(themes.Free), themes.FillLight},
		},
		Gates: []Gate{{1404 * gib * 80 / 1000, grid.Of(themes.Gate)}, {1404 * gib * 85 / 1000, grid.Of(themes.Gate)}},
	}
}

func TestGauge(t *testing.T) {
	checkPictures(t, []picture{
		{
			"headroom with its gates", 60, 2,
			func(r grid.Region) { g := headroomGauge(); g.Draw(r); g.Legend(r, 0, 1) }, `
██████████████████████████████▓▓▓▓▓▓▒░░░░░░░░░░░╎░░╎░░░░░░░░
█ render.py 71.2  ▓ others 12.4  ▒ driver 0.6  ░ free 56.2`, `
##############################%%%%%%=...........:..:........
# render.py 71.2  % others 12.4  = driver 0.6  . free 56.2`,
		},
		{
			"the least of what is there", 10, 1,
			func(r grid.Region) {
				g := Gauge{Total: 1000, Segments: []Segment{{Value: 1, Fill: 0}, {Value: 1, Fill: 1}, {Value: 998, Fill: 3}}}
				g.Draw(r)
			}, "█▓░░░░░░░░", "#%........",
		},
		{
			"the least of what is there, at the end", 10, 1,
			func(r grid.Region) {
				g := Gauge{Total: 1000, Segments: []Segment{{Value: 998, Fill: 3}, {Value: 1, Fill: 1}, {Value: 1, Fill: 0}}}
				g.Draw(r)
			}, "░░░░░░░░▓█", "",
		},
		{
			"more than the whole", 10, 1,
			func(r grid.Region) {
				g := Gauge{Total: 100, Segments: []Segment{{Value: 100, Fill: 0}, {Value: 100, Fill: 1}}}
				g.Draw(r)
			}, "█████▓▓▓▓▓", "",
		},
		{
			"less than the whole", 10, 1,
			func(r grid.Region) {
				g := Gauge{Total: 100, Segments: []Segment{{Value: 50, Fill: 0}, {Value: grid.Missing, Fill: 1}}}
				g.Draw(r)
			}, "█████", "",
		},
		{
			"unknown", 11, 1,
			func(r grid.Region) { g := Gauge{Total: grid.Missing}; g.Draw(r) }, "  unknown", "",
		},
	})
}

// However the parts are, each has a column if there is one for it, and those
// of the whole come to all of them.
func TestGaugeGivesEveryPartAColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), 1, maxSegments).Draw(t, "values")
		width := rapid.IntRange(1, 300).Draw(t, "width")
		segments, total, parts := make([]Segment, len(values)), int64(0), 0
		for i, v := range values {
			segments[i].Value = v
			total += v
			if v > 0 {
				parts++
			}
		}
		if total == 0 {
			return
		}
		ends := make([]int, len(values))
		divide(ends, segments, total, width)
		start := 0
		for i, end := range ends {
			if end < start || end > width {
				t.Fatalf("part %d ends at %d, the one before at %d, of %d", i, end, start, width)
			}
			if values[i] > 0 && end == start && parts <= width {
				t.Fatalf("part %d of %d has no column: %v", i, width, ends)
			}
			if values[i] == 0 && end != start {
				t.Fatalf("part %d is nothing and has columns: %v", i, ends)
			}
			start = end
		}
		if start != width {
			t.Fatalf("the parts of the whole take %d of %d columns", start, width)
		}
	})
}

func TestArenaBar(t *testing.T) {
	checkPictures(t, []picture{
		{
			"forward, reverse, high-water and marks", 40, 2,
			func(r grid.Region) {
				a := ArenaBar{Capacity: 32 * gib, Forward: 148 * gib / 10, Reverse: 13 * gib / 10, HighWater: 226 * gib / 10, Marks: []int64{0, 9 * gib}}
				a.Draw(r)
			}, `
▕█████████████████▋········┊·········▐█▏
 ▴         ▴`, `
[#################-........|.........=#]
 ^         ^`,
		},
		{
			"marks without a row of their own", 12, 1,
			func(r grid.Region) {
				a := ArenaBar{Capacity: 100, Forward: 50, HighWater: grid.Missing, Marks: []int64{20}}
				a.Draw(r)
			}, "▕██▴██·····▏", "[##^##.....]",
		},
		{
			"empty", 12, 1,
			func(r grid.Region) { a := ArenaBar{Capacity: 100}; a.Draw(r) }, "▕··········▏", "[..........]",
		},
		{
			"a sliver on each side", 12, 1,
			func(r grid.Region) { a := ArenaBar{Capacity: 1 << 40, Forward: 1, Reverse: 1}; a.Draw(r) }, "▕▏········▐▏", "",
		},
		{
			"exactly full", 12, 1,
			func(r grid.Region) { a := ArenaBar{Capacity: 100, Forward: 60, Reverse: 40, HighWater: 100}; a.Draw(r) }, "▕██████████▏", "",
		},
		{
			"nearly all forward", 12, 1,
			func(r grid.Region) { a := ArenaBar{Capacity: 1000, Forward: 999, Reverse: 1}; a.Draw(r) }, "▕█████████▐▏", "",
		},
		{
			"of unknown size", 12, 1,
			func(r grid.Region) { a := ArenaBar{Capacity: grid.Missing}; a.Draw(r) }, "▕ unknown  ▏", "",
		},
	})
}

func TestMiniBarAndSparkline(t *testing.T) {
	checkPictures(t, []picture{
		{
			"bars", 8, 6,
			func(r grid.Region) {
				for y, part := range []int64{0, 1, 50, 55, 100, grid.Missing} {
					MiniBar(r.Row(y), part, 100, 0)
				}
			}, "\n\n▏\n████\n████▍\n████████\n–", "",
		},
		{
			"sparkline", 12, 1,
			func(r grid.Region) { Sparkline(r, []int64{0, 1, 2, 3, 4, grid.Missing, 6, 7, 8}, 0, 0) }, "   ▁▁▂▃▄ ▆▇█", "   ..:-= *%#",
		},
		{
			"sparkline with more than fits", 3, 1,
			func(r grid.Region) { Sparkline(r, []int64{9, 9, 9, 1, 2, 4}, 8, 0) }, "▁▂▄", "",
		},
		{
			"sparkline of nothing", 3, 1,
			func(r grid.Region) { Sparkline(r, []int64{0, 0, 0}, 0, 0) }, "▁▁▁", "...",
		},
		{
			"dots", 6, 1,
			func(r grid.Region) { Dots(r, 0, 0, 3, 5, 0) }, "●●●○○", "***oo",
		},
	})
}

func TestScrollbar(t *testing.T) {
	for _, c := range []struct {
		offset, visible, total int
		want                   string
	}{
		{0, 5, 5, "     "}, {0, 5, 10, "███││"}, {5, 5, 10, "││███"}, {1, 5, 1_000_000, "█││││"}, {999_995, 5, 1_000_000, "││││█"},
		{500_000, 5, 1_000_000, "││█││"},
	} {
		g := newGrid(unicode, 1, 5)
		Scrollbar(g.All(), c.offset, c.visible, c.total)
		got := ""
		for y := range 5 {
			char, _ := g.All().Get(0, y)
			got += string(char)
		}
		if got != c.want {
			t.Errorf("%d of %d at %d: %s, want %s", c.visible, c.total, c.offset, got, c.want)
		}
	}
}

func TestScrollTo(t *testing.T) {
	for _, c := range []struct{ offset, selected, visible, total, want int }{
		{0, 0, 10, 100, 0}, {0, 9, 10, 100, 0}, {0, 10, 10, 100, 1}, {50, 49, 10, 100, 49}, {95, 99, 10, 100, 90},
		{5, 0, 10, 3, 0}, {0, 0, 10, 0, 0}, {0, -1, 10, 100, 0}, {0, 5, 0, 10, 6},
	} {
		if got := ScrollTo(c.offset, c.selected, c.visible, c.total); got != c.want {
			t.Errorf("ScrollTo(%d, %d, %d, %d) = %d, want %d", c.offset, c.selected, c.visible, c.total, got, c.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	checkPictures(t, []picture{{
		"free blocks by size", 46, 4,
		func(r grid.Region) {
			h := Histogram{Bins: []Bin{{1 << 20, 2113, 5 * gib}, {1 << 21, 0, 0}, {1 << 27, 3, gib}, {gib, 1, 2 * gib}}}
			h.Draw(r)
		}, `
≥ 1.0M █████████████████████████  2,113  5.0G
≥ 2.0M                                0    0B
≥ 128M █████                          3  1.0G
≥ 1.0G ██████████                     1  2.0G`, `
> 1.0M #########################  2,113  5.0G
> 2.0M                                0    0B
> 128M #####                          3  1.0G
> 1.0G ##########                     1  2.0G`,
	}})
}

func TestBlockMap(t *testing.T) {
	cells := []BlockCell{
		{Live: 4, Step: NoStep}, {Live: 3, Free: 1, Step: 2}, {Live: 1, Free: 3, Step: 7}, {Free: 4}, {Pending: 3, Live: 1}, {},
		{Live: 2, Free: 2, Step: 0}, {Free: 1},
	}
	checkPictures(t, []picture{
		{
			"states and cursor", 7, 2,
			func(r grid.Region) { m := BlockMap{Cells: cells, Cursor: 6}; m.Draw(r) }, `
 █▓░·▚
▌▓·`, `
 #=-.p
>=.`,
		},
		{
			"wholly free", 5, 1,
			func(r grid.Region) {
				m := BlockMap{Cells: []BlockCell{{Free: 1}, {Free: 1}, {}}, Cursor: -1, Releasable: true}
				m.Draw(r)
			}, " □□", " oo",
		},
		{
			"legend", 70, 1,
			func(r grid.Region) { BlockLegend(r, 0, 0) },
			"█ allocated  ▓ mostly  ░ partly  ▚ pending  · free  □ releasable",
			"# allocated  = mostly  - partly  p pending  . free  o releasable",
		},
	})
	m := BlockMap{Cells: cells}
	for _, c := range []struct{ x, y, want int }{{1, 0, 0}, {6, 0, 5}, {1, 1, 6}, {2, 1, 7}, {3, 1, -1}, {0, 0, -1}, {7, 0, -1}, {1, -1, -1}} {
		if got := m.CellAt(7, c.x, c.y); got != c.want {
			t.Errorf("CellAt(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

func TestFlame(t *testing.T) {
	f := Flame{Total: 100, Selected: 2, Cells: []FlameCell{
		{0, 0, 100, "render", 0}, {1, 0, 60, "wavefront_state", 0}, {1, 60, 90, "postprocess", 0}, {2, 0, 30, "sheet_resolve", 0}, {2, 30, 31, "tiny", 0},
	}}
	checkPictures(t, []picture{
		{
			"a tree as boxes", 40, 3, f.Draw, `
▏render
▏wavefront_state        ▸postprocess
▏sheet_reso…`, `
]render
]wavefront_state        >postprocess
]sheet_reso~`,
		},
		{
			"from the second row", 40, 1,
			func(r grid.Region) { g := f; g.Top = 1; g.Draw(r) }, "▏wavefront_state        ▸postprocess", "",
		},
	})
	for _, c := range []struct{ x, y, want int }{{0, 0, 0}, {23, 1, 1}, {24, 1, 2}, {39, 1, -1}, {12, 2, -1}, {0, 3, -1}} {
		if got := f.At(40, 3, c.x, c.y); got != c.want {
			t.Errorf("At(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}
