package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// freeSizesPane is the free blocks of the pool by size, what share of the free
// memory no single allocation could get, and whose streams the blocks are: a
// free block serves its own stream first.
type freeSizesPane struct {
	bins   [len(model.PoolUse{}.Sizes)]widget.Bin
	offset int // the first stream that is shown
}

func (*freeSizesPane) title(*scene) (string, string) { return "Free blocks by size", "" }
func (*freeSizesPane) keys() keymap.Context          { return keymap.List }

func (p *freeSizesPane) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Up:
		p.offset--
	case keymap.Down:
		p.offset++
	case keymap.Top:
		p.offset = 0
	default:
		return false
	}
	p.offset = max(p.offset, 0)
	return true
}

// use is what the blocks of the scene's pool add up to; why says what is missing
// where that is not known.
func (*freeSizesPane) use(s *scene) (use *model.PoolUse, why string) {
	pool, why := blocksOf(s)
	if pool == nil {
		return nil, why
	}
	use, ok := s.poolUse()
	if !ok {
		return nil, "Only some of the pool's segments are known: it is watched from the middle of its life. Its next state, within 10 s, tells the rest."
	}
	return use, ""
}

func (p *freeSizesPane) draw(r grid.Region, s *scene, _ bool) {
	use, why := p.use(s)
	if use == nil {
		nothing(r, why)
		return
	}
	height := r.Height()
	if height <= 0 {
		return
	}
	drawFragmentation(r.Row(0), use)
	if height == 1 {
		return
	}
	streams := 0
	if height >= 4 {
		streams = min(len(use.Streams), max((height-1)/3, 1))
	}
	if use.Free.Blocks == 0 {
		r.Text(0, 1, grid.Of(themes.Dim), "every block is live: nothing is free")
	} else {
		room := height - 1 - streams
		histogram := widget.Histogram{Bins: p.group(use, room), Style: grid.Of(themes.Free)}
		histogram.Draw(r.Sub(0, 1, r.Width(), room))
	}
	p.offset = min(p.offset, max(len(use.Streams)-streams, 0))
	for i := range streams {
		drawStream(r.Row(height-streams+i), &use.Streams[p.offset+i])
	}
}

// group puts the sizes into at most so many bins: each doubles the size of the
// one before, or where there are too many of them, quadruples it, and so on.
func (p *freeSizesPane) group(use *model.PoolUse, most int) []widget.Bin {
	first, last := -1, 0
	for k := range use.Sizes {
		if use.Sizes[k].Blocks > 0 {
			if first < 0 {
				first = k
			}
			last = k
		}
	}
	step := 1
	for (last-first)/step+1 > max(most, 1) {
		step++
	}
	n := (last-first)/step + 1
	bins := p.bins[:n]
	clear(bins)
	for k := first; k <= last; k++ {
		bin := &bins[(k-first)/step]
		if bin.From == 0 {
			bin.From = 1 << k
		}
		bin.Count += int64(use.Sizes[k].Blocks)
		bin.Bytes += use.Sizes[k].Bytes
	}
	return bins
}

// drawFragmentation writes the fragmentation with its formula.
func drawFragmentation(r grid.Region, use *model.PoolUse) {
	dim, text, short := grid.Of(themes.Dim), grid.Of(themes.Text), isNarrow(r)
	pen := r.Pen(0, 0)
	if r.Width() < 40 {
		pen.Text(dim, "frag ")
	} else {
		pen.Text(dim, "fragmentation ")
	}
	pen.Percent(grid.Of(themes.Accent), use.Free.Bytes-use.Free.Largest, use.Free.Bytes, 0)
	pen.Text(dim, " = 1 - ")
	if pen.Left() >= 25 {
		pen.Text(dim, "largest ")
	}
	drawAmount(&pen, short, text, use.Free.Largest)
	pen.Text(dim, " / ")
	if pen.Left() >= 11 {
		pen.Text(dim, "free ")
	}
	drawAmount(&pen, short, text, use.Free.Bytes)
	if pen.Left() >= 14 {
		pen.Text(dim, " in ")
		pen.Count(text, int64(use.Free.Blocks), 0)
	}
}

// drawStream is the share of one stream.
func drawStream(r grid.Region, stream *model.StreamUse) {
	dim, text, short := grid.Of(themes.Dim), grid.Of(themes.Text), isNarrow(r)
	pen := r.Pen(0, 0)
	pen.Text(dim, "stream ")
	pen.Count(text, int64(stream.Stream), 0)
	pen.Text(dim, " live ")
	drawAmount(&pen, short, grid.Of(themes.Allocated), stream.Live)
	pen.Text(dim, " free ")
	drawAmount(&pen, short, grid.Of(themes.Free), stream.Free.Bytes)
	if pen.Left() >= 15 {
		pen.Text(dim, " largest ")
		drawAmount(&pen, short, text, stream.Free.Largest)
	}
	if pen.Left() >= 11 {
		pen.Text(dim, " frag ")
		pen.Percent(text, stream.Free.Bytes-stream.Free.Largest, stream.Free.Bytes, 0)
	}
}

func (p *freeSizesPane) selectedText(s *scene) string {
	use, _ := p.use(s)
	if use == nil {
		return ""
	}
	text := "fragmentation "
	text += string(grid.AppendPercent(nil, use.Free.Bytes-use.Free.Largest, use.Free.Bytes))
	return text + " = 1 - largest " + model.FormatBytes(use.Free.Largest) + " / free " + model.FormatBytes(use.Free.Bytes)
}

func (p *freeSizesPane) details(s *scene) (string, []string) {
	use, _ := p.use(s)
	if use == nil {
		return "", nil
	}
	lines := []string{
		p.selectedText(s),
		"Fragmentation is the share of the free bytes that lies outside the largest free block: no single allocation can get at it.",
	}
	for k := range use.Sizes {
		if class := &use.Sizes[k]; class.Blocks > 0 {
			lines = append(lines, string(grid.AppendCount(nil, int64(class.Blocks)))+" free blocks from "+
				model.FormatBytes(1<<k)+": "+string(grid.AppendExact(nil, class.Bytes)))
		}
	}
	return "Free blocks", lines
}
