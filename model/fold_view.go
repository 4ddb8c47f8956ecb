package model

import (
	"slices"
	"strconv"

	"vramscope/recorder"
)

// view is what is known now, for readers. What changes later is copied first.
func (f *fold) view() *SourceView {
	f.share()
	v := &SourceView{
		Hello: f.hello, First: f.first, Now: f.now, Frame: f.frame, Recording: f.recording, Strings: f.strings,
		Trouble: f.trouble, Goodbye: f.bye, NonArena: f.nonArena, OOMs: f.ooms, Actions: f.actions, Moments: f.moments,
		Lost: f.lost, Dropped: f.dropped, Problems: f.problems.texts(),
	}
	if f.hello != nil {
		v.Kind, v.Name = f.hello.Kind, f.hello.Name
	}
	v.Arenas = make([]*ArenaView, len(f.arenas))
	for i, a := range f.arenas {
		v.Arenas[i] = a.published(&f.strings)
	}
	v.Pools = make([]*PoolView, len(f.pools))
	for i, p := range f.pools {
		v.Pools[i] = p.published()
	}
	return v
}

// At is the source as it was at a moment (monotonic ns): everything that its
// records up to then tell. A moment at or after the newest record gives the
// newest view. How far back arenas and pools are kept says KeptFrom; before that
// the view has the counters alone, as far as the history has them.
//
// It costs what one stretch of the tape holds, a millisecond or two, whatever
// the length of the recording, and may be called from any goroutine.
func (v *SourceView) At(ns int64) *SourceView {
	newest := v
	if v.newest != nil {
		newest = v.newest
	}
	if ns >= newest.Now || newest.tape == nil {
		return newest
	}
	past := newest.tape.foldTo(ns, newest).view()
	past.ID, past.Source, past.Src, past.File = newest.ID, newest.Source, newest.Src, newest.File
	past.Kind, past.Name = newest.Kind, newest.Name
	past.Status, past.StatusWhy = newest.Status, newest.StatusWhy
	past.Done, past.Size, past.BadLines = newest.Done, newest.Size, newest.BadLines
	past.Now, past.Past, past.newest = ns, true, newest
	past.history, past.tape, past.pointers = newest.history, newest.tape, newest.pointers
	past.Sets = past.setsAt(ns)
	return past
}

// setsAt are the newest counters of every set at ns, where the view is of that
// moment. Those of an arena that was released are none: they were sampled before
// that, or after it by a program that keeps the arena in mind.
func (v *SourceView) setsAt(ns int64) []recorder.CounterSet {
	sets := v.history.setsAt(ns)
	if !slices.ContainsFunc(v.Arenas, isReleased) {
		return sets
	}
	return slices.DeleteFunc(sets, func(set recorder.CounterSet) bool {
		return set.Of == recorder.OfArena && slices.ContainsFunc(v.Arenas, func(a *ArenaView) bool { return isReleased(a) && set.ID == a.setID() })
	})
}

func isReleased(a *ArenaView) bool { return a.State.Released != 0 }

// setID is the ID of the arena's counter set.
func (a *ArenaView) setID() string { return "arena:" + strconv.FormatInt(a.ID, 10) }

// AtFrame is the source as it was when a frame had just begun; the newest view
// when no such frame has begun.
func (v *SourceView) AtFrame(frame int64) *SourceView {
	newest := v
	if v.newest != nil {
		newest = v.newest
	}
	ns, ok := newest.FrameStart(frame)
	if !ok {
		return newest
	}
	return newest.At(ns)
}

// KeptFrom is the earliest moment, in monotonic ns, at which At knows the arenas
// and pools.
func (v *SourceView) KeptFrom() int64 {
	if v.tape == nil {
		return v.Now
	}
	first := v.tape.at(0)
	if first.before == minNs {
		return v.First
	}
	return first.before
}

// foldTo folds the tape up to a moment.
func (t *tapeView) foldTo(ns int64, newest *SourceView) *fold {
	begin := -1
	for i := t.len() - 1; i >= 0; i-- {
		if t.at(i).before <= ns {
			begin = i
			break
		}
	}
	if begin < 0 {
		return newFold(nil)
	}
	f := t.at(begin).start.thaw()
	for i := begin; i < t.len(); i++ {
		s := t.at(i)
		if s.from > ns {
			if !t.disorder {
				break
			}
			continue
		}
		if f.hello != s.start.hello {
			f.hello = s.start.hello
		}
		f.strings = t.stringsOf(s.start.hello, newest)
		f.fold(s, ns)
	}
	return f
}

// stringsOf are the strings of a greeting, all that it ever had.
func (t *tapeView) stringsOf(hello *recorder.Hello, newest *SourceView) recorder.StringTable {
	at := slices.IndexFunc(t.eras, func(e era) bool { return e.hello == hello })
	if at < 0 {
		return newest.Strings
	}
	return t.eras[at].strings
}

// fold takes in what a stretch holds up to a moment. Arenas do not depend on
// each other or on anything else in a stretch.
func (f *fold) fold(s *stretch, ns int64) {
	for i := range s.records {
		if s.records[i].ns > ns {
			continue
		}
		if events, ok := s.records[i].record.(*recorder.PoolEvents); ok {
			n, _ := slices.BinarySearch(events.Ns, ns+1)
			f.applyPool(events, n)
			continue
		}
		f.apply(s.records[i].record)
	}
	for i := range s.arenas {
		f.foldArena(&s.arenas[i], ns)
	}
}

func (f *fold) foldArena(s *arenaStretch, ns int64) {
	var a *arenaFold
	for event := range s.log.All() {
		if event.Ns > ns {
			return
		}
		if a == nil {
			if a = f.ownArena(s.id); a == nil {
				return
			}
		}
		f.applyArena(a, event)
	}
}
