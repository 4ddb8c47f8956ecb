package torchsnap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vramscope/recorder"
)

// traces gives the devices their events. waiting are traces that are about to
// be appended, and events that are about to be appended to the last of all.
func (a *assembly) traces(v value, waiting []value) {
	traces := a.items(v, nil)
	traces = traces[:len(traces):len(traces)]
	var late []value // of the last trace
	for _, item := range waiting {
		switch item = a.m.settled(item); {
		case item.kind == kindList || item.kind == kindTuple:
			traces, late = append(traces, item), nil
		case item.kind == kindEvent:
			late = append(late, item)
		}
	}
	for ordinal, trace := range traces {
		if ordinal == maximumDevices {
			a.problem(fmt.Sprintf("more than %d devices: the rest was left out", maximumDevices))
			break
		}
		if trace.kind != kindList && trace.kind != kindTuple {
			continue
		}
		if ordinal < len(traces)-1 {
			a.trace(a.device(ordinal, false), a.items(trace, nil))
		} else {
			a.trace(a.device(ordinal, false), a.items(trace, late))
		}
	}
}

// trace gives a device its events: a part of the columns where they stand
// side by side, a copy where they do not.
func (a *assembly) trace(d *recorder.DumpDevice, items []value) {
	runs := a.rows(kindEvent, items)
	count := 0
	for i, run := range runs {
		_, more := run.run()
		if a.events+count+more > a.m.eventCount {
			a.problem("the same events stand in the traces again and again and count once")
			runs = runs[:i]
			break
		}
		count += more
	}
	a.events += count
	switch len(runs) {
	case 0:
	case 1:
		first, count := runs[0].run()
		d.Events = a.m.eventsBetween(first, first+count)
		if !a.brief {
			a.m.remarks(&d.Events, first, first+count, 0)
		}
	default:
		d.Events = a.m.copyEvents(runs, count)
	}
}

// eventsBetween is the events of some rows, in place.
func (c *columns) eventsBetween(first, end int) recorder.DumpEvents {
	e := &c.events
	return recorder.DumpEvents{
		Action: e.Action[first:end:end], Address: e.Address[first:end:end], Bytes: e.Bytes[first:end:end],
		Stream: e.Stream[first:end:end], Pool: e.Pool[first:end:end], TimeUs: e.TimeUs[first:end:end],
		Stack: e.Stack[first:end:end], Free: map[int]int64{}, Notes: map[int][]recorder.DumpSetting{},
	}
}

// remarks gives a part of the events what is kept apart from the columns:
// that of the rows from first to end, which are its rows from at on.
func (c *columns) remarks(part *recorder.DumpEvents, first, end, at int) {
	byRow := func(n eventNotes, row int) int { return int(n.event) - row }
	from, _ := slices.BinarySearchFunc(c.notes, first, byRow)
	to, _ := slices.BinarySearchFunc(c.notes, end, byRow)
	for _, n := range c.notes[from:to] {
		part.Notes[int(n.event)-first+at] = n.notes
	}
	byFreeRow := func(n eventFree, row int) int { return int(n.event) - row }
	from, _ = slices.BinarySearchFunc(c.free, first, byFreeRow)
	to, _ = slices.BinarySearchFunc(c.free, end, byFreeRow)
	for _, n := range c.free[from:to] {
		part.Free[int(n.event)-first+at] = n.bytes
	}
}

// copyEvents copies runs of events, count in all.
func (c *columns) copyEvents(runs []value, count int) recorder.DumpEvents {
	from := &c.events
	to := recorder.DumpEvents{
		Action: withRoom[recorder.DumpAction](c.account, nil, count), Address: withRoom[uint64](c.account, nil, count),
		Bytes: withRoom[int64](c.account, nil, count), Stream: withRoom[uint16](c.account, nil, count),
		Pool: withRoom[uint16](c.account, nil, count), TimeUs: withRoom[int64](c.account, nil, count),
		Stack: withRoom[int32](c.account, nil, count), Free: map[int]int64{}, Notes: map[int][]recorder.DumpSetting{},
	}
	for _, run := range runs {
		first, n := run.run()
		end := first + n
		c.remarks(&to, first, end, to.Len())
		to.Action = append(to.Action, from.Action[first:end]...)
		to.Address = append(to.Address, from.Address[first:end]...)
		to.Bytes = append(to.Bytes, from.Bytes[first:end]...)
		to.Stream = append(to.Stream, from.Stream[first:end]...)
		to.Pool = append(to.Pool, from.Pool[first:end]...)
		to.TimeUs = append(to.TimeUs, from.TimeUs[first:end]...)
		to.Stack = append(to.Stack, from.Stack[first:end]...)
	}
	return to
}

// nameCategories puts the names of the snapshot's list of categories where
// its events give numbers.
func (a *assembly) nameCategories(names []value) {
	for _, n := range a.m.notes {
		for i := range n.notes {
			if n.notes[i].Key != "category" {
				continue
			}
			number, err := strconv.Atoi(n.notes[i].Value)
			if err != nil || number < 0 || number >= len(names) {
				continue
			}
			// Events share their notes: a name that is a number would be taken
			// for one the next time.
			if name := a.m.plain(names[number]); name != "" && strings.Trim(name, "0123456789") != "" {
				n.notes[i].Value = name
			}
		}
	}
}
