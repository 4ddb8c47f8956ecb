package model

import (
	"sort"

	"vramscope/arena"
	"vramscope/recorder"
)

// EventList is the event stream of one arena, of one scope of it or of all of
// it. It finds the events that belong to it once and then reads the few that are
// on the screen. It follows a live arena and belongs to one goroutine.
type EventList struct {
	arena   int64
	path    []string // of the scope; nil for the whole arena
	inside  bool     // events of scopes inside belong too
	tape    *tapeView
	now     int64
	strings recorder.StringTable

	next  int64 // number of the first event that was not looked at
	first int64 // number of the first event that is kept
	index []listedEvent
	walk  scopeWalk

	base  uint64 // address of the arena's buffer
	based bool   // it is known

	peak     int64 // highest above the scope's entry
	peakAt   int   // place of the event that set it, -1 while there is none
	cachedAt *arenaStretch
	cached   []recorder.ArenaEvent
	cachedOf int64 // events in cached
	from, to int64 // numbers of the events in cached that have their parameters
}

// paramsAround is how many events around those that are read have their
// parameters unpacked too: a page up or down.
const paramsAround = 32

// listedEvent is an event of the list: its number among all of the arena, and how
// deep it lies in temporary contexts.
type listedEvent struct {
	number int64
	temps  uint16
}

// ListedEvent is a line of the list.
type ListedEvent struct {
	Number   int64 // among all events of the arena, from 0
	Ns       int64 // monotonic
	Frame    int64 // -1 unknown
	Op       arena.Op
	Text     string // name of a scope, caller of an allocation, or reason
	DType    string
	Bytes    int64 // asked for, padding apart
	ItemSize int64 // bytes; alignment
	Items    int64 // Bytes / ItemSize, 0 where there is no item size
	Forward  int64 // pointer after the event
	Reverse  int64 // pointer after the event
	Address  uint64
	Located  bool // Address is known: an allocation, of an arena whose base was told
	Temps    int  // temporary contexts around it: how far to indent
	SetPeak  bool // it set the scope's peak
	Params   []arena.Param
}

// NewEventList makes the list of an arena's events; path is the scope's names from
// the outermost down, nil for all events. With inside, events of scopes inside it
// belong to it.
func NewEventList(arenaID int64, path []string, inside bool) *EventList {
	return &EventList{arena: arenaID, path: path, inside: inside, peakAt: -1, next: -1}
}

// Update takes a newer view of the same source, or one of another moment, which
// begins the list anew. It looks at most at so many events, and says whether it
// has seen all: call it again with the next key or frame until it has.
func (l *EventList) Update(v *SourceView, most int) (complete bool) {
	if v.tape == nil {
		return true
	}
	first, end := v.tape.bounds(l.arena)
	if l.next < 0 || v.Now < l.now || first > l.next {
		l.restart(v, first)
	}
	l.tape, l.now, l.strings, l.first = v.tape, v.Now, v.Strings, first
	l.cachedAt = nil
	l.base, l.based = v.tape.base(l.arena)
	l.drop()
	if l.next >= end {
		return true
	}
	for number, event := range v.tape.events(l.arena, l.next) {
		if event.Ns > v.Now {
			return true
		}
		if most--; most < 0 {
			return false
		}
		l.take(number, event)
		l.next = number + 1
	}
	return true
}

// restart begins the list with the first event that is kept.
func (l *EventList) restart(v *SourceView, first int64) {
	l.index, l.peak, l.peakAt, l.next = l.index[:0], 0, -1, first
	l.walk = scopeWalk{path: l.path}
	if known, _ := v.tape.beginning(l.arena, first); known != nil {
		l.walk.begin(known.view, &known.view.strings)
	}
}

// drop forgets events that are no longer kept.
func (l *EventList) drop() {
	n := sort.Search(len(l.index), func(i int) bool { return l.index[i].number >= l.first })
	if n > 0 {
		l.index = append(l.index[:0], l.index[n:]...)
		l.peakAt = max(l.peakAt-n, -1)
	}
}

// take looks whether an event belongs to the list.
func (l *EventList) take(number int64, event *recorder.ArenaEvent) {
	before, temps := l.walk.place(), l.walk.temps
	l.walk.take(event, &l.strings)
	if !l.belongs(before, l.walk.place()) {
		return
	}
	if event.IsAllocation() {
		above := event.Forward - l.walk.entryForward + l.walk.entryReverse - event.Reverse
		if l.peakAt < 0 || above > l.peak {
			l.peak, l.peakAt = above, len(l.index)
		}
	}
	temps = min(temps, l.walk.temps)
	l.index = append(l.index, listedEvent{number: number, temps: uint16(min(temps, 1<<16-1))})
}

// belongs says whether an event between two places is in the list. What opens or
// closes a scope belongs to the scope as well as to the one around it.
func (l *EventList) belongs(before, after scopePlace) bool {
	if l.inside {
		return max(before, after) != scopeOutside
	}
	return before == scopeInner || after == scopeInner
}

// Len is how many events are in the list so far.
func (l *EventList) Len() int { return len(l.index) }

// Peak is the highest that the pointers stood above the scope's entry, in bytes,
// and the place of the event that set it; not ok before there is an allocation.
func (l *EventList) Peak() (bytes int64, at int, ok bool) { return l.peak, l.peakAt, l.peakAt >= 0 }

// Rows reads the lines [from, to), appended to into. It costs what lies in one or
// two stretches of the tape the first time, and the lines themselves after that.
func (l *EventList) Rows(into []ListedEvent, from, to int) []ListedEvent {
	from, to = max(from, 0), min(to, len(l.index))
	if from >= to {
		return into
	}
	if first, last := l.index[from].number, l.index[to-1].number; first < l.from || last >= l.to {
		l.from, l.to, l.cachedAt = first-paramsAround, last+1+paramsAround, nil
	}
	for i := from; i < to; i++ {
		if event := l.read(l.index[i].number); event != nil {
			into = append(into, l.line(i, event))
		}
	}
	return into
}

// read finds an event by its number.
func (l *EventList) read(number int64) *recorder.ArenaEvent {
	if s := l.cachedAt; s == nil || number < s.base || number >= s.base+l.cachedOf {
		l.cachedAt = nil
		for i := l.tape.len() - 1; i >= 0; i-- {
			if s := l.tape.at(i).arena(l.arena); s != nil && s.base <= number {
				l.unpack(s)
				break
			}
		}
		if l.cachedAt == nil || number >= l.cachedAt.base+l.cachedOf {
			return nil
		}
	}
	return &l.cached[number-l.cachedAt.base]
}

func (l *EventList) unpack(s *arenaStretch) {
	l.cached = l.cached[:0]
	for event := range s.log.WithParams(l.from-s.base, l.to-s.base) {
		l.cached = append(l.cached, *event)
	}
	l.cachedAt, l.cachedOf = s, int64(len(l.cached))
}

func (l *EventList) line(i int, event *recorder.ArenaEvent) ListedEvent {
	line := ListedEvent{Number: l.index[i].number, Ns: event.Ns, Frame: event.Frame, Op: event.Op, Text: l.strings.String(event.Text),
		DType: l.strings.String(event.DType), Bytes: event.Bytes, ItemSize: event.ItemSize, Forward: event.Forward,
		Reverse: event.Reverse, Temps: int(l.index[i].temps), SetPeak: i == l.peakAt, Params: event.Params}
	if event.ItemSize > 0 {
		line.Items = event.Bytes / event.ItemSize
	}
	if l.based && event.IsAllocation() {
		offset := event.Reverse
		if event.Op == arena.OpAlloc {
			offset = event.Forward - event.Bytes
		}
		line.Address, line.Located = l.base+uint64(offset), true
	}
	return line
}
