package widget

import (
	"testing"

	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// everyKernel draws each kernel once, with data and with none.
func everyKernel() map[string]func(grid.Region) {
	gauge, flame := headroomGauge(), Flame{Total: 100, Selected: 1, Cells: []FlameCell{{0, 0, 100, "render", 0}, {1, 0, 60, "state", 0}}}
	arena := ArenaBar{Capacity: 100, Forward: 60, Reverse: 20, HighWater: 90, Marks: []int64{0, 10, 100, -1, 101}}
	dialog, hints := rebuildDialog(), keymap.Hints(keymap.Tree, true)
	histogram := Histogram{Bins: []Bin{{1 << 20, 2113, 5 * gib}, {1 << 21, 0, 0}}}
	blocks := BlockMap{Cells: make([]BlockCell, 4000), Cursor: 17}
	for i := range blocks.Cells {
		blocks.Cells[i] = BlockCell{Live: int64(i % 5), Free: int64(i % 3), Pending: int64(i % 2), Step: i%9 - 1}
	}
	table, ruled, empty := scopeTable(1000), scopeTable(1000), scopeTable(0)
	ruled.Ruled = true
	chart := Chart{
		From: -60e9, Live: true, HasCursor: true, Cursor: -30e9, Limits: []Limit{{40 * gib, 0}}, Markers: []Marker{{-20e9, '!', 0}},
		Series: []Series{
			{Name: "reserved", Kind: LightArea, Columns: steps(40, 5*gib, 8*gib, -1, 9*gib)},
			{Name: "allocated", Kind: Area, Columns: steps(40, 3*gib, 4*gib, 5*gib, 2*gib)},
			{Name: "floor", Kind: Line, Columns: steps(40, 9*gib, 9*gib, 3*gib, 20*gib)},
			{Name: "open", Kind: Dotted, Columns: steps(20, 1*gib, 2*gib)},
		},
	}
	frames := chart
	frames.Unit, frames.From, frames.To = Frames, 100, 1<<62
	sparkline := make([]int64, 300)
	names := []string{"Overview", "Devices", "Arena"}
	node := Node{Depth: 3, Rails: 2, State: NodeOpen, Name: "wavefront_state", MatchFrom: 2, MatchTo: 40}
	return map[string]func(grid.Region){
		"frame":     func(r grid.Region) { Frame(r, 0); Title(r, "Headroom", "note", true) },
		"rules":     func(r grid.Region) { Rule(r, r.Height()/2, 0); ColumnRule(r, r.Width()/2, 0) },
		"gauge":     func(r grid.Region) { gauge.Draw(r); gauge.Legend(r, 0, 1) },
		"arena":     arena.Draw,
		"mini bar":  func(r grid.Region) { MiniBar(r, 55, 100, 0); MiniBar(r, 5, 0, 0) },
		"sparkline": func(r grid.Region) { Sparkline(r, sparkline, 9, 0) },
		"dots":      func(r grid.Region) { Dots(r, 0, 0, 3, 5, 0) },
		"chart":     func(r grid.Region) { chart.Draw(r); chart.Legend(r, 2, 0) },
		"frames":    frames.Draw,
		"no chart":  func(r grid.Region) { c := Chart{}; c.Draw(r) },
		"table":     table.Draw,
		"ruled":     func(r grid.Region) { ruled.DrawFramed(r, 0) },
		"no table":  func(r grid.Region) { empty.Draw(r); t := Table{}; t.Draw(r); t.DrawFramed(r, 0) },
		"tree":      func(r grid.Region) { TreeName(r, &node) },
		"blocks":    func(r grid.Region) { blocks.Draw(r); BlockLegend(r, 0, 0) },
		"histogram": histogram.Draw,
		"hints":     func(r grid.Region) { HintBar(r, hints) },
		"dialog":    func(r grid.Region) { dialog.Draw(r) },
		"status":    func(r grid.Region) { Status(r, StatusError, "refused: 2,113 live", "14:01") },
		"tabs":      func(r grid.Region) { Tabs(r, names, 1) },
		"flame":     flame.Draw,
		"scrollbar": func(r grid.Region) { Scrollbar(r, 5, 10, 100) },
		"paragraph": func(r grid.Region) { Paragraph(r, 0, "the driver is not loaded: run doctor") },
	}
}

// In a region of any size, a kernel stays inside it.
func TestEveryKernelAtEverySize(t *testing.T) {
	const margin = 2
	for _, glyphs := range []*themes.Glyphs{unicode, ascii} {
		for name, draw := range everyKernel() {
			for width := range 70 {
				for height := range 9 {
					if width > 14 && width%11 > 0 {
						continue // enough of the large ones
					}
					g := newGrid(glyphs, width+2*margin, height+2*margin)
					all := g.All()
					all.Fill(grid.Rect{W: all.Width(), H: all.Height()}, '@', 0)
					inside := grid.Rect{X: margin, Y: margin, W: width, H: height}
					all.At(inside).Clear(0)
					draw(all.At(inside))
					for y := range all.Height() {
						for x := range all.Width() {
							if char, _ := all.Get(x, y); char != '@' && !inside.Contains(x, y) {
								t.Fatalf("%s in %d×%d draws %q at %d, %d:\n%s", name, width, height, char, x-margin, y-margin, g.Plain())
							}
						}
					}
				}
			}
		}
	}
}

func TestKernelsMakeNoGarbage(t *testing.T) {
	g := newGrid(unicode, 100, 20)
	for name, draw := range everyKernel() {
		if name == "no table" {
			continue // it makes tables
		}
		if allocs := testing.AllocsPerRun(5, func() { draw(g.All()) }); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}
