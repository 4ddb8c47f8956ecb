package widget

import (
	"testing"

	"vramscope/themes"
	"vramscope/ui/grid"
)

// steps are columns that hold each value for n columns; -1 is not known.
func steps(n int, values ...int64) []Column {
	var columns []Column
	for _, v := range values {
		for range n {
			columns = append(columns, Column{v, v, v, v >= 0})
		}
	}
	return columns
}

func TestChart(t *testing.T) {
	checkPictures(t, []picture{
		{
			"an area with a gap, axes and times", 34, 6,
			func(r grid.Region) {
				each := 4
				if r.Glyphs().Braille {
					each = 8 // two columns in a character
				}
				c := Chart{
					Series: []Series{{Name: "reserved", Kind: Area, Columns: steps(each, 2*gib, 4*gib, 8*gib, -1, 6*gib, 0, gib)}},
					High:   8 * gib, From: -60e9, To: 0, Live: true,
				}
				c.Draw(r)
			}, `
 8.0G┤        ⣿⣿⣿⣿
     │        ⣿⣿⣿⣿    ⣶⣶⣶⣶
 4.0G┤    ⣶⣶⣶⣶⣿⣿⣿⣿    ⣿⣿⣿⣿
     │⣤⣤⣤⣤⣿⣿⣿⣿⣿⣿⣿⣿    ⣿⣿⣿⣿
   0B┤⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿    ⣿⣿⣿⣿⣀⣀⣀⣀⣶⣶⣶⣶
      -60 s         -30 s      now`, `
 8.0G+        ####
     |        ####    ####
 4.0G+    ########    ####
     |############    ####    ####
   0B+############    ############
      -60 s         -30 s      now`,
		},
		{
			"a line does not break", 8, 3,
			func(r grid.Region) {
				c := Chart{Series: []Series{{Columns: steps(4, 0, 11, 0, 6)}}, High: 11}
				c.Draw(r)
			}, `
  ⡏⠉⡇
  ⡇ ⡇ ⡖⠒
⣀⣀⡇ ⣇⣀⡇`, "",
		},
		{
			"shades, the later over the earlier", 12, 3,
			func(r grid.Region) {
				c := Chart{Series: []Series{
					{Kind: LightArea, Columns: steps(24, 11)}, {Kind: ShadeArea, Columns: steps(16, 7)}, {Kind: Area, Columns: steps(8, 3)},
				}, High: 11}
				c.Draw(r)
			}, `
⠡⠡⠡⠡⠡⠡⠡⠡⠡⠡⠡⠡
⢕⢕⢕⢕⢕⢕⢕⢕⠡⠡⠡⠡
⣿⣿⣿⣿⢕⢕⢕⢕⠡⠡⠡⠡`, "",
		},
		{
			"a limit, events and a cursor", 30, 5,
			func(r grid.Region) {
				c := Chart{
					Series: []Series{{Name: "live", Kind: Area, Columns: steps(24, 2*gib)}},
					From:   100, To: 123, Unit: Frames,
					Limits:  []Limit{{8 * gib, 0}},
					Markers: []Marker{{103, r.Glyphs().EventOOM, 0}, {104, r.Glyphs().EventRebuild, 0}, {90, '?', 0}},
					Cursor:  120, HasCursor: true,
				}
				c.Draw(r)
			}, `
 8.0G┤╌╌╌✗⟲╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
     │                    │
     │⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀        │
   0B┤⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿        │
      100                  123`, `
 8.0G+---X@-------------------
     |                    |
     |########################
   0B+########################
      100                  123`,
		},
		{
			"too narrow for axes, a legend", 23, 2,
			func(r grid.Region) {
				c := Chart{Series: []Series{{Name: "live", Kind: Line}, {Name: "floor", Kind: Dotted}, {Name: "much too long", Kind: Area}}}
				if used := c.Legend(r, 0, 0); used != 18 || c.LegendWidth() != 35 {
					t.Errorf("the legend took %d of %d columns", used, c.LegendWidth())
				}
			}, " ── live ┄┄ floor", " ** live ++ floor",
		},
		{
			"one row", 30, 1,
			func(r grid.Region) { c := Chart{Series: []Series{{Kind: Area, Columns: steps(48, 3)}}}; c.Draw(r) },
			"   3B┤⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿", "",
		},
	})
}

func TestChartParts(t *testing.T) {
	c := Chart{From: 0, To: 100}
	for _, p := range []struct {
		width, height int
		want          grid.Rect
	}{
		{80, 10, grid.Rect{X: 6, Y: 0, W: 74, H: 9}}, {80, 3, grid.Rect{X: 6, W: 74, H: 3}}, {20, 10, grid.Rect{W: 20, H: 9}},
		{0, 0, grid.Rect{}}, {-4, -4, grid.Rect{}}, {1, 1, grid.Rect{W: 1, H: 1}},
	} {
		if got := c.Plot(p.width, p.height); got != p.want {
			t.Errorf("the plot in %d×%d is %v, want %v", p.width, p.height, got, p.want)
		}
	}
	if got := c.Resolution(unicode, 80); got != 148 {
		t.Errorf("%d columns with braille, want 148", got)
	}
	if got := c.Resolution(ascii, 80); got != 74 {
		t.Errorf("%d columns without, want 74", got)
	}
	plot := grid.Rect{W: 51}
	for x, want := range map[int]int64{0: 0, 25: 50, 50: 100} {
		if got := c.At(plot, x); got != want {
			t.Errorf("column %d is at %d, want %d", x, got, want)
		}
		if got, inside := c.columnOf(plot, want); got != x || !inside {
			t.Errorf("%d is in column %d, want %d", want, got, x)
		}
	}
	if _, inside := c.columnOf(plot, 101); inside {
		t.Error("what is not on the axis has a column")
	}
}

func TestLabelSteps(t *testing.T) {
	for _, c := range []struct {
		unit    AxisUnit
		atLeast float64
		want    int64
	}{
		{Seconds, 9e9, 10e9}, {Seconds, 11e9, 15e9}, {Seconds, 61e9, 120e9}, {Seconds, 1.2e6, 2e6}, {Seconds, 300, 500},
		{Seconds, 90000e9, 2 * 86400e9}, {Frames, 1, 1}, {Frames, 0.1, 1}, {Frames, 3, 5}, {Frames, 51, 100}, {Frames, 140, 200},
	} {
		if got := labelStep(c.unit, c.atLeast); got != c.want {
			t.Errorf("labels at least %.0f apart: %d, want %d", c.atLeast, got, c.want)
		}
	}
}

func TestAxisLabels(t *testing.T) {
	for _, c := range []struct {
		chart    Chart
		at, step int64
		want     string
	}{
		{Chart{Live: true}, 0, 1e9, "now"}, {Chart{Live: true, Newest: "end"}, 0, 1e9, "end"}, {Chart{Live: true, Newest: "end"}, -5e9, 1e9, "-5 s"}, {Chart{}, 0, 1e9, "0 s"}, {Chart{}, -45e9, 15e9, "-45 s"}, {Chart{}, 90e9, 30e9, "90 s"},
		{Chart{Zero: 10e9}, 310e9, 60e9, "5 m 00 s"}, {Chart{}, 12.5e9, 5e8, "12.5 s"}, {Chart{}, 12.25e9, 5e7, "12.25 s"},
		{Chart{}, 1e6, 1e6, "0.001 s"}, {Chart{Unit: Frames}, 1412, 1, "1,412"},
	} {
		if got := string(c.chart.appendLabel(nil, c.at, c.step)); got != c.want {
			t.Errorf("%d reads %q, want %q", c.at, got, c.want)
		}
	}
}

func TestRowsOfValues(t *testing.T) {
	for _, c := range []struct {
		value int64
		want  int
	}{{0, 9}, {-5, 9}, {100, 0}, {1000, 0}, {50, 4}, {11, 8}} {
		if got := rowOf(c.value, 0, 100, 10); got != c.want {
			t.Errorf("%d is in row %d, want %d", c.value, got, c.want)
		}
	}
}

func TestSeriesCanBeToldApart(t *testing.T) {
	for _, glyphs := range []*themes.Glyphs{unicode, ascii} {
		seen := map[rune]SeriesKind{}
		for i, kind := range []SeriesKind{Line, Dotted, Area, ShadeArea, LightArea} {
			sample := sampleOf(glyphs, kind, i)
			if other, taken := seen[sample]; taken {
				t.Errorf("%s: kinds %d and %d both look like %q", glyphs.Name, kind, other, sample)
			}
			seen[sample] = kind
		}
	}
}
