package ui

import (
	"time"

	"vramscope/model"
	"vramscope/model/costs"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/widget"
)

// Options is how the dashboard looks and behaves.
type Options struct {
	Themes   []themes.Theme // the first is shown; t goes to the next
	Profile  themes.Profile
	ASCII    bool
	Mouse    bool
	ReadOnly bool
	Reserve  int64         // bytes that headroom holds back
	Refresh  time.Duration // between two drawings of new data, 250 ms by default
	Unit     widget.AxisUnit
	View     string // name of the view to begin with, "" for the overview
	Source   string // ID of the source to begin with, "" for the first
	At       int64  // the moment to begin with, monotonic ns; 0 is the newest
	// Arena is the ID of the arena to look at, 0 for the one that says most.
	// AllArenas sums the scopes of all of them up by name.
	Arena     int64
	AllArenas bool
	// Sizing is what scopes of calibration files are sized for, to begin with; of
	// one frame by default.
	Sizing   costs.Question
	Warnings []string // shown in the status line and in the events
	// Moments are the moments of memory dumps to begin with, by the IDs of their
	// sources; the end state of a dump that has none here.
	Moments map[string]dump.Moment
	// StandIn is the ID of a source that is shown because nothing else was there,
	// "" while there is none. It may be asked at any time; nil knows of none.
	StandIn func() string
	// Place is a new file, by its whole path, that a program can be told to write
	// for a command; "" where none is known that it can reach. nil knows none.
	Place func(view *model.SourceView, command string) string
}

func (o *Options) fill() {
	if len(o.Themes) == 0 {
		o.Themes = themes.All()
	}
	if o.Sizing.Frames < 1 {
		o.Sizing.Frames = 1
	}
	if o.Refresh <= 0 {
		o.Refresh = 250 * time.Millisecond
	}
}

func (o *Options) glyphs() *themes.Glyphs {
	if o.ASCII {
		return themes.ASCIIGlyphs()
	}
	return themes.UnicodeGlyphs()
}
