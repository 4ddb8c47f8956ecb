package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/widget"
)

// offerNewcomer says once of each program that comes while a stand-in is looked
// at, because nothing was there, that it is there, and has c offer it.
func (d *Dashboard) offerNewcomer() {
	if d.options.StandIn == nil {
		return
	}
	standIn := d.options.StandIn()
	if standIn == "" || d.selectedID() != standIn {
		return
	}
	if view := newcomer(d.snapshot, standIn); view != nil && view.ID != d.newcomer {
		d.newcomer, d.offered = view.ID, view.ID
		d.say(widget.StatusInfo, sourceTitle(view)+" is here: c Enter goes there")
	}
}

// newcomer is the program beside a stand-in that began last; nil where there is
// none.
func newcomer(snapshot *model.Snapshot, standIn string) (newest *model.SourceView) {
	for _, view := range snapshot.Sources {
		if view.Kind != recorder.KindProcess || view.File != "" || view.Hello == nil || view.ID == standIn || isOver(view) {
			continue
		}
		if newest == nil || view.First > newest.First {
			newest = view
		}
	}
	return newest
}
