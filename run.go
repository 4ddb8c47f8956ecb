package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vramscope/sources/probe/launch"
	"vramscope/sources/probe/python"
)

// exitRunFailed is the exit code of a run where vramscope itself failed: what
// it starts has the others to itself.
const exitRunFailed = 125

// runFlags are the choices of a run on the command line.
type runFlags struct {
	record  string
	history int
	rate    float64
	hide    bool
	quiet   bool
}

// The samples a second that may be asked of a probe.
const (
	slowestRate = 1
	fastestRate = 10
)

// runCommand starts a program with the probe in it.
func (p *program) runCommand() *cobra.Command {
	flags := &runFlags{}
	command := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT...]",
		Short: "start a program with the probe in every Python process of it",
		Long: `run starts a program in this terminal, with its own input, output, signals and
exit code, so that each Python process in it that loads a GPU library lets
vramscope in: watch it from another terminal with vramscope. The program is not
changed. The probe enters through PYTHONPATH and a sitecustomize.py that hands
on to your own; it cannot enter a Python with -I, -E or -S.

With --record this process keeps what the probes tell, the last minutes of a
program that is killed too, and torch's memory snapshot is written beside it
where an allocation fails.

Exit codes: the program's own, 128 and the signal's number where one ended it;
125 vramscope failed before the start · 126 cannot be executed · 127 not found.`,
		Args: cobra.ArbitraryArgs,
		PersistentPreRunE: func(command *cobra.Command, arguments []string) error {
			return runFailure(command.Root().PersistentPreRunE(command, arguments))
		},
		RunE: func(command *cobra.Command, argv []string) error {
			if err := flags.check(argv); err != nil {
				return runFailure(err)
			}
			return p.run(command.Context(), flags, argv)
		},
	}
	command.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return runFailure(usageError{err.Error() + "; vramscope run --help lists what there is"})
	})
	set := command.Flags()
	set.SetInterspersed(false) // what follows the command is its own
	set.StringVar(&flags.record, "record", "", "record the program to a `file`, which must not exist; .zst compresses")
	set.IntVar(&flags.history, "torch-history", 0, "let torch keep the stacks of its last `N` allocations and frees, for snapshots; slows each of them")
	set.Float64Var(&flags.rate, "rate", 0, "samples a second of a program that is watched, `1 to 10`")
	set.BoolVar(&flags.hide, "hide-argv", false, "leave the command line out of what the probe tells, for recordings that are shared")
	set.BoolVar(&flags.quiet, "quiet", false, "say nothing at the start and the end")
	return command
}

func (f *runFlags) check(argv []string) error {
	switch {
	case len(argv) == 0:
		return usageError{"run takes the command to start, such as vramscope run -- python render.py"}
	case f.history < 0:
		return usageError{fmt.Sprintf("--torch-history %d: name how many allocations, such as 100000", f.history)}
	case f.rate != 0 && !(f.rate >= slowestRate && f.rate <= fastestRate):
		return usageError{fmt.Sprintf("--rate %g: choose %d to %d samples a second", f.rate, slowestRate, fastestRate)}
	}
	return nil
}

// runFailure gives a failure of ours before the program has started its code.
func runFailure(err error) error {
	if err == nil {
		return nil
	}
	return exitError{exitRunFailed, err}
}

// run starts the program and waits for it. Its error holds the exit code.
func (p *program) run(interrupted context.Context, flags *runFlags, argv []string) error {
	// Once the program runs, a signal is its to answer, and we end with it.
	ctx := context.WithoutCancel(interrupted)
	watchLightly(true)
	door, err := launch.Open(python.WriteTo)
	if err != nil {
		return runFailure(err)
	}
	defer door.Close()
	options := launch.Options{HideArgv: flags.hide, Rate: flags.rate, TorchHistory: flags.history}
	if options.Snapshots, err = flags.snapshots(time.Now()); err != nil {
		return runFailure(err)
	}
	older := snapshotsAt(options.Snapshots)
	if interrupted.Err() != nil {
		return context.Cause(interrupted)
	}
	var tape *runRecording
	if flags.record != "" {
		if tape, err = p.recordRun(ctx, flags.record, door); err != nil {
			return runFailure(err)
		}
	}
	if !flags.quiet {
		p.sayBefore(flags, argv)
	}
	child, err := launch.Start(argv, door.Environment(os.Environ(), options))
	if err != nil {
		if tape != nil {
			_, _, _ = tape.end("the program did not start")
		}
		return exitError{startCode(err), err}
	}
	if tape != nil {
		tape.program.Store(int64(child.PID))
	}
	exit, err := child.Wait()
	if tape != nil {
		heard, going, failed := tape.end(exit.String())
		if !flags.quiet {
			p.sayRecorded(flags.record, heard, going, failed)
		}
	}
	if !flags.quiet {
		p.saySnapshots(options.Snapshots, older)
	}
	switch {
	case err != nil:
		return runFailure(err)
	case exit.Status() != exitFine:
		return exitError{code: exit.Status()}
	}
	return nil
}

// startCode is the exit code for a program that could not be started.
func startCode(err error) int {
	var start *launch.StartError
	if errors.As(err, &start) {
		return start.Code()
	}
	return exitRunFailed
}

// snapshots is what the names of torch's snapshots at a failure begin with, ""
// where none was asked for: the recording's name, or one of their own.
func (f *runFlags) snapshots(now time.Time) (string, error) {
	switch {
	case f.record != "":
		stem := strings.TrimSuffix(strings.TrimSuffix(f.record, ".zst"), ".vscope")
		return filepath.Abs(stem)
	case f.history > 0:
		return filepath.Abs("vramscope-" + now.Format("20060102-150405"))
	}
	return "", nil
}

// sayBefore says what a user would not expect, before the program has the
// terminal.
func (p *program) sayBefore(flags *runFlags, argv []string) {
	if isolation := launch.Isolated(argv); isolation != nil {
		p.remark("%s", isolation)
	}
	if flags.history > 0 {
		p.remark("torch keeps the stacks of its last %d allocations and frees: each of them takes longer and the process grows by what the stacks take, so compare no times with a run without --torch-history", flags.history)
	}
}

// sayRecorded says where the recording is, or why there is none.
func (p *program) sayRecorded(path string, heard, going int, failed error) {
	switch {
	case failed != nil:
		p.remark("the recording broke off, the program did not notice: %v", failed)
	case heard == 0:
		p.remark("nothing was recorded: the probe starts in a Python process that loads a GPU library, such as torch, cupy or jax, and none of this run did")
	case going > 0:
		p.remark("recorded: vramscope %s; processes of this run that go on and are recorded no further: %d", path, going)
	default:
		p.remark("recorded: vramscope %s", path)
	}
}

// saySnapshots names the snapshots that were written at a failed allocation;
// older ones were there before.
func (p *program) saySnapshots(prefix string, older []string) {
	for _, path := range snapshotsAt(prefix) {
		if !slices.Contains(older, path) {
			p.remark("torch's memory when an allocation failed: vramscope %s", path)
		}
	}
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

// remark is a line of ours among those of the program.
func (p *program) remark(format string, values ...any) {
	fmt.Fprintln(p.problems, "vramscope: "+printable(fmt.Sprintf(format, values...)))
}

// probeCommand prints the probe.
func (p *program) probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "probe",
		Short: "print the Python module that lets vramscope in: import it where run and attach cannot",
		Long: `probe prints the probe as one Python file for Python 3.9 and later, which needs
nothing but the standard library:

    vramscope probe > vramscope_probe.py

A program that imports it lets vramscope in, and may call its scope, arena,
note_peak, poll and save_calibration.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(p.out, python.Module())
			return err
		},
	}
}
