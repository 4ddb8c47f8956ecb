package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vramscope/model"
	"vramscope/pool"
	"vramscope/recorder"
	"vramscope/sources/local"
	"vramscope/sources/probe"
)

// demoFlags are the choices of a demo render on the command line.
type demoFlags struct {
	options  local.Options
	memory   byteSize
	tier     string
	never    bool
	child    bool // it was started by a dashboard and ends with it
	headless bool // no dashboard
}

func (f *demoFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.Int64Var(&f.options.Seed, "seed", 0, "what decides everything that looks like chance")
	flags.Var(&f.memory, "memory", "size of the device that it plays; a sixteenth of it is really used (default 512MiB)")
	flags.Float64Var(&f.options.Speed, "speed", 10, "frames a second; -1 leaves no pause between frames")
	flags.Float64Var(&f.options.Hz, "hz", 10, "samples a second")
	flags.Int64Var(&f.options.Frames, "frames", 0, "end after so many frames")
	flags.DurationVar(&f.options.For, "duration", 0, "end after so long")
	flags.StringVar(&f.tier, "tier", "", "tier of the pool: A, B, C or fallback; by default the environment and the device choose")
	flags.BoolVar(&f.never, "no-oom", false, "never run out of memory")
	flags.BoolVar(&f.headless, "headless", false, "run the render without a dashboard, to be watched from another terminal")
	flags.BoolVar(&f.child, "child", false, "")
	_ = flags.MarkHidden("child")
}

// resolve checks the flags and fills in the options.
func (f *demoFlags) resolve() error {
	f.options.Memory = int64(f.memory)
	if f.never {
		f.options.FullEvery, f.options.RescuedEvery, f.options.FailedEvery = local.Never, local.Never, local.Never
	}
	var err error
	f.options.Tier, err = parseTier(f.tier)
	return err
}

// parseTier reads a --tier; "" lets the environment and the device choose.
func parseTier(text string) (pool.Tier, error) {
	switch strings.ToLower(text) {
	case "":
		return pool.TierNone, nil
	case "a":
		return pool.TierA, nil
	case "b":
		return pool.TierB, nil
	case "c":
		return pool.TierC, nil
	case "fallback":
		return pool.TierFallback, nil
	}
	return pool.TierNone, usageError{fmt.Sprintf("--tier %q: choose A, B, C or fallback", text)}
}

// arguments are the flags as a child's command line.
func (f *demoFlags) arguments() []string {
	arguments := []string{"demo", "--child", fmt.Sprintf("--seed=%d", f.options.Seed), fmt.Sprintf("--speed=%g", f.options.Speed),
		fmt.Sprintf("--hz=%g", f.options.Hz), fmt.Sprintf("--frames=%d", f.options.Frames), fmt.Sprintf("--duration=%v", f.options.For)}
	if f.memory > 0 {
		arguments = append(arguments, fmt.Sprintf("--memory=%d", int64(f.memory)))
	}
	if f.tier != "" {
		arguments = append(arguments, "--tier="+f.tier)
	}
	if f.never {
		arguments = append(arguments, "--no-oom")
	}
	return arguments
}

func defaultDemo() *demoFlags {
	return &demoFlags{options: local.Options{Speed: 10, Hz: 10}}
}

// demoCommand opens the dashboard on a render to watch.
func (p *program) demoCommand() *cobra.Command {
	flags := &demoFlags{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "open the dashboard on a render that runs in host memory",
		Long: `demo starts a small render with a real arena and a real pool in host memory,
and opens the dashboard on it. It does the same things in the same order for
the same seed: it fills its arena, runs out of memory, recovers, and does not.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := notZero(command.Flags(), "memory", "speed", "hz"); err != nil {
				return err
			}
			if err := flags.resolve(); err != nil {
				return err
			}
			return p.demo(command.Context(), flags)
		},
	}
	flags.add(command)
	return command
}

func (p *program) demo(ctx context.Context, flags *demoFlags) error {
	surroundings := local.Surroundings{Version: "vramscope " + version}
	switch {
	case flags.child:
		surroundings.Ready, surroundings.Parent = local.Announce, p.in
		return demoError(local.Serve(ctx, flags.options, surroundings))
	case flags.headless || !p.isTerminal():
		surroundings.Ready = func(path string) {
			fmt.Fprintf(p.out, "the demo render runs as process %d; watch it with: vramscope\n", os.Getpid())
		}
		return demoError(local.Serve(ctx, flags.options, surroundings))
	}
	h := newHub(ctx, &p.settings)
	machine := &local.Machine{}
	h.attach(machine, model.SourceInfo{ID: machine.ID(), Kind: recorder.KindHost, Name: "host"})
	h.spawn(func() { p.startDemo(h, flags, "") })
	watchLightly(true)
	return p.show(h)
}

// demoError tells a wrong option from a failure.
func demoError(err error) error {
	var option *local.OptionError
	if errors.As(err, &option) {
		return usageError{option.Error()}
	}
	return err
}

// startDemo starts a demo render in a process of its own and watches it until
// the hub closes; nil flags are the defaults. The note, if any, says in place of
// what it runs.
func (p *program) startDemo(h *hub, flags *demoFlags, note string) {
	if flags == nil {
		flags = defaultDemo()
	}
	id, err := h.startRender(flags.arguments(), "demo render")
	switch {
	case err != nil && h.ctx.Err() == nil:
		h.fail(demoError(err))
	case err == nil && note != "":
		h.mutex.Lock()
		h.standIn = id
		h.mutex.Unlock()
		h.note(id, note)
	}
}

// startRender starts this program with those arguments as a render in a process
// of its own and watches it until the hub closes. id is that of its source. The
// error is a *local.ChildError, or the hub's end.
func (h *hub) startRender(arguments []string, name string) (id string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	child, err := local.Spawn(h.ctx, append([]string{program}, arguments...))
	if err != nil {
		return "", err
	}
	source := probe.NewSource(child.Path())
	h.spawn(func() {
		select {
		case <-h.ctx.Done():
			child.Stop()
		case <-child.Ended():
			child.Stop() // removes what a killed one left
			if err := child.Err(); err != nil {
				h.note(source.ID(), err.Error())
			}
		}
	})
	h.attach(source, model.SourceInfo{ID: source.ID(), Kind: recorder.KindProcess, Name: name, Own: true})
	return source.ID(), nil
}

// note puts a remark into the log.
func (h *hub) note(id, text string) {
	now := recorder.MonotonicClock()()
	record := &recorder.Note{Head: recorder.Head{Src: id, Ns: now}, Level: "warning", Text: text}
	select {
	case h.in <- model.Envelope{Source: id, Record: record}:
	case <-h.ctx.Done():
	}
}

// demoTime bounds how long a command waits for a demo that it started.
const demoTime = 10 * time.Second
