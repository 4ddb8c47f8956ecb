package ui

import (
	"strings"

	"vramscope/ui/grid"
)

// drawReason writes what an event is about: of the name of a caller, where it is
// too long, the middle goes, since names differ at their ends; of a sentence what
// stands before its last comma, and then its end, since a middle turns its meaning.
func drawReason(r grid.Region, x, width int, style grid.Style, text string) {
	if strings.Count(text, " ") < 2 {
		r.FitMiddle(x, 0, width, style, text)
		return
	}
	if comma := strings.LastIndex(text, ", "); comma >= 0 && grid.Width(text) > width {
		text = text[comma+2:]
	}
	r.Fit(x, 0, width, style, text, grid.Left)
}
