// Package widget draws the pieces that panes are made of into regions of a
// cell grid. Each is a plain function of its data: it keeps nothing, asks
// nobody and makes no garbage. What a piece means is never told by its colour
// alone.
package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

const (
	across = themes.ArmLeft | themes.ArmRight
	upDown = themes.ArmUp | themes.ArmDown
)

// Frame draws the lines around a region. Where they meet lines that are there
// already they join, so neighbours may share a side: lay their regions one
// over the other by a row or column, draw all frames, the focused one last,
// and their titles after that.
func Frame(r grid.Region, style grid.Style) {
	right, bottom := r.Width()-1, r.Height()-1
	if right < 0 || bottom < 0 {
		return
	}
	for x := 1; x < right; x++ {
		r.Arms(x, 0, across, style)
		r.Arms(x, bottom, across, style)
	}
	for y := 1; y < bottom; y++ {
		r.Arms(0, y, upDown, style)
		r.Arms(right, y, upDown, style)
	}
	r.Arms(0, 0, themes.ArmRight|themes.ArmDown, style)
	r.Arms(right, 0, themes.ArmLeft|themes.ArmDown, style)
	r.Arms(0, bottom, themes.ArmRight|themes.ArmUp, style)
	r.Arms(right, bottom, themes.ArmLeft|themes.ArmUp, style)
}

// FrameStyle is the style of a pane's frame.
func FrameStyle(focused bool) grid.Style {
	if focused {
		return grid.Of(themes.BorderFocused)
	}
	return grid.Of(themes.Border)
}

// Title writes a pane's title, and a note at its right end, into the top side
// of its frame. Without a frame it works on any row. The note goes first where
// there is no room for both.
func Title(r grid.Region, title, note string, focused bool) {
	style := grid.Of(themes.Title)
	if focused {
		style = grid.Of(themes.TitleFocused)
	}
	room := r.Width() - 4 // a corner and a blank on each side
	titleWidth := grid.Width(grid.Prefix(title, room))
	if titleWidth < room && grid.Width(title) > titleWidth {
		titleWidth = room
	}
	if titleWidth <= 0 {
		return
	}
	padded(r, 1, titleWidth, style, title)
	if noteWidth := grid.Width(note); noteWidth > 0 && titleWidth+noteWidth+3 <= room {
		padded(r, r.Width()-noteWidth-3, noteWidth, grid.Of(themes.Dim), note)
	}
}

// padded writes text in width columns with a blank on each side.
func padded(r grid.Region, x, width int, style grid.Style, text string) {
	r.Set(x, 0, ' ', style)
	r.Fit(x+1, 0, width, style, text, grid.Left)
	r.Set(x+1+width, 0, ' ', style)
}

// Rule draws a line across a framed region at row y and joins it to both
// sides.
func Rule(r grid.Region, y int, style grid.Style) {
	right := r.Width() - 1
	for x := 1; x < right; x++ {
		r.Arms(x, y, across, style)
	}
	r.Arms(0, y, themes.ArmRight, style)
	r.Arms(right, y, themes.ArmLeft, style)
}

// ColumnRule draws a line down a framed region at column x and joins it to
// both sides.
func ColumnRule(r grid.Region, x int, style grid.Style) {
	bottom := r.Height() - 1
	for y := 1; y < bottom; y++ {
		r.Arms(x, y, upDown, style)
	}
	r.Arms(x, 0, themes.ArmDown, style)
	r.Arms(x, bottom, themes.ArmUp, style)
}
