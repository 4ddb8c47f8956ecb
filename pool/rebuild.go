package pool

import (
	"errors"
	"fmt"
	"strings"
)

// LiveAllocationsError refuses what would pull memory from under allocations
// that are in use. Nothing was changed.
type LiveAllocationsError struct {
	Count int64  // live allocations
	Bytes int64  // that they hold, as asked
	What  string // what was refused: "rebuild", "close"
}

// Error states the facts and ends with what to do.
func (e *LiveAllocationsError) Error() string {
	verb := "hold"
	if e.Count == 1 {
		verb = "holds"
	}
	return fmt.Sprintf("%s refused: %s %s %s (%d bytes); free them first, or reclaim to release whole free segments",
		e.What, countOf(e.Count, "live allocation"), verb, formatBytes(e.Bytes), e.Bytes)
}

// PastGeneration is what a pool had counted when it was rebuilt.
type PastGeneration struct {
	Generation int
	Ended      int64 // monotonic nanoseconds by the Tiered's clock
	PoolBytes  int64 // taken from upstream at its end
	Counts           // of the Statistics layer
	Usage      Usage // the pool's own counters
}

// MaximumGenerations is how many past generations are kept; the oldest go first.
const MaximumGenerations = 64

// RebuildReport is what a rebuild did. Bytes; Unknown where unreadable.
type RebuildReport struct {
	Tier             Tier
	Done             bool   // the pool was torn down and built again, or its free blocks given back
	What             string // what was done, or why nothing was, in words
	Generation       int    // the one that is there now
	DriverFreeBefore int64
	DriverFreeAfter  int64
	Freed            int64  // given back to upstream
	Why              string // why not more came back; "" when all did
	Nanoseconds      int64  // how long it took
}

// Rebuild gives the pool's memory back to the device. It mirrors vibespatial's
// free_pool_memory: tiers A and B tear the pool down and build the same tier
// again as a new generation, whose counters start at 0; the fallback tier gives
// back all its free blocks; tier C has nothing to rebuild, and says so; without
// a tier nothing is done. It does not collect.
//
// Over live allocations tiers A and B refuse with a *LiveAllocationsError (the
// original leaves that to its caller). Another error is the upstream's that
// would not take a segment back; the new generation is there all the same.
func (t *Tiered) Rebuild() (RebuildReport, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.closed {
		return RebuildReport{}, ErrClosed
	}
	started := t.clock()
	report := RebuildReport{Tier: t.choice.Tier, DriverFreeBefore: t.driverFree()}
	err := t.rebuildTier(&report)
	report.Generation = t.generation
	report.DriverFreeAfter = t.driverFree()
	report.Nanoseconds = t.clock() - started
	return report, err
}

func (t *Tiered) rebuildTier(report *RebuildReport) error {
	switch {
	case !t.configured:
		report.What = "nothing to rebuild: no tier is configured yet"
		return nil
	case t.choice.Tier == TierC:
		report.What = "nothing to rebuild: managed memory has no pool, each block goes back when it is freed"
		return nil
	case t.choice.Tier == TierFallback:
		release, err := t.carved.ReleaseFreeSegments()
		report.Done, report.Freed, report.Why = true, release.Bytes, whyKept(release)
		report.What = "freed all blocks of the caching pool; the fallback tier has no generations"
		return err
	}
	if err := t.refuseOverLive("rebuild"); err != nil {
		report.What = err.Error()
		return err
	}
	held := t.carved.Usage().Reserved
	replaced, err := t.nextGeneration()
	if !replaced {
		report.What = "nothing was changed: the new pool could not be built"
		return err
	}
	report.Done, report.Freed = true, held
	report.What = fmt.Sprintf("tore the pool down and built tier %s again as generation %d", t.choice.Tier, t.generation)
	if err != nil {
		report.Freed, report.Why = Unknown, err.Error()
	}
	return err
}

// Generation is how often the pool has been rebuilt: 0 for the first one.
func (t *Tiered) Generation() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.generation
}

// Generations are those that ended, oldest first, MaximumGenerations at most.
func (t *Tiered) Generations() []PastGeneration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return append([]PastGeneration(nil), t.generations...)
}

// nextGeneration replaces the pool, which has no live block. The layers above
// stay, with their counters at 0: an allocation that is being retried goes to
// the new pool, where the original would send it to the old one.
func (t *Tiered) nextGeneration() (replaced bool, err error) {
	pool, err := t.newPool(t.choice, t.generation+1)
	if err != nil {
		return false, err
	}
	usage := t.carved.Usage()
	err = t.carved.Close()
	var live *LiveBlocksError
	if errors.As(err, &live) {
		return false, &LiveAllocationsError{Count: int64(live.Count), Bytes: live.Bytes, What: "rebuild"}
	}
	if len(t.generations) == MaximumGenerations {
		t.generations = append(t.generations[:0], t.generations[1:]...)
	}
	t.generations = append(t.generations, PastGeneration{
		Generation: t.generation, Ended: t.clock(), PoolBytes: usage.Reserved,
		Counts: t.statistics.Counts(), Usage: usage,
	})
	t.generation++
	t.carved = pool
	if t.callback != nil {
		t.callback.replaceUpstream(pool)
		t.statistics.restart(t.callback)
	} else {
		t.statistics.restart(pool)
	}
	if t.options.Observer != nil {
		t.options.Observer.ObservePool(Event{Op: OpRebuild, Generation: t.generation})
	}
	return true, err
}

// makeRoom is the failure callback's work beyond a collection: a rebuild where
// nothing is live, and in its place a release of whole free segments.
func (t *Tiered) makeRoom() (action LadderAction, freed int64, why string) {
	if t.closed {
		return ActionReleaseFreeSegments, Unknown, ErrClosed.Error()
	}
	held := t.carved.Usage()
	if held.LiveBlocks == 0 {
		if replaced, err := t.nextGeneration(); replaced {
			if err != nil {
				return ActionRebuild, Unknown, err.Error()
			}
			return ActionRebuild, held.Reserved, ""
		}
	}
	release, err := t.carved.ReleaseFreeSegments()
	reasons := []string{fmt.Sprintf("no rebuild over %s of %s",
		countOf(int64(held.LiveBlocks), "live block"), formatBytes(held.Allocated))}
	if kept := whyKept(release); kept != "" {
		reasons = append(reasons, kept)
	}
	if err != nil {
		reasons = append(reasons, err.Error())
	}
	return ActionReleaseFreeSegments, release.Bytes, strings.Join(reasons, "; ")
}

// refuseOverLive is the error of doing what over live allocations, nil where
// none is live.
func (t *Tiered) refuseOverLive(what string) error {
	var count, bytes int64
	switch {
	case t.statistics != nil:
		counts := t.statistics.Counts()
		count, bytes = counts.CurrentCount, counts.CurrentBytes
	case t.carved != nil:
		usage := t.carved.Usage()
		count, bytes = int64(usage.LiveBlocks), usage.Requested
	}
	if count == 0 {
		return nil
	}
	return &LiveAllocationsError{Count: count, Bytes: bytes, What: what}
}

// whyKept says in words why a release left free bytes behind, "" when it left
// none.
func whyKept(release SegmentRelease) string {
	if release.KeptFree == 0 {
		return ""
	}
	verb := "hold"
	if release.KeptSegments == 1 {
		verb = "holds"
	}
	return fmt.Sprintf("%s %s live blocks: %s free in them cannot go back",
		countOf(int64(release.KeptSegments), "segment"), verb, formatBytes(release.KeptFree))
}
