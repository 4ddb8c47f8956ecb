package model

import (
	"cmp"
	"fmt"
	"slices"

	"vramscope/arena"
	"vramscope/recorder"
)

// How much of each kind is kept of one source. When twice as much has come, the
// older half goes.
const (
	keptOOMs    = 512
	keptActions = 256
	keptMoments = 4096
	// maximumNames is how many names of transients outside the arena are kept
	// apart.
	maximumNames = 4096
	// maximumArenas is how many arenas and pools of one source are believed.
	maximumArenas = 1 << 16
)

// fold is what the records of one source amount to so far. Everything in it
// follows from the records alone, so that folding them again gives the same.
type fold struct {
	hello      *recorder.Hello
	strings    recorder.StringTable
	first, now int64 // ns of the first and of the newest record
	heard      bool  // there was a record
	frame      int64 // under way, -1 unknown
	recording  bool
	trouble    string // why the source has no numbers, as its newest sample says
	arenas     []*arenaFold
	pools      []*poolFold
	nonArena   []NonArenaTotal // by name
	ooms       []*recorder.OOM
	actions    []Action
	moments    []Moment
	lost       int64
	dropped    int64 // recorded arenas and transients that the source's registry pushed out
	problems   problems
	bye        *recorder.Bye

	parts          *recorder.StateJoiner // of a state that is not complete; nil while there are none
	arenasShared   bool                  // a reader or a checkpoint has the rows
	poolsShared    bool
	nonArenaShared bool

	say func(Entry) // told of what belongs into the log; nil while the past is folded again
}

func newFold(say func(Entry)) *fold { return &fold{frame: -1, say: say} }

// apply folds a record. Events of arenas are folded one by one (applyArena).
func (f *fold) apply(record recorder.Record) {
	f.touch(record.Time())
	switch r := record.(type) {
	case *recorder.Hello:
		f.greet(r)
	case *recorder.Strings:
		if err := f.strings.Add(r); err != nil {
			f.problems.add("strings", err.Error())
		}
	case *recorder.State:
		f.takeState(r)
	case *recorder.Frame:
		f.frame = r.N
	case *recorder.Sample:
		f.takeSample(r)
	case *recorder.PoolEvents:
		f.applyPool(r, r.Len())
	case *recorder.Peak:
		f.takePeak(r.Ns, &r.NonArena)
	case *recorder.OOM:
		f.takeOOM(r)
	case *recorder.Command:
		f.takeCommand(r)
	case *recorder.Ack:
		f.takeAck(r)
	case *recorder.Note:
		f.log(r.Ns, noteLevel(r.Level), EntryNote, r.Text)
	case *recorder.Lost:
		f.takeLost(r)
	case *recorder.Bye:
		f.bye = r
		f.log(r.Ns, LevelInfo, EntrySource, "ended: "+cmp.Or(r.Why, "no reason given")+f.unanswered())
	}
}

// touch moves the source's clock on.
func (f *fold) touch(ns int64) {
	if ns == 0 {
		return
	}
	if !f.heard || ns < f.first {
		f.first, f.heard = ns, true // a calibration dump begins with its end
	}
	f.now = max(f.now, ns)
}

// greet begins the source, or begins it anew: a program that says hello again,
// after a new connection or in a new file, keeps what it told before, but for its
// arenas. Those name their scopes by numbers that now mean something else, and
// come again with the state that follows.
func (f *fold) greet(hello *recorder.Hello) {
	f.hello, f.bye, f.parts, f.trouble = hello, nil, nil, ""
	f.arenas, f.arenasShared = nil, false
	f.strings.Reset()
}

// sameRun says whether two greetings come from one run of one program.
func sameRun(a, b *recorder.Hello) bool {
	return a.Kind == b.Kind && a.PID == b.PID && a.Start == b.Start && a.Name == b.Name
}

// takeState replaces what was known by a state, once all of its parts are there.
func (f *fold) takeState(state *recorder.State) {
	if state = f.join(state); state == nil {
		return
	}
	if state.Frame != nil {
		f.frame = *state.Frame
	}
	f.recording = state.Recording
	f.dropped = int64(state.Dropped) + int64(state.DroppedPeaks)
	f.replaceArenas(state.Arenas)
	f.replacePools(state.Pools, state.Ns)
	if len(state.NonArena) > 0 {
		f.replaceNonArena(state.NonArena, state.Ns)
	}
}

// join is the whole state once its last part has come, nil before that.
func (f *fold) join(part *recorder.State) *recorder.State {
	if f.parts == nil {
		f.parts = new(recorder.StateJoiner)
	}
	whole, err := f.parts.Add(part)
	switch {
	case err != nil:
		f.problems.add("state", err.Error())
	case whole == nil && !part.More:
		f.problems.add("state", "a part came whose beginning is missing")
	}
	if !part.More {
		f.parts = nil
	}
	return whole
}

func (f *fold) replaceArenas(states []recorder.ArenaState) {
	known := make(map[int64]*arenaFold, len(f.arenas))
	for _, a := range f.arenas {
		known[a.id] = a
	}
	states = states[:min(len(states), maximumArenas)]
	f.arenas, f.arenasShared = make([]*arenaFold, 0, len(states)), false
	for i := range states {
		old := known[states[i].ID]
		if old != nil && old.endedAs(&states[i]) {
			f.arenas = append(f.arenas, old)
			continue
		}
		a, err := replaceArena(&states[i], old)
		if err != nil {
			f.problems.add(arenaName(a), err.Error())
		}
		f.arenas = append(f.arenas, a)
	}
}

func (f *fold) replacePools(states []recorder.PoolState, ns int64) {
	known := make(map[int64]*poolFold, len(f.pools))
	for _, p := range f.pools {
		known[p.id] = p
	}
	states = states[:min(len(states), maximumArenas)]
	f.pools, f.poolsShared = make([]*poolFold, 0, len(states)), false
	for i := range states {
		old := known[states[i].ID]
		p := replacePool(&states[i], old, func(what string) { f.problems.add(fmt.Sprintf("pool %d", states[i].ID), what) })
		if old != nil && old.state.Generation != p.state.Generation {
			f.moment(Moment{Ns: ns, Frame: f.frame, Kind: MomentRebuild, Text: rebuildText(p)})
		}
		f.pools = append(f.pools, p)
	}
}

func rebuildText(p *poolFold) string {
	return fmt.Sprintf("%s: generation %d", poolName(p), p.state.Generation)
}

func poolName(p *poolFold) string {
	return cmp.Or(p.state.Name, fmt.Sprintf("pool %d", p.id))
}

// takeSample notes what a sample says besides its numbers.
func (f *fold) takeSample(sample *recorder.Sample) {
	trouble := ""
	if len(sample.Sets) == 0 {
		trouble = sample.Error
	} else if sample.Error != "" {
		f.problems.add("sampling", sample.Error)
	}
	f.trouble = trouble
}

// applyPool folds the first n events of a batch.
func (f *fold) applyPool(batch *recorder.PoolEvents, n int) {
	if n == 0 {
		return
	}
	f.touch(batch.Ns[n-1])
	p := f.ownPool(batch.Pool)
	if p == nil {
		return
	}
	for i := range n {
		before := p.state.Generation
		if problem := p.apply(batch, i); problem != "" {
			f.problems.add(poolName(p), problem)
		}
		if p.state.Generation != before {
			f.moment(Moment{Ns: batch.Ns[i], Frame: batch.Frame, Kind: MomentRebuild, Text: rebuildText(p)})
			f.log(batch.Ns[i], LevelInfo, EntryPool, "rebuilt, "+rebuildText(p))
		}
	}
}

// ownPool is the pool of an ID, ready to be changed; a new one when it is not
// known, nil when there are too many.
func (f *fold) ownPool(id int64) *poolFold {
	for i, p := range f.pools {
		if p.id != id {
			continue
		}
		if f.poolsShared {
			f.pools, f.poolsShared = slices.Clone(f.pools), false
		}
		if p.frozen {
			p = resumePool(p.published())
			f.pools[i] = p
		}
		return p
	}
	if len(f.pools) >= maximumArenas {
		f.problems.add("pools", "there are too many; the rest is left out")
		return nil
	}
	if f.poolsShared {
		f.pools, f.poolsShared = slices.Clone(f.pools), false
	}
	p := &poolFold{id: id, state: recorder.PoolState{ID: id}}
	f.pools = append(f.pools, p)
	return p
}

// ownArena is the arena of an ID, ready to be changed; a new one when it is not
// known, nil when there are too many.
func (f *fold) ownArena(id int64) *arenaFold {
	for i := len(f.arenas) - 1; i >= 0; i-- {
		a := f.arenas[i]
		if a.id != id {
			continue
		}
		if a.frozen {
			f.unshareArenas()
			a = a.thaw()
			f.arenas[i] = a
		}
		return a
	}
	if len(f.arenas) >= maximumArenas {
		f.problems.add("arenas", "there are too many; the rest is left out")
		return nil
	}
	f.unshareArenas()
	a := newArenaFold(id)
	f.arenas = append(f.arenas, a)
	return a
}

func (f *fold) unshareArenas() {
	if f.arenasShared {
		f.arenas, f.arenasShared = slices.Clone(f.arenas), false
	}
}

// applyArena folds one event of an arena.
func (f *fold) applyArena(a *arenaFold, event *recorder.ArenaEvent) {
	switch event.Op {
	case arena.OpNew:
		f.moment(Moment{Ns: event.Ns, Frame: event.Frame, Kind: MomentArenaNew, Text: f.strings.String(event.Text)})
	case arena.OpReset:
		f.arenaReset(a, event)
	case arena.OpFail:
		f.log(event.Ns, LevelWarning, EntryArena, fmt.Sprintf("%s: %s did not fit (%s)", arenaName(a),
			FormatBytes(event.Bytes), cmp.Or(f.strings.String(event.Text), "the pointers would cross")))
	}
	a.apply(event)
	if event.Op == arena.OpNew {
		a.state.Name = f.strings.String(event.Text)
	}
}

// arenaReset tells of a reset that abandons scopes.
func (f *fold) arenaReset(a *arenaFold, event *recorder.ArenaEvent) {
	open := len(a.tree.Snapshot().Open())
	if open == 0 {
		return
	}
	text := fmt.Sprintf("%s reset with %s open", arenaName(a), countOf(int64(open), "scope"))
	if why := f.strings.String(event.Text); why != "" {
		text += ": " + why
	}
	f.moment(Moment{Ns: event.Ns, Frame: event.Frame, Kind: MomentArenaReset, Text: text})
	f.log(event.Ns, LevelWarning, EntryArena, text)
}

func arenaName(a *arenaFold) string {
	return cmp.Or(a.state.Name, fmt.Sprintf("arena %d", a.id))
}

// moment adds a mark to the time axis. The order does not depend on the order
// in which records of one time came.
func (f *fold) moment(m Moment) {
	at, _ := slices.BinarySearchFunc(f.moments, m, compareMoments)
	if at == len(f.moments) {
		f.moments = bound(append(f.moments, m), keptMoments)
		return
	}
	f.moments = slices.Insert(slices.Clone(f.moments), at, m)
}

func compareMoments(a, b Moment) int {
	return cmp.Or(cmp.Compare(a.Ns, b.Ns), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Frame, b.Frame))
}

// bound keeps a list from growing without end: at twice the limit the older half
// goes. Readers keep what they have.
func bound[T any](list []T, limit int) []T {
	if len(list) < 2*limit {
		return list
	}
	return append(make([]T, 0, 2*limit), list[len(list)-limit:]...)
}

// log hands a line to the log, if anybody listens.
func (f *fold) log(ns int64, level Level, kind EntryKind, text string, detail ...string) {
	f.tell(Entry{Ns: ns, Level: level, Kind: kind, Text: text, Detail: detail})
}

func (f *fold) tell(entry Entry) {
	if f.say != nil {
		f.say(entry)
	}
}

func noteLevel(level string) Level {
	switch level {
	case "error":
		return LevelError
	case "warning":
		return LevelWarning
	}
	return LevelInfo
}
