package ui

import (
	"fmt"

	"vramscope/model"
	"vramscope/ui/widget"
)

// readLog shows what the log says since it was last looked at: the newest
// result of a command or the newest trouble stays in the message line.
func (d *Dashboard) readLog() {
	for _, entry := range d.snapshot.Since(d.seen) {
		d.seen = entry.Seq
		switch {
		case d.batch.tells(&entry):
		case d.besides.tells(&entry):
			d.message = message{kind: actionKind(entry), text: d.besides.answered(&entry), wall: d.snapshot.WallOf(&entry), kept: true}
			d.besides = besideLine{}
		case entry.Kind == model.EntryAction:
			d.message = message{kind: actionKind(entry), text: entry.Title() + ": " + entry.Text + stepsText(entry), wall: d.snapshot.WallOf(&entry), kept: true}
		case isEnd(&entry) && d.looksAt(entry.Source) && d.message.command == "":
			d.tellTrouble(widget.StatusWarning, &entry)
		case d.message.kept:
		case isRemark(&entry) && d.looksAt(entry.Source):
			d.tellTrouble(widget.StatusWarning, &entry)
		case entry.Level == model.LevelError, entry.Kind == model.EntryOOM:
			d.tellError(&entry)
		}
	}
}

// tellTrouble shows an entry about a source.
func (d *Dashboard) tellTrouble(kind widget.StatusKind, entry *model.Entry) {
	d.message = message{kind: kind, text: entry.Title() + ": " + entry.Text, wall: d.snapshot.WallOf(entry), source: entry.Source, ended: isEnd(entry)}
}

// asideStays is how long an error of a source that is not looked at is shown, in
// ns.
const asideStays = 10_000_000_000

// tellError shows an error, or an allocation that failed at first. Of a source
// that is not looked at, one error is shown for a while: 7 has all of them. A
// failure that came to nothing does not hide that a source broke off.
func (d *Dashboard) tellError(entry *model.Entry) {
	isError := entry.Level == model.LevelError
	switch {
	case d.message.ended && !isError:
	case d.scene.newest == nil || d.looksAt(entry.Source):
		d.tellTrouble(widget.StatusError, entry)
	case isError && !d.aside[entry.Source]:
		if d.aside == nil {
			d.aside = map[string]bool{}
		}
		d.aside[entry.Source] = true
		d.tellTrouble(widget.StatusError, entry)
		d.message.until = d.snapshot.Now + asideStays
	}
}

// dropAside takes away what was shown long enough.
func (d *Dashboard) dropAside() {
	if d.message.until != 0 && d.snapshot.Now >= d.message.until {
		d.message = message{}
	}
}

// leaveAside takes away what tells of another source than the one that is looked
// at from now on. Its errors are new here.
func (d *Dashboard) leaveAside() {
	d.aside = nil
	if d.message.source != "" && !d.looksAt(d.message.source) {
		d.message = message{}
	}
}

// isRemark says whether an entry is a warning of a source about itself, such as a
// note of the program: it is shown where that source is looked at.
func isRemark(entry *model.Entry) bool {
	return entry.Level == model.LevelWarning && (entry.Kind == model.EntrySource || entry.Kind == model.EntryNote)
}

// isEnd says whether an entry is of a source that broke off: that is seen also
// where an older result stands.
func isEnd(entry *model.Entry) bool {
	return entry.Kind == model.EntrySource && entry.Level != model.LevelInfo
}

// looksAt says whether a live source, or a view of it, is the one that is looked
// at.
func (d *Dashboard) looksAt(source string) bool {
	newest := d.scene.newest
	return newest != nil && (newest.ID == source || newest.Source == source) && newest.File == ""
}

// manySteps is from how many steps on a command's line says where each is told.
const manySteps = 3

// stepsText says where to read what a command did, step by step.
func stepsText(entry model.Entry) string {
	if len(entry.Detail) < manySteps {
		return ""
	}
	return fmt.Sprintf(" · 7 tells each of the %d steps", len(entry.Detail))
}

func actionKind(entry model.Entry) widget.StatusKind {
	switch entry.Level {
	case model.LevelError:
		return widget.StatusError
	case model.LevelWarning:
		return widget.StatusWarning
	}
	return widget.StatusOK
}
