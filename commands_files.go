package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/ui"
	"vramscope/ui/layout"
	"vramscope/ui/plain"
)

// reportCommand prints what files hold.
func (p *program) reportCommand() *cobra.Command {
	asJSON := false
	sizing := newSizing()
	command := &cobra.Command{
		Use:   "report FILE...",
		Short: "print what a recording, a memory dump or a calibration file holds",
		Args:  atLeastOneFile,
		RunE: func(command *cobra.Command, files []string) error {
			if err := sizing.read(); err != nil {
				return err
			}
			return p.reportFiles(command.Context(), files, asJSON, sizing)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a file")
	sizing.addTo(command)
	return command
}

func atLeastOneFile(command *cobra.Command, files []string) error {
	if len(files) == 0 {
		return usageError{command.Name() + " takes at least one FILE"}
	}
	return nil
}

func (p *program) reportFiles(ctx context.Context, files []string, asJSON bool, sizing *sizing) error {
	for i, path := range files {
		snapshot, id, err := p.load(ctx, path)
		if err != nil {
			return err
		}
		if view := snapshot.Find(id); view != nil && view.Dump != nil {
			if err := sizing.only(path); err != nil {
				return err
			}
			if err := p.reportDump(view.Dump, i, asJSON); err != nil {
				return err
			}
			continue
		} else if view != nil && view.Costs != nil {
			if err := p.reportCosts(view.Costs, i, asJSON, sizing); err != nil {
				return err
			}
			continue
		}
		if err := sizing.only(path); err != nil {
			return err
		}
		report, ok := model.ReportOf(snapshot, id)
		if !ok {
			return fmt.Errorf("%s holds nothing that can be reported", path)
		}
		if asJSON {
			encoder := json.NewEncoder(p.out)
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(report); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(p.out)
		}
		fmt.Fprint(p.out, plain.Report(&report))
	}
	return nil
}

// reportDump prints what a memory dump holds.
func (p *program) reportDump(index *dump.Index, before int, asJSON bool) error {
	report := index.Report()
	if asJSON {
		encoder := json.NewEncoder(p.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	if before > 0 {
		fmt.Fprintln(p.out)
	}
	return report.WriteText(p.out)
}

// diffCommand compares two moments of memory dumps.
func (p *program) diffCommand() *cobra.Command {
	asJSON := false
	sizing := newSizing()
	command := &cobra.Command{
		Use:   "diff A B",
		Short: "compare two memory dumps, two moments: A@peak, A@12345 (event), A@12.5s, or two calibration files",
		Args:  exactly("A", "B"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := sizing.read(); err != nil {
				return err
			}
			return p.diff(command.Context(), arguments[0], arguments[1], asJSON, sizing)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	sizing.addTo(command)
	return command
}

func (p *program) diff(ctx context.Context, a, b string, asJSON bool, sizing *sizing) error {
	if both, err := p.diffCosts(ctx, a, b, asJSON, sizing); both || err != nil {
		return err
	}
	if err := sizing.only(a); err != nil {
		return err
	}
	loaded := map[string]*dump.Index{}
	var sides [2]dump.Side
	for i, argument := range []string{a, b} {
		path, moment := dump.SplitMoment(argument)
		if loaded[path] == nil {
			snapshot, id, err := p.load(ctx, path)
			if err != nil {
				return err
			}
			view := snapshot.Find(id)
			if view == nil || view.Dump == nil {
				return usageError{path + " is no memory dump: diff compares two PyTorch memory snapshots, or two calibration files; recordings are compared with d in the dashboard"}
			}
			loaded[path] = view.Dump
		}
		sides[i] = dump.Side{Index: loaded[path], Device: -1, Name: argument, Moment: moment}
	}
	compared, err := dump.NewDiff(sides[0], sides[1])
	if err != nil {
		return usageError{err.Error()}
	}
	if asJSON {
		encoder := json.NewEncoder(p.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(compared)
	}
	return compared.WriteText(p.out)
}

// renderCommand draws one frame to standard output.
func (p *program) renderCommand() *cobra.Command {
	view, size, at, source := "overview", "", "", ""
	sizing, arenas := newSizing(), &arenaChoice{}
	command := &cobra.Command{
		Use:   "render FILE[@MOMENT]",
		Short: "print one frame of the dashboard on a file, or on a moment of it",
		Args:  exactly("FILE"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := sizing.read(); err != nil {
				return err
			}
			return p.render(command.Context(), arguments[0], view, size, at, source, sizing, arenas)
		},
	}
	command.Flags().StringVar(&view, "view", view, "view: "+strings.ToLower(strings.Join(layout.ViewNames(), ", ")))
	command.Flags().StringVar(&size, "size", "120x32", "columns and rows, as `WxH`")
	command.Flags().StringVar(&at, "at", "", "`moment` of the file: a time since its begin such as 12.5s; of a recording a frame such as f412, of a memory dump an event such as 1785, or peak; the end by default")
	command.Flags().StringVar(&source, "source", "", "which `source` of a recording to draw, such as pid:4711 or a name; the first by default")
	command.Flags().StringVar(&arenas.id, "arena", "", "number of the arena to look at, as vramscope report lists it, by `ID`; the newest that says most by default")
	command.Flags().BoolVar(&arenas.all, "all-arenas", false, "sum the scopes of all arenas up by name")
	sizing.addTo(command)
	return command
}

func (p *program) render(ctx context.Context, argument, view, size, at, source string, sizing *sizing, arenas *arenaChoice) error {
	path, atEnd := splitMoment(argument)
	if at == "" {
		at = atEnd
	}
	width, height, err := parseSize(size)
	if err != nil {
		return err
	}
	if !isView(view) {
		return usageError{fmt.Sprintf("--view %q: choose %s", view, strings.ToLower(strings.Join(layout.ViewNames(), ", ")))}
	}
	snapshot, id, err := p.load(ctx, path)
	if err != nil {
		return err
	}
	options, _, err := p.look()
	if err != nil {
		return err
	}
	options.View, options.Sizing = view, sizing.question()
	switch whole := snapshot.Find(id); {
	case whole != nil && whole.Costs != nil:
		if at != "" || source != "" {
			return usageError{path + " is a calibration file, which has no moments and no sources: leave --at and --source out"}
		}
		if err := arenas.none(path + " is a calibration file"); err != nil {
			return err
		}
	case whole != nil && whole.Dump != nil:
		if err := sizing.only(path); err != nil {
			return err
		}
		if source != "" {
			return usageError{path + " is a memory dump, which has no sources: leave --source out"}
		}
		if err := arenas.none(path + " is a memory dump"); err != nil {
			return err
		}
		if options.Moments, err = momentOfDump(id, whole.Dump, at); err != nil {
			return err
		}
	default:
		if err := sizing.only(path); err != nil {
			return err
		}
		drawn, err := sourceIn(snapshot, source)
		if err != nil {
			return err
		}
		if options.At, err = parseMoment(snapshot, drawn, at); err != nil {
			return err
		}
		if err := arenas.choose(&options, drawn); err != nil {
			return err
		}
		if source != "" {
			options.Source = drawn.ID
		} else if drawn != nil {
			p.sayOthers(snapshot, drawn)
		}
	}
	_, err = fmt.Fprintln(p.out, ui.Frame(snapshot, options, width, height, p.isColored()))
	return err
}

func isView(name string) bool {
	for _, known := range layout.ViewNames() {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

// parseSize reads "120x32".
func parseSize(text string) (width, height int, err error) {
	var rest string
	n, _ := fmt.Sscanf(strings.ToLower(text), "%dx%d%s", &width, &height, &rest)
	if n != 2 || width < 1 || height < 1 || width > 1000 || height > 1000 {
		return 0, 0, usageError{fmt.Sprintf("--size %q: write columns and rows from 1 to 1000, such as 120x32", text)}
	}
	return width, height, nil
}

// sourceIn finds a source of a recording by its name; "" is the first. It is nil
// where the recording has none.
func sourceIn(snapshot *model.Snapshot, name string) (*model.SourceView, error) {
	if name == "" {
		if len(snapshot.Sources) == 0 {
			return nil, nil
		}
		return snapshot.Sources[0], nil
	}
	var found []*model.SourceView
	var names []string
	for _, view := range snapshot.Sources {
		if matchesSource(view, name) || view.Src == name || view.Src == "gpu:"+name {
			found = append(found, view)
		}
		names = append(names, nameIn(snapshot, view))
	}
	if len(found) != 1 {
		return nil, usageError{fmt.Sprintf("--source %q names %d sources of the file: choose %s", name, len(found), strings.Join(names, ", "))}
	}
	return found[0], nil
}

// nameIn is how to name a source of a recording. A process that has executed another
// program leaves two of one number.
func nameIn(snapshot *model.Snapshot, view *model.SourceView) string {
	if view.Kind != recorder.KindProcess || view.Hello == nil || view.Hello.PID <= 0 {
		return cmp.Or(view.Src, view.ID)
	}
	same := func(other *model.SourceView) bool {
		return other != view && other.Hello != nil && other.Hello.PID == view.Hello.PID
	}
	if slices.ContainsFunc(snapshot.Sources, same) && view.Src != "" {
		return fmt.Sprintf("%s (%s)", view.Src, view.Name)
	}
	return fmt.Sprintf("pid:%d (%s)", view.Hello.PID, view.Name)
}

// sayOthers says which programs a recording holds besides the one that is drawn.
func (p *program) sayOthers(snapshot *model.Snapshot, drawn *model.SourceView) {
	var others []string
	for _, view := range snapshot.Sources {
		if view != drawn && view.Kind == recorder.KindProcess {
			others = append(others, nameIn(snapshot, view))
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(p.problems, "drawn is %s; --source draws another program of the file: %s\n", printable(nameIn(snapshot, drawn)), printable(strings.Join(others, ", ")))
	}
}

// parseMoment finds a moment of a source in monotonic ns, 0 for the end, which is
// that of the last record of any source.
func parseMoment(snapshot *model.Snapshot, view *model.SourceView, text string) (int64, error) {
	if text == "" || view == nil {
		return 0, nil
	}
	wrong := usageError{fmt.Sprintf("--at %q: write a time since the begin such as 12.5s, or a frame such as f412", text)}
	if frame, ok := strings.CutPrefix(text, "f"); ok {
		number, err := strconv.ParseInt(frame, 10, 64)
		if err != nil {
			return 0, wrong
		}
		ns, known := view.FrameStart(number)
		if !known {
			return 0, usageError{fmt.Sprintf("--at %q: the recording has no such frame", text)}
		}
		return ns, nil
	}
	since, err := time.ParseDuration(text)
	if err != nil || since < 0 {
		return 0, wrong
	}
	last := view.Now
	for _, other := range snapshot.Sources {
		last = max(last, other.Now)
	}
	if length := time.Duration(last - view.First); since > length {
		return 0, usageError{fmt.Sprintf("--at %q: the recording lasts %v, name a moment within", text, length.Round(time.Millisecond))}
	}
	return view.First + int64(since), nil
}

// splitMoment takes FILE@MOMENT apart. What is the name of a file as it stands
// has no moment.
func splitMoment(argument string) (path, moment string) {
	if _, err := os.Stat(argument); err == nil {
		return argument, ""
	}
	path, found := dump.SplitMoment(argument)
	if path == argument {
		return path, ""
	}
	return path, found.String()
}

// momentOfDump is the moment of a dump to begin with, by the ID of its source;
// it says why there is no such moment.
func momentOfDump(id string, index *dump.Index, text string) (map[string]dump.Moment, error) {
	moment, err := dump.ParseMoment(text)
	if main := index.Main(); err == nil && main >= 0 {
		_, err = index.Devices[main].Event(moment)
	}
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return map[string]dump.Moment{id: moment}, nil
}

// readable says in one sentence why a file cannot be opened.
func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usageError{fmt.Sprintf("there is no file %s: check its name", path)}
	case errors.Is(err, fs.ErrPermission):
		return exitError{exitNotPermitted, fmt.Errorf("%s cannot be read: you have no permission", path)}
	case err != nil:
		return err
	case info.IsDir():
		return usageError{path + " is a directory: name a file in it"}
	case !info.Mode().IsRegular():
		return usageError{path + " is no regular file: name a recording or a snapshot"}
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return exitError{exitNotPermitted, fmt.Errorf("%s cannot be read: you have no permission", path)}
	}
	if err != nil {
		return err
	}
	return file.Close()
}
