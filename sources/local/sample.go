package local

import (
	"strconv"

	"vramscope/pool"
	"vramscope/recorder"
)

// The calls that the numbers come from, as counter sets name them.
const (
	callPool  = "pool.Tiered.Stats"
	callArena = "arena.Arena.State"
	callPeaks = "pool.Peaks.Peak"
	callHost  = "/proc/meminfo and the control group"
)

func (r *Render) poolID() string    { return "pool:" + strconv.FormatInt(r.pools.ID(), 10) }
func (r *Render) arenaID() string   { return "arena:" + strconv.FormatInt(r.feed.ID(), 10) }
func (r *Render) processID() string { return "process:" + strconv.Itoa(r.hello.PID) }

// sample emits a sample of this moment and says when the next one is due.
func (r *Render) sample() {
	r.sequence++
	period := int64(1e9 / r.options.Hz)
	r.sampled = max(r.sampled+period, r.clock.now())
	r.stream.Emit(&recorder.Sample{Head: r.stream.Head(), Seq: r.sequence, Sets: r.sets()})
}

// sets is every counter set of this moment.
func (r *Render) sets() []recorder.CounterSet {
	sets := make([]recorder.CounterSet, 0, 8)
	sets = append(sets, r.deviceSet(), r.processSet(), r.poolSet())
	sets = append(sets, r.memory.device.Beside(r.processID())...)
	if r.arena != nil {
		sets = append(sets, r.arenaSet())
	}
	if set, ok := r.peaksSet(); ok {
		sets = append(sets, set)
	}
	if r.gauges.host != nil {
		sets = append(sets, hostSet(r.gauges.host()))
	}
	return sets
}

func (r *Render) deviceSet() recorder.CounterSet {
	set := recorder.CounterSet{ID: "device", Of: recorder.OfDevice, Name: r.identity.Name, Device: r.identity.ID,
		Call: r.identity.MemoryCall, Why: r.identity.Missing}
	free, total, err := r.memory.device.MemoryInfo()
	if err != nil {
		set.Why = map[string]string{"free": err.Error(), "total": err.Error(), "used": err.Error()}
		return set
	}
	set.Values.Set(recorder.Total, total)
	set.Values.Set(recorder.Free, free)
	set.Values.Set(recorder.Used, total-free)
	return set
}

func (r *Render) processSet() recorder.CounterSet {
	set := recorder.CounterSet{ID: r.processID(), Of: recorder.OfProcess, Name: r.hello.Name, Device: r.identity.ID,
		Call: r.identity.HeldCall, In: "device"}
	set.Values.Set(recorder.Used, r.memory.device.Held())
	if r.gauges.resident == nil {
		set.Why = map[string]string{"resident": r.gauges.missing, "cpu_time": r.gauges.missing}
		return set
	}
	if bytes, ok := r.gauges.resident(); ok {
		set.Values.Set(recorder.Resident, bytes)
	}
	if ns, ok := r.gauges.cpu(); ok {
		set.Values.Set(recorder.CPUTime, ns)
	}
	return set
}

func (r *Render) arenaSet() recorder.CounterSet {
	state := r.arena.State()
	// The buffer is the process's own from the device: no pool holds it.
	set := recorder.CounterSet{ID: r.arenaID(), Of: recorder.OfArena, Name: state.Name, Device: r.identity.ID, Call: callArena, In: r.processID()}
	for counter, value := range map[recorder.Counter]int64{
		recorder.Length: state.Length, recorder.Forward: state.Forward, recorder.Reverse: state.Reverse,
		recorder.HighWater: state.HighWater, recorder.Free: state.Reverse - state.Forward,
		recorder.OpenScopes: int64(state.Scopes),
	} {
		set.Values.Set(counter, value)
	}
	return set
}

func (r *Render) peaksSet() (recorder.CounterSet, bool) {
	reading, ok := r.memory.peaks.Peak(r.memory.key)
	if !ok {
		return recorder.CounterSet{}, false
	}
	set := recorder.CounterSet{ID: "peaks", Of: recorder.OfPeaks, Name: "outside the arena", Device: r.identity.ID, Call: callPeaks}
	set.Values.Set(recorder.PeakLive, reading.Live)
	set.Values.Set(recorder.PeakFloor, reading.Floor)
	set.Values.Set(recorder.PeakOpen, reading.Open)
	set.Values.Set(recorder.PeakReported, reading.Reported)
	set.Values.Set(recorder.PeakCompatible, reading.Compatible)
	set.Values.Set(recorder.Allocated, reading.Current)
	return set, true
}

// hostSet is the machine's memory.
func hostSet(memory pool.HostMemory) recorder.CounterSet {
	set := recorder.CounterSet{ID: "host", Of: recorder.OfHost, Name: "this machine", Device: "host", Call: callHost}
	missing := func(counter recorder.Counter, value int64, why string) {
		if value != pool.Unknown {
			set.Values.Set(counter, value)
			return
		}
		if set.Why == nil {
			set.Why = map[string]string{}
		}
		set.Why[counter.String()] = why
	}
	missing(recorder.Total, memory.Total, "/proc/meminfo does not say")
	missing(recorder.Available, memory.Available, "/proc/meminfo does not say")
	missing(recorder.CgroupCurrent, memory.CgroupCurrent, "this process is in no control group with a limit")
	missing(recorder.CgroupLimit, memory.CgroupLimit, "this process is in no control group with a limit")
	return set
}
