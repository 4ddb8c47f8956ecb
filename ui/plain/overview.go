package plain

import (
	"strconv"

	"vramscope/model"
	"vramscope/recorder"
)

// Overview is what can be seen at one moment: every source with its state,
// its headroom and its allocators. Reserve is what headroom holds back, bytes.
func Overview(snapshot *model.Snapshot, reserve int64) string {
	var p page
	for _, view := range snapshot.Sources {
		p.source(snapshot, view, reserve)
	}
	if len(snapshot.Sources) == 0 {
		p.line(0, "nothing is watched")
	}
	return p.String()
}

func (p *page) source(snapshot *model.Snapshot, view *model.SourceView, reserve int64) {
	kind := view.Kind
	if kind == "" {
		kind = "source"
	}
	which := ""
	if h := view.Hello; h != nil && view.Kind == recorder.KindProcess && h.PID > 0 {
		which = " " + strconv.Itoa(h.PID) + placeText(h.Job, h.Rank) // two programs may have one name
	}
	p.line(0, "%s %s%s: %s", kind, view.Name, which, view.Status.String())
	if view.StatusWhy != "" {
		p.line(1, "%s", view.StatusWhy)
	}
	if view.Trouble != "" {
		p.line(1, "%s", view.Trouble)
	}
	if view.Kind == recorder.KindProcess || view.Kind == recorder.KindDevice {
		h := model.HeadroomOf(view, snapshot.Beside(view), "", reserve)
		if h.Bytes.Known || h.DriverFree.Known {
			p.headroom(&h)
			free := "free on the device"
			if h.Host != nil {
				free = "free host memory"
			}
			p.figure(1, free, h.DriverFree)
			p.figure(1, "largest single allocation", h.Largest)
		}
	}
	if view.Kind == recorder.KindProcess {
		p.accounts(view, snapshot.Beside(view))
	}
	for i := range view.Sets {
		p.set(view, &view.Sets[i])
	}
	for _, pool := range view.Pools {
		p.line(1, "pool %s: tier %s (%s), generation %d", pool.State.Name, pool.State.Tier, pool.State.Why, pool.State.Generation)
	}
	for _, arena := range view.Arenas {
		switch {
		case arena.State.Released != 0 || arena.Partial:
		case !arena.State.Managed:
			p.line(1, "arena %s: unmanaged, what is allocated from it comes from the ordinary allocator", arena.State.Name)
		case arena.Crossed() != "":
			p.line(1, "arena %s: forward %s, reverse pointer %s of %s: %s", arena.State.Name, size(arena.State.Forward), size(arena.State.Reverse),
				size(arena.State.Length), arena.Crossed())
		case arena.WasReset():
			p.line(1, "arena %s: reset, highest ever %s of %s", arena.State.Name, size(arena.HighestEver()), size(arena.State.Length))
		default:
			p.line(1, "arena %s: forward %s, reverse %s, high-water %s of %s", arena.State.Name, size(arena.State.Forward),
				size(arena.State.Length-arena.State.Reverse), least(arena.State.HighWater, size, arena.HighWaterIsLeast()), size(arena.State.Length))
		}
	}
}

// headroom is the headroom, or where an allocator does not tell what it has free
// a lower bound of it.
func (p *page) headroom(h *model.Headroom) {
	if !h.Bytes.Known && h.AtLeast.Known {
		p.line(1, "headroom: at least %s: %s", size(h.AtLeast.Value), h.Bytes.Why)
		return
	}
	p.figure(1, "headroom", h.Bytes)
}

// accounts are a process's bytes on each device as the driver counts them, and
// what of them its allocators have.
func (p *page) accounts(view *model.SourceView, beside []*model.SourceView) {
	for _, device := range view.Devices(beside) {
		a := model.AccountsOf(view, beside, device)
		switch {
		case a.Driver.Known && a.Held.Known && a.Rest.Known:
			about := ""
			if a.Rest.About {
				about = "about "
			}
			p.line(1, "on %s: %s by the driver = %s in allocators + %s%s context and other libraries", a.Name, size(a.Driver.Value), size(a.Held.Value), about, size(a.Rest.Value))
		case a.Driver.Known && a.Held.Known:
			p.line(1, "on %s: %s by the driver, %s in allocators; %s", a.Name, size(a.Driver.Value), size(a.Held.Value), a.Rest.Why)
		case a.Driver.Known:
			p.line(1, "on %s: %s by the driver", a.Name, size(a.Driver.Value))
		case a.Held.Known && device == model.HostDevice:
			p.line(1, "in %s: %s in allocators", a.Name, size(a.Held.Value))
		case a.Held.Known:
			p.line(1, "on %s: %s in allocators; %s", a.Name, size(a.Held.Value), a.Driver.Why)
		}
	}
}

func (p *page) figure(level int, name string, f model.Figure) {
	if f.Known {
		p.line(level, "%s: %s", name, size(f.Value))
		return
	}
	p.line(level, "%s: not known: %s", name, f.Why)
}

// plainCounters are the counters of bytes that a plain line names.
var plainCounters = [...]recorder.Counter{
	recorder.Total, recorder.Used, recorder.Free, recorder.DriverReserved, recorder.Reserved, recorder.Allocated,
	recorder.LargestFree, recorder.Releasable, recorder.Length, recorder.HighWater, recorder.PeakReported, recorder.Available,
	recorder.CgroupCurrent, recorder.CgroupLimit, recorder.Resident,
}

func (p *page) set(view *model.SourceView, set *recorder.CounterSet) {
	if resident := view.Figure(set, recorder.Resident); model.IsResident(set) && resident.Known {
		p.line(1, "host memory of the process: %s", size(resident.Value))
		return
	}
	text := ""
	for _, counter := range plainCounters {
		if f := view.Figure(set, counter); f.Known {
			if text != "" {
				text += ", "
			}
			text += counter.String() + " " + size(f.Value)
		}
	}
	if text != "" {
		p.line(1, "%s: %s", set.ID, text)
	}
}
