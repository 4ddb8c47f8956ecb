package widget_test

import (
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// The whole overview at 200×60, drawn anew from data that changes in every
// frame, against the same four panes from Lip Gloss borders and joins. The
// design allows 1 ms and 50 allocations.

const gib = 1 << 30

// dashboard is made-up data for an overview.
type dashboard struct {
	tick     int64
	hints    []keymap.Hint
	gauge    widget.Gauge
	arena    widget.ArenaBar
	table    widget.Table
	chart    widget.Chart
	blocks   widget.BlockMap
	sizes    widget.Histogram
	reserved []widget.Column
	used     []widget.Column
	arenas   []widget.Column
	peaks    []widget.Column
}

func newDashboard() *dashboard {
	d := &dashboard{hints: keymap.Hints(keymap.Tree, false)}
	d.gauge = widget.Gauge{Total: 140 * gib, Segments: make([]widget.Segment, 4), Gates: []widget.Gate{
		{At: 112 * gib, Style: grid.Of(themes.Gate)}, {At: 119 * gib, Style: grid.Of(themes.Gate)},
	}}
	d.arena = widget.ArenaBar{Capacity: 32 * gib, HighWater: 23 * gib, Marks: []int64{gib, 5 * gib}}
	d.table = widget.Table{
		Columns: []widget.TableColumn{
			{Title: "scope", Width: 24, Grow: 1},
			{Title: "count", Width: 8, Align: grid.Right},
			{Title: "live now", Width: 10, Align: grid.Right},
			{Title: "self", Width: 10, Align: grid.Right},
			{Title: "total", Width: 10, Align: grid.Right},
			{Title: "peak", Width: 10, Align: grid.Right},
			{Title: "share", Width: 24},
		},
		Rows: d, Selected: 3, SortColumn: 5, Descending: true, Ruled: true,
	}
	d.chart = widget.Chart{From: -60e9, Live: true, HasCursor: true, Cursor: -20e9, Series: []widget.Series{
		{Name: "reserved", Kind: widget.LightArea, Style: grid.Of(themes.Reserved)},
		{Name: "allocated", Kind: widget.Area, Style: grid.Of(themes.Allocated)},
		{Name: "arena", Kind: widget.ShadeArea, Style: grid.Of(themes.Arena)},
		{Name: "peak", Kind: widget.Line, Style: grid.Of(themes.Peak)},
	}}
	d.chart.Markers = []widget.Marker{{At: -40e9, Glyph: '✗', Style: grid.Of(themes.Error)}, {At: -38e9, Glyph: '⟲', Style: grid.Of(themes.OK)}}
	d.blocks = widget.BlockMap{Cells: make([]widget.BlockCell, 400), Cursor: 7}
	d.sizes = widget.Histogram{Bins: make([]widget.Bin, 4), Style: grid.Of(themes.Free)}
	return d
}

// advance changes everything.
func (d *dashboard) advance() {
	d.tick++
	t := d.tick
	used := 60*gib + t%20*gib
	d.gauge.Segments[0] = widget.Segment{Name: "render.py", Value: used, Style: grid.Of(themes.Used), Fill: themes.FillSolid}
	d.gauge.Segments[1] = widget.Segment{Name: "others", Value: 12 * gib, Style: grid.Of(themes.Others), Fill: themes.FillDense}
	d.gauge.Segments[2] = widget.Segment{Name: "driver", Value: gib / 2, Style: grid.Of(themes.Driver), Fill: themes.FillMedium}
	d.gauge.Segments[3] = widget.Segment{Name: "free", Value: 140*gib - used - 13*gib, Style: grid.Of(themes.Free), Fill: themes.FillLight}
	d.arena.Forward, d.arena.Reverse = 10*gib+t%10*gib, gib+t%3*gib
	d.reserved, d.used = wave(d.reserved[:0], t, 40*gib, 20), wave(d.used[:0], t+3, 30*gib, 9)
	d.arenas, d.peaks = wave(d.arenas[:0], t+5, 10*gib, 7), wave(d.peaks[:0], t/8, 50*gib, 3)
	for i, columns := range [][]widget.Column{d.reserved, d.used, d.arenas, d.peaks} {
		d.chart.Series[i].Columns = columns
	}
	for i := range d.blocks.Cells {
		d.blocks.Cells[i] = widget.BlockCell{Live: (t + int64(i)) % 5, Free: 4 - (t+int64(i))%5, Step: i % 8}
	}
	for i := range d.sizes.Bins {
		d.sizes.Bins[i] = widget.Bin{From: 1 << (20 + i), Count: t * int64(i), Bytes: t % 7 * int64(i) << 25}
	}
}

// wave is a value that rises and falls.
func wave(into []widget.Column, t, base, period int64) []widget.Column {
	for i := range int64(388) {
		v := base + (i+t)%period*gib/4
		into = append(into, widget.Column{Min: v, Max: v + gib/8, Last: v, Known: (i+t)%97 > 2})
	}
	return into
}

func (d *dashboard) Len() int { return 5000 }

var scopeNames = [...]string{"render", "wavefront_state", "sheet_resolve", "postprocess", "größe_überprüfen"}

func (d *dashboard) DrawCell(r grid.Region, row, column int) {
	p := r.Pen(0, 0)
	n := d.tick*int64(row+1)*int64(column)<<22 + 1
	switch column {
	case 0:
		node := widget.Node{Depth: row % 5, Rails: 6, State: widget.NodeState(row % 3), Name: scopeNames[row%len(scopeNames)]}
		widget.TreeName(r, &node)
	case 1:
		p.Count(grid.Of(themes.Dim), n>>10, r.Width())
	case 6:
		widget.MiniBar(r, n%1000, 1000, grid.StepOf(themes.Heat, n%1000, 1000))
	default:
		p.Bytes(grid.Of(themes.Text), n, r.Width())
	}
}

// draw draws the overview.
func (d *dashboard) draw(g *grid.Grid) string {
	g.Clear()
	all, frame := g.All(), widget.FrameStyle(false)
	l := layout.Compute(g.Width(), g.Height(), layout.Overview, layout.Options{Message: 1})
	for _, place := range l.Places() {
		widget.Frame(all.At(place.Frame), frame)
	}
	for _, place := range l.Places() {
		if place.Pane == layout.ScopesPane {
			d.table.DrawFramed(all.At(place.Frame), frame)
		}
		widget.Title(all.At(place.Frame), place.Pane.String(), "gen 3", place.Pane == layout.ScopesPane)
		d.drawPane(place.Pane, all.At(place.Inner))
	}
	header := all.At(l.Header).Pen(1, 0)
	header.Text(grid.Of(themes.Header), "vramscope › render.py 48213 · H200 #0 · tier B gen 3 · ● live 10 Hz · frame ")
	header.Count(grid.Of(themes.Header), d.tick, 0)
	widget.Tabs(all.At(l.Tabs), layout.ViewNames(), 0)
	widget.Status(all.At(l.Message), widget.StatusOK, "reclaim: 22.7 → 18.4 GiB in 12 ms", "14:01:53")
	widget.HintBar(all.At(l.Footer), d.hints)
	return g.Encode()
}

func (d *dashboard) drawPane(pane layout.Pane, r grid.Region) {
	p := r.Pen(1, r.Height()-1)
	switch pane {
	case layout.HeadroomPane:
		d.gauge.Draw(r)
		d.gauge.Legend(r, 0, 1)
		p.Labeled("largest single allocation", grid.Of(themes.Accent), d.tick<<30)
	case layout.ArenaPane:
		d.arena.Draw(r)
	case layout.PoolPane:
		d.blocks.Draw(r)
	case layout.PeaksPane:
		d.sizes.Draw(r)
	case layout.InsidePane:
		p.Labeled("torch", grid.Of(themes.Allocated), d.tick<<28)
		p.Labeled("unaccounted", grid.Of(themes.Unaccounted), d.tick<<24)
	case layout.TimelinePane:
		d.chart.Draw(r)
		d.chart.Legend(r, 8, 0)
	}
}

func benchmarkFrame(b *testing.B, profile themes.Profile, glyphs *themes.Glyphs, width, height int) {
	theme, _ := themes.ByName("dark")
	g := grid.New(grid.NewStyles(theme, profile), glyphs)
	g.Resize(width, height)
	d := newDashboard()
	b.ReportAllocs()
	var out string
	for b.Loop() {
		d.advance()
		out = d.draw(g)
	}
	b.ReportMetric(float64(len(out)), "bytes/frame")
}

func BenchmarkFrame200x60(b *testing.B) {
	b.Run("truecolor", func(b *testing.B) { benchmarkFrame(b, themes.TrueColor, themes.UnicodeGlyphs(), 200, 60) })
	b.Run("16", func(b *testing.B) { benchmarkFrame(b, themes.Ansi16, themes.UnicodeGlyphs(), 200, 60) })
	b.Run("ascii", func(b *testing.B) { benchmarkFrame(b, themes.NoColor, themes.ASCIIGlyphs(), 200, 60) })
}

func BenchmarkFrame400x100(b *testing.B) {
	benchmarkFrame(b, themes.TrueColor, themes.UnicodeGlyphs(), 400, 100)
}

func BenchmarkFrame80x24(b *testing.B) {
	benchmarkFrame(b, themes.TrueColor, themes.UnicodeGlyphs(), 80, 24)
}

// The baseline: four bordered panes of text, joined, as a program would with
// Lip Gloss alone.
func BenchmarkLipGloss200x60(b *testing.B) {
	border := lipgloss.NewStyle().Border(lipgloss.NormalBorder()).BorderForeground(lipgloss.Color("#5a6270"))
	value := lipgloss.NewStyle().Foreground(lipgloss.Color("#4f9dea")).Width(12).Align(lipgloss.Right)
	name := lipgloss.NewStyle().Foreground(lipgloss.Color("#d8dce3")).Width(30)
	pane := func(tick, rows int) string {
		var lines []string
		for y := range rows {
			line := name.Render(scopeNames[y%len(scopeNames)])
			for x := range 4 {
				line += value.Render(strconv.Itoa(tick*y + x))
			}
			lines = append(lines, line)
		}
		return border.Width(100).Height(30).Render(strings.Join(lines, "\n"))
	}
	b.ReportAllocs()
	tick := 0
	for b.Loop() {
		tick++
		top := lipgloss.JoinHorizontal(lipgloss.Top, pane(tick, 28), pane(tick+1, 28))
		bottom := lipgloss.JoinHorizontal(lipgloss.Top, pane(tick+2, 28), pane(tick+3, 28))
		_ = lipgloss.JoinVertical(lipgloss.Left, top, bottom)
	}
}

func TestAFrameMakesOneString(t *testing.T) {
	theme, _ := themes.ByName("dark")
	g := grid.New(grid.NewStyles(theme, themes.TrueColor), themes.UnicodeGlyphs())
	g.Resize(200, 60)
	d := newDashboard()
	d.advance()
	if allocs := testing.AllocsPerRun(10, func() { d.advance(); d.draw(g) }); allocs > 2 {
		t.Errorf("%v allocations", allocs)
	}
	if testing.Verbose() {
		t.Log("\n" + g.Plain())
	}
}
