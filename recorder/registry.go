package recorder

import (
	"slices"
	"sync"
)

// RegistryLimits bounds what a Registry keeps. A zero field stands for its
// default.
type RegistryLimits struct {
	Arenas int   // recorded arenas; the oldest go first. Default 256
	Bytes  int64 // memory of their events; the oldest arenas go first. Default 64 MiB
	Peaks  int   // transients outside the arenas; the oldest go first. Default 65,536
}

func (l RegistryLimits) orDefault() RegistryLimits {
	if l.Arenas <= 0 {
		l.Arenas = 256
	}
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Peaks <= 0 {
		l.Peaks = 1 << 16
	}
	return l
}

// Registry keeps the arenas that were made while recording was armed, with
// their events and scope trees, for a calibration dump. It mirrors algan's
// auto-record registry (set_auto_record, recorded_arenas,
// recorded_nonarena_peaks): arming decides about arenas made later and not
// about those that live, disarming forgets the arenas and keeps the transients,
// an arena whose buffer could not be had stays as it is, and so does one whose
// buffer is gone.
//
// Unlike there, it is bounded: the oldest arenas go first, and Dropped counts
// them. An arena whose events alone exceed the bounds keeps its scope tree and
// loses its events; that is counted too (ArenaState.CutEvents).
//
// Its methods may be called from any goroutine. Stream.Registry returns one.
type Registry struct {
	mu      *sync.Mutex // the stream's
	limits  RegistryLimits
	changed func() // is called with mu held when a state should say so

	armed        bool
	arenas       []*ArenaFeed
	bytes        int64 // memory of the logs of arenas
	peaks        []NonArena
	dropped      int
	droppedPeaks int
}

// SetAutoRecord arms or disarms recording. Disarming forgets the recorded
// arenas; the transients stay. Arming forgets nothing.
func (r *Registry) SetAutoRecord(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.armed != on {
		r.changed()
	}
	r.armed = on
	if !on {
		r.forgetArenas()
	}
}

// AutoRecordEnabled says whether recording is armed.
func (r *Registry) AutoRecordEnabled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.armed
}

// Clear forgets the recorded arenas and the transients.
func (r *Registry) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgetArenas()
	r.peaks = nil
	r.dropped, r.droppedPeaks = 0, 0
	r.changed()
}

// Arenas is the recorded arenas, oldest first, each as it is now.
func (r *Registry) Arenas() []RecordedArena {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := make([]RecordedArena, len(r.arenas))
	for i, feed := range r.arenas {
		entries[i] = RecordedArena{State: feed.facts, Scopes: feed.tree.Snapshot(), Log: feed.log}
		entries[i].State.Recorded, entries[i].State.CutEvents = true, feed.cut
		entries[i].State.Marks = slices.Clone(feed.facts.Marks)
	}
	return entries
}

// NonArenaPeaks is the transients outside the arenas, oldest first.
func (r *Registry) NonArenaPeaks() []NonArena {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.peaks)
}

// Dropped is how many arenas and transients the bounds pushed out.
func (r *Registry) Dropped() (arenas, peaks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped, r.droppedPeaks
}

// RecordedArena is an arena of a Registry at one moment. It is immutable.
type RecordedArena struct {
	State  ArenaState     // facts; the tree and the pointers are in Scopes
	Scopes *ScopeSnapshot // merged
	Log    EventLog       // every event; Replay builds every single scope from it
}

// Whole is the arena's state with its tree.
func (a *RecordedArena) Whole() ArenaState {
	state := a.State
	a.Scopes.FillState(&state)
	return state
}

// add registers an arena that is about to be made.
func (r *Registry) add(feed *ArenaFeed) {
	feed.recorded = true
	r.arenas = append(r.arenas, feed)
	if len(r.arenas) > r.limits.Arenas {
		r.dropOldest()
	}
}

// log keeps an event of a recorded arena.
func (r *Registry) log(feed *ArenaFeed, event *ArenaEvent) {
	if feed.cut > 0 {
		feed.cut++
		return
	}
	before := feed.log.Bytes()
	feed.log.Append(event)
	if grown := feed.log.Bytes() - before; grown > 0 {
		r.bytes += grown
		r.makeRoom()
	}
}

// makeRoom drops the oldest arenas until the rest fits, and the events of the
// last one if it does not fit alone.
func (r *Registry) makeRoom() {
	for r.bytes > r.limits.Bytes && len(r.arenas) > 1 {
		r.dropOldest()
	}
	if r.bytes > r.limits.Bytes {
		feed := r.arenas[0]
		feed.cut = feed.log.Len()
		feed.log = EventLog{}
		r.bytes = 0
		r.changed()
	}
}

// dropOldest forgets the oldest arena.
func (r *Registry) dropOldest() {
	r.forget(r.arenas[0])
	r.arenas = slices.Delete(r.arenas, 0, 1)
	r.dropped++
	r.changed()
}

// forget takes the events of an arena away; its feed goes on without them.
func (r *Registry) forget(feed *ArenaFeed) {
	r.bytes -= feed.log.Bytes()
	feed.recorded, feed.log, feed.cut = false, EventLog{}, 0
}

func (r *Registry) forgetArenas() {
	for _, feed := range r.arenas {
		r.forget(feed)
	}
	r.arenas = nil
}

// notePeak keeps a transient while recording is armed and it had an input.
func (r *Registry) notePeak(peak NonArena) {
	if !r.armed || peak.InputBytes <= 0 {
		return
	}
	if len(r.peaks) >= r.limits.Peaks {
		// Several at once, so that a full registry is not moved at each one.
		n := max(1, len(r.peaks)/16)
		r.peaks = slices.Delete(r.peaks, 0, n)
		r.droppedPeaks += n
		r.changed()
	}
	r.peaks = append(r.peaks, peak)
}
