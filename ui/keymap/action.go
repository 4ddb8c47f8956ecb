package keymap

// Action is what a key asks for. Its name is also what the command line after
// ":" takes.
type Action uint8

// The actions.
const (
	None Action = iota

	Reclaim      // what pressure calls for: the release policy with force off
	ForceReclaim // collect, then empty every cache
	Rebuild      // tear the pool down and build it again
	ResetPeak    // reset peak counters and the floor
	Headroom     // ensure 15 % of the device is free; says whether it acted
	Record       // start or end a recording
	Reach        // the next action meets one source, or all of the selected device

	ShowOverview
	ShowDevices
	ShowArena
	ShowScopes
	ShowTimeline
	ShowPool
	ShowEvents
	NextView
	PreviousView
	NextPane
	PreviousPane
	ZoomPane
	Sources // choose what to watch

	Up
	Down
	Left
	Right
	PageUp
	PageDown
	Top
	Bottom
	Details

	Filter
	NextMatch
	PreviousMatch
	Command
	SortBy
	ReverseSort
	Origin // where the selected number comes from
	CopyRow
	Diff

	Open
	Close
	Toggle
	ExpandAll
	CollapseAll
	DrillIn
	DrillOut
	Flame
	Direction // of the stack tree
	Noise     // frames that only add noise
	MoreFrames
	FewerFrames

	Pause
	Follow
	AxisUnit
	ZoomIn
	ZoomOut
	ZoomAll
	PanBack
	PanForward
	NextEvent
	PreviousEvent
	JumpToPeak
	NextOOM
	PreviousOOM

	NextArena
	PreviousArena
	AllArenas // scopes summed by name over all of them

	NextSegment
	PreviousSegment

	Help
	Back
	Quit
	Theme
	Mouse
	Faster
	Slower
	Redraw
	Suspend

	Yes
	No
	Press
	SwitchButton

	Submit
	Cancel
	Complete
	HistoryBack
	HistoryForward

	SortByName
	SortByLive
	SortBySelf
	SortByTotal
	SortByPeak
	SortByCount
	SortByAllocs
	SortBySize
	SortByAge
	SortByUnfreed

	// ActionCount is the number of actions, None among them.
	ActionCount = int(iota)
)

// actionNames are in the order of the constants.
var actionNames = [ActionCount]string{
	"",
	"reclaim", "force-reclaim", "rebuild", "reset-peak", "headroom", "record", "reach",
	"overview", "devices", "arena", "scopes", "timeline", "pool", "events",
	"next-view", "previous-view", "next-pane", "previous-pane", "zoom-pane", "sources",
	"up", "down", "left", "right", "page-up", "page-down", "top", "bottom", "details",
	"filter", "next-match", "previous-match", "command", "sort", "reverse-sort", "origin", "copy", "diff",
	"open", "close", "toggle", "expand-all", "collapse-all", "drill-in", "drill-out", "flame", "direction", "noise", "more-frames", "fewer-frames",
	"pause", "follow", "axis", "zoom-in", "zoom-out", "zoom-all", "pan-back", "pan-forward",
	"next-event", "previous-event", "peak", "next-oom", "previous-oom",
	"next-arena", "previous-arena", "all-arenas",
	"next-segment", "previous-segment",
	"help", "back", "quit", "theme", "mouse", "faster", "slower", "redraw", "suspend",
	"yes", "no", "press", "switch-button",
	"submit", "cancel", "complete", "history-back", "history-forward",
	"sort-name", "sort-live", "sort-self", "sort-total", "sort-peak", "sort-count", "sort-allocs", "sort-size", "sort-age", "sort-unfreed",
}

// String is the action's name on the command line after ":", such as
// "force-reclaim"; "" for None.
func (a Action) String() string {
	if int(a) < ActionCount {
		return actionNames[a]
	}
	return ""
}

// ActionByName finds an action by its name.
func ActionByName(name string) (Action, bool) {
	for i, known := range actionNames {
		if i > 0 && known == name {
			return Action(i), true
		}
	}
	return None, false
}
