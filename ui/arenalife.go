package ui

import (
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
)

// arenaLife is an arena with the time in which it lived, in monotonic ns. A
// program tells of its last arenas alone; of those before, the history has the
// samples.
type arenaLife struct {
	id       int64
	set      string // ID of its counter set; "" where it has none
	length   int64  // bytes; 0 is asked of the set
	from, to int64
	born     bool // it was made at from, or is not sampled before
	ended    bool // it was released at to, or is not sampled after
}

// findArenas finds every arena that lived in what is kept of a source.
func (p *timelinePlan) findArenas(view *model.SourceView) {
	p.spans = view.SetSpans(p.spans[:0], recorder.OfArena)
	for i := range p.spans {
		span := &p.spans[i]
		number, isArena := strings.CutPrefix(span.ID, "arena:")
		id, err := strconv.ParseInt(number, 10, 64)
		if isArena && err == nil {
			p.arenas = append(p.arenas, arenaLife{id: id, set: span.ID, from: span.First, to: span.Last, born: span.First > view.First, ended: true})
		}
	}
	for _, arena := range view.Arenas {
		p.addArena(view, arena)
	}
}

// addArena adds an arena that the program tells of: it knows better than the
// samples when it was made and released.
func (p *timelinePlan) addArena(view *model.SourceView, arena *model.ArenaView) {
	life := arenaLife{id: arena.ID, length: max(arena.State.Length, 0), from: view.First, to: view.Now}
	if arena.State.Created > 0 {
		life.from, life.born = arena.State.Created, true
	}
	if arena.State.Released > 0 {
		life.to, life.ended = arena.State.Released, true
	}
	for i := len(p.arenas) - 1; i >= 0; i-- { // those that are told of are mostly the last
		if known := &p.arenas[i]; known.id == arena.ID {
			life.set = known.set
			*known = life
			return
		}
	}
	p.arenas = append(p.arenas, life)
}

// bytes is how long the arena is, in bytes; 0 where that is not known.
func (l *arenaLife) bytes(view *model.SourceView) int64 {
	if l.length > 0 || l.set == "" {
		return l.length
	}
	length, _, ok := view.ValueAt(l.set, recorder.Length, l.to)
	if !ok {
		return 0
	}
	return length
}
