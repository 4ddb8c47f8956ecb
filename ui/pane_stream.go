package ui

import (
	"fmt"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// streamPane is the events of the selected scope, one by one, with the pointers
// that follow from each: the scope's own, those inside it too, or all of the
// arena's.
type streamPane struct {
	table   widget.Table
	cursor  listCursor
	reach   streamReach
	follows bool // the newest event stays selected

	list     *model.EventList
	of       streamOf
	view     *model.SourceView // that the list was updated with
	complete bool
	rows     []model.ListedEvent // that are seen, from first on
	first    int
	titled   streamTitle
}

// streamReach is whose events are listed.
type streamReach uint8

const (
	reachOwn    streamReach = iota // of the scope itself
	reachInside                    // of the scopes inside it too
	reachArena                     // of the whole arena
)

// streamOf is what a list of events depends on.
type streamOf struct {
	source string
	arena  int64
	choice int
	reach  streamReach
}

// readEvents is how many events are looked at in one go: a frame's time or so.
const readEvents = 400_000

// The columns of the table.
const (
	streamTime = iota
	streamMark
	streamOp
	streamText
	streamDType
	streamBytes
	streamForward
	streamReverse
	streamAddress
)

func newStreamPane() *streamPane {
	p := &streamPane{reach: reachInside, follows: true}
	p.table = widget.Table{Rows: p, SortColumn: -1, Columns: []widget.TableColumn{
		streamTime:    {Title: "before", Width: 8, Align: grid.Right, Drop: 4},
		streamMark:    {Width: 1},
		streamOp:      {Title: "event", Width: 9},
		streamText:    {Title: "what", Width: 18, Grow: 1},
		streamDType:   {Title: "type", Width: 9, Drop: 3},
		streamBytes:   {Title: "bytes", Width: longBytes, Align: grid.Right},
		streamForward: {Title: "forward", Width: longBytes, Align: grid.Right},
		streamReverse: {Title: "reverse", Width: longBytes, Align: grid.Right, Drop: 5},
		streamAddress: {Title: "address", Width: 14, Drop: 6},
	}}
	return p
}

// streamTitle is what the title depends on, and the title with its note.
type streamTitle struct {
	reach      streamReach
	choice     int
	peak       int64
	hasPeak    bool
	reading    bool
	text, note string
	written    bool
}

func (p *streamPane) title(s *scene) (string, string) {
	if p.list == nil {
		return "Events", ""
	}
	t := streamTitle{reach: p.reach, choice: s.choices.scope.version, reading: !p.complete, written: true}
	t.peak, _, t.hasPeak = p.list.Peak()
	t.text, t.note = p.titled.text, p.titled.note
	if t != p.titled {
		t.write(&s.choices.scope)
		p.titled = t
	}
	return t.text, t.note
}

func (t *streamTitle) write(choice *scopeChoice) {
	t.text, t.note = "Events of the arena", "left: of the scope"
	if len(choice.path) > 0 && t.reach != reachArena {
		t.text = "Events of " + choice.path[len(choice.path)-1]
		if t.reach == reachInside {
			t.text += " and inside"
		}
		t.note = "left, right: whose"
	}
	if t.hasPeak {
		t.note = "peak " + string(grid.AppendBytes(nil, t.peak)) + ": x goes there"
	}
	if t.reading {
		t.note = "still reading"
	}
}

func (*streamPane) keys() keymap.Context { return keymap.List }

// take follows the scene: another arena, scope or moment, or newer events.
func (p *streamPane) take(s *scene) (missing string) {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		p.list = nil
		return "The events of an arena fill this: who allocated how much of what, and where the pointers stood then."
	}
	of := streamOf{source: s.view.ID, arena: a.ID, choice: s.choices.scope.version, reach: p.reach}
	if s.choices.scope.path == nil || s.choices.scope.abandoned {
		of.reach = reachArena
	}
	if p.list == nil || of != p.of {
		path := s.choices.scope.path
		if of.reach == reachArena {
			path = nil
		}
		p.of, p.list, p.view = of, model.NewEventList(a.ID, path, of.reach != reachOwn), nil
		p.rows = p.rows[:0]
	}
	if p.view != s.view || !p.complete {
		p.complete = p.list.Update(s.view, readEvents)
		p.view, p.rows = s.view, p.rows[:0]
	}
	count := p.list.Len()
	if p.follows {
		p.cursor.at = count - 1
	}
	p.cursor.at = min(max(p.cursor.at, 0), max(count-1, 0))
	if count == 0 {
		return p.emptied(s, a)
	}
	return ""
}

// emptied says what would fill the list.
func (p *streamPane) emptied(s *scene, a *model.ArenaView) string {
	switch {
	case a.Events == 0:
		return noEvents(s, a)
	case p.of.reach == reachOwn:
		return "The scope itself has no events among those that are kept: right shows those inside it."
	}
	return "The scope has no events among those that are kept: right shows all of the arena."
}

func (p *streamPane) draw(r grid.Region, s *scene, _ bool) {
	if missing := p.take(s); missing != "" {
		nothing(r, missing)
		return
	}
	titles := 0
	if r.Height() >= 4 {
		titles = 1
	}
	p.cursor.scroll(p.list.Len(), r.Height()-titles)
	if p.first != p.cursor.offset || len(p.rows) < min(p.cursor.page, p.list.Len()-p.cursor.offset) {
		p.first = p.cursor.offset
		p.rows = p.list.Rows(p.rows[:0], p.first, p.first+p.cursor.page)
	}
	fitBytes(p.table.Columns, r.Width())
	p.table.Offset, p.table.Selected = p.cursor.offset, p.cursor.at
	p.table.Draw(r.Sub(0, titles-1, r.Width(), r.Height()+1-titles))
}

// fitBytes gives columns of bytes the width for short or long numbers.
func fitBytes(columns []widget.TableColumn, width int) {
	from, to := shortBytes, longBytes
	if width < shortStream {
		from, to = longBytes, shortBytes
	}
	for i := range columns {
		if columns[i].Width == from && columns[i].Align == grid.Right {
			columns[i].Width = to
		}
	}
}

// shortStream is the width under which bytes are written short in lists.
const shortStream = 64

func (p *streamPane) do(action keymap.Action, s *scene) bool {
	missing := p.take(s)
	switch action {
	case keymap.Left:
		p.reach = max(p.reach, 1) - 1
	case keymap.Right:
		p.reach = min(p.reach+1, reachArena)
	case keymap.Follow:
		p.follows = true
		return false // the dashboard follows too
	case keymap.JumpToPeak:
		if missing != "" {
			return false
		}
		if _, at, ok := p.list.Peak(); ok {
			p.cursor.at, p.follows = at, false
		}
	default:
		if missing != "" || !p.cursor.move(action, p.list.Len()) {
			return false
		}
		p.follows = p.cursor.at == p.list.Len()-1
	}
	return true
}

func (p *streamPane) click(_, y, _, height int, s *scene) {
	if p.take(s) != "" {
		return
	}
	if height >= 4 {
		y--
	}
	if row := p.cursor.offset + y; y >= 0 && row < p.list.Len() {
		p.cursor.at, p.follows = row, row == p.list.Len()-1
	}
}

// Len is the number of events.
func (p *streamPane) Len() int { return p.list.Len() }

// DrawCell draws one cell of the table.
func (p *streamPane) DrawCell(r grid.Region, row, column int) {
	if at := row - p.first; at < 0 || at >= len(p.rows) {
		return
	}
	event := &p.rows[row-p.first]
	pen := r.Pen(0, 0)
	dim := grid.Of(themes.Dim)
	switch column {
	case streamTime:
		pen.Duration(dim, p.view.Now-event.Ns, r.Width())
	case streamMark:
		if event.SetPeak {
			r.Set(0, 0, r.Glyphs().Mark, grid.Of(themes.Peak).With(themes.Bold))
		}
	case streamOp:
		r.Fit(0, 0, r.Width(), opStyle(event.Op), opName(event.Op), grid.Left)
	case streamText:
		drawEventText(r, event)
	case streamDType:
		r.Fit(0, 0, r.Width(), dim, event.DType, grid.Left)
	case streamBytes:
		if hasBytes(event.Op) {
			drawScopeBytes(r, themes.Text, event.Bytes)
		}
	case streamForward:
		drawScopeBytes(r, themes.Forward, event.Forward)
	case streamReverse:
		drawScopeBytes(r, themes.Reverse, event.Reverse)
	case streamAddress:
		if event.Located {
			drawAddress(&pen, dim, event.Address)
		} else if event.Op == arena.OpAlloc || event.Op == arena.OpPersist {
			pen.Rune(dim, r.Glyphs().Unknown)
		}
	}
}

// hasBytes says which events are about a number of bytes.
func hasBytes(op arena.Op) bool {
	return op == arena.OpAlloc || op == arena.OpPersist || op == arena.OpFail || op == arena.OpNew
}

// drawEventText writes what an event is about, as deep as temporary contexts lie
// around it.
func drawEventText(r grid.Region, event *model.ListedEvent) {
	indent := min(2*event.Temps, r.Width()/2)
	pen := r.Pen(0, 0)
	for x := 0; x+1 < indent; x += 2 {
		r.Set(x, 0, r.Glyphs().TreeLine, grid.Of(themes.Guide))
	}
	pen.Skip(indent)
	style := grid.Of(themes.Text)
	if event.Op == arena.OpFail || event.Op == arena.OpReset {
		style = grid.Of(themes.Warning)
	}
	if len(event.Params) == 0 {
		drawReason(r, indent, r.Width()-indent, style, event.Text)
		return
	}
	pen.Text(style, event.Text)
	for i := range event.Params {
		pen.Skip(1)
		drawParam(&pen, &event.Params[i])
	}
}

// drawParam writes a parameter without making garbage of numbers.
func drawParam(pen *grid.Pen, param *arena.Param) {
	dim := grid.Of(themes.Dim)
	pen.Text(dim, param.Name)
	pen.Rune(dim, '=')
	if param.Kind == arena.ParamInt {
		pen.Count(dim, param.Int, 0)
		return
	}
	pen.Text(dim, param.String())
}

// drawAddress writes an address in hexadecimal.
func drawAddress(pen *grid.Pen, style grid.Style, address uint64) {
	const digits = "0123456789abcdef"
	pen.Text(style, "0x")
	for shift := 44; shift >= 0; shift -= 4 {
		pen.Rune(style, rune(digits[address>>shift&15]))
	}
}

var opNames = [...]string{
	arena.OpNew: "arena", arena.OpAlloc: "alloc", arena.OpPersist: "persist", arena.OpTempPush: "temporary", arena.OpTempPop: "temp end",
	arena.OpScopeOpen: "scope", arena.OpScopeClose: "scope end", arena.OpParams: "params", arena.OpMark: "mark", arena.OpRestore: "restore",
	arena.OpSet: "set", arena.OpReset: "reset", arena.OpRelease: "release", arena.OpFail: "fail",
	arena.OpUnseen: "not seen",
}

// opName is what an event of an arena is called.
func opName(op arena.Op) string {
	if int(op) < len(opNames) {
		return opNames[op]
	}
	return "unknown"
}

func opStyle(op arena.Op) grid.Style {
	switch op {
	case arena.OpAlloc:
		return grid.Of(themes.Forward)
	case arena.OpPersist:
		return grid.Of(themes.Reverse)
	case arena.OpFail:
		return grid.Of(themes.Error)
	case arena.OpReset, arena.OpRelease:
		return grid.Of(themes.Warning)
	case arena.OpMark, arena.OpRestore:
		return grid.Of(themes.Mark)
	}
	return grid.Of(themes.Dim)
}

// selected is the event under the cursor; nil when there is none.
func (p *streamPane) selected(s *scene) *model.ListedEvent {
	if p.take(s) != "" {
		return nil
	}
	rows := p.list.Rows(nil, p.cursor.at, p.cursor.at+1)
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}

func (p *streamPane) selectedText(s *scene) string {
	event := p.selected(s)
	if event == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s %d bytes, forward %d, reverse %d", opName(event.Op), event.Text, event.DType, event.Bytes, event.Forward, event.Reverse)
}

// details are all facts of the selected event.
func (p *streamPane) details(s *scene) (string, []string) {
	event := p.selected(s)
	if event == nil {
		return "", nil
	}
	exact := func(n int64) string { return string(grid.AppendExact(nil, n)) }
	lines := []string{
		fmt.Sprintf("event %d of the arena, in frame %s, %s before the moment that is looked at", event.Number, frameText(event.Frame), model.FormatDuration(s.view.Now-event.Ns)),
		"forward pointer after it  " + exact(event.Forward), "reverse pointer after it  " + exact(event.Reverse),
	}
	if event.Text != "" {
		lines = append(lines, "scope, caller or reason  "+event.Text)
	}
	if hasBytes(event.Op) {
		lines = append(lines, "bytes, padding apart  "+exact(event.Bytes))
	}
	if event.ItemSize > 0 {
		lines = append(lines, fmt.Sprintf("%d items of %d bytes, %s", event.Items, event.ItemSize, event.DType))
	}
	if event.Located {
		lines = append(lines, fmt.Sprintf("address  %#x", event.Address))
	}
	if event.Temps > 0 {
		lines = append(lines, fmt.Sprintf("inside %d temporary contexts", event.Temps))
	}
	if event.SetPeak {
		lines = append(lines, "it set the peak of what is listed")
	}
	for _, param := range event.Params {
		lines = append(lines, param.Name+" = "+param.String())
	}
	return "Event: " + opName(event.Op), lines
}
