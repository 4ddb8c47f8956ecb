package ui

import "vramscope/ui/layout"

// addArenaPanes adds the panes about scopes and arenas.
func addArenaPanes(panes map[layout.Pane]pane) {
	panes[layout.ArenaPane] = &arenaPane{}
	panes[layout.ScopesPane] = newScopesPane()
	panes[layout.ScopePane] = &scopePane{}
	panes[layout.PointersPane] = newPointersPane()
	panes[layout.MarksPane] = newMarksPane()
	panes[layout.StreamPane] = newStreamPane()
	panes[layout.CallersPane] = newCallersPane()
}
