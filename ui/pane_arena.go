package ui

import (
	"fmt"
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// arenaPane is the arenas of a source as bars with their numbers: the one that is
// looked at, and as many others as there is room for.
type arenaPane struct {
	flow   flow
	bar    widget.ArenaBar
	first  int // place of the first arena that is seen
	rows   int // of each
	titled arenaTitle
}

// arenaTitle is what the title depends on, and the title with its note.
type arenaTitle struct {
	name       string
	length     int64
	at, all    int
	released   int
	innermost  string
	noBytes    bool
	text, note string
	written    bool
}

func (p *arenaPane) title(s *scene) (string, string) {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		return "Arena", ""
	}
	t := arenaTitle{name: arenaName(a), length: a.State.Length, all: len(s.view.Arenas), innermost: a.Innermost, noBytes: hasScopesAlone(a), written: true}
	for i, other := range s.view.Arenas {
		if other == a {
			t.at = i + 1
		}
		if other.State.Released != 0 {
			t.released++
		}
	}
	t.text, t.note = p.titled.text, p.titled.note
	if t != p.titled {
		t.write()
		p.titled = t
	}
	return t.text, t.note
}

func (t *arenaTitle) write() {
	t.text, t.note = "Arena "+t.name, ""
	if t.noBytes {
		t.text = "No arena: " + t.name
	}
	if t.length > 0 {
		t.text += ", " + string(grid.AppendBytes(nil, t.length))
	}
	if t.all == 1 && t.innermost != "" {
		t.note = "in " + t.innermost[strings.LastIndexByte(t.innermost, '/')+1:]
	}
	if t.all > 1 {
		t.note = fmt.Sprintf("%d of %d", t.at, t.all)
		if t.released > 0 {
			t.note += fmt.Sprintf(", %d released", t.released)
		}
	}
}

func (*arenaPane) keys() keymap.Context { return keymap.List }

func (p *arenaPane) draw(r grid.Region, s *scene, _ bool) {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		nothing(r, "A program that allocates from an arena fills this: its pointers, what is free between them, and the most that was ever used.")
		return
	}
	if len(s.view.Arenas) == 1 && hasScopesAlone(a) {
		nothing(r, "Its scopes lie in no arena: they have an order and a number, and no bytes. Those of a thread that registers one with arena() lie in it.")
		return
	}
	if r.Height() == 1 {
		p.drawRow(r, a)
		return
	}
	count := p.visible(r.Height(), s, a)
	if count == 1 {
		p.drawBar(r.Sub(0, 0, r.Width(), 1), a)
		p.drawNumbers(r.Sub(0, 1, r.Width(), r.Height()-1), s, a)
		return
	}
	for i := range count {
		other := s.view.Arenas[p.first+i]
		p.drawNamed(r.Sub(0, i*p.rows, r.Width(), p.rows), s, other, other == a)
	}
}

// visible is how many arenas there is room for, two rows each; the one that is
// looked at is among them.
func (p *arenaPane) visible(height int, s *scene, a *model.ArenaView) (count int) {
	all := len(s.view.Arenas)
	p.rows = 2
	count = min(max(height/p.rows, 1), all)
	at := 0
	for i, other := range s.view.Arenas {
		if other == a {
			at = i
		}
	}
	p.first = widget.ScrollTo(min(p.first, all-count), at, count, all)
	return count
}

// drawRow draws an arena in one row: its bar, and what is used of it.
func (p *arenaPane) drawRow(r grid.Region, a *model.ArenaView) {
	const numbers = 14
	if r.Width() < 2*numbers {
		p.drawBar(r, a)
		return
	}
	p.drawBar(r.Sub(0, 0, r.Width()-numbers, 1), a)
	used, length := arenaUse(a)
	pen := r.Pen(r.Width()-numbers+1, 0)
	pen.Short(grid.Of(themes.Accent), used, 5)
	pen.Text(grid.Of(themes.Dim), " of ")
	pen.Short(grid.Of(themes.Text), length, 0)
}

// drawNamed draws one of several arenas.
func (p *arenaPane) drawNamed(r grid.Region, s *scene, a *model.ArenaView, chosen bool) {
	style := grid.Of(themes.Text)
	if chosen {
		r.Set(0, 0, r.Glyphs().Selected, grid.Of(themes.Accent))
		style = grid.Of(themes.Accent)
	}
	width := min(r.Width()/4, 24)
	r.FitMiddle(1, 0, width-1, style, arenaName(a))
	p.drawBar(r.Sub(width+1, 0, r.Width()-width-1, 1), a)
	p.drawNumbers(r.Sub(1, 1, r.Width()-1, r.Height()-1), s, a)
}

func (p *arenaPane) drawBar(r grid.Region, a *model.ArenaView) {
	state := &a.State
	p.bar = widget.ArenaBar{
		Capacity: state.Length, Forward: state.Forward, Reverse: max(state.Length-state.Reverse, 0),
		HighWater: state.HighWater, Marks: state.Marks,
	}
	if a.Partial {
		p.bar.Capacity = 0
	}
	p.bar.Draw(r)
}

// arenaUse is what is used of an arena on both sides, and its length;
// grid.Missing while nobody has told its length, and of one whose pointers cannot
// be what is used.
func arenaUse(a *model.ArenaView) (used, length int64) {
	switch {
	case a.State.Length == 0 || !a.State.Managed:
		return grid.Missing, grid.Missing
	case a.Crossed() != "":
		return grid.Missing, a.State.Length
	}
	return a.State.Forward + a.State.Length - a.State.Reverse, a.State.Length
}

// reverseUse is what is used on the reverse side of an arena of a length whose
// reverse pointer stands there: nothing that is known where it stands beyond.
func reverseUse(length, pointer int64) int64 {
	if used := difference(length, pointer); used >= 0 {
		return used
	}
	return grid.Missing
}

// drawNumbers writes the numbers of an arena, and what is out of the ordinary.
func (p *arenaPane) drawNumbers(r grid.Region, s *scene, a *model.ArenaView) {
	f, state := &p.flow, &a.State
	used, length := arenaUse(a)
	free, reverse, highWater := int64(grid.Missing), int64(grid.Missing), int64(grid.Missing)
	if length != grid.Missing {
		reverse = reverseUse(length, state.Reverse)
	}
	if used != grid.Missing {
		free, highWater = length-used, state.HighWater
	}
	f.begin(r)
	if state.Released != 0 {
		f.since("released", grid.Of(themes.Warning), s.newest.Now-state.Released, beforeWhat(s))
	}
	if short, why := arenaOddity(a); r.Height() == 1 {
		f.text("", grid.Of(themes.Warning), short)
	} else {
		f.text("", grid.Of(themes.Warning), why)
	}
	f.bytes("forward", grid.Of(themes.Forward), state.Forward)
	f.bytes("free", grid.Of(themes.Free), free)
	f.bytes("reverse", grid.Of(themes.Reverse), reverse)
	switch label, highWater := leastOf("high-water", highWater, a.HighWaterIsLeast()); {
	case used != grid.Missing && (a.WasReset() || state.Released != 0):
		f.bytes("highest ever", grid.Of(themes.HighWater), a.HighestEver())
	default:
		f.bytes(label, grid.Of(themes.HighWater), highWater)
	}
	f.percent("used", grid.Of(themes.Text), used, length)
	if a.Failed > 0 {
		f.count("did not fit", grid.Of(themes.Error), a.Failed)
	}
	if a.Innermost != "" {
		f.text("innermost", grid.Of(themes.Text), a.Innermost)
	}
}

// arenaOddity is what is out of the ordinary with an arena, in a few words and
// whole; "" mostly.
func arenaOddity(a *model.ArenaView) (short, why string) {
	switch {
	case a.State.HalfBuilt:
		return "its buffer could not be had", "its buffer could not be had"
	case a.Partial:
		return "length not told yet", "length not told yet: it comes with the next state"
	case a.Crossed() != "":
		return "pointers cannot be (forward, reverse)", a.Crossed()
	case !a.State.Managed:
		return "unmanaged", "unmanaged: its allocations are the ordinary allocator's, scopes alone are seen"
	}
	return "", ""
}

// do looks at another arena.
func (p *arenaPane) do(action keymap.Action, s *scene) bool {
	if s.view == nil || len(s.view.Arenas) == 0 {
		return false
	}
	switch action {
	case keymap.Up:
		s.nextArena(-1)
	case keymap.Down:
		s.nextArena(1)
	case keymap.Top:
		s.choices.chooseArena(s.view.Arenas[0].ID)
	case keymap.Bottom:
		s.choices.chooseArena(s.view.Arenas[len(s.view.Arenas)-1].ID)
	default:
		return false
	}
	return true
}

// click looks at the arena at a place.
func (p *arenaPane) click(_, y, _, _ int, s *scene) {
	if s.view == nil || p.rows == 0 {
		return
	}
	if at := p.first + y/p.rows; at < len(s.view.Arenas) {
		s.choices.chooseArena(s.view.Arenas[at].ID)
	}
}

func (*arenaPane) selectedText(s *scene) string {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s length %d forward %d reverse %d high-water %d", arenaName(a), a.State.Length, a.State.Forward, a.State.Reverse, a.State.HighWater)
}

// details are all facts of the arena, to the byte.
func (*arenaPane) details(s *scene) (string, []string) {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		return "", nil
	}
	exact := func(n int64) string { return string(grid.AppendExact(nil, n)) }
	state := &a.State
	lines := []string{
		"number  " + strconv.FormatInt(a.ID, 10), "length  " + exact(state.Length),
		"forward pointer  " + exact(state.Forward), "reverse pointer  " + exact(state.Reverse),
	}
	label, highWater := leastOf("high-water since the last reset", state.HighWater, a.HighWaterIsLeast())
	if a.Crossed() == "" {
		lines = append(lines, label+"  "+exact(highWater))
	}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, name+"  "+text)
		}
	}
	add("address", state.Base)
	add("device", state.Device)
	add("job", state.Job)
	add("program", state.From)
	add("innermost scope", a.Innermost)
	_, why := arenaOddity(a)
	add("out of the ordinary", why)
	if state.LastLaunchFrames != nil {
		add("frames that its last kernel was launched for", strconv.FormatInt(*state.LastLaunchFrames, 10))
	}
	if a.Scopes != nil {
		root := a.Scopes.Root()
		lines = append(lines, fmt.Sprintf("allocations over its life  %d", root.AllocCount), "outside every scope  "+exact(root.SelfBytes),
			fmt.Sprintf("peak over its life  %s in frame %s", exact(root.Peak), frameText(root.PeakFrame)))
		if folded := a.Scopes.Folded(); folded > 0 {
			lines = append(lines, fmt.Sprintf("%d scopes are counted in rows named …: the tree had reached its bounds", folded))
		}
	}
	lines = append(lines, fmt.Sprintf("allocations that did not fit  %d", a.Failed), fmt.Sprintf("marks  %d", len(state.Marks)))
	if state.CutEvents > 0 {
		lines = append(lines, fmt.Sprintf("%d events were not kept: the registry of recorded arenas was full", state.CutEvents))
	}
	if state.Recorded {
		lines = append(lines, "it is recorded for a calibration dump")
	}
	return "Arena " + arenaName(a), lines
}

// origins says where the pointers come from: the events, and beside them the
// samples, which may be older.
func (*arenaPane) origins(s *scene) []origin {
	a := s.choices.arenaOf(s.view)
	if a == nil {
		return nil
	}
	return arenaOrigins(s, a)
}

func arenaOrigins(s *scene, a *model.ArenaView) []origin {
	from := "the arena's state and the events since"
	known := func(n int64) model.Figure { return model.Figure{Value: n, Known: true, Origin: from} }
	used, length := arenaUse(a)
	missing := model.Figure{Why: "nobody has told the arena's length yet"}
	all := []origin{{name: "forward", figure: known(a.State.Forward)}}
	if length == grid.Missing {
		return append(all, origin{name: "free, reverse, high-water", figure: missing})
	}
	highWater := known(a.State.HighWater)
	if a.HighWaterIsLeast() {
		highWater.Origin = "at least this: " + a.WhyLeast()
	}
	if why := a.Crossed(); why != "" {
		return append(all, origin{name: "free, used, high-water", figure: model.Figure{Why: why}},
			origin{name: "reverse pointer", figure: known(a.State.Reverse)})
	}
	all = append(all,
		origin{name: "free", figure: known(a.State.Reverse - a.State.Forward)},
		origin{name: "reverse", figure: known(length - a.State.Reverse)},
		origin{name: "used", figure: known(used)},
		origin{name: "high-water", figure: highWater})
	set := s.view.FindSet("arena:" + strconv.FormatInt(a.ID, 10))
	if set == nil {
		return all
	}
	for _, counter := range [...]recorder.Counter{recorder.Forward, recorder.Reverse, recorder.HighWater} {
		all = append(all, origin{name: "sampled " + counter.String(), figure: s.view.Figure(set, counter)})
	}
	return all
}
