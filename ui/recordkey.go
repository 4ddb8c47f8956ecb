package ui

import (
	"errors"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/widget"
)

// record starts or ends a recording of what is selected. A program that keeps a
// recording of its own, as algan does, is asked for that as long.
func (d *Dashboard) record() {
	if d.feed.Recording() != "" {
		d.endRecord()
		return
	}
	if err := d.recordable(); err != nil {
		d.say(widget.StatusError, err.Error())
		return
	}
	sources := []string{d.scene.newest.Source}
	for _, view := range d.scene.beside {
		if view.File == "" && view.Kind != recorder.KindProcess {
			sources = append(sources, view.Source)
		}
	}
	path, err := d.feed.Record(sources, true)
	if err != nil {
		d.say(widget.StatusError, err.Error())
		return
	}
	d.armed = sentCommand{}
	line := "recording to " + path + "; m ends it"
	switch view := d.scene.newest; {
	case d.options.ReadOnly || !model.Obeys(view, recorder.CommandRecordOn):
		d.say(widget.StatusOK, line)
	case view.Recording:
		d.say(widget.StatusOK, line+" · "+sourceTitle(view)+" keeps a recording of its own already")
	default:
		d.armed = d.sendBeside(line, view, recorder.CommandRecordOn)
	}
}

// recordable says why what is selected cannot be recorded, nil where it can.
func (d *Dashboard) recordable() error {
	view := d.scene.newest
	switch {
	case view == nil:
		return errors.New("there is nothing to record: choose a source with c")
	case view.File != "":
		return errors.New("this is a recording already: choose a live source with c")
	case view.Status != model.StatusLive:
		return errors.New("nothing comes from " + view.Name + ", which is " + view.Status.String() + ": choose a live source with c")
	}
	return nil
}

// endRecord ends the recording, and the program's own that it began.
func (d *Dashboard) endRecord() {
	path, err := d.feed.Record(nil, false)
	line := "recorded: vramscope " + path
	if err != nil {
		line = err.Error()
		d.say(widget.StatusError, line)
	} else {
		d.say(widget.StatusOK, line)
	}
	if view := d.armedProgram(); view != nil {
		d.sendBeside(line, view, recorder.CommandRecordOff)
	}
	d.armed = sentCommand{}
}

// armedProgram is the program whose own recording the recording that runs began;
// nil where there is none, where it said no, or where it is gone.
func (d *Dashboard) armedProgram() *model.SourceView {
	view := d.snapshot.Find(d.armed.view)
	if view == nil || isOver(view) {
		return nil
	}
	if action := view.Action(d.armed.id); action != nil && action.Final != nil && action.Final.State != recorder.AckDone {
		return nil
	}
	return view
}

// besideLine is a line about a recording, to which the answer of a command is
// added that was sent because of it.
type besideLine struct {
	text string
	sent sentCommand
}

// sendBeside sends a command because of something else, which the line tells
// and goes on to tell. It returns what was sent, nothing where that failed.
func (d *Dashboard) sendBeside(line string, view *model.SourceView, name string) (sent sentCommand) {
	command, err := d.outbox.Command(view, name, recorder.CommandArgs{}, d.snapshot.Now)
	if err == nil {
		if err = d.feed.Send(view.ID, command); err != nil {
			d.outbox.Failed(view, command)
		}
	}
	if err != nil {
		d.say(widget.StatusWarning, line+" · "+err.Error())
		return sent
	}
	sent = sentCommand{view.ID, command.ID}
	d.sent = append(d.sent, sent)
	d.besides = besideLine{line, sent}
	d.say(widget.StatusOK, line+" · "+model.CommandTitle(name)+" sent to "+sourceTitle(view))
	return sent
}

// tells says whether an entry of the log is the answer that a line waits for.
func (b *besideLine) tells(entry *model.Entry) bool {
	return b.sent.id != "" && entry.Kind == model.EntryAction && entry.Command == b.sent.id && entry.Source == b.sent.view
}

// answered is the line with what the program did, or why it did not.
func (b *besideLine) answered(entry *model.Entry) string {
	if entry.Level == model.LevelInfo && len(entry.Detail) > 0 {
		return b.text + " · " + strings.Join(entry.Detail, " · ")
	}
	return b.text + " · " + entry.Text
}
