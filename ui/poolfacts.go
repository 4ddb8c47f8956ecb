package ui

import (
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
)

// poolFacts are the numbers of the pool that is looked at: what its counters say
// or, where they do not, what its blocks add up to. What neither says is
// grid.Missing.
type poolFacts struct {
	pool *model.PoolView      // nil where the program tells counters alone
	set  *recorder.CounterSet // nil where it tells none

	live, liveBlocks int64
	requested, peak  int64
	size             int64
	free, freeBlocks int64
	largest          int64
	releasable       int64
	segments         int64

	told *recorder.CounterSet // what the set told last, where it tells no numbers any more
	age  int64                // how long ago that was, ns

	fromBlocks bool // all but the peak is counted from the pool's blocks

	retries   int64 // of the failure callback that are spent
	cooldown  int64 // ns until they are granted again
	exhausted int64
}

// poolFactsOf are the facts of the scene's pool; false where it has none.
func poolFactsOf(s *scene) (facts poolFacts, ok bool) {
	if s.view == nil {
		return facts, false
	}
	facts.pool = s.choices.poolOf(s.view)
	facts.set = poolSet(s.view, facts.pool)
	if facts.pool == nil && facts.set == nil {
		return facts, false
	}
	if told, ns := s.view.ToldLast(facts.set); told != nil {
		facts.told, facts.age = told, s.view.Now-ns
	}
	facts.count(facts.set)
	facts.addBlocks(s)
	facts.addLadder()
	return facts, true
}

// asTold are the facts of a pool that tells no numbers any more, as they were when it
// did.
func (f *poolFacts) asTold() poolFacts {
	told := poolFacts{pool: f.pool, set: f.set, told: f.told, age: f.age}
	told.count(f.told)
	return told
}

// count takes what a counter set says.
func (f *poolFacts) count(set *recorder.CounterSet) {
	count := func(counter recorder.Counter) int64 { return counterOf(set, counter) }
	f.live, f.liveBlocks = count(recorder.Allocated), count(recorder.LiveBlocks)
	f.requested, f.peak = count(recorder.Requested), count(recorder.PeakAllocated)
	f.size = count(recorder.Reserved)
	f.free, f.freeBlocks = count(recorder.Free), count(recorder.FreeBlocks)
	f.largest, f.releasable = count(recorder.LargestFree), count(recorder.Releasable)
	f.segments = count(recorder.Segments)
	f.retries, f.cooldown = count(recorder.LadderUsed), count(recorder.LadderCooldown)
	f.exhausted = count(recorder.LadderExhausted)
	if f.free == grid.Missing {
		f.free = difference(f.size, f.live)
	}
}

// addBlocks fills in what the blocks say and the counters do not. Beside
// panes that show every block it is the blocks that count, for a sample is of
// another moment; beside the headroom it is the sample that the headroom has.
func (f *poolFacts) addBlocks(s *scene) {
	if f.pool == nil {
		return
	}
	use, ok := s.poolUse()
	if !ok || tellsNoBlocks(s.view, f.pool) {
		return
	}
	f.fromBlocks = s.blocks && f.pool.Complete
	f.take(&f.live, use.Live)
	f.take(&f.liveBlocks, int64(use.LiveBlocks))
	f.take(&f.requested, use.Requested)
	f.take(&f.size, use.Reserved)
	f.take(&f.free, use.Free.Bytes)
	f.take(&f.freeBlocks, int64(use.Free.Blocks))
	f.take(&f.largest, use.Free.Largest)
	f.take(&f.releasable, use.Releasable)
	f.take(&f.segments, int64(use.Segments))
}

// take sets a number to what the blocks say.
func (f *poolFacts) take(number *int64, value int64) {
	if f.fromBlocks || *number == grid.Missing {
		*number = value
	}
}

// addLadder fills in where the failure callback stood when the program told of
// its structure last.
func (f *poolFacts) addLadder() {
	if f.pool == nil || f.pool.State.Ladder == nil {
		return
	}
	ladder := f.pool.State.Ladder
	fill(&f.retries, int64(ladder.Used))
	fill(&f.cooldown, ladder.CooldownNs)
	fill(&f.exhausted, countIn(ladder.Exhausted))
}

// countIn is a count of a record, grid.Missing where it is not known.
func countIn(count *int64) int64 {
	if count == nil {
		return grid.Missing
	}
	return *count
}

func fill(number *int64, value int64) {
	if *number == grid.Missing {
		*number = value
	}
}

// difference is a - b, missing where either is.
func difference(a, b int64) int64 {
	if a == grid.Missing || b == grid.Missing {
		return grid.Missing
	}
	return a - b
}

// counterOf is a set's counter as the grid draws it. Unlike a figure, it does
// not say where it comes from, and makes no garbage.
func counterOf(set *recorder.CounterSet, counter recorder.Counter) int64 {
	if set == nil {
		return grid.Missing
	}
	return grid.Known(set.Values.Get(counter))
}

// poolSet is the counter set of a pool, and where there is none the first one of
// a pool: a program may tell counters alone.
func poolSet(view *model.SourceView, pool *model.PoolView) *recorder.CounterSet {
	if pool != nil {
		var room [32]byte
		id := strconv.AppendInt(append(room[:0], "pool:"...), pool.ID, 10)
		for i := range view.Sets {
			if view.Sets[i].ID == string(id) {
				return &view.Sets[i]
			}
		}
		return namedPoolSet(view, pool)
	}
	for i := range view.Sets {
		if view.Sets[i].Of == recorder.OfPool {
			return &view.Sets[i]
		}
	}
	return nil
}

// namedPoolSet is the counter set of a pool that another library owns: its name
// begins like the pool's; nil where there is none.
func namedPoolSet(view *model.SourceView, pool *model.PoolView) *recorder.CounterSet {
	if pool.State.Name == "" {
		return nil
	}
	for i := range view.Sets {
		if set := &view.Sets[i]; set.Of == recorder.OfPool && strings.HasPrefix(set.Name, pool.State.Name) {
			return set
		}
	}
	return nil
}

// choosePoolOf looks at the pool whose counters a set has, if there is one.
func (c *choices) choosePoolOf(view *model.SourceView, set *recorder.CounterSet) {
	for _, pool := range view.Pools {
		if found := poolSet(view, pool); found != nil && found.ID == set.ID && pool != c.poolOf(view) {
			c.pool, c.segment, c.block = pool.ID, 0, 0
		}
	}
}

// tellsNoBlocks says whether a pool has told its tier and none of its blocks:
// what it has reserved is in segments that it does not name, or it counts
// nothing as a pool of ours does.
func tellsNoBlocks(view *model.SourceView, pool *model.PoolView) bool {
	if len(pool.Segments) > 0 || pool.Segments == nil {
		return false
	}
	set := poolSet(view, pool)
	if set == nil {
		return true
	}
	reserved := counterOf(set, recorder.Reserved)
	return reserved != 0 || !strings.HasPrefix(set.ID, "pool:")
}

// drawFragmentation writes 1 - largest / free as a percentage.
func (f *poolFacts) drawFragmentation(pen *grid.Pen, style grid.Style) {
	pen.Percent(style, difference(f.free, f.largest), f.free, 0)
}

// whyNoPool is the sentence of a pane that has no pool to show.
func whyNoPool(s *scene) string {
	switch {
	case s.view == nil:
		return "Nothing is watched. A program with a pool fills this."
	case s.past && s.moment < s.newest.KeptFrom():
		return "Pools are not kept as far back as this moment. A recording (m) keeps everything."
	case s.view.Kind == recorder.KindDevice, s.view.Kind == recorder.KindHost:
		return "A process with a pool fills this: choose one with c."
	}
	if text := whySnapshot(s); text != "" {
		return text
	}
	return "This program has told of no pool. One that allocates through a pool with a probe fills this."
}

// whyNoBlocks is the sentence of a pane that has a pool but none of its blocks.
func whyNoBlocks(pool *model.PoolView) string {
	if pool.State.Tier == "C" {
		return "Tier C is managed memory: it comes from the device block by block, and there are no segments to draw."
	}
	return "The program has not told of the pool's segments yet. They come with its events, which are asked for while this is shown."
}

// blocksOf is the pool that is looked at where its blocks are known; otherwise
// why says what is missing.
func blocksOf(s *scene) (pool *model.PoolView, why string) {
	if s.view != nil {
		pool = s.choices.poolOf(s.view)
	}
	switch {
	case pool == nil:
		return nil, whyNoPool(s)
	case pool.Segments == nil:
		return nil, whyNoBlocks(pool)
	case tellsNoBlocks(s.view, pool):
		return nil, "This pool tells its tier and its counters, and not its segments: nothing of it can be drawn as a map."
	case len(pool.Segments) == 0:
		return nil, "The pool holds no segment: it has taken nothing from its upstream, or has given everything back."
	}
	return pool, ""
}

// segmentAt is the place of the segment at an address among those of a pool, the
// first where there is none at it.
func segmentAt(pool *model.PoolView, address uint64) int {
	for i, segment := range pool.Segments {
		if segment.Address == address {
			return i
		}
	}
	return 0
}

// appendAddress writes an address as hex.
func appendAddress(dst []byte, address uint64) []byte {
	return strconv.AppendUint(append(dst, "0x"...), address, 16)
}

// fitAddress writes an address into a row; where it is too long, its end: that
// is what addresses differ in.
func fitAddress(r grid.Region, style grid.Style, address uint64) {
	var room [20]byte
	text := appendAddress(room[:0], address)
	if over := len(text) - r.Width(); over > 0 && r.Width() > 0 {
		r.Set(0, 0, r.Glyphs().Ellipsis, style)
		r.Bytes(1, 0, style, text[over+1:])
		return
	}
	r.Bytes(0, 0, style, text)
}

// poolOrigins say where the pool's numbers come from.
func poolOrigins(s *scene) (all []origin) {
	facts, ok := poolFactsOf(s)
	if !ok {
		return nil
	}
	add := func(name string, counter recorder.Counter, shown int64, count bool) {
		figure := s.view.Figure(facts.set, counter)
		if (!figure.Known || facts.fromBlocks && counter != recorder.PeakAllocated) && shown != grid.Missing {
			figure = model.Figure{Value: shown, Known: true, Origin: "counted from the pool's blocks", View: s.view.ID}
			if !facts.fromBlocks && counter == recorder.Free && facts.set != nil && facts.set.Values.Known(recorder.Reserved) {
				figure.Origin = "size - live"
			}
		}
		all = append(all, origin{name: name, figure: figure, count: count})
	}
	add("live", recorder.Allocated, facts.live, false)
	add("live blocks", recorder.LiveBlocks, facts.liveBlocks, true)
	add("asked for", recorder.Requested, facts.requested, false)
	add("peak", recorder.PeakAllocated, facts.peak, false)
	add("size", recorder.Reserved, facts.size, false)
	add("free", recorder.Free, facts.free, false)
	add("free blocks", recorder.FreeBlocks, facts.freeBlocks, true)
	add("largest free block", recorder.LargestFree, facts.largest, false)
	add("releasable", recorder.Releasable, facts.releasable, false)
	add("segments", recorder.Segments, facts.segments, true)
	return all
}

// tierOf is the pool's tier in words: "tier B", "no tier yet".
func tierOf(pool *model.PoolView) string {
	switch tier := pool.State.Tier; tier {
	case "", "none":
		return "no tier yet"
	case "A", "B", "C":
		return "tier " + tier
	default:
		return strings.TrimSpace(tier + " pool")
	}
}
