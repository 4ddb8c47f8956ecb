package pool

// DeviceKind says what sort of allocator a release acts on.
type DeviceKind uint8

// The kinds of devices.
const (
	// NoDevice has no caches: memory is the host's alone.
	NoDevice DeviceKind = iota
	// CachingDevice has an allocator that keeps freed blocks: CUDA in algan, a
	// pool here.
	CachingDevice
	// UnifiedDevice shares the host's memory and has a cache of zero-copy
	// imports besides its allocator's: Metal in algan.
	UnifiedDevice
)

// ReleaseSituation is what the release policy decides on.
type ReleaseSituation struct {
	Force           bool       // asked for, whatever the pressure
	GPUPressured    bool       // of the device; not probed, and false, when forced
	HostPressured   bool       // of the host, false while the backoff skips it
	Reclaimable     int64      // reserved − allocated of the device, bytes; 0 off the device or when unreadable
	Device          DeviceKind // what there is to empty
	Coalescing      bool       // inside Coalesce
	ProgramHeadroom bool       // the host's pressure still leaves room for compiled programs (ProgramHeadroom)
}

// ReleaseDecision is what a release does before it measures again. Its steps
// run in the order of the fields.
type ReleaseDecision struct {
	Defer        bool   // do nothing now; the end of the coalescing scope releases once
	Collect      bool   // run the collection hook
	EmptyCaches  bool   // give whole free segments back to the driver
	ClearImports bool   // drop zero-copy imports, then empty the caches of the unified device: the order matters
	TrimHost     bool   // give free host memory back; still pressured after it, reset the runtime and trim again
	Trigger      string // why anything is done, or that nothing calls for it, in words
}

// DecideRelease is algan's release policy without its effects:
//
//	force | device > 80 % | host pressured | reclaimable >= 128 MiB | collect | empty caches | trim
//	no    | no            | no             | any                    | -       | -            | -
//	no    | yes           | no             | no                     | yes     | -            | -
//	no    | yes           | no             | yes                    | yes     | yes          | -
//	yes   | not probed    | no             | any                    | yes     | yes          | -
//	any   | any           | yes            | rule above             | yes     | rule above   | yes
//
// Force never forces a trim.
func DecideRelease(situation ReleaseSituation) ReleaseDecision {
	reclaimable := situation.Reclaimable >= MinimumReclaimable
	if situation.Coalescing && !situation.Force && !situation.GPUPressured &&
		situation.Device != UnifiedDevice &&
		(!situation.HostPressured || situation.ProgramHeadroom) && !reclaimable {
		return ReleaseDecision{Defer: true, Trigger: "deferred to the end of the coalescing scope"}
	}
	pressured := situation.Force || situation.GPUPressured || situation.HostPressured
	return ReleaseDecision{
		Collect:      pressured,
		EmptyCaches:  pressured && situation.Device == CachingDevice && (situation.Force || reclaimable),
		ClearImports: pressured && situation.Device == UnifiedDevice,
		TrimHost:     situation.HostPressured,
		Trigger:      releaseTrigger(situation),
	}
}

func releaseTrigger(situation ReleaseSituation) string {
	switch {
	case situation.Force && situation.HostPressured:
		return "forced, and host pressure"
	case situation.Force:
		return "forced"
	case situation.GPUPressured && situation.HostPressured:
		return "device and host pressure"
	case situation.GPUPressured:
		return "device pressure"
	case situation.HostPressured:
		return "host pressure"
	default:
		return "no pressure"
	}
}

// ProgramHeadroom says whether compiled programs may stay in memory although
// the host is under pressure: more than max(1 GiB, 15 % of the commit limit)
// can still be committed, strictly. algan measures it on Windows only. Bytes.
func ProgramHeadroom(commitAvailable, commitLimit int64) bool {
	floor := max(float64(1<<30), HostPressureAvailable*float64(commitLimit))
	return float64(commitAvailable) > floor
}
