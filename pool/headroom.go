package pool

import "fmt"

// The gates that stand on a device's free memory, as shares of its total, and
// the one that stands on cached bytes.
const (
	// HeadroomFraction is the free share below which (strictly) memory is
	// reclaimed before a foreign launch: algan's ensure_render_headroom.
	HeadroomFraction = 0.15
	// PressureFraction is the free share below which (strictly) a device is
	// under pressure. GPUPressureUsed is the same gate seen from the used side.
	PressureFraction = 0.20
	// MinimumReclaimable is how many cached bytes (inclusive) make it worth
	// while to empty a cache under pressure.
	MinimumReclaimable int64 = 128 << 20
	// DefaultReserve is held back from the headroom, in bytes.
	DefaultReserve int64 = 1 << 30
	// AvailableFraction is the share of free memory that AvailableVRAM offers.
	AvailableFraction = 0.85
)

// Headroom is how much more can be used, and the numbers it is made of.
// Bytes; a number that could not be read is Unknown.
type Headroom struct {
	DriverFree       int64 // free as the driver says
	DriverTotal      int64 // all of the device
	PoolFree         int64 // in free blocks of the pool
	LargestFreeBlock int64 // of the pool
	Reserve          int64 // held back
}

// Bytes is driver free + free in the pool − the reserve. It is negative when
// less than the reserve is left; ok is false when the driver could not be read.
// A pool that could not be read adds nothing.
func (h Headroom) Bytes() (bytes int64, ok bool) {
	if h.DriverFree == Unknown {
		return Unknown, false
	}
	return h.DriverFree + max(0, h.PoolFree) - h.Reserve, true
}

// LargestAllocation is the largest single allocation that can succeed now: the
// larger of driver free and the largest free block. It is not the headroom,
// whose bytes may lie in many places; ok is false when neither is known.
func (h Headroom) LargestAllocation() (bytes int64, ok bool) {
	largest := max(h.DriverFree, h.LargestFreeBlock)
	return largest, largest != Unknown
}

// Formula is the headroom as it is reckoned, in words:
// "59.5 GiB = free 56.2 GiB + in pool 4.3 GiB − reserve 1.0 GiB".
func (h Headroom) Formula() string {
	bytes, ok := h.Bytes()
	if !ok {
		return "unknown: the driver's free memory could not be read"
	}
	return fmt.Sprintf("%s = free %s + in pool %s − reserve %s", formatBytes(bytes),
		formatBytes(h.DriverFree), formatBytes(max(0, h.PoolFree)), formatBytes(h.Reserve))
}

// BelowHeadroomGate says whether less than 15 % are free. The gates use driver
// free alone, because a foreign allocator cannot use what the pool holds.
func (h Headroom) BelowHeadroomGate() bool { return h.belowShare(HeadroomFraction) }

// BelowPressureGate says whether less than 20 % are free.
func (h Headroom) BelowPressureGate() bool { return h.belowShare(PressureFraction) }

func (h Headroom) belowShare(fraction float64) bool {
	return h.DriverFree >= 0 && h.DriverTotal > 0 && float64(h.DriverFree) < fraction*float64(h.DriverTotal)
}

// EnsureHeadroom empties the caches when less than minimumFree of the device is
// free, strictly, and says whether it did. It mirrors algan's
// ensure_render_headroom (minimumFree there: HeadroomFraction), which is called
// before a second allocator needs memory that the first one caches. A device
// that is missing (memoryInfo nil) or cannot be read is left alone: false. So is
// one whose caches could not be emptied.
func EnsureHeadroom(memoryInfo func() (free, total int64, err error), emptyCaches func() error, minimumFree float64) bool {
	if memoryInfo == nil {
		return false
	}
	free, total, err := memoryInfo()
	if err != nil || float64(free) >= minimumFree*float64(total) {
		return false
	}
	return emptyCaches() == nil
}

// AvailableVRAM is vibespatial's available_vram_bytes, for planning tiles: 85 %
// of what is free. With a pool the bytes in its free blocks are not added, only
// the fallback tier's are. Anything that cannot be read makes it 0: that is
// the original's answer, and no measurement to be shown.
func AvailableVRAM(tier Tier, driverFree, poolFree int64) int64 {
	if driverFree < 0 {
		return 0
	}
	if tier != TierFallback {
		return int64(float64(driverFree) * AvailableFraction)
	}
	if poolFree < 0 {
		return 0
	}
	return int64(float64(driverFree+poolFree) * AvailableFraction)
}

// AvailableBytes is what ReclaimAndMeasureAvailable works with.
type AvailableBytes struct {
	Override    *int64                                // a setting that replaces the measurement on a device; nil when unset
	EmptyCaches func() error                          // gives the allocator's caches back to the driver
	MemoryInfo  func() (free, total int64, err error) // the driver's reading; nil where there is no device
	HostBudget  int64                                 // bytes that a render without a device may use
}

// ReclaimAndMeasureAvailable says how many bytes a render may plan with. It
// mirrors algan's get_num_available_bytes: on a device the override verbatim
// (it replaces the measurement and does not cap it), or else driver free after
// the caches were emptied; without a device the host budget, whatever the
// override. It is not a query: it reclaims first, each time. To watch free
// memory, read Upstream.MemoryInfo. The error is the one of either function.
func ReclaimAndMeasureAvailable(source AvailableBytes) (int64, error) {
	if source.MemoryInfo == nil {
		return source.HostBudget, nil
	}
	if source.Override != nil {
		return *source.Override, nil
	}
	if err := source.EmptyCaches(); err != nil {
		return Unknown, fmt.Errorf("the caches could not be emptied before measuring: %w", err)
	}
	free, _, err := source.MemoryInfo()
	if err != nil {
		return Unknown, fmt.Errorf("the device's free memory could not be read: %w", err)
	}
	return free, nil
}
