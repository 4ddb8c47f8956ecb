package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
)

// dumpFacts are what was asked of a dump at the moment that is looked at. The
// panes share them, and forget with them: nobody else holds on to an index, so
// that one that is not looked at can be let go.
type dumpFacts struct {
	serial uint64 // of index and device: another one for each pair
	index  *dump.Index
	device *dump.Device
	number int // of the device in index.Devices

	reading bool   // this is the first part of a dump that is still being read
	history string // how whole the trace is, in a word or two

	event int // BeforeFirst before all
	atEnd bool
	title string

	totals dump.Totals
	live   []dump.StackTotal // once it was asked for
}

// dumpFacts are the facts of the scene's dump; nil where the source is none or
// has no device.
func (s *scene) dumpFacts() *dumpFacts {
	index, device := s.dumpOf()
	c := &s.choices.dump
	if device == nil {
		if c.facts.index != nil {
			c.facts = dumpFacts{}
		}
		return nil
	}
	f := &c.facts
	if f.index != index || f.device != device {
		c.serial++
		*f = dumpFacts{serial: c.serial, index: index, device: device, event: c.event, atEnd: c.atEnd}
		for number, d := range index.Devices {
			if d == device {
				f.number = number
			}
		}
		f.reading = s.view.Status == model.StatusLoading
		if f.history = historyWord(device); f.reading {
			f.history = "being read"
		}
		f.reckon()
	} else if f.event != c.event || f.atEnd != c.atEnd {
		f.event, f.atEnd = c.event, c.atEnd
		f.reckon()
	}
	return f
}

// reckon forgets what was asked at another moment.
func (f *dumpFacts) reckon() {
	f.live, f.title = nil, ""
	f.totals = f.device.End
	if !f.atEnd {
		f.totals = f.device.At(f.event)
	}
}

// moment is the moment as the indexes take it.
func (f *dumpFacts) moment() dump.Moment {
	if f.atEnd {
		return dump.AtEnd
	}
	return dump.AtEvent(f.event)
}

// last is the event that is looked at, or the last one at the end.
func (f *dumpFacts) last() int {
	if f.atEnd {
		return f.device.Events.Len() - 1
	}
	return f.event
}

// liveStacks is what is live, by stack.
func (f *dumpFacts) liveStacks() []dump.StackTotal {
	if f.live != nil {
		return f.live
	}
	if f.atEnd {
		f.live = f.device.EndByStack()
	} else {
		f.live = f.device.LiveByStack(f.event)
	}
	if f.live == nil {
		f.live = []dump.StackTotal{}
	}
	return f.live
}
