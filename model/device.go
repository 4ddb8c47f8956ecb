package model

import (
	"strconv"
	"strings"

	"vramscope/recorder"
)

// HostDevice is the device of what lies in the machine's own memory.
const HostDevice = "host"

// FirstDevice is the device that the source is about, or the first that it has
// memory on: a GPU's UUID, or "host". A process that reads the memory of every
// device has no memory there for that, so its allocators speak first, and every
// process has memory of the machine's, so that speaks last. It is "" when the
// source has told of none.
func (v *SourceView) FirstDevice() string {
	first, resident := "", false
	for i := range v.Sets {
		set := &v.Sets[i]
		switch {
		case set.Device == "" || set.Of == recorder.OfHost:
		case IsResident(set):
			resident = true
		case isAllocator(set):
			return set.Device
		case first == "":
			first = set.Device
		}
	}
	switch {
	case first != "":
	case v.Kind == recorder.KindHost:
		return HostDevice
	case v.Hello != nil && len(v.Hello.GPUs) > 0:
		return v.Hello.GPUs[0].UUID
	case resident:
		return HostDevice
	}
	return first
}

// DeviceOf is the driver's view of a device for a process, or for the device
// alone, and the source that tells it; nil where nobody does. It is always one
// reading, never two added up: a source of the device's own speaks first, then
// what the process itself reads, then what another one reads, which must be of
// about the same moment. Beside are the other sources of that moment.
func DeviceOf(subject *SourceView, beside []*SourceView, device string) (*SourceView, *recorder.CounterSet) {
	var over *SourceView // a device that was lost is better than nothing, and nothing else is
	for _, view := range beside {
		if view.Kind != recorder.KindDevice || view.deviceSet(device) == nil {
			continue
		}
		if !view.isOver() {
			return view, view.deviceSet(device)
		}
		over = view
	}
	if set := subject.deviceSet(device); set != nil {
		return subject, set
	}
	for _, view := range beside {
		if view.Kind == recorder.KindDevice || view.isOver() || view.Now < subject.Now-staleAfter {
			continue
		}
		if set := view.deviceSet(device); set != nil {
			return view, set
		}
	}
	if over != nil {
		return over, over.deviceSet(device)
	}
	return nil, nil
}

// asRead is a process as it was when a device was read, and how long ago that was, in
// ns. Without NVML a program reads its device around a command, and its allocators go
// on: numbers of two moments would add up to none of either. Where nothing has moved
// since, it is as it is now; where it was not heard of then, it is nil.
func (v *SourceView) asRead(driver *SourceView, set *recorder.CounterSet) (*SourceView, int64) {
	if driver == nil || set == nil {
		return v, 0
	}
	age, known := set.Values.Get(recorder.Age)
	kept := driver.history.find(set.ID)
	if !known || age <= 0 || kept == nil || v.history == nil {
		return v, 0
	}
	number := kept.series.after(driver.Now) - 1
	if number < kept.series.times.first {
		return v, 0
	}
	// A command reads the device when it is done: the sample after that is of what it
	// has left, and the one before it may not be.
	read := kept.series.times.at(number) - age
	ns, heard := v.history.sampledFrom(set.Device, read)
	if !heard {
		return nil, max(v.Now-read, 0)
	}
	if ns = min(ns, v.Now); v.history.heldMoved(set.Device, ns, v.Now) == 0 && v.history.allocatedMoved(set.Device, ns, v.Now) == 0 {
		return v, 0
	}
	then := *v
	then.Sets = v.setsAt(ns)
	return &then, max(v.Now-read, 0)
}

// isOver says that a live source tells nothing any more: what it read last is of
// another moment than what the others read now.
func (v *SourceView) isOver() bool {
	return v.File == "" && !v.Past && (v.Goodbye != nil || v.Status == StatusEnded || v.Status == StatusFailed || v.Status == StatusLost)
}

// DeviceTitle is what to call a device that the source reads: a source of the
// device's own has its name; a program gives a name that all GPUs of that model
// have, so where it knows several the ordinal follows or, where it tells none, the
// beginning of the UUID.
func (v *SourceView) DeviceTitle(set *recorder.CounterSet) string {
	if v.Kind == recorder.KindDevice {
		return v.Name
	}
	name := setTitle(set)
	gpu, others := GPUOf(v.knownGPUs(), set.Device, set.Name)
	for i := range v.Sets {
		other := &v.Sets[i]
		others = others || other.Of == recorder.OfDevice && other.Device != set.Device && other.Name == set.Name
	}
	switch {
	case !others:
		return name
	case gpu != nil:
		ordinal := " #" + strconv.Itoa(gpu.Ordinal)
		return strings.TrimSuffix(name, ordinal) + ordinal
	}
	return name + " " + ShortDevice(set.Device)
}

// GPUOf is a device among the GPUs that a process can use, nil where it is none of
// them, and whether another one there has the name, "" for the device's own.
func GPUOf(gpus []recorder.GPU, device, name string) (gpu *recorder.GPU, others bool) {
	for i := range gpus {
		if gpus[i].UUID == device {
			gpu = &gpus[i]
		}
	}
	if name == "" && gpu != nil {
		name = gpu.Name
	}
	for i := range gpus {
		others = others || gpus[i].UUID != device && gpus[i].Name == name
	}
	return gpu, others
}

// shortUUID is how many characters of a UUID tell a GPU from others: its kind and
// the first eight digits, as nvidia-smi takes them.
const shortUUID = len("GPU-01234567")

// ShortDevice is the beginning of a GPU's UUID, by which it can be named.
func ShortDevice(uuid string) string { return uuid[:min(len(uuid), shortUUID)] }

// knownGPUs are the GPUs that a process can use. At a past moment it has them
// already, though it may have told of them later.
func (v *SourceView) knownGPUs() []recorder.GPU {
	if v.newest != nil && v.newest.Hello != nil && len(v.newest.Hello.GPUs) > 0 {
		return v.newest.Hello.GPUs
	}
	if v.Hello == nil {
		return nil
	}
	return v.Hello.GPUs
}

// deviceSet is what a source reads of a device; nil where it reads nothing.
func (v *SourceView) deviceSet(device string) *recorder.CounterSet {
	for i := range v.Sets {
		if set := &v.Sets[i]; set.Of == recorder.OfDevice && set.Device == device {
			return set
		}
	}
	return nil
}

// DeviceUsed is what is used of a device, in bytes: as the driver says, or else
// what is not free. cuMemGetInfo tells free and total alone, and the driver's own
// reserve is then among what is used.
func (v *SourceView) DeviceUsed(set *recorder.CounterSet) Figure {
	used := v.Figure(set, recorder.Used)
	if used.Known {
		return used
	}
	rest := v.Figure(set, recorder.Total).minus(v.Figure(set, recorder.Free))
	if !rest.Known {
		return used
	}
	rest.Origin = "total − free, the driver's own reserve included: " + v.Figure(set, recorder.Free).Origin
	return rest
}
