package local

import (
	"vramscope/pool"
)

// askTooMuch asks for more than there is. The pool asks the device for it,
// where its tier lets it; else the device is asked itself, by a plain
// allocation: managed memory beyond what is free would be paged, not refused.
func (r *Render) askTooMuch() error {
	excess := r.identity.Excess
	if excess == 0 {
		_, err := r.memory.allocate(ownsSheets, r.options.Memory/10*9, 0, r.frame)
		return err
	}
	choice, _ := r.memory.tiered.Choice()
	if choice.Tier == pool.TierB || choice.Tier == pool.TierFallback {
		_, err := r.memory.allocate(ownsSheets, excess, 0, r.frame)
		return err
	}
	device := r.memory.device
	address, err := device.Allocate(excess)
	if err == nil {
		return device.Free(address, excess)
	}
	r.memory.breaks(err)
	rule, outOfMemory := pool.Classify(err)
	if !outOfMemory {
		return err
	}
	report := pool.OutOfMemoryReport{Asked: excess, Rule: rule, Err: err, Outcome: "failed: the device itself was asked, beside the pool"}
	report.FreeDevice, report.PoolFree, report.LargestFree = pool.Unknown, pool.Unknown, pool.Unknown
	if free := r.driverFree(); free != nil {
		report.FreeDevice = *free
	}
	r.failed("device", report)
	return err
}
