package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
)

// sendable are the commands that a script may send.
var sendable = []string{
	recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild, recorder.CommandResetPeak,
	recorder.CommandHeadroom, recorder.CommandSnapshot, recorder.CommandRecordOn, recorder.CommandRecordOff,
	recorder.CommandCalibration,
}

// send does one command in a program and prints its answer.
func (p *program) send(ctx context.Context, source, name, path string, wait time.Duration, yes, asJSON bool) error {
	if !slices.Contains(sendable, name) {
		return usageError{fmt.Sprintf("there is no command %q: choose %s", name, strings.Join(sendable, ", "))}
	}
	args := recorder.CommandArgs{}
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		args.Path = absolute
	}
	if name == recorder.CommandHeadroom {
		args.Fraction = 0.15
	}
	h := newHub(ctx, &p.settings)
	view, action, err := p.sendWith(ctx, h, source, name, args, wait, yes)
	if closed := h.close(); closed != nil && err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if asJSON {
		if err := p.printJSON(answerOf(view, action)); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(p.out, grid.Sanitize(action.Line()))
		for _, line := range action.Detail() {
			fmt.Fprintln(p.out, "  "+grid.Sanitize(line))
		}
	}
	if action.Final.State == recorder.AckExpired {
		fmt.Fprintf(p.problems, "it was waited for %v: give it longer, such as with --wait %v\n", wait, min(4*wait, longestWait))
	}
	if action.Final.State != recorder.AckDone {
		return exitError{code: exitFailed}
	}
	return nil
}

func (p *program) sendWith(ctx context.Context, h *hub, source, name string, args recorder.CommandArgs, wait time.Duration, yes bool) (*model.SourceView, *model.Action, error) {
	if err := p.watchLive(h); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	view, err := target(ctx, h, source, min(settleTime, max(wait/2, shortestLook)))
	if err == nil {
		view, err = p.heard(ctx, h, view, wait, began)
	}
	if err != nil {
		return nil, nil, err
	}
	if args.Path != "" && writesHere(view, name) {
		if err := isNew(args.Path); err != nil {
			return nil, nil, err
		}
	}
	if model.CommandAsks(name) && !yes {
		if err := p.confirm(model.Confirmation(name, []*model.SourceView{view})); err != nil {
			return nil, nil, err
		}
	}
	if args.Path == "" {
		args.Path = placeHere(view, name, time.Now())
	}
	ack, err := h.obey(ctx, view.ID, name, args, p.patiently(wait))
	if err != nil {
		return nil, nil, err
	}
	return view, &model.Action{Command: recorder.Command{Name: name}, Final: ack}, nil
}

// target finds the program that a command is for, as soon as every program has said
// who it is, or after so long: one without memory on a GPU tells no numbers, and a
// driver that is asked for them may take its time.
func target(ctx context.Context, h *hub, source string, patience time.Duration) (view *model.SourceView, err error) {
	found := func(h *hub, snapshot *model.Snapshot) bool {
		view, err = findSource(snapshot, source)
		return err == nil && view.Hello != nil || settled(h, snapshot)
	}
	heard := h.waitUntil(ctx, patience, func(h *hub, snapshot *model.Snapshot) bool {
		return h.socketsHeard(snapshot) && found(h, snapshot)
	})
	if !heard {
		h.showSilent()
	}
	if view, err = findSource(h.Snapshot(), source); err != nil {
		return nil, err
	}
	h.untilNumbers(ctx, view.ID, firstNumbersTime)
	if now := h.Snapshot().Find(view.ID); now != nil {
		view = now
	}
	return view, nil
}

// shortestLook is how long a program that is well has to say hello, however short a
// command may wait.
const shortestLook = time.Second

// firstNumbersTime is how long the numbers of a program that has said hello are
// waited for, which come with it.
const firstNumbersTime = 250 * time.Millisecond

// isNew refuses a file that is there already.
func isNew(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already and is not replaced: name another file, or move that one away", path)
	}
	return nil
}

// writesHere says whether a command writes a file that is seen from here: a
// program in a container may know another of that name.
func writesHere(view *model.SourceView, name string) bool {
	return fileEndings[name] != "" && view.Hello != nil && len(view.Hello.NSPIDs) <= 1
}

// fileEndings are those of the files that commands write.
var fileEndings = map[string]string{recorder.CommandSnapshot: ".pickle", recorder.CommandCalibration: ".vscope"}

// placeHere is a new file in the working directory for a command that writes one.
// "" leaves it to the program, which may be in a container and know no such
// directory.
func placeHere(view *model.SourceView, name string, now time.Time) string {
	path, err := filepath.Abs(".")
	if err != nil {
		return ""
	}
	return placeIn(path, view, name, now)
}

// placeIn is the same in another directory.
func placeIn(directory string, view *model.SourceView, name string, now time.Time) string {
	ending, writes := fileEndings[name]
	if !writes || view.Hello == nil || len(view.Hello.NSPIDs) > 1 {
		return ""
	}
	return filepath.Join(directory, fmt.Sprintf("vramscope-%d-%s%s", view.Hello.PID, now.Format("20060102-150405"), ending))
}

// placeByKey is the same for a command that was typed in the dashboard.
func placeByKey(view *model.SourceView, name string) string {
	directory, err := recordingDirectory()
	if err != nil {
		return ""
	}
	return placeIn(directory, view, name, time.Now())
}

// confirm asks on the terminal; without one, --yes is needed.
func (p *program) confirm(question string) error {
	if !p.isTerminal() {
		return usageError{"this asks first, and there is no terminal to ask in: add --yes"}
	}
	fmt.Fprintf(p.problems, "%s\nDo it? [y/N] ", printable(question))
	answer, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return exitError{exitFailed, errors.New("nothing was done")}
	}
	return nil
}
