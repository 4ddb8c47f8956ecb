package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/probe"
	"vramscope/ui/grid"
)

// doctorCommand says what can be seen here, what cannot, why, and what to do.
func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "say what can be seen here, what cannot, and what to do about it",
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.doctor(command.Context())
		},
	}
}

func (p *program) doctor(ctx context.Context) error {
	say := func(good bool, what, how string) {
		mark := "ok  "
		if !good {
			mark = "no  "
		}
		fmt.Fprintln(p.out, mark+grid.Sanitize(what))
		if how != "" {
			fmt.Fprintln(p.out, "    "+grid.Sanitize(how))
		}
	}
	say(true, fmt.Sprintf("vramscope %s, %s/%s", version, runtime.GOOS, runtime.GOARCH), "")
	if directory, err := probe.Directory(); err != nil {
		say(false, "sockets of programs", err.Error())
	} else {
		say(true, "sockets of programs are looked for in "+directory, "")
	}
	if os.Getenv("LD_BIND_NOW") != "" {
		say(false, "LD_BIND_NOW is set", "the loader then binds every NVML symbol at once, and an older driver would end this program at its start: unset it")
	}
	doctorCUDA(ctx, say)
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
	silent := silentPrograms(snapshot)
	programs := 0
	for _, view := range snapshot.Sources {
		good, how := diagnosis(view)
		say(good, view.Kind+" "+view.Name+" ("+view.ID+"): "+view.Status.String(), how)
		if view.Kind == recorder.KindProcess {
			programs++
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(silent)) {
		if snapshot.Find(silent[pid].ID()) != nil {
			continue // it was told of
		}
		programs++
		say(false, "process "+silent[pid].ID(), silence(silent[pid]))
	}
	if programs == 0 {
		say(false, "no program with a probe runs here", "start one with `vramscope run -- python render.py`, or `vramscope demo --headless`")
	}
	return diagnosePythons(snapshot, silent, say)
}

// diagnosis says whether a source tells numbers, and why not.
func diagnosis(view *model.SourceView) (good bool, how string) {
	switch {
	case view.Trouble != "":
		return false, view.Trouble
	case view.StatusWhy != "" && view.Status != model.StatusLive:
		return false, view.StatusWhy
	case view.Kind == recorder.KindProcess && view.Status == model.StatusLive && len(view.Sets) == 0:
		return true, "it holds no memory that a probe sees now: look again once it renders or allocates"
	case len(view.Sets) == 0 && view.Status >= model.StatusEnded:
		return false, "it is gone: start it again"
	case len(view.Sets) == 0:
		return false, "it tells no numbers yet: look again in a moment"
	}
	return true, ""
}
