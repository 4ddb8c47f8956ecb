// Package layout says where everything goes: a pure function from the size of
// the screen and what is shown to named rectangles. Nothing is drawn here.
//
// There are three layouts by size, and fewer panes below the smallest, down to
// a single cell. A screen is never refused for being small.
package layout

import "vramscope/ui/grid"

// View is a page of the dashboard; the number keys show them.
type View uint8

// The views, in the order of their keys.
const (
	Overview View = iota
	Devices
	Arena
	Scopes
	Timeline
	Pool
	Events

	// ViewCount is the number of views.
	ViewCount = int(iota)
)

var viewNames = [ViewCount]string{"Overview", "Devices", "Arena", "Scopes", "Timeline", "Pool", "Events"}

// String is the view's title.
func (v View) String() string {
	if int(v) < ViewCount {
		return viewNames[v]
	}
	return ""
}

// ViewNames are the titles of all views, in their order. They must not be
// changed.
func ViewNames() []string { return viewNames[:] }

// Pane is a part of a view.
type Pane uint8

// The panes.
const (
	NoPane         Pane = iota
	HeadroomPane        // the device as a bar, the headroom with its formula, the host
	InsidePane          // what a process has by NVML, taken apart
	ArenaPane           // arenas as bars
	PoolPane            // the pool in numbers
	PeaksPane           // the reported peak and peaks outside the arena
	ScopesPane          // scopes in a table that is a tree, or as a flame graph
	ScopePane           // everything about the selected scope
	TimelinePane        // memory over time
	DevicesPane         // a table of devices
	ProcessesPane       // a table of processes on the selected device
	DevicePane          // the selected device over time
	PointersPane        // an arena's pointers over time
	MarksPane           // an arena's marks
	StreamPane          // the events of the selected scope with a running pointer
	CallersPane         // who allocated, and which types
	LiveThenPane        // what was live at the cursor
	MomentPane          // the numbers at the cursor
	BlocksPane          // segments and blocks as a map
	SegmentsPane        // a table of segments
	FreeSizesPane       // a histogram of free blocks
	LadderPane          // the failure callback's ladder and the generations
	EventsPane          // a table of events
	EventPane           // everything about the selected event
	AllocatorsPane      // a table of a process's allocators that adds up to the device
	AllocatorPane       // everything about the selected allocator

	// PaneCount is the number of panes, NoPane among them.
	PaneCount = int(iota)
)

var paneNames = [PaneCount]string{
	"", "headroom", "inside", "arena", "pool", "peaks", "scopes", "scope", "timeline", "devices", "processes", "device",
	"pointers", "marks", "stream", "callers", "live-then", "moment", "blocks", "segments", "free-sizes", "ladder", "events", "event",
	"allocators", "allocator",
}

// String is the pane's name in messages; "" for NoPane.
func (p Pane) String() string {
	if int(p) < PaneCount {
		return paneNames[p]
	}
	return ""
}

// Size is which layout a screen gets.
type Size uint8

// The sizes.
const (
	Tiny    Size = iota // under 40×10: as many lines as there are, one pane above the other
	Mini                // from 40×10: no frames
	Compact             // from 80×20: frames, mostly one pane above the other
	Full                // from 120×30: all panes

	// SizeCount is the number of sizes.
	SizeCount = int(iota)
)

// SizeOf is the layout that a screen of so many cells gets.
func SizeOf(width, height int) Size {
	switch {
	case width >= 120 && height >= 30:
		return Full
	case width >= 80 && height >= 20:
		return Compact
	case width >= 40 && height >= 10:
		return Mini
	default:
		return Tiny
	}
}

// Options are what besides the size a layout depends on.
type Options struct {
	Input   bool // a line is being typed: it has a row of its own above the footer
	Message int  // rows for the result of an action, which stays above the footer; 0 is none
	Zoomed  Pane // this pane has the whole body; NoPane is none
	Arenas  int  // how many arenas there are to be shown as bars

	Content    Content
	Pools      PoolContent
	Allocators int // rows that the table of allocators has
}

// PoolContent is what the pools of a process tell.
type PoolContent uint8

// What pools tell.
const (
	Blocks   PoolContent = iota // their segments and blocks
	Tiers                       // their tier and their failure callback, and no blocks
	Counters                    // counters alone

	// PoolContentCount is the number of these.
	PoolContentCount = int(iota)
)

// Content is what there is to be seen inside a process: panes that nothing
// would fill leave their room to others.
type Content uint8

// The contents.
const (
	Arenas            Content = iota // arenas, in a pool or not
	Allocators                       // no arena: allocators that tell counters
	AllocatorsAndPool                // no arena: allocators, one of which tells its blocks
	Everything                       // arenas and several allocators

	// ContentCount is the number of contents.
	ContentCount = int(iota)
)

// Place is where a pane goes.
type Place struct {
	Pane   Pane
	Frame  grid.Rect // all of it; neighbours share the sides of their frames
	Inner  grid.Rect // what is left for its contents
	Framed bool      // there are lines around it; the title goes into the upper one
}

// maxMessage is the most rows of a message.
const maxMessage = 4

// maxPlaces bounds the panes of a view.
const maxPlaces = 8

// Layout is where everything goes. A rectangle that is empty is not shown.
type Layout struct {
	Size    Size
	View    View
	Header  grid.Rect
	Tabs    grid.Rect
	Body    grid.Rect
	Input   grid.Rect
	Message grid.Rect // empty where there is no room: then a message takes the footer
	Footer  grid.Rect
	places  [maxPlaces]Place
	count   int
}

// Compute lays a view out on a screen of so many cells. A screen without cells
// has no panes.
func Compute(width, height int, view View, options Options) Layout {
	if int(view) >= ViewCount {
		view = Overview
	}
	l := Layout{Size: SizeOf(width, height), View: view}
	if width <= 0 || height <= 0 {
		return l
	}
	l.lines(width, height, options)
	if options.Zoomed != NoPane {
		alone := node{pane: options.Zoomed, grow: 1}
		l.fill(&alone, options)
	} else {
		l.fill(planOf(view, l.Size, options), options)
	}
	return l
}

// lines takes the lines above and below the body off the screen.
func (l *Layout) lines(width, height int, options Options) {
	top, bottom := 0, height
	above := func(when bool) (line grid.Rect) {
		if when && bottom-top > 1 {
			line = grid.Rect{Y: top, W: width, H: 1}
			top++
		}
		return line
	}
	below := func(when bool) (line grid.Rect) {
		if when && bottom-top > 1 {
			bottom--
			line = grid.Rect{Y: bottom, W: width, H: 1}
		}
		return line
	}
	l.Header = above(height >= 3)
	l.Tabs = above(l.Size >= Compact)
	l.Footer = below(height >= 6)
	l.Input = below(options.Input)
	if rows := min(options.Message, maxMessage, height/6); rows > 0 && height >= 12 {
		bottom -= rows
		l.Message = grid.Rect{Y: bottom, W: width, H: rows}
	}
	l.Body = grid.Rect{Y: top, W: width, H: bottom - top}
}

// fill places a plan into the body.
func (l *Layout) fill(plan *node, options Options) {
	p := placer{layout: l, framed: l.Size >= Compact, arenas: 1, allocators: options.Allocators}
	if l.Body.H >= 34 {
		p.arenas = min(max(options.Arenas, 1), 4)
	}
	p.place(plan, l.Body)
}

// Places are the panes, from the top left. They lie in the layout: keep the
// layout as long as them.
func (l *Layout) Places() []Place { return l.places[:l.count] }

// Find is where a pane is; false where the layout does not show it.
func (l *Layout) Find(pane Pane) (Place, bool) {
	for _, place := range l.Places() {
		if place.Pane == pane {
			return place, true
		}
	}
	return Place{}, false
}

// At is the pane at a cell of the screen; false where there is none. Of two
// that share the cell, it is the one that begins there.
func (l *Layout) At(x, y int) (Place, bool) {
	for i := l.count - 1; i >= 0; i-- {
		if l.places[i].Frame.Contains(x, y) {
			return l.places[i], true
		}
	}
	return Place{}, false
}

// Center is a rectangle of at most the given size in the middle of an area,
// for pop-ups.
func Center(area grid.Rect, width, height int) grid.Rect {
	width, height = max(0, min(width, area.W)), max(0, min(height, area.H))
	return grid.Rect{X: area.X + (area.W-width)/2, Y: area.Y + (area.H-height)/2, W: width, H: height}
}
