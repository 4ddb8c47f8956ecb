package model

import (
	"maps"
	"slices"

	"vramscope/recorder"
)

// maximumSeries is how many counter sets of one source get a history. A program
// has a dozen at a time; a file that names more is not believed.
const maximumSeries = 4096

// historyKeeper is the owner's side of a source's history: every counter of every
// set against time, and the axis of frames. It is bounded for a live source and
// keeps everything of a file.
type historyKeeper struct {
	limits  HistoryLimits
	series  map[string]*keptSeries
	order   []*keptSeries // by appearance
	frames  frameAxis
	bytes   int
	dropped bool     // a set was refused a history
	view    *history // newest copy for readers, nil when it is out of date
}

// HistoryLimits bound what is kept of one source. A zero keeps everything.
type HistoryLimits struct {
	Duration int64 // ns of the past
	Bytes    int   // of counters and frames
}

// keptSeries is a series with what was said of its set besides the numbers.
type keptSeries struct {
	id     string
	series series
	labels []setLabels
	told   *toldSet    // as the set was told last, where it has fallen silent since
	view   *seriesView // nil when it is out of date
}

// setLabels is what a counter set says besides its numbers, from one sample on.
type setLabels struct {
	from                       int // number of the sample
	of, name, device, call, in string
	why                        map[string]string
}

// history is a reader's view of a source's history. It is immutable.
type history struct {
	sets   []*seriesView
	frames frameAxis
}

type seriesView struct {
	id     string
	series *series
	labels []setLabels
	told   *toldSet // see keptSeries
}

func newHistoryKeeper(limits HistoryLimits) *historyKeeper {
	return &historyKeeper{limits: limits, series: map[string]*keptSeries{}}
}

// addSample appends the sets of a sample.
func (k *historyKeeper) addSample(ns int64, sets []recorder.CounterSet) {
	k.view = nil
	for i := range sets {
		kept := k.find(sets[i].ID)
		if kept == nil {
			k.dropped = true
			continue
		}
		kept.remember(&sets[i])
		kept.view = nil
		kept.label(&sets[i])
		k.bytes += kept.series.append(ns, &sets[i].Values)
	}
	k.trim(ns)
}

// addFrame notes that a frame begins.
func (k *historyKeeper) addFrame(ns, frame int64) {
	k.view = nil
	k.bytes += k.frames.append(ns, frame) * 16
}

// addGap says that nothing is known from ns on until the next sample.
func (k *historyKeeper) addGap(ns int64) {
	for _, kept := range k.order {
		if kept.series.times.len() > 0 {
			kept.view, k.view = nil, nil
			k.bytes += kept.series.append(ns, &recorder.Counters{})
		}
	}
}

func (k *historyKeeper) find(id string) *keptSeries {
	kept := k.series[id]
	if kept == nil && len(k.order) < maximumSeries {
		kept = &keptSeries{id: id}
		k.series[id] = kept
		k.order = append(k.order, kept)
	}
	return kept
}

// remember keeps what a set told last when it falls silent: the samples of then may
// be given up while the silence lasts.
func (k *keptSeries) remember(set *recorder.CounterSet) {
	switch silent := tellsNothing(set); {
	case !silent:
		k.told = nil
	case k.told == nil && len(k.labels) > 0:
		k.told = k.reader().toldBefore(k.series.times.end)
	}
}

// reader is the series as it is now, for readers.
func (k *keptSeries) reader() *seriesView {
	if k.view == nil {
		k.view = &seriesView{id: k.id, series: k.series.view(), labels: k.labels, told: k.told}
	}
	return k.view
}

// label notes what the set says besides its numbers, when that changes.
func (k *keptSeries) label(set *recorder.CounterSet) {
	if n := len(k.labels); n > 0 && k.labels[n-1].fit(set) {
		return
	}
	k.labels = append(k.labels, setLabels{from: k.series.times.end, of: set.Of, name: set.Name,
		device: set.Device, call: set.Call, in: set.In, why: set.Why})
}

func (l *setLabels) fit(set *recorder.CounterSet) bool {
	return l.of == set.Of && l.name == set.Name && l.device == set.Device && l.call == set.Call &&
		l.in == set.In && maps.Equal(l.why, set.Why)
}

// trim keeps the history within its limits. It gives up an eighth of a series at
// a time, because giving up costs a little however little it is.
func (k *historyKeeper) trim(now int64) {
	if k.limits.Duration > 0 {
		old := now - k.limits.Duration
		for _, kept := range k.order {
			s := &kept.series
			if part := eighth(s.times.len(), seriesChunk); part < s.times.len() && s.times.at(s.times.first+part) < old {
				k.bytes -= s.drop(s.search(old, s.times.first))
				kept.view = nil
			}
		}
		starts := &k.frames.starts
		if part := eighth(starts.len(), 1<<chunkBits); part < starts.len() && starts.at(starts.first+part).ns < old {
			k.bytes -= k.frames.drop(old) * 16
		}
		k.forgetEnded(old)
	}
	for k.limits.Bytes > 0 && k.bytes > k.limits.Bytes && k.dropOldest(now) {
	}
}

// eighth is an eighth of a length, whole chunks and at least one.
func eighth(length, chunk int) int { return max(chunk, length/8/chunk*chunk) }

// forgetEnded removes the series of sets of which nothing has come since old.
func (k *historyKeeper) forgetEnded(old int64) {
	for i := 0; i < len(k.order); i++ {
		s := &k.order[i].series
		if s.times.len() > 0 && s.times.at(s.times.end-1) < old {
			k.forget(i)
			i--
		}
	}
}

// forget removes a series by its place. Readers keep the old row.
func (k *historyKeeper) forget(i int) {
	k.bytes -= k.order[i].series.size()
	delete(k.series, k.order[i].id)
	k.order = slices.Delete(k.order, i, i+1)
	k.view = nil
}

// dropOldest gives up the samples that reach furthest back, an eighth of them, or
// the whole series of a set that has ended; false when nothing is left that could
// be spared.
func (k *historyKeeper) dropOldest(now int64) bool {
	oldest, first := -1, int64(0)
	for i, kept := range k.order {
		times := &kept.series.times
		if times.len() <= seriesChunk && (times.len() == 0 || times.at(times.end-1) >= now-staleAfter) {
			continue
		}
		if at := times.at(times.first); oldest < 0 || at < first {
			oldest, first = i, at
		}
	}
	if oldest < 0 {
		return false
	}
	kept := k.order[oldest]
	if kept.series.times.len() <= seriesChunk {
		k.forget(oldest)
		return true
	}
	kept.view = nil
	times := &kept.series.times
	k.bytes -= kept.series.drop(times.first + eighth(times.len(), seriesChunk))
	return true
}

// publish is the history as it is now, for readers.
func (k *historyKeeper) publish() *history {
	if k.view != nil {
		return k.view
	}
	view := &history{sets: make([]*seriesView, len(k.order)), frames: k.frames}
	for i, kept := range k.order {
		view.sets[i] = kept.reader()
	}
	k.view = view
	return view
}

// find is the history of a set; nil when there is none.
func (h *history) find(id string) *seriesView {
	if h == nil {
		return nil
	}
	for _, set := range h.sets {
		if set.id == id {
			return set
		}
	}
	return nil
}

// staleAfter is how long, in ns, a set that was sampled only once counts as the
// newest word on its subject when the next samples leave it out. A set that was
// sampled before stays for three of its own intervals, the last one and what is
// usual, and at least as long as a chart holds it: two samples that a busy machine
// brought in one go say nothing of when the next one comes.
const staleAfter = 3_000_000_000

// setsAt are the newest counters of every set at ns. Arenas and processes come
// and go: of these, those that the newest sample on any of them leaves out are
// gone.
func (h *history) setsAt(ns int64) []recorder.CounterSet {
	numbers := make([]int, len(h.sets))
	newest := map[string]int64{}
	for i, view := range h.sets {
		s := view.series
		numbers[i] = s.after(ns) - 1
		if of := view.labels[len(view.labels)-1].of; comesAndGoes(of) && numbers[i] >= s.times.first {
			newest[of] = max(newest[of], s.times.at(numbers[i]))
		}
	}
	sets := make([]recorder.CounterSet, 0, min(len(h.sets), 32))
	for i, view := range h.sets {
		if numbers[i] < view.series.times.first || !view.speaks(numbers[i], ns, newest) {
			continue
		}
		if set, ok := view.set(numbers[i]); ok {
			sets = append(sets, set)
		}
	}
	return sets
}

func comesAndGoes(of string) bool { return of == recorder.OfArena || of == recorder.OfProcess }

// speaks says whether a sample of the set is still the newest word at ns.
func (v *seriesView) speaks(number int, ns int64, newest map[string]int64) bool {
	times := &v.series.times
	at := times.at(number)
	if of := v.labels[len(v.labels)-1].of; comesAndGoes(of) && at < newest[of] {
		return false
	}
	for before := number - 1; before >= times.first; before-- {
		// A gap that was noted has the time of a sample.
		if interval := at - times.at(before); interval > 0 {
			return ns-at <= max(v.series.hold(), 3*interval)
		}
	}
	return ns-at <= staleAfter
}

// set is the counter set as it was sampled; not ok where a gap was noted in
// place of a sample.
func (v *seriesView) set(number int) (recorder.CounterSet, bool) {
	labels := v.labelsAt(number)
	set := recorder.CounterSet{ID: v.id, Of: labels.of, Name: labels.name, Device: labels.device,
		Call: labels.call, In: labels.in, Why: labels.why}
	known := false
	for i := range v.series.columns {
		column := &v.series.columns[i]
		if value, ok := column.value(number); ok {
			set.Values.Set(column.counter, value)
			known = true
		}
	}
	return set, known || len(set.Why) > 0
}

// labelsAt are the labels of a sample.
func (v *seriesView) labelsAt(number int) *setLabels {
	labels := &v.labels[0]
	for i := len(v.labels) - 1; i >= 0; i-- {
		if labels = &v.labels[i]; labels.from <= number {
			break
		}
	}
	return labels
}
