package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/file"
	"vramscope/sources/nvml"
	"vramscope/sources/probe"
	"vramscope/ui"
)

// hub brings sources, store and dashboard together: each source runs in a
// goroutine of its own and hands records to the one goroutine that owns the
// store; snapshots go the other way through an atomic pointer and a token.
type hub struct {
	settings *settings
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	sending  sync.WaitGroup // commands that are handed over, each within sendTimeout
	in       chan model.Envelope
	latest   atomic.Pointer[model.Snapshot]
	wake     chan struct{}

	publishing *time.Ticker  // when snapshots are due
	every      time.Duration // between two of them, as the dashboard wants

	mutex   sync.Mutex
	sources map[string]*attached
	failed  error // what broke in a goroutine of ours
	tape    *recording
	nvml    *nvml.Source
	dumps   *dumpShelf
	costs   map[string]bool // calibration files that are open, by ID
	standIn string          // ID of the demo that runs because nothing was there; "" without one
}

// attached is a source that runs.
type attached struct {
	source model.Source
	probe  *probe.Source // nil for other sources
	hellos map[string]*recorder.Hello
	cancel context.CancelFunc
	ended  bool
}

// records that may wait for the store; a source that runs ahead waits.
const envelopes = 256

func newHub(ctx context.Context, settings *settings) *hub {
	ctx, cancel := context.WithCancel(ctx)
	h := &hub{
		settings: settings, ctx: ctx, cancel: cancel, in: make(chan model.Envelope, envelopes),
		wake: make(chan struct{}, 1), sources: map[string]*attached{}, costs: map[string]bool{},
	}
	h.dumps = newDumpShelf(h, int64(settings.DumpMemory))
	h.latest.Store(&model.Snapshot{})
	options := model.DefaultOptions()
	options.Live.History.Duration = int64(settings.History)
	options.Live.TapeBytes = int64(settings.Keep)
	monotonic := recorder.MonotonicClock()
	options.Clock = func() (int64, int64) { return monotonic(), time.Now().UnixNano() }
	store := model.NewStore(options)
	h.publishing = time.NewTicker(publishEvery)
	h.spawn(func() {
		defer h.publishing.Stop()
		store.Loop(h.ctx, h.in, h.publishing.C, h.publish)
	})
	return h
}

// watchLightly makes this program small while it only watches: one processor
// saves a tenth of its cost in wake-ups, and an early collection keeps it under
// 40 MB beside a render. Reading dumps takes back what it needs.
func watchLightly(lightly bool) {
	processors, percent := runtime.NumCPU(), 100
	if lightly {
		processors, percent = 1, 50
	}
	if runtime.GOMAXPROCS(0) != processors {
		runtime.GOMAXPROCS(processors)
	}
	debug.SetGCPercent(percent)
}

// publishEvery is how often a snapshot is made at most.
const publishEvery = 100 * time.Millisecond

// spawn runs a goroutine that close waits for. Its panic becomes an error
// that ends the program in an orderly way, with the terminal restored.
func (h *hub) spawn(run func()) {
	h.running.Go(func() {
		defer func() {
			if cause := recover(); cause != nil {
				h.fail(fmt.Errorf("something broke: %v\n%s", cause, debug.Stack()))
			}
		}()
		run()
	})
}

func (h *hub) fail(err error) {
	h.mutex.Lock()
	if h.failed == nil {
		h.failed = err
	}
	h.mutex.Unlock()
	h.cancel()
}

// close ends every source and waits for it.
func (h *hub) close() error {
	_, _ = h.Record(nil, false)
	h.sending.Wait() // what the last key sent arrives
	h.cancel()
	h.running.Wait()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.failed
}

func (h *hub) publish(snapshot *model.Snapshot) {
	h.latest.Store(snapshot)
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// tell does something to the store on its own goroutine.
func (h *hub) tell(do func(*model.Store)) {
	select {
	case h.in <- model.Envelope{Do: do}:
	case <-h.ctx.Done():
	}
}

// attach runs a source until it ends for good or the hub closes.
func (h *hub) attach(source model.Source, info model.SourceInfo) {
	h.mutex.Lock()
	if old := h.sources[info.ID]; old != nil && !old.ended {
		h.mutex.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(h.ctx)
	a := &attached{source: source, hellos: map[string]*recorder.Hello{}, cancel: cancel}
	a.probe, _ = source.(*probe.Source)
	h.sources[info.ID] = a
	h.mutex.Unlock()
	h.tell(func(store *model.Store) { store.Add(info) })
	h.spawn(func() { h.run(ctx, a, info.ID) })
}

// retryEvery is how long after a break a source is tried again.
const retryEvery = time.Second

// run runs a source, and again after a break as long as that makes sense.
func (h *hub) run(ctx context.Context, a *attached, id string) {
	emit := func(record recorder.Record) {
		h.keep(a, id, record)
		select {
		case h.in <- model.Envelope{Source: id, Record: record}:
		case <-ctx.Done():
		}
	}
	for {
		stop := h.watchProgress(ctx, a.source, id)
		err := a.source.Run(ctx, emit)
		stop() // its last word comes before the verdict
		if ctx.Err() != nil {
			return
		}
		status, why, again := verdict(err)
		if isSilent(err) && !h.hasSpoken(a) {
			status = model.StatusConnecting // why, watchSilent says
		}
		if _, isFile := a.source.(*file.Source); isFile && status == model.StatusEnded {
			status = model.StatusComplete
		}
		if status != model.StatusConnecting {
			h.tell(func(store *model.Store) { store.SetStatus(id, status, why) })
		}
		if !again {
			h.mutex.Lock()
			a.ended = true
			h.mutex.Unlock()
			return
		}
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return
		}
	}
}

// verdict says what the end of a source means, and whether to try again.
func verdict(err error) (status model.Status, why string, again bool) {
	var dial *probe.DialError
	var end *probe.EndError
	var cut *file.CutError
	switch {
	case err == nil:
		return model.StatusEnded, "", false
	case errors.As(err, &dial) && dial.Gone:
		return model.StatusEnded, err.Error(), false
	case errors.As(err, &dial):
		return model.StatusStale, err.Error(), true
	case errors.As(err, &end) && end.Gone:
		return model.StatusEnded, end.Why(), false // it stands in the program's own line
	case errors.As(err, &end), isSilent(err):
		return model.StatusStale, err.Error(), true
	case errors.As(err, &cut):
		return model.StatusCut, err.Error(), false
	}
	return model.StatusFailed, err.Error(), false
}

// watchProgress tells the store how far a file has been read, until stopped.
func (h *hub) watchProgress(ctx context.Context, source model.Source, id string) (stop func()) {
	loading, ok := source.(model.Loading)
	if !ok {
		return func() {}
	}
	last := model.Progress{Done: -1}
	report := func() {
		done, size, following := loading.Progress()
		progress := model.Progress{Done: done, Size: size}
		if progress.Done == last.Done && progress.Size == last.Size {
			return
		}
		last = progress
		h.tell(func(store *model.Store) {
			store.SetProgress(id, progress)
			if following {
				store.SetStatus(id, model.StatusFollowing, "")
			} else {
				store.SetStatus(id, model.StatusLoading, "")
			}
		})
	}
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	h.spawn(func() {
		defer close(finished)
		ticker := time.NewTicker(publishEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				report()
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		<-finished
		report()
	}
}

// Snapshot is the newest snapshot.
func (h *hub) Snapshot() *model.Snapshot { return h.latest.Load() }

// Wake holds a token when there is a newer one.
func (h *hub) Wake() <-chan struct{} { return h.wake }

// Send hands a command to the source that a view shows.
func (h *hub) Send(viewID string, command *recorder.Command) error {
	view := h.Snapshot().Find(viewID)
	if view == nil {
		return errors.New("the source is not there any more")
	}
	h.mutex.Lock()
	a := h.sources[view.Source]
	h.mutex.Unlock()
	if a == nil {
		return errors.New("the source is not there any more")
	}
	now := recorder.MonotonicClock()()
	h.tell(func(store *model.Store) { store.Sent(viewID, command, now) })
	h.sending.Add(1)
	h.spawn(func() {
		defer h.sending.Done()
		ctx, cancel := context.WithTimeout(h.ctx, sendTimeout)
		defer cancel()
		if err := a.source.Send(ctx, command); err != nil {
			h.tell(func(store *model.Store) {
				store.SendFailed(viewID, command, err.Error(), recorder.MonotonicClock()())
			})
		}
	})
	return nil
}

// sendTimeout bounds the handing over of a command, not its carrying out.
const sendTimeout = 5 * time.Second

// StandIn is the ID of the demo that runs because nothing was there to watch, ""
// while there is none.
func (h *hub) StandIn() string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.standIn
}

// Show passes on what the screen shows, so that the rest costs nothing.
func (h *hub) Show(interest ui.Interest) {
	h.dumps.show(interest.Source)
	if every := max(interest.Refresh, publishEvery); every != h.every {
		h.every = every
		h.publishing.Reset(every)
		h.tell(func(store *model.Store) { store.SetPublishEvery(int64(every)) })
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for id, a := range h.sources {
		if a.probe != nil {
			wanted := interest.Events && id == interest.Source
			probe := a.probe
			h.spawn(func() { _ = probe.Want(wanted) })
		}
	}
	if h.nvml != nil {
		h.nvml.SetInterest(interest.Processes && interest.Focused, interest.Slow && interest.Focused)
	}
}

// Open adds a file: a recording, which is followed, or a memory dump or a
// calibration file, which is read whole.
func (h *hub) Open(path string) error {
	watchLightly(false)
	source, err := file.NewSource(path)
	var foreign *file.DumpError
	if errors.As(err, &foreign) {
		if foreign.Format.ReadCosts != nil {
			h.openCosts(path, foreign.Format)
		} else {
			h.dumps.open(path, foreign.Format)
		}
		return nil
	}
	if err != nil {
		return err
	}
	h.attach(source, model.SourceInfo{ID: source.ID(), Name: path, File: path})
	return nil
}

// hasFiles says whether a file was opened.
func (h *hub) hasFiles() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, a := range h.sources {
		if _, isFile := a.source.(*file.Source); isFile {
			return true
		}
	}
	return len(h.costs) > 0 || h.dumps.any()
}

// Close forgets a file, read or not.
func (h *hub) Close(source string) error {
	if h.dumps.close(source) || h.closeCosts(source) {
		return nil
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	a := h.sources[source]
	if a == nil {
		return errors.New("the source is not there any more")
	}
	if _, isFile := a.source.(*file.Source); !isFile {
		return errors.New("only a file can be closed: what runs is watched as long as it is there")
	}
	a.cancel()
	delete(h.sources, source)
	h.tell(func(store *model.Store) { store.Remove(source) })
	return nil
}

// discover finds programs with a probe as they come.
func (h *hub) discover() error {
	directory, err := probe.Directory()
	if err != nil {
		return err
	}
	watcher := &probe.Watcher{
		Directory: directory,
		Found: func(found probe.Found) {
			source := probe.NewSource(found.Path)
			h.attach(source, model.SourceInfo{ID: source.ID(), Kind: recorder.KindProcess, Name: found.Hello.Name})
		},
	}
	h.spawn(func() { _ = watcher.Run(h.ctx) })
	h.spawn(h.watchSilent)
	return nil
}

// watchDevices watches the GPUs of this machine.
func (h *hub) watchDevices() {
	source := nvml.NewSource(nvml.Config{Interval: h.settings.Interval, LibraryPath: h.settings.NVML})
	h.mutex.Lock()
	h.nvml = source
	h.mutex.Unlock()
	h.attach(source, model.SourceInfo{ID: source.ID(), Kind: recorder.KindDevice, Name: "NVIDIA GPUs"})
}

// settleTime is how long a one-time look waits for every source's first word.
const settleTime = 3 * time.Second

// waitUntil waits until a snapshot satisfies the condition, but not longer
// than patience; it says whether it did.
func (h *hub) waitUntil(ctx context.Context, patience time.Duration, condition func(*hub, *model.Snapshot) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(publishEvery / 4)
	defer ticker.Stop()
	for !condition(h, h.Snapshot()) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return condition(h, h.Snapshot())
		}
	}
	return true
}

// settled says whether every source has told its first numbers, or why it has
// none.
func settled(h *hub, snapshot *model.Snapshot) bool {
	h.mutex.Lock()
	expected := len(h.sources)
	h.mutex.Unlock()
	heard := map[string]bool{}
	for _, view := range snapshot.Sources {
		if len(view.Sets) > 0 || view.Trouble != "" || view.Status >= model.StatusEnded {
			heard[view.Source] = true
		}
	}
	return len(heard) >= expected && h.socketsHeard(snapshot)
}

// socketsHeard says whether every program that has a socket was found.
func (h *hub) socketsHeard(snapshot *model.Snapshot) bool {
	directory, err := probe.Directory()
	if err != nil {
		return true
	}
	files, err := os.ReadDir(directory)
	if err != nil {
		return true
	}
	for _, file := range files {
		name, ok := probe.ParseName(file.Name())
		if ok && !hasSaidHello(snapshot, name) && name.PID != os.Getpid() && !name.Gone() {
			return false
		}
	}
	return true
}
