package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vramscope/recorder"
)

// ArenaReport is one arena.
type ArenaReport struct {
	ID             int64         `json:"id"`
	Name           string        `json:"name"`
	Job            string        `json:"job,omitempty"`
	From           string        `json:"from,omitempty"` // the program, in a calibration dump
	Device         string        `json:"device,omitempty"`
	Length         *int64        `json:"length"`
	Forward        int64         `json:"forward"`
	Reverse        int64         `json:"reverse"`
	HighWater      *int64        `json:"high_water"`                  // simultaneous, since the last reset
	PeakEver       int64         `json:"peak_ever"`                   // simultaneous, over its life, resets or not
	PeakIsLeast    bool          `json:"peak_is_at_least,omitempty"`  // moves were not seen: peak_ever is a lower bound
	CountIsLeast   bool          `json:"count_is_at_least,omitempty"` // the same: alloc_count and self_bytes are
	AllocCount     int64         `json:"alloc_count"`
	SelfBytes      int64         `json:"self_bytes"` // allocated outside every scope
	Failed         int64         `json:"failed_allocations"`
	Managed        bool          `json:"managed"`
	HasBuffer      bool          `json:"has_buffer"`
	HalfBuilt      bool          `json:"half_built,omitempty"` // it never got its buffer
	Partial        bool          `json:"partial,omitempty"`    // its beginning was not seen
	ReleasedAt     *int64        `json:"released_at_ns,omitempty"`
	WhyLeast       string        `json:"why_at_least,omitempty"` // why counts are lower bounds
	Inconsistent   string        `json:"inconsistent,omitempty"` // its pointers cannot be; a sentence on what to check
	CutEvents      int64         `json:"cut_events,omitempty"`   // that did not fit the registry
	Folded         int64         `json:"folded_scopes,omitempty"`
	Scopes         []ScopeReport `json:"scopes,omitempty"`
	Abandoned      []ScopeReport `json:"abandoned,omitempty"` // open at a reset; never averaged with the others
	EventsSeen     int64         `json:"events_seen"`
	EventsComplete bool          `json:"events_complete"` // callers and dtypes are over its whole life
	Callers        []RollupRow   `json:"callers,omitempty"`
	DTypes         []RollupRow   `json:"dtypes,omitempty"`
}

// ScopeReport is one row of a scope tree: scopes of one name under one parent.
// Bytes and counts add up, peaks are the largest.
type ScopeReport struct {
	Name         string        `json:"name"`
	Count        int64         `json:"count"`
	Open         int32         `json:"open,omitempty"`
	Unclosed     int64         `json:"unclosed,omitempty"` // ended with an outer scope or a reset
	AllocCount   int64         `json:"alloc_count"`        // scopes inside included
	SelfBytes    int64         `json:"self_bytes"`
	TotalBytes   int64         `json:"total_bytes"`                 // scopes inside included
	LiveBytes    *int64        `json:"live_bytes"`                  // in the open scope; null where none is open
	Peak         int64         `json:"peak"`                        // simultaneous, above entry
	PeakIsLeast  bool          `json:"peak_is_at_least,omitempty"`  // moves were not seen: peak is a lower bound, 0 says nothing
	CountIsLeast bool          `json:"count_is_at_least,omitempty"` // the same: alloc_count, self_bytes and total_bytes are
	PeakForward  int64         `json:"peak_forward"`
	PeakReverse  int64         `json:"peak_reverse"`
	PeakAt       int64         `json:"peak_at_ns,omitempty"`
	PeakFrame    *int64        `json:"peak_frame"`
	Params       []ParamReport `json:"params,omitempty"`
	Children     []ScopeReport `json:"children,omitempty"`
}

// ParamReport is a parameter last seen on a scope.
type ParamReport struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// RollupRow is bytes allocated under one name.
type RollupRow struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Count int64  `json:"count"`
}

// SummedReport is the scopes of all arenas by name.
type SummedReport struct {
	Scopes    []SummedScope `json:"scopes"`
	Abandoned []SummedScope `json:"abandoned,omitempty"`
}

// SummedScope is every scope of one name. See ScopeSum.
type SummedScope struct {
	Name         string `json:"name"`
	Arenas       int    `json:"arenas"`
	Count        int64  `json:"count"`
	AllocCount   int64  `json:"alloc_count"`
	SelfBytes    int64  `json:"self_bytes"`
	TotalBytes   int64  `json:"total_bytes"`
	Peak         int64  `json:"peak"`
	PeakArena    int64  `json:"peak_arena"`
	PeakIsLeast  bool   `json:"peak_is_at_least,omitempty"`  // see ScopeReport
	CountIsLeast bool   `json:"count_is_at_least,omitempty"` // see ScopeReport
}

// PoolReport is one pool.
type PoolReport struct {
	ID            int64              `json:"id"`
	Name          string             `json:"name"`
	Device        string             `json:"device,omitempty"`
	Tier          string             `json:"tier"`
	Why           string             `json:"why,omitempty"` // the reason for the tier
	Stack         []string           `json:"stack,omitempty"`
	Generation    int                `json:"generation"`
	Generations   []GenerationReport `json:"generations,omitempty"` // those that ended
	Limit         *int64             `json:"limit"`
	Reserved      *int64             `json:"reserved"`
	Live          *int64             `json:"live"`
	LiveBlocks    *int64             `json:"live_blocks"`
	Free          *int64             `json:"free"`
	LargestFree   *int64             `json:"largest_free"`
	Releasable    *int64             `json:"releasable"`
	Fragmentation *float64           `json:"fragmentation"`        // 1 − largest / free
	CountedBy     string             `json:"counted_by,omitempty"` // the counter set that the numbers are of, where the pool tells of no blocks
	Ladder        *recorder.Ladder   `json:"ladder,omitempty"`
}

// GenerationReport is what a pool had counted when it was rebuilt.
type GenerationReport struct {
	Generation    int   `json:"generation"`
	EndedAt       int64 `json:"ended_at_ns"`
	PeakBytes     int64 `json:"peak_bytes"`
	LifetimeBytes int64 `json:"lifetime_bytes"`
	LifetimeCount int64 `json:"lifetime_count"`
	PoolBytes     int64 `json:"pool_bytes"`
}

func arenaReport(v *SourceView, a *ArenaView) ArenaReport {
	root := a.Scopes.Root()
	report := ArenaReport{ID: a.ID, Name: a.State.Name, Job: a.State.Job, From: a.State.From, Device: a.State.Device,
		Forward: a.State.Forward, Reverse: a.State.Reverse, PeakEver: root.Peak, AllocCount: root.AllocCount, SelfBytes: root.SelfBytes,
		Failed: a.Failed, Managed: a.State.Managed, HasBuffer: a.State.HasBuffer, HalfBuilt: a.State.HalfBuilt, Partial: a.Partial,
		CutEvents: a.State.CutEvents, Folded: a.Scopes.Folded(), EventsSeen: a.Events,
		Callers: rollupRows(a.Callers()), DTypes: rollupRows(a.DTypes())}
	if !a.Partial {
		length, highWater := a.State.Length, a.State.HighWater
		report.Length, report.HighWater = &length, &highWater
		report.PeakEver = a.HighestEver()
	}
	report.PeakIsLeast, report.CountIsLeast = root.PeakBound > report.PeakEver, root.PeakBound > 0
	report.WhyLeast, report.Inconsistent = a.WhyLeast(), a.Crossed()
	if report.Inconsistent != "" {
		report.HighWater = nil
	}
	if released := a.State.Released - v.First; a.State.Released != 0 {
		report.ReleasedAt = &released
	}
	var counted int64
	for _, row := range report.Callers {
		counted += row.Count
	}
	report.EventsComplete = !a.Partial && !report.CountIsLeast && counted == root.AllocCount
	report.Scopes = scopeReports(v, a, a.Scopes, -1)
	report.Abandoned = scopeReports(v, a, a.Scopes.Abandoned(), -1)
	return report
}

func scopeReports(v *SourceView, a *ArenaView, scopes *recorder.ScopeSnapshot, above int32) []ScopeReport {
	var reports []ScopeReport
	for row := range scopes.Children(above) {
		numbers := scopes.Row(row)
		report := ScopeReport{Name: a.strings.String(numbers.Name), Count: numbers.Count, Open: numbers.Open, Unclosed: numbers.Unclosed,
			AllocCount: numbers.AllocCount, SelfBytes: numbers.SelfBytes, TotalBytes: numbers.TotalBytes, Peak: numbers.Peak,
			PeakIsLeast: numbers.PeakIsLeast(), CountIsLeast: numbers.CountIsLeast(), PeakForward: numbers.PeakForward, PeakReverse: numbers.PeakReverse, Params: paramReports(numbers.Params),
			Children: scopeReports(v, a, scopes, row)}
		if numbers.PeakNs > 0 {
			report.PeakAt = numbers.PeakNs - v.First
		}
		if numbers.PeakFrame >= 0 {
			report.PeakFrame = &numbers.PeakFrame
		}
		if live, ok := scopes.Live(row); ok {
			report.LiveBytes = &live
		}
		reports = append(reports, report)
	}
	slices.SortStableFunc(reports, func(a, b ScopeReport) int { return cmp.Compare(b.Peak, a.Peak) })
	return reports
}

func rollupRows(rollups []Rollup) []RollupRow {
	rows := make([]RollupRow, len(rollups))
	for i, r := range rollups {
		rows[i] = RollupRow(r)
	}
	return rows
}

func summedReports(sums []ScopeSum) []SummedScope {
	rows := make([]SummedScope, len(sums))
	for i, sum := range sums {
		rows[i] = SummedScope{Name: sum.Name, Arenas: sum.Arenas, Count: sum.Count, AllocCount: sum.AllocCount, SelfBytes: sum.SelfBytes,
			TotalBytes: sum.TotalBytes, Peak: sum.Peak, PeakArena: sum.PeakArena, PeakIsLeast: sum.PeakIsLeast, CountIsLeast: sum.CountIsLeast}
	}
	return rows
}

func poolReport(v *SourceView, p *PoolView) PoolReport {
	report := PoolReport{ID: p.ID, Name: p.State.Name, Device: p.State.Device, Tier: p.State.Tier, Why: p.State.Why,
		Stack: p.State.Stack, Generation: p.State.Generation, Ladder: p.State.Ladder}
	if p.State.Limit > 0 {
		report.Limit = &p.State.Limit
	}
	for _, g := range p.State.Generations {
		report.Generations = append(report.Generations, GenerationReport{Generation: g.Generation, EndedAt: g.Ended - v.First,
			PeakBytes: g.PeakBytes, LifetimeBytes: g.LifetimeBytes, LifetimeCount: g.LifetimeCount, PoolBytes: g.PoolBytes})
	}
	use, ok := p.Use()
	if !ok || use.Segments == 0 {
		report.countBySet(v)
		return report
	}
	blocks := int64(use.LiveBlocks)
	report.Reserved, report.Live, report.LiveBlocks = &use.Reserved, &use.Live, &blocks
	report.Free, report.LargestFree, report.Releasable = &use.Free.Bytes, &use.Free.Largest, &use.Releasable
	if share, ok := use.Free.Fragmentation(); ok {
		report.Fragmentation = &share
	}
	return report
}

// countBySet takes the numbers of a pool that tells of no blocks from its counter
// set: a pool of another library has a tier here and its counters there.
func (r *PoolReport) countBySet(v *SourceView) {
	set := v.poolSeries(r)
	if set == nil {
		return
	}
	read := func(counter recorder.Counter) *int64 {
		if value, ok := set.lastKnown(counter); ok {
			return &value
		}
		return nil
	}
	r.CountedBy = set.id
	r.Reserved, r.Live, r.LiveBlocks = read(recorder.Reserved), read(recorder.Allocated), read(recorder.LiveBlocks)
	r.Free, r.LargestFree, r.Releasable = read(recorder.Free), read(recorder.LargestFree), read(recorder.Releasable)
	if r.Free != nil && r.LargestFree != nil {
		if share, ok := (FreeUse{Bytes: *r.Free, Largest: *r.LargestFree}).Fragmentation(); ok {
			r.Fragmentation = &share
		}
	}
}

// poolSeries are the counters of a pool over the run: of its number, or of a set
// whose name begins like the pool's; nil where there are none.
func (v *SourceView) poolSeries(r *PoolReport) *seriesView {
	if set := v.history.find(fmt.Sprintf("pool:%d", r.ID)); set != nil {
		return set
	}
	for _, set := range v.history.sets {
		if labels := set.labels[len(set.labels)-1]; labels.of == recorder.OfPool && r.Name != "" && strings.HasPrefix(labels.name, r.Name) {
			return set
		}
	}
	return nil
}

// setReports are the counters over the run, sets in order of appearance.
func setReports(v *SourceView) []SetReport {
	var reports []SetReport
	for _, view := range v.history.sets {
		labels := view.labels[len(view.labels)-1]
		report := SetReport{ID: view.id, Of: labels.of, Name: labels.name, Device: labels.device, Call: labels.call, In: labels.in,
			Why: labels.why, Counters: map[string]CounterReport{}}
		if times := &view.series.times; times.len() > 0 && times.at(times.end-1)+view.series.hold() < v.Now {
			report.LastAt = times.at(times.end-1) - v.First
		}
		if view.told != nil {
			report.LastAt = view.told.ns - v.First
		}
		for i := range view.series.columns {
			counter := view.series.columns[i].counter
			highest, at, ok := v.Peak(view.id, counter)
			if !ok {
				continue
			}
			row := CounterReport{Max: highest, At: at - v.First}
			if least, at, ok := v.Least(view.id, counter); ok {
				row.Min, row.MinAt = least, at-v.First
			}
			if last, ok := view.lastKnown(counter); ok {
				row.Last = &last
			}
			report.Counters[counter.String()] = row
		}
		reports = append(reports, report)
	}
	return reports
}

// peakReport is the newest of the source's peak counters, those of a peak region
// stack first.
func peakReport(v *SourceView) *PeakReport {
	for _, of := range []string{recorder.OfPeaks, recorder.OfPool} {
		for _, view := range v.history.sets {
			if view.labels[len(view.labels)-1].of != of {
				continue
			}
			read := func(counter recorder.Counter) *int64 {
				if value, ok := view.lastKnown(counter); ok {
					return &value
				}
				return nil
			}
			report := PeakReport{Reported: read(recorder.PeakReported), Live: read(recorder.PeakLive), Floor: read(recorder.PeakFloor),
				Open: read(recorder.PeakOpen), Compatible: read(recorder.PeakCompatible)}
			if report.Reported == nil {
				report.Reported = read(recorder.PeakAllocated)
			}
			if report.Reported != nil {
				return &report
			}
		}
	}
	return nil
}
