package model

import (
	"strings"

	"vramscope/recorder"
)

// A library that raises where it is asked, as all of CUDA does once a kernel has
// failed, tells no numbers any more. Its counter sets stay, with the reason, and
// what they told last is shown as what it is: of another moment, and part of no
// sum.

// toldSet is what a counter set told last before it fell silent.
type toldSet struct {
	set recorder.CounterSet
	ns  int64
}

// mainCounters are those of a kind of set of which it tells at least one, if it
// tells anything. Other kinds do not fall silent: their sources do.
func mainCounters(of string) []recorder.Counter {
	switch of {
	case recorder.OfPool:
		return poolMain[:]
	case recorder.OfArena:
		return arenaMain[:]
	case recorder.OfPeaks:
		return peakMain[:]
	}
	return nil
}

var (
	poolMain  = [...]recorder.Counter{recorder.Reserved, recorder.Allocated}
	arenaMain = [...]recorder.Counter{recorder.Length, recorder.Forward}
	peakMain  = [...]recorder.Counter{recorder.PeakReported, recorder.PeakLive}
)

// tellsNothing says whether a set has none of its main counters.
func tellsNothing(set *recorder.CounterSet) bool {
	counters := mainCounters(set.Of)
	for _, counter := range counters {
		if set.Values.Known(counter) {
			return false
		}
	}
	return len(counters) > 0
}

// WhySilent is why a counter set tells no numbers, in the library's words.
func WhySilent(set *recorder.CounterSet) string {
	for _, counter := range mainCounters(set.Of) {
		if why := set.Why[counter.String()]; why != "" {
			return why
		}
	}
	return "it does not say why"
}

// ToldLast is a counter set as it was told last, and when (monotonic ns), of one
// that has told numbers and tells none any more; nil of every other.
func (v *SourceView) ToldLast(set *recorder.CounterSet) (told *recorder.CounterSet, ns int64) {
	if set == nil || !tellsNothing(set) {
		return nil, 0
	}
	view := v.history.find(set.ID)
	if view == nil {
		return nil, 0
	}
	if view.told != nil && !v.Past {
		return &view.told.set, view.told.ns
	}
	last := view.toldBefore(view.series.after(v.Now))
	if last == nil {
		return nil, 0
	}
	return &last.set, last.ns
}

// toldBefore is the newest sample before the one of that number that has a main
// counter; nil where none has.
func (v *seriesView) toldBefore(number int) *toldSet {
	for number--; number >= v.series.times.first; number-- {
		if v.tells(number) {
			set, _ := v.set(number)
			return &toldSet{set: set, ns: v.series.times.at(number)}
		}
		if labels := v.labelsAt(number); labels.isSilent() {
			number = max(labels.from, v.series.times.first) // all of these samples have the one reason
		}
	}
	return nil
}

// hasTold says whether a set has told a main counter at some time.
func (k *historyKeeper) hasTold(id string) bool {
	kept := k.series[id]
	if kept == nil || len(kept.labels) == 0 {
		return false
	}
	for _, counter := range mainCounters(kept.labels[len(kept.labels)-1].of) {
		if kept.series.column(counter) != nil {
			return true
		}
	}
	return false
}

// tells says whether a sample has a main counter.
func (v *seriesView) tells(number int) bool {
	for _, counter := range mainCounters(v.of()) {
		if column := v.series.column(counter); column != nil {
			if _, known := column.value(number); known {
				return true
			}
		}
	}
	return false
}

// lastKnown is what a counter was when it was told last.
func (v *seriesView) lastKnown(counter recorder.Counter) (value int64, ok bool) {
	if v.told != nil {
		return v.told.set.Values.Get(counter)
	}
	column := v.series.column(counter)
	if column == nil {
		return 0, false
	}
	return column.lastKnown(v.series.times.first, v.series.times.end)
}

// isSilent says whether every sample with these labels lacks the main counters.
func (l *setLabels) isSilent() bool {
	counters := mainCounters(l.of)
	for _, counter := range counters {
		if l.why[counter.String()] == "" {
			return false
		}
	}
	return len(counters) > 0
}

// lacks says whether a set was sampled last before a moment without a counter, and
// said why: nothing is then known of what it adds to a sum.
func (v *seriesView) lacks(counter recorder.Counter, ns int64) bool {
	number := v.series.after(ns) - 1
	if number < v.series.times.first || ns-v.series.times.at(number) > v.series.hold() {
		return false
	}
	return v.labelsAt(number).why[counter.String()] != ""
}

// silentSince is from when on a set tells nothing, 0 where it tells.
func (v *seriesView) silentSince(ns int64) int64 {
	number := v.series.after(ns) - 1
	if number < v.series.times.first || v.tells(number) {
		return 0
	}
	if last := v.toldBefore(number); last != nil {
		return last.ns + 1
	}
	return 0
}

// silences tells the log which sets of a source fall silent and which speak again:
// once, and of one kind of error not again within sameErrorNs, however often a
// library changes its mind.
type silences struct {
	why   map[string]string // of the sets that are silent, by ID: the reason that was told last
	known map[string]int64  // kinds of errors: ns at which each was told last
}

// sameErrorNs is how long one kind of error is told once.
const sameErrorNs = 60_000_000_000

// mostErrors is how many kinds of errors are told apart.
const mostErrors = 256

// silenceLine is what several sets have in common.
type silenceLine struct {
	first string // title of the first set
	more  int64
	why   string
}

func (l *silenceLine) text(one, several, rest string) string {
	if l.more == 0 {
		return l.first + one + rest
	}
	return l.first + " and " + countOf(l.more, "other") + several + rest
}

// hear compares a sample with those before it. Told says whether a set has told
// numbers before.
func (s *silences) hear(sets []recorder.CounterSet, ns int64, told func(id string) bool, say func(text string)) {
	var fallen, again []silenceLine
	for i := range sets {
		set := &sets[i]
		before, was := s.why[set.ID]
		silent := tellsNothing(set)
		switch {
		case !silent && was:
			delete(s.why, set.ID)
			if before != "" && set.Of != recorder.OfPeaks {
				again = joinSilence(again, setTitle(set), "")
			}
		case silent && (was || told(set.ID)):
			why := WhySilent(set)
			if kind := kindOfError(why); !was || kind != before {
				if s.isNews(setTitle(set)+kind, ns) {
					before = kind
					if set.Of != recorder.OfPeaks { // those are of an allocator, which speaks for them
						fallen = joinSilence(fallen, setTitle(set), why)
					}
				}
				s.note(set.ID, before)
			}
		}
	}
	for i := range fallen {
		say(fallen[i].text(" tells", " tell", " no numbers any more: "+fallen[i].why))
	}
	for i := range again {
		say(again[i].text(" tells", " tell", " numbers again"))
	}
}

func (s *silences) note(id, why string) {
	if s.why == nil {
		s.why = map[string]string{}
	}
	s.why[id] = why
}

// isNews says whether a kind of error was not told for long.
func (s *silences) isNews(kind string, ns int64) bool {
	if at, known := s.known[kind]; known && ns-at < sameErrorNs {
		return false
	}
	if s.known == nil || len(s.known) >= mostErrors {
		s.known = map[string]int64{}
	}
	s.known[kind] = ns
	return true
}

// kindOfError is an error's text without the digits in it.
func kindOfError(why string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, why)
}

// joinSilence adds a set to the line of those that have its reason.
func joinSilence(lines []silenceLine, title, why string) []silenceLine {
	for i := range lines {
		if lines[i].why == why {
			lines[i].more++
			return lines
		}
	}
	return append(lines, silenceLine{first: title, why: why})
}
