package model

import (
	"strings"

	"vramscope/arena"
	"vramscope/recorder"
)

// arenaFold is one arena while its records are folded.
type arenaFold struct {
	id      int64
	state   recorder.ArenaState // Tree, Abandoned and Open are empty
	tree    *recorder.ScopeTree
	partial bool // joined in the middle: no state and no beginning was seen
	told    bool // a state told of it, and nothing has happened since
	failed  int64
	events  int64
	since   int64 // ns of the first event, 0 before there is one
	callers rollupFold
	dtypes  rollupFold
	temps   temporaries
	early   bool // it went on after the last that was told of its allocations

	marksShared bool
	frozen      bool // a checkpoint holds it: thaw before changing it
	view        *ArenaView
}

func newArenaFold(id int64) *arenaFold {
	return &arenaFold{id: id, state: recorder.ArenaState{ID: id}, tree: recorder.NewScopeTree(recorder.TreeLimits{}), partial: true}
}

// replaceArena is an arena as a state tells it. What no state tells is taken
// over from what was known before, if anything was: failures, and the rollups
// since events are seen. The error says what is wrong with the tree; the arena
// then has none.
func replaceArena(state *recorder.ArenaState, before *arenaFold) (*arenaFold, error) {
	tree, err := recorder.LoadScopeTree(state, recorder.TreeLimits{})
	if err != nil {
		tree = recorder.NewScopeTree(recorder.TreeLimits{})
	}
	a := &arenaFold{id: state.ID, state: *state, tree: tree, told: err == nil, marksShared: true}
	a.state.Tree, a.state.Abandoned, a.state.Open = recorder.TreeColumns{}, recorder.TreeColumns{}, nil
	if before != nil {
		a.failed, a.events, a.since = before.failed, before.events, before.since
		a.callers, a.dtypes = before.callers, before.dtypes
		a.callers.frozen, a.dtypes.frozen = true, true
		a.temps = before.temps.lent()
		// A program that tells of its arenas by states alone tells no more of one
		// that it ceases to record.
		a.early = before.early || before.events == 0 && before.state.Recorded && !state.Recorded && state.Released == 0
	}
	return a, err
}

// endedAs says whether a state tells of an arena that has ended what is known of
// it already: states tell of those that ended last again and again.
func (a *arenaFold) endedAs(state *recorder.ArenaState) bool {
	if state.Released == 0 || a.state.Released != state.Released || !a.told || a.view == nil || len(state.Open) > 0 {
		return false
	}
	scopes := a.view.Scopes
	return a.state.Length == state.Length && a.state.Recorded == state.Recorded && a.state.CutEvents == state.CutEvents &&
		scopes.Root() == state.Root && scopes.Len() == len(state.Tree.Parent) &&
		scopes.Abandoned().Len() == len(state.Abandoned.Parent)
}

// thaw is an arena that may be changed.
func (a *arenaFold) thaw() *arenaFold {
	if !a.frozen {
		return a
	}
	c := *a
	c.tree = a.tree.Clone()
	c.callers.frozen, c.dtypes.frozen = true, true
	c.temps = a.temps.lent()
	c.marksShared, c.frozen = true, false
	return &c
}

// freeze makes the arena one that never changes, for a checkpoint. Several
// goroutines may thaw it at a time.
func (a *arenaFold) freeze(table *recorder.StringTable) {
	if a.frozen {
		return
	}
	a.published(table)
	a.callers.frozen, a.dtypes.frozen = true, true
	a.frozen = true
}

// apply folds one event. It keeps nothing of it but strings.
func (a *arenaFold) apply(event *recorder.ArenaEvent) {
	switch event.Op {
	case arena.OpAlloc, arena.OpPersist:
		a.callers.add(event.Text, event.Bytes)
		a.dtypes.add(event.DType, event.Bytes)
		a.state.HighWater = max(a.state.HighWater, event.Forward+a.state.Length-event.Reverse)
	case arena.OpMark:
		a.pushMark(event.Forward)
	case arena.OpRestore:
		a.popMark()
	case arena.OpTempPush:
		a.temps.push(event)
	case arena.OpTempPop:
		a.temps.pop()
	case arena.OpFail:
		a.failed++
	case arena.OpNew:
		a.begin(event)
	case arena.OpReset:
		a.state.HighWater, a.state.Marks = 0, nil
		a.temps = temporaries{known: true}
	case arena.OpRelease:
		a.state.HasBuffer, a.state.Released = false, event.Ns
	}
	if a.events == 0 {
		a.since = event.Ns
	}
	a.events++
	a.view, a.told = nil, false
	a.state.Forward, a.state.Reverse = event.Forward, event.Reverse
	a.tree.Observe(event)
}

// begin makes the arena the new one that an event tells of.
func (a *arenaFold) begin(event *recorder.ArenaEvent) {
	*a = arenaFold{id: a.id, tree: recorder.NewScopeTree(recorder.TreeLimits{})}
	a.state = recorder.ArenaState{ID: a.id, Length: event.Bytes, Managed: true, HasBuffer: true, Created: event.Ns}
	a.temps.known = true
}

func (a *arenaFold) pushMark(forward int64) {
	if a.marksShared {
		a.state.Marks = append(make([]int64, 0, len(a.state.Marks)+4), a.state.Marks...)
		a.marksShared = false
	}
	a.state.Marks = append(a.state.Marks, forward)
}

func (a *arenaFold) popMark() {
	if n := len(a.state.Marks); n > 0 {
		a.state.Marks = a.state.Marks[:n-1]
	}
}

// published is the arena as it is now, for readers.
func (a *arenaFold) published(table *recorder.StringTable) *ArenaView {
	if a.view != nil {
		return a.view
	}
	view := &ArenaView{ID: a.id, State: a.state, Partial: a.partial, Failed: a.failed, Events: a.events, Since: a.since,
		strings: *table, callers: a.callers.publish(), dtypes: a.dtypes.publish()}
	view.Temporaries, view.TemporariesKnown = a.temps.publish()
	a.marksShared = true
	a.publishScopes(view)
	view.Innermost = scopePath(view.Scopes, view.Scopes.Innermost(), table)
	a.view = view
	return view
}

// publishScopes publishes the tree. Nothing is open in an arena that is gone, and
// what an arena counts whose allocations were not all told are lower bounds: its
// own high-water then stands above what the tree has seen.
func (a *arenaFold) publishScopes(view *ArenaView) {
	tree, cut := a.tree, false
	view.Scopes = tree.Snapshot()
	if a.state.Released != 0 && len(view.Scopes.Open()) > 0 {
		tree, cut = tree.Clone(), a.events == 0
		tree.End()
		view.Scopes = tree.Snapshot()
	}
	root := view.Scopes.Root()
	view.Unheard = root.PeakBound == 0 && !a.partial && (a.early || cut || a.state.HighWater > root.Peak)
	if view.Unheard {
		view.Scopes = view.Scopes.Unheard(max(a.state.HighWater, root.Peak, 1))
	}
}

// scopePath is a row's names from the outermost down, with slashes between; ""
// for no row.
func scopePath(scopes *recorder.ScopeSnapshot, row int32, table *recorder.StringTable) string {
	if row < 0 {
		return ""
	}
	var path strings.Builder
	for i, name := range scopes.Path(row) {
		if i > 0 {
			path.WriteByte('/')
		}
		path.WriteString(table.String(name))
	}
	return path.String()
}

// HighWaterIsLeast says that the high-water is a lower bound: the program does not
// tell of every allocation, and no high-water of the arena's own covers the rest.
func (a *ArenaView) HighWaterIsLeast() bool {
	root := a.Scopes.Root()
	return root.PeakBound > max(root.Peak, a.State.HighWater)
}

// TellsNoEvents says that a program tells of an arena's allocations as totals
// that have no times, or does not tell of them at all: no event of the arena has
// come, and none will. Where nothing tells that of the arena itself, as of one
// that is new, the others of its program do.
func (v *SourceView) TellsNoEvents(a *ArenaView) bool {
	if a.Events > 0 {
		return false
	}
	silent := a.countsWithoutTimes()
	for _, other := range v.Arenas {
		if other.Events > 0 {
			return silent
		}
		silent = silent || other.countsWithoutTimes()
	}
	return silent
}

// countsWithoutTimes says that what a state tells of the arena cannot come from
// events, which have times and are counted.
func (a *ArenaView) countsWithoutTimes() bool {
	if a.Events > 0 || a.Scopes == nil {
		return false
	}
	root := a.Scopes.Root()
	if root.AllocCount == 0 {
		return root.PeakBound > 0 && !a.Unheard
	}
	return root.PeakNs == 0
}

// Callers are the bytes allocated since events are seen (Since), by who asked
// for them, most first. The bytes are those of the calls themselves.
func (a *ArenaView) Callers() []Rollup { return a.callers.rollups(&a.strings) }

// DTypes are the bytes allocated since events are seen, by item type.
func (a *ArenaView) DTypes() []Rollup { return a.dtypes.rollups(&a.strings) }
