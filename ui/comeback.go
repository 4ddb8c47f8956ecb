package ui

import (
	"fmt"
	"slices"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/widget"
)

// offerComeback says once that the program which is looked at has ended and runs
// again, and has c offer the new run. What was chosen does not change by itself:
// its last minutes are what one wants to see.
func (d *Dashboard) offerComeback() {
	old := d.snapshot.Find(d.selectedID())
	if old == nil || old.File != "" || old.Kind != recorder.KindProcess || old.Hello == nil || !isOver(old) {
		return
	}
	again := comeback(d.snapshot, old)
	if again == nil || again.ID == d.cameBack {
		return
	}
	d.cameBack, d.offered = again.ID, again.ID
	d.say(widget.StatusInfo, fmt.Sprintf("%s has ended; it runs again as %s: c Enter goes there", sourceTitle(old), sourceTitle(again)))
}

// selectedID is the ID of what is looked at, also where nothing was chosen.
func (d *Dashboard) selectedID() string {
	if d.selected == "" && d.scene.newest != nil {
		return d.scene.newest.ID
	}
	return d.selected
}

// comeback is the newest run of a program that began after another one had: the
// same command line, in the same place of its job. nil where there is none.
func comeback(snapshot *model.Snapshot, old *model.SourceView) (again *model.SourceView) {
	for _, view := range snapshot.Sources {
		if view.Kind != recorder.KindProcess || view.File != "" || view.Hello == nil || view.ID == old.ID || isOver(view) {
			continue
		}
		same := view.Hello.Name == old.Hello.Name && slices.Equal(view.Hello.Argv, old.Hello.Argv) && compareRanks(view, old) == 0
		if same && view.Hello.Start >= old.Hello.Start && view.First >= old.Now && (again == nil || view.Hello.Start > again.Hello.Start) {
			again = view
		}
	}
	return again
}
