package ui

import (
	"fmt"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// commandOf is the command that a key sends to a process.
var commandOf = map[keymap.Action]string{
	keymap.Reclaim:      recorder.CommandReclaim,
	keymap.ForceReclaim: recorder.CommandForceReclaim,
	keymap.Rebuild:      recorder.CommandRebuild,
	keymap.ResetPeak:    recorder.CommandResetPeak,
	keymap.Headroom:     recorder.CommandHeadroom,
}

// headroomFraction is the share of the device that a headroom check wants free.
const headroomFraction = 0.15

// act carries out a key that acts on processes.
func (d *Dashboard) act(action keymap.Action) {
	args := recorder.CommandArgs{}
	if action == keymap.Headroom {
		args.Fraction = headroomFraction
	}
	d.command(commandOf[action], args)
}

// command sends a command to its targets, after a question where it asks first.
func (d *Dashboard) command(name string, args recorder.CommandArgs) {
	targets, err := d.targets(name)
	if err != nil {
		d.say(widget.StatusError, err.Error())
		return
	}
	for _, target := range targets {
		if err := model.Permit(target, name, d.options.ReadOnly); err != nil {
			d.say(widget.StatusError, err.Error())
			return
		}
	}
	if !model.CommandAsks(name) {
		d.send(name, args, targets)
		return
	}
	ids := make([]string, len(targets))
	for i, target := range targets {
		ids[i] = target.ID
	}
	d.question = &question{
		title: model.CommandTitle(name) + "?",
		text:  model.Confirmation(name, targets),
		yes:   model.CommandTitle(name),
		then:  func() { d.send(name, args, d.found(ids)) },
	}
}

// targets are the sources that a command meets: the selected one, or all on
// its device when the reach is that wide.
func (d *Dashboard) targets(name string) ([]*model.SourceView, error) {
	selected := d.scene.newest
	if d.wide && selected != nil && selected.Kind == recorder.KindProcess {
		for _, view := range d.snapshot.Sources {
			if view.Kind == recorder.KindDevice && view.FirstDevice() == d.scene.device {
				selected = view
			}
		}
	}
	return d.snapshot.Targets(selected, name)
}

// found are the views of those IDs that are still there.
func (d *Dashboard) found(ids []string) (views []*model.SourceView) {
	for _, id := range ids {
		if view := d.snapshot.Find(id); view != nil {
			views = append(views, view)
		}
	}
	return views
}

// send sends a command to every target, each once.
func (d *Dashboard) send(name string, args recorder.CommandArgs, targets []*model.SourceView) {
	if args.Path != "" && len(targets) > 1 {
		d.say(widget.StatusError, fmt.Sprintf("%s: %d programs cannot write one file; leave the path out, or press a to reach one program alone", model.CommandTitle(name), len(targets)))
		return
	}
	last, sent := "", 0
	for _, target := range targets {
		command, err := d.outbox.Command(target, name, args, d.snapshot.Now)
		if err != nil {
			d.say(widget.StatusError, err.Error())
			continue
		}
		if err := d.feed.Send(target.ID, command); err != nil {
			d.outbox.Failed(target, command)
			d.say(widget.StatusError, fmt.Sprintf("%s could not be sent to %s: %v", model.CommandTitle(name), target.Name, err))
			continue
		}
		d.sent = append(d.sent, sentCommand{target.ID, command.ID})
		last = command.ID
		sent++
	}
	if sent > 0 {
		d.say(widget.StatusBusy, fmt.Sprintf("%s sent to %s", model.CommandTitle(name), names(targets)))
		d.message.said, d.message.command = false, last
	}
}

func names(views []*model.SourceView) string {
	all := make([]string, len(views))
	for i, view := range views {
		all[i] = sourceTitle(view)
	}
	return strings.Join(all, ", ")
}

// record starts or ends a recording of what is selected.
func (d *Dashboard) record() {
	start := d.feed.Recording() == ""
	var sources []string
	if start {
		if d.scene.newest == nil {
			d.say(widget.StatusError, "there is nothing to record: choose a source with c")
			return
		}
		if d.scene.newest.File != "" {
			d.say(widget.StatusError, "this is a recording already: choose a live source with c")
			return
		}
		if d.scene.newest.Status != model.StatusLive {
			d.say(widget.StatusError, "nothing comes from "+d.scene.newest.Name+", which is "+d.scene.newest.Status.String()+": choose a live source with c")
			return
		}
		sources = append(sources, d.scene.newest.Source)
		for _, view := range d.scene.beside {
			if view.File == "" && view.Kind != recorder.KindProcess {
				sources = append(sources, view.Source)
			}
		}
	}
	path, err := d.feed.Record(sources, start)
	switch {
	case err != nil:
		d.say(widget.StatusError, err.Error())
	case start:
		d.say(widget.StatusOK, "recording to "+path+"; m ends it")
	default:
		d.say(widget.StatusOK, "recorded: vramscope "+path)
	}
}
