// Command vramscope shows what GPU memory does inside a program: live beside a
// render, or from the dumps and recordings that runs leave. Its keys make the
// render give memory back.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vramscope/pool/cuda"
	"vramscope/ui"
	"vramscope/ui/grid"
)

// version is set by the linker; a build without it goes by its revision.
var version string

func init() {
	if version != "" {
		return
	}
	version = "unknown"
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			version = setting.Value[:12]
		}
	}
}

// included says which of the parts that a build may leave out are in.
func included() string {
	if !cuda.Included {
		return "CUDA: no"
	}
	return "CUDA: yes, headers " + cuda.Headers()
}

func main() { os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// execute runs the program with those arguments and returns its exit code.
func execute(arguments []string, in *os.File, out, problems io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	p := &program{settings: defaultSettings(), in: in, out: out, problems: problems, lookup: os.LookupEnv}
	root := p.rootCommand()
	root.SetArgs(arguments)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(problems)
	err := root.ExecuteContext(ctx)
	var coded exitError
	if err != nil && !p.understood && !errors.As(err, &coded) {
		err = usageError{err.Error()}
	}
	if errors.Is(err, ui.ErrInterrupted) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return exitInterrupted
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintln(problems, "vramscope: "+printable(err.Error()))
	}
	return exitCode(err)
}

// untilSignal is a context that ends with SIGTERM, SIGINT or SIGHUP. Its cause is
// ui.ErrInterrupted for the latter two.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup, or a shell's &: it stays so, for programs that we start too
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case received := <-signals:
			if received == syscall.SIGTERM {
				cancel(nil)
			} else {
				cancel(ui.ErrInterrupted)
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// printable takes out of a message what a terminal would obey: it may carry
// names from files and programs. Its lines stay lines.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = grid.Sanitize(line)
	}
	return strings.Join(lines, "\n")
}

// program is one run: what the user chose, and where it reads and writes.
type program struct {
	settings   settings
	warnings   []string
	in         *os.File
	out        io.Writer
	problems   io.Writer
	lookup     func(string) (string, bool)
	understood bool   // the command line, up to what a command itself asks of it
	begin      string // ID of the source that the dashboard begins with, "" for the first
}

const exitHelp = `
Exit codes: 0 fine · 1 failed · 2 usage · 3 nothing to watch · 4 not permitted ·
5 below the asked headroom · 130 interrupted. run ends as its program does.
Every flag is also a variable VRAMSCOPE_NAME and a key of the configuration
file; the flag wins, then the variable, then the file.`

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "vramscope [FILE...]",
		Short: "what GPU memory does inside a program",
		Long: `vramscope shows what GPU memory does inside a program: live beside a render,
or from the recordings that runs leave. Without a file it watches everything
that can be seen here: GPUs, and programs that let it in. Where neither is there
it starts a demo render and shows that; c then goes to a real program that
appears.
` + exitHelp,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(command *cobra.Command, _ []string) (err error) {
			p.understood = true
			p.warnings, err = p.settings.resolve(command.Flags(), p.lookup)
			return err
		},
		RunE: func(command *cobra.Command, files []string) error {
			return p.watch(command.Context(), files)
		},
	}
	root.SetVersionTemplate("vramscope {{.Version}} (" + included() + ")\n")
	root.SetFlagErrorFunc(flagError)
	p.settings.addFlags(root)
	root.AddCommand(
		p.demoCommand(), p.hostCommand(), p.recordCommand(), p.reportCommand(), p.diffCommand(), p.renderCommand(), p.checkCommand(),
		p.sendCommand(), p.doctorCommand(), p.runCommand(), p.attachCommand(), p.probeCommand(),
	)
	root.InitDefaultCompletionCmd()
	askForShell(root)
	return root
}

// askForShell has completion refuse what is no shell: the help that it would
// print, a shell would take for the script.
func askForShell(root *cobra.Command) {
	for _, command := range root.Commands() {
		if command.Name() != "completion" {
			continue
		}
		var shells []string
		for _, shell := range command.Commands() {
			shells = append(shells, shell.Name())
		}
		command.Args = cobra.ArbitraryArgs
		command.RunE = func(_ *cobra.Command, arguments []string) error {
			return usageError{fmt.Sprintf("completion takes a shell, not %q: choose %s", strings.Join(arguments, " "), strings.Join(shells, ", "))}
		}
	}
}

// exactly is a check of the number of arguments that names what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != len(names) {
			return usageError{fmt.Sprintf("%s takes %s, %d given; see vramscope %s --help",
				command.Name(), strings.Join(names, " and "), len(arguments), command.Name())}
		}
		return nil
	}
}
