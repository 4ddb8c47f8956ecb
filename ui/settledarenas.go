package ui

import "vramscope/model"

// settledArenas keep what the pointers of arenas did in columns of the past,
// which no record changes any more: asking for it anew, event by event, four
// times a second would be most of what a live timeline costs. Columns have
// numbers, counted from ns 0, and all of them are as wide.
type settledArenas struct {
	source string // ID of the view
	step   int64  // ns of a column; 0 keeps nothing
	round  int
	arenas map[int64]*settledArena
}

type settledArena struct {
	first   int64 // number of the first column that is kept
	kept    []model.PointerColumn
	settled int64 // number of the first column that may still change
	round   int   // in which it was asked for last
}

// settleAfter is how late records may come, in ns: events are sent in batches.
const settleAfter = 3e9

// begin begins a round over all arenas of a source.
func (k *settledArenas) begin(view *model.SourceView, step int64) {
	if k.source != view.ID || k.step != step || k.arenas == nil {
		k.source, k.step, k.arenas = view.ID, step, map[int64]*settledArena{}
	}
	k.round++
}

// end forgets the arenas that the round did not ask for.
func (k *settledArenas) end() {
	for id, arena := range k.arenas {
		if arena.round != k.round {
			delete(k.arenas, id)
		}
	}
}

// columns are n columns of an arena from a number on. They are valid until the
// next call for the arena.
func (k *settledArenas) columns(view *model.SourceView, arena *arenaLife, first int64, n int) []model.PointerColumn {
	known := k.arenas[arena.id]
	if known == nil || first < known.first {
		known = &settledArena{first: first, settled: first}
		k.arenas[arena.id] = known
	}
	known.round = k.round
	// What is left of the window goes; what may have changed is asked for anew.
	valid := max(min(known.settled, known.first+int64(len(known.kept))), first)
	gone := min(first-known.first, int64(len(known.kept)))
	known.kept = known.kept[:copy(known.kept, known.kept[gone:])]
	known.first = first
	known.kept = known.kept[:min(valid-first, int64(min(n, len(known.kept))))]
	if from := first + int64(len(known.kept)); from < first+int64(n) {
		known.kept = view.PointerColumns(known.kept, arena.id, from*k.step, (first+int64(n))*k.step, n-len(known.kept))
	}
	known.settled = max(known.settled, (view.Now-settleAfter)/k.step)
	return known.kept[:min(n, len(known.kept))]
}
