package local

import (
	"vramscope/pool"
	"vramscope/recorder"
)

// usage is the pool's own counters; tier C has none.
func (m *memory) usage() (pool.Usage, bool) {
	stats := m.tiered.Stats()
	return stats.Usage, stats.HasUsage
}

// poolSet is the pool's counters.
func (r *Render) poolSet() recorder.CounterSet {
	stats := r.memory.tiered.Stats()
	set := recorder.CounterSet{ID: r.poolID(), Of: recorder.OfPool, Name: "render pool", Device: r.identity.ID, Call: callPool, In: r.processID()}
	values := &set.Values
	values.Set(recorder.Generation, int64(stats.Generation))
	values.Set(recorder.OOMs, stats.Failures)
	if stats.HasUsage {
		setUsage(values, stats.Usage)
	} else {
		set.Why = managedHasNone
	}
	if stats.HasCounts {
		setCounts(values, stats)
	}
	if choice, ok := r.memory.tiered.Choice(); ok && choice.Maximum > 0 {
		values.Set(recorder.Limit, choice.Maximum)
	}
	if ladder, ok := r.memory.tiered.Ladder(); ok {
		values.Set(recorder.Retries, ladder.Collections+ladder.Rebuilds+ladder.SegmentFrees)
		values.Set(recorder.LadderUsed, int64(ladder.Used))
		values.Set(recorder.LadderCooldown, ladder.Cooldown)
		values.Set(recorder.LadderExhausted, ladder.Exhausted)
	}
	return set
}

var managedHasNone = func() map[string]string {
	why := map[string]string{}
	for _, counter := range []recorder.Counter{recorder.Reserved, recorder.Free, recorder.LargestFree, recorder.Releasable,
		recorder.Segments, recorder.FreeBlocks} {
		why[counter.String()] = "managed memory comes from the device block by block: no pool holds any"
	}
	return why
}()

func setUsage(values *recorder.Counters, usage pool.Usage) {
	values.Set(recorder.Reserved, usage.Reserved)
	values.Set(recorder.Allocated, usage.Allocated)
	values.Set(recorder.Requested, usage.Requested)
	values.Set(recorder.Free, usage.Free)
	values.Set(recorder.LargestFree, usage.LargestFree)
	values.Set(recorder.Releasable, usage.Releasable)
	values.Set(recorder.Segments, int64(usage.Segments))
	values.Set(recorder.LiveBlocks, int64(usage.LiveBlocks))
	values.Set(recorder.FreeBlocks, int64(usage.FreeBlocks))
	values.Set(recorder.PeakReserved, usage.PeakReserved)
	values.Set(recorder.PeakAllocated, usage.PeakAllocated)
	values.Set(recorder.PeakRequested, usage.PeakRequested)
	values.Set(recorder.LifetimeBytes, usage.LifetimeRequested)
	values.Set(recorder.LifetimeCount, usage.LifetimeAllocations)
}

// setCounts adds what the Statistics layer counts: in tier C that is all there
// is.
func setCounts(values *recorder.Counters, stats pool.Stats) {
	values.Set(recorder.LifetimeBytes, stats.LifetimeBytes)
	values.Set(recorder.LifetimeCount, stats.LifetimeCount)
	if !stats.HasUsage {
		values.Set(recorder.Requested, stats.CurrentBytes)
		values.Set(recorder.Allocated, stats.CurrentBytes)
		values.Set(recorder.LiveBlocks, stats.CurrentCount)
		values.Set(recorder.PeakRequested, stats.PeakBytes)
	}
}

// poolStates is the pool with its segments and blocks, for a state.
func (r *Render) poolStates() []recorder.PoolState {
	tiered := r.memory.tiered
	choice, _ := tiered.Choice()
	state := recorder.PoolState{
		ID: r.pools.ID(), Name: "render pool", Device: r.identity.ID, Tier: choice.Tier.String(), Why: choice.Reason,
		Stack: tiered.Stack(), Limit: choice.Maximum,
	}
	segments, blocks, generation := tiered.Layout()
	state.Generation = generation
	for _, s := range segments {
		state.Segments.Address = append(state.Segments.Address, recorder.FormatAddress(uint64(s.Address)))
		state.Segments.Bytes = append(state.Segments.Bytes, s.Bytes)
	}
	for _, b := range blocks {
		addBlock(&state.Blocks, b)
	}
	for _, g := range tiered.Generations() {
		state.Generations = append(state.Generations, recorder.PoolGeneration{
			Generation: g.Generation, Ended: g.Ended, PeakBytes: g.PeakBytes,
			LifetimeBytes: g.LifetimeBytes, LifetimeCount: g.LifetimeCount, PoolBytes: g.PoolBytes,
		})
	}
	if ladder, ok := tiered.Ladder(); ok {
		state.Ladder = ladderState(ladder)
	}
	return []recorder.PoolState{state}
}

func addBlock(columns *recorder.BlockColumns, b pool.Block) {
	columns.Address = append(columns.Address, recorder.FormatAddress(uint64(b.Address)))
	columns.Bytes = append(columns.Bytes, b.Bytes)
	columns.Requested = append(columns.Requested, b.Requested)
	columns.Stream = append(columns.Stream, uint32(b.Stream))
	live := uint8(0)
	if b.Live {
		live = 1
	}
	columns.Live = append(columns.Live, live)
}

func ladderState(ladder pool.LadderState) *recorder.Ladder {
	state := &recorder.Ladder{
		Used: ladder.Used, CooldownNs: ladder.Cooldown, Exhausted: &ladder.Exhausted,
		Collections: &ladder.Collections, Rebuilds: &ladder.Rebuilds, SegmentFrees: &ladder.SegmentFrees,
	}
	if ladder.LastFailed != pool.Unknown {
		state.LastAsked = ladder.LastFailed
	}
	if ladder.LastAction != pool.ActionNone {
		state.LastAction = ladder.LastAction.String()
	}
	return state
}
