package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vramscope/model"
	"vramscope/sources/probe"
	"vramscope/sources/probe/attach"
	"vramscope/ui/grid"
)

// attachCommand lets the probe into a running Python process.
func (p *program) attachCommand() *cobra.Command {
	wait, headless := 10*time.Second, false
	command := &cobra.Command{
		Use:   "attach PID",
		Short: "let the probe into a running Python process, from Python 3.14 on",
		Long: `attach lets the probe into a Python process that runs, and opens the dashboard
on it. It needs Python 3.14 or later in the process, the same user or root, and
the kernel's leave (kernel.yama.ptrace_scope); where something keeps it out, it
says what. Nothing of the process is stopped, and nothing is forced: its main
thread lets the probe in between two bytecodes. vramscope doctor says which
processes can be reached.`,
		Args: exactly("PID"),
		RunE: func(command *cobra.Command, arguments []string) error {
			pid, err := strconv.Atoi(strings.TrimPrefix(arguments[0], "pid:"))
			switch {
			case err != nil || pid <= 0:
				return usageError{fmt.Sprintf("%q is no process number: name one as ps shows it; vramscope doctor lists the Python processes", arguments[0])}
			case wait <= 0:
				return usageError{fmt.Sprintf("--wait %v: name a time, such as 10s", wait)}
			case p.settings.ReadOnly:
				return exitError{exitNotPermitted, errors.New("attach puts the probe into a program, and --readonly leaves programs alone: leave it out")}
			}
			return p.attach(command.Context(), pid, attach.Options{Wait: wait}, headless)
		},
	}
	command.Flags().DurationVar(&wait, "wait", wait, "how long the process may take to let the probe in")
	command.Flags().BoolVar(&headless, "headless", false, "open no dashboard")
	return command
}

func (p *program) attach(ctx context.Context, pid int, options attach.Options, headless bool) error {
	options.Say = func(text string) { fmt.Fprintln(p.problems, printable(text)) }
	reached, err := letIn(ctx, pid, options)
	if err != nil {
		return attachFailure(err)
	}
	process := reached.Process
	if process.UID != os.Getuid() {
		fmt.Fprintf(p.out, "%s (process %d) lets vramscope in; watch it as its user %d with: vramscope\n", grid.Sanitize(process.Name), pid, process.UID)
		return nil
	}
	if headless || !p.isTerminal() {
		already := ""
		if reached.Already {
			already = " already"
		}
		fmt.Fprintf(p.out, "%s (process %d) lets vramscope in%s; watch it with: vramscope\n", grid.Sanitize(process.Name), pid, already)
		return nil
	}
	h := newHub(ctx, &p.settings)
	if err := p.watchLive(h); err != nil {
		_ = h.close()
		return err
	}
	watchLightly(true)
	p.begin = process.SocketName().ID()
	h.waitUntil(ctx, settleTime, func(_ *hub, snapshot *model.Snapshot) bool { return snapshot.Find(p.begin) != nil })
	return p.show(h)
}

// letIn lets the probe in. A program that has it, and is too busy to answer, is not
// entered a second time: what it waits for is said.
func letIn(ctx context.Context, pid int, options attach.Options) (*attach.Reached, error) {
	process, err := attach.Inspect(pid)
	sockets, wrong := probe.Directory()
	if err == nil && wrong == nil && process.HasProbe(sockets) {
		if _, err := probe.Greet(ctx, filepath.Join(sockets, process.SocketName().String())); isSilent(err) {
			options.Say(silence(process.SocketName()))
			return &attach.Reached{Process: process, Already: true, Directory: sockets}, nil
		}
	}
	return attach.Attach(ctx, pid, options)
}

// attachFailure gives what keeps the probe out its exit code.
func attachFailure(err error) error {
	var gone *attach.GoneError
	var user *attach.UserError
	var ptrace *attach.PtraceError
	var disabled *attach.DisabledError
	switch {
	case errors.As(err, &gone):
		return exitError{exitNothing, err}
	case errors.As(err, &user), errors.As(err, &ptrace), errors.As(err, &disabled):
		return exitError{exitNotPermitted, err}
	}
	return err
}
