package plain

import (
	"fmt"
	"maps"
	"slices"

	"vramscope/model"
	"vramscope/recorder"
)

// Report is a recording's report as text.
func Report(report *model.Report) string {
	var p page
	p.line(0, "%s: %s", report.File, report.Status)
	if report.Why != "" {
		p.line(1, "%s", report.Why)
	}
	p.line(1, "%s in %s records", size(report.Bytes), count(report.Records))
	if bad := report.BadLines + report.LongLines; bad > 0 {
		p.line(1, "%s could not be read:", counted(int(bad), "line"))
		for _, line := range report.Bad {
			p.line(2, "line %d: %s", line.Line, line.Reason)
		}
	}
	for _, missing := range report.Missing {
		p.line(1, "missing: %s", missing)
	}
	for i := range report.Sources {
		p.blank()
		p.sourceReport(&report.Sources[i])
	}
	return p.String()
}

func (p *page) sourceReport(s *model.SourceReport) {
	number := ""
	if s.Kind == recorder.KindProcess && s.PID > 0 {
		number = fmt.Sprintf(" %d", s.PID) // several may have one name
	}
	p.line(0, "%s %s%s%s", s.Kind, s.Name, number, placeText(s.Job, s.Rank))
	frames := ""
	if s.Frames != nil {
		frames = fmt.Sprintf(", frames %d to %d", s.Frames.First, s.Frames.Last)
		if s.Frames.AverageNs != nil {
			frames += ", " + duration(*s.Frames.AverageNs) + " each"
		}
	}
	p.line(1, "%s%s", duration(s.DurationNs), frames)
	if s.Started != "" {
		p.line(1, "began %s", s.Started)
	}
	if s.Ended != "" {
		p.line(1, "ended: %s", s.Ended)
	}
	if s.Lost > 0 {
		p.line(1, "records that were lost: %s", count(s.Lost))
	}
	if s.Dropped > 0 {
		p.line(1, "recorded arenas that were pushed out of the registry: %s", count(s.Dropped))
	}
	p.sets(s)
	p.memory(s)
	p.events(s)
	for _, problem := range s.Problems {
		p.line(1, "inconsistent: %s", problem)
	}
}

// placeText is a process's place among those of its job, "" where it has none.
func placeText(job string, rank *int) (text string) {
	if rank != nil {
		text = fmt.Sprintf(", rank %d", *rank)
	}
	if job != "" {
		text += " of " + job
	}
	return text
}

// sets is the counters over the run, of those that are still told at its end
// the newest value and the most.
func (p *page) sets(s *model.SourceReport) {
	for i := range s.Sets {
		set := &s.Sets[i]
		if set.Of == recorder.OfArena {
			continue // the arenas have a section of their own
		}
		text, counters := "", plainCounters[:]
		if isResident(set) {
			counters = []recorder.Counter{recorder.Resident}
		}
		for _, counter := range counters {
			row, ok := set.Counters[counter.String()]
			if !ok {
				continue
			}
			if text != "" {
				text += ", "
			}
			text += counter.String() + " " + known(row.Last)
			switch {
			case leastMatters(set.Of, counter):
				if row.Last == nil || *row.Last != row.Min {
					text += " (least " + size(row.Min) + " after " + duration(row.MinAt) + ")"
				}
			case row.Last == nil || *row.Last != row.Max:
				text += " (most " + size(row.Max) + " after " + duration(row.At) + ")"
			}
		}
		if set.LastAt > 0 && set.Of != recorder.OfArena && text != "" {
			text += ", told last after " + duration(set.LastAt)
		}
		if isResident(set) && text != "" {
			p.line(1, "host memory of the process: %s", text)
			continue
		}
		name := set.ID
		if set.Name != "" && set.Name != set.ID {
			name += " " + set.Name
		}
		switch {
		case text != "":
			p.line(1, "%s: %s", name, text)
		case len(set.Why) > 0:
			p.line(1, "%s", name)
		}
		for _, counter := range slices.Sorted(maps.Keys(set.Why)) {
			p.line(2, "%s is not known: %s", counter, set.Why[counter])
		}
	}
}

// isResident says of a set what model.IsResident does.
func isResident(set *model.SetReport) bool {
	_, counted := set.Counters[recorder.Used.String()]
	return set.Of == recorder.OfProcess && set.Device == model.HostDevice && !counted
}

// leastMatters says of a counter that how little of it there was is what one wants to
// know: of what a machine or a device has left.
func leastMatters(of string, counter recorder.Counter) bool {
	return counter == recorder.Available || counter == recorder.Free && (of == recorder.OfDevice || of == recorder.OfHost)
}

// memory is arenas, pools and peaks.
func (p *page) memory(s *model.SourceReport) {
	untold, whyLeast := 0, "" // said last: arenas of one kind share it
	for i := range s.Arenas {
		a := &s.Arenas[i]
		if isUntold(a) {
			untold++
			continue
		}
		p.arena(a, a.WhyLeast != whyLeast)
		if a.WhyLeast != "" && !isWithoutBytes(a) {
			whyLeast = a.WhyLeast
		}
	}
	switch {
	case untold == 1:
		p.line(1, "1 unmanaged arena, of which nothing was told: what is allocated from it comes from the ordinary allocator")
	case untold > 1:
		p.line(1, "%d unmanaged arenas, of which nothing was told: what is allocated from them comes from the ordinary allocator", untold)
	}
	if s.Summed != nil && len(s.Summed.Scopes)+len(s.Summed.Abandoned) > 0 {
		p.line(1, "scopes by name, over all arenas")
		for _, scope := range s.Summed.Scopes {
			p.line(2, "%s ×%s in %s: self %s, total %s, peak %s", scope.Name, count(scope.Count), counted(scope.Arenas, "arena"),
				least(scope.SelfBytes, size, scope.CountIsLeast), least(scope.TotalBytes, size, scope.CountIsLeast),
				least(scope.Peak, size, scope.PeakIsLeast))
		}
		for _, scope := range s.Summed.Abandoned {
			p.line(2, "abandoned: %s ×%s, peak %s", scope.Name, count(scope.Count), least(scope.Peak, size, scope.PeakIsLeast))
		}
	}
	for i := range s.Pools {
		p.pool(&s.Pools[i])
	}
	if s.Peak != nil {
		p.line(1, "peak %s = max(live %s, floor %s, open %s)", known(s.Peak.Reported), known(s.Peak.Live), known(s.Peak.Floor), known(s.Peak.Open))
	}
	for _, n := range s.NonArena {
		p.line(1, "outside the arena: %s, %s in, peak %s, worst of %s", n.Name, size(n.InputBytes), size(n.PeakBytes), count(n.Count))
	}
}

// isUntold says whether an arena manages no memory, and nothing else is known of
// it: a render may make one beside each of its arenas.
func isUntold(a *model.ArenaReport) bool {
	return !a.Managed && !a.Partial && a.EventsSeen == 0 && len(a.Scopes)+len(a.Abandoned) == 0
}

// isWithoutBytes says whether an arena manages no memory and its scopes tell of none:
// those of a thread that lie in no arena have only their order and their number.
func isWithoutBytes(a *model.ArenaReport) bool {
	return !a.Managed && !a.Partial && a.AllocCount == 0 && a.PeakEver == 0
}

// arena is what is told of one, and where doubts says so also why its numbers are
// lower bounds.
func (p *page) arena(a *model.ArenaReport, doubts bool) {
	if isWithoutBytes(a) {
		p.line(1, "arena %d %s: unmanaged, its scopes have no bytes of their own", a.ID, a.Name)
		p.scopes(a)
		return
	}
	failed := count(a.Failed) + " failed"
	switch {
	case !a.EventsComplete && a.Failed == 0:
		failed = "failures that are not known" // not all of its events were seen
	case !a.EventsComplete:
		failed = "at least " + failed
	}
	p.line(1, "arena %d %s: %s long, %s, %s, %s", a.ID, a.Name, known(a.Length), highWaterText(a), allocations(a.AllocCount, a.CountIsLeast), failed)
	if a.Inconsistent != "" {
		p.line(2, "%s", a.Inconsistent)
	}
	if doubts && a.WhyLeast != "" {
		p.line(2, "≥ is at least: %s", a.WhyLeast)
	}
	p.scopes(a)
}

// scopes is those of an arena.
func (p *page) scopes(a *model.ArenaReport) {
	for i := range a.Scopes {
		p.scope(2, "", &a.Scopes[i], isWithoutBytes(a))
	}
	for i := range a.Abandoned {
		p.scope(2, "abandoned: ", &a.Abandoned[i], isWithoutBytes(a))
	}
}

// highWaterText is the most that was in use of an arena: of one that is gone over its
// life, of others since they were reset, too.
func highWaterText(a *model.ArenaReport) string {
	ever := least(a.PeakEver, size, a.PeakIsLeast)
	switch {
	case a.Inconsistent != "":
		return "high-water " + known(nil)
	case a.HighWater == nil:
		return "high-water " + known(nil) + ", highest ever " + ever
	case a.ReleasedAt != nil || *a.HighWater == a.PeakEver:
		return "high-water " + ever
	case *a.HighWater == 0:
		return "reset, highest ever " + ever
	}
	return "high-water " + least(*a.HighWater, size, a.PeakIsLeast) + ", highest ever " + ever
}

// maximumLevel is how deep scopes are indented.
const maximumLevel = 40

// scope is a scope with those inside; one withoutBytes tells how often it ran.
func (p *page) scope(level int, mark string, s *model.ScopeReport, withoutBytes bool) {
	open := ""
	switch {
	case withoutBytes && s.Open > 0:
		open = ", open"
	case !withoutBytes && s.LiveBytes != nil:
		open = ", live now " + size(*s.LiveBytes)
	}
	if s.Unclosed > 0 {
		open += fmt.Sprintf(", %d unclosed", s.Unclosed)
	}
	took := ""
	switch {
	case withoutBytes:
	case s.PeakIsLeast && s.CountIsLeast && s.Peak == 0 && s.TotalBytes == 0 && s.AllocCount == 0:
		took = ": what it took is not known"
	default:
		took = fmt.Sprintf(": self %s, total %s, peak %s in %s", least(s.SelfBytes, size, s.CountIsLeast), least(s.TotalBytes, size, s.CountIsLeast),
			least(s.Peak, size, s.PeakIsLeast), allocations(s.AllocCount, s.CountIsLeast))
	}
	p.line(min(level, maximumLevel), "%s%s ×%s%s%s", mark, s.Name, count(s.Count), took, open)
	for i := range s.Children {
		p.scope(level+1, "", &s.Children[i], withoutBytes)
	}
}

func (p *page) pool(pool *model.PoolReport) {
	p.line(1, "pool %d %s: tier %s (%s), generation %d", pool.ID, pool.Name, pool.Tier, pool.Why, pool.Generation)
	by := ""
	if pool.CountedBy != "" {
		by = " (by " + pool.CountedBy + "; it tells of no blocks)"
	}
	p.line(2, "reserved %s, live %s, free %s, largest free %s, releasable %s%s", known(pool.Reserved), known(pool.Live),
		known(pool.Free), known(pool.LargestFree), known(pool.Releasable), by)
	if pool.Fragmentation != nil {
		p.line(2, "fragmentation %.0f %% (1 - largest free / free)", *pool.Fragmentation*100)
	}
	for _, g := range pool.Generations {
		p.line(2, "generation %d ended after %s: peak %s, %s allocated in all, %s held", g.Generation, duration(g.EndedAt),
			size(g.PeakBytes), size(g.LifetimeBytes), size(g.PoolBytes))
	}
}

// events is what happened.
func (p *page) events(s *model.SourceReport) {
	for i := range s.OOMs {
		p.oom(&s.OOMs[i])
	}
	for _, action := range s.Actions {
		p.line(1, "action after %s: %s", duration(action.AtNs), action.Line)
		for _, detail := range action.Detail {
			p.line(2, "%s", detail)
		}
	}
	for _, note := range s.Notes {
		p.line(1, "%s after %s: %s", note.Level, duration(note.AtNs), note.Text)
	}
}

func (p *page) oom(o *model.OOMReport) {
	end := "not rescued"
	if o.Rescued {
		end = "rescued"
	}
	p.line(1, "out of memory after %s: %s asked %s of %s, free on the device %s, in the pool %s, largest %s: %s", duration(o.AtNs),
		o.Scope, size(o.Asked), o.Allocator, known(o.Free), known(o.PoolFree), known(o.LargestFree), end)
	for _, step := range o.Steps {
		p.line(2, "%s", step)
	}
	if o.Outcome != "" {
		p.line(2, "%s", o.Outcome)
	}
}
