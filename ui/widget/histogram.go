package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// Bin is one bar of a histogram.
type Bin struct {
	From  int64 // bytes: the least size that counts here
	Count int64
	Bytes int64 // of all that count here
}

// Histogram is how many things there are of each size, with a bar for each
// size from the smallest. Bars are as long as the bytes, for bytes are what
// is missed; the count stands behind them.
type Histogram struct {
	Bins  []Bin
	Style grid.Style
}

// Columns of a histogram: "≥128M ", the bar, and " 1,234 × 12.3G".
const (
	binLabel = 7
	binTail  = 14
)

// Draw draws one bin in each row of a region, as many as fit, the largest
// sizes last. A bin without anything shows no bar.
func (h *Histogram) Draw(r grid.Region) {
	most := int64(0)
	for i := range h.Bins {
		most = max(most, h.Bins[i].Bytes)
	}
	dim := grid.Of(themes.Dim)
	bar := r.Width() - binLabel - binTail
	for y := range min(len(h.Bins), r.Height()) {
		b := &h.Bins[y]
		p := r.Pen(0, y)
		p.Text(dim, "≥")
		p.Short(dim, b.From, 5)
		p.Skip(1)
		if bar > 0 {
			MiniBar(r.Sub(binLabel, y, bar, 1), b.Bytes, most, h.Style)
			p.To(binLabel + bar)
		}
		p.Skip(1)
		p.Count(0, b.Count, 6)
		p.Skip(1)
		p.Short(dim, b.Bytes, 5)
	}
}
