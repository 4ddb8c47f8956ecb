package ui

import (
	"slices"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// timelinePlan is which series the timeline of a source has: what the source
// tells and a reader looks for first. It is made anew when the data changes.
type timelinePlan struct {
	snapshot *model.Snapshot
	newest   *model.SourceView
	device   string
	only     string // name of the device that the series are about, where the source has memory on others too
	series   []plannedSeries
	limits   []widget.Limit
	arenas   []arenaLife
	spans    []model.SetSpan
}

// plannedSeries is a series as the sum of counters and of what arenas do.
type plannedSeries struct {
	name     string
	style    grid.Style
	kind     widget.SeriesKind
	counters []counterPart
	arenas   arenaPart
	silent   bool // a set that it is made of tells no numbers any more
}

// counterPart is a counter of a set of a source.
type counterPart struct {
	view    *model.SourceView
	set     string
	counter recorder.Counter
}

// arenaPart is what of the arenas counts into a series.
type arenaPart uint8

const (
	noArenas    arenaPart = iota
	allUsed               // what is in use on both sides, of all arenas
	rootsUsed             // of those that lie in no other allocator
	rootsLength           // the length of those
)

// add makes a counter a part of the series where the set tells it, or told it before
// it fell silent.
func (p *plannedSeries) add(view *model.SourceView, set *recorder.CounterSet, counter recorder.Counter) {
	told, _ := view.ToldLast(set)
	if set.Values.Known(counter) || told != nil && told.Values.Known(counter) {
		p.counters = append(p.counters, counterPart{view, set.ID, counter})
		p.silent = p.silent || told != nil
	}
}

// timelineScale is how many times as large as the rest the device's used memory
// may be before it is left out: it would press everything else flat.
const timelineScale = 4

// make plans the series of a scene, once for a snapshot.
func (p *timelinePlan) make(s *scene) {
	if p.snapshot == s.snapshot && p.newest == s.newest && p.device == s.device {
		return
	}
	p.snapshot, p.newest, p.device = s.snapshot, s.newest, s.device
	p.series, p.limits, p.arenas, p.only = p.series[:0], p.limits[:0], p.arenas[:0], ""
	switch {
	case s.newest == nil:
	case s.newest.Kind == recorder.KindDevice:
		p.planDevice(s.newest)
	case s.newest.Kind == recorder.KindHost:
		p.planHost(s.newest)
	default:
		p.planProcess(s)
	}
}

// isNamed says whether the series have these names.
func (p *timelinePlan) isNamed(names []string) bool {
	return slices.EqualFunc(p.series, names, func(series plannedSeries, name string) bool { return series.name == name })
}

// planProcess shows what a process's allocators hold and hand out, and over them
// what is used on its device.
func (p *timelinePlan) planProcess(s *scene) {
	view := s.newest
	allocated := plannedSeries{name: "allocated", style: grid.Of(themes.Allocated), kind: widget.Area}
	arena := plannedSeries{name: "arena", style: grid.Of(themes.Arena), kind: widget.ShadeArea}
	reserved := plannedSeries{name: "reserved", style: grid.Of(themes.Reserved), kind: widget.Line}
	pools, onDevice := 0, false
	for i := range view.Sets {
		set := &view.Sets[i]
		onDevice = onDevice || set.Of == recorder.OfPool && set.Device == s.device
	}
	if onDevice && s.view != nil && len(view.Devices(s.beside)) > 1 {
		p.only = s.headroom().Name
	}
	allocated.counters, reserved.counters = make([]counterPart, 0, 8), make([]counterPart, 0, 8)
	for i := range view.Sets {
		set := &view.Sets[i]
		if set.Of != recorder.OfPool || !isRoot(view, set) || onDevice && set.Device != s.device {
			continue
		}
		pools++
		allocated.add(view, set, recorder.Allocated)
		reserved.add(view, set, recorder.Reserved)
	}
	p.findArenas(view)
	if len(p.arenas) > 0 {
		arena.arenas = allUsed
		if p.arenasAreRoots(view) {
			allocated.arenas, reserved.arenas = rootsUsed, rootsLength
		}
	}
	if len(reserved.counters) == 0 && s.device == model.HostDevice && mostlyUnwritten(view) {
		reserved.arenas = noArenas
	}
	for _, series := range []plannedSeries{allocated, arena, reserved} {
		if len(series.counters) > 0 || series.arenas != noArenas {
			p.series = append(p.series, series)
		}
	}
	p.addDevice(s)
	if pools > 1 {
		p.addPools(reserved.counters)
	}
}

// timelinePools is how many of several allocators have a line of their own, and
// timelinePart the part of them all below which one would lie on the axis.
const (
	timelinePools = 3
	timelinePart  = 50
)

// addPools adds a line for what each of several allocators has reserved, for
// those that have most.
func (p *timelinePlan) addPools(parts []counterPart) {
	var largest [timelinePools]counterPart
	n, all := 0, int64(0)
	for _, part := range parts {
		all += max(partValue(part), 0)
	}
	for _, part := range parts {
		if partValue(part) < all/timelinePart {
			continue
		}
		at := n
		for at > 0 && partValue(part) > partValue(largest[at-1]) {
			if at < timelinePools {
				largest[at] = largest[at-1]
			}
			at--
		}
		if at < timelinePools {
			largest[at] = part
			n = min(n+1, timelinePools)
		}
	}
	for i, part := range largest[:n] {
		kind := widget.Dotted
		if i%2 == 1 {
			kind = widget.Line
		}
		p.series = append(p.series, plannedSeries{name: poolSetName(part.view.FindSet(part.set)), style: grid.Series(i), kind: kind,
			counters: []counterPart{part}})
	}
}

// partValue is the newest value of a counter.
func partValue(part counterPart) int64 { return counterOf(part.view.FindSet(part.set), part.counter) }

// addDevice adds the line of the device's used memory where it does not press
// the rest flat, else that of the process as the driver counts it.
func (p *timelinePlan) addDevice(s *scene) {
	highest := p.peak()
	device, set := deviceSetOf(s)
	if set != nil {
		used, _, known := device.Peak(set.ID, recorder.Used)
		if known && (highest <= 0 || used <= timelineScale*highest) {
			p.series = append(p.series, plannedSeries{name: "device used", style: grid.Of(themes.Others), kind: widget.Dotted,
				counters: []counterPart{{device, set.ID, recorder.Used}}})
			p.addTotal(set, used)
			return
		}
	}
	for i := range s.newest.Sets {
		set := &s.newest.Sets[i]
		name, counter := "by the driver", recorder.Used
		if model.IsResident(set) {
			name, counter = "resident", recorder.Resident
		}
		if set.Of == recorder.OfProcess && set.Values.Known(counter) {
			p.series = append(p.series, plannedSeries{name: name, style: grid.Of(themes.Used), kind: widget.Dotted,
				counters: []counterPart{{s.newest, set.ID, counter}}})
			return
		}
	}
}

// peak is about the highest value of the series planned so far.
func (p *timelinePlan) peak() (highest int64) {
	for i := range p.series {
		sum := int64(0)
		for _, part := range p.series[i].counters {
			if value, _, ok := part.view.Peak(part.set, part.counter); ok {
				sum += value
			}
		}
		switch p.series[i].arenas {
		case rootsLength:
			sum += longestArena(p.newest)
		case rootsUsed, allUsed:
			for _, arena := range p.newest.Arenas {
				sum = max(sum, arena.State.Root.Peak)
			}
		}
		highest = max(highest, sum)
	}
	return highest
}

func longestArena(view *model.SourceView) (bytes int64) {
	for _, arena := range view.Arenas {
		bytes = max(bytes, arena.State.Length)
	}
	return bytes
}

// unwrittenScale is how many times as long as the most that was used of it an
// arena in the machine's own memory is whose length would press all else flat.
const unwrittenScale = 16

// mostlyUnwritten says whether a source's arenas are far longer than what was ever
// used of them: in the machine's own memory, what was never written takes none.
func mostlyUnwritten(view *model.SourceView) bool {
	used := int64(0)
	for _, arena := range view.Arenas {
		used = max(used, arena.State.Root.Peak, arena.State.HighWater)
	}
	return used > 0 && longestArena(view) > unwrittenScale*used
}

// addTotal draws the size of the device where the values come near to it.
func (p *timelinePlan) addTotal(set *recorder.CounterSet, highest int64) {
	if total, ok := set.Values.Get(recorder.Total); ok && highest >= total/2 {
		p.limits = append(p.limits, widget.Limit{Value: total, Style: grid.Of(themes.Total)})
	}
}

// deviceProcesses is how many processes of a device have a line.
const deviceProcesses = 3

// planDevice shows what is used on a device, and the processes that use most.
func (p *timelinePlan) planDevice(view *model.SourceView) {
	for i := range view.Sets {
		set := &view.Sets[i]
		if set.Of != recorder.OfDevice {
			continue
		}
		p.series = append(p.series, plannedSeries{name: "used", style: grid.Of(themes.Used), kind: widget.ShadeArea,
			counters: []counterPart{{view, set.ID, recorder.Used}}})
		if highest, _, ok := view.Peak(set.ID, recorder.Used); ok {
			p.addTotal(set, highest)
		}
	}
	var processes []*recorder.CounterSet
	for i := range view.Sets {
		if view.Sets[i].Of == recorder.OfProcess && view.Sets[i].Values.Known(recorder.Used) {
			processes = append(processes, &view.Sets[i])
		}
	}
	slices.SortStableFunc(processes, func(a, b *recorder.CounterSet) int {
		x, _ := a.Values.Get(recorder.Used)
		y, _ := b.Values.Get(recorder.Used)
		return int(min(max(y-x, -1), 1))
	})
	for i, set := range processes[:min(len(processes), deviceProcesses)] {
		name := set.Name
		if name == "" {
			name = set.ID
		}
		kind := widget.Line
		if i%2 == 1 {
			kind = widget.Dotted
		}
		p.series = append(p.series, plannedSeries{name: name, style: grid.Series(i), kind: kind,
			counters: []counterPart{{view, set.ID, recorder.Used}}})
	}
}

// planHost shows what the machine has left, and what the control group takes.
func (p *timelinePlan) planHost(view *model.SourceView) {
	for i := range view.Sets {
		set := &view.Sets[i]
		if set.Of != recorder.OfHost {
			continue
		}
		if set.Values.Known(recorder.CgroupCurrent) {
			p.series = append(p.series, plannedSeries{name: "control group", style: grid.Of(themes.Used), kind: widget.ShadeArea,
				counters: []counterPart{{view, set.ID, recorder.CgroupCurrent}}})
		}
		if limit, ok := set.Values.Get(recorder.CgroupLimit); ok {
			p.limits = append(p.limits, widget.Limit{Value: limit, Style: grid.Of(themes.Gate)})
		}
		p.series = append(p.series, plannedSeries{name: "available", style: grid.Of(themes.Free), kind: widget.Line,
			counters: []counterPart{{view, set.ID, recorder.Available}}})
		if total, ok := set.Values.Get(recorder.Total); ok {
			p.limits = append(p.limits, widget.Limit{Value: total, Style: grid.Of(themes.Total)})
		}
	}
}

// isRoot says whether an allocator's memory lies in no other one's: only roots
// are added up.
func isRoot(view *model.SourceView, set *recorder.CounterSet) bool {
	for range 8 { // sets that lie in each other are not believed for ever
		if set.In == "" || set.In == set.ID {
			return true
		}
		if set = view.FindSet(set.In); set == nil {
			return true
		}
		if set.Of == recorder.OfPool || set.Of == recorder.OfArena {
			return false
		}
	}
	return true
}

// arenasAreRoots says whether the source's arenas lie in no pool of its own. One
// that is gone is taken to have lain where the others do.
func (p *timelinePlan) arenasAreRoots(view *model.SourceView) bool {
	if last := len(p.spans) - 1; last >= 0 {
		return isRoot(view, &recorder.CounterSet{ID: p.spans[last].ID, In: p.spans[last].In})
	}
	return true
}

// deviceSetOf is the driver's view of the scene's device as it is now, with the
// source that tells it over time; nil where nobody does.
func deviceSetOf(s *scene) (*model.SourceView, *recorder.CounterSet) {
	return model.DeviceOf(s.newest, s.snapshot.Beside(s.newest), s.device)
}

func deviceSetIn(view *model.SourceView, device string) *recorder.CounterSet {
	for i := range view.Sets {
		if set := &view.Sets[i]; set.Of == recorder.OfDevice && set.Device == device {
			return set
		}
	}
	return nil
}
