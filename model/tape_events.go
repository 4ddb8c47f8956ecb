package model

import (
	"iter"

	"vramscope/recorder"
)

// events yields an arena's events from a number on, with their numbers but
// without their parameters. The event it yields is overwritten by the next one.
// What is no longer kept is passed over.
func (t *tapeView) events(arena, from int64) iter.Seq2[int64, *recorder.ArenaEvent] {
	return func(yield func(int64, *recorder.ArenaEvent) bool) {
		if t == nil {
			return
		}
		for i := range t.len() {
			s := t.at(i).arena(arena)
			if s == nil || s.base+s.log.Len() <= from {
				continue
			}
			number := s.base
			for event := range s.log.WithoutParams() {
				if number >= from && !yield(number, event) {
					return
				}
				number++
			}
		}
	}
}

// arena is one arena's events in the stretch; nil when it has none.
func (s *stretch) arena(id int64) *arenaStretch {
	for i := range s.arenas {
		if s.arenas[i].id == id {
			return &s.arenas[i]
		}
	}
	return nil
}

// beginning is what was known of an arena when the stretch of an event began;
// first is the number of the first event in that stretch. It is nil when the
// arena was not known by then.
func (t *tapeView) beginning(arena, event int64) (known *arenaFold, first int64) {
	for i := t.len() - 1; i >= 0; i-- {
		s := t.at(i).arena(arena)
		if s == nil || s.base > event {
			continue
		}
		for _, a := range t.at(i).start.arenas {
			if a.id == arena {
				return a, s.base
			}
		}
		return nil, s.base
	}
	return nil, 0
}

// bounds are the numbers of the first event of an arena that is kept and of the
// one behind the last.
func (t *tapeView) bounds(arena int64) (first, end int64) {
	found := false
	for i := range t.len() {
		s := t.at(i).arena(arena)
		if s == nil {
			continue
		}
		if !found {
			first, found = s.base, true
		}
		end = s.base + s.log.Len()
	}
	return first, end
}

// base is where an arena's buffer lies, as a state told; not ok when none did.
func (t *tapeView) base(arena int64) (address uint64, ok bool) {
	for i := t.len() - 1; i >= 0; i-- {
		for _, a := range t.at(i).start.arenas {
			if a.id == arena && a.state.Base != "" {
				return parseAddress(a.state.Base)
			}
		}
	}
	return 0, false
}
