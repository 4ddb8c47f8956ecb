package ui

import (
	"fmt"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/widget"
)

// firstOf is what is looked at while nobody has chosen: the program that was looked
// at so far, else one that was started to be watched here, else of those that live
// the one that began first, since a program begins before those that it starts; else
// the first of a recording's programs, else the first of all. nil where there is
// nothing.
func (d *Dashboard) firstOf(shown *model.Snapshot) *model.SourceView {
	if view := shown.Find(d.began); view != nil {
		return view
	}
	var first *model.SourceView
	for _, view := range shown.Sources {
		switch {
		case isOver(view):
		case view.Own && (first == nil || !first.Own):
			first = view // also before it has spoken: another may speak sooner
		case isLiveProgram(view) && (first == nil || !first.Own && view.Hello.Start < first.Hello.Start):
			first = view
		}
	}
	switch {
	case first != nil:
		d.began = first.ID
	case len(shown.Sources) > 0:
		first = shown.Sources[0]
		for _, view := range shown.Sources {
			// In a recording, the machine may have spoken before its programs.
			if view.Kind == recorder.KindProcess && view.File != "" {
				return view
			}
		}
	}
	return first
}

// isLiveProgram says whether a source is a program that has spoken and may speak
// again.
func isLiveProgram(view *model.SourceView) bool {
	return view.Kind == recorder.KindProcess && view.File == "" && view.Hello != nil && !isOver(view)
}

// goOn looks at the one program that lives once the one that was looked at has
// ended: what had started it, or what runs in its place. Who has chosen it, lets
// the screen stand still or looks at a moment of it, stays; so does who has several
// others to choose from.
func (d *Dashboard) goOn() {
	ended := d.scene.newest
	if ended == nil || ended.Kind != recorder.KindProcess || ended.File != "" || ended.Hello == nil || !isOver(ended) {
		return
	}
	if d.chosen || d.paused || d.moment != 0 || d.baseline != nil || d.question != nil || d.entry != nil {
		return
	}
	var other *model.SourceView
	standIn := ""
	if d.options.StandIn != nil {
		standIn = d.options.StandIn()
	}
	for _, view := range d.snapshot.Sources {
		switch {
		case !isLiveProgram(view), view.ID == standIn:
		case other != nil:
			return
		default:
			other = view
		}
	}
	if other == nil {
		return
	}
	d.selected, d.began, d.offered, d.cameBack = "", other.ID, ended.ID, other.ID
	d.setScene()
	d.say(widget.StatusInfo, fmt.Sprintf("%s has ended%s; this is %s, which lives: c Enter goes back", sourceTitle(ended), whyEnded(ended), sourceTitle(other)))
}

// whyEnded is how a program ended, as it said itself or as it was found.
func whyEnded(view *model.SourceView) string {
	switch {
	case view.Goodbye != nil && view.Goodbye.Why != "":
		return " (" + view.Goodbye.Why + ")"
	case view.StatusWhy != "":
		return " (" + view.StatusWhy + ")"
	}
	return ""
}
