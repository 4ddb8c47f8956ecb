package ui

import (
	"cmp"
	"slices"
	"strconv"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// segmentsPane is a table of the pool's segments. The one that is selected is
// the one that the map of blocks walks.
type segmentsPane struct {
	table   widget.Table
	rows    segmentRows
	totals  segmentTotals
	pattern filterPattern
	sort    int // column
	changed bool
}

type segmentRows struct {
	rows    []*segmentTotal
	largest int64 // segment, for the bars
	now     int64 // monotonic ns
}

// The columns of the table of segments.
const (
	segmentAddress = iota
	segmentBytes
	segmentLive
	segmentFree
	segmentLargest
	segmentBlocks
	segmentStreams
	segmentAge
	segmentUse
)

func newSegmentsPane() *segmentsPane {
	p := &segmentsPane{sort: segmentAddress}
	p.table = widget.Table{Rows: &p.rows, Columns: []widget.TableColumn{
		segmentAddress: {Title: "segment", Width: addressWidth + 2},
		segmentBytes:   {Title: "size", Width: sizeWidth + 1, Grow: 1, Align: grid.Right, Drop: 3},
		segmentLive:    {Title: "live", Width: sizeWidth + 1, Grow: 1, Align: grid.Right},
		segmentFree:    {Title: "free", Width: sizeWidth + 1, Grow: 1, Align: grid.Right, Drop: 1},
		segmentLargest: {Title: "largest", Width: 7, Grow: 1, Align: grid.Right, Drop: 4},
		segmentBlocks:  {Title: "blocks", Width: 6, Align: grid.Right, Drop: 5},
		segmentStreams: {Title: "streams", Width: 7, Align: grid.Right, Drop: 7},
		segmentAge:     {Title: "changed", Width: 8, Align: grid.Right, Drop: 8},
		segmentUse:     {Title: "in use", Width: 10, Grow: 3, Drop: 6},
	}}
	return p
}

func (p *segmentsPane) title(s *scene) (string, string) {
	if p.pattern.text != "" {
		return "Segments", "filter " + p.pattern.text
	}
	return "Segments", ""
}

func (*segmentsPane) keys() keymap.Context { return keymap.List }

// collect finds the segments of the scene's pool, once; why says what is missing
// where there are none.
func (p *segmentsPane) collect(s *scene) (why string) {
	pool, why := blocksOf(s)
	if pool == nil {
		p.rows.rows = p.rows.rows[:0]
		p.totals.pool = nil
		return why
	}
	p.rows.now = s.moment
	if p.totals.update(pool) || p.changed {
		p.changed = false
		p.arrange()
	}
	p.find(s, pool)
	return ""
}

// arrange filters and sorts the rows.
func (p *segmentsPane) arrange() {
	rows := p.rows.rows[:0]
	p.rows.largest = 0
	for i := range p.totals.all {
		total := &p.totals.all[i]
		p.rows.largest = max(p.rows.largest, total.segment.Bytes)
		if p.pattern.text == "" || p.pattern.matches(segmentText(total)) {
			rows = append(rows, total)
		}
	}
	p.rows.rows = rows
	if p.sort != segmentAddress || p.table.Descending {
		slices.SortStableFunc(rows, p.compare)
	}
	p.table.SortColumn = p.sort
}

func (p *segmentsPane) compare(a, b *segmentTotal) int {
	order := 0
	switch p.sort {
	case segmentAddress:
		order = cmp.Compare(a.segment.Address, b.segment.Address)
	case segmentBytes:
		order = cmp.Compare(a.segment.Bytes, b.segment.Bytes)
	case segmentLive:
		order = cmp.Compare(a.live, b.live)
	case segmentFree:
		order = cmp.Compare(a.free, b.free)
	case segmentLargest:
		order = cmp.Compare(a.largest, b.largest)
	case segmentBlocks:
		order = cmp.Compare(a.segment.Len(), b.segment.Len())
	case segmentStreams:
		order = cmp.Compare(a.known, b.known)
	case segmentAge:
		order = cmp.Compare(b.newest, a.newest)
	case segmentUse:
		// A share of use that two segments have, without dividing.
		order = cmp.Compare(float64(a.live)*float64(b.segment.Bytes), float64(b.live)*float64(a.segment.Bytes))
	}
	if p.table.Descending {
		return -order
	}
	return order
}

// find selects the row of the segment that is walked.
func (p *segmentsPane) find(s *scene, pool *model.PoolView) {
	walked := pool.Segments[segmentAt(pool, s.choices.segment)].Address
	p.table.Selected = -1
	for i, row := range p.rows.rows {
		if row.segment.Address == walked {
			p.table.Selected = i
			return
		}
	}
}

func (p *segmentsPane) draw(r grid.Region, s *scene, _ bool) {
	if why := p.collect(s); why != "" {
		nothing(r, why)
		return
	}
	if len(p.rows.rows) == 0 {
		nothing(r, "No segment matches the filter. Esc clears it.")
		return
	}
	if r.Height() == 1 {
		p.drawShort(r)
		return
	}
	p.table.Offset = widget.ScrollTo(p.table.Offset, max(p.table.Selected, 0), r.Height()-1, len(p.rows.rows))
	p.table.Draw(r)
}

// drawShort is how many segments there are, and how many could be given back.
func (p *segmentsPane) drawShort(r grid.Region) {
	dim := grid.Of(themes.Dim)
	whole, bytes := int64(0), int64(0)
	for _, row := range p.rows.rows {
		if row.releasable() {
			whole++
			bytes += row.segment.Bytes
		}
	}
	pen := r.Pen(0, 0)
	pen.Count(grid.Of(themes.Text), int64(len(p.rows.rows)), 0)
	pen.Text(dim, " segments, ")
	pen.Count(grid.Of(themes.Releasable), whole, 0)
	pen.Text(dim, " releasable: ")
	pen.Bytes(grid.Of(themes.Releasable), bytes, 0)
}

func (p *segmentsPane) do(action keymap.Action, s *scene) bool {
	if p.collect(s) != "" {
		return false
	}
	switch action {
	case keymap.SortByName:
		p.sortBy(segmentAddress)
	case keymap.SortBySize:
		p.sortBy(segmentBytes)
	case keymap.SortByLive:
		p.sortBy(segmentLive)
	case keymap.SortByTotal, keymap.SortBySelf:
		p.sortBy(segmentFree)
	case keymap.SortByPeak:
		p.sortBy(segmentLargest)
	case keymap.SortByCount:
		p.sortBy(segmentBlocks)
	case keymap.SortByAge:
		p.sortBy(segmentAge)
	case keymap.ReverseSort:
		p.table.Descending = !p.table.Descending
		p.arrange()
	default:
		p.table.Selected = max(p.table.Selected, 0)
		if !moveIn(&p.table, action, len(p.rows.rows)) {
			return false
		}
		p.choose(s)
	}
	return true
}

func (p *segmentsPane) sortBy(column int) {
	p.sort, p.table.Descending = column, column != segmentAddress && column != segmentAge
	p.arrange()
}

// choose lets the map of blocks walk the selected segment.
func (p *segmentsPane) choose(s *scene) {
	if at := p.table.Selected; at >= 0 && at < len(p.rows.rows) {
		s.choices.segment = p.rows.rows[at].segment.Address
		s.choices.block = 0
	}
}

func (p *segmentsPane) click(x, y, _, height int, s *scene) {
	if p.collect(s) != "" || height < 2 {
		return
	}
	if y == 0 {
		column := p.table.ColumnAt(x)
		switch {
		case column < 0:
		case column == p.sort:
			p.table.Descending = !p.table.Descending
			p.arrange()
		default:
			p.sortBy(column)
		}
		return
	}
	if row := p.table.Offset + y - 1; row < len(p.rows.rows) {
		p.table.Selected = row
		p.choose(s)
	}
}

func (p *segmentsPane) filter() string { return p.pattern.text }

func (p *segmentsPane) setFilter(text string) error {
	p.changed = true
	return p.pattern.set(text)
}

func (rows *segmentRows) Len() int { return len(rows.rows) }

func (rows *segmentRows) DrawCell(r grid.Region, index, column int) {
	row := rows.rows[index]
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	switch column {
	case segmentAddress:
		fitAddress(r.Sub(0, 0, r.Width()-2, 1), text, row.segment.Address)
		if row.releasable() {
			r.Set(r.Width()-1, 0, r.Glyphs().BlockReleasable, grid.Of(themes.Releasable))
		}
	case segmentBytes:
		drawSize(&pen, grid.Of(themes.Reserved), row.segment.Bytes, r.Width())
	case segmentLive:
		drawSize(&pen, grid.Of(themes.Allocated), row.live, r.Width())
	case segmentFree:
		drawSize(&pen, grid.Of(themes.Free), row.free, r.Width())
	case segmentLargest:
		drawSize(&pen, text, row.largest, r.Width())
	case segmentBlocks:
		pen.Count(text, int64(row.segment.Len()), r.Width())
	case segmentStreams:
		rows.drawStreams(&pen, row, r.Width())
	case segmentAge:
		age := int64(grid.Missing)
		if row.newest > 0 && rows.now >= row.newest {
			age = rows.now - row.newest
		}
		pen.Duration(dim, age, r.Width())
	case segmentUse:
		if row.releasable() {
			pen.Text(grid.Of(themes.Releasable), "releasable")
			return
		}
		// As long as the segment is large: small ones do not matter.
		width := max(portionOf(row.segment.Bytes, rows.largest, r.Width()), 1)
		bar := r.Sub(0, 0, width, 1)
		bar.Fill(grid.Rect{W: width, H: 1}, r.Glyphs().BlockFree, grid.Of(themes.Free))
		widget.MiniBar(bar, row.live, row.segment.Bytes, grid.Of(themes.Allocated))
	}
}

// drawSize writes a number of bytes into a cell of a table, short where it is
// narrow.
func drawSize(pen *grid.Pen, style grid.Style, bytes int64, width int) {
	if width < 10 {
		pen.Short(style, bytes, width)
	} else {
		pen.Bytes(style, bytes, width)
	}
}

// drawStreams writes the only stream's number, or how many streams there are.
func (*segmentRows) drawStreams(pen *grid.Pen, row *segmentTotal, width int) {
	text := grid.Of(themes.Text)
	switch {
	case row.more:
		pen.Fit(text, "over 8", width, grid.Right)
	case row.known == 1:
		pen.Skip(max(width-1-digits(uint64(row.streams[0])), 0))
		pen.Text(grid.Of(themes.Dim), "#")
		pen.Count(text, int64(row.streams[0]), 0)
	default:
		pen.Count(text, int64(row.known), max(width, 0))
	}
}

// digits is how many columns a number takes without what separates thousands.
func digits(n uint64) (columns int) {
	for columns = 1; n >= 10; n /= 10 {
		columns++
	}
	return columns
}

// segmentText is a segment as a filter and the clipboard see it.
func segmentText(total *segmentTotal) string {
	text := string(appendAddress(nil, total.segment.Address)) +
		" size " + model.FormatBytes(total.segment.Bytes) + " live " + model.FormatBytes(total.live) +
		" in " + strconv.Itoa(total.liveBlocks) + ", free " + model.FormatBytes(total.free) +
		", largest " + model.FormatBytes(total.largest)
	for _, stream := range total.streams[:total.known] {
		text += " stream " + strconv.FormatUint(uint64(stream), 10)
	}
	if total.releasable() {
		text += " releasable"
	}
	return text
}

func (p *segmentsPane) selectedText(s *scene) string {
	if p.collect(s) != "" || p.table.Selected < 0 {
		return ""
	}
	return segmentText(p.rows.rows[p.table.Selected])
}

func (p *segmentsPane) details(s *scene) (string, []string) {
	if p.collect(s) != "" || p.table.Selected < 0 {
		return "", nil
	}
	total := p.rows.rows[p.table.Selected]
	lines := []string{
		segmentText(total),
		"size " + string(grid.AppendExact(nil, total.segment.Bytes)),
		"live " + string(grid.AppendExact(nil, total.live)) + " in " + strconv.Itoa(total.liveBlocks) + " blocks",
		"free " + string(grid.AppendExact(nil, total.free)) + " in " + strconv.Itoa(total.segment.Len()-total.liveBlocks) + " blocks, the largest " + string(grid.AppendExact(nil, total.largest)),
	}
	if total.releasable() {
		lines = append(lines, "Nothing in it is live: a force reclaim (R) gives it back to the driver.")
	} else {
		lines = append(lines, "It cannot be given back while a block in it is live.")
	}
	return "Segment", lines
}
