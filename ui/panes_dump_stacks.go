package ui

import "vramscope/ui/layout"

// addDumpStackPanes adds the panes about a dump's stacks and its address space.
func addDumpStackPanes(panes map[layout.Pane]pane) {
	stacks := newDumpScopesPane()
	panes[layout.ScopesPane] = stacks
	panes[layout.ScopePane] = &dumpScopePane{stacks: &stacks.tree}
	panes[layout.PoolPane] = &dumpPoolPane{}
	panes[layout.LadderPane] = &dumpFailurePane{}
	panes[layout.BlocksPane] = &dumpBlocksPane{}
	panes[layout.SegmentsPane] = newDumpSegmentsPane()
	panes[layout.FreeSizesPane] = &dumpFreePane{}
}
