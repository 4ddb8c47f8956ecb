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
	targets, refused := d.permitted(name, targets)
	if len(targets) == 0 {
		d.say(widget.StatusError, strings.Join(refused, " · "))
		return
	}
	if !model.CommandAsks(name) {
		d.send(name, args, targets, refused)
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
		then:  func() { d.send(name, args, d.found(ids), refused) },
	}
}

// permitted are the targets that a command can be sent to now, and why it is not
// sent to the others: one that refuses does not keep it from the rest.
func (d *Dashboard) permitted(name string, targets []*model.SourceView) (permitted []*model.SourceView, refused []string) {
	for _, target := range targets {
		if err := model.Permit(target, name, d.options.ReadOnly); err != nil {
			refused = append(refused, err.Error())
			continue
		}
		permitted = append(permitted, target)
	}
	return permitted, refused
}

// targets are the sources that a command meets: the selected one, or all on
// its device when the reach is that wide. A GPU that is selected is never more than
// the programs with memory on it.
func (d *Dashboard) targets(name string) ([]*model.SourceView, error) {
	selected := d.scene.newest
	if d.wide && selected != nil && selected.Kind == recorder.KindProcess && selected.File == "" && d.scene.device != "" {
		return d.snapshot.TargetsOn(d.scene.device, selected, name)
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

// send sends a command to every target, each once. Refused is why others were
// left out.
func (d *Dashboard) send(name string, args recorder.CommandArgs, targets []*model.SourceView, refused []string) {
	if args.Path != "" && len(targets) > 1 {
		d.say(widget.StatusError, fmt.Sprintf("%s: %d programs cannot write one file; leave the path out, or press a to reach one program alone", model.CommandTitle(name), len(targets)))
		return
	}
	batch := &sentBatch{title: model.CommandTitle(name), refused: refused}
	for _, target := range targets {
		args, err := d.placed(target, name, args)
		if err != nil {
			batch.refused = append(batch.refused, err.Error())
			continue
		}
		command, err := d.outbox.Command(target, name, args, d.snapshot.Now)
		if err != nil {
			batch.refused = append(batch.refused, err.Error())
			continue
		}
		if err := d.feed.Send(target.ID, command); err != nil {
			d.outbox.Failed(target, command)
			batch.refused = append(batch.refused, fmt.Sprintf("%s could not be sent to %s: %v", model.CommandTitle(name), sourceTitle(target), err))
			continue
		}
		sent := sentCommand{target.ID, command.ID}
		d.sent = append(d.sent, sent)
		batch.members = append(batch.members, batchMember{sentCommand: sent, name: sourceTitle(target), line: "sent", kind: widget.StatusBusy})
	}
	d.sayBatch(batch)
}

// sayBatch says what was sent, and to whom not.
func (d *Dashboard) sayBatch(batch *sentBatch) {
	switch {
	case len(batch.members) == 0:
		d.say(widget.StatusError, strings.Join(batch.refused, " · "))
	case len(batch.members) == 1 && len(batch.refused) == 0:
		only := &batch.members[0]
		d.say(widget.StatusBusy, fmt.Sprintf("%s sent to %s", batch.title, only.name))
		d.message.said, d.message.command = false, only.id
	default:
		d.batch = batch
		d.tellBatch(true)
	}
}
