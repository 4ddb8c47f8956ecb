package local

import (
	"strings"

	"vramscope/arena"
)

// place is an open scope of the arena, and how deep it lies.
type place struct {
	scope arena.Scope
	depth int
}

// enter opens a scope. It is left on the way out of a success alone: after a
// failure it is still open when the arena is reset, and so counts as abandoned.
func (r *Render) enter(name string, params ...arena.Param) place {
	p := place{scope: r.arena.Scope(name, params...), depth: len(r.path)}
	r.path = append(r.path, name)
	return p
}

// leave closes the scope and those that were left open inside it.
func (r *Render) leave(p place) {
	p.scope.End()
	r.path = r.path[:p.depth]
}

// abandon resets the arena over whatever is open.
func (r *Render) abandon(reason string) {
	r.arena.Reset(reason)
	r.path = r.path[:0]
}

// where names the open scopes, outermost first.
func (r *Render) where() string { return strings.Join(r.path, "/") }
