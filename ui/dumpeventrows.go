package ui

import (
	"vramscope/recorder"
)

// dumpEventRows are the events of a trace that a filter keeps, without a list of
// them: a trace can have tens of millions. What the filter keeps is told by an
// event's action and stack alone; which of them occur at all in a stretch of
// events is noted once, so that a search steps over the others. Behind the last
// event stands a row for the end state.
type dumpEventRows struct {
	events  *recorder.DumpEvents
	filter  bool
	invert  bool
	actions [256]bool // that match
	stacks  []bool    // by stack + 1, that match
	wanted  stretchNote
	notes   []stretchNote
}

// stretchEvents is how many events share a note.
const stretchEvents = 4096

// stretchNote is which actions and stacks occur in a stretch of events. Several
// stacks share a bit.
type stretchNote struct {
	actions uint32
	stacks  uint64
}

func bitOfAction(action recorder.DumpAction) uint32 { return 1 << (action & 31) }
func bitOfStack(stack int32) uint64                 { return 1 << (uint32(stack+1) & 63) }

// notesOfEvents looks through a trace once.
func notesOfEvents(events *recorder.DumpEvents) []stretchNote {
	notes := make([]stretchNote, (events.Len()+stretchEvents-1)/stretchEvents)
	for stretch := range notes {
		note := &notes[stretch]
		for i := stretch * stretchEvents; i < min((stretch+1)*stretchEvents, events.Len()); i++ {
			note.actions |= bitOfAction(events.Action[i])
			note.stacks |= bitOfStack(events.Stack[i])
		}
	}
	return notes
}

// set takes a device's events and a filter.
func (e *dumpEventRows) set(f *dumpFacts, pattern filterPattern) {
	e.events = f.device.Events
	e.filter, e.invert = pattern.pattern != nil, pattern.invert
	if !e.filter {
		return
	}
	pattern.invert = false
	e.stacks = matchingStacks(f.index, pattern)
	e.wanted = stretchNote{}
	for action := range e.actions {
		e.actions[action] = pattern.matches(recorder.DumpAction(action).String())
		if e.actions[action] != e.invert {
			e.wanted.actions |= bitOfAction(recorder.DumpAction(action))
		}
	}
	for at, matches := range e.stacks {
		if matches != e.invert {
			e.wanted.stacks |= bitOfStack(int32(at) - 1)
		}
	}
}

// keeps says whether an event is shown.
func (e *dumpEventRows) keeps(event int) bool {
	if !e.filter || event == e.events.Len() {
		return true
	}
	stack := int(e.events.Stack[event]) + 1
	return (e.actions[e.events.Action[event]] || stack < len(e.stacks) && e.stacks[stack]) != e.invert
}

// mayKeep says whether any event of a stretch can be shown.
func (e *dumpEventRows) mayKeep(stretch int) bool {
	note := &e.notes[stretch]
	actions, stacks := note.actions&e.wanted.actions != 0, note.stacks&e.wanted.stacks != 0
	if e.invert {
		return actions && stacks
	}
	return actions || stacks
}

// next is the first row from an event on: an event, or the number of events for
// the end state.
func (e *dumpEventRows) next(event int) int {
	event = max(event, 0)
	if !e.filter {
		return min(event, e.events.Len())
	}
	for event < e.events.Len() {
		if event%stretchEvents == 0 && !e.mayKeep(event/stretchEvents) {
			event += stretchEvents
			continue
		}
		if e.keeps(event) {
			return event
		}
		event++
	}
	return e.events.Len()
}

// previous is the last row up to an event; -1 when there is none.
func (e *dumpEventRows) previous(event int) int {
	if event = min(event, e.events.Len()); event == e.events.Len() || !e.filter {
		return max(event, -1)
	}
	for event >= 0 {
		if event%stretchEvents == stretchEvents-1 && !e.mayKeep(event/stretchEvents) {
			event -= stretchEvents
			continue
		}
		if e.keeps(event) {
			return event
		}
		event--
	}
	return -1
}

// move is the row so many rows further down, or up; the nearest there is.
func (e *dumpEventRows) move(event, rows int) int {
	for ; rows > 0 && event < e.events.Len(); rows-- {
		event = e.next(event + 1)
	}
	for ; rows < 0; rows++ {
		above := e.previous(event - 1)
		if above < 0 {
			break
		}
		event = above
	}
	return event
}
