package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// liveThenPane is what was live at the cursor: the scopes that were open with
// the bytes in them, and the blocks of the pool by stream and size.
type liveThenPane struct {
	rows   liveRows
	cursor listCursor // over the scopes and then the blocks
	left   int        // the first scope that is seen where both stand side by side
	right  int        // the first blocks
	head   int        // rows above the list
	note   keptNote
}

// keptNote says how far back arenas and pools are kept, and what it was made of.
type keptNote struct {
	text string
	ns   int64
}

func (p *liveThenPane) title(s *scene) (string, string) {
	name := "Live now"
	if s.past {
		name = "Live then"
	}
	return name, p.noteText(s)
}

// noteText says from when on arenas and pools are kept, where that is not from
// the beginning. It changes with whole seconds.
func (p *liveThenPane) noteText(s *scene) string {
	if s.newest == nil {
		return ""
	}
	kept := s.newest.KeptFrom()
	if kept <= s.newest.First {
		return ""
	}
	if back := (s.newest.Now - kept) / 1e9; p.note.text == "" || p.note.ns != back {
		p.note.ns = back
		p.note.text = "kept for " + string(grid.AppendDuration(nil, back*1e9)) + "; m records all"
	}
	return p.note.text
}

func (*liveThenPane) keys() keymap.Context { return keymap.List }

// sideBySide is the width from which on scopes and blocks stand side by side.
const sideBySide = 76

func (p *liveThenPane) draw(r grid.Region, s *scene, focused bool) {
	if s.view == nil {
		nothing(r, "What was live at the moment that is looked at fills this.")
		return
	}
	p.rows.update(s)
	if len(p.rows.scopes) == 0 && len(p.rows.blocks) == 0 {
		nothing(r, p.whyNothing(s))
		return
	}
	p.cursor.at = min(p.cursor.at, p.len()-1)
	beside := r.Width() >= sideBySide && len(p.rows.scopes) > 0 && len(p.rows.blocks) > 0
	p.head = 0
	if r.Height() >= headedList {
		p.head = 1
		p.drawHead(r.Row(0), beside)
		r = r.Sub(0, 1, r.Width(), r.Height()-1)
	}
	if beside {
		p.drawSideBySide(r, s, focused)
		return
	}
	p.cursor.scroll(p.len(), r.Height())
	for y := 0; y < r.Height() && p.cursor.offset+y < p.len(); y++ {
		p.drawAt(r.Row(y), s, p.cursor.offset+y, focused)
	}
}

// headedList is the height from which on the columns have titles.
const headedList = 5

// drawHead writes what the columns are.
func (p *liveThenPane) drawHead(r grid.Region, beside bool) {
	if !beside {
		if len(p.rows.scopes) > 0 {
			drawLiveHead(r.Sub(1, 0, r.Width()-1, 1))
		} else {
			drawLiveBlocksHead(r.Sub(1, 0, r.Width()-1, 1))
		}
		return
	}
	half := halfOf(r.Width())
	drawLiveHead(r.Sub(1, 0, half-3, 1))
	drawLiveBlocksHead(r.Sub(half+1, 0, r.Width()-half-1, 1))
}

func drawLiveHead(r grid.Region) {
	style := grid.Of(themes.Dim).With(themes.Bold)
	name, numbers := liveColumns(r.Width())
	r.Text(0, 0, style, "open scope")
	for i, title := range [...]string{"live", "own", "open for"} {
		if i < numbers {
			r.Fit(name+1+i*liveNumber, 0, liveNumber-1, style, title, grid.Right)
		}
	}
}

func drawLiveBlocksHead(r grid.Region) {
	style := grid.Of(themes.Dim).With(themes.Bold)
	r.Fit(0, 0, 10, style, "live", grid.Right)
	r.Text(13, 0, style, "blocks of a size and stream")
}

// halfOf is where the blocks begin beside the scopes.
func halfOf(width int) int { return width * 11 / 20 }

// liveNumber is the columns of a number with the blank behind it.
const liveNumber = 11

// liveColumns is the width of a scope's name, and how many numbers follow.
func liveColumns(width int) (name, numbers int) {
	switch numbers = 1; {
	case width >= 60:
		numbers = 3
	case width >= 40:
		numbers = 2
	}
	return max(width-numbers*liveNumber, 1), numbers
}

func (p *liveThenPane) len() int { return len(p.rows.scopes) + len(p.rows.blocks) }

// whyNothing says what is missing, or that nothing was live.
func (p *liveThenPane) whyNothing(s *scene) string {
	if s.past && s.moment < s.newest.KeptFrom() {
		return "Arenas and pools are not kept as far back as this moment: only counters are. A recording (m) keeps everything."
	}
	if s.past && len(s.view.Arenas)+len(s.view.Pools) == 0 && len(s.newest.Arenas)+len(s.newest.Pools) > 0 {
		return "By this moment no arena and no pool had been told of: its samples alone are known."
	}
	if len(s.view.Arenas) == 0 && len(s.view.Pools) == 0 {
		if text := whySnapshot(s); text != "" {
			return text
		}
		return "This source has told of no arena and no pool. A program with a probe that records them fills this."
	}
	if pool := p.rows.pool; pool == nil || tellsNoBlocks(s.view, pool) {
		if text := whySnapshot(s); text != "" {
			return "No scope is open at this moment. " + text
		}
		return "Nothing is live at this moment: no scope is open."
	}
	if !p.rows.told {
		return "No scope is open, and the pool has not told of its blocks. They come with its events, which are asked for while this is shown."
	}
	return "Nothing is live at this moment: no scope is open, and no block is handed out."
}

// drawSideBySide draws scopes at the left and blocks at the right.
func (p *liveThenPane) drawSideBySide(r grid.Region, s *scene, focused bool) {
	width, height := r.Width(), r.Height()
	half := halfOf(width)
	scopes, blocks := len(p.rows.scopes), len(p.rows.blocks)
	p.cursor.page = max(height, 1)
	if p.cursor.at < scopes {
		p.left = widget.ScrollTo(p.left, p.cursor.at, height, scopes)
	} else {
		p.right = widget.ScrollTo(p.right, p.cursor.at-scopes, height, blocks)
	}
	p.left, p.right = max(min(p.left, scopes-height), 0), max(min(p.right, blocks-height), 0)
	for y := range height {
		if i := p.left + y; i < scopes {
			p.drawAt(r.Sub(0, y, half-2, 1), s, i, focused)
		}
		if i := p.right + y; i < blocks {
			p.drawAt(r.Sub(half, y, width-half, 1), s, scopes+i, focused)
		}
	}
}

// drawAt draws a row of the list.
func (p *liveThenPane) drawAt(row grid.Region, s *scene, at int, focused bool) {
	if at == p.cursor.at && focused {
		row = row.Forced(grid.Of(themes.Selection))
		row.Clear(0)
		row.Set(0, 0, row.Glyphs().Selected, 0)
	}
	row = row.Sub(1, 0, row.Width()-1, 1)
	if at < len(p.rows.scopes) {
		drawLiveScope(row, s, &p.rows.scopes[at])
	} else {
		drawLiveBlocks(row, s, &p.rows.blocks[at-len(p.rows.scopes)])
	}
}

// drawLiveScope is an open scope: its name, what is in it, what of that is its
// own, and for how long it has been open.
func drawLiveScope(r grid.Region, s *scene, scope *liveScope) {
	name, numbers := liveColumns(r.Width())
	style := grid.Of(themes.Text)
	if scope.row < 0 {
		style = grid.Of(themes.Dim)
	}
	indent := min(scope.depth, name/3)
	r.FitMiddle(indent, 0, name-indent, style, scope.name)
	pen := r.Pen(name+1, 0)
	pen.Bytes(grid.Of(themes.Live), scope.live, liveNumber-1)
	pen.Skip(1)
	if numbers > 1 {
		pen.Bytes(grid.Of(themes.Self), scope.own, liveNumber-1)
		pen.Skip(1)
	}
	if numbers > 2 {
		age := int64(grid.Missing)
		if scope.opened > 0 && s.moment >= scope.opened {
			age = s.moment - scope.opened
		}
		pen.Duration(grid.Of(themes.Dim), age, liveNumber-1)
	}
}

// drawLiveBlocks are blocks of one size and stream: what they hold together, how
// many they are, and how old the oldest is.
func drawLiveBlocks(r grid.Region, s *scene, blocks *liveBlocks) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	pen.Bytes(grid.Of(themes.Allocated), blocks.bytes(), 10)
	pen.Text(dim, " = ")
	pen.Count(text, blocks.count, 0)
	pen.Skip(1)
	pen.Rune(dim, r.Glyphs().Times)
	pen.Skip(1)
	pen.Bytes(text, blocks.each, 0)
	pen.Text(dim, " stream ")
	pen.Count(text, int64(blocks.stream), 0)
	if pen.Left() >= 16 {
		age := int64(grid.Missing)
		if blocks.oldest > 0 && s.moment >= blocks.oldest {
			age = s.moment - blocks.oldest
		}
		pen.Text(dim, " oldest ")
		pen.Duration(dim, age, 0)
	}
}

func (p *liveThenPane) do(action keymap.Action, s *scene) bool {
	p.rows.update(s)
	switch action {
	case keymap.Left:
		p.cursor.at = 0
	case keymap.Right:
		p.cursor.at = min(len(p.rows.scopes), max(p.len()-1, 0))
	default:
		if !p.cursor.move(action, p.len()) {
			return false
		}
	}
	p.choose(s)
	return true
}

// choose shares the selected scope with the panes that show scopes.
func (p *liveThenPane) choose(s *scene) {
	if p.cursor.at >= len(p.rows.scopes) {
		return
	}
	scope := &p.rows.scopes[p.cursor.at]
	if scope.row < 0 {
		return
	}
	s.choices.arena = scope.arena.ID
	s.choices.scope.choose(pathOf(s.view, scope), false)
}

// pathOf is the names from the outermost scope down to one.
func pathOf(view *model.SourceView, scope *liveScope) []string {
	numbers := scope.arena.Scopes.Path(scope.row)
	path := make([]string, len(numbers))
	for i, number := range numbers {
		path[i] = view.Strings.String(number)
	}
	return path
}

func (p *liveThenPane) click(x, y, width, _ int, s *scene) {
	p.rows.update(s)
	if y -= p.head; y < 0 {
		return
	}
	at := p.cursor.offset + y
	if scopes := len(p.rows.scopes); width >= sideBySide && scopes > 0 && len(p.rows.blocks) > 0 {
		if at = p.left + y; x >= halfOf(width) {
			at = scopes + p.right + y
		} else if at >= scopes {
			return
		}
	}
	if at < p.len() {
		p.cursor.at = at
		p.choose(s)
	}
}

func (p *liveThenPane) selectedText(s *scene) string {
	p.rows.update(s)
	switch at, scopes := p.cursor.at, len(p.rows.scopes); {
	case at < scopes:
		scope := &p.rows.scopes[at]
		return scope.name + ": " + string(grid.AppendExact(nil, scope.live)) + " live, " + string(grid.AppendExact(nil, scope.own)) + " of its own"
	case at-scopes < len(p.rows.blocks):
		blocks := &p.rows.blocks[at-scopes]
		return string(grid.AppendExact(nil, blocks.bytes())) + " in " + string(grid.AppendCount(nil, blocks.count)) + " blocks of " +
			string(grid.AppendExact(nil, blocks.each)) + ", stream " + string(grid.AppendCount(nil, int64(blocks.stream)))
	}
	return ""
}

func (p *liveThenPane) details(s *scene) (string, []string) {
	p.rows.update(s)
	if p.cursor.at >= p.len() {
		return "", nil
	}
	lines := []string{p.selectedText(s)}
	if p.cursor.at < len(p.rows.scopes) {
		scope := &p.rows.scopes[p.cursor.at]
		lines = append(lines, "in "+arenaName(scope.arena)+", "+string(grid.AppendExact(nil, scope.arena.State.Length))+" long")
		if scope.row >= 0 {
			for _, name := range pathOf(s.view, scope) {
				lines = append(lines, "in scope "+name)
			}
		}
	} else if pool := p.rows.pool; pool != nil {
		lines = append(lines, "in pool "+pool.State.Name)
	}
	return "Live", lines
}
