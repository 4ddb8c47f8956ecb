package ui

import (
	"cmp"
	"slices"
	"strconv"

	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpSegmentsPane is a table of what the driver had given by a moment of a dump.
// The segment that is selected is the one of the block under the cursor of the
// map.
type dumpSegmentsPane struct {
	table   widget.Table
	rows    dumpSegmentRows
	pattern filterPattern
	order   diffOrder
	made    segmentsQuestion // what the rows were made of
}

// dumpSegmentRows are segments of a space in the order that they are shown.
type dumpSegmentRows struct {
	space   *dumpSpace
	rows    []int32
	largest int64 // segment, for the bars
	names   *dumpNames
}

type segmentsQuestion struct {
	space   *dumpSpace
	pattern string
	order   diffOrder
}

// The columns of the table of a dump's segments.
const (
	reservedAddress = iota
	reservedBytes
	reservedLive
	reservedFree
	reservedLargest
	reservedBlocks
	reservedPool
	reservedStream
	reservedKind
	reservedSince
	reservedStack
	reservedUse
)

func newDumpSegmentsPane() *dumpSegmentsPane {
	p := &dumpSegmentsPane{}
	p.table = widget.Table{Rows: &p.rows, Columns: []widget.TableColumn{
		reservedAddress: {Title: "segment", Width: addressWidth + 2},
		reservedBytes:   {Title: "size", Width: sizeWidth + 1, Align: grid.Right, Drop: 3},
		reservedLive:    {Title: "live", Width: sizeWidth + 1, Align: grid.Right},
		reservedFree:    {Title: "free", Width: sizeWidth + 1, Align: grid.Right, Drop: 1},
		reservedLargest: {Title: "largest", Width: 7, Align: grid.Right, Drop: 4},
		reservedBlocks:  {Title: "blocks", Width: 6, Align: grid.Right, Drop: 6},
		reservedPool:    {Title: "pool", Width: 5, Align: grid.Right, Drop: 7},
		reservedStream:  {Title: "stream", Width: 6, Align: grid.Right, Drop: 5},
		reservedKind:    {Title: "kind", Width: 10, Drop: 8},
		reservedSince:   {Title: "since", Width: 9, Align: grid.Right, Drop: 9},
		reservedStack:   {Title: "who", Width: 16, Grow: 3, Drop: 10},
		reservedUse:     {Title: "in use", Width: 10, Grow: 1, Drop: 11},
	}}
	return p
}

func (p *dumpSegmentsPane) title(*scene) (string, string) {
	if p.pattern.text != "" {
		return "Segments", "filter " + p.pattern.text
	}
	return "Segments", ""
}

func (*dumpSegmentsPane) keys() keymap.Context { return keymap.List }

func (*dumpSegmentsPane) prepare(s *scene) { spaceOf(s) }

func (p *dumpSegmentsPane) forget() {
	p.made, p.rows.space, p.rows.names = segmentsQuestion{}, nil, nil
}

// collect finds the segments of the moment, once; why says what is missing where
// there are none.
func (p *dumpSegmentsPane) collect(s *scene) (why string) {
	space, why := spaceOf(s)
	if space == nil {
		return why
	}
	p.rows.names = s.dumps.names.of(space.index)
	if q := (segmentsQuestion{space, p.pattern.text, p.order}); p.made != q {
		p.made = q
		p.arrange(space)
	}
	p.table.SortColumn, p.table.Descending = p.order.column, p.order.reversed != isSize(p.order.column)
	walked := int32(space.segmentOf(space.find(s.choices.dump.address)))
	p.table.Selected = slices.Index(p.rows.rows, walked)
	return ""
}

// isSize says whether a column has its largest number first.
func isSize(column int) bool {
	return column >= reservedBytes && column <= reservedBlocks || column == reservedUse
}

// arrange filters and sorts the rows.
func (p *dumpSegmentsPane) arrange(space *dumpSpace) {
	p.rows.space, p.rows.largest = space, 0
	rows := p.rows.rows[:0]
	for i := range space.segments {
		p.rows.largest = max(p.rows.largest, space.segments[i].Bytes)
		if p.pattern.text == "" || p.pattern.matches(p.rows.text(i)) {
			rows = append(rows, int32(i))
		}
	}
	p.rows.rows = rows
	slices.SortStableFunc(rows, func(a, b int32) int {
		order := p.rows.compare(&space.segments[a], &space.segments[b], p.order.column)
		if p.order.reversed {
			return -order
		}
		return order
	})
}

func (rows *dumpSegmentRows) compare(a, b *dumpSegment, column int) int {
	switch column {
	case reservedBytes:
		return cmp.Compare(b.Bytes, a.Bytes)
	case reservedLive:
		return cmp.Compare(b.Allocated, a.Allocated)
	case reservedFree:
		return cmp.Compare(b.Free(), a.Free())
	case reservedLargest:
		return cmp.Compare(b.largest, a.largest)
	case reservedBlocks:
		return cmp.Compare(b.Count, a.Count)
	case reservedPool:
		return cmp.Compare(a.Pool, b.Pool)
	case reservedStream:
		return cmp.Compare(a.Stream, b.Stream)
	case reservedKind:
		return cmp.Compare(kindOf(a), kindOf(b))
	case reservedSince:
		return cmp.Compare(a.Since, b.Since)
	case reservedStack:
		return cmp.Compare(rows.names.frame(rows.names.stack(a.Stack)).name, rows.names.frame(rows.names.stack(b.Stack)).name)
	case reservedUse: // shares without dividing
		return cmp.Compare(float64(b.Allocated)*float64(a.Bytes), float64(a.Allocated)*float64(b.Bytes))
	}
	return cmp.Compare(a.Address, b.Address)
}

// kindOf is what a segment serves, in words.
func kindOf(segment *dumpSegment) string {
	switch {
	case segment.Unknown:
		return "unknown"
	case segment.Expandable && segment.Small:
		return "small, exp"
	case segment.Expandable:
		return "expandable"
	case segment.Small:
		return "small"
	}
	return "large"
}

func (p *dumpSegmentsPane) draw(r grid.Region, s *scene, _ bool) {
	if why := p.collect(s); why != "" {
		nothing(r, why)
		return
	}
	switch {
	case len(p.rows.rows) == 0:
		nothing(r, "No segment matches the filter. Esc clears it.")
	case r.Height() == 1:
		p.drawShort(r)
	default:
		p.table.Offset = widget.ScrollTo(p.table.Offset, max(p.table.Selected, 0), r.Height()-1, len(p.rows.rows))
		p.table.Draw(r)
	}
}

// drawShort is how many segments there are, and how many could be given back.
func (p *dumpSegmentsPane) drawShort(r grid.Region) {
	dim := grid.Of(themes.Dim)
	whole, bytes := int64(0), int64(0)
	for _, number := range p.rows.rows {
		if segment := &p.rows.space.segments[number]; segment.releasable() {
			whole++
			bytes += segment.Bytes
		}
	}
	pen := r.Pen(0, 0)
	pen.Count(grid.Of(themes.Text), int64(len(p.rows.rows)), 0)
	pen.Text(dim, " segments, ")
	pen.Count(grid.Of(themes.Releasable), whole, 0)
	pen.Text(dim, " releasable: ")
	pen.Bytes(grid.Of(themes.Releasable), bytes, 0)
}

// segmentColumns is the column that an action sorts by.
var segmentColumns = map[keymap.Action]int{
	keymap.SortByName: reservedAddress, keymap.SortBySize: reservedBytes, keymap.SortByLive: reservedLive,
	keymap.SortByTotal: reservedFree, keymap.SortBySelf: reservedFree, keymap.SortByUnfreed: reservedFree,
	keymap.SortByPeak: reservedLargest, keymap.SortByCount: reservedBlocks, keymap.SortByAllocs: reservedBlocks, keymap.SortByAge: reservedSince,
}

func (p *dumpSegmentsPane) do(action keymap.Action, s *scene) bool {
	if p.collect(s) != "" {
		return false
	}
	column, sorts := segmentColumns[action]
	switch {
	case sorts:
		p.order = diffOrder{column: column}
	case action == keymap.ReverseSort:
		p.order.reversed = !p.order.reversed
	default:
		p.table.Selected = max(p.table.Selected, 0)
		if !moveIn(&p.table, action, len(p.rows.rows)) {
			return false
		}
		p.choose(s)
	}
	return true
}

// choose lets the map of blocks walk the selected segment.
func (p *dumpSegmentsPane) choose(s *scene) {
	if at := p.table.Selected; at >= 0 && at < len(p.rows.rows) {
		s.choices.dump.address = p.rows.space.segments[p.rows.rows[at]].Address
	}
}

func (p *dumpSegmentsPane) click(x, y, _, height int, s *scene) {
	if p.collect(s) != "" || height < 2 {
		return
	}
	if y == 0 {
		if column := p.table.ColumnAt(x); column >= 0 {
			p.order = diffOrder{column, column == p.order.column && !p.order.reversed}
		}
		return
	}
	if row := p.table.Offset + y - 1; row < len(p.rows.rows) {
		p.table.Selected = row
		p.choose(s)
	}
}

func (p *dumpSegmentsPane) filter() string { return p.pattern.text }

func (p *dumpSegmentsPane) setFilter(text string) error { return p.pattern.set(text) }

// Len is the number of rows.
func (rows *dumpSegmentRows) Len() int { return len(rows.rows) }

// DrawCell draws one cell of the table.
func (rows *dumpSegmentRows) DrawCell(r grid.Region, index, column int) {
	segment := &rows.space.segments[rows.rows[index]]
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	switch column {
	case reservedAddress:
		fitAddress(r.Sub(0, 0, r.Width()-2, 1), text, segment.Address)
		if segment.releasable() {
			r.Set(r.Width()-1, 0, r.Glyphs().BlockReleasable, grid.Of(themes.Releasable))
		}
	case reservedBytes:
		drawSize(&pen, grid.Of(themes.Reserved), grid.Known(segment.Bytes, !segment.Unknown), r.Width())
	case reservedLive:
		drawSize(&pen, grid.Of(themes.Allocated), segment.Allocated, r.Width())
	case reservedFree:
		drawSize(&pen, grid.Of(themes.Free), grid.Known(segment.Free(), !segment.Unknown), r.Width())
	case reservedLargest:
		drawSize(&pen, text, grid.Known(segment.largest, !segment.Unknown), r.Width())
	case reservedBlocks:
		pen.Count(text, int64(segment.Count), r.Width())
	case reservedPool:
		rows.drawPool(r, segment)
	case reservedStream:
		r.Fit(0, 0, r.Width(), text, rows.names.stream(segment.Stream), grid.Right)
	case reservedKind:
		r.Fit(0, 0, r.Width(), text, kindOf(segment), grid.Left)
	case reservedSince:
		pen.Count(dim, grid.Known(int64(segment.Since), segment.Since >= 0), r.Width())
	case reservedStack:
		rows.drawStack(r, segment.Stack)
	case reservedUse:
		rows.drawUse(r, segment)
	}
}

// drawPool writes the memory pool's ID.
func (rows *dumpSegmentRows) drawPool(r grid.Region, segment *dumpSegment) {
	if segment.Unknown {
		r.Set(r.Width()-1, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
		return
	}
	r.Fit(0, 0, r.Width(), grid.Of(themes.Text), rows.names.pool(segment.Pool), grid.Right)
}

// drawStack writes who caused a segment.
func (rows *dumpSegmentRows) drawStack(r grid.Region, stack int32) {
	if stack == dump.BeforeRecording {
		r.Set(0, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
		return
	}
	name := rows.names.frame(rows.names.stack(stack))
	pen := r.Pen(0, 0)
	pen.Text(grid.Of(themes.Text), name.name)
	pen.Skip(1)
	pen.Text(grid.Of(themes.Dim), name.short)
}

// drawUse is a bar as long as the segment is large, filled as far as it is used.
func (rows *dumpSegmentRows) drawUse(r grid.Region, segment *dumpSegment) {
	if segment.releasable() {
		r.Text(0, 0, grid.Of(themes.Releasable), "releasable")
		return
	}
	width := max(portionOf(segment.Bytes, rows.largest, r.Width()), 1)
	bar := r.Sub(0, 0, width, 1)
	bar.Fill(grid.Rect{W: width, H: 1}, r.Glyphs().BlockFree, grid.Of(themes.Free))
	widget.MiniBar(bar, segment.Allocated, segment.Bytes, grid.Of(themes.Allocated))
}

// text is a segment as a filter and the clipboard see it.
func (rows *dumpSegmentRows) text(number int) string {
	segment := &rows.space.segments[number]
	name := rows.names.frame(rows.names.stack(segment.Stack))
	text := string(appendAddress(nil, segment.Address)) + " size " + string(grid.AppendBytes(nil, segment.Bytes)) +
		" live " + string(grid.AppendBytes(nil, segment.Allocated)) + " in " + strconv.Itoa(segment.used) +
		" free " + string(grid.AppendBytes(nil, segment.Free())) + " largest " + string(grid.AppendBytes(nil, segment.largest)) +
		" pool " + rows.names.pool(segment.Pool) + " " + rows.names.stream(segment.Stream) + " " + kindOf(segment)
	if segment.releasable() {
		text += " releasable"
	}
	return text + " " + name.name + " " + name.place
}

func (p *dumpSegmentsPane) selectedText(s *scene) string {
	if p.collect(s) != "" || p.table.Selected < 0 {
		return ""
	}
	return p.rows.text(int(p.rows.rows[p.table.Selected]))
}

func (p *dumpSegmentsPane) details(s *scene) (string, []string) {
	if p.collect(s) != "" || p.table.Selected < 0 {
		return "", nil
	}
	segment := &p.rows.space.segments[p.rows.rows[p.table.Selected]]
	exact := func(n int64) string { return string(grid.AppendExact(nil, n)) }
	lines := []string{
		"at " + string(appendAddress(nil, segment.Address)) + ", " + kindOf(segment) + ", pool " + p.rows.names.pool(segment.Pool) +
			", stream " + p.rows.names.stream(segment.Stream),
		"size " + exact(segment.Bytes),
		"live " + exact(segment.Allocated) + " in " + strconv.Itoa(segment.used) + " blocks, pending " + exact(segment.Pending),
		"free " + exact(segment.Free()) + " in " + strconv.Itoa(segment.Count-segment.used) + " blocks, the largest " + exact(segment.largest),
	}
	if segment.Unknown {
		lines[1] = "The dump has no segment here: the block lies outside all that are known."
	}
	if segment.Since >= 0 {
		lines = append(lines, "since event "+string(grid.AppendCount(nil, int64(segment.Since))))
	}
	if segment.Stack != dump.BeforeRecording {
		lines = append(lines, "caused by, innermost first:")
		lines = append(lines, p.rows.names.lines(segment.Stack)...)
	}
	return "Segment", lines
}

var (
	_ clicker  = (*dumpSegmentsPane)(nil)
	_ copier   = (*dumpSegmentsPane)(nil)
	_ detailer = (*dumpSegmentsPane)(nil)
	_ filterer = (*dumpSegmentsPane)(nil)
	_ preparer = (*dumpSegmentsPane)(nil)
)
