package model

import (
	"vramscope/recorder"
)

// A tape keeps what a source told, so that any moment of it can be looked at
// again. It is cut into stretches. Each begins with what was known by then, and
// holds what came after: an arena's events packed (about ten bytes each), all
// else as it came. A moment is found by thawing the beginning of its stretch and
// folding the rest up to it, which takes at most what one stretch holds.
//
// Samples, strings and states are not on the tape: the history has the samples, a
// string's number keeps its meaning until the next greeting, and a state makes
// the beginning of a new stretch.

// stretchEvents is how many events a stretch holds: enough that its beginning,
// which can be a tree of many rows, is small against it, and few enough to be
// folded in a millisecond or two.
const stretchEvents = 1 << 13

// stretchRecords bounds the records of a stretch that are not events of arenas.
const stretchRecords = 1 << 12

// stretch is a part of a tape. It is immutable once the next one has begun.
type stretch struct {
	start      *fold // frozen: what was known when it began
	records    []tapeRecord
	arenas     []arenaStretch
	events     int   // in arenas
	poolEvents int   // in records
	from, to   int64 // ns of the earliest and the latest of what it holds; from > to while it is empty
	before     int64 // ns of the latest of everything in front of it
	fixed      int64 // memory of the beginning, estimated
	grown      int64 // memory of the rest, estimated
}

// tapeRecord is a record that is kept as it came.
type tapeRecord struct {
	ns     int64 // of its first event, for a batch
	record recorder.Record
}

// arenaStretch is one arena's events in a stretch.
type arenaStretch struct {
	id   int64
	base int64 // number of the first event among all that the arena ever had
	log  recorder.EventLog
}

// era is the time of one greeting, for which the numbers of strings hold.
type era struct {
	hello   *recorder.Hello
	strings recorder.StringTable // as it was in the end
}

// tape is the owner's side.
type tape struct {
	limit    int64 // bytes; 0 keeps everything
	most     int   // events in a stretch
	sealed   []*stretch
	open     *stretch
	bytes    int64           // of the sealed ones
	places   map[int64]int   // of arenas in the open stretch
	counts   map[int64]int64 // events that each arena ever had
	eras     []era           // those that ended
	disorder bool            // something came that was older than what came before it
	trimmed  bool            // stretches were given up since the owner looked
	view     *tapeView
}

// tapeView is a tape for readers. It is immutable.
type tapeView struct {
	sealed   []*stretch
	open     *stretch
	eras     []era
	disorder bool
}

func newTape(limit int64, f *fold) *tape {
	t := &tape{limit: limit, most: stretchEvents, counts: map[int64]int64{}}
	t.begin(f)
	return t
}

// begin starts a new stretch from a fold, which is frozen for it.
func (t *tape) begin(f *fold) {
	t.view = nil
	start := f.freeze()
	next := &stretch{start: start, from: maxNs, to: minNs, before: minNs}
	if f.heard {
		next.before = f.now
	}
	if t.open == nil {
		next.fixed = start.size(nil)
	} else {
		next.fixed = start.size(t.open.start)
		if t.open.empty() && t.open.before == next.before {
			next.fixed += t.open.fixed
		} else {
			t.bytes += t.open.size()
			t.sealed = append(t.sealed, t.open)
		}
	}
	t.open, t.places = next, map[int64]int{}
	t.trim()
}

// endEra keeps the strings of a greeting that another one follows.
func (t *tape) endEra(f *fold) {
	if f.hello != nil {
		t.eras = append(t.eras, era{hello: f.hello, strings: f.strings})
		t.view = nil
	}
}

const (
	maxNs = 1<<63 - 1
	minNs = -1 << 63
)

func (s *stretch) empty() bool { return len(s.records) == 0 && s.events == 0 }

// size is the memory of a stretch, estimated.
func (s *stretch) size() int64 { return s.fixed + s.grown }

// recordSize is the memory of a record, estimated.
func recordSize(record recorder.Record) int64 {
	switch r := record.(type) {
	case *recorder.PoolEvents:
		return 128 + int64(r.Len())*37
	case *recorder.Frame:
		return 48
	}
	return 256
}

// trim gives up the oldest stretches while the tape is too long. One stretch is
// always kept besides the newest, so that there is a past.
func (t *tape) trim() {
	n := 0
	for t.limit > 0 && n < len(t.sealed)-1 && t.bytes > t.limit {
		t.bytes -= t.sealed[n].size()
		n++
	}
	if n > 0 {
		// Readers hold the old row, so it is not shifted in place.
		t.sealed = append(make([]*stretch, 0, len(t.sealed)-n+8), t.sealed[n:]...)
		t.trimmed = true
	}
}

// full says whether the newest stretch should end here.
func (t *tape) full() bool {
	return t.open.events+t.open.poolEvents >= t.most || len(t.open.records) >= stretchRecords ||
		t.limit > 0 && t.open.grown > t.limit/4
}

// add keeps a record.
func (t *tape) add(record recorder.Record) {
	t.view = nil
	ns := record.Time()
	if events, ok := record.(*recorder.PoolEvents); ok {
		t.open.poolEvents += events.Len()
		if n := events.Len(); n > 0 {
			ns = events.Ns[0]
			t.open.to = max(t.open.to, events.Ns[n-1])
		}
	}
	t.note(ns)
	t.open.records = append(t.open.records, tapeRecord{ns, record})
	t.open.grown += 48 + recordSize(record)
}

// addEvent keeps an event of an arena.
func (t *tape) addEvent(id int64, event *recorder.ArenaEvent) {
	place, ok := t.places[id]
	if !ok {
		place = len(t.open.arenas)
		t.places[id] = place
		t.open.arenas = append(t.open.arenas, arenaStretch{id: id, base: t.counts[id]})
		t.open.grown += 128
	}
	log := &t.open.arenas[place].log
	t.open.grown -= log.Bytes()
	log.Append(event)
	t.open.grown += log.Bytes()
	t.open.events++
	t.note(event.Ns)
}

// endBatch counts the events of a batch that were added.
func (t *tape) endBatch(id int64, events int) {
	t.view = nil
	t.counts[id] += int64(events)
}

// firstEvent is the number of an arena's first event that is kept; any is false
// when none is.
func (t *tape) firstEvent(arena int64) (number int64, any bool) {
	for i := range len(t.sealed) + 1 {
		s := t.open
		if i < len(t.sealed) {
			s = t.sealed[i]
		}
		for k := range s.arenas {
			if s.arenas[k].id == arena {
				return s.arenas[k].base, true
			}
		}
	}
	return 0, false
}

// note moves the stretch's bounds on.
func (t *tape) note(ns int64) {
	if ns < t.open.to || ns < t.open.before {
		t.disorder = true
	}
	t.open.from, t.open.to = min(t.open.from, ns), max(t.open.to, ns)
}

// publish is the tape as it is now, for readers.
func (t *tape) publish() *tapeView {
	if t.view == nil {
		open := *t.open
		open.arenas = make([]arenaStretch, len(t.open.arenas))
		for i := range t.open.arenas {
			open.arenas[i] = t.open.arenas[i]
			open.arenas[i].log = t.open.arenas[i].log.View()
		}
		t.view = &tapeView{sealed: t.sealed, open: &open, eras: t.eras, disorder: t.disorder}
	}
	return t.view
}

// len and at walk over the stretches, the newest one last.
func (t *tapeView) len() int { return len(t.sealed) + 1 }

func (t *tapeView) at(i int) *stretch {
	if i < len(t.sealed) {
		return t.sealed[i]
	}
	return t.open
}
