package ui

import (
	"slices"

	"vramscope/model"
	"vramscope/recorder"
)

// scopeChoice is the scope that is selected in the tree and shown by the panes
// beside it. It is found again by its path when rows move, in other snapshots
// and in other arenas.
type scopeChoice struct {
	path      []string // names from the outermost scope down; nil is none
	abandoned bool     // it is one of those that were open when the arena was reset

	version int // grows with every choice

	in  *recorder.ScopeSnapshot // where it was found last
	row int32                   // its row there, -1 for none
}

// choose selects a scope. The path is kept.
func (c *scopeChoice) choose(path []string, abandoned bool) {
	if abandoned == c.abandoned && slices.Equal(path, c.path) {
		return
	}
	*c = scopeChoice{path: path, abandoned: abandoned, version: c.version + 1, row: -1}
}

// find is the tree that the scope is in, and its row there; -1 where the arena
// has no scope of that path.
func (c *scopeChoice) find(view *model.SourceView, arena *model.ArenaView) (scopes *recorder.ScopeSnapshot, row int32) {
	if arena == nil || arena.Scopes == nil {
		return recorder.EmptyScopeSnapshot, -1
	}
	scopes = arena.Scopes
	if c.abandoned {
		scopes = scopes.Abandoned()
	}
	if c.in != scopes {
		c.in, c.row = scopes, rowOfPath(scopes, c.path, &view.Strings)
	}
	return scopes, c.row
}

// rowOfPath is the row of a path of names, -1 for none.
func rowOfPath(scopes *recorder.ScopeSnapshot, path []string, table *recorder.StringTable) int32 {
	row := int32(-1)
	for _, name := range path {
		found := int32(-1)
		for child := range scopes.Children(row) {
			if table.String(scopes.Name(child)) == name {
				found = child
				break
			}
		}
		if found < 0 {
			return -1
		}
		row = found
	}
	return row
}
