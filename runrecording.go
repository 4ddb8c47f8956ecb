package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/local"
	"vramscope/sources/nvml"
	"vramscope/sources/probe"
	"vramscope/sources/probe/launch"
)

// runRecording is the recording that a program's parent keeps: every probe of
// the program as it comes, each with its hello, state and backlog, in one file.
// The machine and its GPUs join when the first of them has spoken, so that the
// file opens on the program.
type runRecording struct {
	*recording
	ctx     context.Context
	hunt    context.CancelFunc // ends the search for probes
	hunting sync.WaitGroup
	beside  []model.Source // the machine and its GPUs
	first   sync.Once
	program atomic.Int64  // the process that was started, whose end its parent learns
	last    *recorder.Bye // its probe's, until its exit code is known; under the lock of probes

	probes struct {
		sync.Mutex
		followed []followed
		beside   []string // what the machine and its GPUs call themselves
	}
}

// followed is a probe of the program.
type followed struct {
	name  probe.Name
	again chan struct{} // holds a token where it was found anew
	done  chan struct{} // closed when its stream has ended for good
}

// recordRun begins the recording of a program that is about to start. The error
// says that the file cannot be written, or where sockets are looked for.
func (p *program) recordRun(ctx context.Context, path string, door *launch.Door) (*runRecording, error) {
	directory, err := probe.Directory()
	if err != nil {
		return nil, err
	}
	tape, ctx, err := newRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	gpus := nvml.NewSource(nvml.Config{Interval: p.settings.Interval, LibraryPath: p.settings.NVML})
	gpus.SetInterest(true, false)
	r := &runRecording{recording: tape, ctx: ctx, beside: []model.Source{&local.Machine{}, gpus}}
	hunt, cancel := context.WithCancel(ctx)
	r.hunt = cancel
	watcher := &probe.Watcher{
		Directory: directory,
		Found: func(found probe.Found) {
			if belongs(door, found) {
				r.follow(found)
			}
		},
	}
	r.hunting.Go(func() { _ = watcher.Run(hunt) })
	return r, nil
}

// belongs says whether a probe is in a process of the run. One in a container
// knows its number there; which one it is here says the start time.
func belongs(door *launch.Door, found probe.Found) bool {
	for _, pid := range append([]int{found.Name.PID}, found.Hello.NSPIDs...) {
		if start, err := probe.StartTime(pid); err == nil && start == found.Name.Start && door.Holds(pid) {
			return true
		}
	}
	return false
}

// follow writes what a probe tells until it ends.
func (r *runRecording) follow(found probe.Found) {
	f := followed{name: found.Name, again: make(chan struct{}, 1), done: make(chan struct{})}
	if r.isFollowed(found.Name) {
		return // it tries again by itself, and knows what was heard
	}
	r.probes.Lock()
	r.probes.followed = append(r.probes.followed, f)
	r.probes.Unlock()
	source := probe.NewSource(found.Path)
	_ = source.Want(true)
	r.writers.Go(func() {
		defer close(f.done)
		for {
			err := source.Run(r.ctx, func(record recorder.Record) {
				if int64(found.Name.PID) != r.program.Load() || !r.holdBack(record) {
					r.keep(record)
				}
			})
			if r.ctx.Err() != nil {
				return
			}
			_, why, again := verdict(err)
			if !again {
				r.sayGoodbye(found.Name, why)
				return
			}
			select {
			case <-time.After(retryEvery):
			case <-f.again:
			case <-r.ctx.Done():
				return
			}
		}
	})
}

// isFollowed says whether a probe's stream is followed already, and has that be
// looked for at once: a program that has executed another makes a new socket of
// the same name.
func (r *runRecording) isFollowed(name probe.Name) bool {
	r.probes.Lock()
	defer r.probes.Unlock()
	for _, f := range r.probes.followed {
		if f.name != name {
			continue
		}
		select {
		case <-f.done:
			continue
		default:
		}
		select {
		case f.again <- struct{}{}:
		default:
		}
		return true
	}
	return false
}

// sayGoodbye ends a source that could not do so itself. How the program itself
// ended says end, which knows it.
func (r *runRecording) sayGoodbye(name probe.Name, why string) {
	if why != "" && int64(name.PID) != r.program.Load() {
		r.write(&recorder.Bye{Head: recorder.Head{Src: name.ID(), Ns: recorder.MonotonicClock()()}, Why: why})
	}
}

// programEnded begins the goodbye of a probe whose interpreter ends, and which
// cannot know the exit code.
const programEnded = "the program ended"

// holdBack keeps the program's goodbye until its exit code is known. What comes
// after it lets it go first.
func (r *runRecording) holdBack(record recorder.Record) bool {
	r.probes.Lock()
	held := r.last
	bye, isBye := record.(*recorder.Bye)
	isBye = isBye && strings.HasPrefix(bye.Why, programEnded)
	r.last = nil
	if isBye {
		r.last = bye
	}
	r.probes.Unlock()
	if held != nil {
		r.write(held)
	}
	return isBye
}

// withExit puts how a program ended into its goodbye. An exception that its
// interpreter knows of is not what ended a program that found nothing wrong.
func withExit(why string, exit launch.Exit) string {
	switch {
	case exit.Fine():
		return programEnded
	case exit.Signal != 0:
		return fmt.Sprintf("%s, then it was %v", why, exit)
	}
	return exit.String() + strings.TrimPrefix(why, programEnded)
}

// keep writes a record of a probe, and lets the machine and its GPUs in after
// the first.
func (r *runRecording) keep(record recorder.Record) {
	r.write(record)
	r.first.Do(func() {
		for _, source := range r.beside {
			r.writers.Go(func() { _ = source.Run(r.ctx, r.keepBeside) })
		}
	})
}

// keepBeside writes a record of the machine or a GPU.
func (r *runRecording) keepBeside(record recorder.Record) {
	if hello, ok := record.(*recorder.Hello); ok {
		r.probes.Lock()
		r.probes.beside = append(r.probes.beside, hello.Src)
		r.probes.Unlock()
	}
	r.write(record)
}

// lastWords is how long the streams of processes that have ended may take to
// tell what is still on its way.
const lastWords = 2 * time.Second

// end closes the file. Probes that were killed say goodbye with why, which is
// how the program ended, with exit. It says how many probes were heard, and how
// many of these go on; a file without any is removed.
func (r *runRecording) end(why string, exit launch.Exit) (heard, going int, err error) {
	r.hunt()
	r.hunting.Wait()
	r.probes.Lock()
	all := r.probes.followed
	r.probes.Unlock()
	deadline := time.NewTimer(lastWords)
	defer deadline.Stop()
	for _, f := range all {
		if !f.name.Gone() {
			going++ // a child that has left the program
			continue
		}
		select {
		case <-f.done:
		case <-deadline.C:
			deadline.Reset(0) // it is over for the others too
		}
	}
	r.cancel()
	r.writers.Wait()
	if last := r.last; last != nil {
		last.Why = withExit(last.Why, exit)
		r.write(last)
	}
	whole := "the recording ended with the program"
	if !exit.Fine() {
		whole += " (" + strings.TrimPrefix(why, programEnded+" with ") + ")"
	}
	for _, src := range r.probes.beside { // the program's end is not theirs
		r.write(&recorder.Bye{Head: recorder.Head{Src: src, Ns: recorder.MonotonicClock()()}, Why: whole})
	}
	err = r.recording.end(why)
	if len(all) == 0 && err == nil {
		if removed := os.Remove(r.path); removed != nil && !errors.Is(removed, os.ErrNotExist) {
			err = removed
		}
	}
	return len(all), going, err
}
