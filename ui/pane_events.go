package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// eventsPane is the log: failed allocations, actions with their results,
// notes, sources that came and went. The newest stands at the bottom and is
// followed until the selection moves away from it.
type eventsPane struct {
	table   widget.Table
	rows    entryRows
	seen    *model.Snapshot
	pattern filterPattern
	follows bool
	changed bool // the filter has changed
}

type entryRows struct {
	entries []model.Entry // those that are shown
	scene   *scene
}

// The columns of the log.
const (
	entryTime = iota
	entryMark
	entryPID
	entrySource
	entryText
)

// What the column of sources has at least, and at most.
const sourceWidth, widestSource = 12, 20

func newEventsPane() *eventsPane {
	p := &eventsPane{follows: true}
	p.table = widget.Table{SortColumn: -1, Rows: &p.rows, Columns: []widget.TableColumn{
		entryTime:   {Title: "time", Width: 8, Drop: 1},
		entryMark:   {Title: "", Width: 1},
		entryPID:    {Title: "pid", Width: 7, Align: grid.Right, Drop: 3},
		entrySource: {Title: "source", Width: sourceWidth, Drop: 2},
		entryText:   {Title: "what", Width: 10, Grow: 1},
	}}
	return p
}

func (p *eventsPane) title(*scene) (string, string) {
	if p.pattern.text != "" {
		return "Events", "filter " + p.pattern.text
	}
	return "Events", ""
}

func (*eventsPane) keys() keymap.Context { return keymap.List }

// collect finds the entries of a snapshot that are shown, once.
func (p *eventsPane) collect(s *scene) {
	p.rows.scene = s
	if p.seen == s.snapshot && !p.changed {
		return
	}
	p.seen, p.changed = s.snapshot, false
	p.rows.entries = p.rows.entries[:0]
	for _, entry := range s.snapshot.Log {
		if p.pattern.matches(entry.Text) || p.pattern.matches(entry.Title()) {
			p.rows.entries = append(p.rows.entries, entry)
		}
	}
	p.fitSource()
	p.order(s)
	p.find(s)
}

// fitSource gives the column of sources what their names and ranks take.
func (p *eventsPane) fitSource() {
	width := sourceWidth
	for i := range p.rows.entries {
		entry := &p.rows.entries[i]
		width = max(width, grid.Width(entry.Name)+rankWidth(entry.Rank))
	}
	p.table.Columns[entrySource].Width = min(width, widestSource)
}

// order puts the entries in the order of time. Of one program they come so, of
// several recordings each file comes as a whole.
func (p *eventsPane) order(s *scene) {
	inTime := func(a, b model.Entry) int { return cmp.Compare(s.snapshot.WallOf(&a), s.snapshot.WallOf(&b)) }
	if !slices.IsSortedFunc(p.rows.entries, inTime) {
		slices.SortStableFunc(p.rows.entries, inTime)
	}
}

// find selects the newest entry, or the one that was selected; where that is not
// shown, the one that comes next.
func (p *eventsPane) find(s *scene) {
	last := len(p.rows.entries) - 1
	if p.follows || last < 0 {
		p.table.Selected = max(last, 0)
	} else {
		p.table.Selected = min(p.placeOf(s, s.choices.entry), last)
	}
	p.choose(s)
}

// placeOf is the place of an entry, or of what comes after it. What the log does
// not hold any more was before everything.
func (p *eventsPane) placeOf(s *scene, seq uint64) int {
	chosen := findEntry(s.snapshot, seq)
	if chosen == nil {
		return 0
	}
	wall := s.snapshot.WallOf(chosen)
	at := slices.IndexFunc(p.rows.entries, func(e model.Entry) bool {
		other := s.snapshot.WallOf(&e)
		return other > wall || other == wall && e.Seq >= seq
	})
	if at < 0 {
		return len(p.rows.entries)
	}
	return at
}

func (p *eventsPane) choose(s *scene) {
	if p.table.Selected < len(p.rows.entries) {
		s.choices.entry = p.rows.entries[p.table.Selected].Seq
	}
}

func (p *eventsPane) draw(r grid.Region, s *scene, _ bool) {
	p.collect(s)
	if len(p.rows.entries) == 0 {
		text := "Nothing has happened yet. Failed allocations, actions and their results, notes and errors fill this."
		if p.pattern.text != "" {
			text = "Nothing matches the filter. Esc clears it."
		}
		nothing(r, text)
		return
	}
	p.table.Offset = widget.ScrollTo(p.table.Offset, p.table.Selected, r.Height()-1, len(p.rows.entries))
	p.table.Draw(r)
}

func (p *eventsPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	if action == keymap.Follow {
		p.follows = true
		p.find(s)
		return false // the dashboard follows too
	}
	if action == keymap.JumpToPeak || !moveIn(&p.table, action, len(p.rows.entries)) {
		return false
	}
	p.follows = p.table.Selected == len(p.rows.entries)-1
	p.choose(s)
	return true
}

func (p *eventsPane) click(_, y, _, _ int, s *scene) {
	p.collect(s)
	if row := p.table.Offset + y - 1; y > 0 && row < len(p.rows.entries) {
		p.table.Selected = row
		p.follows = row == len(p.rows.entries)-1
		p.choose(s)
	}
}

func (p *eventsPane) filter() string { return p.pattern.text }

func (p *eventsPane) setFilter(text string) error {
	p.changed = true
	return p.pattern.set(text)
}

func (p *eventsPane) selectedText(s *scene) string {
	p.collect(s)
	if p.table.Selected >= len(p.rows.entries) {
		return ""
	}
	entry := &p.rows.entries[p.table.Selected]
	return entry.Title() + ": " + entry.Text
}

func (p *eventsPane) details(s *scene) (string, []string) {
	p.collect(s)
	if p.table.Selected >= len(p.rows.entries) {
		return "", nil
	}
	entry := &p.rows.entries[p.table.Selected]
	return "Event of " + entry.Title(), append([]string{entry.Text}, entry.Detail...)
}

func (rows *entryRows) Len() int { return len(rows.entries) }

func (rows *entryRows) DrawCell(r grid.Region, row, column int) {
	entry := &rows.entries[row]
	pen := r.Pen(0, 0)
	switch column {
	case entryTime:
		drawClock(&pen, grid.Of(themes.Dim), rows.scene.snapshot.WallOf(entry))
	case entryMark:
		mark, style := entryLook(r, entry)
		pen.Rune(style, mark)
	case entryPID:
		if entry.PID > 0 {
			drawPID(&pen, grid.Of(themes.Dim), entry.PID, r.Width())
		}
	case entrySource:
		drawSource(r, grid.Of(themes.Dim), entry)
	case entryText:
		style := grid.Of(themes.Text)
		if entry.Level == model.LevelError {
			style = grid.Of(themes.Error)
		}
		r.Text(0, 0, style, entry.Text)
	}
}

// drawSource writes the source of an entry, with its rank where it has one: of many
// ranks with one name, that tells which.
func drawSource(r grid.Region, style grid.Style, entry *model.Entry) {
	rank := rankWidth(entry.Rank)
	name := min(grid.Width(entry.Name), max(r.Width()-rank, 0))
	r.FitMiddle(0, 0, name, style, entry.Name)
	if entry.Rank != nil {
		pen := r.Pen(name, 0)
		pen.Text(style, " rank ")
		drawPID(&pen, style, *entry.Rank, 0)
	}
}

// rankWidth is what " rank 3" takes after a name, 0 where there is no rank.
func rankWidth(rank *int) int {
	if rank == nil {
		return 0
	}
	width := len(" rank 0")
	for n := *rank; n > 9; n /= 10 {
		width++
	}
	return width
}

// drawPID writes a number as it is, without separators and without garbage.
func drawPID(pen *grid.Pen, style grid.Style, pid, width int) {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], int64(pid), 10)
	pen.Skip(max(width-len(digits), 0))
	for _, digit := range digits {
		pen.Rune(style, rune(digit))
	}
}

// drawClock writes a moment in Unix ns as hours, minutes and seconds, without
// garbage.
func drawClock(pen *grid.Pen, style grid.Style, wall int64) {
	hour, minute, second := clockOf(wall)
	for i, n := range [...]int{hour, minute, second} {
		if i > 0 {
			pen.Rune(style, ':')
		}
		pen.Rune(style, rune('0'+n/10))
		pen.Rune(style, rune('0'+n%10))
	}
}

// entryLook is the mark and the style of an entry: they differ in shape.
func entryLook(r grid.Region, entry *model.Entry) (rune, grid.Style) {
	glyphs := r.Glyphs()
	switch entry.Kind {
	case model.EntryOOM:
		return glyphs.EventOOM, grid.Of(themes.Error)
	case model.EntryAction:
		return glyphs.EventAction, grid.Of(themes.Accent)
	case model.EntryLost:
		return glyphs.EventLost, grid.Of(themes.Warning)
	case model.EntryPool:
		return glyphs.EventRebuild, grid.Of(themes.Info)
	}
	switch entry.Level {
	case model.LevelError:
		return glyphs.EventError, grid.Of(themes.Error)
	case model.LevelWarning:
		return glyphs.StatusWarning, grid.Of(themes.Warning)
	}
	return glyphs.EventNote, grid.Of(themes.Info)
}

// eventPane is everything about the selected entry of the log.
type eventPane struct {
	offset int
	of     uint64 // Seq of the entry that was drawn last
}

func (*eventPane) title(*scene) (string, string) { return "Event", "" }
func (*eventPane) keys() keymap.Context          { return keymap.List }

func (p *eventPane) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Up:
		p.offset = max(p.offset-1, 0)
	case keymap.Down:
		p.offset++
	default:
		return false
	}
	return true
}

func (p *eventPane) draw(r grid.Region, s *scene, _ bool) {
	entry := findEntry(s.snapshot, s.choices.entry)
	if entry == nil {
		nothing(r, "The selected event's details fill this: who asked for how much, what was free, what was done.")
		return
	}
	if p.of != entry.Seq {
		p.of, p.offset = entry.Seq, 0
	}
	style := grid.Of(themes.Text)
	rows := widget.Paragraph(r, style.With(themes.Bold), entry.Text)
	p.offset = min(p.offset, max(len(entry.Detail)-1, 0))
	for _, line := range entry.Detail[p.offset:] {
		if rows >= r.Height() {
			return
		}
		rows += widget.Paragraph(r.Sub(1, rows, r.Width()-1, r.Height()-rows), style, strings.TrimRight(line, "\n"))
	}
}

func findEntry(snapshot *model.Snapshot, seq uint64) *model.Entry {
	for i := len(snapshot.Log) - 1; i >= 0; i-- {
		if snapshot.Log[i].Seq == seq {
			return &snapshot.Log[i]
		}
	}
	return nil
}
