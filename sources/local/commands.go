package local

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"vramscope/pool"
	"vramscope/recorder"
)

// obeyed is every command that a render carries out.
var obeyed = []string{
	recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild, recorder.CommandResetPeak,
	recorder.CommandHeadroom, recorder.CommandRecordOn, recorder.CommandRecordOff, recorder.CommandCalibration,
}

// do carries out a command between two frames.
func (r *Render) do(command *recorder.Command) *recorder.Ack {
	ack := &recorder.Ack{State: recorder.AckDone}
	ack.Before = r.actedOn()
	switch command.Name {
	case recorder.CommandReclaim:
		r.reclaim(ack, false)
	case recorder.CommandForceReclaim:
		r.reclaim(ack, true)
	case recorder.CommandRebuild:
		r.rebuild(ack)
	case recorder.CommandResetPeak:
		r.resetPeak(ack)
	case recorder.CommandHeadroom:
		r.checkHeadroom(ack, command.Args.Fraction)
	case recorder.CommandRecordOn:
		r.record(ack, true)
	case recorder.CommandRecordOff:
		r.record(ack, false)
	case recorder.CommandCalibration:
		r.writeCalibration(ack, command.Args.Path)
	default:
		fail(ack, fmt.Sprintf("%s does not know the command %.40q", r.identity.Called, command.Name))
	}
	ack.After = r.actedOn()
	r.sample()
	return ack
}

// actedOn is the counter sets that commands change.
func (r *Render) actedOn() []recorder.CounterSet {
	sets := []recorder.CounterSet{r.deviceSet(), r.poolSet()}
	if set, ok := r.sharedSet(); ok {
		sets = append(sets, set)
	}
	return sets
}

func fail(ack *recorder.Ack, why string) { ack.State, ack.Why = recorder.AckFailed, why }

func acted(ack *recorder.Ack, yes bool) { ack.Acted = &yes }

// reclaim is the release policy; force empties the caches without pressure.
func (r *Render) reclaim(ack *recorder.Ack, force bool) {
	report, lines := r.release(force)
	acted(ack, report.Acted())
	if !report.Acted() {
		ack.Why = report.Trigger
	}
	ack.Result = lines
	emptied := slices.ContainsFunc(report.Lines, func(line pool.ReleaseLine) bool { return line.Gauge == pool.GaugeDriverFree })
	if report.Acted() && !emptied && report.Reclaimable < pool.MinimumReclaimable {
		ack.Why = fmt.Sprintf("caches were kept: %d MiB are cached, and under %d MiB emptying them is not worth the wait; R forces it",
			report.Reclaimable>>20, pool.MinimumReclaimable>>20)
	}
}

// rebuild tears the pool down and builds it again, if nothing lives in it.
func (r *Render) rebuild(ack *recorder.Ack) {
	if r.identity.Queued && r.nothingLives() {
		ack.Result = append(ack.Result, waitLine(r.settle()))
	}
	report, err := r.memory.tiered.Rebuild()
	var live *pool.LiveAllocationsError
	switch {
	case errors.As(err, &live):
		acted(ack, false)
		fail(ack, fmt.Sprintf("%d live allocations hold %s, of %s: wait for the end of the job, or reclaim", live.Count, sizeText(live.Bytes), r.memory.whose()))
		return
	case err != nil:
		r.memory.breaks(err)
		fail(ack, err.Error())
	}
	r.pools.Changed()
	acted(ack, report.Done)
	ack.Result = append(ack.Result, recorder.ResultLine{
		What: report.What, Before: known(report.DriverFreeBefore), After: known(report.DriverFreeAfter),
		Freed: known(report.Freed), Why: report.Why, Took: report.Nanoseconds,
	})
}

// nothingLives says whether a rebuild can be done.
func (r *Render) nothingLives() bool {
	stats := r.memory.tiered.Stats()
	return !stats.HasUsage || stats.Usage.LiveBlocks == 0
}

// resetPeak begins a new window for every peak that can begin one.
func (r *Render) resetPeak(ack *recorder.Ack) {
	before, _ := r.memory.peaks.Peak(r.memory.key)
	r.memory.peaks.ResetWindow(r.memory.key)
	after, _ := r.memory.peaks.Peak(r.memory.key)
	ack.Result = append(ack.Result, recorder.ResultLine{What: "peak outside the arena", Before: &before.Reported, After: &after.Reported})
	if carved := r.memory.carved(); carved != nil {
		before := carved.Usage().PeakAllocated
		carved.ResetPeaks()
		after := carved.Usage().PeakAllocated
		ack.Result = append(ack.Result, recorder.ResultLine{What: "peak allocated of the pool", Before: &before, After: &after})
	}
	ack.Result = append(ack.Result, r.resetSharedPeaks()...)
	acted(ack, true)
}

// carved is the pool at the bottom of the stack; nil in tier C.
func (m *memory) carved() pool.Suballocator {
	for layer := m.tiered.Upstream(); layer != nil; layer = layer.Upstream() {
		if carved, ok := layer.(pool.Suballocator); ok {
			return carved
		}
	}
	return nil
}

// checkHeadroom gives free segments back when less than a fraction of the
// device is free.
func (r *Render) checkHeadroom(ack *recorder.Ack, fraction float64) {
	if fraction == 0 {
		fraction = pool.HeadroomFraction
	}
	if !(fraction > 0 && fraction <= 1) {
		fail(ack, fmt.Sprintf("a fraction of %g means nothing: ask for more than 0 and at most 1", fraction))
		return
	}
	check := r.memory.tiered.EnsureHeadroom(fraction)
	acted(ack, check.Acted)
	ack.Result = []recorder.ResultLine{{
		What: fmt.Sprintf("headroom check at %g %%: driver free", fraction*100), Before: known(check.Before.DriverFree),
		After: known(check.After.DriverFree), Freed: known(check.Freed), Why: check.Why,
	}}
}

// record arms or disarms the registry of recorded arenas.
func (r *Render) record(ack *recorder.Ack, on bool) {
	registry := r.stream.Registry()
	acted(ack, registry.AutoRecordEnabled() != on)
	kept := len(registry.Arenas())
	registry.SetAutoRecord(on)
	line := recorder.ResultLine{What: "recording is armed: arenas made from now on are kept"}
	if !on {
		line.What = fmt.Sprintf("recording is off: %d arenas were forgotten, transients outside of arenas stay", kept)
	}
	ack.Result = []recorder.ResultLine{line}
}

// writeCalibration writes every recorded arena to a new file.
func (r *Render) writeCalibration(ack *recorder.Ack, path string) {
	if !filepath.IsAbs(path) {
		fail(ack, "a calibration dump needs an absolute path of a file that is not there yet")
		return
	}
	arenas := len(r.stream.Registry().Arenas())
	if arenas == 0 {
		why := "no arena was recorded, since recording is not armed: arm it with record-on, let a job begin, and ask again"
		if r.stream.Registry().AutoRecordEnabled() {
			why = "no arena was recorded, since no job has begun after recording was armed: ask again after the next one, or record for longer"
		}
		fail(ack, why)
		return
	}
	file, err := recorder.CreateFile(path, recorder.FileOptions{Clock: r.clock.now})
	if err != nil {
		fail(ack, err.Error())
		return
	}
	err = r.stream.WriteCalibration(file, &r.hello)
	if closed := file.Close("calibration dump"); err == nil {
		err = closed
	}
	if err != nil {
		fail(ack, err.Error())
		return
	}
	size, _ := file.Size()
	acted(ack, true)
	ack.Path = path
	ack.Result = []recorder.ResultLine{{What: fmt.Sprintf("%d arenas were written", arenas), After: &size}}
}
