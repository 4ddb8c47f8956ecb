package ui

import (
	"vramscope/model/dump"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// dumpChoices are what the panes on a memory dump share. Its moments are events:
// a dump has no clock of its own that every event is sure to have.
type dumpChoices struct {
	source  string // the dump that the choices are about; another one starts anew
	device  int    // number in Index.Devices, -1 is the one with the most events
	event   int    // the moment looked at is after this event; see atEnd
	atEnd   bool   // the moment is the end state
	from    int    // the first event of the stretch that charts show
	to      int    // the event behind it; 0 is all
	stack   int32  // the stack that is selected, dump.BeforeRecording none
	node    int32  // the node of the stack tree that is selected
	address uint64 // the block under the cursor
}

// dumpOf is the dump that is looked at with its device; nil where the source
// is none or has no device.
func (s *scene) dumpOf() (*dump.Index, *dump.Device) {
	if s.view == nil || s.view.Dump == nil {
		return nil, nil
	}
	c := &s.choices.dump
	if c.source != s.view.ID {
		*c = dumpChoices{source: s.view.ID, device: -1, atEnd: true, stack: dump.BeforeRecording}
	}
	index := s.view.Dump
	number := c.device
	if number < 0 || number >= len(index.Devices) {
		number = index.Main()
	}
	if number < 0 {
		return index, nil
	}
	return index, index.Devices[number]
}

// stretch is the events [from, to) that charts show.
func (c *dumpChoices) stretch(d *dump.Device) (from, to int) {
	last := d.Events.Len()
	if c.to <= c.from || c.from >= last {
		return 0, last
	}
	return max(c.from, 0), min(c.to, last)
}

// moment is the moment looked at.
func (c *dumpChoices) moment() dump.Moment {
	if c.atEnd {
		return dump.AtEnd
	}
	return dump.AtEvent(c.event)
}

// paneOf is the pane that stands in a place: on a memory dump its own, where
// there is one.
func (d *Dashboard) paneOf(name layout.Pane) pane {
	if d.scene.view != nil && d.scene.view.Dump != nil {
		if p := d.dumpPanes[name]; p != nil {
			return p
		}
		return emptyPane{name}
	}
	return d.panes[name]
}

// newDumpPanes makes the panes on a memory dump once; a place without one
// stays empty.
func newDumpPanes() map[layout.Pane]pane {
	return map[layout.Pane]pane{}
}

// jumpInDump looks at the peak or at another failed allocation of a dump; false
// where the source is none.
func (d *Dashboard) jumpInDump(action keymap.Action) bool {
	_, device := d.scene.dumpOf()
	if device == nil {
		return false
	}
	c := &d.choices.dump
	at := c.event
	if c.atEnd {
		at = device.Events.Len()
	}
	switch action {
	case keymap.JumpToPeak:
		c.event, c.atEnd = device.Peaks[dump.Requested].Event, false
		return true
	case keymap.NextOOM:
		for _, event := range device.OOMEvents {
			if int(event) > at {
				c.event, c.atEnd = int(event), false
				break
			}
		}
	case keymap.PreviousOOM:
		for i := len(device.OOMEvents) - 1; i >= 0; i-- {
			if event := int(device.OOMEvents[i]); event < at {
				c.event, c.atEnd = event, false
				break
			}
		}
	}
	return true
}
