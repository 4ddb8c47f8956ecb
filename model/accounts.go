package model

import (
	"slices"
	"strconv"

	"vramscope/recorder"
)

// Accounts are the memory of one device as a sum whose every line is known by
// name: what a process's allocators have taken, what else the driver counts to
// the process, and what the rest of the device is. In bytes.
//
// Held + Rest = Driver, and Driver + Others + Reserve + Free + Untold = Total,
// to the byte, wherever all of them are known and none is about.
type Accounts struct {
	Device string // GPU UUID, or "host"
	Name   string // of the device
	Rows   []AccountRow

	Held    Figure // what the roots that tell it have reserved
	Driver  Figure // the process's bytes as the driver says
	Rest    Figure // Driver − Held: the context and other libraries, and the roots that do not tell
	Context Figure // of Rest, what the process's own context takes; mostly not known
	Others  Figure // used by other processes: the device's used bytes − Driver; all that is used while Driver is not known
	Reserve Figure // held by the driver itself
	Free    Figure
	Total   Figure
	Untold  Figure // Total − all of the above; known only where it is not zero
	Silent  int    // roots that do not tell what they have reserved
	Age     int64  // ns since the device was as Others, Free and Total say, where the allocators have moved since
}

// AccountRow is one allocator. Those that lie in its memory follow it, one
// deeper, and are not added.
type AccountRow struct {
	Set   *recorder.CounterSet
	Depth int // 0 is a root
}

// AccountsOf are the accounts of a process on a device. Beside are the other
// sources of the same moment.
func AccountsOf(subject *SourceView, beside []*SourceView, device string) Accounts {
	a := Accounts{Device: device, Driver: processFigure(subject, beside, device)}
	a.Rows = subject.accountRows(make([]AccountRow, 0, subject.allocatorsOn(device)), "", device, 0)
	a.addHeld(subject)
	a.Rest = restOf(subject, beside, device, a.Driver, a.Held)
	a.Context = contextFigure(subject, device)
	if driver, set := DeviceOf(subject, beside, device); set != nil {
		a.Name = titleOf(subject, driver, set)
		a.addDevice(driver, set)
		_, a.Age = subject.asRead(driver, set)
		if used := a.Others; used.Known && a.Driver.Known {
			a.Others = othersOf(subject, beside, device, used, a.Driver)
		}
	} else if device == HostDevice {
		a.addHost(subject, beside)
	} else {
		why := missing(subject.whyNoDevice(device))
		a.Name, a.Others, a.Reserve, a.Free, a.Total, a.Untold = subject.DeviceName(device), why, why, why, why, why
	}
	return a
}

// titleOf is what to call a device that a source reads, beside what the subject has
// on it: as the subject counts its devices, where it is not the device's own source
// that speaks.
func titleOf(subject, driver *SourceView, set *recorder.CounterSet) string {
	if driver.Kind != recorder.KindDevice {
		driver = subject
	}
	return driver.DeviceTitle(set)
}

// addHeld sums up the roots.
func (a *Accounts) addHeld(subject *SourceView) {
	a.Held = missing("it has told of no allocator on this device")
	for _, row := range a.Rows {
		if row.Depth > 0 {
			continue
		}
		reserved := subject.reserved(row.Set)
		switch {
		case !reserved.Known:
			a.Silent++
			a.Held = a.Held.Or(Figure{Why: reserved.Why})
		case !a.Held.Known:
			a.Held = Figure{Value: reserved.Value, Known: true, Origin: "what its allocators have reserved, added up; those inside others are not added"}
		default:
			a.Held.Value += reserved.Value
		}
	}
}

// addDevice fills in what the driver says of the device; Others are all of its
// used bytes.
func (a *Accounts) addDevice(driver *SourceView, set *recorder.CounterSet) {
	a.Reserve, a.Free = driver.Figure(set, recorder.DriverReserved), driver.Figure(set, recorder.Free)
	a.Total, a.Others = driver.Figure(set, recorder.Total), driver.DeviceUsed(set)
	a.Untold = Figure{Why: "nothing is left over"}
	if a.Total.Known && a.Free.Known && a.Others.Known {
		left := a.Total.Value - a.Free.Value - a.Others.Value
		if a.Reserve.Known {
			left -= a.Reserve.Value
		}
		if left != 0 {
			a.Untold = Figure{Value: left, Known: true, Origin: "total − used − free − the driver's reserve: the driver does not say what it is"}
		}
	}
}

// addHost fills in the machine's own memory, which no driver counts.
func (a *Accounts) addHost(subject *SourceView, beside []*SourceView) {
	var h Headroom
	h.takeHost(subject, beside)
	a.Name, a.Others, a.Free, a.Total, a.Reserve = h.Name, h.DriverUsed, h.DriverFree, h.DriverTotal, h.DriverReserved
	a.Untold = missing("nothing is left over")
	a.Rest = a.Driver // which is not known
}

// DeviceName is what to call a device that no source of its own names: as the
// process calls it, with its ordinal where that sees several of the name, or else
// by its UUID.
func (v *SourceView) DeviceName(device string) string {
	switch gpu, others := GPUOf(v.knownGPUs(), device, ""); {
	case gpu == nil || gpu.Name == "":
		return device
	case others:
		return gpu.Name + " #" + strconv.Itoa(gpu.Ordinal)
	default:
		return gpu.Name
	}
}

// allocatorsOn is how many allocators a source has on a device.
func (v *SourceView) allocatorsOn(device string) (n int) {
	for i := range v.Sets {
		if isAllocator(&v.Sets[i]) && v.Sets[i].Device == device {
			n++
		}
	}
	return n
}

// accountRows appends the allocators that lie directly in another one ("" for
// the roots), each followed by those inside it.
func (v *SourceView) accountRows(rows []AccountRow, in, device string, depth int) []AccountRow {
	for i := range v.Sets {
		set := &v.Sets[i]
		if !isAllocator(set) || set.Device != device {
			continue
		}
		if depth == 0 && v.inAllocator(set) || depth > 0 && (set.In != in || set.ID == in) {
			continue
		}
		rows = append(rows, AccountRow{set, depth})
		if depth+1 < maximumNesting {
			rows = v.accountRows(rows, set.ID, device, depth+1)
		}
	}
	return rows
}

// Devices are the devices on which a process has allocators or which the driver
// counts it on: GPU UUIDs in the order of their ordinals, then others, such as
// "host".
func (v *SourceView) Devices(beside []*SourceView) (devices []string) {
	others := make([]string, 0, 4)
	for i := range v.Sets {
		if set := &v.Sets[i]; isAllocator(set) && set.Device != "" && !slices.Contains(others, set.Device) {
			others = append(others, set.Device)
		}
	}
	if v.Hello != nil {
		devices = make([]string, 0, len(v.Hello.GPUs)+len(others))
		for _, gpu := range v.Hello.GPUs {
			at := slices.Index(others, gpu.UUID)
			if at >= 0 {
				others = slices.Delete(others, at, at+1)
			}
			if at >= 0 || v.isCountedOn(gpu.UUID, beside) {
				devices = append(devices, gpu.UUID)
			}
		}
	}
	return append(devices, others...)
}

// isCountedOn says whether the driver counts a process on a device.
func (v *SourceView) isCountedOn(device string, beside []*SourceView) bool {
	for _, other := range beside {
		if other.Kind == recorder.KindDevice && other.processSet(v.Hello, device) != nil {
			return true
		}
	}
	return false
}

// ProcessSet is the counter set by which a device's source tells of a process;
// nil where it does not. The driver's numbers are those of the outermost
// namespace that it is known in.
func (v *SourceView) ProcessSet(process *SourceView) *recorder.CounterSet {
	if process.Hello == nil {
		return nil
	}
	return v.processSet(process.Hello, v.FirstDevice())
}

// Reserved is what an allocator has taken: an arena its whole length.
func (v *SourceView) Reserved(set *recorder.CounterSet) Figure { return v.reserved(set) }
