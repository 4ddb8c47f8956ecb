package ui

import (
	"strconv"

	"vramscope/model"
	"vramscope/recorder"
)

// noScopes says of an arena without scopes why it has none, and what would make
// some come.
func noScopes(s *scene, a *model.ArenaView) string {
	gone := a.State.Released != 0
	switch {
	case a.State.Recorded && gone:
		return "No scope was opened in this arena: it was recorded until it was released."
	case a.State.Recorded || a.Events > 0 && !gone && isLive(s):
		return "No scope was opened in this arena yet. Each is shown once it is."
	case a.Events > 0:
		return "No scope was opened in this arena while its events were seen."
	}
	return "No scope is known of this arena: it was not recorded. " + howToRecord(s)
}

// noScopesAnywhere says the same of all arenas of a source.
func noScopesAnywhere(s *scene) string {
	for _, a := range s.view.Arenas {
		if a.State.Recorded || a.Events > 0 {
			return "No scope was opened in any arena of this source."
		}
	}
	return "No scope is known of any arena of this source: none was recorded. " + howToRecord(s)
}

// howToRecord says how arenas come to tell their scopes.
func howToRecord(s *scene) string {
	switch {
	case !isLive(s):
		return "A recording that is made while its program is recorded (m) has them."
	case s.newest.Recording:
		return "Those that are made from now on are, and tell theirs."
	case !model.Obeys(s.newest, recorder.CommandRecordOn):
		return "Its program cannot be asked to record."
	case s.readOnly:
		return "Without --readonly, m would have the program record those that are made from then on."
	}
	return "Press m, and those that are made from then on tell theirs."
}

// noEvents says of an arena without events why it has none.
func noEvents(s *scene, a *model.ArenaView) string {
	switch {
	case s.newest.TellsNoEvents(a) && hasScopes(a):
		text := "This arena tells no events: its program counts what each scope allocates, without times. View 4 has the scopes"
		if isLive(s) && a.State.Recorded && model.Obeys(s.newest, recorder.CommandCalibration) {
			text += ", and :calibration writes every allocation of the recorded arenas"
		}
		return text + "."
	case s.newest.TellsNoEvents(a):
		return "This arena tells no events: its program tells where its pointers stand, and of recorded arenas the scopes."
	case s.newest.File != "":
		return "This recording holds no events of the arena, only its states and samples: record while arenas or scopes are looked at."
	case a.State.Released != 0:
		return "No event of this arena was told: it was released before anybody asked for them."
	}
	return "No event was told yet. They come while somebody looks at arenas or scopes, from the source's next state on."
}

// noPointers says of an arena whose pointers were not seen why that is so; "" of
// one that tells them.
func noPointers(s *scene, a *model.ArenaView) string {
	moved := a.Events > 0 || s.newest.WasSampled("arena:"+strconv.FormatInt(a.ID, 10))
	switch {
	case hasScopesAlone(a):
		return "These scopes lie in no arena: they have no pointers."
	case isScratch(a) && (!moved || a.HighestEver() == 0): // its events are those of its scopes
		return "This arena is unmanaged and has no pointers: what is allocated from it comes from the ordinary allocator."
	case moved:
		return ""
	case a.State.Released != 0:
		return "Nobody saw the pointers of this arena move: it was released before a sample was taken."
	case s.newest.TellsNoEvents(a):
		return "The pointers of this arena fill this as samples come: its program tells no events."
	}
	return "The pointers of an arena fill this as they move: their events come while somebody asks for them, samples always."
}

// hasScopesAlone says that an arena is what carries the scopes of a thread that lie
// in none.
func hasScopesAlone(a *model.ArenaView) bool { return a.HasNoBytes() && a.Events > 0 }

// noMarks says of an arena of which nothing is saved how far that is known.
func noMarks(s *scene, a *model.ArenaView) string {
	switch {
	case hasScopesAlone(a):
		return "Of scopes in no arena nothing is saved."
	case a.State.Released != 0:
		return "This arena was released: nothing of it is saved."
	case s.newest.TellsNoEvents(a):
		return "No mark is set. Of temporary contexts its program tells nothing."
	case !a.TemporariesKnown:
		return "No mark is set. Temporary contexts that were open before events came are not known."
	}
	return "No mark is set and no temporary context is open."
}

// noCallers says of an arena without events why its callers are not known.
func noCallers(s *scene, a *model.ArenaView) string {
	if hasScopesAlone(a) {
		return "From scopes in no arena nothing is allocated: what a library allocates meanwhile is in its own numbers."
	}
	if s.newest.TellsNoEvents(a) {
		return "Who allocated, and what, is told by events, and this arena tells none."
	}
	if s.newest.File != "" || a.State.Released != 0 {
		return noEvents(s, a)
	}
	return "The events of the arena fill this: they come while somebody looks at arenas or scopes."
}
