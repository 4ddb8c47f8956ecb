package recorder

import (
	"slices"
	"sync"
	"sync/atomic"
)

// StatePeriod is how often a source says its whole state, in nanoseconds.
const StatePeriod int64 = 10e9

// keptReleased is how many arenas stay in the state after their buffers are
// gone, so that one can look at what has just ended.
const keptReleased = 8

// maxNonArenaNames is how many names of transients a state lists.
const maxNonArenaNames = 256

// StreamOptions is what a Stream is made of.
type StreamOptions struct {
	// Source is the name that every record carries.
	Source string
	// Program is what the process is called in a calibration dump.
	Program string
	// Clock tells monotonic nanoseconds. MonotonicClock is the real one.
	Clock func() int64
	// Emit takes each record in order. It is called with the stream's lock
	// held: it must be quick, must not call the stream, and must write or copy
	// what it keeps before it returns, since batches are used again. Nil drops
	// everything.
	Emit func(Record)
	// Tree and Registry bound what is kept.
	Tree     TreeLimits
	Registry RegistryLimits
}

// Stream is the watched process's side of the records: it stamps the events of
// its arenas and pools, builds their scope trees, and emits what happens as
// records. Its methods may be called from any goroutine; events come from the
// goroutines that own the arenas and pools.
//
// What costs time is only done while somebody needs it: batches of events are
// made while they are wanted (WantEvents), a recorded arena's log is kept while
// recording is armed (Registry), and an arena that is made while nobody watches
// (Watch) and nothing is armed gets no observer at all.
type Stream struct {
	options StreamOptions

	mu       sync.Mutex
	names    *Interner
	registry Registry
	watched  bool
	frame    int64 // under way, -1 unknown
	lastID   int64
	arenas   []*ArenaFeed // that live, oldest first
	released []*ArenaFeed // the last ones whose buffers are gone, oldest first
	pools    []*PoolFeed
	nonArena []NonArena // by name, in order of appearance

	wanted   bool        // events are asked for
	events   atomic.Bool // and are emitted, since a state has gone out
	stateDue bool
	stateAt  int64 // ns of the last state
}

// NewStream returns a Stream that watches and emits no events.
func NewStream(options StreamOptions) *Stream {
	if options.Emit == nil {
		options.Emit = func(Record) {}
	}
	s := &Stream{options: options, names: NewInterner(), watched: true, frame: -1, stateDue: true}
	s.registry = Registry{mu: &s.mu, limits: options.Registry.orDefault(), changed: func() { s.stateDue = true }}
	return s
}

// Registry is where arenas are kept for a calibration dump.
func (s *Stream) Registry() *Registry { return &s.registry }

// Watch says whether arenas made from now on are observed. It is on at first.
// While it is off, an arena that is not recorded gets no observer, so that its
// scopes and allocations cost nothing.
func (s *Stream) Watch(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = on
}

// WantEvents says whether events are asked for. They begin with the next
// state, which is then due, so that readers know what the events change.
func (s *Stream) WantEvents(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on == s.wanted {
		return
	}
	s.wanted = on
	if on {
		s.stateDue = true
		return
	}
	s.flush()
	s.events.Store(false)
}

// BeginFrame says that a frame begins, and emits the events of the last one.
func (s *Stream) BeginFrame(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.frame = number
	s.options.Emit(&Frame{Head: s.head(), N: number})
}

// Flush emits the events that have not gone out. Call it before a sample, and
// when nothing happened for a while.
func (s *Stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
}

// Emit emits a record of the caller's behind the events before it. The record
// should carry Head's source and time.
func (s *Stream) Emit(record Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.options.Emit(record)
}

// Head is the head of a record of this moment.
func (s *Stream) Head() Head { return s.head() }

func (s *Stream) head() Head { return Head{Src: s.options.Source, Ns: s.options.Clock()} }

// flush emits the strings and events that have not gone out.
func (s *Stream) flush() {
	if s.names.Pending() {
		s.names.Flush(s.head(), func(record *Strings) { s.options.Emit(record) })
	}
	for _, feed := range s.arenas {
		feed.flush()
	}
	for _, feed := range s.pools {
		feed.flush()
	}
}

// NotePeak says that a transient outside the arenas took peak bytes at its
// highest, for input bytes of input. It emits a peak record, and the registry
// keeps it while it is armed and input is above 0, as algan's
// note_nonarena_peak does.
func (s *Stream) NotePeak(name string, input, peak int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := NonArena{Name: shortened(name, maxInternedString), InputBytes: input, PeakBytes: peak}
	s.registry.notePeak(entry)
	s.addNonArena(entry)
	s.flush()
	s.options.Emit(&Peak{Head: s.head(), NonArena: entry})
}

// addNonArena takes a transient into the entry of its name: the largest shows.
func (s *Stream) addNonArena(sample NonArena) {
	at := slices.IndexFunc(s.nonArena, func(n NonArena) bool { return n.Name == sample.Name })
	if at < 0 {
		if len(s.nonArena) < maxNonArenaNames {
			sample.Count = 1
			s.nonArena = append(s.nonArena, sample)
		}
		return
	}
	entry := &s.nonArena[at]
	entry.Count++
	if sample.PeakBytes > entry.PeakBytes {
		entry.InputBytes, entry.PeakBytes = sample.InputBytes, sample.PeakBytes
	}
}

// StateDue says whether EmitState should be called at the next safe moment:
// every StatePeriod, and after a change of structure.
func (s *Stream) StateDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateDue || s.options.Clock()-s.stateAt >= StatePeriod
}

// EmitState emits the whole state, cut into records that fit a line. pools is
// what the process's pools hold, each with the ID of its feed. Call it where
// nothing allocates meanwhile, such as a frame boundary: otherwise the pools'
// blocks can be older than the events before the state.
func (s *Stream) EmitState(pools []PoolState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	for _, part := range SplitState(s.state(pools)) {
		s.options.Emit(part)
	}
	s.stateDue, s.stateAt = false, s.options.Clock()
	s.events.Store(s.wanted)
}

// EmitAll hands everything that a late reader needs to emit: all strings, and
// the state. Other readers do not get it. The rules of EmitState hold.
func (s *Stream) EmitAll(pools []PoolState, emit func(Record)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.names.All(s.head(), func(record *Strings) { emit(record) })
	for _, part := range SplitState(s.state(pools)) {
		emit(part)
	}
}

// state is the whole state.
func (s *Stream) state(pools []PoolState) *State {
	state := &State{
		Head: s.head(), Pools: pools, NonArena: slices.Clone(s.nonArena),
		Recording: s.registry.armed, Dropped: s.registry.dropped, DroppedPeaks: s.registry.droppedPeaks,
	}
	if s.frame >= 0 {
		frame := s.frame
		state.Frame = &frame
	}
	for _, feed := range s.released {
		state.Arenas = append(state.Arenas, feed.state())
	}
	for _, feed := range s.arenas {
		state.Arenas = append(state.Arenas, feed.state())
	}
	return state
}
