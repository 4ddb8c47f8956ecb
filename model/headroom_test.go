package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

const gib = int64(1) << 30

// tenth is a number of GiB with one decimal.
func tenth(tenths int64) int64 { return tenths * gib / 10 }

func counters(id, of, device, in string, values map[recorder.Counter]int64) recorder.CounterSet {
	set := recorder.CounterSet{ID: id, Of: of, Device: device, In: in, Call: "call of " + id}
	for counter, value := range values {
		set.Values.Set(counter, value)
	}
	return set
}

// designScreen is the numbers of the screen in the design: a render on an H200.
func designScreen() (render, device *SourceView) {
	const uuid = "GPU-4f2e"
	device = &SourceView{ID: "gpu:" + uuid, Kind: recorder.KindDevice, Name: "H200 #0", Sets: []recorder.CounterSet{
		counters("device", recorder.OfDevice, uuid, "", map[recorder.Counter]int64{recorder.Total: tenth(1404), recorder.Free: tenth(562),
			recorder.Used: tenth(836), recorder.DriverReserved: tenth(6)}),
		counters("process:48213", recorder.OfProcess, uuid, "device", map[recorder.Counter]int64{recorder.Used: tenth(712)}),
	}}
	render = &SourceView{ID: "pid:48213-1", Kind: recorder.KindProcess, Name: "render.py",
		Hello: &recorder.Hello{PID: 812, NSPIDs: []int{48213, 812}, GPUs: []recorder.GPU{{UUID: uuid}}},
		Sets: []recorder.CounterSet{
			counters("torch:0", recorder.OfPool, uuid, "process:48213", map[recorder.Counter]int64{recorder.Reserved: tenth(476), recorder.Allocated: tenth(476),
				recorder.LargestFree: 0, recorder.Free: 0}),
			counters("arena:0", recorder.OfArena, uuid, "torch:0", map[recorder.Counter]int64{recorder.Length: tenth(320)}),
			counters("pool:1", recorder.OfPool, uuid, "process:48213", map[recorder.Counter]int64{recorder.Reserved: tenth(227), recorder.Allocated: tenth(184),
				recorder.Free: tenth(43), recorder.LargestFree: tenth(19)}),
			counters("cupy", recorder.OfPool, uuid, "pool:1", map[recorder.Counter]int64{recorder.Reserved: tenth(90), recorder.Allocated: tenth(10)}),
		}}
	return render, device
}

// TestWhatOnePoolAloneHasFree: JAX keeps three quarters of a device for itself, and
// torch beside it gets none of that.
func TestWhatOnePoolAloneHasFree(t *testing.T) {
	jax := counters("jax:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(60), recorder.Allocated: tenth(7), recorder.LargestFree: tenth(53)})
	torch := counters("torch:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(10), recorder.Allocated: tenth(10)})
	device := counters("device:0", recorder.OfDevice, "gpu", "", map[recorder.Counter]int64{recorder.Total: tenth(100), recorder.Free: tenth(18)})
	both := &SourceView{ID: "p", Kind: recorder.KindProcess, Sets: []recorder.CounterSet{jax, torch, device}}
	if h := HeadroomOf(both, nil, "", gib); h.LargestIn != "jax:0" || h.Largest.Value != tenth(53) || h.Only() != "5.3 GiB in pool only through jax:0" {
		t.Errorf("largest %+v in %q, %q", h.Largest, h.LargestIn, h.Only())
	}
	alone := &SourceView{ID: "p", Kind: recorder.KindProcess, Sets: []recorder.CounterSet{jax, device}}
	if h := HeadroomOf(alone, nil, "", gib); h.LargestIn != "" || h.Only() != "" {
		t.Errorf("without another pool: largest in %q, %q", h.LargestIn, h.Only())
	}
}

func TestHeadroomOfTheDesign(t *testing.T) {
	render, device := designScreen()
	h := HeadroomOf(render, []*SourceView{device}, "", gib)
	if want := tenth(562) + tenth(43) - gib; !h.Bytes.Known || h.Bytes.Value != want {
		t.Errorf("headroom %+v, want %d", h.Bytes, want)
	}
	if got, want := h.Formula(), "59.5 GiB = free 56.2 GiB + in pool 4.3 GiB − reserve 1.0 GiB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := h.Only(), "4.3 GiB in pool only through pool:1"; got != want || h.LargestIn != "" {
		t.Errorf("%q, largest in %q, want %q", got, h.LargestIn, want)
	}
	if h.Largest.Value != tenth(562) || h.Largest.Origin != "call of device" {
		t.Errorf("largest single allocation %+v", h.Largest)
	}
	if h.HeadroomGate.Crossed || h.PressureGate.Crossed || !h.CacheGate.Crossed || h.CacheGate.At != 128<<20 {
		t.Errorf("gates %+v %+v %+v", h.HeadroomGate, h.PressureGate, h.CacheGate)
	}
	if h.DriverFree.View != device.ID || h.PoolFree.Set != "torch:0" || h.Reserve.Origin != "the setting reserve" {
		t.Errorf("origins %+v %+v %+v", h.DriverFree, h.PoolFree, h.Reserve)
	}
	render.Hello.Reserve = 2 * gib
	if h := HeadroomOf(render, []*SourceView{device}, "", gib); h.Reserve.Value != 2*gib || h.Bytes.Value != tenth(562)+tenth(43)-2*gib {
		t.Errorf("the process's own reserve does not win: %+v", h.Reserve)
	}
}

func TestALargeFreeBlockIsTheLargestAllocation(t *testing.T) {
	render, device := designScreen()
	device.Sets[0].Values.Set(recorder.Free, tenth(10))
	h := HeadroomOf(render, []*SourceView{device}, "", gib)
	if h.Largest.Value != tenth(19) || h.Largest.Set != "pool:1" {
		t.Errorf("%+v", h.Largest)
	}
	if !h.HeadroomGate.Crossed || !h.PressureGate.Crossed {
		t.Errorf("a device with 1 of 140 GiB free is past both gates: %+v %+v", h.HeadroomGate, h.PressureGate)
	}
}

// TestGatesAreStrict: exactly at 15 and 20 % nothing is crossed.
func TestGatesAreStrict(t *testing.T) {
	for _, check := range []struct {
		free               int64
		headroom, pressure bool
	}{{201, false, false}, {200, false, false}, {199, false, true}, {150, false, true}, {149, true, true}, {0, true, true}} {
		device := &SourceView{ID: "gpu:x", Kind: recorder.KindDevice, Sets: []recorder.CounterSet{
			counters("device", recorder.OfDevice, "x", "", map[recorder.Counter]int64{recorder.Total: 1000, recorder.Free: check.free})}}
		h := HeadroomOf(device, nil, "x", 0)
		if h.HeadroomGate.Crossed != check.headroom || h.PressureGate.Crossed != check.pressure {
			t.Errorf("%d of 1000 free: %v %v", check.free, h.HeadroomGate.Crossed, h.PressureGate.Crossed)
		}
	}
}

func TestWhatIsNotKnownStaysUnknown(t *testing.T) {
	render, device := designScreen()
	none := HeadroomOf(render, nil, "", gib)
	if none.Bytes.Known || none.Bytes.Why == "" || none.HeadroomGate.Known || none.HeadroomGate.Crossed || !strings.Contains(none.Formula(), "unknown") {
		t.Errorf("without a device: %+v", none)
	}
	device.Sets[0].Values.Unset(recorder.Free)
	device.Sets[0].Why = map[string]string{"free": "the driver does not answer: nvmlError 999"}
	quiet := HeadroomOf(render, []*SourceView{device}, "", gib)
	if quiet.Bytes.Known || quiet.Bytes.Why != "the driver does not answer: nvmlError 999" {
		t.Errorf("without driver free: %+v", quiet.Bytes)
	}
	_, device = designScreen()
	render.Sets[2].Values.Unset(recorder.Free)
	render.Sets[2].Values.Unset(recorder.Allocated)
	if h := HeadroomOf(render, []*SourceView{device}, "", gib); h.Bytes.Known || h.PoolFree.Known {
		t.Errorf("a pool that does not tell makes the sum unknown: %+v", h.Bytes)
	} else if !h.AtLeast.Known || h.AtLeast.Value != tenth(562)-gib || h.PoolAtLeast.Value != 0 {
		t.Errorf("what the other pool has free is a lower bound: %+v of %+v", h.AtLeast, h.PoolAtLeast)
	}
	bare := &SourceView{ID: "pid:1", Kind: recorder.KindProcess, Hello: &recorder.Hello{GPUs: []recorder.GPU{{UUID: "GPU-4f2e"}}}}
	if h := HeadroomOf(bare, []*SourceView{device}, "", gib); !h.Bytes.Known || h.Bytes.Value != tenth(562)-gib || h.PoolFree.Known {
		t.Errorf("a process without a pool has the device's headroom: %+v", h.Bytes)
	}
}

// TestAProgramThatEndedHoldsNothing: the device is as it is now, and the cache
// that a program had is free on it already.
func TestAProgramThatEndedHoldsNothing(t *testing.T) {
	render, device := designScreen()
	render.Goodbye = &recorder.Bye{Why: "exit 0"}
	h := HeadroomOf(render, []*SourceView{device}, "", gib)
	if !h.Gone || !h.Bytes.Known || h.Bytes.Value != tenth(562)-gib || h.PoolFree.Known || h.CacheGate.Known || !strings.Contains(h.PoolFree.Why, "has ended") {
		t.Errorf("%+v", h)
	}
	render.File = "run.vscope" // of one moment, its end
	if h := HeadroomOf(render, []*SourceView{device}, "", gib); h.Gone || !h.PoolFree.Known {
		t.Errorf("in a recording: %+v", h)
	}
}

// TestWhyThereIsNoDevice: what is said is what can be done, which is nothing in a
// file.
func TestWhyThereIsNoDevice(t *testing.T) {
	render, _ := designScreen()
	render.Hello.Commands = []string{recorder.CommandHeadroom}
	why := func() string { return HeadroomOf(render, nil, "", gib).DriverFree.Why }
	for _, want := range []string{"a headroom check (H, or `vramscope send PID headroom`)", "poll()"} {
		if !strings.Contains(why(), want) {
			t.Errorf("of a program that obeys H is said %q, not %q", why(), want)
		}
	}
	render.Hello.Commands = nil
	if !strings.Contains(why(), "vramscope doctor") || strings.Contains(why(), "press") {
		t.Errorf("of a program that does not obey is said %q", why())
	}
	render.Hello.Commands, render.File = []string{recorder.CommandHeadroom}, "run.vscope"
	if strings.Contains(why(), "doctor") || strings.Contains(why(), "press") || !strings.Contains(why(), "file") {
		t.Errorf("of a file is said %q", why())
	}
}

// TestOnlyRootsAreSummed: the arena lies in torch and CuPy in the pool.
func TestOnlyRootsAreSummed(t *testing.T) {
	render, device := designScreen()
	if sum := render.Sum(recorder.Reserved, ""); !sum.Known || sum.Value != tenth(476)+tenth(227) {
		t.Errorf("%+v", sum)
	}
	inside := InsideOf(render, []*SourceView{device}, "")
	if inside.Driver.Value != tenth(712) || inside.Held.Value != tenth(476)+tenth(227) ||
		inside.Unaccounted.Value != tenth(712)-tenth(476)-tenth(227) {
		t.Errorf("%+v", inside)
	}
	if len(inside.Roots) != 2 || len(inside.Roots[0].Inner) != 1 || inside.Roots[0].Inner[0].Reserved.Value != tenth(320) ||
		inside.Roots[1].Inner[0].Set.ID != "cupy" {
		t.Errorf("%+v", inside.Roots)
	}
	if alone := InsideOf(render, nil, ""); alone.Unaccounted.Known || alone.Unaccounted.Why == "" {
		t.Errorf("without the driver's figure nothing is unaccounted for: %+v", alone.Unaccounted)
	}
	render.Sets[2].Values.Unset(recorder.Reserved)
	if part := InsideOf(render, []*SourceView{device}, ""); part.Held.Known || part.Unaccounted.Known {
		t.Errorf("a root that does not tell leaves the rest unknown: %+v", part)
	}
}

func TestSetsThatLieInEachOther(t *testing.T) {
	v := &SourceView{Sets: []recorder.CounterSet{
		counters("a", recorder.OfPool, "x", "b", map[recorder.Counter]int64{recorder.Reserved: 1}),
		counters("b", recorder.OfPool, "x", "a", map[recorder.Counter]int64{recorder.Reserved: 2}),
		counters("c", recorder.OfPool, "x", "c", map[recorder.Counter]int64{recorder.Reserved: 4}),
	}}
	if sum := v.Sum(recorder.Reserved, "x"); sum.Value != 4 {
		t.Errorf("%+v", sum)
	}
	InsideOf(v, nil, "x") // ends
}

// TestHostGatesAreInclusive: 60 % of the control group and 15 % available.
func TestHostGatesAreInclusive(t *testing.T) {
	host := func(available, current, limit int64) HostMemory {
		set := counters("host", recorder.OfHost, "host", "", map[recorder.Counter]int64{recorder.Total: 1000, recorder.Available: available,
			recorder.CgroupCurrent: current})
		if limit > 0 {
			set.Values.Set(recorder.CgroupLimit, limit)
		}
		return HostMemoryOf(&SourceView{ID: "p", Sets: []recorder.CounterSet{set}}, nil)
	}
	for _, check := range []struct {
		available, current, limit int64
		cgroup, memory            bool
	}{{151, 59, 100, false, false}, {150, 60, 100, true, true}, {500, 61, 100, true, false}, {100, 99, 0, false, true}} {
		h := host(check.available, check.current, check.limit)
		if h.CgroupGate.Crossed != check.cgroup || h.AvailableGate.Crossed != check.memory || h.CgroupGate.Known != (check.limit > 0) {
			t.Errorf("%+v: %+v %+v", check, h.CgroupGate, h.AvailableGate)
		}
	}
	if h := HostMemoryOf(&SourceView{ID: "p", Name: "render.py"}, nil); h.Total.Known || h.AvailableGate.Known || h.Resident.Known || h.Resident.Why == "" {
		t.Errorf("nothing told: %+v", h)
	}
}

// TestAReadingOfLongAgoInAFile: what the file does tell, and not at this moment, is
// not said to be missing from it.
func TestAReadingOfLongAgoInAFile(t *testing.T) {
	const second = int64(1_000_000_000)
	s, _ := newTestStore()
	s.Add(SourceInfo{ID: "f", File: "night.vscope"})
	_ = s.Fold("f", helloOf("p", recorder.KindProcess, "render.py"))
	pool := counters("torch:0", recorder.OfPool, "GPU-a", "", map[recorder.Counter]int64{recorder.Reserved: 5, recorder.Allocated: 5})
	device := counters("device:0", recorder.OfDevice, "GPU-a", "", map[recorder.Counter]int64{recorder.Total: 9, recorder.Free: 4})
	why := func(sets ...recorder.CounterSet) string {
		for n := range int64(20) {
			_ = s.Fold("f", &recorder.Sample{Head: recorder.Head{Src: "p", Ns: s.sources[0].keepers[0].sampled + second}, Sets: sets[:min(len(sets), 1+int(19-n)/19)]})
		}
		h := HeadroomOf(s.Snapshot(1, 1).Sources[0], nil, "", 0)
		return h.DriverFree.Why
	}
	if text := why(pool); text != "this file does not tell of the device's memory" {
		t.Errorf("never read: %q", text)
	}
	if text := why(pool, device); text != "nothing tells of the device's memory at this moment: it was read last 19.0 s before" {
		t.Errorf("read once: %q", text)
	}
}
