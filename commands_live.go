package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
)

// checkCommand is a headroom check for scripts.
func (p *program) checkCommand() *cobra.Command {
	minimum := byteSize(0)
	asJSON := false
	command := &cobra.Command{
		Use:   "check --min-headroom SIZE [SOURCE]",
		Short: "exit with 5 where the headroom is below a size",
		Long: `check reads the headroom of every device that can be seen here, or of one
SOURCE (pid:N, gpu:N, a GPU's UUID, demo), once, and ends with 5 where one is
below --min-headroom, with 3 where there is none.`,
		Args: atMostOne("SOURCE"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if !command.Flags().Changed("min-headroom") {
				return usageError{"check takes --min-headroom SIZE, such as --min-headroom 2GiB"}
			}
			return p.check(command.Context(), int64(minimum), arguments, asJSON)
		},
	}
	command.Flags().Var(&minimum, "min-headroom", "the least headroom")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// headroomRow is one line of a check.
type headroomRow struct {
	Source   string `json:"source"`
	Name     string `json:"name"`
	Device   string `json:"device,omitempty"` // the GPU's UUID, or "host"
	Headroom *int64 `json:"headroom_bytes"`
	AgeNs    int64  `json:"age_ns,omitempty"`   // of all parts of it, where the device was read before
	AtLeast  bool   `json:"at_least,omitempty"` // some allocators do not tell what they have free: a lower bound
	Formula  string `json:"formula,omitempty"`
	Only     string `json:"only,omitempty"` // of several pools, how much is only through which
	Why      string `json:"why,omitempty"`  // the headroom is not known
	Below    bool   `json:"below"`

	minimum int64 // that was asked, in bytes
}

func (p *program) check(ctx context.Context, minimum int64, arguments []string, asJSON bool) error {
	h := newHub(ctx, &p.settings)
	if err := p.watchLive(h); err != nil {
		_ = h.close()
		return err
	}
	began := time.Now()
	h.waitUntil(ctx, settleTime, settled)
	views, err := p.viewsOf(ctx, h, arguments, began)
	snapshot := h.Snapshot()
	if closed := h.close(); closed != nil && err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	var rows []headroomRow
	below, knownRows := false, 0
	for _, view := range views {
		if view.Kind != recorder.KindProcess && view.Kind != recorder.KindDevice {
			continue
		}
		for _, row := range rowsOf(view, snapshot.Beside(view), int64(p.settings.Reserve), minimum) {
			if row.Headroom != nil {
				below = below || row.Below
				knownRows++
			}
			rows = append(rows, row)
		}
	}
	if asJSON {
		encoder := json.NewEncoder(p.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"min_headroom_bytes": minimum, "below": below, "sources": rows}); err != nil {
			return err
		}
	} else {
		for _, row := range rows {
			fmt.Fprintln(p.out, row.text())
		}
	}
	switch {
	case knownRows == 0:
		return exitError{exitNothing, noHeadroom(rows)}
	case below:
		return exitError{code: exitBelow}
	}
	return nil
}

// viewsOf are the source that is named, or all that are seen where none is. A busy
// one is waited for since the look began.
func (p *program) viewsOf(ctx context.Context, h *hub, arguments []string, began time.Time) ([]*model.SourceView, error) {
	if len(arguments) == 0 {
		return h.Snapshot().Sources, nil
	}
	view, err := findSource(h.Snapshot(), arguments[0])
	if err == nil {
		view, err = p.heard(ctx, h, view, helloTime, began)
	}
	return []*model.SourceView{view}, err
}

// noHeadroom says what is to be done where no row has a headroom.
func noHeadroom(rows []headroomRow) error {
	switch {
	case len(rows) == 1:
		return errors.New("no headroom is known here: it says above why, and vramscope doctor what keeps the driver's numbers out")
	case len(rows) > 1:
		return fmt.Errorf("no headroom is known here, of none of %d sources: each says above why, and vramscope doctor what keeps the driver's numbers out", len(rows))
	}
	return errors.New("no headroom is known here: there is no GPU and no program with a probe; start one with `vramscope demo`")
}

// rowsOf holds the headroom on every device of a source against the least that is
// asked. A program on a GPU is not held to the machine's own memory.
func rowsOf(view *model.SourceView, beside []*model.SourceView, reserve, minimum int64) (rows []headroomRow) {
	devices := view.Devices(beside)
	if len(devices) > 1 {
		devices = slices.DeleteFunc(devices, func(device string) bool { return device == model.HostDevice })
	}
	if len(devices) == 0 {
		devices = []string{""} // its first, wherever that is
	}
	for _, device := range devices {
		headroom := model.HeadroomOf(view, beside, device, reserve)
		row := rowOf(view, &headroom, minimum)
		if len(devices) > 1 {
			row.Name += " on " + view.DeviceName(device)
		}
		rows = append(rows, row)
	}
	return rows
}

// rowOf holds a headroom against the least that is asked. One of which only a
// lower bound is known has to reach it with that.
func rowOf(view *model.SourceView, headroom *model.Headroom, minimum int64) headroomRow {
	row := headroomRow{Source: view.ID, Name: view.Name, Device: headroom.Device, Why: headroom.Bytes.Why, minimum: minimum}
	if view.Hello == nil && view.StatusWhy != "" {
		row.Why = view.StatusWhy
	}
	if headroom.AtLeast.Known {
		bytes := headroom.AtLeast.Value
		row.Headroom, row.Formula, row.Below = &bytes, headroom.Formula(), bytes < minimum
		row.AgeNs = headroom.Age
		row.AtLeast, row.Only = !headroom.Bytes.Known, headroom.Only()
	}
	return row
}

func (r headroomRow) text() string {
	name := grid.Sanitize(r.Name)
	if r.Headroom == nil {
		return name + ": headroom not known: " + grid.Sanitize(r.Why)
	}
	state := "enough"
	if r.Below {
		state = "BELOW " + model.FormatBytes(r.minimum)
	}
	if r.Only != "" {
		state += "; " + grid.Sanitize(r.Only)
	}
	return name + ": " + r.Formula + ": " + state
}

// findSource finds a source as a SOURCE argument names it: pid:N or N, gpu:N, a
// GPU's UUID, a name, or demo.
func findSource(snapshot *model.Snapshot, text string) (*model.SourceView, error) {
	var found []*model.SourceView
	for _, view := range snapshot.Sources {
		if matchesSource(view, text) {
			found = append(found, view)
		}
	}
	if gpu, ok := strings.CutPrefix(text, "gpu:"); ok && len(found) == 0 {
		if ordinal, err := strconv.Atoi(gpu); err == nil {
			for _, view := range snapshot.Sources {
				if view.Kind == recorder.KindDevice && view.Hello != nil && len(view.Hello.GPUs) > 0 && view.Hello.GPUs[0].Ordinal == ordinal {
					found = append(found, view)
				}
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if pid, err := strconv.Atoi(strings.TrimPrefix(text, "pid:")); err == nil {
			if name, silent := silentPrograms(snapshot)[pid]; silent {
				return nil, errors.New(silence(name))
			}
		}
		return nil, exitError{exitNothing, fmt.Errorf("there is no source %q here: vramscope doctor lists those there are", text)}
	}
	return nil, usageError{fmt.Sprintf("%q names %d sources: name one by pid:N; vramscope doctor lists them", text, len(found))}
}

func matchesSource(view *model.SourceView, text string) bool {
	pid := strings.TrimPrefix(text, "pid:")
	if number, err := strconv.Atoi(pid); err == nil {
		if view.Hello == nil && view.File == "" { // of a program that does not answer yet
			name, ok := socketOf(view)
			return ok && name.PID == number
		}
		return view.Kind == recorder.KindProcess && view.Hello != nil && view.Hello.PID == number
	}
	return view.ID == text || view.ID == "gpu:"+text || view.Name == text ||
		text == "demo" && view.Kind == recorder.KindProcess && view.Hello != nil && view.Hello.Seed != nil
}

// recordCommand records a source to a file, without a terminal too.
func (p *program) recordCommand() *cobra.Command {
	output, length, calibration := "", time.Duration(0), false
	command := &cobra.Command{
		Use:   "record -o FILE SOURCE",
		Short: "record a source to a file",
		Long: `record writes what a SOURCE (pid:N, gpu:N, a GPU's UUID, demo) tells into a
recording, until --duration is over, the source ends, or you interrupt it. A
name that ends in .zst is compressed. demo starts a demo render where none runs.

It asks the program for nothing: what a program keeps by itself once it is asked
to, as algan's own recorder does, begins with "vramscope send SOURCE record-on",
with m in the dashboard, or with --calibration.`,
		Args: exactly("SOURCE"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if output == "" {
				return usageError{"record takes -o FILE, such as -o run.vscope.zst"}
			}
			if length < 0 || length == 0 && command.Flags().Changed("duration") {
				return usageError{fmt.Sprintf("--duration %v: name a time from now on, or leave it out", length)}
			}
			return p.recordSource(command.Context(), output, arguments[0], length, calibration)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "the `file` to write; it must not exist")
	command.Flags().DurationVar(&length, "duration", 0, "end after so long")
	command.Flags().BoolVar(&calibration, "calibration", false, "write a calibration dump instead: every arena recorded meanwhile")
	return command
}

// sendCommand does one command from a script.
func (p *program) sendCommand() *cobra.Command {
	asJSON, yes, path, wait := false, false, "", commandWait
	command := &cobra.Command{
		Use:   "send SOURCE COMMAND",
		Short: "do one command in a program: reclaim, force-reclaim, rebuild, reset-peak, headroom, ...",
		Args:  exactly("SOURCE", "COMMAND"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if path == "" && command.Flags().Changed("path") {
				return usageError{"--path names no file: see whether a variable in its place is empty, or leave --path out"}
			}
			if wait < time.Millisecond || wait > longestWait {
				return usageError{fmt.Sprintf("--wait %v: name a time of at most %v, such as 2m", wait, longestWait)}
			}
			return p.send(command.Context(), arguments[0], arguments[1], path, wait, yes, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	command.Flags().BoolVar(&yes, "yes", false, "do not ask before a command that changes what the program measures or holds")
	command.Flags().DurationVar(&wait, "wait", wait, "how long the command may wait for the program's main thread; after that it does not run")
	command.Flags().StringVar(&path, "path", "", "the `file` that a snapshot or calibration goes to; a new one in the working directory by default")
	return command
}
