package ui

import (
	"sort"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
)

// momentRow is a number at the moment that is looked at. What is not known is
// grid.Missing. Bytes.
type momentRow struct {
	set     string // what the counters belong to
	of      *recorder.CounterSet
	name    string // which of them
	value   int64
	change  int64 // until now, or since the moment that was remembered
	growth  int64 // a frame, on average over the last ones
	counter recorder.Counter
	old     bool // it is told no more, and the value is of another moment, which set names
}

// growthFrames is over how many frames growth is averaged.
const growthFrames = 32

// momentCounters are the main counters of a kind of set.
func momentCounters(of string) []namedCounter {
	switch of {
	case recorder.OfDevice:
		return deviceCounters[:]
	case recorder.OfProcess:
		return processCounters[:]
	case recorder.OfPool:
		return poolCounters[:]
	case recorder.OfArena:
		return arenaCounters[:]
	case recorder.OfPeaks:
		return peakCounters[:]
	case recorder.OfHost:
		return hostCounters[:]
	}
	return nil
}

type namedCounter struct {
	name    string
	counter recorder.Counter
}

var (
	deviceCounters  = [...]namedCounter{{"used", recorder.Used}, {"free", recorder.Free}}
	processCounters = [...]namedCounter{{"by the driver", recorder.Used}}
	// of a process's share of the machine's memory
	residentCounters = [...]namedCounter{{"resident", recorder.Resident}}
	poolCounters     = [...]namedCounter{{"allocated", recorder.Allocated}, {"reserved", recorder.Reserved}, {"free", recorder.Free}}
	arenaCounters    = [...]namedCounter{{"forward", recorder.Forward}, {"reverse", recorder.Reverse}, {"high-water", recorder.HighWater}}
	peakCounters     = [...]namedCounter{{"reported", recorder.PeakReported}}
	hostCounters     = [...]namedCounter{{"available", recorder.Available}}
)

// momentRows are the numbers of a scene, made once for it.
type momentRows struct {
	rows     []momentRow
	view     *model.SourceView
	newest   *model.SourceView
	baseline *baseline
}

// update makes the rows of a scene anew if it is another one.
func (m *momentRows) update(s *scene) {
	if m.view == s.view && m.newest == s.newest && m.baseline == s.baseline {
		return
	}
	m.view, m.newest, m.baseline = s.view, s.newest, s.baseline
	m.rows = m.rows[:0]
	if s.view == nil {
		return
	}
	for _, of := range momentOrder {
		for i := range s.view.Sets {
			if set := &s.view.Sets[i]; set.Of == of && !isToldBeside(s, set) {
				m.add(s, s.view, s.newest, &s.view.Sets[i])
			}
		}
		if of == recorder.OfDevice {
			m.addDevice(s)
		}
	}
}

// isToldBeside says whether a set is of a device that has a source of its own:
// what the program reads of it is the same once more.
func isToldBeside(s *scene, set *recorder.CounterSet) bool {
	if set.Of != recorder.OfDevice || s.view.Kind == recorder.KindDevice {
		return false
	}
	for _, view := range s.beside {
		if view.Kind == recorder.KindDevice && deviceSetIn(view, set.Device) != nil {
			return true
		}
	}
	return false
}

// momentOrder is the order of kinds: from the inside out.
var momentOrder = [...]string{
	recorder.OfArena, recorder.OfPool, recorder.OfPeaks, recorder.OfProcess, recorder.OfDevice, recorder.OfHost,
}

// addDevice adds the device as a source of its own tells it.
func (m *momentRows) addDevice(s *scene) {
	for _, view := range s.beside {
		if view.Kind == recorder.KindDevice {
			if set := deviceSetIn(view, s.device); set != nil {
				m.add(s, view, s.snapshot.Find(view.ID), set)
			}
		}
	}
}

// add adds the main counters of a set that it has, or says that it lacks.
func (m *momentRows) add(s *scene, view, newest *model.SourceView, set *recorder.CounterSet) {
	name := setLabel(view, set)
	counters := momentCounters(set.Of)
	shown := set
	if told, ns := view.ToldLast(set); told != nil {
		shown, name = told, string(grid.AppendDuration(nil, view.Now-ns))+" ago: "+name
	}
	if model.IsResident(set) {
		counters = residentCounters[:]
	}
	for _, counter := range counters {
		row := momentRow{set: name, of: set, name: counter.name, counter: counter.counter, value: setValue(shown, counter.counter), old: shown != set}
		row.change, row.growth = grid.Missing, grid.Missing
		switch {
		case row.old:
		case s.baseline != nil && s.baseline.view.ID == view.ID:
			row.change = difference(row.value, setValue(s.baseline.view.FindSet(set.ID), counter.counter))
		case s.past && newest != nil:
			row.change = difference(setValue(newest.FindSet(set.ID), counter.counter), row.value)
		}
		if row.value == grid.Missing && set.Of == recorder.OfPool && counter.counter != recorder.Allocated {
			continue // many allocators tell few counters
		}
		if row.value == grid.Missing && counter.counter == recorder.HighWater {
			continue // the arena itself may tell it, or at least how much
		}
		if view == s.view && !row.old {
			row.growth = growthAt(s, set.ID, counter.counter)
		}
		m.rows = append(m.rows, row)
	}
}

// setValue is a counter of a set; of an arena's reverse pointer, what is in
// use on that side.
func setValue(set *recorder.CounterSet, counter recorder.Counter) int64 {
	value := counterOf(set, counter)
	if counter == recorder.Reverse {
		return reverseUse(counterOf(set, recorder.Length), value)
	}
	return value
}

// growthAt is by how many bytes a counter grew each frame, on average over the
// last frames before the moment that is looked at, as far back as its value is
// known; missing before two frames have begun.
func growthAt(s *scene, set string, counter recorder.Counter) int64 {
	first, _, ok := s.newest.Frames()
	frame := s.newest.FrameAt(s.moment)
	if !ok || frame < 0 {
		return grid.Missing
	}
	after, known := valueAtFrame(s.newest, set, counter, frame)
	for begin := max(first, frame-growthFrames); known && begin < frame; begin++ {
		before, ok := valueAtFrame(s.newest, set, counter, begin)
		if !ok {
			continue
		}
		if counter == recorder.Reverse { // the pointer falls where its side grows
			before, after = after, before
		}
		return (after - before) / (frame - begin)
	}
	return grid.Missing
}

// valueAtFrame is a counter when a frame began.
func valueAtFrame(view *model.SourceView, set string, counter recorder.Counter, frame int64) (value int64, ok bool) {
	ns, begun := view.FrameStart(frame)
	if !begun {
		return 0, false
	}
	value, _, ok = view.ValueAt(set, counter, ns)
	return value, ok
}

// momentsAround are the moments before and after the one that is looked at, at
// most so many of each; the second list begins with what lies after it.
func momentsAround(s *scene, most int) (before, after []model.Moment) {
	moments := s.newest.Moments
	at := sort.Search(len(moments), func(i int) bool { return moments[i].Ns > s.moment })
	return moments[max(at-most, 0):at], moments[at:min(at+most, len(moments))]
}

// nearestMoment is the moment that matters nearest to the one that is looked at;
// nil when there is none.
func nearestMoment(s *scene) (nearest *model.Moment) {
	moments := s.newest.Moments
	best := int64(-1)
	for i := range moments {
		m := &moments[i]
		if isMinor(m.Kind) {
			continue
		}
		distance := max(m.Ns-s.moment, s.moment-m.Ns)
		if best < 0 || distance < best {
			nearest, best = m, distance
		}
	}
	return nearest
}

// momentDetails is what happened around the moment, for the pop-up.
func momentDetails(s *scene) (string, []string) {
	if s.newest == nil {
		return "", nil
	}
	var lines []string
	say := func(moments []model.Moment) {
		for i := range moments {
			lines = append(lines, sinceText(moments[i].Ns-s.moment)+"  "+moments[i].Text)
		}
	}
	before, after := momentsAround(s, 12)
	say(before)
	lines = append(lines, "this moment: "+string(grid.AppendDuration(nil, s.moment-s.newest.First))+" from the start")
	say(after)
	return "What happened around this moment", lines
}

// sinceText is a distance in time: "1.2 s before", "300 ms after".
func sinceText(ns int64) string {
	switch {
	case ns < 0:
		return string(grid.AppendDuration(nil, -ns)) + " before"
	case ns > 0:
		return string(grid.AppendDuration(nil, ns)) + " after"
	}
	return "at this moment"
}
