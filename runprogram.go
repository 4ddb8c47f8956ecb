package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"vramscope/sources/probe"
	"vramscope/sources/probe/launch"
	"vramscope/sources/probe/python"
)

// programRun is a program that is started, from before its start to after its
// end. What it says stands among the lines of the program: little, and only
// before and after.
type programRun struct {
	*program
	flags   *runFlags
	door    *launch.Door
	options launch.Options
	tape    *runRecording // nil where nothing is recorded
	lookout *lookout      // as long as something is recorded
	handed  *launch.HandOffs
	older   []string // snapshots that were there before
	kills   int64    // by the kernel for want of memory, before
	counted bool     // whether kills is known
}

// run starts the program and waits for it. Its error holds the exit code.
func (p *program) run(ctx context.Context, flags *runFlags, argv []string) error {
	watchLightly(true)
	// A closed pipe behind our own messages must not take the program's exit
	// code away; nor is it ignored, since the program would inherit that.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	r, err := p.prepareRun(ctx, flags)
	if err != nil {
		if ctx.Err() != nil {
			return err // interrupted before the start
		}
		return runFailure(err)
	}
	defer r.door.Close()
	defer r.handed.Close()
	r.sayBefore(argv)
	// What came of that has come; from now on it is from outside, and passed on.
	signal.Stop(broken)
	signal.Notify(broken, syscall.SIGPIPE)
	child, err := launch.Start(argv, r.door.Environment(withSocketsOfHere(os.Environ()), r.options))
	if err != nil {
		if r.tape != nil {
			_, _, _ = r.tape.end("the program did not start", launch.Exit{})
		}
		return exitError{startCode(err), err}
	}
	signal.Notify(broken, syscall.SIGPIPE) // where we were started to ignore it, the start has undone this
	if r.tape != nil {
		r.tape.program.Store(int64(child.PID))
	}
	exit, err := child.Wait()
	r.finish(exit)
	switch {
	case err != nil:
		return runFailure(err)
	case exit.Status() != exitFine:
		return exitError{code: exit.Status()}
	}
	return nil
}

// withSocketsOfHere is an environment whose relative place for sockets is an
// absolute one: a program that goes elsewhere has its sockets where they are
// looked for.
func withSocketsOfHere(environment []string) []string {
	for i, variable := range environment {
		directory, isPlace := strings.CutPrefix(variable, probe.DirectoryVariable+"=")
		if !isPlace || directory == "" {
			continue
		}
		if absolute, err := filepath.Abs(directory); err == nil {
			environment[i] = probe.DirectoryVariable + "=" + absolute
		}
	}
	return environment
}

// prepareRun makes everything that can fail before the program starts.
func (p *program) prepareRun(ctx context.Context, flags *runFlags) (*programRun, error) {
	r := &programRun{program: p, flags: flags,
		options: launch.Options{HideArgv: flags.hide, Rate: flags.rate, TorchHistory: flags.history, Recorded: flags.record != "", Scopes: flags.scopes}}
	var err error
	if r.options.Snapshots, err = flags.snapshots(time.Now()); err != nil {
		return nil, err
	}
	r.older = snapshotsAt(r.options.Snapshots)
	r.kills, r.counted = launch.OutOfMemoryKills()
	if r.door, err = launch.Open(python.Files()); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		r.door.Close()
		return nil, context.Cause(ctx)
	}
	r.handed = launch.WatchHandOffs(os.Environ())
	r.options.HandOffs = r.handed.Directory()
	if flags.record != "" {
		// Once the program runs, a signal is its to answer, and the recording
		// ends with it.
		if r.tape, err = p.recordRun(context.WithoutCancel(ctx), flags.record, r.door); err != nil {
			r.handed.Close()
			r.door.Close()
			return nil, err
		}
		r.lookout = watchKeptOut(context.WithoutCancel(ctx), r.door, r.tape.spoke)
	}
	return r, nil
}

// startCode is the exit code for a program that could not be started.
func startCode(err error) int {
	var start *launch.StartError
	if errors.As(err, &start) {
		return start.Code()
	}
	return exitRunFailed
}

// sayBefore says what a user would not expect, before the program has the
// terminal.
func (r *programRun) sayBefore(argv []string) {
	if isolation := launch.Isolated(argv); isolation != nil {
		r.remark("%s", isolation)
	}
	if _, err := probe.Directory(); err != nil {
		r.remark("nothing will see the program: %v", err)
	}
	if r.flags.scopes {
		r.remark("scopes and their allocations are recorded from the start: algan keeps each allocation in about half a KiB of host memory, by which a long run grows until vramscope send PID record-off")
	}
	if r.flags.history > 0 {
		r.remark("where torch has a device, it keeps the stacks of its last %d allocations and frees there: each of them takes longer and the process grows by what the stacks take, and the first snapshot loads torch's compiler, for which the program waits seconds; so compare no times with a run without --torch-history; of memory on the CPU it keeps none", r.flags.history)
	}
}

// finish ends the recording and says what the run has left.
func (r *programRun) finish(exit launch.Exit) {
	ended := exit.String()
	if kills, known := launch.OutOfMemoryKills(); known && r.counted && exit.PerhapsOutOfMemory(r.kills, kills) {
		ended += fmt.Sprintf(", perhaps for want of host memory: processes that the kernel killed for that meanwhile: %d (oom_kill of /proc/vmstat)", kills-r.kills)
		r.remark("the program ended: %s", ended)
	}
	var snapshots []string
	for _, path := range snapshotsAt(r.options.Snapshots) {
		if !slices.Contains(r.older, path) {
			snapshots = append(snapshots, path)
		}
	}
	if r.tape != nil {
		heard, going, err := r.tape.end(ended, exit)
		if heard == 0 && err == nil && len(snapshots) > 0 {
			r.remark("nothing else was recorded: the program ended before its probe was heard")
		} else {
			r.sayRecorded(heard, going, err)
		}
	}
	r.sayHandedOff()
	for _, path := range snapshots {
		r.remark("torch's memory when an allocation failed: vramscope %s", r.flags.asNamed(path))
	}
}

// sayRecorded says where the recording is, or why there is none.
func (r *programRun) sayRecorded(heard, going int, failed error) {
	missed := r.lookout.end()
	switch {
	case failed != nil:
		r.remark("the recording broke off, the program did not notice: %v", failed)
	case heard == 0 && r.nowhere() != nil:
		r.remark("nothing was recorded, since no probe could open a socket: %v", r.nowhere())
	case heard == 0 && missed != "":
		r.remark("nothing was recorded, since no probe spoke: of %s", missed)
	case heard == 0:
		r.remark("nothing was recorded, since no probe spoke: it comes with a GPU library, such as torch, cupy or jax, that a Python process without -I, -E and -S loads, and needs a moment; this run had none, or it ended before")
	case going > 0:
		r.remark("recorded: vramscope %s; processes of this run that go on and are recorded no further: %d", r.flags.record, going)
	default:
		r.remark("recorded: vramscope %s", r.flags.record)
	}
}

// nowhere is why no probe of the program could have a socket by now, nil where
// nothing is known to stand in the way.
func (r *programRun) nowhere() error {
	_, err := probe.Directory()
	return err
}

// remark is a line of ours among those of the program.
func (r *programRun) remark(format string, values ...any) {
	if !r.flags.quiet {
		fmt.Fprintln(r.problems, "vramscope: "+printable(fmt.Sprintf(format, values...)))
	}
}

// snapshots is what the names of torch's snapshots at a failure begin with, ""
// where none was asked for: the recording's name without what tells its format,
// or one of their own.
func (f *runFlags) snapshots(now time.Time) (string, error) {
	switch {
	case f.record != "":
		return filepath.Abs(stemOf(f.record))
	case f.history > 0:
		return filepath.Abs("vramscope-" + now.Format("20060102-150405"))
	}
	return "", nil
}

// formatEndings are what names of recordings end with.
var formatEndings = []string{".vscope", ".ndjson", ".jsonl", ".json"}

// stemOf is a recording's path without what tells its format.
func stemOf(path string) string {
	path = strings.TrimSuffix(path, ".zst")
	for _, ending := range formatEndings {
		if stem := strings.TrimSuffix(path, ending); stem != path && filepath.Base(path) != ending {
			return stem
		}
	}
	return path
}

// asNamed is a snapshot's path, absolute or not as the recording beside it was
// named.
func (f *runFlags) asNamed(snapshot string) string {
	if f.record == "" || filepath.IsAbs(f.record) {
		return snapshot
	}
	return filepath.Join(filepath.Dir(f.record), filepath.Base(snapshot))
}

// snapshotsAt are the snapshots whose paths begin in that way.
func snapshotsAt(prefix string) (paths []string) {
	if prefix == "" {
		return nil
	}
	directory, stem := filepath.Split(prefix)
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if rest, ours := strings.CutPrefix(entry.Name(), stem+".oom-"); ours && strings.HasSuffix(rest, ".pickle") {
			paths = append(paths, filepath.Join(directory, entry.Name()))
		}
	}
	return paths
}
