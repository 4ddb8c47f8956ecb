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

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/probe"
	"vramscope/sources/probe/attach"
	"vramscope/sources/probe/launch"
)

// A Python program that compiles kernels may hold its interpreter for a quarter of
// a minute, and its probe with it: the socket lets in, and nobody answers.

// silentPrograms are the programs that offer a socket here and have not said
// hello by the time of the snapshot, by process number.
func silentPrograms(snapshot *model.Snapshot) map[int]probe.Name {
	silent := map[int]probe.Name{}
	for _, name := range silentSockets(snapshot) {
		silent[name.PID] = name
	}
	return silent
}

// silentSockets are those programs by their sockets' paths.
func silentSockets(snapshot *model.Snapshot) map[string]probe.Name {
	directory, err := probe.Directory()
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	silent := map[string]probe.Name{}
	for _, entry := range entries {
		name, ok := probe.ParseName(entry.Name())
		if ok && !hasSaidHello(snapshot, name) && name.PID != os.Getpid() && !name.Gone() {
			silent[filepath.Join(directory, entry.Name())] = name
		}
	}
	return silent
}

// hasSaidHello says whether a program has told who it is by the time of the
// snapshot.
func hasSaidHello(snapshot *model.Snapshot, name probe.Name) bool {
	view := snapshot.Find(name.ID())
	return view != nil && view.Hello != nil
}

// silentFor is how often a socket is looked at, and silent, before its program is
// shown without a hello: the first look may come just as it opens.
const silentFor = 2

// watchSilent shows programs that let us in and do not answer, by what their
// command lines call them, and waits for their hello.
func (h *hub) watchSilent() {
	looks := map[string]int{}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-h.ctx.Done():
			return
		}
		silent := silentSockets(h.Snapshot())
		for path := range looks {
			if _, still := silent[path]; !still {
				delete(looks, path)
			}
		}
		for path, name := range silent {
			if looks[path]++; looks[path] < silentFor {
				continue
			}
			h.attachSilent(path, name)
		}
	}
}

// attachSilent shows a program that does not answer, by its command line.
func (h *hub) attachSilent(path string, name probe.Name) {
	source, why := probe.NewSource(path), silence(name)
	h.attach(source, model.SourceInfo{ID: source.ID(), Kind: recorder.KindProcess, Name: commandName(name)})
	h.tell(func(store *model.Store) { store.SetWaiting(source.ID(), why) })
}

// showSilent shows at once every program that does not answer, for a look that
// waits for one of them.
func (h *hub) showSilent() {
	silent := silentSockets(h.Snapshot())
	for path, name := range silent {
		h.attachSilent(path, name)
	}
	h.waitUntil(h.ctx, settleTime, func(_ *hub, snapshot *model.Snapshot) bool {
		for _, name := range silent {
			if snapshot.Find(name.ID()) == nil {
				return false
			}
		}
		return true
	})
}

// isSilent says whether a program let us in and said nothing.
func isSilent(err error) bool {
	var greeting *probe.GreetingError
	return errors.As(err, &greeting) && greeting.Silent
}

// hasSpoken says whether a source has ever said hello.
func (h *hub) hasSpoken(a *attached) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return len(a.hellos) > 0
}

// commandName is what a program calls itself, as far as its command line tells;
// its number where that cannot be read.
func commandName(name probe.Name) string {
	if process, err := attach.Inspect(name.PID); err == nil && process.Name != "" {
		return process.Name
	}
	command, _ := os.ReadFile("/proc/" + strconv.Itoa(name.PID) + "/cmdline")
	first, _, _ := strings.Cut(string(command), "\x00")
	if first == "" {
		return "process " + strconv.Itoa(name.PID)
	}
	return filepath.Base(first)
}

// silence is one sentence on a program that does not say hello.
func silence(name probe.Name) string {
	if launch.Stopped(name.PID) {
		return fmt.Sprintf("process %d lets vramscope in, but was stopped by a signal: continue it with kill -CONT %d, or fg where it was started", name.PID, name.PID)
	}
	return fmt.Sprintf("process %d lets vramscope in, but does not answer yet: it is busy in one long call, such as compiling kernels; wait until that returns, or look with top whether it gets to run", name.PID)
}

// socketOf is the name of the socket of a source's program.
func socketOf(view *model.SourceView) (name probe.Name, ok bool) { return probe.ParseID(view.Source) }

// untilNumbers waits so long until a source tells numbers, or cannot.
func (h *hub) untilNumbers(ctx context.Context, id string, patience time.Duration) {
	h.waitUntil(ctx, patience, func(_ *hub, snapshot *model.Snapshot) bool {
		now := snapshot.Find(id)
		return now == nil || now.Hello == nil || len(now.Sets) > 0 || now.Trouble != "" || now.Status >= model.StatusEnded
	})
}

// numbersTime is how long after its hello a program's first numbers are waited for.
const numbersTime = time.Second

// heard waits until a program that was found by its command line has said hello,
// and says that it waits, for so long since the wait began. A program that was
// stopped is not waited for.
func (p *program) heard(ctx context.Context, h *hub, view *model.SourceView, patience time.Duration, began time.Time) (*model.SourceView, error) {
	name, ok := socketOf(view)
	if !ok || view.Hello != nil || view.File != "" {
		return view, nil
	}
	if launch.Stopped(name.PID) {
		return nil, errors.New(silence(name))
	}
	fmt.Fprintf(p.problems, "%s (process %d) lets vramscope in, but is busy and does not answer yet: waiting up to %v\n", printable(view.Name), name.PID, patience)
	h.waitUntil(ctx, patience-time.Since(began), func(_ *hub, snapshot *model.Snapshot) bool {
		return hasSaidHello(snapshot, name) || name.Gone()
	})
	if hasSaidHello(h.Snapshot(), name) {
		h.untilNumbers(ctx, view.ID, numbersTime)
	}
	now := h.Snapshot().Find(view.ID)
	switch {
	case now != nil && now.Hello != nil:
		return now, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case name.Gone():
		return nil, exitError{exitNothing, fmt.Errorf("%s (process %d) has ended without an answer: start it again", printable(view.Name), name.PID)}
	}
	return nil, fmt.Errorf("no answer in %v: %s", patience, silence(name))
}
