package model

import (
	"fmt"

	"vramscope/pool"
	"vramscope/recorder"
)

// Headroom is how much more can be used on one device by one process, with the
// parts of the sum. In bytes.
type Headroom struct {
	Device string // GPU UUID, or "host"
	Name   string // of the device

	Bytes          Figure // DriverFree + PoolFree − Reserve; negative below the reserve
	AtLeast        Figure // the same with what those pools have free that tell it: a lower bound where Bytes is not known
	DriverFree     Figure
	DriverTotal    Figure
	DriverUsed     Figure // where the driver tells free and total alone, what is not free
	DriverReserved Figure // held by the driver itself
	PoolFree       Figure // in free blocks of the process's own root pools
	PoolAtLeast    Figure // the same of those pools that tell it
	Reserve        Figure // held back: the process's wish, or else the setting

	// Of several pools, each has its free bytes for the libraries that allocate
	// through it alone: the one with the most, and how much that is. Without a second
	// pool MostIn is "".
	MostIn   string
	MostFree int64

	Largest      Figure // the largest single allocation that can succeed now: the larger of the next two
	LargestBlock Figure // largest free block of the process's pools
	LargestIn    string // the pool of that block, where there are several and Largest is it
	Cached       Figure // reserved − allocated of its root pools: what emptying caches is about

	HeadroomGate Gate // less than 15 % of the device free: memory is reclaimed before a foreign launch
	PressureGate Gate // less than 20 % free: the device is under pressure
	CacheGate    Gate // 128 MiB or more cached: emptying the caches is worth while

	// Host is set where the device is the machine's own memory. HeadroomGate and
	// PressureGate are then that memory's gates: how much of it is available, and
	// how much of the control group's limit is used.
	Host *HostMemory

	Age  int64 // ns since all of it was so, pools included; 0 of what is so now
	Gone bool  // the process has ended, and the device is as it is after that

	pooled bool // the process has a pool there
}

// Gate is a line that a number is held against.
type Gate struct {
	At      int64   // bytes at which it lies
	Share   float64 // of the whole, 0 where the gate is no share
	Known   bool
	Crossed bool   // the number is beyond the gate
	Why     string // why it is not known
}

// HeadroomOf reckons the headroom of a process on a device. Subject is the
// process, or the device alone; beside are the other sources of the same moment,
// one of which may be the device. An empty device means the subject's first.
// Reserve is the setting for processes that wish for none, in bytes.
func HeadroomOf(subject *SourceView, beside []*SourceView, device string, reserve int64) Headroom {
	if device == "" {
		device = subject.FirstDevice()
	}
	h := Headroom{Device: device}
	driver, set := DeviceOf(subject, beside, device)
	switch {
	case set == nil && device == HostDevice:
		driver = h.takeHost(subject, beside)
	case set == nil:
		why := missing(subject.whyNoDevice(device))
		h.Name = subject.DeviceName(device)
		h.DriverFree, h.DriverTotal, h.DriverUsed, h.DriverReserved = why, why, why, why
	default:
		h.Name = setTitle(set)
		h.DriverFree = driver.Figure(set, recorder.Free)
		h.DriverTotal = driver.Figure(set, recorder.Total)
		h.DriverUsed = driver.DeviceUsed(set)
		h.DriverReserved = driver.Figure(set, recorder.DriverReserved)
	}
	if h.Gone = driver != nil && driver != subject && subject.isOver(); h.Gone {
		why := missing(subject.title() + " has ended: what it held went back to the device")
		h.PoolFree, h.PoolAtLeast, h.Cached, h.LargestBlock = why, why, why, why
	} else {
		at, age := subject.asRead(driver, set)
		if h.Age = age; at != nil {
			h.addPools(at, device)
		} else {
			why := missing("the device was read " + FormatDuration(age) + " ago, before its pools were heard of here; H or another reading tells both")
			h.PoolFree, h.PoolAtLeast, h.Cached, h.LargestBlock, h.pooled = why, why, why, why, true
		}
	}
	h.Reserve = Figure{Value: reserve, Known: true, Origin: "the setting reserve"}
	if subject.Hello != nil && subject.Hello.Reserve > 0 {
		h.Reserve = Figure{Value: subject.Hello.Reserve, Known: true, Origin: subject.title() + " asks for it", View: subject.ID}
	}
	h.add()
	return h
}

// takeHost takes the machine's own memory for the device, and says whose word it
// is.
func (h *Headroom) takeHost(subject *SourceView, beside []*SourceView) *SourceView {
	view, set := hostSetOf(subject, beside)
	h.Name = hostName
	h.DriverReserved = missing("the machine's own memory has no driver")
	if set == nil {
		why := missing(subject.whyNoDevice(HostDevice))
		h.DriverFree, h.DriverTotal, h.DriverUsed = why, why, why
		return nil
	}
	host := hostMemory(subject, view, set)
	h.Host, h.DriverFree, h.DriverTotal, h.DriverUsed = &host, host.Free(), host.Whole(), host.used()
	return view
}

// whyNoDevice is why nothing is known of a device's memory, with what to do.
func (v *SourceView) whyNoDevice(device string) string {
	switch {
	case v.File != "" && device == HostDevice:
		return "this file does not tell of the machine's memory"
	case device == HostDevice:
		return "no source here tells of the machine's memory; see what `vramscope doctor` says"
	case v.File != "":
		return v.whyNoDeviceInFile()
	case device == "" && v.Kind == recorder.KindProcess:
		return "the program has told of no allocator yet, and of no GPU: where its memory lies is seen with the first"
	case Obeys(v, recorder.CommandHeadroom):
		return "nobody here tells of it: a headroom check (H, or `vramscope send PID headroom`) has the program read it; one that calls poll() between frames reads it each second"
	}
	return "no source here tells of the device's memory; see what `vramscope doctor` says"
}

// whyNoDeviceInFile is why nothing is known of a device's memory at a moment of a
// file.
func (v *SourceView) whyNoDeviceInFile() string {
	const momentAgo = 1_000_000_000 // ns; what is not older is another device's
	last := int64(0)
	for _, span := range v.SetSpans(nil, recorder.OfDevice) {
		last = max(last, span.Last)
	}
	switch {
	case last == 0:
		return "this file does not tell of the device's memory"
	case v.Now-last < momentAgo:
		return "nothing tells of this device's memory at this moment"
	}
	return "nothing tells of the device's memory at this moment: it was read last " + FormatDuration(v.Now-last) + " before"
}

// addPools sums what the process's root pools on the device hold.
func (h *Headroom) addPools(subject *SourceView, device string) {
	none := missing("it has no pool on this device")
	var free, cached figureSum
	pools, largestIn := 0, ""
	h.LargestBlock = none
	for i := range subject.Sets {
		root := &subject.Sets[i]
		if root.Of != recorder.OfPool || root.Device != device || subject.inAllocator(root) {
			continue
		}
		inPool := subject.poolFree(root)
		free.add(inPool)
		if pools++; inPool.Known && inPool.Value > h.MostFree {
			h.MostIn, h.MostFree = setTitle(root), inPool.Value
		}
		cached.add(subject.cached(root))
		largest := subject.Figure(root, recorder.LargestFree)
		if !h.pooled || largest.Known && (!h.LargestBlock.Known || largest.Value > h.LargestBlock.Value) {
			h.LargestBlock, largestIn = largest, setTitle(root)
		}
		h.pooled = true
	}
	if pools > 1 {
		h.LargestIn = largestIn
	} else {
		h.MostIn, h.MostFree = "", 0
	}
	h.PoolFree, h.PoolAtLeast, h.Cached = free.total(none), free.atLeast(none), cached.total(none)
}

// poolFree is what lies in free blocks of a pool: as it says, or else reserved −
// allocated, which is the same where nothing waits on a stream.
func (v *SourceView) poolFree(set *recorder.CounterSet) Figure {
	if set.Values.Known(recorder.Free) {
		return v.Figure(set, recorder.Free)
	}
	return v.cached(set)
}

func (v *SourceView) cached(set *recorder.CounterSet) Figure {
	cached := v.Figure(set, recorder.Reserved)
	if !cached.Known {
		return cached
	}
	allocated := v.Figure(set, recorder.Allocated)
	if !allocated.Known {
		return allocated
	}
	cached.Value -= allocated.Value
	cached.Origin = "reserved − allocated, " + cached.Origin
	return cached
}

// add fills in the sums and the gates. A device whose process has no pool has a
// headroom all the same; one that has a pool of which the free bytes are not
// known has none that could be believed.
func (h *Headroom) add() {
	h.Bytes = h.DriverFree
	if h.pooled {
		h.Bytes = h.Bytes.plus(h.PoolFree)
	}
	h.Bytes = h.Bytes.minus(h.Reserve)
	if h.AtLeast = h.Bytes; !h.Bytes.Known && h.DriverFree.Known {
		h.AtLeast = h.DriverFree
		if h.PoolAtLeast.Known {
			h.AtLeast = h.AtLeast.plus(h.PoolAtLeast)
		}
		h.AtLeast = h.AtLeast.minus(h.Reserve)
	}
	h.Largest = h.DriverFree
	if h.LargestBlock.Known && h.DriverFree.Known && h.LargestBlock.Value > h.DriverFree.Value {
		h.Largest = h.LargestBlock
	} else {
		h.LargestIn = ""
	}
	h.HeadroomGate = shareGate(h.DriverFree, h.DriverTotal, pool.HeadroomFraction)
	h.PressureGate = shareGate(h.DriverFree, h.DriverTotal, pool.PressureFraction)
	if h.Host != nil {
		h.HeadroomGate, h.PressureGate = h.Host.AvailableGate, h.Host.CgroupGate
	}
	h.CacheGate = Gate{At: pool.MinimumReclaimable, Known: h.Cached.Known, Why: h.Cached.Why,
		Crossed: h.Cached.Known && h.Cached.Value >= pool.MinimumReclaimable}
}

// shareGate is crossed when less than the share is free, strictly.
func shareGate(free, total Figure, share float64) Gate {
	gate := Gate{Share: share, Why: free.Why}
	if !total.Known {
		gate.Why = total.Why
		return gate
	}
	gate.At = int64(share * float64(total.Value))
	if gate.Known = free.Known && total.Value > 0; gate.Known {
		gate.Crossed = float64(free.Value) < share*float64(total.Value)
	}
	return gate
}

// Formula is the headroom as it is reckoned, in words:
// "59.5 GiB = free 56.2 GiB + in pool 4.3 GiB − reserve 1.0 GiB".
func (h *Headroom) Formula() string {
	if !h.Bytes.Known {
		if h.AtLeast.Known {
			return "at least " + FormatBytes(h.AtLeast.Value) + ": " + h.Bytes.Why
		}
		return "headroom unknown: " + h.Bytes.Why
	}
	text := fmt.Sprintf("%s = free %s", FormatBytes(h.Bytes.Value), FormatBytes(h.DriverFree.Value))
	if h.PoolFree.Known {
		text += " + in pool " + FormatBytes(h.PoolFree.Value)
	}
	text += " − reserve " + FormatBytes(h.Reserve.Value)
	if h.Age > 0 {
		text += ", " + FormatDuration(h.Age) + " ago"
	}
	return text
}

// Only says how much of what is free in pools one of several has, for who allocates
// through that: "4.3 GiB in pool only through jax"; "" where there is no other pool.
func (h *Headroom) Only() string {
	if h.MostIn == "" || !h.AtLeast.Known {
		return ""
	}
	return FormatBytes(h.MostFree) + " in pool only through " + h.MostIn
}
