package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/sources/local"
	"vramscope/sources/probe"
	"vramscope/sources/probe/attach"
	"vramscope/sources/probe/launch"
	"vramscope/themes"
	"vramscope/ui"
	"vramscope/ui/plain"
	"vramscope/ui/widget"
)

// watch opens the dashboard on files, or on everything that can be seen here.
func (p *program) watch(ctx context.Context, arguments []string) error {
	files, moments := p.splitMoments(arguments)
	for _, path := range files {
		if err := readable(path); err != nil {
			return notASource(path, err)
		}
	}
	if len(files) > 0 && !p.isTerminal() {
		return p.reportFiles(ctx, files, false, newSizing())
	}
	if !p.isTerminal() {
		return p.watchPlainly(ctx)
	}
	h := newHub(ctx, &p.settings)
	if err := p.openFiles(h, files); err != nil {
		_ = h.close()
		return err
	}
	if len(files) == 0 {
		if err := p.watchLive(h); err != nil {
			_ = h.close()
			return err
		}
		p.demoWhereNothingIs(h)
		watchLightly(true)
	}
	return p.showAt(h, moments)
}

// sourceName is a SOURCE as other commands take it.
var sourceName = regexp.MustCompile(`^((pid:)?[0-9]+|gpu:[0-9]+|(gpu:)?GPU-[0-9A-Fa-f-]+)$`)

// notASource says of a name that is no file, but looks like a SOURCE, how to
// come to that.
func notASource(name string, err error) error {
	if _, missing := os.Lstat(name); missing == nil || !sourceName.MatchString(name) {
		return err
	}
	return usageError{fmt.Sprintf("there is no file %s, and a program or GPU is not named here: start vramscope without it, and choose with c", name)}
}

// splitMoments takes FILE@MOMENT apart: the files, and by the IDs of their
// sources the moments to begin with.
func (p *program) splitMoments(arguments []string) (files []string, moments map[string]dump.Moment) {
	moments = map[string]dump.Moment{}
	for _, argument := range arguments {
		path, text := splitMoment(argument)
		files = append(files, path)
		if moment, err := dump.ParseMoment(text); err == nil && text != "" {
			moments["file:"+path] = moment
		}
	}
	return files, moments
}

// openFiles opens what can be opened; what cannot is a warning as long as
// something else is shown.
func (p *program) openFiles(h *hub, files []string) error {
	var refused []error
	for _, path := range files {
		if err := h.Open(path); err != nil {
			refused = append(refused, err)
			p.warnings = append(p.warnings, err.Error())
		}
	}
	if len(refused) > 0 && len(refused) == len(files) {
		return refused[0]
	}
	return nil
}

// watchLive watches the programs, the devices and the memory of this machine.
func (p *program) watchLive(h *hub) error {
	if err := h.discover(); err != nil {
		p.warnings = append(p.warnings, err.Error())
	}
	p.watchMachine(h)
	return nil
}

// watchMachine watches the devices and the memory of this machine.
func (p *program) watchMachine(h *hub) {
	h.watchDevices()
	machine := &local.Machine{}
	h.attach(machine, model.SourceInfo{ID: machine.ID(), Kind: recorder.KindHost, Name: "host"})
}

// demoWhereNothingIs starts a demo render once it is clear that there is
// neither a program nor a GPU to watch here. Where a program is about to come
// that is said instead.
func (p *program) demoWhereNothingIs(h *hub) {
	if coming := comingProgram(); coming != nil {
		p.warnings = append(p.warnings, fmt.Sprintf("%s (process %d) was started by vramscope run: it is seen here once it has loaded a GPU library", coming.Name, coming.PID))
		return
	}
	h.spawn(func() {
		if h.waitUntil(h.ctx, settleTime, settled) && !anythingToWatch(h.Snapshot()) {
			p.startDemo(h, nil, "no GPU and no program with a probe was found here: this is the demo render")
		}
	})
}

// comingProgram is a Python process whose probe waits for its first GPU
// library, nil if there is none or another program is there already.
func comingProgram() *attach.Process {
	directory, err := probe.Directory()
	if err != nil {
		return nil
	}
	if sockets, err := os.ReadDir(directory); err != nil || len(sockets) > 0 {
		return nil
	}
	pids, err := launch.Processes()
	if err != nil {
		return nil
	}
	for _, pid := range pids {
		process, err := attach.Inspect(pid)
		if err == nil && process.SocketDirectory() == directory && keptOut(process) == "" {
			return process
		}
	}
	return nil
}

// anythingToWatch says whether there is a program or a GPU that tells numbers.
func anythingToWatch(snapshot *model.Snapshot) bool {
	for _, view := range snapshot.Sources {
		if (view.Kind == recorder.KindProcess || view.Kind == recorder.KindDevice) && len(view.Sets) > 0 {
			return true
		}
	}
	return false
}

// show runs the dashboard over a hub until the user quits.
func (p *program) show(h *hub) error { return p.showAt(h, nil) }

// showAt does the same, beginning at those moments of memory dumps.
func (p *program) showAt(h *hub, moments map[string]dump.Moment) error {
	options, terminal, err := p.look()
	if err != nil {
		_ = h.close()
		return err
	}
	options.Warnings, options.Moments, options.Source, options.StandIn = p.warnings, moments, p.begin, h.StandIn
	if h.hasFiles() {
		terminal.Frames = ui.FramesFile
	}
	h.watchSelf()
	shown := ui.Run(h.ctx, h, terminal, options)
	if errors.Is(context.Cause(h.ctx), ui.ErrInterrupted) {
		shown = ui.ErrInterrupted
	}
	if broken := h.close(); broken != nil {
		return broken
	}
	return shown
}

// look is how the dashboard looks, by the settings and the terminal.
func (p *program) look() (ui.Options, ui.Terminal, error) {
	chosen, err := p.theme()
	if err != nil {
		return ui.Options{}, ui.Terminal{}, err
	}
	profile := p.profile()
	unit := widget.Seconds
	if p.settings.Unit == "frames" {
		unit = widget.Frames
	}
	options := ui.Options{
		Themes: append([]themes.Theme{chosen}, othersThan(chosen.Name)...), Profile: profile,
		ASCII: p.settings.ASCII || p.isPlainLocale(), Mouse: !p.settings.NoMouse, ReadOnly: p.settings.ReadOnly,
		Reserve: int64(p.settings.Reserve), Refresh: p.settings.Refresh, Unit: unit, Place: placeByKey,
	}
	return options, ui.Terminal{Input: p.in, Output: p.out, Profile: profile, NoSync: p.settings.NoSync}, nil
}

func othersThan(name string) (others []themes.Theme) {
	for _, theme := range themes.All() {
		if theme.Name != name {
			others = append(others, theme)
		}
	}
	return others
}

// watchPlainly says once, as text, what can be seen here: the answer where
// there is no terminal to draw a dashboard in.
func (p *program) watchPlainly(ctx context.Context) error {
	h := newHub(ctx, &p.settings)
	if err := p.watchLive(h); err != nil {
		_ = h.close()
		return err
	}
	h.waitUntil(ctx, settleTime, settled)
	snapshot := h.Snapshot()
	if err := h.close(); err != nil {
		return err
	}
	fmt.Fprint(p.out, plain.Overview(snapshot, int64(p.settings.Reserve)))
	if !anythingToWatch(snapshot) {
		for _, name := range silentPrograms(snapshot) {
			return exitError{exitNothing, fmt.Errorf("nothing tells numbers here yet: %s", silence(name))}
		}
		return exitError{code: exitNothing, cause: errors.New("there is nothing to watch here: no GPU and no program with a probe; try `vramscope demo`")}
	}
	return nil
}
