package ui

import (
	tea "charm.land/bubbletea/v2"

	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// onClick finds what a click has hit by the layout's rectangles.
func (d *Dashboard) onClick(mouse tea.Mouse) {
	if mouse.Button != tea.MouseLeft {
		return
	}
	x, y := mouse.X, mouse.Y
	switch {
	case d.question != nil:
		if q := d.question; q.click(x, y) && d.question == q {
			d.question = nil
		}
		return
	case d.popup != nil:
		d.popup = nil
		return
	case d.layout.Tabs.Contains(x, y):
		if tab := widget.TabAt(layout.ViewNames(), int(d.view), d.width, x); tab >= 0 {
			d.showView(layout.View(tab))
		}
		return
	case d.layout.Footer.Contains(x, y) && (d.message.text == "" || !d.layout.Message.Empty()):
		if action, _ := widget.HintAt(d.hints(), d.width, x); action != keymap.None { // one that is refused says why
			if command := d.do(action); command != nil {
				d.later = append(d.later, command)
			}
		}
		return
	}
	place, ok := d.layout.At(x, y)
	if !ok {
		return
	}
	d.focus[d.view] = place.Pane
	if c, ok := d.paneOf(place.Pane).(clicker); ok {
		c.click(x-place.Inner.X, y-place.Inner.Y, place.Inner.W, place.Inner.H, &d.scene)
		d.follow(d.paneOf(place.Pane))
	}
}

// wheelRows is how many rows one notch of the wheel moves.
const wheelRows = 3

// onWheel moves what is under the pointer.
func (d *Dashboard) onWheel(mouse tea.Mouse) {
	action := keymap.Down
	if mouse.Button == tea.MouseWheelUp {
		action = keymap.Up
	} else if mouse.Button != tea.MouseWheelDown {
		return
	}
	if d.question != nil {
		return
	}
	for range wheelRows {
		if d.popup != nil {
			d.doInPopup(action)
			continue
		}
		if place, ok := d.layout.At(mouse.X, mouse.Y); ok {
			p := d.paneOf(place.Pane)
			if p.keys() == keymap.Timeline {
				zoom := keymap.ZoomIn
				if action == keymap.Down {
					zoom = keymap.ZoomOut
				}
				p.do(zoom, &d.scene)
				return
			}
			p.do(action, &d.scene)
			d.follow(p)
		}
	}
}
