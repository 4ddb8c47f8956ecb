package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vramscope/sources/probe/attach"
	"vramscope/sources/probe/launch"
)

// keptOut is one sentence on what keeps the probe out of a Python process of a run,
// "" where nothing is seen to.
func keptOut(process *attach.Process) string {
	if isolation := launch.IsolatedPython(process.Command()); isolation != nil && !process.Embedded {
		return isolation.String()
	}
	if bypass := launch.BypassOf(process.PID); bypass != nil {
		return bypass.String()
	}
	return ""
}

// missed is a Python process of a run that the probe could not enter.
type missed struct {
	who, why   string
	hasLibrary bool // it has loaded a GPU library
}

// lookout looks at the processes of a run from time to time: once they have ended,
// nobody can tell why no probe was in them.
type lookout struct {
	door  *launch.Door
	stop  context.CancelFunc
	ended sync.WaitGroup
	found *missed // the looks', until they have ended
}

// The looks at a run: soon at first, for programs that end soon.
const (
	firstLook  = 100 * time.Millisecond
	rarestLook = time.Minute
)

// watchKeptOut begins the looks at the processes of a door. They end once spoke is
// closed: a run of which a probe speaks has nothing to explain.
func watchKeptOut(ctx context.Context, door *launch.Door, spoke <-chan struct{}) *lookout {
	ctx, stop := context.WithCancel(ctx)
	l := &lookout{door: door, stop: stop}
	l.ended.Go(func() {
		for pause := firstLook; ; pause = min(2*pause, rarestLook) {
			select {
			case <-time.After(pause):
				l.look()
			case <-spoke:
				return
			case <-ctx.Done():
				return
			}
		}
	})
	return l
}

// look keeps the first process that it finds, and rather one with a GPU library.
func (l *lookout) look() {
	pids, err := l.door.Processes()
	if err != nil || l.found != nil && l.found.hasLibrary {
		return
	}
	for _, pid := range pids {
		process, err := attach.Inspect(pid)
		if err != nil {
			continue
		}
		why := keptOut(process)
		has := why != "" && process.GPULibrary() != ""
		if why != "" && (l.found == nil || has) {
			l.found = &missed{fmt.Sprintf("%s (process %d)", process.Name, pid), why, has}
		}
	}
}

// end ends the looks and says what was found, "" where nothing was.
func (l *lookout) end() string {
	l.stop()
	l.ended.Wait()
	if l.found == nil {
		return ""
	}
	return l.found.who + ": " + l.found.why
}
