package model

import (
	"math"

	"vramscope/recorder"
)

// Column is what a counter did during one column of a chart.
type Column struct {
	Min, Max int64 // over the stretch, the value that stood at its beginning included
	Last     int64 // at the end of the stretch
	Known    bool  // false: nothing is known of the stretch, and the numbers mean nothing
	Untold   bool  // of one that is not known: the set was there and said why it does not tell
}

// series is the history of one counter set: the times of its samples and, for
// each counter that it ever had, the values at these times. Like a vector, a
// copy of it is a reader's view, once columns is copied too (view does).
type series struct {
	times   vector[int64] // monotonic ns, never decreasing
	columns []seriesColumn
	gap     int64 // typical ns between two samples, 0 before there are two
}

// seriesChunk is how many samples a series takes memory for at a time: programs
// make arenas that live for a dozen samples.
const (
	seriesChunk     = 1 << seriesChunkBits
	seriesChunkBits = 5
)

// seriesColumn is one counter of a series.
type seriesColumn struct {
	counter recorder.Counter
	start   int // number of the sample at which the counter appeared
	values  vector[int64]
	summary pyramid
}

// holdAtLeast is how long a value is taken to stand, in ns, when samples come
// often. A source that samples seldom is given three of its own intervals.
const holdAtLeast = 1_000_000_000

// hold is how long after a sample its value is taken to stand, in ns.
func (s *series) hold() int64 { return max(holdAtLeast, 3*s.gap) }

// append adds a sample. A time that runs backwards is taken as the last one.
// It says how many bytes of memory were taken.
func (s *series) append(ns int64, values *recorder.Counters) (bytes int) {
	if n := s.times.end; n > 0 && s.times.len() > 0 {
		last := s.times.at(n - 1)
		ns = max(ns, last)
		s.learnGap(ns - last)
	}
	number := s.times.end
	s.times.bits = seriesChunkBits
	bytes = s.times.append(ns) * 8
	known := values.Len()
	for i := range s.columns {
		column := &s.columns[i]
		value, ok := values.Get(column.counter)
		if ok {
			known--
		} else {
			value = unknownValue
		}
		bytes += column.append(value)
	}
	if known > 0 {
		bytes += s.addColumns(number, values)
	}
	return bytes
}

// learnGap follows the interval between samples, slowly, so that a pause does
// not count as one.
func (s *series) learnGap(gap int64) {
	switch {
	case s.gap == 0:
		s.gap = gap
	case gap < 4*s.gap:
		s.gap += (gap - s.gap) / 8
	default:
		s.gap += s.gap / 4
	}
}

// addColumns begins columns for the counters that appear with this sample.
func (s *series) addColumns(number int, values *recorder.Counters) (bytes int) {
	for c := range recorder.NumCounters {
		counter := recorder.Counter(c)
		value, ok := values.Get(counter)
		if !ok || s.column(counter) != nil {
			continue
		}
		s.columns = append(s.columns, seriesColumn{counter: counter, start: number, values: vector[int64]{bits: seriesChunkBits}})
		bytes += s.columns[len(s.columns)-1].append(value)
	}
	return bytes
}

func (c *seriesColumn) append(value int64) (bytes int) {
	element := noSpan
	element.add(value)
	return c.values.append(value)*8 + c.summary.add(element)*16
}

// column finds a counter; nil when the series never had it.
func (s *series) column(counter recorder.Counter) *seriesColumn {
	for i := range s.columns {
		if s.columns[i].counter == counter {
			return &s.columns[i]
		}
	}
	return nil
}

// drop gives up whole chunks of samples in front of the one of that number and
// says how many bytes came free.
func (s *series) drop(number int) (bytes int) {
	bytes = s.times.drop(number) * 8
	for i := range s.columns {
		column := &s.columns[i]
		if before := s.times.first - column.start; before > 0 {
			bytes += column.values.drop(before)*8 + column.summary.drop(column.values.first)*16
		}
	}
	return bytes
}

// size is how many bytes the series takes.
func (s *series) size() (bytes int) {
	bytes = s.times.room() * 8
	for i := range s.columns {
		bytes += s.columns[i].values.room()*8 + s.columns[i].summary.room()*16
	}
	return bytes
}

// view is a copy for readers.
func (s *series) view() *series {
	c := *s
	c.columns = append([]seriesColumn(nil), s.columns...)
	return &c
}

// search is the number of the first sample at or after ns, not looked for in
// front of from: near from first, because the columns of a chart ask in order.
func (s *series) search(ns int64, from int) int {
	low, end, step := max(from, s.times.first), s.times.end, 1
	for low+step <= end && s.times.at(low+step-1) < ns {
		low += step
		step *= 2
	}
	for high := min(low+step, end); low < high; {
		middle := int(uint(low+high) / 2)
		if s.times.at(middle) < ns {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// after is the number of the first sample after ns.
func (s *series) after(ns int64) int {
	if ns == math.MaxInt64 {
		return s.times.end
	}
	return s.search(ns+1, s.times.first)
}

// value is the counter's value at a sample; not ok where it was not known.
func (c *seriesColumn) value(number int) (value int64, ok bool) {
	at := number - c.start
	if at < c.values.first || at >= c.values.end {
		return 0, false
	}
	value = c.values.at(at)
	return value, value != unknownValue
}

// span is the span of the counter over the samples [from, to).
func (c *seriesColumn) span(from, to int) span {
	from, to = max(from-c.start, c.values.first), min(to-c.start, c.values.end)
	if from >= to {
		return noSpan
	}
	return c.summary.span(from, to, func(from, to int) span {
		result := noSpan
		for from < to {
			run := c.values.run(from, to)
			for _, value := range run {
				result.add(value)
			}
			from += len(run)
		}
		return result
	})
}

// lastKnown is the newest known value among the samples [from, to).
func (c *seriesColumn) lastKnown(from, to int) (value int64, ok bool) {
	// A counter that a set has in some samples only is not looked for far back.
	for number := to - 1; number >= max(from, to-fan); number-- {
		if value, ok = c.value(number); ok {
			return value, true
		}
	}
	return 0, false
}

// chart answers the columns between the bounds bound(0) … bound(n), which must
// not decrease, appended to into. Nothing is known after until.
func (s *series) chart(into []Column, counter recorder.Counter, n int, bound func(i int) int64, until int64) []Column {
	column := s.column(counter)
	if column == nil {
		for range n {
			into = append(into, Column{})
		}
		return into
	}
	end := s.after(until)
	from := s.search(bound(0), s.times.first)
	for i := range n {
		to := min(s.search(bound(i+1), from), end)
		into = append(into, s.chartColumn(column, from, max(from, to), bound(i), until))
		from = max(from, to)
	}
	return into
}

// chartColumn is one column: the samples [from, to), and the value that stood
// at its beginning, if it still did.
func (s *series) chartColumn(column *seriesColumn, from, to int, begin, until int64) Column {
	result := noSpan
	var last int64
	known := false
	if from > s.times.first && begin <= until && begin-s.times.at(from-1) <= s.hold() {
		if last, known = column.value(from - 1); known {
			result.add(last)
		}
	}
	if from < to {
		if inside := column.span(from, to); inside.known() {
			result.join(inside)
			if value, ok := column.lastKnown(from, to); ok {
				last, known = value, true
			} else {
				last, known = inside.max, true
			}
		}
	}
	if !known {
		return Column{}
	}
	return Column{Min: result.min, Max: result.max, Last: last, Known: true}
}
