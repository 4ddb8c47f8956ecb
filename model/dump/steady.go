package dump

import "slices"

// steadyTimes replaces times that go back, and missing ones, by the latest one
// so far.
func steadyTimes(times []int64) []int64 {
	steady := make([]int64, len(times))
	latest := int64(0)
	for i, time := range times {
		latest = max(latest, time)
		steady[i] = latest
	}
	return steady
}

// Timed says whether the events have times. Without them the axis is the
// number of the event.
func (d *Device) Timed() bool { return d.tally.timed }

// TimeAt is the time of an event in Unix microseconds, never before that of an
// earlier one; 0 when it is not known.
func (d *Device) TimeAt(event int) int64 {
	if event = min(event, d.Events.Len()-1); event < 0 {
		return d.FirstUs
	}
	return d.clock()[event]
}

// FirstFrom is the first event at or after a time in Unix microseconds; the
// number of events when there is none.
func (d *Device) FirstFrom(us int64) int {
	event, _ := slices.BinarySearch(d.clock(), us)
	return event
}

// LastUntil is the last event at or before a time in Unix microseconds;
// BeforeFirst when there is none.
func (d *Device) LastUntil(us int64) int {
	event, _ := slices.BinarySearch(d.clock(), us+1)
	return event - 1
}
