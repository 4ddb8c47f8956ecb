package ui

import (
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// listCursor is the selected row of a list and the part of the list that is
// seen.
type listCursor struct {
	at     int
	offset int // the first row that is seen
	page   int // rows that were seen when it was drawn last
}

// move carries out an action that moves among so many rows; false for others.
func (c *listCursor) move(action keymap.Action, rows int) bool {
	switch action {
	case keymap.Up:
		c.at--
	case keymap.Down:
		c.at++
	case keymap.PageUp:
		c.at -= max(c.page-1, 1)
	case keymap.PageDown:
		c.at += max(c.page-1, 1)
	case keymap.Top:
		c.at = 0
	case keymap.Bottom:
		c.at = rows - 1
	default:
		return false
	}
	c.at = min(max(c.at, 0), max(rows-1, 0))
	return true
}

// scroll moves what is seen, in a window of so many rows, so that the selected
// row is in it.
func (c *listCursor) scroll(rows, page int) {
	c.page = max(page, 1)
	c.offset = widget.ScrollTo(c.offset, min(c.at, max(rows-1, 0)), c.page, rows)
}
