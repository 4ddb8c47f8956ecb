package arena

import "strings"

// Scope is an open scope. It may be copied; the zero value is the null scope,
// which is what one gets while nobody observes.
type Scope struct {
	arena  *Arena
	number uint64
}

// openScope is a scope that has not ended.
type openScope struct {
	number   uint64
	watcher  uint64 // who saw it opening
	observer Observer
	name     string
}

// Scope opens a named stretch of arena use, with the parameters that drive
// its size. Scopes nest. While nobody observes it costs one test, makes no
// garbage and returns the null scope. It mirrors algan's scope(name, **params).
func (a *Arena) Scope(name string, params ...Param) Scope {
	if a.observer == nil {
		return Scope{}
	}
	return a.openScope(name, params)
}

// End closes the scope, and with it the scopes opened after it; deferred, it
// does so when the function panics too. It does nothing when the scope has
// ended, when the arena was reset since it opened, and when another observer
// than the one that saw it opening watches now.
func (s Scope) End() {
	if s.arena != nil {
		s.arena.closeScope(s.number)
	}
}

// Number is the scope's number in its arena, from 1 in the order of opening,
// as in Event.Scope; 0 for the null scope.
func (s Scope) Number() uint64 { return s.number }

// NoteParams adds parameters to the innermost open scope, for sizes that are
// known late; the last value of a name wins. While nobody observes it costs
// one test. It mirrors algan's note_scope_params.
func (a *Arena) NoteParams(params ...Param) {
	if a.observer != nil && len(params) > 0 {
		a.observe(Event{Op: OpParams, Params: a.copyParams(params)})
	}
}

func (a *Arena) openScope(name string, params []Param) Scope {
	a.scopeNumber++
	a.scopes = append(a.scopes, openScope{
		number: a.scopeNumber, watcher: a.watcher, observer: a.observer, name: name})
	a.observe(Event{Op: OpScopeOpen, Scope: a.scopeNumber, Name: name, Params: a.copyParams(params)})
	return Scope{arena: a, number: a.scopeNumber}
}

// copyParams keeps the caller's parameters on the caller's stack: handed to
// an observer themselves, they would have to be allocated at every call.
func (a *Arena) copyParams(params []Param) []Param {
	if len(params) == 0 {
		return nil
	}
	a.params = append(a.params[:0], params...)
	return a.params
}

// closeScope takes a scope off the stack. Scopes of the same observer above it
// were left without an end, and go with it; another observer's stay, for when
// that one returns.
func (a *Arena) closeScope(number uint64) {
	position := a.findScope(number)
	if position < 0 {
		return
	}
	if a.scopes[position].watcher != a.watcher {
		a.keepScopes(position, a.scopes[position+1:])
		return
	}
	kept := a.scopes[position+1:]
	if len(kept) > 0 {
		kept = otherWatchers(kept, a.watcher)
	}
	a.keepScopes(position, kept)
	a.observe(Event{Op: OpScopeClose, Scope: number})
}

// findScope is the position of an open scope, or -1. Numbers grow along the
// stack.
func (a *Arena) findScope(number uint64) int {
	for i := len(a.scopes) - 1; i >= 0 && a.scopes[i].number >= number; i-- {
		if a.scopes[i].number == number {
			return i
		}
	}
	return -1
}

// keepScopes cuts the stack at a position and puts back what stays. What goes
// is cleared, so that it holds no observer.
func (a *Arena) keepScopes(position int, kept []openScope) {
	before := a.scopes
	a.scopes = append(a.scopes[:position], kept...)
	clear(before[len(a.scopes):])
}

// otherWatchers moves the scopes that watcher did not open to the front.
func otherWatchers(scopes []openScope, watcher uint64) []openScope {
	others := scopes[:0]
	for _, scope := range scopes {
		if scope.watcher != watcher {
			others = append(others, scope)
		}
	}
	return others
}

// openScopes counts the open scopes that the current observer knows.
func (a *Arena) openScopes() int {
	count := 0
	for i := range a.scopes {
		if a.watcher != 0 && a.scopes[i].watcher == a.watcher {
			count++
		}
	}
	return count
}

// scopePath names the open scopes that the current observer knows, outermost
// first.
func (a *Arena) scopePath() string {
	if a.observer == nil {
		return ""
	}
	var names []string
	for _, scope := range a.scopes {
		if scope.watcher == a.watcher {
			names = append(names, scope.name)
		}
	}
	return strings.Join(names, "/")
}
