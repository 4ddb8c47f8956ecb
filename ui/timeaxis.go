package ui

import (
	"sort"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// timeAxis is the horizontal axis of a chart over time, as somebody moves along
// it. Every chart has one; the stretch that is shown (choices.window) and the
// moment that is looked at, which is the cursor, are the same for all of them.
//
// A pane calls prepare before it fills the chart's columns (columns and pointers
// ask the model for the same stretch), and hands actions, clicks and takeMoment
// on.
type timeAxis struct {
	plot     grid.Rect // of the chart, in its region
	from, to int64     // as the model is asked: ns, or frames, the last one included
	unit     widget.AxisUnit
	n        int // columns that the chart draws
	markers  []widget.Marker
	shown    int64 // the moment that the window was last moved to
	request  momentRequest
	room     []model.Column
}

// momentRequest is a moment that a pane asks to look at.
type momentRequest struct {
	ns   int64
	live bool
	made bool
}

// prepare sets the chart's axis, markers and cursor for a region of the given
// size.
func (a *timeAxis) prepare(c *widget.Chart, s *scene, r grid.Region) {
	w := &s.choices.window
	if s.past && s.moment != a.shown {
		w.show(s, s.moment) // a jump from elsewhere
	}
	a.shown = s.moment
	a.from, a.to, a.unit = w.axisOf(s)
	c.From, c.To, c.Unit = a.from, a.to, a.unit
	if a.unit == widget.Frames {
		c.To++ // the end of the last frame
	}
	first, last := s.span()
	c.Live, c.Newest = s.newest.File == "", newestName(s)
	c.Zero = first
	if c.Live {
		c.Zero = last
	}
	a.mark(s, r.Glyphs())
	c.Markers = a.markers
	c.HasCursor = s.past
	if s.past {
		c.Cursor = a.at(s, s.moment)
	}
	a.plot = c.Plot(r.Width(), r.Height())
	a.n = c.Resolution(r.Glyphs(), r.Width())
}

// isLive says whether the scene's source goes on.
func isLive(s *scene) bool {
	return s.newest != nil && s.newest.File == "" && s.newest.Goodbye == nil
}

// newestName is what the newest moment of a live source is called on an axis, "" for
// now: of one that has ended, or from which nothing comes, it was some time ago.
func newestName(s *scene) string {
	if s.newest.Goodbye != nil {
		return "end"
	}
	switch s.newest.Status {
	case model.StatusEnded:
		return "end"
	case model.StatusStale, model.StatusFailed, model.StatusLost:
		return "last"
	}
	return ""
}

// columns asks for a counter over the stretch that is shown, appended to into.
func (a *timeAxis) columns(into []widget.Column, s *scene, set string, counter recorder.Counter) []widget.Column {
	if a.unit == widget.Frames {
		a.room = s.newest.FrameColumns(a.room[:0], set, counter, a.from, a.to, a.n)
	} else {
		a.room = s.newest.Columns(a.room[:0], set, counter, a.from, a.to, a.n)
	}
	for _, column := range a.room {
		into = append(into, chartColumn(column))
	}
	return into
}

// pointers asks for an arena's pointers over the stretch that is shown, appended
// to into.
func (a *timeAxis) pointers(into []model.PointerColumn, s *scene, arena int64) []model.PointerColumn {
	if a.unit == widget.Frames {
		return s.newest.PointerFrames(into, arena, a.from, a.to, a.n)
	}
	return s.newest.PointerColumns(into, arena, a.from, a.to, a.n)
}

// at is a moment's place on the axis.
func (a *timeAxis) at(s *scene, ns int64) int64 {
	if a.unit == widget.Frames {
		return s.newest.FrameAt(ns)
	}
	return ns
}

// momentAt is the moment of a place on the axis.
func (a *timeAxis) momentAt(s *scene, at int64) int64 {
	if a.unit != widget.Frames {
		return at
	}
	if ns, ok := s.newest.FrameStart(at); ok {
		return ns
	}
	return s.newest.Now
}

// do carries out an action on the axis; false leaves it to others.
func (a *timeAxis) do(action keymap.Action, s *scene) bool {
	if s.newest == nil {
		return false
	}
	w := &s.choices.window
	switch action {
	case keymap.ZoomIn:
		w.zoom(s, 0.5, a.anchor(s))
	case keymap.ZoomOut:
		w.zoom(s, 2, a.anchor(s))
	case keymap.ZoomAll:
		w.all, w.fixed = true, false
	case keymap.PanBack:
		w.pan(s, -0.5)
	case keymap.PanForward:
		w.pan(s, 0.5)
	case keymap.PageUp:
		w.pan(s, -1)
	case keymap.PageDown:
		w.pan(s, 1)
	case keymap.Left:
		a.step(s, -1)
	case keymap.Right:
		a.step(s, 1)
	case keymap.Top:
		a.lookAt(s, s.newest.First)
	case keymap.PreviousEvent, keymap.NextEvent:
		a.jump(s, action == keymap.NextEvent)
	case keymap.Follow:
		w.follow()
		return false // the dashboard follows too
	default:
		return false
	}
	return true
}

// anchor is the moment that stays where it is while one zooms: the cursor if it
// can be seen, else the right end of what is followed, else the middle.
func (a *timeAxis) anchor(s *scene) int64 {
	from, to := s.choices.window.of(s)
	switch {
	case s.past && s.moment >= from && s.moment <= to:
		return s.moment
	case !s.choices.window.fixed:
		return to
	}
	return from + (to-from)/2
}

// step moves the cursor by a column of the plot, at least by a frame where
// frames are counted.
func (a *timeAxis) step(s *scene, direction int64) {
	width := int64(max(a.plot.W-1, 1))
	if a.unit == widget.Frames {
		frame := s.newest.FrameAt(s.moment) + direction*max((a.to-a.from+1)/width, 1)
		a.lookAt(s, a.momentAt(s, frame))
		return
	}
	a.lookAt(s, s.moment+direction*max((a.to-a.from)/width, 1))
}

// jump moves the cursor to the nearest event in a direction. New arenas are no
// events here: a render makes one for each stretch of frames.
func (a *timeAxis) jump(s *scene, forward bool) {
	moments := s.newest.Moments
	at := sort.Search(len(moments), func(i int) bool { return moments[i].Ns >= s.moment })
	if forward {
		for ; at < len(moments); at++ {
			if moments[at].Ns > s.moment && !isMinor(moments[at].Kind) {
				a.lookAt(s, moments[at].Ns)
				return
			}
		}
		return
	}
	for at--; at >= 0; at-- {
		if !isMinor(moments[at].Kind) {
			a.lookAt(s, moments[at].Ns)
			return
		}
	}
}

// lookAt asks for a moment and shows it. The newest one is followed again.
func (a *timeAxis) lookAt(s *scene, ns int64) {
	first, last := s.span()
	w := &s.choices.window
	if ns = max(ns, first); ns >= last {
		if w.fixed && w.end >= last {
			w.follow()
		}
		a.request = momentRequest{live: true, made: true}
		return
	}
	w.hold(s)
	w.show(s, ns)
	a.shown = ns
	a.request = momentRequest{ns: ns, made: true}
}

// click looks at the moment at a place of the region that the chart was drawn
// into.
func (a *timeAxis) click(x, y int, s *scene) {
	if s.newest == nil || !a.plot.Contains(x, y) {
		return
	}
	c := widget.Chart{From: a.from, To: a.to}
	if a.unit == widget.Frames {
		c.To++
	}
	a.lookAt(s, a.momentAt(s, c.At(a.plot, x-a.plot.X)))
}

// takeMoment is the moment that was asked for, once.
func (a *timeAxis) takeMoment() (ns int64, live, ok bool) {
	request := a.request
	a.request = momentRequest{}
	return request.ns, request.live, request.made
}

// hold lets the window stay where it is while something in it is looked at.
func (w *window) hold(s *scene) {
	from, to := w.of(s)
	if first, last := s.span(); w.fixed || from <= first && to >= last {
		return
	}
	w.length, w.end, w.fixed = to-from, to, true
}

// mark makes the markers of the moments that are shown, the ones that matter
// least first, for the later ones are drawn over them.
func (a *timeAxis) mark(s *scene, glyphs *themes.Glyphs) {
	a.markers = a.markers[:0]
	from, to := s.choices.window.of(s)
	moments := s.newest.Moments
	first := sort.Search(len(moments), func(i int) bool { return moments[i].Ns >= from })
	for _, minor := range [...]bool{true, false} {
		for i := first; i < len(moments) && moments[i].Ns <= to; i++ {
			m := &moments[i]
			if isMinor(m.Kind) != minor {
				continue
			}
			glyph, style := momentLook(glyphs, m.Kind)
			a.markers = append(a.markers, widget.Marker{At: a.at(s, m.Ns), Glyph: glyph, Style: style})
		}
	}
}

// isMinor says of which moments there are many that nobody looks for.
func isMinor(kind model.MomentKind) bool { return kind == model.MomentArenaNew }

// momentLook is the mark and the style of a kind of moments: they differ in
// shape.
func momentLook(glyphs *themes.Glyphs, kind model.MomentKind) (rune, grid.Style) {
	switch kind {
	case model.MomentOOM:
		return glyphs.EventOOM, grid.Of(themes.Error)
	case model.MomentRescued:
		return glyphs.EventReclaim, grid.Of(themes.Warning)
	case model.MomentRebuild:
		return glyphs.EventRebuild, grid.Of(themes.Info)
	case model.MomentArenaNew:
		return glyphs.EventFrame, grid.Of(themes.Guide)
	case model.MomentArenaReset:
		return glyphs.EventError, grid.Of(themes.Abandoned)
	case model.MomentLost:
		return glyphs.EventLost, grid.Of(themes.Warning)
	case model.MomentAction, model.MomentPeakReset:
		return glyphs.EventAction, grid.Of(themes.Accent)
	}
	return glyphs.EventNote, grid.Of(themes.Info)
}
