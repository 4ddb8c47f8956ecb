package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"vramscope/themes"
)

// How often the renderer looks for a new picture, times a second. It is a
// compromise that was measured at 120×32: looking 60 times costs 1.2 % of a core
// for nothing, which beside a render is too much; on a file, where nothing runs,
// a key's bytes shall be at the terminal within 25 ms.
const (
	FramesLive = 30
	FramesFile = 60
)

// ErrInterrupted is the end of the dashboard by a signal that asks for it
// (SIGINT, SIGHUP).
var ErrInterrupted = errors.New("interrupted")

// Terminal is where the dashboard is drawn. The zero value is the process's
// own standard input and output.
type Terminal struct {
	Input   io.Reader
	Output  io.Writer
	Profile themes.Profile
	NoSync  bool // do not bracket frames with synchronized output
	Frames  int  // how often a new picture is looked for, times a second; 0 is FramesLive
}

// Run shows the dashboard until the user quits, ctx ends, or a signal comes.
// It owns the terminal meanwhile and always restores it: after a panic, a
// signal, and across a suspension. The error is nil when the user quit or
// SIGTERM asked for it, ErrInterrupted for SIGINT and SIGHUP, and otherwise
// says in a sentence what broke.
func Run(ctx context.Context, feed Feed, terminal Terminal, options Options) error {
	if terminal.Input == nil {
		terminal.Input = os.Stdin
	}
	if terminal.Output == nil {
		terminal.Output = os.Stdout
	}
	dashboard := newDashboard(feed, options)
	program := tea.NewProgram(dashboard,
		tea.WithContext(ctx),
		tea.WithInput(terminal.Input),
		tea.WithOutput(terminal.Output),
		tea.WithFPS(cmp.Or(terminal.Frames, FramesLive)),
		tea.WithColorProfile(colorProfile(terminal.Profile)),
		tea.WithFilter(newMouseFilter().filter),
	)
	stop := make(chan struct{})
	defer close(stop)
	go guarded(program, func() { wakeOnData(program, feed, stop) })
	go guarded(program, func() { obeySignals(program, stop) })
	if !terminal.NoSync {
		// Over SSH the library does not ask whether frames may be bracketed,
		// and a terminal that does not know the brackets ignores them.
		go program.Send(tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: ansi.ModeReset})
	}
	final, err := program.Run()
	if ended, ok := final.(*Dashboard); ok && ended.hungUp {
		return ErrInterrupted
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the dashboard broke (its trace stands above); what it watched goes on: %w", err)
	case ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("the terminal failed: %w", err)
}

// colorProfile is the profile that lets the grid's own sequences through
// unchanged.
func colorProfile(profile themes.Profile) colorprofile.Profile {
	switch profile {
	case themes.TrueColor:
		return colorprofile.TrueColor
	case themes.Ansi256:
		return colorprofile.ANSI256
	case themes.Ansi16:
		return colorprofile.ANSI
	}
	return colorprofile.ASCII
}

// guarded runs a goroutine of ours so that its panic, too, restores the
// terminal: the program is asked to panic in its own loop.
func guarded(program *tea.Program, run func()) {
	defer func() {
		if cause := recover(); cause != nil {
			program.Send(panicMsg{cause})
		}
	}()
	run()
}

// panicMsg carries a panic of another goroutine into the update loop, where
// the library restores the terminal and prints a trace.
type panicMsg struct{ cause any }

// dataMsg says that a newer snapshot is there. It carries nothing: the update
// loop takes the newest one.
type dataMsg struct{}

// hangupMsg says that the terminal has gone.
type hangupMsg struct{}

// wakeOnData turns the feed's tokens into messages.
func wakeOnData(program *tea.Program, feed Feed, stop <-chan struct{}) {
	for {
		select {
		case _, open := <-feed.Wake():
			program.Send(dataMsg{})
			if !open {
				return
			}
		case <-stop:
			return
		}
	}
}

// obeySignals handles what the library does not: a suspension asked for from
// outside or by key, and a terminal that hangs up.
func obeySignals(program *tea.Program, stop <-chan struct{}) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTSTP, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	for {
		select {
		case received := <-signals:
			switch received {
			case syscall.SIGHUP:
				program.Send(hangupMsg{})
			case syscall.SIGQUIT:
				// The trace that somebody asks for is to be read on a terminal
				// that is in order.
				_ = program.ReleaseTerminal()
				signal.Reset(syscall.SIGQUIT)
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
			default:
				suspend(program)
			}
		case <-stop:
			return
		}
	}
}

// suspend gives the terminal back, stops this process, and takes the terminal
// again when it is continued. Without the wait the terminal would be taken
// before the process stopped.
func suspend(program *tea.Program) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := program.ReleaseTerminal(); err != nil {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	<-continued
	_ = program.RestoreTerminal()
	program.Send(resumedMsg{})
}

// resumedMsg says that the terminal is ours again: everything must be drawn
// anew.
type resumedMsg struct{}

// askForSuspension suspends the whole job, as the terminal would.
func askForSuspension() tea.Msg {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	return nil
}
