package model

import (
	"vramscope/arena"
	"vramscope/recorder"
)

// scopePlace is where an event lies, seen from a scope.
type scopePlace uint8

const (
	scopeOutside scopePlace = iota
	scopeInner              // in the scope itself
	scopeBelow              // in a scope inside it
)

// scopeWalk follows the open scopes of an arena and knows whether one of a path
// is among them. An empty path is the arena itself.
type scopeWalk struct {
	path  []string
	open  []walkedScope
	temps int // temporary contexts that are open

	entryForward, entryReverse int64 // of the scope of the path, while it is open
}

type walkedScope struct {
	number uint64
	match  bool // it and those around it are the path so far
	temps  int
}

// begin starts from what was open when the events begin.
func (w *scopeWalk) begin(a *ArenaView, table *recorder.StringTable) {
	w.entryReverse = a.State.Length
	for _, open := range a.Scopes.Open() {
		w.push(open.Number, table.String(a.Scopes.Name(open.Node)), open.EntryForward, open.EntryReverse)
	}
}

// take follows an event.
func (w *scopeWalk) take(event *recorder.ArenaEvent, table *recorder.StringTable) {
	if len(w.path) == 0 {
		// An arena that was joined in the middle has not told its length; its
		// reverse pointer never stands above it.
		w.entryReverse = max(w.entryReverse, event.Reverse)
	}
	switch event.Op {
	case arena.OpNew:
		*w = scopeWalk{path: w.path, open: w.open[:0], entryReverse: event.Bytes}
	case arena.OpReset:
		w.open, w.temps = w.open[:0], 0
	case arena.OpTempPush:
		w.temps++
	case arena.OpTempPop:
		w.temps = max(0, w.temps-1)
	case arena.OpScopeOpen:
		w.push(event.Scope, table.String(event.Text), event.Forward, event.Reverse)
	case arena.OpScopeClose:
		w.close(event.Scope)
	}
}

func (w *scopeWalk) push(number uint64, name string, forward, reverse int64) {
	depth := len(w.open)
	match := (depth == 0 || w.open[depth-1].match) && depth < len(w.path) && w.path[depth] == name
	w.open = append(w.open, walkedScope{number: number, match: match, temps: w.temps})
	if match && depth+1 == len(w.path) {
		w.entryForward, w.entryReverse = forward, reverse
	}
}

// close ends the scope of that number and those inside it.
func (w *scopeWalk) close(number uint64) {
	for i := len(w.open) - 1; i >= 0; i-- {
		if w.open[i].number == number {
			w.open = w.open[:i]
			return
		}
	}
}

// place is where the next event lies.
func (w *scopeWalk) place() scopePlace {
	n := len(w.path)
	switch {
	case len(w.open) < n || n > 0 && !w.open[n-1].match:
		return scopeOutside
	case len(w.open) == n:
		return scopeInner
	}
	return scopeBelow
}
