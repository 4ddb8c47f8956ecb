package pool

import "encoding/json"

// Stats is the state of a Tiered in numbers. Bytes unless said; a number that
// the tier does not have, or that could not be read, is Unknown.
//
// vibespatial's memory_pool_stats calls two different things total_bytes; here
// they are LifetimeBytes and HeldBytes.
type Stats struct {
	Tier       Tier
	Configured bool
	Generation int   // rebuilds so far
	Failures   int64 // allocations that ended in an out-of-memory

	Counts         // tiers A, B and C: of the Statistics layer
	HasCounts bool // Counts are known; they mean nothing otherwise

	PoolBytes int64 // tiers A and B: taken from upstream

	UsedBytes int64 // fallback tier: in blocks handed out, rounded
	FreeBytes int64 // fallback tier: in free blocks
	HeldBytes int64 // fallback tier: both together

	Usage    Usage // tiers A, B and fallback: the pool's own counters
	HasUsage bool  // Usage is known
}

// Stats reads the numbers of one moment.
func (t *Tiered) Stats() Stats {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	stats := Stats{
		Tier: t.choice.Tier, Configured: t.configured, Generation: t.generation, Failures: t.failures,
		PoolBytes: Unknown, UsedBytes: Unknown, FreeBytes: Unknown, HeldBytes: Unknown,
	}
	if t.statistics != nil {
		stats.Counts, stats.HasCounts = t.statistics.Counts(), true
	}
	if t.carved == nil || t.closed {
		return stats
	}
	stats.Usage, stats.HasUsage = t.carved.Usage(), true
	if t.choice.Tier == TierFallback {
		stats.UsedBytes, stats.FreeBytes = stats.Usage.Allocated, stats.Usage.Free
		stats.HeldBytes = stats.Usage.Reserved
	} else {
		stats.PoolBytes = stats.Usage.Reserved
	}
	return stats
}

// Documented gives the numbers under the keys that vibespatial documents, and
// only these. Always tier and configured; then
//
//	tiers A and B  current_bytes, current_count, peak_bytes, peak_count, total_bytes (over the
//	               lifetime), total_count (likewise), pool_size
//	tier C         the same without pool_size
//	fallback       used_bytes, free_bytes, total_bytes (held: used + free)
//
// The key of a number that is not known is left out. Before it is configured
// the tier is "".
func (s Stats) Documented() map[string]any {
	if !s.Configured {
		return map[string]any{"tier": "", "configured": false}
	}
	keys := map[string]any{"tier": s.Tier.String(), "configured": true}
	known := func(key string, value int64) {
		if value != Unknown {
			keys[key] = value
		}
	}
	if s.Tier == TierFallback {
		known("used_bytes", s.UsedBytes)
		known("free_bytes", s.FreeBytes)
		known("total_bytes", s.HeldBytes)
		return keys
	}
	if s.HasCounts {
		keys["current_bytes"], keys["current_count"] = s.CurrentBytes, s.CurrentCount
		keys["peak_bytes"], keys["peak_count"] = s.PeakBytes, s.PeakCount
		keys["total_bytes"], keys["total_count"] = s.LifetimeBytes, s.LifetimeCount
	}
	known("pool_size", s.PoolBytes)
	return keys
}

// DocumentedJSON is Documented as a JSON object, its keys in alphabetical order.
func (s Stats) DocumentedJSON() ([]byte, error) { return json.Marshal(s.Documented()) }
