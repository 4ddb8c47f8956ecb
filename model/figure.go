package model

import "vramscope/recorder"

// Figure is a number with where it came from, or with why it is missing.
type Figure struct {
	Value  int64  // bytes, unless the figure says otherwise; means nothing while Known is false
	Known  bool   // a number that is not known is never shown as zero
	About  bool   // its parts are of different moments: it is shown as "about", and adds up to nothing else
	Within int64  // how far off it may be where it is about, in the figure's unit; 0 where that is not known
	Origin string // the call that gave it, or the reckoning that made it
	Why    string // why it is missing, one sentence; "" when it is known
	View   string // ID of the source that it came from
	Set    string // ID of its counter set

	Last   int64 // where it is missing and was known before: what was told last, in its unit
	LastNs int64 // the moment of that, monotonic ns; 0 where it was never known
}

// Or is the figure, or the other one where this one is missing.
func (f Figure) Or(other Figure) Figure {
	if f.Known || !other.Known {
		return f
	}
	return other
}

// missing is a figure that nobody has.
func missing(why string) Figure { return Figure{Why: why} }

// FindSet is the newest counter set of an ID; nil when there is none.
func (v *SourceView) FindSet(id string) *recorder.CounterSet {
	for i := range v.Sets {
		if v.Sets[i].ID == id {
			return &v.Sets[i]
		}
	}
	return nil
}

// Figure is one counter of a set of this source, with its call or with the
// reason why it is missing.
func (v *SourceView) Figure(set *recorder.CounterSet, counter recorder.Counter) Figure {
	if set == nil {
		return missing(v.title() + " has told of no such counters")
	}
	figure := Figure{View: v.ID, Set: set.ID, Origin: set.Call}
	if figure.Origin == "" {
		figure.Origin = "as " + v.title() + " says"
	}
	figure.Value, figure.Known = set.Values.Get(counter)
	if figure.Known {
		return figure
	}
	if told, ns := v.ToldLast(set); told != nil {
		if last, known := told.Values.Get(counter); known {
			figure.Last, figure.LastNs, figure.Why = last, ns, setTitle(set)+" tells no numbers any more: "+WhySilent(set)
			return figure
		}
	}
	if figure.Why = set.Why[counter.String()]; figure.Why == "" {
		figure.Why = v.title() + " does not tell " + counter.String() + " of " + setTitle(set)
	}
	return figure
}

// title is what to call the source in a sentence.
func (v *SourceView) title() string {
	if v.Name != "" {
		return v.Name
	}
	return v.ID
}

// setTitle is what to call a counter set in a sentence.
func setTitle(set *recorder.CounterSet) string {
	if set.Name != "" {
		return set.Name
	}
	return set.ID
}

// plus and minus reckon with figures; what is missing stays missing, for the
// first reason.
func (f Figure) plus(other Figure) Figure  { return f.combine(other, f.Value+other.Value, "+") }
func (f Figure) minus(other Figure) Figure { return f.combine(other, f.Value-other.Value, "−") }

func (f Figure) combine(other Figure, value int64, sign string) Figure {
	if !f.Known {
		return f
	}
	if !other.Known {
		return other
	}
	return Figure{Value: value, Known: true, Origin: f.Origin + " " + sign + " " + other.Origin, View: f.View, Set: f.Set}
}
