package model

import (
	"vramscope/pool"
	"vramscope/recorder"
)

// HostMemory is the machine's own memory, in bytes.
type HostMemory struct {
	Total         Figure
	Available     Figure
	Resident      Figure // of the process that is looked at
	CgroupCurrent Figure
	CgroupLimit   Figure // missing where there is no limit
	CgroupGate    Gate   // the control group holds 60 % of its limit or more
	AvailableGate Gate   // 15 % of the memory or less are available
}

// HostMemoryOf is the host's memory as the subject says it, or else as one of the
// sources beside it does.
func HostMemoryOf(subject *SourceView, beside []*SourceView) HostMemory {
	view, set := hostSetOf(subject, beside)
	return hostMemory(subject, view, set)
}

// hostSetOf is the counter set of the host's memory with the source that tells it;
// the subject and nil where nobody does.
func hostSetOf(subject *SourceView, beside []*SourceView) (*SourceView, *recorder.CounterSet) {
	view, set := subject, subject.hostSet()
	for i := 0; set == nil && i < len(beside); i++ {
		if beside[i].Kind == recorder.KindHost || beside[i].Kind == recorder.KindProcess {
			view, set = beside[i], beside[i].hostSet()
		}
	}
	return view, set
}

func hostMemory(subject, view *SourceView, set *recorder.CounterSet) HostMemory {
	host := HostMemory{
		Total:         view.Figure(set, recorder.Total),
		Available:     view.Figure(set, recorder.Available),
		CgroupCurrent: view.Figure(set, recorder.CgroupCurrent),
		CgroupLimit:   view.Figure(set, recorder.CgroupLimit),
		Resident:      subject.resident(),
	}
	memory := pool.HostMemory{
		Total: host.Total.known(), Available: host.Available.known(),
		CgroupCurrent: host.CgroupCurrent.known(), CgroupLimit: host.CgroupLimit.known(),
	}
	host.CgroupGate = Gate{Share: pool.CgroupPressureUsed, Why: host.CgroupLimit.Why, Crossed: memory.CgroupPressured()}
	if host.CgroupLimit.Known {
		host.CgroupGate.At = int64(pool.CgroupPressureUsed * float64(host.CgroupLimit.Value))
		host.CgroupGate.Known, host.CgroupGate.Why = host.CgroupCurrent.Known, host.CgroupCurrent.Why
	}
	host.AvailableGate = Gate{Share: pool.HostPressureAvailable, Why: host.Total.Why}
	if host.Total.Known {
		at := pool.HostPressureAvailable * float64(host.Total.Value)
		host.AvailableGate = Gate{Share: pool.HostPressureAvailable, At: int64(at), Known: host.Available.Known,
			Why: host.Available.Why, Crossed: host.Available.Known && float64(host.Available.Value) <= at}
	}
	return host
}

// Free is what the host's memory can still give: what is available, and no more
// than the control group's limit leaves.
func (h *HostMemory) Free() Figure {
	free := h.Available
	if !h.CgroupLimit.Known {
		return free
	}
	left := h.CgroupLimit.minus(h.CgroupCurrent)
	if !left.Known {
		return left
	}
	left.Value, left.Origin = max(left.Value, 0), "what the control group's limit leaves: "+left.Origin
	if free.Known && free.Value <= left.Value {
		free.Origin = "what is available: " + free.Origin
		return free
	}
	return left
}

// Whole is all of the host's memory that can be used: the control group's limit
// where that is less than what there is.
func (h *HostMemory) Whole() Figure {
	if h.CgroupLimit.Known && !(h.Total.Known && h.Total.Value <= h.CgroupLimit.Value) {
		limit := h.CgroupLimit
		limit.Origin = "the control group's limit: " + limit.Origin
		return limit
	}
	return h.Total
}

// hostName is what the machine's own memory is called as a device.
const hostName = "host memory"

// used is what is not free of what can be used.
func (h *HostMemory) used() Figure {
	used := h.Whole().minus(h.Free())
	used.Value = max(used.Value, 0)
	return used
}

// known is the value, or what package pool says for a number that is not known.
func (f Figure) known() int64 {
	if !f.Known {
		return pool.Unknown
	}
	return f.Value
}

func (v *SourceView) hostSet() *recorder.CounterSet {
	for i := range v.Sets {
		if set := &v.Sets[i]; set.Of == recorder.OfHost && set.Values.Known(recorder.Total) {
			return set
		}
	}
	return nil
}

// IsResident says of a counter set that it is what a process itself has of the
// machine's memory alone: its resident set, which no driver counts and which what
// its allocators reserve there lies in.
func IsResident(set *recorder.CounterSet) bool {
	return set.Of == recorder.OfProcess && set.Device == HostDevice && !set.Values.Known(recorder.Used)
}

// resident is the process's resident set.
func (v *SourceView) resident() Figure {
	for i := range v.Sets {
		if v.Sets[i].Values.Known(recorder.Resident) {
			return v.Figure(&v.Sets[i], recorder.Resident)
		}
	}
	return missing(v.title() + " does not tell its resident set")
}
