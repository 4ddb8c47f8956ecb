package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vramscope/sources/probe/python"
)

// exitRunFailed is the exit code of a run where vramscope itself failed: what
// it starts has the others to itself.
const exitRunFailed = 125

// runFlags are the choices of a run on the command line.
type runFlags struct {
	record  string
	scopes  bool
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
on to your own; it cannot enter a Python with -I, -E or -S. It lies in your cache
directory, so that Python compiles it once. A script that names no interpreter is
run by /bin/sh, as elsewhere.

algan hands scripts to a daemon of its own, where this run would not see them: it
is told to render them here (ALGAN_USE_DAEMON=0), so they start cold, unless that
variable is set. What the daemon renders is seen where it was started with
vramscope run -- python -m algan.daemon.

With --record this process keeps what the probes tell, the last minutes of a
program that is killed too, and torch's memory snapshot is written beside it
where an allocation on a device fails. Scopes that only the program's own recorder
knows, such as algan's, are recorded with --scopes, or once somebody presses m.

Exit codes: the program's own, 128 and the signal's number where one ended it;
125 vramscope failed before the start · 126 cannot be executed · 127 not found.`,
		Args: cobra.ArbitraryArgs,
		PersistentPreRunE: func(command *cobra.Command, arguments []string) error {
			return runFailure(command.Root().PersistentPreRunE(command, arguments))
		},
		RunE: func(command *cobra.Command, argv []string) error {
			if err := flags.check(command.Flags().Changed, argv); err != nil {
				return runFailure(err)
			}
			return p.run(command.Context(), flags, argv)
		},
	}
	command.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return runFailure(flagError(command, err))
	})
	set := command.Flags()
	set.SetInterspersed(false) // what follows the command is its own
	set.StringVar(&flags.record, "record", "", "record the program to a `file`, which must not exist; .zst compresses")
	set.BoolVar(&flags.scopes, "scopes", false, "record scopes and their allocations from the start, as m does in the dashboard; algan keeps each allocation, in about half a KiB of host memory, by which a long run grows")
	set.IntVar(&flags.history, "torch-history", 0, "let torch keep the stacks of its last `N` allocations and frees on a device, for snapshots; slows each of them, and the first snapshot loads torch's compiler, which takes seconds")
	set.Float64Var(&flags.rate, "rate", 0, "samples a second of a program that is watched, `1 to 10`")
	set.BoolVar(&flags.hide, "hide-argv", false, "leave the command line out of what the probe tells, for recordings that are shared")
	set.BoolVar(&flags.quiet, "quiet", false, "say nothing at the start and the end")
	return command
}

// check refuses what cannot be meant; given says whether a flag stands on the
// command line.
func (f *runFlags) check(given func(flag string) bool, argv []string) error {
	switch {
	case len(argv) == 0:
		return usageError{"run takes the command to start, such as vramscope run -- python render.py"}
	case given("record") && f.record == "":
		return usageError{"--record names no file: see whether a variable in its place is empty, or leave --record out"}
	case f.history < 0:
		return usageError{fmt.Sprintf("--torch-history %d: name how many allocations, such as 100000", f.history)}
	case given("rate") && !(f.rate >= slowestRate && f.rate <= fastestRate):
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
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(p.out, python.Module())
			return err
		},
	}
}
