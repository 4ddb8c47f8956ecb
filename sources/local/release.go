package local

import (
	"fmt"
	"time"

	"vramscope/pool"
	"vramscope/recorder"
)

// effects are what a release acts on: the render's own memory, and on a device
// that works behind the program's back also its default pool.
func (r *Render) effects() pool.ReleaseEffects {
	own := r.memory.tiered.ReleaseEffects(r.gauges.effects())
	if !r.identity.Queued {
		return own
	}
	r.queued = &queuedEffects{ReleaseEffects: own, render: r}
	return r.queued
}

// queuedEffects are the effects of a release on a device with work in flight:
// memory goes back when that has ended.
type queuedEffects struct {
	pool.ReleaseEffects
	render *Render
	waited int64 // ns, by the last emptying of the caches
}

// Reclaimable counts what the device's default pool holds unused, too.
func (e *queuedEffects) Reclaimable() int64 {
	bytes := e.ReleaseEffects.Reclaimable()
	if set, ok := e.render.sharedSet(); ok {
		if free, known := set.Values.Get(recorder.Free); known {
			bytes += free
		}
	}
	return bytes
}

// EmptyCaches waits for the device first, so that the wait is measured by
// itself: the driver would wait in any case.
func (e *queuedEffects) EmptyCaches() pool.ReleaseOutcome {
	e.waited = e.render.settle()
	return e.ReleaseEffects.EmptyCaches()
}

// settle waits for the device and says how long, in ns.
func (r *Render) settle() int64 {
	began := r.clock.now()
	r.memory.breaks(r.memory.device.Settle())
	return r.clock.now() - began
}

// release gives memory back as the policy has it: what the collection hook
// finds, the pool's free segments, and then what the device's default pool
// holds unused. The lines say what was done, one for each.
func (r *Render) release(force bool) (report pool.ReleaseReport, lines []recorder.ResultLine) {
	report = r.policy.Release(force)
	emptied := false
	for _, line := range report.Lines {
		result := recorder.ResultLine{
			What: line.What + ": " + line.Gauge.String(), Before: known(line.Before), After: known(line.After),
			Why: line.Why, Took: line.Nanoseconds,
		}
		// What the collection hook frees goes to the pool, and only from there
		// to the driver.
		if line.Gauge == pool.GaugeDriverFree {
			result.Freed = known(line.Freed)
			if r.queued != nil {
				lines = append(lines, waitLine(r.queued.waited))
				result.Took -= r.queued.waited
			}
			emptied = true
		}
		lines = append(lines, result)
	}
	if emptied {
		lines = append(lines, r.trimShared()...)
	}
	return report, lines
}

// longWait is from where on a wait for the device is worth a reason of its own,
// in ns.
const longWait = int64(time.Millisecond)

// waitLine says how long the device was waited for.
func waitLine(ns int64) recorder.ResultLine {
	line := recorder.ResultLine{What: "wait for the device", Took: ns}
	if ns >= longWait {
		line.Why = fmt.Sprintf("its work in flight took %.1f ms to end", float64(ns)/1e6)
	}
	return line
}

// trimShared gives back what the device's default pool holds unused.
func (r *Render) trimShared() []recorder.ResultLine {
	shared, ok := r.memory.device.(sharedPool)
	if !ok || r.memory.broken != nil {
		return nil
	}
	if _, ok := shared.SharedPool(""); !ok {
		return nil
	}
	line := recorder.ResultLine{What: "trim the device's default pool: driver free", Before: r.driverFree()}
	began := r.clock.now()
	if err := shared.TrimSharedPool(); err != nil {
		line.Why = err.Error()
		r.memory.breaks(err)
	}
	line.Took = r.clock.now() - began
	line.After = r.driverFree()
	if line.Before != nil && line.After != nil {
		freed := max(0, *line.After-*line.Before)
		line.Freed = &freed
	}
	if set, ok := shared.SharedPool(""); ok && line.Why == "" {
		if used, known := set.Values.Get(recorder.Allocated); known && used > 0 {
			line.Why = sizeText(used) + " of the default pool are in use"
		}
	}
	return []recorder.ResultLine{line}
}

// resetSharedPeaks begins a new window for the peaks of the device's default
// pool.
func (r *Render) resetSharedPeaks() []recorder.ResultLine {
	shared, ok := r.memory.device.(sharedPool)
	if !ok {
		return nil
	}
	before, ok := shared.SharedPool("")
	if !ok {
		return nil
	}
	line := recorder.ResultLine{What: "peak allocated of the device's default pool", Before: counterOf(before, recorder.PeakAllocated)}
	if err := shared.ResetSharedPeaks(); err != nil {
		line.Why = err.Error()
		r.memory.breaks(err)
	} else if after, ok := shared.SharedPool(""); ok {
		line.After = counterOf(after, recorder.PeakAllocated)
	}
	return []recorder.ResultLine{line}
}

// counterOf is a counter of a set, nil where it is not known.
func counterOf(set recorder.CounterSet, counter recorder.Counter) *int64 {
	value, known := set.Values.Get(counter)
	if !known {
		return nil
	}
	return &value
}

// driverFree is what the driver says is free; nil where it cannot be read.
func (r *Render) driverFree() *int64 {
	free, _, err := r.memory.device.MemoryInfo()
	if err != nil {
		return nil
	}
	return &free
}
