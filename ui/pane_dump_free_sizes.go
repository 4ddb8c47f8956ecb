package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpFreePane is the free memory of a dump by pool, stream and size class, with
// the largest free block of each: a request is served by its own alone. Beside
// it are the free blocks of the selected one by size.
type dumpFreePane struct {
	sizes    freeSizesPane // groups the blocks by size
	cursor   listCursor    // 0 is all together, then the shelves
	shelf    dump.Shelf    // that is selected, to find it again at another moment
	selected bool          // a shelf is selected, not all together
}

func (*dumpFreePane) title(*scene) (string, string) {
	return "Free by pool and stream, by size", ""
}

func (*dumpFreePane) keys() keymap.Context { return keymap.List }

func (*dumpFreePane) prepare(s *scene) { spaceOf(s) }

func (*dumpFreePane) forget() {}

// space is the space of the moment where it has anything to show; why says what
// is missing.
func (p *dumpFreePane) space(s *scene) (space *dumpSpace, why string) {
	space, why = spaceOf(s)
	if space == nil {
		return nil, why
	}
	if !space.device().Reserves {
		return nil, "The dump says nothing about memory from the driver: what is free in it is not known."
	}
	p.cursor.at = 0
	for i := range space.shelves {
		if p.selected && alikeShelves(&space.shelves[i], &p.shelf) {
			p.cursor.at = i + 1
		}
	}
	return space, ""
}

// alikeShelves says whether two moments' shelves are of the same pool, stream
// and size class.
func alikeShelves(a, b *dump.Shelf) bool {
	return a.Pool == b.Pool && a.Stream == b.Stream && a.Small == b.Small
}

// choose selects a row.
func (p *dumpFreePane) choose(space *dumpSpace, row int) {
	if p.selected = row > 0; p.selected {
		p.shelf = space.shelves[row-1]
	}
}

// classes are the free blocks of the selected shelf, by size.
func (p *dumpFreePane) classes(space *dumpSpace) *freeClasses {
	if p.cursor.at > 0 {
		return &space.shelved[p.cursor.at-1]
	}
	return &space.all
}

func (p *dumpFreePane) do(action keymap.Action, s *scene) bool {
	space, _ := p.space(s)
	if space == nil || !p.cursor.move(action, len(space.shelves)+1) {
		return false
	}
	p.choose(space, p.cursor.at)
	return true
}

func (p *dumpFreePane) click(_, y, _, height int, s *scene) {
	space, _ := p.space(s)
	if space == nil {
		return
	}
	rows := p.rows(space, height)
	if row := p.cursor.offset + y - (height - rows); y >= height-rows && row <= len(space.shelves) {
		p.choose(space, row)
	}
}

// rows is how many rows the shelves have in a window.
func (*dumpFreePane) rows(space *dumpSpace, height int) int {
	if height < 4 {
		return 0
	}
	return min(len(space.shelves)+1, max((height-1)/2, 1))
}

func (p *dumpFreePane) draw(r grid.Region, s *scene, focused bool) {
	space, why := p.space(s)
	if space == nil {
		nothing(r, why)
		return
	}
	height := r.Height()
	if height <= 0 {
		return
	}
	classes := p.classes(space)
	drawFragmentation(r.Row(0), classes)
	rows := p.rows(space, height)
	room := height - 1 - rows
	switch {
	case room <= 0:
	case classes.Free.Blocks == 0:
		r.Text(0, 1, grid.Of(themes.Dim), "nothing is free here")
	default:
		histogram := widget.Histogram{Bins: p.sizes.group(classes, room), Style: grid.Of(themes.Free)}
		histogram.Draw(r.Sub(0, 1, r.Width(), room))
	}
	p.cursor.scroll(len(space.shelves)+1, rows)
	for y := range rows {
		row := p.cursor.offset + y
		line := r.Row(height - rows + y)
		if row == p.cursor.at {
			line.Set(0, 0, line.Glyphs().Selected, grid.Of(themes.Accent))
		}
		p.drawShelf(line.Sub(1, 0, line.Width()-1, 1), s, space, row)
	}
	widget.Scrollbar(r.Sub(r.Width()-1, height-rows, 1, rows), p.cursor.offset, rows, len(space.shelves)+1)
}

// drawShelf writes one row of the shelves: whose it is, what is free in it, and
// the largest block of that.
func (p *dumpFreePane) drawShelf(r grid.Region, s *scene, space *dumpSpace, row int) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	names := s.dumps.names.of(space.index)
	pen := r.Pen(0, 0)
	free, largest, reserved := space.space.Free, space.space.Largest, space.space.Reserved
	column, pool := shelfName, "pool "
	if r.Width() < narrowShelf {
		column, pool = shelfName-len(pool), ""
	}
	if row == 0 {
		pen.Text(text, "all")
		pen.To(column)
	} else {
		shelf := &space.shelves[row-1]
		free, largest, reserved = shelf.Free, shelf.Largest, shelf.Reserved
		pen.Text(dim, pool)
		pen.Text(text, names.pool(shelf.Pool))
		pen.Skip(1)
		pen.Text(text, names.stream(shelf.Stream))
		if shelf.Small {
			pen.Text(text, " small")
		}
		pen.To(max(pen.X()+1, column))
	}
	if pool != "" {
		pen.Text(dim, "free ")
	}
	pen.Short(grid.Of(themes.Free), free, 5)
	pen.Text(dim, " max ")
	pen.Short(text, largest, 5)
	if pen.Left() >= 10 {
		pen.Text(dim, " of ")
		pen.Short(grid.Of(themes.Reserved), reserved, 5)
	}
	if pen.Left() >= 11 {
		pen.Text(dim, " frag ")
		pen.Percent(text, free-largest, free, 0)
	}
}

// shelfName is the columns that the name of a shelf takes, most often;
// narrowShelf the width under which it is written short.
const (
	shelfName   = 18
	narrowShelf = 40
)

func (p *dumpFreePane) selectedText(s *scene) string {
	space, _ := p.space(s)
	if space == nil {
		return ""
	}
	return freeText(p.classes(space))
}

// freeText is the fragmentation with its formula.
func freeText(classes *freeClasses) string {
	text := string(grid.AppendPercent([]byte("fragmentation "), classes.Free.Bytes-classes.Free.Largest, classes.Free.Bytes))
	return text + " = 1 - largest " + model.FormatBytes(classes.Free.Largest) + " / free " + model.FormatBytes(classes.Free.Bytes)
}

func (p *dumpFreePane) details(s *scene) (string, []string) {
	space, _ := p.space(s)
	if space == nil {
		return "", nil
	}
	names := s.dumps.names.of(space.index)
	lines := []string{freeText(&space.all), "A free block serves requests of its own pool, stream and size class (small: up to 1 MiB) alone."}
	for i := range space.shelves {
		shelf := &space.shelves[i]
		size := "large"
		if shelf.Small {
			size = "small"
		}
		lines = append(lines, "pool "+names.pool(shelf.Pool)+" "+names.stream(shelf.Stream)+" "+size+": free "+
			string(grid.AppendExact(nil, shelf.Free))+" in "+string(grid.AppendCount(nil, int64(shelf.Blocks)))+" blocks, the largest "+
			string(grid.AppendExact(nil, shelf.Largest))+", releasable "+string(grid.AppendExact(nil, shelf.Releasable)))
	}
	for k := range space.all.Sizes {
		if class := &space.all.Sizes[k]; class.Blocks > 0 {
			lines = append(lines, string(grid.AppendCount(nil, int64(class.Blocks)))+" free blocks from "+
				model.FormatBytes(1<<k)+": "+string(grid.AppendExact(nil, class.Bytes)))
		}
	}
	return "Free memory", lines
}

var (
	_ clicker  = (*dumpFreePane)(nil)
	_ copier   = (*dumpFreePane)(nil)
	_ detailer = (*dumpFreePane)(nil)
	_ preparer = (*dumpFreePane)(nil)
)
