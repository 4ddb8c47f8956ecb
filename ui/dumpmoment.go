package ui

import (
	"fmt"
	"sort"

	"vramscope/model/dump"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// lookAt looks at the moment after an event: BeforeFirst is before all of them,
// and what lies beyond the last is the end state. A chart then shows a stretch
// that holds it.
func (c *dumpChoices) lookAt(d *dump.Device, event int) {
	last := d.Events.Len() - 1
	if event > last || last < 0 {
		c.event, c.atEnd = last, true
		return
	}
	c.event, c.atEnd = max(event, dump.BeforeFirst), false
	c.reveal(d)
}

// reveal moves the stretch that charts show so that the moment lies in it.
func (c *dumpChoices) reveal(d *dump.Device) {
	from, to := c.stretch(d)
	event := max(c.event, 0)
	if event >= from && event < to {
		return
	}
	c.show(d, event-(to-from)/2, to-from)
}

// show shows a stretch of so many events; all of them where it holds all.
func (c *dumpChoices) show(d *dump.Device, from, length int) {
	all := d.Events.Len()
	length = min(max(length, min(shortestStretch, all)), all)
	from = min(max(from, 0), all-length)
	c.from, c.to = from, from+length
	if length == all {
		c.from, c.to = 0, 0
	}
}

// shortestStretch is as far as one can zoom in, in events.
const shortestStretch = 4

// at is the event that is looked at, the number of events at the end.
func (c *dumpChoices) at(d *dump.Device) int {
	if c.atEnd {
		return d.Events.Len()
	}
	return c.event
}

// beginAt looks at the moment that the user named with the file. While the file
// is still being read, that is the moment as far as it is known by then.
func (c *dumpChoices) beginAt(d *dump.Device, moment dump.Moment, whole bool) {
	event, err := d.Event(moment)
	if err == nil {
		c.event, c.atEnd = event, moment == dump.AtEnd
	}
	if whole {
		delete(c.begin, c.source)
		c.refused = err
	}
}

// chooseDevice looks at another device of the dump, at its end.
func (c *dumpChoices) chooseDevice(number int) {
	c.device, c.atEnd, c.from, c.to, c.stack = number, true, 0, 0, dump.BeforeRecording
	c.node, c.address = 0, 0
}

// turnDevice looks at the next device of the dump or the one before; false
// where the source is none.
func (d *Dashboard) turnDevice(action keymap.Action) bool {
	index, device := d.scene.dumpOf()
	if index == nil {
		return isDump(d.scene.view)
	}
	if len(index.Devices) < 2 {
		d.say(widget.StatusInfo, "this dump has one device")
		return true
	}
	number, step := d.scene.dumpFacts().number, 1
	if action == keymap.PreviousArena {
		step = len(index.Devices) - 1
	}
	number = (number + step) % len(index.Devices)
	d.choices.dump.chooseDevice(number)
	device = index.Devices[number]
	d.say(widget.StatusInfo, device.Name()+" of this dump")
	return true
}

// jumpInDump looks at the peak or at another failed allocation of a dump; false
// where the source is none.
func (d *Dashboard) jumpInDump(action keymap.Action) bool {
	_, device := d.scene.dumpOf()
	if device == nil {
		return isDump(d.scene.view)
	}
	c := &d.choices.dump
	if action == keymap.JumpToPeak {
		if d.scene.dumpFacts().tellsNoPeak() {
			d.say(widget.StatusInfo, "no peak is known: "+noPeakTold)
			return true
		}
		d.jumpToPeak(device)
		return true
	}
	ooms := device.OOMEvents
	if len(ooms) == 0 {
		d.say(widget.StatusInfo, "no allocation failed in this dump")
		return true
	}
	at := c.at(device)
	next := sort.Search(len(ooms), func(i int) bool { return int(ooms[i]) > at })
	if action == keymap.PreviousOOM {
		next = sort.Search(len(ooms), func(i int) bool { return int(ooms[i]) >= at }) - 1
	}
	next = (next + len(ooms)) % len(ooms) // behind the last comes the first
	c.lookAt(device, int(ooms[next]))
	d.say(widget.StatusError, fmt.Sprintf("out of memory, %d of %d: the events (7) say why", next+1, len(ooms)))
	return true
}

// jumpToPeak looks at the peak of requested bytes, and from there at that of
// allocated bytes, which may be another moment.
func (d *Dashboard) jumpToPeak(device *dump.Device) {
	c := &d.choices.dump
	requested, allocated := device.Peaks[dump.Requested].Event, device.Peaks[dump.Allocated].Event
	event, series := requested, dump.Requested
	if !c.atEnd && c.event == requested && allocated != requested {
		event, series = allocated, dump.Allocated
	}
	c.lookAt(device, event)
	text := "at the peak of " + series.String() + " bytes"
	switch {
	case requested == allocated:
		text += ", which is that of allocated bytes too"
	case series == dump.Requested:
		text += "; x again goes to that of allocated bytes"
	}
	d.say(widget.StatusInfo, text)
}

// lookAtTyped looks at a moment of a dump as it is written behind an @.
func (d *Dashboard) lookAtTyped(text string) {
	_, device := d.scene.dumpOf()
	if device == nil {
		d.say(widget.StatusError, "only a memory dump has moments to go to by name: peak, end, an event's number, or seconds such as 12.5s")
		return
	}
	moment, err := dump.ParseMoment(text)
	event := 0
	if err == nil {
		event, err = device.Event(moment)
	}
	if err != nil {
		d.say(widget.StatusError, err.Error())
		return
	}
	if moment == dump.AtEnd {
		event = device.Events.Len()
	}
	d.choices.dump.lookAt(device, event)
}

// grant looks at the source that a pane asks for.
func (d *Dashboard) grant(wish sourceWish) {
	if d.scene.view == nil || d.scene.view.ID != wish.source {
		d.choose(wish.source)
	}
	d.scene.dumpOf() // the choices are those of this dump now
	if index, _ := d.scene.dumpOf(); index != nil && wish.device >= 0 && wish.device != d.choices.dump.device {
		if facts := d.scene.dumpFacts(); facts == nil || facts.number != wish.device {
			d.choices.dump.chooseDevice(wish.device)
		}
	}
}

// leaveMoment goes back to the end state; false where that is looked at, or
// where the source is no dump.
func (d *Dashboard) leaveMoment() bool {
	_, device := d.scene.dumpOf()
	if device == nil || d.choices.dump.atEnd {
		return false
	}
	d.choices.dump.lookAt(device, device.Events.Len())
	return true
}

// turnDumpAxis counts the axis of a dump in time or in events; false where the
// source is none.
func (d *Dashboard) turnDumpAxis() bool {
	_, device := d.scene.dumpOf()
	switch {
	case device == nil:
		return isDump(d.scene.view)
	case !device.Timed():
		d.say(widget.StatusWarning, "the events of this dump have no times: the axis counts events")
		return true
	case d.axis == widget.Seconds:
		d.axis = widget.Frames
		d.say(widget.StatusInfo, "the axis counts events")
	default:
		d.axis = widget.Seconds
		d.say(widget.StatusInfo, "the axis counts time")
	}
	d.setScene()
	return true
}
