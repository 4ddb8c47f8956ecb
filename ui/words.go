package ui

import (
	"strconv"
	"time"

	"vramscope/model"
	"vramscope/recorder"
)

// clockTime is a moment in Unix ns as a clock shows it.
func clockTime(wall int64) string { return time.Unix(0, wall).Format("15:04:05") }

// wallOf is a monotonic moment of a source in Unix ns; 0 where its hello does
// not say.
func wallOf(view *model.SourceView, ns int64) int64 {
	if view == nil || view.Hello == nil || view.Hello.Wall == 0 {
		return 0
	}
	return view.Hello.Wall + ns - view.Hello.Ns
}

// clockOf is the local time of day of a moment in Unix ns.
func clockOf(wall int64) (hour, minute, second int) { return time.Unix(0, wall).Clock() }

// notSpoken says why nothing is known of a source that has not spoken yet; "" of
// one that has, and where nobody knows.
func notSpoken(view *model.SourceView) string {
	if view.Hello != nil || view.Status != model.StatusConnecting || view.StatusWhy == "" {
		return ""
	}
	return "Nothing is known yet: " + view.StatusWhy + "."
}

func pidText(pid int) string { return strconv.Itoa(pid) }

// peakMoment is when the memory of a source was highest, and what it was the
// peak of: its allocator's bytes, those used on the device, or else an arena's.
func peakMoment(s *scene) (ns int64, what string, ok bool) {
	if s.newest == nil {
		return 0, "", false
	}
	best := int64(-1)
	for i := range s.newest.Sets {
		set := &s.newest.Sets[i]
		counter, weight := recorder.Allocated, ""
		switch set.Of {
		case recorder.OfDevice:
			counter, weight = recorder.Used, "the device's used memory"
		case recorder.OfArena:
			continue
		default:
			weight = "allocated bytes in " + set.ID
		}
		value, at, known := s.newest.Peak(set.ID, counter)
		if known && value > best {
			best, ns, what, ok = value, at, weight, true
		}
	}
	if ok {
		return ns, what, ok
	}
	return arenaPeakMoment(s.newest)
}

// arenaPeakMoment is when most was used of an arena, among those that are gone as
// well: of a program whose arenas lie in no pool, that is the peak.
func arenaPeakMoment(view *model.SourceView) (ns int64, what string, ok bool) {
	best := int64(0)
	for _, span := range view.SetSpans(nil, recorder.OfArena) {
		if value, at, known := view.Peak(span.ID, recorder.HighWater); known && value > best {
			best, ns, what, ok = value, at, "what was used of "+span.ID, true
		}
	}
	return ns, what, ok
}
