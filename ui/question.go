package ui

import (
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// question is a dialog with two buttons. No has the keys at first.
type question struct {
	title, text, yes string
	then             func() // after Yes
	onYes            bool   // Yes has the keys
	places           widget.DialogPlaces
}

func (q *question) draw(r grid.Region) {
	dialog := widget.Dialog{Title: q.title, Text: q.text, Yes: q.yes, No: "No", YesFocus: q.onYes}
	q.places = dialog.Draw(r)
}

// do answers the question; it is over when the answer is true.
func (q *question) do(action keymap.Action) (over bool) {
	switch action {
	case keymap.SwitchButton:
		q.onYes = !q.onYes
	case keymap.Press:
		if q.onYes {
			q.then()
		}
		return true
	case keymap.Yes:
		q.then()
		return true
	case keymap.No:
		return true
	}
	return false
}

// click answers by mouse.
func (q *question) click(x, y int) (over bool) {
	switch {
	case q.places.Yes.Contains(x, y):
		q.then()
		return true
	case q.places.No.Contains(x, y):
		return true
	}
	return false
}
