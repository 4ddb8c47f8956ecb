package pool

import "fmt"

// Headroom reads how much more can be used, with reserve bytes held back
// (DefaultReserve). A device that cannot be read leaves Unknown numbers; the
// error says why.
func (t *Tiered) Headroom(reserve int64) (Headroom, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.headroom(reserve)
}

func (t *Tiered) headroom(reserve int64) (Headroom, error) {
	headroom := Headroom{DriverFree: Unknown, DriverTotal: Unknown, Reserve: reserve}
	if t.carved != nil && !t.closed {
		usage := t.carved.Usage()
		headroom.PoolFree, headroom.LargestFreeBlock = usage.Free, usage.LargestFree
	}
	free, total, err := t.options.Upstream.MemoryInfo()
	if err != nil {
		return headroom, fmt.Errorf("%s: free memory could not be read: %w", t.options.Upstream.Name(), err)
	}
	headroom.DriverFree, headroom.DriverTotal = free, total
	return headroom, nil
}

// HeadroomCheck is what a headroom check found and did.
type HeadroomCheck struct {
	Acted    bool     // less than Fraction was free, and the free segments were given back
	Fraction float64  // the share of the device that was to be free
	Before   Headroom // before it acted
	After    Headroom // the same as Before when it did not act
	Freed    int64    // bytes given back to the device
	Why      string   // why it did not act, or why not more came back; "" when all did
}

// EnsureHeadroom gives whole free segments back when less than minimumFree of
// the device is free, strictly (HeadroomFraction). A device that cannot be read
// is left alone, as in algan; Why says so.
func (t *Tiered) EnsureHeadroom(minimumFree float64) HeadroomCheck {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	check := HeadroomCheck{Fraction: minimumFree}
	var err error
	if check.Before, err = t.headroom(DefaultReserve); err != nil {
		check.After, check.Why = check.Before, err.Error()
		return check
	}
	var release SegmentRelease
	check.Acted = EnsureHeadroom(t.options.Upstream.MemoryInfo, func() (err error) {
		release, err = t.releaseFreeSegments()
		return err
	}, minimumFree)
	check.Freed, check.Why = release.Bytes, whyKept(release)
	check.After, err = t.headroom(DefaultReserve)
	switch {
	case err != nil:
		check.Why = err.Error()
	case !check.Acted && !check.Before.belowShare(minimumFree):
		check.Why = fmt.Sprintf("%s of %s are free, %.0f %% or more",
			formatBytes(check.Before.DriverFree), formatBytes(check.Before.DriverTotal), minimumFree*100)
	case !check.Acted:
		check.Why = "the free segments could not be given back"
	}
	return check
}

// AvailableVRAM is vibespatial's available_vram_bytes for the tier that is
// configured (see the function of that name).
func (t *Tiered) AvailableVRAM() int64 {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	headroom, err := t.headroom(0)
	if err != nil {
		return 0
	}
	return AvailableVRAM(t.choice.Tier, headroom.DriverFree, headroom.PoolFree)
}

// ReleaseFreeSegments gives whole free segments back to the device and says
// what stays and why. A tier without a pool has none.
func (t *Tiered) ReleaseFreeSegments() (SegmentRelease, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.releaseFreeSegments()
}

func (t *Tiered) releaseFreeSegments() (SegmentRelease, error) {
	switch {
	case t.closed:
		return SegmentRelease{}, ErrClosed
	case t.carved == nil:
		return SegmentRelease{}, nil
	default:
		return t.carved.ReleaseFreeSegments()
	}
}
