package recorder

import (
	"slices"

	"vramscope/arena"
)

// ArenaFacts is what a process knows of an arena besides its events.
type ArenaFacts struct {
	Name    string
	Job     string // that it serves, "" if none
	Device  string // UUID of its GPU, or "host"
	Managed bool   // only managed arenas are recorded
}

// ArenaFeed watches one arena for a Stream. It is the arena's observer; nil
// stands for an arena that nobody watches.
type ArenaFeed struct {
	stream *Stream
	facts  ArenaState // without its tree
	tree   *ScopeTree
	batch  arenaBatch
	event  ArenaEvent // of the call under way

	// What the registry keeps.
	recorded bool
	log      EventLog
	cut      int64 // events not kept
}

// maxMarks is how many marks of an arena are kept, the oldest ones.
const maxMarks = 1 << 12

// WatchArena begins to watch an arena that is about to be made, and returns its
// feed, nil if nobody watches and recording is not armed. While recording is
// armed a managed arena is registered here, before it has a buffer: recording
// is decided once, when an arena is made, as in algan.
func (s *Stream) WatchArena(facts ArenaFacts) *ArenaFeed {
	s.mu.Lock()
	defer s.mu.Unlock()
	record := s.registry.armed && facts.Managed
	if !record && !s.watched {
		return nil
	}
	s.lastID++
	feed := &ArenaFeed{
		stream: s, tree: NewScopeTree(s.options.Tree),
		batch: arenaBatch{ArenaEvents: ArenaEvents{Head: Head{Src: s.options.Source}, Arena: s.lastID}},
		facts: ArenaState{
			ID: s.lastID, Name: facts.Name, Job: facts.Job, From: s.options.Program, Device: facts.Device,
			Managed: facts.Managed, HalfBuilt: true, Created: s.options.Clock(),
		},
	}
	s.arenas = append(s.arenas, feed)
	s.stateDue = true
	if record {
		s.registry.add(feed)
	}
	return feed
}

// Observer is the feed as an arena takes it: nil for a nil feed, so that the
// arena has no observer and its scopes cost one test.
func (f *ArenaFeed) Observer() arena.Observer {
	if f == nil {
		return nil
	}
	return f
}

// ID is the arena's number in its source, 0 for a nil feed.
func (f *ArenaFeed) ID() int64 {
	if f == nil {
		return 0
	}
	return f.facts.ID
}

// Update takes in what the arena says of itself and events do not tell: its
// address, its high-water where it was restarted, the frames it launched. Call
// it from the arena's goroutine, at a frame boundary.
func (f *ArenaFeed) Update(state arena.State) {
	if f == nil {
		return
	}
	f.stream.mu.Lock()
	defer f.stream.mu.Unlock()
	f.facts.HalfBuilt = false
	f.facts.Name = state.Name
	f.facts.Managed, f.facts.HasBuffer = state.Managed, state.HasBuffer
	f.facts.Marks = append(f.facts.Marks[:0], state.Marks...)
	if state.Base != 0 {
		f.facts.Base = FormatAddress(state.Base)
	}
	f.facts.LastLaunchFrames = nil
	if state.LastLaunchFrames != arena.NoLaunchFrames {
		frames := int64(state.LastLaunchFrames)
		f.facts.LastLaunchFrames = &frames
	}
	f.tree.setLength(state.Length)
	f.tree.forward, f.tree.reverse, f.tree.highWater = state.Forward, state.Reverse, state.HighWater
}

// Gone says that the arena will not be used again, such as one whose buffer
// could not be had. A release of the arena says it by itself.
func (f *ArenaFeed) Gone() {
	if f == nil {
		return
	}
	f.stream.mu.Lock()
	defer f.stream.mu.Unlock()
	f.gone(f.stream.options.Clock())
}

// ObserveArena takes an event of the arena in. It is arena.Observer's method.
func (f *ArenaFeed) ObserveArena(event arena.Event) {
	s := f.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &f.event
	f.stamp(e, &event)
	f.follow(e, &event)
	f.tree.Observe(e)
	if f.recorded {
		s.registry.log(f, e)
	}
	if s.events.Load() {
		if !f.batch.takes(e) {
			s.flush()
		}
		f.batch.add(e)
	}
	if event.Op == arena.OpRelease {
		f.gone(e.Ns)
	}
}

// stamp makes a row of an event. Names of callers and item types cost a search
// each, so they are numbered only when somebody will read them.
func (f *ArenaFeed) stamp(e *ArenaEvent, event *arena.Event) {
	s := f.stream
	*e = ArenaEvent{
		Ns: s.options.Clock(), Frame: s.frame, Op: event.Op, Bytes: event.Bytes, ItemSize: event.ItemSize,
		Forward: event.Forward, Reverse: event.Reverse, Scope: event.Scope, Params: ParamsFit(event.Params),
	}
	if event.Persist {
		e.Flags |= FlagPersist
	}
	if event.Clear {
		e.Flags |= FlagClear
	}
	switch event.Op {
	case arena.OpNew, arena.OpScopeOpen:
		e.Text = s.names.Number(event.Name)
		return
	}
	if !f.recorded && !s.events.Load() {
		return
	}
	e.DType = s.names.Number(event.DType)
	switch event.Op {
	case arena.OpAlloc, arena.OpPersist:
		e.Text = s.names.Number(event.Caller)
	default:
		e.Text = s.names.Number(event.Reason)
	}
}

// follow keeps the arena's facts.
func (f *ArenaFeed) follow(e *ArenaEvent, event *arena.Event) {
	switch event.Op {
	case arena.OpNew:
		f.facts.HalfBuilt, f.facts.HasBuffer = false, f.facts.Managed
		f.stream.stateDue = true
	case arena.OpMark:
		if len(f.facts.Marks) < maxMarks {
			f.facts.Marks = append(f.facts.Marks, e.Forward)
		}
	case arena.OpRestore:
		if n := len(f.facts.Marks); n > 0 {
			f.facts.Marks = f.facts.Marks[:n-1]
		}
	case arena.OpReset:
		f.facts.Marks = f.facts.Marks[:0]
		// What is abandoned cannot be told from what was there before by a
		// reader that joined in the middle.
		f.stream.stateDue = f.stream.stateDue || len(f.tree.stack) > 1
	}
}

// gone moves the arena from those that live to those that have just ended.
func (f *ArenaFeed) gone(ns int64) {
	if f.facts.Released != 0 {
		return
	}
	s := f.stream
	f.flush()
	f.facts.Released, f.facts.HasBuffer = ns, false
	s.arenas = slices.DeleteFunc(s.arenas, func(other *ArenaFeed) bool { return other == f })
	s.released = append(s.released, f)
	if len(s.released) > keptReleased {
		s.released = slices.Delete(s.released, 0, 1)
	}
	s.stateDue = true
}

// flush emits the arena's events that have not gone out. Strings go before
// them.
func (f *ArenaFeed) flush() {
	if f.batch.Len() == 0 {
		return
	}
	if s := f.stream; s.names.Pending() {
		s.names.Flush(s.head(), func(record *Strings) { s.options.Emit(record) })
	}
	f.stream.options.Emit(&f.batch.ArenaEvents)
	f.batch.empty()
}

// state is the arena as a state says it.
func (f *ArenaFeed) state() ArenaState {
	state := f.facts
	f.tree.Snapshot().FillState(&state)
	state.Recorded, state.CutEvents = f.recorded, f.cut
	state.Marks = slices.Clone(f.facts.Marks)
	return state
}
