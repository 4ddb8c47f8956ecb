package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/widget"
)

// choices are what the panes share: the thing that is selected in one and
// shown in another. The panes change them.
type choices struct {
	arena      int64 // ID of the arena that was chosen, 0 is the newest that is used
	livedArena int64 // ID of that arena once it was seen alive
	summing    arenaSumming
	scope      scopeChoice
	sums       scopeSums
	pool       int64  // ID of the pool looked at, 0 is the newest
	segment    uint64 // address of the segment that is walked, 0 the first
	block      uint64 // address of the block under the cursor
	device     deviceChoice
	memory     string // the device that a process is looked at on: a GPU's UUID, or "host"; "" is its first
	allocator  string // ID of the allocator's counter set that is looked at, "" another line
	entry      uint64 // Seq of the log's entry that is selected
	window     window
	dump       dumpChoices
	cost       costChoices
}

// deviceChoice is the device that is looked at over time. The zero value is the
// scene's.
type deviceChoice struct {
	view string // ID of the source that tells of it
	set  string // ID of its counter set; a program can tell of several devices
}

// memoryOf is the device that a source is looked at on: the one that was chosen
// if the source uses it, else its first.
func (c *choices) memoryOf(view *model.SourceView) string {
	if c.memory != "" && view.Uses(c.memory) {
		return c.memory
	}
	return view.FirstDevice()
}

// poolOf is the pool looked at: the one that was chosen, else the newest that has
// taken memory, else the newest. nil when the source has none.
func (c *choices) poolOf(view *model.SourceView) *model.PoolView {
	if view == nil || len(view.Pools) == 0 {
		return nil
	}
	for _, pool := range view.Pools {
		if pool.ID == c.pool && c.pool != 0 {
			return pool
		}
	}
	for i := len(view.Pools) - 1; i >= 0; i-- {
		if hasTaken(view, view.Pools[i]) {
			return view.Pools[i]
		}
	}
	return view.Pools[len(view.Pools)-1]
}

// hasTaken says whether a pool has memory, by its blocks or by its counters.
func hasTaken(view *model.SourceView, pool *model.PoolView) bool {
	if len(pool.Segments) > 0 {
		return true
	}
	set := poolSet(view, pool)
	return set != nil && max(counterOf(set, recorder.Reserved), counterOf(set, recorder.Allocated), counterOf(set, recorder.PeakAllocated)) > 0
}

// window is the stretch of time that charts show, and the cursor in it. All
// charts share it.
type window struct {
	length int64 // ns; 0 is the default for live sources and everything for files
	end    int64 // monotonic ns of its right end while it does not follow
	fixed  bool  // it does not follow the newest
	all    bool  // all that is kept
}

// defaultWindow is how much a live chart shows at first.
const defaultWindow = 60e9

// shortestWindow is as far as one can zoom in.
const shortestWindow = 1e6

// of is the stretch shown for a scene, in monotonic ns.
func (w *window) of(s *scene) (from, to int64) {
	first, last := s.span()
	length := w.length
	if length == 0 {
		length = defaultWindow
	}
	if w.all || w.length == 0 && s.newest != nil && s.newest.File != "" && !w.fixed {
		return first, max(last, first+1)
	}
	to = last
	if w.fixed {
		to = w.end
	}
	return to - length, to
}

// zoom makes the window shorter (factor < 1) or longer around a moment.
func (w *window) zoom(s *scene, factor float64, around int64) {
	from, to := w.of(s)
	first, last := s.span()
	length := int64(float64(to-from) * factor)
	length = min(max(length, shortestWindow), max(last-first, shortestWindow))
	following := !w.fixed && !s.past
	share := 1.0
	if to > from {
		share = float64(around-from) / float64(to-from)
	}
	w.length, w.all = length, false
	if following {
		return
	}
	w.fixed = true
	w.end = min(around+int64(float64(length)*(1-share)), last)
}

// pan moves the window by a share of its length.
func (w *window) pan(s *scene, share float64) {
	from, to := w.of(s)
	first, last := s.span()
	length := to - from
	end := to + int64(float64(length)*share)
	end = min(max(end, first+length), last)
	w.length, w.all, w.end, w.fixed = length, false, end, end < last
}

// show moves the window so that a moment is in it.
func (w *window) show(s *scene, ns int64) {
	from, to := w.of(s)
	if ns >= from && ns <= to {
		if s.past && !w.fixed {
			w.length, w.fixed, w.end = to-from, true, to
		}
		return
	}
	w.length, w.all, w.fixed = to-from, false, true
	_, last := s.span()
	w.end = min(ns+(to-from)/2, last)
}

// follow shows the newest again.
func (w *window) follow() { w.fixed, w.end = false, 0 }

// axisOf is the window as a chart's horizontal axis: nanoseconds, or frames
// where the axis counts them and the source numbers them.
func (w *window) axisOf(s *scene) (from, to int64, unit widget.AxisUnit) {
	from, to = w.of(s)
	if s.axis == widget.Frames && s.newest != nil {
		f0, f1 := s.newest.FrameAt(from), s.newest.FrameAt(to)
		if first, last, ok := s.newest.Frames(); ok {
			if f0 < 0 {
				f0 = first
			}
			if f1 < 0 {
				f1 = last
			}
			if f1 > f0 {
				return f0, f1, widget.Frames
			}
		}
	}
	return from, to, widget.Seconds
}
