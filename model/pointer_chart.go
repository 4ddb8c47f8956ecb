package model

import (
	"sort"
	"strconv"

	"vramscope/arena"
	"vramscope/recorder"
)

// PointerColumn is what an arena's pointers did during one column of a chart, in
// bytes.
type PointerColumn struct {
	Forward Column // forward pointer
	Reverse Column // in use on the reverse side
	Used    Column // both together: what the high-water mark is about
}

// exactBlocks is how many blocks of events a column must hold on average before
// events at its edges are drawn with their block. Below that every event is
// looked at.
const exactBlocks = 4

// PointerColumns answers what the pointers of an arena did between t0 and t1
// (monotonic ns) in n columns of equal length, appended to into. Where events
// were recorded it has their resolution, elsewhere that of the samples. A column
// of very many events may have up to 63 events of its neighbour's; a column of
// few is exact.
func (v *SourceView) PointerColumns(into []PointerColumn, arena int64, t0, t1 int64, n int) []PointerColumn {
	if n <= 0 || t1 < t0 {
		return into
	}
	return v.pointerChart(into, arena, n, func(i int) int64 { return divide(t0, t1, i, n) })
}

// PointerFrames is PointerColumns on an axis that counts frames (see
// FrameColumns).
func (v *SourceView) PointerFrames(into []PointerColumn, arena int64, f0, f1 int64, n int) []PointerColumn {
	if n <= 0 || f1 < f0 {
		return into
	}
	return v.pointerChart(into, arena, n, v.frameBounds(f0, f1, n))
}

func (v *SourceView) pointerChart(into []PointerColumn, id int64, n int, bound func(i int) int64) []PointerColumn {
	c := pointerChart{view: v, into: into, n: n, bound: bound, begin: bound(0), end: bound(1)}
	if set := v.history.find("arena:" + strconv.FormatInt(id, 10)); set != nil {
		c.sampled = set.series
	}
	for _, track := range v.pointers {
		if track.id == id {
			c.track = track
		}
	}
	if c.track != nil {
		first, last := c.track.search(c.begin), c.track.search(bound(n))
		if (last-first)/n < exactBlocks {
			// The block in front may reach over the chart's beginning.
			c.walkEvents(id, max(first-1, c.track.blocks.first))
		} else {
			c.walkBlocks(id, first)
		}
	}
	for c.column < n {
		c.finish()
	}
	return c.into
}

// pointerChart is a chart under way, column by column.
type pointerChart struct {
	view    *SourceView
	track   *pointerView // nil when no event was recorded
	sampled *series      // nil when the arena is not sampled
	into    []PointerColumn
	bound   func(i int) int64
	n       int

	column     int // the one that is being filled
	begin, end int64
	entered    bool // what stood at its beginning is in spans
	events     bool // some event lies in it
	spans      [pointerKinds]span

	now   [pointerKinds]int64 // where the pointers stand
	stood int64               // since when, ns
	known bool
}

// stand says where the pointers stand from ns on.
func (c *pointerChart) stand(values [pointerKinds]int64, ns int64) {
	c.now, c.stood, c.known = values, ns, true
}

// walkEvents fills the columns event by event, from the first one of a block on.
func (c *pointerChart) walkEvents(id int64, block int) {
	from := c.track.base + int64(block)*pointerBlockEvents
	length := c.track.block(block).length
	for _, event := range c.view.tape.events(id, from) {
		if event.Op == arena.OpNew {
			length = event.Bytes
		}
		if event.Ns > c.view.Now {
			return
		}
		values := pointersOf(event, length)
		if event.Ns >= c.begin {
			for event.Ns >= c.end {
				if c.finish(); c.column == c.n {
					return
				}
			}
			c.enter()
			for k, value := range values {
				c.spans[k].add(value)
			}
			c.events = true
		}
		c.stand(values, event.Ns)
	}
}

// walkBlocks fills the columns block by block: one belongs to the column in which
// it begins. The block that a moment of the past lies in is looked at event by
// event, so that nothing is shown that came later.
func (c *pointerChart) walkBlocks(id int64, block int) {
	if at := block - 1; at >= c.track.blocks.first {
		before := c.track.block(at)
		c.stand(before.last, before.ns)
	}
	now := c.track.search(c.view.Now + 1)
	if c.view.Past {
		now = max(now-1, block)
	}
	for c.column < c.n && c.begin <= c.view.Now {
		if end := min(c.track.search(c.end), now); end > block {
			c.enter()
			for k := range c.spans {
				c.spans[k].join(c.track.span(k, block, end))
			}
			last := c.track.block(end - 1)
			c.stand(last.last, last.ns)
			c.events, block = true, end
		}
		if c.view.Past && block == now {
			c.walkEvents(id, block)
			return
		}
		c.finish()
	}
}

// enter puts what stood at the column's beginning into it. Events come only
// while somebody asks for them, so that a sample may be the newer word.
func (c *pointerChart) enter() {
	if c.entered {
		return
	}
	c.entered, c.events = true, false
	c.spans = [pointerKinds]span{noSpan, noSpan, noSpan}
	if c.sampled != nil {
		c.standOnSample()
	}
	if c.known {
		for k, value := range c.now {
			c.spans[k].add(value)
		}
	}
}

// standOnSample takes the newest sample in front of the column for where the
// pointers stand, where it is newer than the newest event: as long as it holds.
func (c *pointerChart) standOnSample() {
	number := c.sampled.search(c.begin, c.sampled.times.first) - 1
	if number < c.sampled.times.first {
		return
	}
	ns := c.sampled.times.at(number)
	if c.known && ns <= c.stood {
		return
	}
	values, ok := sampledPointers(c.sampled, number)
	c.stand(values, ns)
	c.known = ok && c.begin-ns <= c.sampled.hold()
}

// finish ends the column and begins the next one.
func (c *pointerChart) finish() {
	c.enter()
	c.into = append(c.into, c.result())
	c.column++
	c.begin, c.entered = c.end, false
	if c.column < c.n {
		c.end = c.bound(c.column + 1)
	}
}

// result is the column as it was filled. Where no event lies in it, samples may.
func (c *pointerChart) result() PointerColumn {
	if c.begin > c.view.Now {
		return PointerColumn{}
	}
	if !c.events && c.sampled != nil {
		c.takeSamples()
	}
	return PointerColumn{Forward: c.of(pointerForward), Reverse: c.of(pointerReverse), Used: c.of(pointerUsed)}
}

func (c *pointerChart) of(kind int) Column {
	if !c.known || c.now[kind] == unknownValue {
		return Column{}
	}
	return Column{Min: c.spans[kind].min, Max: c.spans[kind].max, Last: c.now[kind], Known: true}
}

// takeSamples takes the samples in the column.
func (c *pointerChart) takeSamples() {
	s := c.sampled
	from := s.search(c.begin, s.times.first)
	to := s.search(min(c.end, c.view.Now+1), from)
	if from >= to {
		return
	}
	values, ok := sampledPointers(s, to-1)
	if !ok {
		return
	}
	c.stand(values, s.times.at(to-1))
	if to-from == 1 {
		for k, value := range values {
			c.spans[k].add(value)
		}
		return
	}
	// The extremes of the two sides need not have been at one moment.
	length := values[pointerReverse] // and of the pointer, below, makes the arena's
	if reverse := s.column(recorder.Reverse); reverse != nil && length != unknownValue {
		last, _ := reverse.value(to - 1)
		length += last
		inside := reverse.span(from, to)
		c.spans[pointerReverse].join(span{min: length - inside.max, max: length - inside.min})
	}
	forward := s.column(recorder.Forward).span(from, to)
	c.spans[pointerForward].join(forward)
	if values[pointerUsed] != unknownValue {
		both := c.spans[pointerReverse]
		c.spans[pointerUsed].join(span{min: usedOf(forward.min, both.min, length), max: usedOf(forward.max, both.max, length)})
	}
}

// sampledPointers are the charted values of a sample.
func sampledPointers(s *series, number int) (values [pointerKinds]int64, ok bool) {
	read := func(counter recorder.Counter) (int64, bool) {
		column := s.column(counter)
		if column == nil {
			return 0, false
		}
		return column.value(number)
	}
	forward, ok := read(recorder.Forward)
	if !ok {
		return values, false
	}
	values = [pointerKinds]int64{forward, unknownValue, unknownValue}
	reverse, known := read(recorder.Reverse)
	length, measured := read(recorder.Length)
	if known && measured {
		values[pointerReverse] = length - reverse
		values[pointerUsed] = usedOf(forward, length-reverse, length)
	}
	return values, true
}

// search is the number of the first block that begins at or after ns, one behind
// the open block when none does.
func (p *pointerView) search(ns int64) int {
	n := p.blocks.len()
	at := p.blocks.first + sort.Search(n, func(i int) bool { return p.blocks.at(p.blocks.first+i).ns >= ns })
	if at == p.blocks.end && p.open.count > 0 && p.open.ns < ns {
		at++
	}
	return at
}

// span is the extremes of the blocks [from, to), the open one included.
func (p *pointerView) span(kind, from, to int) span {
	result := noSpan
	if to > p.blocks.end {
		result, to = p.open.spans[kind], p.blocks.end
	}
	if from >= to {
		return result
	}
	result.join(p.pyramids[kind].span(from, to, func(from, to int) span {
		inside := noSpan
		for from < to {
			run := p.blocks.run(from, to)
			for i := range run {
				inside.join(run[i].spans[kind])
			}
			from += len(run)
		}
		return inside
	}))
	return result
}

// block is a block by its number, the open one behind the last.
func (p *pointerView) block(number int) pointerBlock {
	if number >= p.blocks.end {
		return p.open
	}
	return p.blocks.at(number)
}
