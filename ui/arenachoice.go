package ui

import "vramscope/model"

// arenaSumming is whether scopes are summed by name over all arenas.
type arenaSumming uint8

const (
	sumWhereArenasGo arenaSumming = iota // where arenas that carry scopes come and go, and none was chosen by hand
	sumAlways                            // as was chosen with A
	sumNever                             // as was chosen with A
)

// sumsArenas says whether the scopes of all arenas are shown as one, by name. An
// arena that lives for a second is no help to who looks for what takes memory.
func (s *scene) sumsArenas() bool {
	if s.view == nil {
		return false
	}
	switch s.choices.summing {
	case sumAlways:
		return true
	case sumNever:
		return false
	}
	return s.baseline == nil && findArena(s.newest, s.choices.arena) == nil && arenasComeAndGo(s.newest)
}

// briefArena is how long an arena lives at most, in ns, that is gone before
// anybody has read its tree.
const briefArena = 3e9

// arenasComeAndGo says whether an arena with scopes has been released so soon,
// and it was not the only one.
func arenasComeAndGo(view *model.SourceView) bool {
	gone, others := false, 0
	for _, arena := range view.Arenas {
		if isScratch(arena) && !hasScopes(arena) {
			continue
		}
		brief := arena.State.Released != 0 && arena.State.Released-arena.State.Created <= briefArena
		gone = gone || brief && hasScopes(arena)
		others++
	}
	return gone && others > 1
}

// withScopes is how many arenas of a source have scopes.
func withScopes(view *model.SourceView) (n int) {
	for _, arenas := range [...][]*model.ArenaView{view.Gone, view.Arenas} {
		for _, arena := range arenas {
			if hasScopes(arena) {
				n++
			}
		}
	}
	return n
}

// arenaOf is the arena looked at: the one that was chosen, else the newest that
// lives and has been used, else the newest that lives, else the newest with scopes,
// else the newest. One that manages no memory comes after all that do. nil when the
// source has none.
func (c *choices) arenaOf(view *model.SourceView) *model.ArenaView {
	if arena := findArena(view, c.arena); arena != nil {
		return arena
	}
	if view == nil || len(view.Arenas) == 0 {
		return nil
	}
	best := view.Arenas[len(view.Arenas)-1]
	for i := len(view.Arenas) - 2; i >= 0; i-- {
		if arena := view.Arenas[i]; claim(arena) > claim(best) {
			best = arena
		}
	}
	return best
}

// claim is how much an arena asks to be looked at where none was chosen.
func claim(arena *model.ArenaView) (points int) {
	if !isScratch(arena) {
		points += 4
	}
	if arena.State.Released == 0 {
		points += 2
		if isUsed(arena) {
			points++
		}
	} else if hasScopes(arena) {
		points++ // of those that are gone, one of which something is known
	}
	return points
}

// isScratch says whether an arena is known to manage no memory: what is allocated
// from it comes from the ordinary allocator.
func isScratch(arena *model.ArenaView) bool { return !arena.Partial && !arena.State.Managed }

// findArena is the arena of an ID; nil for 0, which chooses none, and where there
// is no such arena.
func findArena(view *model.SourceView, id int64) *model.ArenaView {
	if view == nil || id == 0 {
		return nil
	}
	for _, arenas := range [...][]*model.ArenaView{view.Arenas, view.Gone} {
		for _, arena := range arenas {
			if arena.ID == id {
				return arena
			}
		}
	}
	return nil
}

// isUsed says whether anything was allocated in an arena, or a scope opened.
func isUsed(arena *model.ArenaView) bool {
	return arena.Events > 0 || arena.State.HighWater > 0 || hasScopes(arena) || arena.Scopes != nil && arena.Scopes.Root().AllocCount > 0
}

// hasScopes says whether a scope was opened in an arena.
func hasScopes(arena *model.ArenaView) bool {
	return arena.Scopes != nil && (arena.Scopes.Len() > 0 || arena.Scopes.Abandoned().Len() > 0)
}

// chooseArena looks at one arena.
func (c *choices) chooseArena(id int64) {
	c.arena = id
	if c.summing == sumAlways {
		c.summing = sumWhereArenasGo
	}
}

// nextArena looks at the arena so many places on, or where all of them are summed
// and there is none at the newest itself. It is not ok, and nothing changes, where
// there is no other.
func (s *scene) nextArena(step int) (chosen *model.ArenaView, at int, ok bool) {
	arenas, current := s.view.Arenas, s.choices.arenaOf(s.view)
	for i, arena := range arenas {
		if arena == current {
			at = i
		}
	}
	switch to := at + step; {
	case to >= 0 && to < len(arenas):
		at = to
	case !s.sumsArenas():
		return current, at, false
	}
	s.choices.chooseArena(arenas[at].ID)
	return arenas[at], at, true
}

// letGo lets go of an arena that was chosen while it lived and has been released
// since. One that was chosen after that stays chosen.
func (c *choices) letGo(newest *model.SourceView) {
	arena := findArena(newest, c.arena)
	switch {
	case arena == nil:
		return
	case arena.State.Released == 0:
		c.livedArena = c.arena
	case c.livedArena == c.arena:
		c.arena, c.livedArena = 0, 0
	}
}
