package ui

import (
	"vramscope/model"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// pane is a rectangle of the screen that shows one thing. It keeps only what
// belongs to the looking (a cursor, an offset, which nodes are open), never
// data: that comes with the scene, every time. It draws inside its frame.
type pane interface {
	// title is what its frame says, and a note at the frame's right end.
	title(s *scene) (title, note string)
	// keys says what kind of pane it is, for the meaning of keys.
	keys() keymap.Context
	// draw draws the pane's inside. It must not allocate in steady state.
	draw(r grid.Region, s *scene, focused bool)
	// do carries out an action; false leaves it to the dashboard.
	do(action keymap.Action, s *scene) bool
}

// framed is a pane that draws into its frame too, where it has one: titles of
// columns, a legend. It then draws all of itself; r is the frame's outside. The
// pane's title is written over it.
type framed interface {
	drawFramed(r grid.Region, s *scene, focused bool)
}

// beside is a pane whose frame says other things in the line of its title: the
// title takes so many columns at the most, and is cut; 0 is all that there are.
type beside interface {
	titleRoom() int
}

// clicker is a pane that a mouse click means something to. The place counts
// from the inside's top left corner.
type clicker interface {
	click(x, y, width, height int, s *scene)
}

// copier is a pane that has a selected row: its text, as y copies it.
type copier interface {
	selectedText(s *scene) string
}

// originator is a pane that can say where its numbers come from, for the
// pop-up of i: one line for each number, with its origin or the reason why it
// is missing.
type originator interface {
	origins(s *scene) []origin
}

// origin is a number with its source.
type origin struct {
	name   string
	figure model.Figure
	count  bool // the figure is a number of things, not of bytes
}

// detailer is a pane whose selected thing has more to say than its row, for
// the pop-up of enter.
type detailer interface {
	details(s *scene) (title string, lines []string)
}

// filterer is a pane whose rows can be filtered and searched.
type filterer interface {
	// setFilter filters by a pattern, "" for none, and says what is wrong with
	// it, in a sentence.
	setFilter(pattern string) error
	filter() string
}

// mover is a pane whose selected thing has a moment of its own: the dashboard
// then looks at that moment.
type mover interface {
	// moment is the moment that the pane asks to look at; ok is false when it
	// asks for none. The answer is given once.
	takeMoment() (ns int64, live, ok bool)
}
