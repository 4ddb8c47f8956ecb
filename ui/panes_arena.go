package ui

import "vramscope/ui/layout"

// addArenaPanes adds the panes about scopes and arenas.
func addArenaPanes(panes map[layout.Pane]pane) {
	panes[layout.ScopesPane] = newScopesPane()
	panes[layout.ScopePane] = &scopePane{}
}
