package model

import (
	"fmt"
	"iter"
	"math"

	"vramscope/recorder"
)

// A difference of two readings is the truth only where nothing moved between
// them. Programs are sampled ten times a second and drivers twice, so while a
// program allocates, the difference is what it did meanwhile. It is therefore
// taken at the newest reading around which nothing moved, and where there is
// none at the one around which least did.

// readingsBack is how many readings of the driver are looked at, the newest
// included.
const readingsBack = 8

// between is a difference as it is reckoned.
type between struct {
	value int64
	moved int64 // what changed around the reading: the difference is no better than that
	age   int64 // ns since that reading; 0 is the newest
}

// figure is a difference with what can be said of it. Of is what it is the
// difference of, and under why it could truly lie below zero.
func (b between) figure(origin Figure, of, under string) Figure {
	origin.Origin, origin.Within = of, b.moved
	switch {
	case b.moved > 0 && b.value <= b.moved:
		origin.Value, origin.About = 0, true
		origin.Origin += fmt.Sprintf("; they are read at different moments, between which %s changed: it is about nothing", FormatBytes(b.moved))
	case b.value < 0:
		return missing(of + " is under zero: " + under)
	case b.moved > 0:
		origin.Value, origin.About = b.value, true
		origin.Origin += fmt.Sprintf("; they are read at different moments, between which %s changed", FormatBytes(b.moved))
	case b.age > 0:
		origin.Value, origin.About = b.value, true
		origin.Origin += "; as it was " + FormatDuration(b.age) + " ago, when nothing moved: the two are read at different moments"
	default:
		origin.Value = b.value
	}
	return origin
}

// readings are those of a driver, and what is subtracted from them.
type readings struct {
	of     *seriesView // of the whole, of which Used counts; nil where there is no history
	newest int64       // the difference of what was read last
	since  int64       // what is subtracted was not told of before, ns
	now    int64       // ns

	part  func(ns int64) (int64, bool) // what is subtracted, at a moment
	moved func(from, to int64) int64   // how far it moved meanwhile
}

// difference is whole − part at the newest of the readings around which nothing
// moved, or least did. Without a history it is that of what was read last.
func (r *readings) difference() between {
	best := between{value: r.newest}
	if r.of == nil {
		return best
	}
	column := r.of.series.column(recorder.Used)
	if column == nil {
		return best
	}
	times, found := &r.of.series.times, false
	end := r.of.series.after(r.now)
	for number := end - 1; number > times.first && number >= end-readingsBack; number-- {
		at, before, next := times.at(number), times.at(number-1), r.now
		if number+1 < end {
			next = times.at(number + 1)
		}
		whole, known := column.value(number)
		part, partKnown := r.part(at)
		if at < r.since || !known || !partKnown {
			break
		}
		moved := r.moved(max(before, r.since), next)
		if last, ok := column.value(number - 1); ok && before >= r.since {
			moved = max(moved, whole-last, last-whole)
		}
		candidate := between{value: whole - part, moved: moved}
		if number < end-1 {
			candidate.age = r.now - at
		}
		if !found || moved < best.moved {
			best, found = candidate, true
		}
		if moved == 0 {
			break
		}
	}
	return best
}

// counterAt is a counter of a set at a moment, as its history has it.
func (v *seriesView) counterAt(counter recorder.Counter, ns int64) (int64, bool) {
	column, number := v.series.column(counter), v.series.after(ns)-1
	if column == nil || number < v.series.times.first || ns-v.series.times.at(number) > v.series.hold() {
		return 0, false
	}
	return column.value(number)
}

// heldAt is what the root allocators on a device had reserved at a moment, those
// that tell it. It makes no garbage.
func (h *history) heldAt(device string, ns int64) (held int64, ok bool) {
	arenas := int64(0) // the newest sample of any: those that it leaves out are gone
	for view := range h.roots(device) {
		if number := view.series.after(ns) - 1; view.of() == recorder.OfArena && number >= view.series.times.first {
			arenas = max(arenas, view.series.times.at(number))
		}
	}
	for view := range h.roots(device) {
		if number := view.series.after(ns) - 1; view.of() == recorder.OfArena && (number < view.series.times.first || view.series.times.at(number) < arenas) {
			continue
		}
		if value, known := view.counterAt(view.heldCounter(), ns); known {
			held, ok = held+value, true
		}
	}
	return held, ok
}

// heldMoved is the most by which heldAt can have changed between two moments.
func (h *history) heldMoved(device string, from, to int64) (moved int64) {
	for view := range h.roots(device) {
		moved += view.movedBetween(view.heldCounter(), from, to)
	}
	first, _ := h.heldAt(device, from) // an arena that came or went has not moved
	last, _ := h.heldAt(device, to)
	return max(moved, first-last, last-first)
}

// soonAfter is how long after a moment a sample is still of it, ns, where samples come
// often.
const soonAfter = 300_000_000

// sampledFrom is when the allocators of a device were sampled first from a moment on;
// not ok where that was not soon after. Without allocators it is that moment.
func (h *history) sampledFrom(device string, ns int64) (first int64, ok bool) {
	first, ok = math.MaxInt64, true
	for view := range h.roots(device) {
		number := view.series.search(ns, view.series.times.first)
		if number == view.series.times.end {
			continue
		}
		if at := view.series.times.at(number); at < first {
			first, ok = at, at-ns <= max(soonAfter, 3*view.series.gap/2)
		}
	}
	if first == math.MaxInt64 {
		return ns, true
	}
	return first, ok
}

// allocatedMoved is by how much the allocators of a device that lie in no other have
// handed out more or less between two moments, all of it added up.
func (h *history) allocatedMoved(device string, from, to int64) (moved int64) {
	for view := range h.roots(device) {
		moved += view.movedBetween(recorder.Allocated, from, to)
	}
	return moved
}

// movedBetween is how far a counter moved between two moments.
func (v *seriesView) movedBetween(counter recorder.Counter, from, to int64) int64 {
	column := v.series.column(counter)
	if column == nil {
		return 0
	}
	first := max(v.series.after(from)-1, v.series.times.first)
	if inside := column.span(first, v.series.after(to)); inside.known() {
		return inside.max - inside.min
	}
	return 0
}

// roots are the histories of the allocators of a device that lie in no other.
func (h *history) roots(device string) iter.Seq[*seriesView] {
	return func(yield func(*seriesView) bool) {
		if h == nil {
			return
		}
		for _, view := range h.sets {
			of := view.of()
			if of != recorder.OfPool && of != recorder.OfArena || view.labels[len(view.labels)-1].device != device || h.isInAllocator(view) {
				continue
			}
			if !yield(view) {
				return
			}
		}
	}
}

// heldCounter is the counter of what an allocator has taken: an arena its whole
// length.
func (v *seriesView) heldCounter() recorder.Counter {
	if v.of() == recorder.OfArena && v.series.column(recorder.Length) != nil {
		return recorder.Length
	}
	return recorder.Reserved
}

// toldSince is the moment from which on all pools of a device tell that do now, and
// no other does. Pools are found while they live, and may fall silent; arenas are
// told of from the first.
func (h *history) toldSince(subject *SourceView, device string) (since int64) {
	for i := range subject.Sets {
		set := &subject.Sets[i]
		if set.Of != recorder.OfPool || set.Device != device {
			continue
		}
		if view := h.find(set.ID); view != nil && view.series.times.len() > 0 {
			since = max(since, view.series.times.at(view.series.times.first), view.silentSince(subject.Now))
		}
	}
	return since
}

func (v *seriesView) of() string { return v.labels[len(v.labels)-1].of }

// isInAllocator says whether another allocator holds a set's memory, as they
// said last.
func (h *history) isInAllocator(view *seriesView) bool {
	for range maximumNesting {
		in := view.labels[len(view.labels)-1].in
		if in == "" || in == view.id {
			return false
		}
		if view = h.find(in); view == nil {
			return false
		}
		if of := view.of(); of == recorder.OfPool || of == recorder.OfArena {
			return true
		}
	}
	return false
}

// difference is whole − part, without a word on where it comes from.
func difference(whole, part Figure) Figure {
	switch {
	case !whole.Known:
		return whole
	case !part.Known:
		return part
	}
	return Figure{Value: whole.Value - part.Value, Known: true, View: whole.View, Set: whole.Set}
}

// restOf is the driver's figure for a process − what its allocators have
// reserved.
func restOf(subject *SourceView, beside []*SourceView, device string, driver, held Figure) Figure {
	rest := difference(driver, held)
	if !rest.Known {
		return rest
	}
	h := subject.history
	r := readings{newest: rest.Value, since: h.toldSince(subject, device), now: subject.Now,
		part:  func(ns int64) (int64, bool) { return h.heldAt(device, ns) },
		moved: func(from, to int64) int64 { return h.heldMoved(device, from, to) }}
	if driver.View != subject.ID { // what the process reads itself is of its own moment
		r.of = seriesOf(subject, beside, driver)
	}
	return r.difference().figure(rest, "the driver's figure for this process − what its allocators have reserved",
		"the driver leaves a part of them out")
}

// othersOf is the device's used bytes − the driver's figure for a process.
func othersOf(subject *SourceView, beside []*SourceView, device string, used, driver Figure) Figure {
	others := difference(used, driver)
	if !others.Known {
		return others
	}
	r := readings{newest: others.Value, now: subject.Now}
	if own := seriesOf(subject, beside, driver); own != nil && (driver.View != subject.ID || used.View != subject.ID) {
		r.of = seriesOf(subject, beside, used)
		r.part = func(ns int64) (int64, bool) { return own.counterAt(recorder.Used, ns) }
		told := subject.history.toldSince(subject, device)
		r.moved = func(from, to int64) int64 {
			return max(own.movedBetween(recorder.Used, from, to), subject.history.heldMoved(device, max(from, told), to))
		}
	}
	return r.difference().figure(others, "the device's used bytes ("+used.Origin+") − the driver's figure for this process",
		"the driver counts memory to this process that it does not count to the device")
}

// seriesOf is the history of the set that a figure came from; nil where there is
// none.
func seriesOf(subject *SourceView, beside []*SourceView, figure Figure) *seriesView {
	if figure.View == subject.ID {
		return subject.history.find(figure.Set)
	}
	for _, view := range beside {
		if view.ID == figure.View {
			return view.history.find(figure.Set)
		}
	}
	return nil
}

// OthersOn is what other processes use of a device, in bytes; not known where
// the driver's figure for the process, or for the device, is not.
func OthersOn(subject *SourceView, beside []*SourceView, device string) Figure {
	driver := processFigure(subject, beside, device)
	view, set := DeviceOf(subject, beside, device)
	if set == nil {
		return missing(subject.whyNoDevice(device))
	}
	return othersOf(subject, beside, device, view.DeviceUsed(set), driver)
}
