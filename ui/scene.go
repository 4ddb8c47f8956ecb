package ui

import (
	"vramscope/model"
	"vramscope/recorder"
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
	blocks   bool      // the view shows the pool's blocks
	offered  string    // ID of the source that c selects first, "" for this one
	baseline *baseline // what d remembered; nil when nothing
	choices  *choices  // what the panes share; they change it
	dumps    *dumpWork // what has been worked out about memory dumps
	files    recordings
	reckoned reckoned
}

// baseline is a moment that later ones are compared with.
type baseline struct {
	pinned bool // the choice of an arena was made for it
	view   *model.SourceView
	name   string
	dump   dumpMoment // of a memory dump
}

// headroom is the headroom of the scene's source, reckoned once.
func (s *scene) headroom() *model.Headroom {
	if s.reckoned.headroom == nil {
		h := model.HeadroomOf(s.view, s.beside, s.device, s.reserve)
		if driver, set := model.DeviceOf(s.view, s.beside, s.device); set != nil && driver.Kind != recorder.KindDevice {
			h.Name = s.view.DeviceTitle(set)
		}
		s.reckoned.headroom = &h
	}
	return s.reckoned.headroom
}

// inside is the process's memory on the device taken apart, reckoned once.
func (s *scene) inside() *model.Inside {
	if s.reckoned.inside == nil {
		inside := model.InsideOf(s.view, s.beside, s.device)
		s.reckoned.inside = &inside
	}
	return s.reckoned.inside
}

// host is the memory of the machine, reckoned once.
func (s *scene) host() *model.HostMemory {
	if s.reckoned.host == nil {
		host := model.HostMemoryOf(s.view, s.beside)
		s.reckoned.host = &host
	}
	return s.reckoned.host
}

// poolUse is what the blocks of the pool looked at add up to, reckoned once.
func (s *scene) poolUse() (use *model.PoolUse, ok bool) {
	pool := s.choices.poolOf(s.view)
	if pool == nil {
		return nil, false
	}
	if s.reckoned.pool != pool {
		s.reckoned.pool = pool
		s.reckoned.use, s.reckoned.used = pool.Use()
	}
	return &s.reckoned.use, s.reckoned.used
}

// reckoned is what a scene has reckoned already.
type reckoned struct {
	headroom *model.Headroom
	inside   *model.Inside
	host     *model.HostMemory
	pool     *model.PoolView
	use      model.PoolUse
	used     bool
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
