package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
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

	facts  dumpFacts              // of the moment
	serial uint64                 // of the last facts about another device
	begin  map[string]dump.Moment // by dump, the moment to begin with, until it was found
	// refused says why there is no such moment, until that was said.
	refused error
}

// dumpOf is the dump that is looked at with its device; nil where the source
// is none or has no device.
func (s *scene) dumpOf() (*dump.Index, *dump.Device) {
	if s.view == nil || s.view.Dump == nil {
		return nil, nil
	}
	c := &s.choices.dump
	if c.source != s.view.ID {
		*c = dumpChoices{source: s.view.ID, device: -1, atEnd: true, stack: dump.BeforeRecording, serial: c.serial, begin: c.begin}
	}
	index := s.view.Dump
	number := c.device
	if number < 0 || number >= len(index.Devices) {
		number = index.Main()
	}
	if number < 0 {
		return index, nil
	}
	device := index.Devices[number]
	if moment, asked := c.begin[c.source]; asked {
		c.beginAt(device, moment, s.view.Status != model.StatusLoading)
	}
	if c.event >= device.Events.Len() {
		c.event = device.Events.Len() - 1
	}
	return index, device
}

// stretch is the events [from, to) that charts show.
func (c *dumpChoices) stretch(d *dump.Device) (from, to int) {
	last := d.Events.Len()
	if c.to <= c.from || c.from >= last {
		return 0, last
	}
	return max(c.from, 0), min(c.to, last)
}

// paneOf is the pane that stands in a place: on a memory dump or a calibration
// file its own, where there is one.
func (d *Dashboard) paneOf(name layout.Pane) pane {
	if isDump(d.scene.view) {
		if p := d.dumpPanes[name]; p != nil {
			return p
		}
		return emptyPane{name}
	}
	if isCosts(d.scene.view) {
		if p := d.costPanes[name]; p != nil {
			return p
		}
		return emptyPane{name}
	}
	return d.panes[name]
}

// isDump says whether a source is a memory dump: read, being read, or let go.
func isDump(view *model.SourceView) bool {
	return view != nil && (view.Dump != nil || view.Kind == model.KindDump)
}

// newDumpPanes makes the panes on a memory dump once; a place without one
// stays empty.
func newDumpPanes() map[layout.Pane]pane {
	panes := map[layout.Pane]pane{}
	addDumpMomentPanes(panes)
	addDumpStackPanes(panes)
	return panes
}
