package ui

import (
	"math"

	"vramscope/model"
	"vramscope/ui/widget"
)

// chartColumn is a column of the model's as a chart draws it.
func chartColumn(c model.Column) widget.Column {
	return widget.Column{Min: c.Min, Max: c.Max, Last: c.Last, Known: c.Known}
}

// columnSum adds values up that change on their own, within one column of a
// chart. The sum of their highest values would be one that may never have been;
// what is kept is what the sum has surely reached: each one's highest together
// with the lowest of the others, and the other way round. With one part it is
// exact. Where a part was there and could not be told, there is no sum: without it
// that would look like memory given back.
type columnSum struct {
	lowest, highest, last int64
	spread                int64 // the largest difference between a part's highest and lowest
	known                 bool
	untold                bool // a part of it
}

func (c *columnSum) add(part model.Column) {
	c.untold = c.untold || part.Untold
	if !part.Known {
		return
	}
	c.lowest += part.Min
	c.highest += part.Max
	c.last += part.Last
	c.spread = max(c.spread, part.Max-part.Min)
	c.known = true
}

// column is the sum as a chart draws it.
func (c *columnSum) column() widget.Column {
	if !c.known || c.untold {
		return widget.Column{}
	}
	return widget.Column{Min: min(c.highest-c.spread, c.last), Max: max(c.lowest+c.spread, c.last), Last: c.last, Known: true}
}

// timelineColumns are the columns of all series of a timeline, for the stretch
// that is shown. They are asked for anew when the data or the stretch changes.
type timelineColumns struct {
	key      columnsKey
	from, to int64 // of the columns: ns, or frames as the axis has them
	series   [][]widget.Column
	sums     [][]columnSum
	room     []model.Column
	pointers []model.PointerColumn
	settled  settledArenas
}

// columnsKey is what columns were made for.
type columnsKey struct {
	snapshot *model.Snapshot
	newest   *model.SourceView
	from, to int64
	unit     widget.AxisUnit
	n        int
}

// fill makes the columns of a plan's series over the axis.
func (c *timelineColumns) fill(plan *timelinePlan, a *timeAxis, s *scene) {
	key := columnsKey{s.snapshot, s.newest, a.from, a.to, a.unit, a.n}
	if c.key == key && len(c.series) == len(plan.series) {
		return
	}
	c.key = key
	c.reset(len(plan.series), a.n)
	step := c.setStretch(a, s)
	arenas := false
	for i := range plan.series {
		for _, part := range plan.series[i].counters {
			c.addCounter(c.sums[i], a, s, part)
		}
		arenas = arenas || plan.series[i].arenas != noArenas
	}
	if arenas {
		c.settled.begin(s.newest, step)
		for i := range plan.arenas {
			c.addArena(plan, a, s, &plan.arenas[i])
		}
		c.settled.end()
	}
	for i := range c.sums {
		for j := range c.sums[i] {
			c.series[i][j] = c.sums[i][j].column()
		}
	}
}

// setStretch sets what the columns stand for. Those of a live source move in
// steps of a whole column, so that what has been asked for of the past can be
// kept: step is the width of one, in ns, 0 where they do not move.
func (c *timelineColumns) setStretch(a *timeAxis, s *scene) (step int64) {
	c.from, c.to = a.from, a.to
	if a.unit == widget.Frames {
		return 0
	}
	c.to++ // the newest sample too
	if !isLive(s) || a.n < 2 || a.to <= a.from {
		return 0
	}
	step = (a.to-a.from)/int64(a.n-1) + 1 // a little more, so that nothing at the left is lost
	c.to = (a.to/step + 1) * step
	c.from = c.to - int64(a.n)*step
	return step
}

// reset makes room for so many series of n columns, all of them unknown.
func (c *timelineColumns) reset(series, n int) {
	for len(c.sums) < series {
		c.sums, c.series = append(c.sums, nil), append(c.series, nil)
	}
	c.sums, c.series = c.sums[:series], c.series[:series]
	for i := range series {
		if cap(c.sums[i]) < n {
			c.sums[i], c.series[i] = make([]columnSum, n), make([]widget.Column, n)
		}
		c.sums[i], c.series[i] = c.sums[i][:n], c.series[i][:n]
		clear(c.sums[i])
	}
}

// addCounter adds a counter. One of a source that counts no frames itself is
// asked for by the time at which the frames of a column begin.
func (c *timelineColumns) addCounter(sums []columnSum, a *timeAxis, s *scene, part counterPart) {
	switch {
	case a.unit != widget.Frames:
		c.room = part.view.Columns(c.room[:0], part.set, part.counter, c.from, c.to, a.n)
	case part.view == s.newest:
		c.room = part.view.FrameColumns(c.room[:0], part.set, part.counter, a.from, a.to, a.n)
	default:
		c.room = c.room[:0]
		begin := frameMoment(s.newest, a.from, a.to, 0, a.n)
		for i := range a.n {
			end := frameMoment(s.newest, a.from, a.to, i+1, a.n)
			c.room = part.view.Columns(c.room, part.set, part.counter, begin, end, 1)
			begin = end
		}
	}
	for i := range min(len(c.room), len(sums)) {
		sums[i].add(c.room[i])
	}
}

// frameMoment is when column i of n begins, where the columns go from the
// beginning of one frame to the end of another.
func frameMoment(view *model.SourceView, first, last int64, i, n int) int64 {
	start := func(frame int64) int64 {
		if ns, ok := view.FrameStart(frame); ok {
			return ns
		}
		return view.Now + 1 // the newest sample too
	}
	place := (last - first + 1) * int64(i)
	frame, part := first+place/int64(n), place%int64(n)
	begin := start(frame)
	if part == 0 {
		return begin
	}
	return begin + int64(float64(max(start(frame+1)-begin, 0))*float64(part)/float64(n))
}

// addArena adds what an arena did to every series that it counts into, in the
// columns in which it lived: what it was before it was released is not held
// after that.
func (c *timelineColumns) addArena(plan *timelinePlan, a *timeAxis, s *scene, arena *arenaLife) {
	first, n, begins, ends := arena.columns(c, a, s.newest)
	if n <= 0 {
		return
	}
	lived := c.pointersOf(a, s.newest, arena, first, n)
	length := arena.bytes(s.newest)
	for i := range plan.series {
		part := plan.series[i].arenas
		if part == noArenas {
			continue
		}
		for j := range lived {
			used := lived[j].Used
			if part == rootsLength {
				used = model.Column{Min: length, Max: length, Last: length, Known: used.Known && length > 0}
			}
			if begins && j == 0 { // before, it had nothing
				used.Min = min(used.Min, 0)
			}
			if ends && j == len(lived)-1 { // and after
				used.Min, used.Last = min(used.Min, 0), 0
			}
			c.sums[i][first+j].add(used)
		}
	}
}

// pointersOf is what the pointers of an arena did in n columns from one on.
func (c *timelineColumns) pointersOf(a *timeAxis, view *model.SourceView, arena *arenaLife, first, n int) []model.PointerColumn {
	switch {
	case a.unit == widget.Frames: // a part of an axis of frames need not begin with a frame
		c.pointers = view.PointerFrames(c.pointers[:0], arena.id, a.from, a.to, a.n)
		return c.pointers[min(first, len(c.pointers)):min(first+n, len(c.pointers))]
	case c.settled.step > 0:
		return c.settled.columns(view, arena, c.from/c.settled.step+int64(first), n)
	}
	c.pointers = view.PointerColumns(c.pointers[:0], arena.id, c.begin(a, first), c.begin(a, first+n), n)
	return c.pointers
}

// columns are the columns of an axis in which an arena lived, whole frames where
// it counts frames, and whether its life begins and ends in them; n is 0 or less
// where there is none.
func (l *arenaLife) columns(c *timelineColumns, a *timeAxis, view *model.SourceView) (first, n int, begins, ends bool) {
	from, to, begin, end := l.from, l.to, c.from, c.to
	if a.unit == widget.Frames {
		from, to, end = view.FrameAt(from), view.FrameAt(to)+1, a.to+1
	}
	column := func(at int64) float64 {
		place := float64(at-begin) / float64(max(end-begin, 1)) * float64(a.n)
		return min(max(place, -1), float64(a.n)+1)
	}
	first, last := int(math.Floor(column(from))), int(math.Floor(column(to)))
	if a.unit != widget.Frames {
		last++ // the column in which it ended
	}
	begins, ends = l.born && first >= 0, l.ended && last <= a.n
	first, last = max(first, 0), min(last, a.n)
	return first, last - first, begins, ends
}

// begin is when a column begins, as the model divides a stretch.
func (c *timelineColumns) begin(a *timeAxis, i int) int64 {
	length, n := c.to-c.from, int64(a.n)
	return c.from + length/n*int64(i) + length%n*int64(i)/n
}
