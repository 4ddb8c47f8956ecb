package ui

import (
	"strings"

	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// newPanes makes every pane once; they live as long as the dashboard.
func newPanes() map[layout.Pane]pane {
	panes := map[layout.Pane]pane{}
	for name := layout.NoPane + 1; int(name) < layout.PaneCount; name++ {
		panes[name] = emptyPane{name}
	}
	panes[layout.HeadroomPane] = &headroomPane{}
	panes[layout.InsidePane] = insidePane{}
	panes[layout.PeaksPane] = &peaksPane{}
	panes[layout.DevicesPane] = newDevicesPane()
	panes[layout.ProcessesPane] = newProcessesPane()
	panes[layout.DevicePane] = &devicePane{}
	panes[layout.EventsPane] = newEventsPane()
	panes[layout.EventPane] = &eventPane{}
	panes[layout.PoolPane] = &poolPane{}
	panes[layout.LadderPane] = newLadderPane()
	panes[layout.BlocksPane] = &blocksPane{}
	panes[layout.SegmentsPane] = newSegmentsPane()
	panes[layout.FreeSizesPane] = &freeSizesPane{}
	addArenaPanes(panes)
	allocators := newAllocatorsPane()
	panes[layout.AllocatorsPane] = allocators
	panes[layout.AllocatorPane] = &allocatorPane{table: allocators}
	panes[layout.TimelinePane] = &timelinePane{}
	panes[layout.MomentPane] = &momentPane{}
	panes[layout.LiveThenPane] = &liveThenPane{}
	return panes
}

// nothing says in a pane what would fill it.
// Where there is no room for all of it, as many whole statements are said as fit.
func nothing(r grid.Region, text string) {
	widget.Paragraph(r, grid.Of(themes.Dim), statements(text, r.Width(), r.Height()))
}

// statements is as much of a text as fits into so many columns and rows, up to the
// end of a sentence or of a statement that another explains; all of it where not
// even the first fits.
func statements(text string, columns, rows int) string {
	if widget.WrapHeight(text, columns) <= rows {
		return text
	}
	for end := len(text) - 1; end > 0; end-- {
		if text[end] != ' ' || !strings.ContainsRune(".:;", rune(text[end-1])) {
			continue
		}
		if head := text[:end-1] + "."; widget.WrapHeight(head, columns) <= rows {
			return head
		}
	}
	return text
}

// emptyPane is a pane that nothing fills.
type emptyPane struct{ name layout.Pane }

func (p emptyPane) title(*scene) (string, string) { return p.name.String(), "" }
func (emptyPane) keys() keymap.Context            { return keymap.List }
func (emptyPane) draw(grid.Region, *scene, bool)  {}
func (emptyPane) do(keymap.Action, *scene) bool   { return false }
