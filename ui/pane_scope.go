package ui

import (
	"fmt"
	"strings"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// scopePane is everything about the selected scope.
type scopePane struct {
	flow   flow
	reason abandonedReason
	path   scopePathText
	params scopeParamsText
	sizing scopeSizing
}

func (*scopePane) title(s *scene) (string, string) {
	if s.sumsArenas() {
		return "Scope, in all arenas", ""
	}
	return "Scope", ""
}

func (*scopePane) keys() keymap.Context { return keymap.List }

func (*scopePane) do(keymap.Action, *scene) bool { return false }

func (p *scopePane) draw(r grid.Region, s *scene, _ bool) {
	switch {
	case s.view == nil || len(s.view.Arenas) == 0:
		nothing(r, "The scope that is selected among the scopes fills this.")
	case s.sumsArenas():
		p.drawSum(r, s)
	case s.choices.scope.path == nil:
		nothing(r, "No scope is selected: select one in view 4.")
	default:
		p.drawScope(r, s)
	}
}

// drawSum draws the sum of the selected name over all arenas.
func (p *scopePane) drawSum(r grid.Region, s *scene) {
	s.choices.sums.take(s.view)
	sum := s.choices.sums.selected()
	if sum == nil {
		nothing(r, "No scope is selected: select one in view 4.")
		return
	}
	f := &p.flow
	f.begin(r)
	f.text("", grid.Of(themes.Accent).With(themes.Bold), sum.Name)
	if s.choices.sums.lost {
		f.text("", grid.Of(themes.Abandoned), "abandoned")
	}
	if r.Height() > 1 {
		f.line()
	}
	text := grid.Of(themes.Text)
	f.count("in arenas", text, int64(sum.Arenas))
	f.count("ran", text, sum.Count)
	label, n := leastOf("allocations", sum.AllocCount, sum.CountIsLeast)
	f.count(label, text, n)
	label, n = leastOf("self", sum.SelfBytes, sum.CountIsLeast)
	f.bytes(label, grid.Of(themes.Self), n)
	label, n = leastOf("total", sum.TotalBytes, sum.CountIsLeast)
	f.bytes(label, grid.Of(themes.Total), n)
	label, n = leastOf("largest peak", sum.Peak, sum.PeakIsLeast)
	f.bytes(label, grid.Of(themes.Peak), n)
	f.count("in arena", text, sum.PeakArena)
}

func (p *scopePane) drawScope(r grid.Region, s *scene) {
	a := s.choices.arenaOf(s.view)
	choice := &s.choices.scope
	scopes, row := choice.find(s.view, a)
	p.drawHead(r.Row(0), s, a, scopes, row)
	if row < 0 {
		nothing(r.Sub(0, 1, r.Width(), r.Height()-1), "The arena that is looked at has no such scope at this moment.")
		return
	}
	numbers := scopes.Row(row)
	if r.Width() < shortScope {
		p.drawShort(r.Row(1), s, scopes, row, &numbers)
		r = r.Sub(0, 1, r.Width(), r.Height()-1)
	}
	f := &p.flow
	f.begin(r.Sub(0, 1, r.Width(), r.Height()-1))
	p.writeBytes(s, scopes, row, &numbers)
	f.line()
	p.writePeak(s, &numbers)
	f.line()
	p.sizing.write(f, s, &numbers)
	if open, ok := openInstance(scopes, row); ok && !choice.abandoned {
		p.writeOpen(s, scopes, open, s.choices.arenaOf(s.view).State.Length)
		f.line()
	}
	if p.params.take(numbers.Params); p.params.text != "" {
		f.text("last ran with", grid.Of(themes.Text), p.params.text)
	}
}

// shortScope is the width under which the columns of bytes stand in a row of
// their own, short.
const shortScope = 60

func (p *scopePane) drawShort(r grid.Region, s *scene, scopes *recorder.ScopeSnapshot, row int32, numbers *recorder.ScopeRow) {
	pen := r.Pen(0, 0)
	live := int64(grid.Missing)
	if bytes, ok := scopes.Live(row); ok && !s.choices.scope.abandoned {
		live = bytes
	}
	isLeast := [...]bool{false, numbers.CountIsLeast(), numbers.CountIsLeast(), numbers.PeakIsLeast()}
	for i, number := range [...]int64{live, numbers.SelfBytes, numbers.TotalBytes, numbers.Peak} {
		column := scopeLive + i
		pen.Text(grid.Of(themes.Dim), [...]string{"live ", " self ", " total ", " peak "}[i])
		if _, number = leastOf("", number, isLeast[i]); isLeast[i] && number != grid.Missing {
			pen.Rune(grid.Of(scopeRoles[column]), atLeast(r))
		}
		pen.Short(grid.Of(scopeRoles[column]), number, 0)
	}
}

// drawHead writes the scope's path, and how it stands.
func (p *scopePane) drawHead(r grid.Region, s *scene, a *model.ArenaView, scopes *recorder.ScopeSnapshot, row int32) {
	choice := &s.choices.scope
	state, style := "", grid.Of(themes.Dim)
	switch {
	case choice.abandoned:
		p.reason.take(s.view, a)
		state, style = "abandoned", grid.Of(themes.Abandoned)
		if p.reason.text != "" && r.Width() >= 80 {
			state = p.reason.text
		}
	case row < 0:
		state = "not here"
	case scopes.IsOpen(row):
		state, style = "open", grid.Of(themes.OK)
	default:
		state = "closed"
	}
	width := min(grid.Width(state), r.Width()*2/3)
	r.Fit(r.Width()-width, 0, width, style, state, grid.Right)
	p.path.take(choice, r.Glyphs())
	r.FitMiddle(0, 0, max(r.Width()-width-1, 0), grid.Of(themes.Accent).With(themes.Bold), p.path.text)
}

// writeBytes writes what the scope holds and what it allocated.
func (p *scopePane) writeBytes(s *scene, scopes *recorder.ScopeSnapshot, row int32, numbers *recorder.ScopeRow) {
	f, text := &p.flow, grid.Of(themes.Text)
	live := int64(grid.Missing)
	if bytes, ok := scopes.Live(row); ok && !s.choices.scope.abandoned {
		live = bytes
	}
	f.bytes("live now", grid.Of(themes.Live), live)
	label, n := leastOf("self", numbers.SelfBytes, numbers.CountIsLeast())
	f.bytes(label, grid.Of(themes.Self), n)
	label, n = leastOf("total", numbers.TotalBytes, numbers.CountIsLeast())
	f.bytes(label, grid.Of(themes.Total), n)
	f.count("ran", text, numbers.Count)
	label, n = leastOf("allocations", numbers.AllocCount, numbers.CountIsLeast())
	f.count(label, text, n)
	if numbers.Unclosed > 0 && !s.choices.scope.abandoned {
		f.count("unclosed", grid.Of(themes.Warning), numbers.Unclosed)
	}
}

// writePeak writes the scope's peaks: the simultaneous one with when it was, and
// those of the two sides, which need not have been at one moment.
func (p *scopePane) writePeak(s *scene, numbers *recorder.ScopeRow) {
	f, text := &p.flow, grid.Of(themes.Text)
	label, n := leastOf("peak", numbers.Peak, numbers.PeakIsLeast())
	f.bytes(label, grid.Of(themes.Peak), n)
	if numbers.PeakNs > 0 {
		f.since("set", text, s.newest.Now-numbers.PeakNs, beforeWhat(s))
	}
	if numbers.PeakFrame >= 0 && numbers.PeakNs > 0 {
		f.count("in frame", text, numbers.PeakFrame)
	}
	if numbers.PeakIsLeast() {
		return // neither side's is known
	}
	f.bytes("forward peak", grid.Of(themes.Forward), numbers.PeakForward)
	f.bytes("reverse peak", grid.Of(themes.Reverse), numbers.PeakReverse)
}

// leastOf is the label and the number of what may be a lower bound; one that is
// nothing then says nothing.
func leastOf(label string, n int64, isLeast bool) (string, int64) {
	switch {
	case !isLeast:
		return label, n
	case n == 0:
		return label, grid.Missing
	}
	if marked, ok := leastLabels[label]; ok {
		return marked, n
	}
	return label + " at least", n
}

// leastLabels are the labels of lower bounds that are drawn again and again.
var leastLabels = map[string]string{
	"self": "self at least", "total": "total at least", "allocations": "allocations at least", "peak": "peak at least",
	"its peak": "its peak at least", "largest peak": "largest peak at least", "high-water": "high-water at least",
}

// beforeWhat is what a time before the newest moment is called.
func beforeWhat(s *scene) string {
	if isLive(s) {
		return "ago"
	}
	return "before the end"
}

// writeOpen writes what both sides of an arena of a length used where the open
// scope began, and use now. Its exit is not known yet.
func (p *scopePane) writeOpen(s *scene, scopes *recorder.ScopeSnapshot, open *recorder.OpenScope, length int64) {
	f := &p.flow
	forward, reverse := scopes.Pointers()
	f.bytes("entry forward", grid.Of(themes.Forward), open.EntryForward)
	f.bytes("entry reverse", grid.Of(themes.Reverse), reverseUse(length, open.EntryReverse))
	f.bytes("now forward", grid.Of(themes.Forward), forward)
	f.bytes("now reverse", grid.Of(themes.Reverse), reverseUse(length, reverse))
	f.text("exit", grid.Of(themes.Dim), "open")
	if open.Opened > 0 {
		f.duration("open for", grid.Of(themes.Text), s.view.Now-open.Opened)
	}
	label, n := leastOf("its peak", open.Peak, open.PeakBound > open.Peak)
	f.bytes(label, grid.Of(themes.Peak), n)
}

// openInstance is the innermost open scope that counts into a row.
func openInstance(scopes *recorder.ScopeSnapshot, row int32) (*recorder.OpenScope, bool) {
	open := scopes.Open()
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].Node == row {
			return &open[i], true
		}
	}
	return nil, false
}

// scopePathText is the path of the chosen scope as it is drawn, made once for
// each choice.
type scopePathText struct {
	version int
	glyphs  *themes.Glyphs
	text    string
}

func (p *scopePathText) take(choice *scopeChoice, glyphs *themes.Glyphs) {
	if p.version != choice.version || p.glyphs != glyphs {
		p.version, p.glyphs = choice.version, glyphs
		p.text = strings.Join(choice.path, " "+string(glyphs.Path)+" ")
	}
}

// scopeParamsText is the parameters of a scope in words.
type scopeParamsText struct {
	of   *arena.Param
	n    int
	text string
}

func (p *scopeParamsText) take(params []arena.Param) {
	var first *arena.Param
	if len(params) > 0 {
		first = &params[0]
	}
	if p.of == first && p.n == len(params) {
		return
	}
	p.of, p.n, p.text = first, len(params), paramsText(params)
}

// paramsText is parameters in words.
func paramsText(params []arena.Param) string {
	var text strings.Builder
	for i, param := range params {
		if i > 0 {
			text.WriteString("  ")
		}
		text.WriteString(param.Name + "=" + param.String())
	}
	return text.String()
}

// details are all numbers of the scope, to the byte.
func (p *scopePane) details(s *scene) (string, []string) {
	choice := &s.choices.scope
	if s.view == nil || choice.path == nil || s.sumsArenas() {
		return "", nil
	}
	a := s.choices.arenaOf(s.view)
	scopes, row := choice.find(s.view, a)
	if row < 0 {
		return "", nil
	}
	numbers := scopes.Row(row)
	exact := func(n int64) string { return string(grid.AppendExact(nil, n)) }
	least := func(label string, n int64, isLeast bool) string {
		label, n = leastOf(label, n, isLeast)
		return label + "  " + exact(n)
	}
	lines := []string{
		"path  " + strings.Join(choice.path, " / "),
		fmt.Sprintf("ran %d times, %d of them open now, %d unclosed (their end is not known)", numbers.Count, numbers.Open, numbers.Unclosed),
		countLine("allocations, scopes inside included", numbers.AllocCount, numbers.CountIsLeast()),
		least("self", numbers.SelfBytes, numbers.CountIsLeast()), least("total", numbers.TotalBytes, numbers.CountIsLeast()),
		least("peak, both sides at one moment", numbers.Peak, numbers.PeakIsLeast()),
		least("forward peak", numbers.PeakForward, numbers.PeakIsLeast()), least("reverse peak", numbers.PeakReverse, numbers.PeakIsLeast()),
	}
	if numbers.CountIsLeast() {
		lines = append(lines, "at least these: "+a.WhyLeast())
	}
	if numbers.PeakNs > 0 {
		lines = append(lines, fmt.Sprintf("the peak was %s in frame %s, %s before the newest moment", exact(numbers.Peak),
			frameText(numbers.PeakFrame), model.FormatDuration(s.newest.Now-numbers.PeakNs)))
	}
	lines = append(lines, p.sizing.lines(s)...)
	for _, open := range scopes.Open() {
		if open.Node == row && !choice.abandoned {
			lines = append(lines, fmt.Sprintf("open: entry forward pointer %s, entry reverse pointer %s, exit not known yet", exact(open.EntryForward), exact(open.EntryReverse)))
		}
	}
	if choice.abandoned {
		p.reason.take(s.view, a)
		lines = append(lines, "abandoned: "+p.reason.text)
	}
	for _, param := range numbers.Params {
		lines = append(lines, param.Name+" = "+param.String())
	}
	return "Scope " + choice.path[len(choice.path)-1], lines
}

// countLine is a count that may be a lower bound.
func countLine(label string, n int64, isLeast bool) string {
	label, n = leastOf(label, n, isLeast)
	return label + "  " + string(grid.AppendCount(nil, n))
}

func frameText(frame int64) string {
	if frame < 0 {
		return "that is not known"
	}
	return fmt.Sprint(frame)
}

func (p *scopePane) origins(s *scene) []origin {
	all := scopeOrigins(s)
	if all != nil && p.sizing.take(s) {
		all = append(all, origin{name: p.sizing.label, figure: p.sizing.peak})
	}
	return all
}

// scopeOrigins says where the numbers of the selected scope come from.
func scopeOrigins(s *scene) []origin {
	if s.view == nil || s.choices.scope.path == nil || len(s.view.Arenas) == 0 {
		return nil
	}
	a := s.choices.arenaOf(s.view)
	scopes, row := s.choices.scope.find(s.view, a)
	if row < 0 {
		return nil
	}
	numbers := scopes.Row(row)
	known := func(n int64, from string) model.Figure {
		return model.Figure{Value: n, Known: true, Origin: from}
	}
	least := func(n int64, from string, isLeast bool) model.Figure {
		switch {
		case isLeast && n == 0:
			return model.Figure{Why: a.WhyLeast()}
		case isLeast:
			from = "at least this: " + a.WhyLeast()
		}
		return known(n, from)
	}
	count, peak := numbers.CountIsLeast(), numbers.PeakIsLeast()
	live := model.Figure{Why: "no scope of this path is open now"}
	if bytes, ok := scopes.Live(row); ok && !s.choices.scope.abandoned {
		live = known(bytes, "the arena's pointers − those at the entry of the open scope")
	}
	return []origin{
		{name: "live now", figure: live},
		{name: "self", figure: least(numbers.SelfBytes, "allocations in the scope itself, as asked for, padding apart", count)},
		{name: "total", figure: least(numbers.TotalBytes, "allocations in the scope and in those inside it, padding apart", count)},
		{name: "peak", figure: least(numbers.Peak, "the largest of both pointers' distance from the entry at one moment, padding included", peak)},
		{name: "forward peak", figure: least(numbers.PeakForward, "the largest forward pointer − entry", peak)},
		{name: "reverse peak", figure: least(numbers.PeakReverse, "the largest entry − reverse pointer", peak)},
		{name: "ran", figure: known(numbers.Count, "scopes of this path that were opened"), count: true},
		{name: "allocations", figure: least(numbers.AllocCount, "scopes inside included", count), count: true},
	}
}

var (
	_ detailer   = (*scopePane)(nil)
	_ originator = (*scopePane)(nil)
)
