package pool

import (
	"errors"
	"testing"
)

func TestTheHeadroomAndItsFormula(t *testing.T) {
	tenth := func(n int64) int64 { return n * gib / 10 }
	headroom := Headroom{
		DriverFree: tenth(562), DriverTotal: tenth(1404), PoolFree: tenth(43), LargestFreeBlock: tenth(19), Reserve: gib,
	}
	if bytes, ok := headroom.Bytes(); !ok || bytes != headroom.DriverFree+headroom.PoolFree-gib {
		t.Errorf("got %d, %v", bytes, ok)
	}
	if want := "59.5 GiB = free 56.2 GiB + in pool 4.3 GiB − reserve 1.0 GiB"; headroom.Formula() != want {
		t.Errorf("got %q", headroom.Formula())
	}
	if largest, ok := headroom.LargestAllocation(); !ok || largest != tenth(562) {
		t.Errorf("largest %d, %v", largest, ok)
	}
	headroom.LargestFreeBlock = tenth(600)
	if largest, _ := headroom.LargestAllocation(); largest != tenth(600) {
		t.Errorf("largest in the pool %d", largest)
	}
}

func TestLessThanTheReserveIsNegative(t *testing.T) {
	headroom := Headroom{DriverFree: gib / 2, DriverTotal: 2 * gib, Reserve: gib}
	if bytes, ok := headroom.Bytes(); !ok || bytes != -gib/2 {
		t.Errorf("got %d", bytes)
	}
	if want := "−512.0 MiB = free 512.0 MiB + in pool 0 B − reserve 1.0 GiB"; headroom.Formula() != want {
		t.Errorf("got %q", headroom.Formula())
	}
}

func TestAnUnreadDeviceHasNoHeadroom(t *testing.T) {
	headroom := Headroom{DriverFree: Unknown, DriverTotal: Unknown, PoolFree: 3, LargestFreeBlock: Unknown, Reserve: gib}
	if _, ok := headroom.Bytes(); ok {
		t.Error("headroom of an unread device")
	}
	if _, ok := headroom.LargestAllocation(); ok {
		t.Error("a largest allocation that nobody knows")
	}
	if headroom.BelowHeadroomGate() || headroom.BelowPressureGate() {
		t.Error("below a gate that nobody can see")
	}
	if want := "unknown: the driver's free memory could not be read"; headroom.Formula() != want {
		t.Errorf("got %q", headroom.Formula())
	}
}

func TestTheGatesAreStrict(t *testing.T) {
	for _, row := range []struct {
		free              int64
		headroom, presses bool
	}{{149, true, true}, {150, false, true}, {199, false, true}, {200, false, false}} {
		headroom := Headroom{DriverFree: row.free, DriverTotal: 1000, PoolFree: 900}
		if headroom.BelowHeadroomGate() != row.headroom || headroom.BelowPressureGate() != row.presses {
			t.Errorf("%d of 1000 free: %v, %v; what is in the pool must not count",
				row.free, headroom.BelowHeadroomGate(), headroom.BelowPressureGate())
		}
		if used := GPUPressure(deviceWith(row.free, 1000)); used != row.presses {
			t.Errorf("%d of 1000 free: the predicate says %v", row.free, used)
		}
	}
}

func TestEnsureHeadroomActsBelow15Percent(t *testing.T) {
	for _, row := range []struct {
		name  string
		info  func() (int64, int64, error)
		empty error
		want  bool
		calls int
	}{
		{"a byte under", deviceWith(149, 1000), nil, true, 1},
		{"exactly 15 %", deviceWith(150, 1000), nil, false, 0},
		{"no device", nil, nil, false, 0},
		{"telemetry fails", unreadable, nil, false, 0},
		{"the cache does not empty", deviceWith(1, 1000), errTelemetry, false, 1},
	} {
		calls := 0
		got := EnsureHeadroom(row.info, func() error { calls++; return row.empty }, HeadroomFraction)
		if got != row.want || calls != row.calls {
			t.Errorf("%s: %v after %d calls", row.name, got, calls)
		}
	}
}

func TestTheHeadroomCheckOfARealPool(t *testing.T) {
	tiered, host := tieredOver(t, HostOptions{Capacity: 100 << 20, Capabilities: poolsOnly}, Options{})
	mustFree(t, tiered, mustAllocate(t, tiered, 50<<20), 50<<20)

	check := tiered.EnsureHeadroom(HeadroomFraction)
	if check.Acted || check.Freed != 0 || check.After != check.Before || check.Why != "50.0 MiB of 100.0 MiB are free, 15 % or more" {
		t.Errorf("half is free: %+v", check)
	}

	if err := host.SetForeign(40 << 20); err != nil {
		t.Fatal(err)
	}
	check = tiered.EnsureHeadroom(HeadroomFraction)
	want := HeadroomCheck{
		Acted: true, Fraction: HeadroomFraction, Freed: 50 << 20,
		Before: Headroom{DriverFree: 10 << 20, DriverTotal: 100 << 20, PoolFree: 50 << 20, LargestFreeBlock: 50 << 20, Reserve: gib},
		After:  Headroom{DriverFree: 60 << 20, DriverTotal: 100 << 20, Reserve: gib},
	}
	if check != want {
		t.Errorf("got  %+v\nwant %+v", check, want)
	}
}

func TestTheHeadroomOfATieredHasAllItsParts(t *testing.T) {
	tiered, host := tieredOver(t, HostOptions{Capacity: 100 << 20, Capabilities: poolsOnly}, Options{})
	headroom, err := tiered.Headroom(8 << 20)
	if err != nil || headroom != (Headroom{DriverFree: 100 << 20, DriverTotal: 100 << 20, Reserve: 8 << 20}) {
		t.Errorf("before it is configured: %+v, %v", headroom, err)
	}
	mustFree(t, tiered, mustAllocate(t, tiered, 50<<20), 50<<20)
	mustAllocate(t, tiered, 10<<20)
	headroom, _ = tiered.Headroom(8 << 20)
	if bytes, _ := headroom.Bytes(); bytes != (50+40-8)<<20 || headroom.LargestFreeBlock != 40<<20 {
		t.Errorf("got %+v", headroom)
	}
	release, err := tiered.ReleaseFreeSegments()
	if err != nil || release.Bytes != 0 || release.KeptFree != 40<<20 {
		t.Errorf("release %+v, %v", release, err)
	}

	mustFreeAll(t, tiered)
	if err := errors.Join(tiered.Close(), host.Close()); err != nil {
		t.Fatal(err)
	}
	headroom, err = tiered.Headroom(0)
	if !errors.Is(err, ErrClosed) || headroom.DriverFree != Unknown {
		t.Errorf("of a closed device: %+v, %v", headroom, err)
	}
	if check := tiered.EnsureHeadroom(HeadroomFraction); check.Acted || check.Why == "" {
		t.Errorf("of a closed device: %+v", check)
	}
	if tiered.AvailableVRAM() != 0 {
		t.Error("a closed device has memory to plan with")
	}
	if !tiered.ReleaseEffects(calmHost).GPUPressure() {
		t.Error("a device that cannot be read counts as under pressure")
	}
}

// mustFreeAll frees every live block of a Tiered.
func mustFreeAll(t *testing.T, tiered *Tiered) {
	t.Helper()
	_, blocks, _ := tiered.Layout()
	for _, block := range blocks {
		if block.Live {
			mustFree(t, tiered, block.Address, block.Requested)
		}
	}
}

func TestTheBytesToPlanWith(t *testing.T) {
	for _, row := range []struct {
		name             string
		tier             Tier
		driver, poolFree int64
		want             int64
	}{
		{"a pool's free blocks are not added", TierB, 1000, 500, 850},
		{"nor tier A's", TierA, 1000, 500, 850},
		{"managed", TierC, 999, 0, 849},
		{"the fallback's are", TierFallback, 1000, 500, 1275},
		{"an unread driver", TierB, Unknown, 500, 0},
		{"an unread pool", TierFallback, 1000, Unknown, 0},
	} {
		if got := AvailableVRAM(row.tier, row.driver, row.poolFree); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
	tiered, _ := tieredOver(t, HostOptions{Capacity: 100 << 20, Capabilities: Capabilities{}}, Options{})
	mustFree(t, tiered, mustAllocate(t, tiered, 50<<20), 50<<20)
	if got, want := tiered.AvailableVRAM(), int64(85<<20); got != want {
		t.Errorf("fallback tier: %d, want %d", got, want)
	}
}

func TestReclaimAndMeasureAvailable(t *testing.T) {
	var order []string
	source := AvailableBytes{
		EmptyCaches: func() error { order = append(order, "empty"); return nil },
		MemoryInfo: func() (int64, int64, error) {
			order = append(order, "info")
			return 700, 1000, nil
		},
		HostBudget: 2_000_000_000,
	}
	if got, err := ReclaimAndMeasureAvailable(source); err != nil || got != 700 || len(order) != 2 || order[0] != "empty" {
		t.Errorf("measured %d in the order %v, %v", got, order, err)
	}

	override := int64(1536 << 20)
	source.Override, order = &override, nil
	if got, _ := ReclaimAndMeasureAvailable(source); got != 1536<<20 || order != nil {
		t.Errorf("the override is verbatim, also above what is free, and measures nothing: %d, %v", got, order)
	}

	withoutDevice := source
	withoutDevice.MemoryInfo = nil
	if got, _ := ReclaimAndMeasureAvailable(withoutDevice); got != 2_000_000_000 {
		t.Errorf("without a device the budget counts, and no override: %d", got)
	}

	source.Override = nil
	source.MemoryInfo = unreadable
	if got, err := ReclaimAndMeasureAvailable(source); !errors.Is(err, errTelemetry) || got != Unknown {
		t.Errorf("got %d, %v", got, err)
	}
	source.EmptyCaches = func() error { return errTelemetry }
	if got, err := ReclaimAndMeasureAvailable(source); !errors.Is(err, errTelemetry) || got != Unknown {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestSizesInWords(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 12 << 20: "12.0 MiB", 1<<30 - 1: "1.0 GiB",
		3 << 50: "3.0 PiB", 1<<63 - 1: "8192.0 PiB", -2048: "−2.0 KiB", -1 << 63: "−8192.0 PiB", Unknown: "unknown",
	} {
		if got := formatBytes(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
	if countOf(1, "segment") != "1 segment" || countOf(0, "segment") != "0 segments" {
		t.Error("counts")
	}
}
