package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"vramscope/recorder"
	"vramscope/sources/probe"
)

// recording is a file that is being written. Programs are recorded over a
// connection of their own, so that the file begins with their hello, their
// state and their backlog; devices and the host, whose every sample stands for
// itself, are taken from the stream that is shown.
type recording struct {
	path    string
	tapped  map[string]bool // sources whose shown stream is taken
	only    string          // what the records are of that are taken from those, as they call it; "" takes all
	cancel  context.CancelFunc
	writers sync.WaitGroup

	mutex sync.Mutex
	file  *recorder.FileWriter
	err   error
	spoke chan struct{}              // is closed once a program has spoken
	begun bool                       // a program has spoken, or none is recorded: the file opens on the first that speaks
	early map[string]recorder.Record // hellos of tapped sources until then
}

// write puts a record into the file. The first failure stays.
func (r *recording) write(record recorder.Record) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.put(record)
}

// put writes a record. The recording is locked.
func (r *recording) put(record recorder.Record) {
	if r.err != nil {
		return
	}
	if err := r.file.Write(record); err != nil {
		var failed *recorder.FileError
		if errors.As(err, &failed) {
			r.err = err
		}
	}
}

// begin lets tapped sources into the file, after the first record of a program,
// nil where there is none.
func (r *recording) begin(first recorder.Record) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if first != nil {
		r.put(first)
		if !r.hasSpoken() {
			close(r.spoke)
		}
	}
	if r.begun {
		return
	}
	r.begun = true
	for _, src := range slices.Sorted(maps.Keys(r.early)) {
		r.put(r.early[src])
	}
	r.early = nil
}

// hasSpoken says whether a program has.
func (r *recording) hasSpoken() bool {
	select {
	case <-r.spoke:
		return true
	default:
		return false
	}
}

// beside writes a record of a tapped source. Before the file has begun that waits
// if it is a hello; every other stands for itself, and more will come.
func (r *recording) beside(record recorder.Record) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.begun {
		r.put(record)
	} else if _, ok := record.(*recorder.Hello); ok {
		r.early[record.Source()] = record
	}
}

// Record starts a recording of the named sources, or ends the one that runs.
func (h *hub) Record(sources []string, start bool) (string, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !start {
		return h.endRecording()
	}
	if h.tape != nil {
		return h.tape.path, fmt.Errorf("already recording to %s: end that first", h.tape.path)
	}
	path, err := recordingPath(time.Now())
	if err != nil {
		return "", err
	}
	return path, h.startRecording(path, sources, "")
}

// Recording is where the recording that runs goes, "" when none does.
func (h *hub) Recording() string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.tape == nil {
		return ""
	}
	return h.tape.path
}

// recordingPath is a new file for a recording that was asked for by key.
func recordingPath(now time.Time) (string, error) {
	directory, err := recordingDirectory()
	return filepath.Join(directory, "vramscope-"+now.Format("20060102-150405")+".vscope.zst"), err
}

// recordingDirectory is where files go that were asked for by key: the working
// directory if that can be written, else the state directory.
func recordingDirectory() (string, error) {
	working, err := os.Getwd()
	if err == nil {
		if probe, err := os.CreateTemp(working, ".vramscope-*"); err == nil {
			_ = probe.Close()
			_ = os.Remove(probe.Name())
			return working, nil
		}
	}
	directory := filepath.Join(xdg.StateHome, "vramscope")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", fmt.Errorf("no place for a recording: %w", err)
	}
	return directory, nil
}

// newRecording begins a file. What feeds it runs under the context that comes
// with it, among its writers, until it ends.
func newRecording(ctx context.Context, path string) (*recording, context.Context, error) {
	file, err := recorder.CreateFile(path, recorder.FileOptions{})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	return &recording{path: path, tapped: map[string]bool{}, early: map[string]recorder.Record{}, spoke: make(chan struct{}), cancel: cancel, file: file}, ctx, nil
}

// end waits for the writers and closes the file. Sources that have not said
// goodbye do so with that reason. The error is the first failure to write; a file
// of which nothing was written is then removed.
func (r *recording) end(why string) error {
	r.cancel()
	r.writers.Wait()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.file.Close(why); err != nil && r.err == nil {
		r.err = err
	}
	if info, err := os.Lstat(r.path); r.err != nil && err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		_ = os.Remove(r.path)
	}
	return r.err
}

// startRecording begins a file of those sources, and of one that speaks of
// several devices only what is of the one that is named, "" for all. The hub is
// locked.
func (h *hub) startRecording(path string, sources []string, only string) error {
	tape, ctx, err := newRecording(h.ctx, path)
	if err != nil {
		return err
	}
	tape.only = only
	programs := 0
	for _, id := range sources {
		a := h.sources[id]
		switch {
		case a == nil:
		case a.probe != nil:
			source := probe.NewSource(a.probe.Path())
			_ = source.Want(true)
			programs++
			tape.writers.Go(func() {
				for isSilent(source.Run(ctx, tape.begin)) && ctx.Err() == nil {
				} // it is busy, and speaks once it is not: each try takes a while
				tape.begin(nil)
			})
		default:
			for src, hello := range a.hellos {
				if tape.wants(src) {
					tape.beside(hello)
				}
			}
			tape.tapped[id] = true
		}
	}
	if programs == 0 {
		tape.begin(nil)
	}
	h.tape = tape
	return nil
}

// wants says whether a record of a tapped source is taken.
func (r *recording) wants(src string) bool { return r.only == "" || r.only == src }

// endRecording closes the file. The hub is locked.
func (h *hub) endRecording() (string, error) {
	tape := h.tape
	if tape == nil {
		return "", errors.New("nothing is being recorded")
	}
	h.tape = nil
	return tape.path, tape.end("recording ended")
}

// keep remembers a source's hellos, and puts its record into the recording
// that runs where that takes it from here.
func (h *hub) keep(a *attached, id string, record recorder.Record) {
	h.mutex.Lock()
	if hello, ok := record.(*recorder.Hello); ok {
		a.hellos[hello.Src] = hello
	}
	tape := h.tape
	h.mutex.Unlock()
	if tape != nil && tape.tapped[id] && tape.wants(record.Source()) {
		tape.beside(record)
	}
}
