package ui

import (
	"fmt"
	"path/filepath"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/widget"
)

// sentCommand is a command of this dashboard that has not been answered.
type sentCommand struct {
	view string // ID of the source that it was sent to
	id   string
}

// followCommands tells how the commands stand that have not been answered: what
// they wait for and for how long, that nobody will answer any more, and where
// the files are that they wrote.
func (d *Dashboard) followCommands() {
	waiting, answered := d.sent[:0], false
	for _, sent := range d.sent {
		view := d.snapshot.Find(sent.view)
		if view == nil {
			answered = d.giveUp(sent, "the program is gone; it did not answer") || answered
			continue
		}
		action, member := view.Action(sent.id), d.batch.member(sent)
		switch {
		case action == nil:
			waiting = append(waiting, sent)
		case action.Final != nil:
			if member != nil {
				member.answer(action)
				answered = true
			} else {
				d.openWritten(view, action)
			}
		case isOver(view):
			answered = d.giveUp(sent, fmt.Sprintf("%s: %s ended before it answered", model.CommandTitle(action.Command.Name), sourceTitle(view))) || answered
		case action.Overdue(d.snapshot.Now):
			answered = d.giveUp(sent, fmt.Sprintf("%s: no answer came from %s, and none can come any more; the program may be in one long call",
				model.CommandTitle(action.Command.Name), sourceTitle(view))) || answered
		default:
			waiting = append(waiting, sent)
			if member != nil {
				member.line = action.Waiting(d.snapshot.Now, "")
			} else if d.message.command == sent.id {
				d.message.text = action.Waiting(d.snapshot.Now, sourceTitle(view))
			}
		}
	}
	d.sent = waiting
	d.tellBatch(answered && d.batch != nil)
}

// giveUp says why a command will not be answered. Is whether it belongs to the
// newest batch, whose message tells it.
func (d *Dashboard) giveUp(sent sentCommand, why string) (ofBatch bool) {
	if member := d.batch.member(sent); member != nil {
		member.line, member.kind = why, widget.StatusWarning
		return true
	}
	if d.besides.sent == sent {
		why = d.besides.text + " · " + why
		d.besides = besideLine{}
		d.say(widget.StatusWarning, why)
		return false
	}
	if d.message.command == sent.id || d.message.text == "" {
		d.say(widget.StatusWarning, why)
	}
	return false
}

// sourceTitle is what to call a source in a line about it: several may have one
// name.
func sourceTitle(view *model.SourceView) string { return model.ProgramTitle(view.Name, view.Hello) }

// openWritten opens the file that a command had the program write, beside what
// is watched, and says how to get there.
func (d *Dashboard) openWritten(view *model.SourceView, action *model.Action) {
	name, ack := action.Command.Name, action.Final
	if name != recorder.CommandSnapshot && name != recorder.CommandCalibration || ack.State != recorder.AckDone || ack.Path == "" {
		return
	}
	line := action.Line()
	if !filepath.IsAbs(ack.Path) {
		d.say(widget.StatusWarning, line+" · the path is relative to the program's own folder: `:open` it with its whole path")
		return
	}
	id := "file:" + ack.Path
	_ = d.feed.Close(id) // an older file of that name
	if err := d.feed.Open(ack.Path); err != nil {
		d.say(widget.StatusWarning, line+fmt.Sprintf(" · it cannot be opened from here: %v. If %s runs in a container, that is a path inside it: copy the file out and `:open` it, or type a path that both see, `:%s /PATH`",
			err, view.Name, name))
		return
	}
	d.offered = id
	d.say(widget.StatusOK, model.CommandTitle(name)+" opened beside: c Enter goes there, c Enter again comes back · "+ack.Path)
}

// askTyped carries out a typed command that has a file written: "snapshot",
// "snapshot PATH", "calibration".
func (d *Dashboard) askTyped(name, path string) {
	args := recorder.CommandArgs{}
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			d.say(widget.StatusError, err.Error())
			return
		}
		args.Path = absolute
	}
	d.command(name, args)
}

// placed are the arguments of a command with a file for what the target writes,
// where none was typed and the target chooses none itself. The error says what
// to type.
func (d *Dashboard) placed(target *model.SourceView, name string, args recorder.CommandArgs) (recorder.CommandArgs, error) {
	if name != recorder.CommandCalibration || args.Path != "" {
		return args, nil
	}
	if d.options.Place != nil {
		args.Path = d.options.Place(target, name)
	}
	if args.Path == "" {
		return args, fmt.Errorf("%s: no file is known here that %s can write, which may run in a container: type one, `:%s /PATH`",
			model.CommandTitle(name), sourceTitle(target), name)
	}
	return args, nil
}
