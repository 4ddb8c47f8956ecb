package ui

import (
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpPoolPane is the allocator of a memory dump in numbers, at the moment that
// is looked at: what it has from the driver, what of it is in blocks, and what of
// the rest can be used or given back.
type dumpPoolPane struct {
	flow     flow
	heading  dumpMomentTitle
	settings settingsText
	parts    [3]widget.Segment // of the bar
}

func (p *dumpPoolPane) title(s *scene) (string, string) {
	return p.heading.take("Allocator", s.dumpMoment()), ""
}

func (*dumpPoolPane) keys() keymap.Context { return keymap.List }

func (*dumpPoolPane) do(keymap.Action, *scene) bool { return false }

func (*dumpPoolPane) prepare(s *scene) { spaceOf(s) }

func (p *dumpPoolPane) forget() { p.settings = settingsText{} }

func (p *dumpPoolPane) draw(r grid.Region, s *scene, _ bool) {
	space, why := spaceOf(s)
	if space == nil {
		nothing(r, why)
		return
	}
	n := numbersOf(space)
	if r.Height() == 1 {
		n.drawShort(r)
		return
	}
	height := r.Height()
	if height >= 5 {
		height--
		p.drawBar(r.Row(0), &n)
		r = r.Sub(0, 1, r.Width(), height)
	}
	n.write(&p.flow, r)
	if p.settings.take(space.index); p.settings.text != "" && !p.flow.full() {
		p.flow.line()
		p.flow.text("settings", grid.Of(themes.Text), p.settings.text)
	}
}

// spaceNumbers are the numbers of a space, in bytes; missing where the dump does
// not say.
type spaceNumbers struct {
	reserved, allocated, pending, requested int64
	free, largest, releasable, split        int64
	rounding, blocks, segments              int64
}

func numbersOf(space *dumpSpace) spaceNumbers {
	of := &space.space
	known := space.device().Reserves
	return spaceNumbers{
		reserved: grid.Known(of.Reserved, known), allocated: of.Allocated, pending: of.Pending, requested: of.Requested,
		free: grid.Known(of.Free, known), largest: grid.Known(of.Largest, known),
		releasable: grid.Known(of.Releasable, known), split: grid.Known(of.Split, known),
		rounding: of.Rounding(), blocks: int64(space.live), segments: grid.Known(int64(len(space.segments)), known),
	}
}

// write writes the numbers, what matters most first.
func (n *spaceNumbers) write(f *flow, r grid.Region) {
	f.begin(r)
	f.short = isNarrow(r)
	fragmentation, lost, between := "fragmentation", "lost inside blocks", "between them"
	if f.short {
		fragmentation, lost, between = "frag", "lost inside", "between"
	}
	f.bytesIn("reserved", grid.Of(themes.Reserved), n.reserved, n.segments)
	f.bytesIn("allocated", grid.Of(themes.Allocated), n.allocated, n.blocks)
	f.bytes("free", grid.Of(themes.Free), n.free)
	f.bytes("largest", grid.Of(themes.Accent), n.largest)
	f.percent(fragmentation, grid.Of(themes.Text), difference(n.free, n.largest), n.free)
	f.bytes("releasable", grid.Of(themes.Releasable), n.releasable)
	f.bytes("requested", grid.Of(themes.Live), n.requested)
	if n.pending > 0 {
		f.bytes("pending", grid.Of(themes.Pending), n.pending)
	}
	f.bytes(lost, grid.Of(themes.Text), n.rounding)
	f.bytes(between, grid.Of(themes.Text), n.split)
}

// drawShort is the allocator in one row.
func (n *spaceNumbers) drawShort(r grid.Region) {
	dim, short := grid.Of(themes.Dim), r.Width() < 80
	pen := r.Pen(0, 0)
	pen.Text(dim, "reserved ")
	drawAmount(&pen, short, grid.Of(themes.Reserved), n.reserved)
	pen.Text(dim, " free ")
	drawAmount(&pen, short, grid.Of(themes.Free), n.free)
	pen.Text(dim, " frag ")
	pen.Percent(grid.Of(themes.Text), difference(n.free, n.largest), n.free, 0)
	if pen.Left() >= 16 {
		pen.Text(dim, " largest ")
		drawAmount(&pen, short, grid.Of(themes.Text), n.largest)
	}
	if pen.Left() >= 19 {
		pen.Text(dim, " releasable ")
		drawAmount(&pen, short, grid.Of(themes.Releasable), n.releasable)
	}
}

// drawBar is what is reserved as a bar.
func (p *dumpPoolPane) drawBar(r grid.Region, n *spaceNumbers) {
	if n.reserved == grid.Missing {
		return
	}
	p.parts = [...]widget.Segment{
		{Name: "allocated", Value: n.allocated, Style: grid.Of(themes.Allocated), Fill: themes.FillSolid},
		{Name: "pending", Value: n.pending, Style: grid.Of(themes.Pending), Fill: themes.FillMedium},
		{Name: "free", Value: n.free, Style: grid.Of(themes.Free), Fill: themes.FillLight},
	}
	gauge := widget.Gauge{Total: n.reserved, Segments: p.parts[:]}
	gauge.Draw(r)
}

// settingsText are the allocator's settings in a line, made once for each dump.
type settingsText struct {
	index *dump.Index
	text  string
}

func (t *settingsText) take(index *dump.Index) {
	if t.index == index {
		return
	}
	t.index, t.text = index, ""
	for _, setting := range index.Dump.Settings {
		if t.text != "" {
			t.text += "  "
		}
		t.text += dump.CleanText(setting.Key) + "=" + dump.CleanText(setting.Value)
	}
}

// details are the numbers to the byte, and the settings.
func (p *dumpPoolPane) details(s *scene) (string, []string) {
	space, _ := spaceOf(s)
	if space == nil {
		return "", nil
	}
	var lines []string
	for _, origin := range p.origins(s) {
		text := "not known: " + origin.figure.Why
		if origin.figure.Known {
			text = string(grid.AppendExact(nil, origin.figure.Value))
			if origin.count {
				text = string(grid.AppendCount(nil, origin.figure.Value))
			}
		}
		lines = append(lines, origin.name+"  "+text)
	}
	lines = append(lines,
		"Fragmentation is the share of the free bytes that lies outside the largest free block. A free block serves requests of its own pool, stream and size class alone.",
		"Releasable is what lies in segments that are wholly free: torch.cuda.empty_cache() gives that back and no more.")
	for _, setting := range space.index.Dump.Settings {
		lines = append(lines, "setting "+dump.CleanText(setting.Key)+" = "+dump.CleanText(setting.Value))
	}
	return "Allocator " + momentText(space.dumpMoment), lines
}

// origins says where the numbers come from.
func (p *dumpPoolPane) origins(s *scene) (all []origin) {
	space, _ := spaceOf(s)
	if space == nil {
		return nil
	}
	n := numbersOf(space)
	from := "the segments and blocks of the dump's end state"
	if space.moment != dump.AtEnd {
		from = "the trace, replayed by the allocator's rules " + momentText(space.dumpMoment)
	}
	why := "the dump says nothing about memory from the driver"
	add := func(name string, number int64, count bool, from string) {
		all = append(all, origin{name: name, figure: figureOf(number, from, why), count: count})
	}
	add("reserved", n.reserved, false, from)
	add("segments", n.segments, true, from)
	add("allocated", n.allocated, false, from+", rounded up as the allocator counts")
	add("blocks", n.blocks, true, from)
	add("pending", n.pending, false, from+": freed, and waiting for other streams")
	add("requested", n.requested, false, from+", as it was asked for")
	add("free", n.free, false, from)
	add("largest free block", n.largest, false, from)
	add("releasable", n.releasable, false, from+": segments that are wholly free")
	add("lost inside blocks", n.rounding, false, "allocated and pending − requested: rounding")
	add("lost between blocks", n.split, false, "free bytes in segments that also hold blocks")
	return all
}

// selectedText is the numbers in a line.
func (p *dumpPoolPane) selectedText(s *scene) string {
	text := "allocator " + momentText(s.dumpMoment())
	for _, origin := range p.origins(s) {
		if origin.figure.Known && !origin.count {
			text += ", " + origin.name + " " + string(grid.AppendBytes(nil, origin.figure.Value))
		}
	}
	return text
}

var (
	_ detailer   = (*dumpPoolPane)(nil)
	_ originator = (*dumpPoolPane)(nil)
	_ copier     = (*dumpPoolPane)(nil)
	_ preparer   = (*dumpPoolPane)(nil)
)
