package model

// SetSpan is a counter set that the history has, and when it was sampled first
// and last, in monotonic ns.
type SetSpan struct {
	ID          string
	First, Last int64
	In          string // ID of the set that it lay inside at the end
}

// SetSpans are the sets of a kind (recorder.Of…) that were sampled at some time
// in what is kept, appended to into, in order of appearance: those of arenas and
// processes that are gone as well. A chart over time asks for them by their ID.
func (v *SourceView) SetSpans(into []SetSpan, of string) []SetSpan {
	if v.history == nil {
		return into
	}
	for _, set := range v.history.sets {
		times := &set.series.times
		if times.len() == 0 || len(set.labels) == 0 || times.at(times.first) > v.Now {
			continue
		}
		labels := &set.labels[len(set.labels)-1]
		if labels.of == of {
			into = append(into, SetSpan{ID: set.id, First: times.at(times.first), Last: min(times.at(times.end-1), v.Now), In: labels.in})
		}
	}
	return into
}

// WasSampled says whether what is kept has a sample of a set.
func (v *SourceView) WasSampled(id string) bool {
	set := v.history.find(id)
	return set != nil && set.series.times.len() > 0 && set.series.times.at(set.series.times.first) <= v.Now
}
