package ui

import (
	"cmp"
	"fmt"
	"slices"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// poolPane is the pool in numbers: its layers, what is live and what is free in
// it, how much of that can be given back, and where its failure callback stands.
type poolPane struct {
	name string // of the frame, made of the rest, which say when to make it anew
	id   int64
	tier string
	why  string
	all  int // pools of the program
	note string
	gen  int
}

// poolRetries is how many retries a failure callback grants.
const poolRetries = 5

func (p *poolPane) title(s *scene) (string, string) {
	if s.view == nil {
		return "Pool", ""
	}
	pool := s.choices.poolOf(s.view)
	if pool == nil {
		return "Pool", toldAgo(s)
	}
	state := &pool.State
	if p.name == "" || p.id != pool.ID || p.tier != state.Tier || p.why != state.Why || p.all != len(s.view.Pools) {
		p.id, p.tier, p.why, p.all = pool.ID, state.Tier, state.Why, len(s.view.Pools)
		p.name = "Pool: " + tierOf(pool)
		if p.all > 1 {
			at := slices.Index(s.view.Pools, pool) + 1
			p.name = fmt.Sprintf("Pool %d of %d: %s", at, p.all, tierOf(pool))
		}
		if state.Why != "" {
			p.name += " (" + state.Why + ")"
		}
	}
	if p.note == "" || p.gen != state.Generation {
		p.gen = state.Generation
		p.note = "generation " + string(grid.AppendCount(nil, int64(p.gen)))
	}
	if note := toldAgo(s); note != "" {
		return p.name, note
	}
	return p.name, p.note
}

// toldAgo says how old the numbers of a pool are that tells none any more; "" of one
// that tells.
func toldAgo(s *scene) string {
	facts, ok := poolFactsOf(s)
	if !ok || facts.told == nil {
		return ""
	}
	return "as it was " + string(grid.AppendDuration(nil, facts.age)) + " ago"
}

func (*poolPane) keys() keymap.Context { return keymap.List }

// do goes through the pools of a program that has several.
func (p *poolPane) do(action keymap.Action, s *scene) bool {
	if s.view == nil || len(s.view.Pools) < 2 {
		return false
	}
	at := 0
	for i, pool := range s.view.Pools {
		if pool == s.choices.poolOf(s.view) {
			at = i
		}
	}
	switch action {
	case keymap.Up, keymap.Left:
		at--
	case keymap.Down, keymap.Right:
		at++
	default:
		return false
	}
	if at >= 0 && at < len(s.view.Pools) {
		s.choices.pool, s.choices.segment, s.choices.block = s.view.Pools[at].ID, 0, 0
	}
	return true
}

func (p *poolPane) draw(r grid.Region, s *scene, _ bool) {
	facts, ok := poolFactsOf(s)
	if !ok {
		nothing(r, whyNoPool(s))
		return
	}
	why := ""
	if facts.told != nil {
		why, facts = model.WhySilent(facts.set), facts.asTold()
	}
	switch r.Height() {
	case 0:
	case 1:
		facts.drawShort(r)
	case 2:
		facts.drawLive(r.Row(0))
		facts.drawFree(r.Row(1))
	case 3:
		facts.drawLive(r.Row(0))
		facts.drawFree(r.Row(1))
		facts.drawRetries(r.Row(2))
	default:
		if why != "" {
			r.Fit(0, 0, r.Width(), grid.Of(themes.Warning), why, grid.Left)
		} else {
			facts.drawStack(r.Row(0))
		}
		facts.drawLive(r.Row(1))
		facts.drawFree(r.Row(2))
		facts.drawRetries(r.Row(3))
		if r.Height() > 4 {
			facts.drawBar(r.Row(4))
		}
	}
}

// drawShort is the pool in one row, what matters most first.
func (f *poolFacts) drawShort(r grid.Region) {
	dim, short := grid.Of(themes.Dim), r.Width() < 80
	pen := r.Pen(0, 0)
	pen.Text(dim, "pool ")
	if f.pool != nil {
		pen.Text(grid.Of(themes.Text).With(themes.Bold), f.pool.State.Tier)
		pen.Skip(1)
	}
	drawAmount(&pen, short, grid.Of(themes.Allocated), f.live)
	pen.Text(dim, " of ")
	drawAmount(&pen, short, grid.Of(themes.Reserved), f.size)
	if pen.Left() >= 11 {
		pen.Text(dim, " frag ")
		f.drawFragmentation(&pen, grid.Of(themes.Text))
	}
	if f.retries != grid.Missing && pen.Left() > poolRetries {
		pen.Skip(1)
		pen.Skip(widget.Dots(r, pen.X(), 0, int(f.retries), poolRetries, retriesStyle(f.retries)))
	}
	if pen.Left() >= 16 {
		pen.Text(dim, " largest ")
		drawAmount(&pen, short, grid.Of(themes.Text), f.largest)
	}
}

// narrowPool is the width under which the pool's sizes are written short.
const narrowPool = 56

// isNarrow says whether a region is so narrow that sizes are written short.
func isNarrow(r grid.Region) bool { return r.Width() < narrowPool }

// drawAmount writes a number of bytes, short or not.
func drawAmount(pen *grid.Pen, short bool, style grid.Style, bytes int64) {
	if short {
		pen.Short(style, bytes, 0)
	} else {
		pen.Bytes(style, bytes, 0)
	}
}

// drawStack writes the layers of the pool, outermost first.
func (f *poolFacts) drawStack(r grid.Region) {
	dim, text := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	if f.pool == nil {
		pen.Text(text, poolSetName(f.set))
		pen.Text(dim, ": counters alone, no layers were told")
		return
	}
	for i, layer := range f.pool.State.Stack {
		if i > 0 {
			pen.Skip(1)
			pen.Rune(dim, r.Glyphs().Path)
			pen.Skip(1)
		}
		pen.Text(text, layer)
	}
	if len(f.pool.State.Stack) == 0 {
		pen.Text(text, f.pool.State.Name)
		pen.Text(dim, ": the program has not told its layers")
	}
}

func poolSetName(set *recorder.CounterSet) string {
	if set.Name != "" {
		return set.Name
	}
	return set.ID
}

func (f *poolFacts) drawLive(r grid.Region) {
	dim, short := grid.Of(themes.Dim), isNarrow(r)
	gap := 3
	if short {
		gap = 1
	}
	pen := r.Pen(0, 0)
	pen.Text(dim, "live ")
	drawAmount(&pen, short, grid.Of(themes.Allocated), f.live)
	pen.Text(dim, " in ")
	pen.Count(grid.Of(themes.Text), f.liveBlocks, 0)
	pen.Skip(gap)
	pen.Text(dim, "peak ")
	drawAmount(&pen, short, grid.Of(themes.Peak), f.peak)
	pen.Skip(gap)
	pen.Text(dim, "size ")
	drawAmount(&pen, short, grid.Of(themes.Reserved), f.size)
	if lost := difference(f.live, f.requested); lost > 0 && pen.Left() > 20 {
		pen.Skip(gap)
		pen.Text(dim, "rounding ")
		drawAmount(&pen, short, dim, lost)
	}
}

func (f *poolFacts) drawFree(r grid.Region) {
	dim, short := grid.Of(themes.Dim), r.Width() < 78
	pen := r.Pen(0, 0)
	pen.Text(dim, "free ")
	drawAmount(&pen, short, grid.Of(themes.Free), f.free)
	if r.Width() < 42 {
		pen.Text(dim, " max ")
	} else {
		pen.Text(dim, " largest ")
	}
	drawAmount(&pen, short, grid.Of(themes.Accent), f.largest)
	if isNarrow(r) {
		pen.Text(dim, " frag ")
	} else {
		pen.Text(dim, " fragmentation ")
	}
	f.drawFragmentation(&pen, grid.Of(themes.Text))
	if pen.Left() >= 22 || !isNarrow(r) {
		pen.Text(dim, " releasable ")
	} else {
		pen.Text(dim, " rel. ")
	}
	drawAmount(&pen, short, grid.Of(themes.Releasable), f.releasable)
}

// drawRetries is the failure callback in a row: how many retries are spent, what
// each of them does, and when they are granted again.
func (f *poolFacts) drawRetries(r grid.Region) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	if f.retries == grid.Missing {
		pen.Text(dim, f.whyNoRetries())
		return
	}
	pen.Text(dim, "retries ")
	pen.Skip(widget.Dots(r, pen.X(), 0, int(f.retries), poolRetries, retriesStyle(f.retries)))
	for attempt := range int64(poolRetries) {
		style := dim
		if attempt < f.retries {
			style = grid.Of(themes.Text).With(themes.Bold)
		}
		pen.Skip(1)
		pen.Text(style, retryAction(attempt))
	}
	if f.cooldown > 0 {
		pen.Text(dim, "  cooldown ")
		pen.Duration(grid.Of(themes.Text), f.cooldown, 0)
	}
}

func (f *poolFacts) whyNoRetries() string {
	if f.pool == nil {
		return "it tells of no failure callback" // torch and CuPy have none
	}
	if f.pool.State.Tier != "B" {
		return "no failure callback: what does not fit is the caller's to handle"
	}
	return "the failure callback's retries were not told"
}

// retryAction is what a retry does, counted from 0: three collect, two rebuild.
func retryAction(attempt int64) string {
	if attempt < 3 {
		return "gc"
	}
	return "rebuild"
}

// retriesStyle grows with what is spent; the dots say it too.
func retriesStyle(spent int64) grid.Style {
	switch {
	case spent >= poolRetries:
		return grid.Of(themes.Error)
	case spent > 0:
		return grid.Of(themes.Warning)
	}
	return grid.Of(themes.OK)
}

// drawBar is the pool's size as a bar: live, the largest free block, the rest of
// what is free.
func (f *poolFacts) drawBar(r grid.Region) {
	if f.size == grid.Missing || f.live == grid.Missing || f.size <= 0 {
		return
	}
	glyphs, width := r.Glyphs(), r.Width()-2
	if width < 4 {
		return
	}
	r.Set(0, 0, glyphs.CapLeft, grid.Of(themes.Dim))
	r.Set(width+1, 0, glyphs.CapRight, grid.Of(themes.Dim))
	live := portionOf(f.live, f.size, width)
	largest := 0
	if f.largest != grid.Missing {
		largest = min(portionOf(f.largest, f.size, width), width-live)
	}
	for x := range width {
		switch {
		case x < live:
			r.Set(1+x, 0, glyphs.Fills[themes.FillSolid], grid.Of(themes.Allocated))
		case x >= width-largest:
			r.Set(1+x, 0, glyphs.Fills[themes.FillLight], grid.Of(themes.Free))
		default:
			r.Set(1+x, 0, glyphs.Empty, grid.Of(themes.Free))
		}
	}
}

// portionOf is part of a whole in columns; what is not nothing has one.
func portionOf(part, whole int64, columns int) int {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return min(max(int(float64(part)/float64(whole)*float64(columns)+0.5), 1), columns)
}

func (*poolPane) origins(s *scene) []origin { return poolOrigins(s) }

func (*poolPane) selectedText(s *scene) string {
	facts, ok := poolFactsOf(s)
	if !ok {
		return ""
	}
	text := "pool"
	if facts.pool != nil {
		text = facts.pool.State.Name + ", " + tierOf(facts.pool)
	}
	for _, part := range [...]struct {
		name  string
		value int64
	}{{"live", facts.live}, {"peak", facts.peak}, {"size", facts.size}, {"free", facts.free}, {"largest free block", facts.largest}, {"releasable", facts.releasable}} {
		text += ", " + part.name + " " + string(grid.AppendBytes(nil, part.value))
	}
	return text
}

func (*poolPane) details(s *scene) (string, []string) {
	pool := s.choices.poolOf(s.view)
	if pool == nil {
		return "", nil
	}
	return "Pool " + pool.State.Name, poolDetails(pool)
}

// poolDetails says what a pool is, in sentences.
func poolDetails(pool *model.PoolView) []string {
	lines := []string{tierOf(pool) + ": " + cmp.Or(pool.State.Why, "the program did not say why")}
	switch pool.State.Tier {
	case "A":
		lines = append(lines, "Tier A is a pool that takes 80 % of the device at most. An allocation that does not fit fails at once.")
	case "B":
		lines = append(lines, "Tier B is a pool under a failure callback: an allocation that does not fit is tried again, three times after a collection and twice after a rebuild. Over live allocations a rebuild gives whole free segments back instead.")
	case "C":
		lines = append(lines, "Tier C is managed memory: it can be larger than the device, and is 2 to 10 times slower once it is.")
	case "fallback":
		lines = append(lines, "The fallback pool keeps freed blocks by size: nothing below it can pool.")
	}
	if pool.State.Limit > 0 {
		lines = append(lines, "It may take "+string(grid.AppendBytes(nil, pool.State.Limit))+" at most.")
	}
	return lines
}
