package dump

import (
	"cmp"
	"slices"
	"sync"

	"vramscope/recorder"
)

// Span is a range that the program marked.
type Span struct {
	Name         string // as the program wrote it; clean it before drawing
	FromUs, ToUs int64  // Unix microseconds; 0 when the trace has no times
	From, To     int    // events [From, To) lie in it
	Lane         int    // spans of one lane do not overlap; 0 is outermost
	NoStart      bool   // only its end was seen: it begins with the trace
	NoEnd        bool   // only its start was seen: it goes on to the end of the trace
}

// mostLanes bounds the rows that spans are laid out in; what does not fit lies
// in the last one.
const mostLanes = 64

// mark is one end of a span.
type mark struct {
	name  string
	start bool
	event int // the first event after it
	us    int64
}

// Spans are the device's marked ranges by their start. The first call finds
// them.
func (d *Device) Spans() []Span { return d.spans() }

func (d *Device) lazySpans() func() []Span {
	return sync.OnceValue(func() []Span { return pairMarks(d.marks(), d.Events.Len(), d.FirstUs, d.LastUs) })
}

// marks are those that stand beside the trace and those of traces of torch 2.4,
// which put them into the frames of events.
func (d *Device) marks() (marks []mark) {
	for _, a := range d.index.Dump.Annotations {
		if a.Device == d.Ordinal && !d.Host {
			marks = append(marks, mark{name: a.Name, start: a.Start, event: d.FirstFrom(a.TimeUs), us: a.TimeUs})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.us, b.us) })
	if d.tally.userDefined == 0 {
		return marks
	}
	for i, action := range d.Events.Action {
		if action != recorder.DumpUserDefined {
			continue
		}
		frames := d.index.Dump.Stacks.Stack(d.Events.Stack[i])
		if len(frames) == 0 {
			continue
		}
		f := &d.index.Dump.Frames[frames[0]]
		marks = append(marks, mark{
			name: d.index.text(f.File), start: d.index.text(f.Name) == "START", event: i, us: d.Events.TimeUs[i],
		})
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.event, b.event) })
	return marks
}

// pairMarks pairs ends with the latest open start of their name.
func pairMarks(marks []mark, events int, firstUs, lastUs int64) []Span {
	var spans []Span
	open := map[string][]int{}
	for _, m := range marks {
		starts := open[m.name]
		switch {
		case m.start:
			open[m.name] = append(starts, len(spans))
			spans = append(spans, Span{Name: m.name, FromUs: m.us, ToUs: max(lastUs, m.us), From: m.event, To: events, NoEnd: true})
		case len(starts) > 0:
			s := &spans[starts[len(starts)-1]]
			s.ToUs, s.To, s.NoEnd = m.us, m.event, false
			open[m.name] = starts[:len(starts)-1]
		default:
			spans = append(spans, Span{Name: m.name, FromUs: min(firstUs, m.us), ToUs: m.us, To: m.event, NoStart: true})
		}
	}
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.FromUs, b.FromUs), cmp.Compare(b.ToUs, a.ToUs))
	})
	layLanes(spans)
	return spans
}

// layLanes gives each span the first lane that is free where it begins.
func layLanes(spans []Span) {
	var ends []Span // the last one of each lane
	for i := range spans {
		s := &spans[i]
		lane := slices.IndexFunc(ends, func(last Span) bool {
			return last.ToUs <= s.FromUs && last.To <= s.From
		})
		switch {
		case lane < 0 && len(ends) < mostLanes:
			lane = len(ends)
			ends = append(ends, *s)
		case lane < 0:
			lane = mostLanes - 1
		}
		s.Lane, ends[lane] = lane, *s
	}
}
