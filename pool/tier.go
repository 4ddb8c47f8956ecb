package pool

import (
	"fmt"
	"os"
)

// Tier is how memory is handed out. The tiers mirror vibespatial's raster
// memory pool.
type Tier uint8

// The tiers.
const (
	// TierNone is no tier yet: nothing was configured.
	TierNone Tier = iota
	// TierA is a pool only, with a maximum: Statistics › Pool › upstream.
	TierA
	// TierB is a failure callback over a pool without a maximum:
	// Statistics › FailureCallback › Pool › upstream.
	TierB
	// TierC is managed memory: Statistics › Managed › upstream.
	TierC
	// TierFallback is a caching pool, for an upstream whose blocks cannot be
	// carved up by a pool of ours: CachingPool › upstream.
	TierFallback
)

// String is the tier as the records and the screen name it: "A", "B", "C",
// "fallback", "none".
func (t Tier) String() string {
	switch t {
	case TierA:
		return "A"
	case TierB:
		return "B"
	case TierC:
		return "C"
	case TierFallback:
		return "fallback"
	default:
		return "none"
	}
}

// Words says what the tier is.
func (t Tier) Words() string {
	switch t {
	case TierA:
		return "pool only"
	case TierB:
		return "failure callback over pool"
	case TierC:
		return "managed memory"
	case TierFallback:
		return "fallback caching pool"
	default:
		return "none yet"
	}
}

// The environment's names. A switch is on when its value is exactly "1". Where
// a name of ours is set, whatever its value, it decides instead of its twin.
const (
	EnvironmentPoolOnly      = "VRAMSCOPE_GPU_POOL_ONLY"
	EnvironmentManagedMemory = "VRAMSCOPE_GPU_MANAGED_MEMORY"

	environmentPoolOnlyTwin      = "VIBESPATIAL_GPU_POOL_ONLY"
	environmentManagedMemoryTwin = "VIBESPATIAL_GPU_MANAGED_MEMORY"
)

const (
	// ManagedThreshold is the free share of the device below which (strictly)
	// managed memory is chosen unasked.
	ManagedThreshold = 0.50
	// PoolMaximumFraction is the share of the device that tier A may take.
	PoolMaximumFraction = 0.80
)

// TierQuery is what the choice of a tier depends on.
type TierQuery struct {
	Asked        Tier                                  // a setting that decides over the environment; TierNone for none
	LookupEnv    func(name string) (string, bool)      // nil is os.LookupEnv
	Name         string                                // of the upstream, for the reason
	Capabilities Capabilities                          // of the upstream
	MemoryInfo   func() (free, total int64, err error) // of the upstream, the driver's reading in bytes
}

// TierChoice is a tier and why it was chosen.
type TierChoice struct {
	Tier    Tier
	Reason  string // in words: "default: 71 % of the device was free"
	Maximum int64  // tier A: the most the pool may take, a multiple of 256 bytes; 0 is no maximum
	Free    int64  // of the device when it was chosen, bytes; Unknown when it was not read
	Total   int64  // likewise
}

// ChooseTier chooses by this table; the first row that fits decides. "Managed"
// and "pool only" are the environment's switches, or the tier asked for.
//
//	upstream can pool | managed | pool only | free share | tier
//	no                | any     | any       | any        | fallback
//	yes               | yes     | any       | any        | C
//	yes               | no      | yes       | not read   | A
//	yes               | no      | no        | < 50 %     | C
//	yes               | no      | no        | >= 50 %    | B
//	yes               | no      | no        | unknown    | B
//
// An upstream without managed memory cannot serve tier C: the choice then goes
// on as if managed memory had not been asked for, and the reason says so.
func ChooseTier(query TierQuery) TierChoice {
	if query.LookupEnv == nil {
		query.LookupEnv = os.LookupEnv
	}
	choice := TierChoice{Free: Unknown, Total: Unknown}
	managed, pool := query.wishes()
	switch {
	case query.Asked == TierFallback:
		choice.Tier, choice.Reason = TierFallback, "asked for by the tier setting"
	case !query.Capabilities.Pool:
		choice.Tier = TierFallback
		choice.Reason = fmt.Sprintf("%s cannot pool: fallback", query.upstream())
		if asked := firstOf(managed, pool); asked != "" {
			choice.Reason = fmt.Sprintf("%s, but %s", asked, choice.Reason)
		}
	case managed != "" && query.Capabilities.Managed:
		choice.Tier, choice.Reason = TierC, managed
	case pool != "":
		query.chooseA(&choice, pool)
	case query.Asked == TierB:
		choice.Tier, choice.Reason = TierB, "asked for by the tier setting"
	default:
		query.chooseByFree(&choice)
	}
	if managed != "" && choice.Tier != TierC && choice.Tier != TierFallback {
		choice.Reason = fmt.Sprintf("%s, but %s has no managed memory; %s", managed, query.upstream(), choice.Reason)
	}
	return choice
}

// wishes says what asked for managed memory and for a pool only, or nothing.
// A tier setting silences the environment.
func (q TierQuery) wishes() (managed, pool string) {
	const setting = "asked for by the tier setting"
	switch q.Asked {
	case TierNone:
		return q.environmentWish(EnvironmentManagedMemory, environmentManagedMemoryTwin),
			q.environmentWish(EnvironmentPoolOnly, environmentPoolOnlyTwin)
	case TierA:
		return "", setting
	case TierC:
		return setting, ""
	default:
		return "", ""
	}
}

func (q TierQuery) environmentWish(name, twin string) string {
	value, set := q.LookupEnv(name)
	if !set {
		name = twin
		value, set = q.LookupEnv(name)
	}
	if !set || value != "1" {
		return ""
	}
	return name + "=1"
}

// chooseA takes a pool only. The device is read for the maximum alone.
func (q TierQuery) chooseA(choice *TierChoice, reason string) {
	choice.Tier, choice.Reason = TierA, reason
	if !q.read(choice) {
		choice.Reason += "; no maximum, because the device's memory could not be read"
		return
	}
	choice.Maximum = int64(float64(choice.Total)*PoolMaximumFraction) &^ 255
}

// chooseByFree is the choice that nobody made.
func (q TierQuery) chooseByFree(choice *TierChoice) {
	choice.Tier = TierB
	if !q.read(choice) {
		choice.Reason = "default: the device's memory could not be read"
		return
	}
	share := float64(choice.Free) / float64(choice.Total)
	percent := int(share * 100)
	switch {
	case share >= ManagedThreshold:
		choice.Reason = fmt.Sprintf("default: %d %% of the device was free", percent)
	case q.Capabilities.Managed:
		choice.Tier = TierC
		choice.Reason = fmt.Sprintf("chosen unasked: %d %% of the device was free (%s of %s), under 50 %%",
			percent, formatBytes(choice.Free), formatBytes(choice.Total))
	default:
		choice.Reason = fmt.Sprintf("default: %d %% of the device was free, and %s has no managed memory to stretch it",
			percent, q.upstream())
	}
}

// read puts the driver's reading into the choice. A device without memory is as
// good as unread.
func (q TierQuery) read(choice *TierChoice) bool {
	free, total, err := q.MemoryInfo()
	if err != nil || total <= 0 {
		return false
	}
	choice.Free, choice.Total = free, total
	return true
}

func (q TierQuery) upstream() string {
	if q.Name == "" {
		return "the upstream"
	}
	return q.Name
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
