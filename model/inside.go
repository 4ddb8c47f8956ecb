package model

import (
	"slices"
	"strconv"
	"strings"

	"vramscope/recorder"
)

// maximumNesting is how deep counter sets are believed to lie in one another.
const maximumNesting = 16

// Inside is what a process's memory on a device consists of. Only roots are
// added up: an arena inside a pool is shown under it and counted with it.
type Inside struct {
	Device      string
	Driver      Figure // the process's bytes on the device as the driver says
	Roots       []Allocator
	Held        Figure // what the roots have reserved, added up
	Unaccounted Figure // Driver − Held: the context and other libraries
	Context     Figure // of Unaccounted, what the process's own context takes
}

// Allocator is one allocator of a process, with those that live in its memory.
type Allocator struct {
	Set      *recorder.CounterSet
	Reserved Figure // taken from the driver, or from the allocator that it lies in
	Inner    []Allocator
}

// InsideOf takes a process's memory on a device apart. An empty device means the
// process's first; beside are the other sources of the same moment.
func InsideOf(subject *SourceView, beside []*SourceView, device string) Inside {
	if device == "" {
		device = subject.FirstDevice()
	}
	inside := Inside{Device: device, Driver: processFigure(subject, beside, device)}
	var held figureSum
	if roots := subject.roots(device); len(roots) > 0 {
		inside.Roots = make([]Allocator, len(roots))
		for i, root := range roots {
			inside.Roots[i] = subject.allocator(root, 0)
			held.add(inside.Roots[i].Reserved)
		}
	}
	inside.Held = held.total(missing("it has told of no allocator on this device"))
	inside.Context = contextFigure(subject, device)
	inside.Unaccounted = restOf(subject, beside, device, inside.Driver, inside.Held)
	return inside
}

// contextFigure is what a process says that its context takes on a device.
func contextFigure(subject *SourceView, device string) Figure {
	for i := range subject.Sets {
		if set := &subject.Sets[i]; set.Of == recorder.OfContext && set.Device == device {
			return subject.Figure(set, recorder.Used)
		}
	}
	return missing("it does not say what its context takes")
}

// allocator is a set with those that lie inside it.
func (v *SourceView) allocator(set *recorder.CounterSet, depth int) Allocator {
	allocator := Allocator{Set: set, Reserved: v.reserved(set)}
	if depth >= maximumNesting {
		return allocator
	}
	for i := range v.Sets {
		if inner := &v.Sets[i]; inner != set && inner.In == set.ID && isAllocator(inner) {
			allocator.Inner = append(allocator.Inner, v.allocator(inner, depth+1))
		}
	}
	return allocator
}

// reserved is what an allocator has taken: an arena its whole length.
func (v *SourceView) reserved(set *recorder.CounterSet) Figure {
	if set.Of == recorder.OfArena {
		return v.Figure(set, recorder.Length).Or(v.Figure(set, recorder.Reserved))
	}
	return v.Figure(set, recorder.Reserved)
}

// Sum adds a counter up over the source's root allocators on a device ("" for
// every device), so that nothing is counted twice. A root that does not tell
// leaves the sum unknown.
func (v *SourceView) Sum(counter recorder.Counter, device string) Figure {
	sum := missing(v.title() + " has told of no allocator")
	for i, root := range v.roots(device) {
		figure := v.Figure(root, counter)
		if i == 0 {
			sum = figure
		} else {
			sum = sum.plus(figure)
		}
	}
	return sum
}

// roots are the allocators that lie in no other allocator, on a device or, for
// "", on any.
func (v *SourceView) roots(device string) []*recorder.CounterSet {
	var roots []*recorder.CounterSet
	for i := range v.Sets {
		set := &v.Sets[i]
		if isAllocator(set) && (device == "" || set.Device == device) && !v.inAllocator(set) {
			roots = append(roots, set)
		}
	}
	return roots
}

// inAllocator says whether another allocator holds the set's memory.
func (v *SourceView) inAllocator(set *recorder.CounterSet) bool {
	outer := set
	for range maximumNesting {
		if outer.In == "" || outer.In == set.ID {
			return false
		}
		if outer = v.FindSet(outer.In); outer == nil {
			return false
		}
		if isAllocator(outer) {
			return true
		}
	}
	return false
}

func isAllocator(set *recorder.CounterSet) bool {
	return set.Of == recorder.OfPool || set.Of == recorder.OfArena
}

// processFigure is a process's bytes on a device as the driver counts them: as
// the device's source says, or else as the process itself read it.
func processFigure(subject *SourceView, beside []*SourceView, device string) Figure {
	if subject.Hello != nil {
		for _, view := range beside {
			if view.Kind != recorder.KindDevice {
				continue
			}
			if set := view.processSet(subject.Hello, device); set != nil {
				return view.Figure(set, recorder.Used)
			}
		}
	}
	for i := range subject.Sets {
		set := &subject.Sets[i]
		if set.Of == recorder.OfProcess && (set.Device == device || set.Device == "") && set.Values.Known(recorder.Used) {
			return subject.Figure(set, recorder.Used)
		}
	}
	if device == HostDevice {
		return missing("no driver counts what a process has of the machine's memory")
	}
	return missing("the driver's figure for " + subject.title() + " is not known here")
}

// processSet finds a process among those of a device, by any of its numbers:
// the driver counts with those of the host, or of its own namespace.
func (v *SourceView) processSet(hello *recorder.Hello, device string) *recorder.CounterSet {
	var found *recorder.CounterSet
	outermost := len(hello.NSPIDs) + 1
	for i := range v.Sets {
		set := &v.Sets[i]
		if set.Of != recorder.OfProcess || set.Device != device && set.Device != "" {
			continue
		}
		if place := namespaceOf(hello, set.ID); place >= 0 && place < outermost {
			found, outermost = set, place
		}
	}
	return found
}

// namespaceOf is the namespace, counted from the outermost, in which a process
// has the number of a counter set's ID; -1 where it has that in none.
func namespaceOf(hello *recorder.Hello, id string) int {
	number, ok := strings.CutPrefix(id, "process:")
	if !ok {
		return -1
	}
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return -1
	}
	if place := slices.Index(hello.NSPIDs, pid); place >= 0 || pid != hello.PID {
		return place
	}
	return len(hello.NSPIDs)
}
