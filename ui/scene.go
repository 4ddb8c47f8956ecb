package ui

import (
	"vramscope/model"
	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// scene is what a frame shows: the selected source at the moment that the
// user looks at, with what stands beside it. Panes read it and change nothing.
type scene struct {
	snapshot *model.Snapshot
	view     *model.SourceView   // the selected source at the moment shown; nil when there is none
	newest   *model.SourceView   // the same source, newest
	beside   []*model.SourceView // the other sources of the same moment
	device   string              // the device that the headroom is about: a GPU's UUID, or "host"
	reserve  int64               // bytes that headroom holds back
	axis     widget.AxisUnit
	moment   int64 // monotonic ns that is looked at; the newest record's when following
	past     bool  // the moment is not the newest
	paused   bool
	readOnly bool
	baseline *baseline // what d remembered; nil when nothing
	choices  *choices  // what the panes share; they change it
}

// baseline is a moment that later ones are compared with.
type baseline struct {
	view *model.SourceView
	name string
}

// headroom reckons the headroom of the scene's source.
func (s *scene) headroom() model.Headroom {
	return model.HeadroomOf(s.view, s.beside, s.device, s.reserve)
}

// span is the whole time that is known of the source, in monotonic ns.
func (s *scene) span() (from, to int64) {
	if s.newest == nil {
		return 0, 0
	}
	return s.newest.First, s.newest.Now
}

// value is a figure as the grid draws it: grid.Missing where it is not known.
func value(f model.Figure) int64 {
	if !f.Known {
		return grid.Missing
	}
	return f.Value
}
