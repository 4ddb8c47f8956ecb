package model

import "vramscope/recorder"

// Columns answers what a counter of a set did between t0 and t1 (monotonic ns)
// in n columns of equal length, appended to into. It costs what the chart has
// columns, not what the past has samples, and allocates nothing when into has
// room. Columns of which nothing is known say so.
func (v *SourceView) Columns(into []Column, set string, counter recorder.Counter, t0, t1 int64, n int) []Column {
	view := v.history.find(set)
	if view == nil || n <= 0 || t1 < t0 {
		return appendUnknown(into, n)
	}
	return view.chart(into, counter, n, func(i int) int64 { return divide(t0, t1, i, n) }, v.Now)
}

// FrameColumns is Columns on an axis that counts frames: n columns from the
// beginning of frame f0 to the end of frame f1. Where a column is narrower than
// a frame, the frame's time is divided.
func (v *SourceView) FrameColumns(into []Column, set string, counter recorder.Counter, f0, f1 int64, n int) []Column {
	view := v.history.find(set)
	if view == nil || n <= 0 || f1 < f0 {
		return appendUnknown(into, n)
	}
	return view.chart(into, counter, n, v.frameBounds(f0, f1, n), v.Now)
}

// chart answers the columns of a series, and in which of those that are not known the
// set said that it could not tell.
func (v *seriesView) chart(into []Column, counter recorder.Counter, n int, bound func(i int) int64, until int64) []Column {
	from := len(into)
	into = v.series.chart(into, counter, n, bound, until)
	for i := range n {
		if column := &into[from+i]; !column.Known && bound(i) <= until {
			column.Untold = v.lacks(counter, min(bound(i+1)-1, until))
		}
	}
	return into
}

// frameBounds are the moments that divide the frames f0 to f1, both included,
// into n columns. They never decrease.
func (v *SourceView) frameBounds(f0, f1 int64, n int) func(i int) int64 {
	newest := v.Now
	if v.newest != nil {
		newest = v.newest.Now
	}
	start := func(frame int64) int64 {
		if ns, ok := v.FrameStart(frame); ok {
			return ns
		}
		return newest + 1 // so that the newest sample lies in the last column
	}
	frames := f1 - f0 + 1
	whole, rest := frames/int64(n), frames%int64(n)
	return func(i int) int64 {
		frame, part := f0+whole*int64(i)+rest*int64(i)/int64(n), rest*int64(i)%int64(n)
		begin := start(frame)
		if part == 0 {
			return begin
		}
		return begin + max(0, start(frame+1)-begin)/int64(n)*part
	}
}

// divide is the moment at which column i of n begins between t0 and t1.
func divide(t0, t1 int64, i, n int) int64 {
	length := t1 - t0
	return t0 + length/int64(n)*int64(i) + length%int64(n)*int64(i)/int64(n)
}

func appendUnknown(into []Column, n int) []Column {
	for range n {
		into = append(into, Column{})
	}
	return into
}

// ValueAt is a counter's value at a moment, as its newest sample then says, and
// when that sample was taken. It is not ok where that is not known.
func (v *SourceView) ValueAt(set string, counter recorder.Counter, ns int64) (value, sampled int64, ok bool) {
	view := v.history.find(set)
	if view == nil {
		return 0, 0, false
	}
	s := view.series
	column := s.column(counter)
	number := s.after(min(ns, v.Now)) - 1
	if column == nil || number < s.times.first {
		return 0, 0, false
	}
	sampled = s.times.at(number)
	value, ok = column.value(number)
	return value, sampled, ok && ns-sampled <= s.hold()
}

// GrowthPerFrame is by how many bytes a counter grew each frame, on average over
// the last frames (at most), from the beginning of one to the beginning of the
// newest: what leaks shows here. It is not ok before two frames have begun, and
// where either value is not known.
func (v *SourceView) GrowthPerFrame(set string, counter recorder.Counter, frames int64) (bytes float64, ok bool) {
	if v.history == nil {
		return 0, false
	}
	first, last, end, ok := v.history.frames.bounds()
	first = max(first, last-frames)
	if !ok || first >= last {
		return 0, false
	}
	begin, _ := v.FrameStart(first)
	before, _, ok := v.ValueAt(set, counter, begin)
	if !ok {
		return 0, false
	}
	after, _, ok := v.ValueAt(set, counter, end)
	return float64(after-before) / float64(last-first), ok
}

// Peak finds the largest value of a counter in what is kept of it, and the
// moment of the sample that has it. It is not ok where nothing is known.
func (v *SourceView) Peak(set string, counter recorder.Counter) (value, ns int64, ok bool) {
	return v.extreme(set, counter, func(s span) int64 { return s.max })
}

// Least finds the smallest value of a counter as Peak finds the largest.
func (v *SourceView) Least(set string, counter recorder.Counter) (value, ns int64, ok bool) {
	return v.extreme(set, counter, func(s span) int64 { return s.min })
}

// extreme finds the value of a counter that stands at one end of what is kept of it,
// and the moment of the first sample that has it.
func (v *SourceView) extreme(set string, counter recorder.Counter, end func(span) int64) (value, ns int64, ok bool) {
	view := v.history.find(set)
	if view == nil {
		return 0, 0, false
	}
	s := view.series
	column := s.column(counter)
	last := s.after(v.Now)
	if column == nil {
		return 0, 0, false
	}
	whole := column.span(s.times.first, last)
	if !whole.known() {
		return 0, 0, false
	}
	// Halve the stretch, always keeping the earliest half that has the value.
	from, to := max(s.times.first, column.start), last
	for to-from > 1 {
		middle := int(uint(from+to) / 2)
		if half := column.span(from, middle); half.known() && end(half) == end(whole) {
			to = middle
		} else {
			from = middle
		}
	}
	return end(whole), s.times.at(from), true
}
