package model

import "sort"

// frameAxis knows which frame began when. A copy of it is a reader's view.
type frameAxis struct {
	starts  vector[frameStart]
	restart int // number of the entry since which frame numbers only grow
}

type frameStart struct{ ns, frame int64 }

// append notes that a frame begins. A number that is not larger than the last
// one begins the count anew; what came before is then found by time alone.
func (a *frameAxis) append(ns, frame int64) (grown int) {
	if n := a.starts.end; a.starts.len() > 0 {
		last := a.starts.at(n - 1)
		ns = max(ns, last.ns)
		if frame <= last.frame {
			a.restart = n
		}
	}
	return a.starts.append(frameStart{ns, frame})
}

// drop gives up whole chunks of frames that began before ns, except the one
// under way then, and says how many frames.
func (a *frameAxis) drop(ns int64) (frames int) { return a.starts.drop(a.after(ns) - 1) }

// after is the number of the first entry that begins after ns.
func (a *frameAxis) after(ns int64) int {
	return a.starts.first + sort.Search(a.starts.len(), func(i int) bool {
		return a.starts.at(a.starts.first+i).ns > ns
	})
}

// frame is the number of the frame under way at ns; -1 when none is known.
func (a *frameAxis) frame(ns int64) int64 {
	if entry := a.after(ns) - 1; entry >= a.starts.first {
		return a.starts.at(entry).frame
	}
	return -1
}

// start is when the frame began, or the next one that is known when that one is
// not; not ok when no such frame has begun.
func (a *frameAxis) start(frame int64) (ns int64, ok bool) {
	first := max(a.restart, a.starts.first)
	entry := first + sort.Search(a.starts.end-first, func(i int) bool {
		return a.starts.at(first+i).frame >= frame
	})
	if entry >= a.starts.end {
		return 0, false
	}
	return a.starts.at(entry).ns, true
}

// bounds are the first and the last frame that can be found by number, and when
// the last one began; not ok while there is none.
func (a *frameAxis) bounds() (first, last, lastStart int64, ok bool) {
	from := max(a.restart, a.starts.first)
	if from >= a.starts.end {
		return 0, 0, 0, false
	}
	newest := a.starts.at(a.starts.end - 1)
	return a.starts.at(from).frame, newest.frame, newest.ns, true
}

// FrameAt is the number of the frame that was under way at ns; -1 when the
// source has not told.
func (v *SourceView) FrameAt(ns int64) int64 {
	if v.history == nil {
		return -1
	}
	return v.history.frames.frame(ns)
}

// FrameStart is the moment, in monotonic ns, at which a frame began, or the
// next frame that is known. It is not ok when no such frame has begun.
func (v *SourceView) FrameStart(frame int64) (ns int64, ok bool) {
	if v.history == nil {
		return 0, false
	}
	return v.history.frames.start(frame)
}

// Frames are the first and the last frame that are kept; not ok while the
// source has told of none. When a program counts its frames anew, the newest
// count alone is meant.
func (v *SourceView) Frames() (first, last int64, ok bool) {
	if v.history == nil {
		return 0, 0, false
	}
	first, last, _, ok = v.history.frames.bounds()
	return first, last, ok
}

// FrameDuration is how long the last complete frames took on average, in ns; at
// most over frames of them. It is not ok before two frames have begun.
func (v *SourceView) FrameDuration(frames int64) (ns int64, ok bool) {
	if v.history == nil {
		return 0, false
	}
	axis := &v.history.frames
	first, last, end, ok := axis.bounds()
	first = max(first, last-frames)
	if !ok || first >= last {
		return 0, false
	}
	begin, ok := axis.start(first)
	return (end - begin) / (last - first), ok
}
