package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui"
)

// recordSource records a source to a file until the time is over, the source
// ends, or the user interrupts.
func (p *program) recordSource(ctx context.Context, path, name string, length time.Duration, calibration bool) error {
	h := newHub(ctx, &p.settings)
	err := p.recordWith(ctx, h, path, name, length, calibration)
	if closed := h.close(); closed != nil && err == nil {
		err = closed
	}
	if errors.Is(err, context.Canceled) {
		return nil // interrupted: the recording is complete as far as it goes
	}
	return err
}

func (p *program) recordWith(ctx context.Context, h *hub, path, name string, length time.Duration, calibration bool) error {
	view, err := p.reach(ctx, h, name)
	if err != nil {
		return err
	}
	h.Show(ui.Interest{Source: view.Source, Processes: true, Focused: true})
	sources, only := []string{view.Source}, ""
	if view.Kind == recorder.KindDevice {
		only = view.Src // its source tells of every GPU
	}
	if view.Kind == recorder.KindProcess && !calibration {
		for _, other := range h.Snapshot().Sources {
			if other.Kind == recorder.KindDevice || other.Kind == recorder.KindHost {
				sources = append(sources, other.Source)
			}
		}
	}
	if calibration {
		return p.calibrate(ctx, h, view, path, length)
	}
	h.mutex.Lock()
	err = h.startRecording(path, sources, only)
	tape := h.tape
	h.mutex.Unlock()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.problems, "recording %s to %s; interrupt to end it\n", printable(view.Name), path)
	if view.Kind == recorder.KindProcess {
		p.untilSpoken(ctx, h, view, tape) // the time counts from then: a busy program speaks late
	}
	ctx, cancel := limited(ctx, length)
	defer cancel()
	h.untilEnd(ctx, view.ID)
	if _, err := h.Record(nil, false); err != nil {
		return err
	}
	if view.Kind == recorder.KindProcess && !tape.hasSpoken() {
		return fmt.Errorf("nothing of %s is in %s: it did not answer all the while; record it again for longer, or once it is not busy any more", printable(view.Name), path)
	}
	fmt.Fprintf(p.problems, "recorded: vramscope %s\n", path)
	return nil
}

// untilSpoken waits until a program speaks on the connection that is recorded,
// and says so where that takes long.
func (p *program) untilSpoken(ctx context.Context, h *hub, view *model.SourceView, tape *recording) {
	hasSpoken := func(_ *hub, snapshot *model.Snapshot) bool {
		now := snapshot.Find(view.ID)
		return tape.hasSpoken() || now == nil || now.Status >= model.StatusEnded
	}
	if h.waitUntil(ctx, settleTime, hasSpoken) {
		return
	}
	fmt.Fprintf(p.problems, "%s is busy and does not answer yet: waiting up to %v\n", printable(view.Name), helloTime)
	h.waitUntil(ctx, helloTime, hasSpoken)
}

// limited is the context for so long, 0 for as long as it lasts itself.
func limited(ctx context.Context, length time.Duration) (context.Context, context.CancelFunc) {
	if length > 0 {
		return context.WithTimeout(ctx, length)
	}
	return ctx, func() {}
}

// untilEnd waits for the context's end or the source's.
func (h *hub) untilEnd(ctx context.Context, id string) {
	ticker := time.NewTicker(publishEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.ctx.Done():
			return
		case <-ticker.C:
			if h.hasEnded(id) {
				return
			}
		}
	}
}

// hasEnded says whether a source tells nothing any more.
func (h *hub) hasEnded(id string) bool {
	view := h.Snapshot().Find(id)
	return view == nil || view.Status == model.StatusEnded || view.Status == model.StatusFailed
}

// reach finds a source by its name; for "demo" it starts one where none runs.
func (p *program) reach(ctx context.Context, h *hub, name string) (*model.SourceView, error) {
	if err := p.watchLive(h); err != nil {
		return nil, err
	}
	began := time.Now()
	h.waitUntil(ctx, settleTime, settled)
	view, err := findSource(h.Snapshot(), name)
	if err == nil {
		return p.heard(ctx, h, view, helloTime, began)
	}
	if name != "demo" {
		return nil, err
	}
	var usage usageError
	if errors.As(err, &usage) {
		return nil, err
	}
	p.startDemo(h, nil, "")
	h.waitUntil(ctx, demoTime, func(_ *hub, snapshot *model.Snapshot) bool {
		view, err = findSource(snapshot, name)
		return err == nil
	})
	return view, err
}

// calibrate arms the source's registry of arenas, waits, and has it written. The
// time counts from when the registry is armed: a slow program arms it late.
func (p *program) calibrate(ctx context.Context, h *hub, view *model.SourceView, path string, length time.Duration) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := isNew(absolute); err != nil {
		return err
	}
	hold := p.patiently(commandWait)
	armed, err := h.obey(ctx, view.ID, recorder.CommandRecordOn, recorder.CommandArgs{}, hold)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.problems, "the arenas of %s are recorded from now on; interrupt to write %s\n", printable(view.Name), path)
	during, cancel := limited(ctx, length)
	defer cancel()
	h.untilEnd(during, view.ID)
	if h.hasEnded(view.ID) {
		return endedBeforeCalibration(view, path)
	}
	ack, err := h.obey(context.WithoutCancel(ctx), view.ID, recorder.CommandCalibration, recorder.CommandArgs{Path: absolute}, hold)
	if err != nil {
		if h.hasEnded(view.ID) {
			return endedBeforeCalibration(view, path)
		}
		return err
	}
	if armed.Acted == nil || *armed.Acted { // else somebody else had armed it, and record-off would forget what is recorded
		_, err = h.obey(context.WithoutCancel(ctx), view.ID, recorder.CommandRecordOff, recorder.CommandArgs{}, hold)
	}
	if ack.State != recorder.AckDone {
		return fmt.Errorf("the calibration dump was not written: %s", ack.Why)
	}
	fmt.Fprintf(p.problems, "written: vramscope %s\n", path)
	return err
}

// endedBeforeCalibration says that a program took its arenas with it, and how they
// are had.
func endedBeforeCalibration(view *model.SourceView, path string) error {
	return fmt.Errorf("%s has ended and took what it had recorded with it, so nothing was written to %s: the program itself writes a calibration dump, and must still run then; "+
		"interrupt this earlier, give it a --duration, or let the program end with vramscope_probe.save_calibration(%q)", printable(view.Name), path, path)
}

// helloTime is how long a busy program is waited for that has not said hello: as
// long as a command may wait in it.
const helloTime = commandWait

// obey sends a command and waits for its final answer.
func (h *hub) obey(ctx context.Context, id, name string, args recorder.CommandArgs, hold hold) (*recorder.Ack, error) {
	view := h.Snapshot().Find(id)
	if view == nil {
		return nil, exitError{exitNothing, errors.New("the source is not there any more: vramscope doctor lists those there are")}
	}
	if err := model.Permit(view, name, h.settings.ReadOnly); err != nil {
		if h.hasEnded(id) && !h.settings.ReadOnly {
			return nil, endedUnasked(view)
		}
		return nil, exitError{exitNotPermitted, err}
	}
	outbox := &model.Outbox{TTL: hold.wait.Milliseconds()}
	command, err := outbox.Command(view, name, args, recorder.MonotonicClock()())
	if err != nil {
		return nil, err
	}
	if err := h.Send(id, command); err != nil {
		return nil, err
	}
	var action *model.Action
	answered := func(_ *hub, snapshot *model.Snapshot) bool {
		if view := snapshot.Find(id); view != nil {
			for i := range view.Actions {
				if view.Actions[i].Command.ID == command.ID {
					action = &view.Actions[i]
				}
			}
		}
		return action != nil && action.Final != nil || h.hasEnded(id)
	}
	began := time.Now()
	if hold.say != nil && !h.waitUntil(ctx, sayWaitingAfter, answered) && ctx.Err() == nil {
		hold.say(waitsFor(view, action, hold.wait))
	}
	waited := hold.wait
	h.waitUntil(ctx, waited+noticeTime-time.Since(began), answered)
	if action != nil && action.Final == nil && action.Accepted != nil { // its program answers, and tells when its time is over
		waited += beyondWait
		h.waitUntil(ctx, waited-time.Since(began), answered)
	}
	switch {
	case action != nil && action.Final != nil:
		return action.Final, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case h.hasEnded(id):
		return nil, exitError{exitNothing, fmt.Errorf("%s was sent, and %s has ended without an answer: start it again", model.CommandTitle(name), printable(view.Name))}
	default:
		return nil, fmt.Errorf("%s was sent, but no answer came within %v: the program may be in a long call; look at it with vramscope, or give it longer with --wait", model.CommandTitle(name), waited)
	}
}

// endedUnasked says that a program ended before a command could be sent.
func endedUnasked(view *model.SourceView) error {
	return exitError{exitNothing, fmt.Errorf("%s has ended: start it again", printable(view.Name))}
}
