package pool

// The gates of the pressure predicates. Which comparison is strict and which is
// not mirrors algan, and matters exactly at the gate.
const (
	// GPUPressureUsed is the used share of a device above which (strictly) it
	// is under pressure: less than 20 % are free.
	GPUPressureUsed = 0.8
	// CgroupPressureUsed is the used share of a control group's limit from
	// which (inclusive) the host is under pressure.
	CgroupPressureUsed = 0.60
	// HostPressureAvailable is the available share of the host's memory down
	// to which (inclusive) the host is under pressure.
	HostPressureAvailable = 0.15
)

// GPUPressure says whether the device is under pressure: used > 80 % of total.
// A device that cannot be read counts as under pressure, because to release
// for nothing is cheaper than to run out. memoryInfo is the driver's reading
// in bytes (Upstream.MemoryInfo); nil means that there is no device: false.
func GPUPressure(memoryInfo func() (free, total int64, err error)) bool {
	if memoryInfo == nil {
		return false
	}
	free, total, err := memoryInfo()
	if err != nil || total <= 0 {
		return true
	}
	return float64(total-free) > GPUPressureUsed*float64(total)
}

// CgroupPressured says whether the control group has a limit and holds 60 % of
// it or more.
func (h HostMemory) CgroupPressured() bool {
	return h.CgroupLimit > 0 && h.CgroupCurrent >= 0 &&
		float64(h.CgroupCurrent) >= CgroupPressureUsed*float64(h.CgroupLimit)
}

// Pressured says whether the host is under pressure: the control group is, or
// 15 % or less of the memory are available. A group below its gate does not
// settle it, and memory that cannot be read is no pressure.
func (h HostMemory) Pressured() bool {
	if h.CgroupPressured() {
		return true
	}
	return h.Total > 0 && h.Available >= 0 &&
		float64(h.Available) <= HostPressureAvailable*float64(h.Total)
}

// CgroupShare is the used share of the control group's limit, 0 and up; ok is
// false when it has no limit.
func (h HostMemory) CgroupShare() (share float64, ok bool) {
	if h.CgroupLimit <= 0 || h.CgroupCurrent < 0 {
		return 0, false
	}
	return float64(h.CgroupCurrent) / float64(h.CgroupLimit), true
}
