package pool

import (
	"errors"
	"strings"
	"testing"
)

// environment is a set of variables to choose a tier from.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	value, set := e[name]
	return value, set
}

var (
	poolsAndManages = Capabilities{Pool: true, Managed: true}
	poolsOnly       = Capabilities{Pool: true}
	errTelemetry    = errors.New("the driver does not answer")
)

const gib = int64(1) << 30

func deviceWith(free, total int64) func() (int64, int64, error) {
	return func() (int64, int64, error) { return free, total, nil }
}

func unreadable() (int64, int64, error) { return 0, 0, errTelemetry }

func TestTheTruthTableOfTheTiers(t *testing.T) {
	const pool, managed = "VIBESPATIAL_GPU_POOL_ONLY", "VIBESPATIAL_GPU_MANAGED_MEMORY"
	const ourPool, ourManaged = "VRAMSCOPE_GPU_POOL_ONLY", "VRAMSCOPE_GPU_MANAGED_MEMORY"
	for _, row := range []struct {
		name   string
		env    environment
		can    Capabilities
		device func() (int64, int64, error)
		want   Tier
		reason string
	}{
		{"cannot pool", nil, Capabilities{}, deviceWith(20*gib, 24*gib), TierFallback, "host memory cannot pool: fallback"},
		{"cannot pool, managed asked", environment{managed: "1"}, Capabilities{Managed: true}, deviceWith(20*gib, 24*gib),
			TierFallback, "VIBESPATIAL_GPU_MANAGED_MEMORY=1, but host memory cannot pool: fallback"},
		{"cannot pool, pool asked", environment{pool: "1"}, Capabilities{}, unreadable,
			TierFallback, "VIBESPATIAL_GPU_POOL_ONLY=1, but host memory cannot pool: fallback"},
		{"managed", environment{managed: "1"}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierC, "VIBESPATIAL_GPU_MANAGED_MEMORY=1"},
		{"managed beats pool only", environment{managed: "1", pool: "1"}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierC, "VIBESPATIAL_GPU_MANAGED_MEMORY=1"},
		{"pool only", environment{pool: "1"}, poolsAndManages, deviceWith(4*gib, 24*gib),
			TierA, "VIBESPATIAL_GPU_POOL_ONLY=1"},
		{"4 of 24 GiB free", nil, poolsAndManages, deviceWith(4*gib, 24*gib),
			TierC, "chosen unasked: 16 % of the device was free (4.0 GiB of 24.0 GiB), under 50 %"},
		{"20 of 24 GiB free", nil, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierB, "default: 83 % of the device was free"},
		{"71 percent free", nil, poolsAndManages, deviceWith(71, 100), TierB, "default: 71 % of the device was free"},
		{"exactly half free", nil, poolsAndManages, deviceWith(12*gib, 24*gib), TierB, "default: 50 % of the device was free"},
		{"a byte under half", nil, poolsAndManages, deviceWith(12*gib-1, 24*gib), TierC,
			"chosen unasked: 49 % of the device was free (12.0 GiB of 24.0 GiB), under 50 %"},
		{"probe raises", nil, poolsAndManages, unreadable, TierB, "default: the device's memory could not be read"},
		{"total 0", nil, poolsAndManages, deviceWith(0, 0), TierB, "default: the device's memory could not be read"},

		{"true is not 1", environment{managed: "true", pool: "yes"}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierB, "default: 83 % of the device was free"},
		{"a space is not 1", environment{pool: "1 "}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierB, "default: 83 % of the device was free"},
		{"the old name is ignored", environment{"VIBESPATIAL_GPU_OOM_SAFETY": "1"}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierB, "default: 83 % of the device was free"},

		{"our twin asks", environment{ourPool: "1"}, poolsAndManages, deviceWith(20*gib, 24*gib), TierA, "VRAMSCOPE_GPU_POOL_ONLY=1"},
		{"our twin wins over the other's 1", environment{pool: "1", ourPool: "0"}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierB, "default: 83 % of the device was free"},
		{"our twin wins when it is empty", environment{managed: "1", ourManaged: ""}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierB, "default: 83 % of the device was free"},
		{"our twin wins over the other's 0", environment{managed: "0", ourManaged: "1"}, poolsAndManages, deviceWith(20*gib, 24*gib),
			TierC, "VRAMSCOPE_GPU_MANAGED_MEMORY=1"},

		{"managed asked of an upstream without it", environment{managed: "1"}, poolsOnly, deviceWith(20*gib, 24*gib), TierB,
			"VIBESPATIAL_GPU_MANAGED_MEMORY=1, but host memory has no managed memory; default: 83 % of the device was free"},
		{"managed and pool asked of an upstream without managed", environment{managed: "1", pool: "1"}, poolsOnly,
			deviceWith(20*gib, 24*gib), TierA,
			"VIBESPATIAL_GPU_MANAGED_MEMORY=1, but host memory has no managed memory; VIBESPATIAL_GPU_POOL_ONLY=1"},
		{"little free and no managed memory", nil, poolsOnly, deviceWith(4*gib, 24*gib), TierB,
			"default: 16 % of the device was free, and host memory has no managed memory to stretch it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			choice := ChooseTier(TierQuery{
				LookupEnv: row.env.lookup, Name: "host memory", Capabilities: row.can, MemoryInfo: row.device,
			})
			if choice.Tier != row.want || choice.Reason != row.reason {
				t.Errorf("tier %s because %q, want %s because %q", choice.Tier, choice.Reason, row.want, row.reason)
			}
		})
	}
}

func TestATierSettingSilencesTheEnvironment(t *testing.T) {
	env := environment{EnvironmentManagedMemory: "1", EnvironmentPoolOnly: "1"}
	for _, row := range []struct {
		asked Tier
		can   Capabilities
		want  Tier
		words string
	}{
		{TierA, poolsAndManages, TierA, "asked for by the tier setting"},
		{TierB, poolsAndManages, TierB, "asked for by the tier setting"},
		{TierC, poolsAndManages, TierC, "asked for by the tier setting"},
		{TierFallback, poolsAndManages, TierFallback, "asked for by the tier setting"},
		{TierC, poolsOnly, TierB, "asked for by the tier setting, but host memory has no managed memory; default:"},
		{TierA, Capabilities{}, TierFallback, "asked for by the tier setting, but host memory cannot pool: fallback"},
		{TierB, Capabilities{}, TierFallback, "host memory cannot pool: fallback"},
	} {
		choice := ChooseTier(TierQuery{
			Asked: row.asked, LookupEnv: env.lookup, Name: "host memory", Capabilities: row.can, MemoryInfo: deviceWith(4*gib, 24*gib),
		})
		if choice.Tier != row.want || !strings.HasPrefix(choice.Reason, row.words) {
			t.Errorf("asked %s of %+v: got %s because %q", row.asked, row.can, choice.Tier, choice.Reason)
		}
	}
}

func TestTheMaximumOfTierA(t *testing.T) {
	for _, row := range []struct {
		name   string
		device func() (int64, int64, error)
		want   int64
		reason string
	}{
		{"80 % of 24 GiB is a multiple of 256", deviceWith(gib, 24*gib), 20615843020 / 256 * 256, "VRAMSCOPE_GPU_POOL_ONLY=1"},
		{"800 of 1000 is rounded down to 768", deviceWith(0, 1000), 768, "VRAMSCOPE_GPU_POOL_ONLY=1"},
		{"unreadable: no maximum", unreadable, 0,
			"VRAMSCOPE_GPU_POOL_ONLY=1; no maximum, because the device's memory could not be read"},
	} {
		choice := ChooseTier(TierQuery{
			LookupEnv:    environment{EnvironmentPoolOnly: "1"}.lookup,
			Capabilities: poolsAndManages, MemoryInfo: row.device,
		})
		if choice.Tier != TierA || choice.Maximum != row.want || choice.Reason != row.reason {
			t.Errorf("%s: got %+v", row.name, choice)
		}
	}
}

func TestATierHasANameAndWords(t *testing.T) {
	for tier, want := range map[Tier][2]string{
		TierNone:     {"none", "none yet"},
		TierA:        {"A", "pool only"},
		TierB:        {"B", "failure callback over pool"},
		TierC:        {"C", "managed memory"},
		TierFallback: {"fallback", "fallback caching pool"},
	} {
		if tier.String() != want[0] || tier.Words() != want[1] {
			t.Errorf("%d is %q, %q", tier, tier.String(), tier.Words())
		}
	}
}
