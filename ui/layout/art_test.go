package layout

import (
	"strings"

	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// art draws a layout: frames with the panes' names, names alone where there
// are no frames, and the names of the other lines. The rest of a pane without
// a frame is dots.
func art(width, height int, l *Layout) string {
	theme, _ := themes.ByName("mono")
	g := grid.New(grid.NewStyles(theme, themes.NoColor), themes.UnicodeGlyphs())
	g.Resize(width, height)
	all := g.All()
	for _, place := range l.Places() {
		if place.Framed {
			widget.Frame(all.At(place.Frame), 0)
		} else {
			all.Fill(place.Inner, '·', 0)
		}
	}
	for _, place := range l.Places() {
		if place.Framed {
			widget.Title(all.At(place.Frame), place.Pane.String(), "", false)
		} else {
			all.At(place.Inner).Text(0, 0, 0, place.Pane.String())
		}
	}
	for name, rect := range map[string]grid.Rect{
		"HEADER": l.Header, "TABS": l.Tabs, "INPUT": l.Input, "MESSAGE": l.Message, "FOOTER": l.Footer,
	} {
		if !rect.Empty() {
			all.At(rect).Fit(0, 0, rect.W, 0, name, grid.Left)
		}
	}
	return strings.TrimRight(g.Plain(), "\n")
}
