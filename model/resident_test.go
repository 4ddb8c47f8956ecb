package model

import (
	"testing"

	"vramscope/recorder"
)

// TestADeviceThatIsPlayedInTheMachinesMemoryCountsItsProcess: as the demo's does,
// which tells beside what the process used of it the resident set, too.
func TestADeviceThatIsPlayedInTheMachinesMemoryCountsItsProcess(t *testing.T) {
	used := counters("process:7", recorder.OfProcess, HostDevice, "device", map[recorder.Counter]int64{recorder.Used: 300 << 20, recorder.Resident: 40 << 20})
	v := &SourceView{ID: "p", Kind: recorder.KindProcess, Name: "demo render", Hello: &recorder.Hello{PID: 7}, Sets: []recorder.CounterSet{
		counters("device", recorder.OfDevice, HostDevice, "", map[recorder.Counter]int64{recorder.Total: 512 << 20, recorder.Free: 200 << 20, recorder.Used: 312 << 20}),
		used, counters("pool:1", recorder.OfPool, HostDevice, "process:7", map[recorder.Counter]int64{recorder.Reserved: 250 << 20, recorder.Allocated: 100 << 20})}}
	if IsResident(&used) {
		t.Error("what was used of the device is taken for a resident set")
	}
	inside := InsideOf(v, nil, HostDevice)
	if inside.Driver.Value != 300<<20 || !inside.Driver.Known || inside.Unaccounted.Value != 50<<20 {
		t.Errorf("inside it stands %+v by the driver, %+v unaccounted", inside.Driver, inside.Unaccounted)
	}
	if host := HostMemoryOf(v, nil); host.Resident.Value != 40<<20 {
		t.Errorf("resident is %+v", host.Resident)
	}
}

// TestResidentMemoryCountsOnce: what a process has of the machine's memory is no
// driver's figure, no allocator, and no reason to look at the machine where the
// program is on a GPU.
func TestResidentMemoryCountsOnce(t *testing.T) {
	set := func(id, of, device string, counter recorder.Counter, value int64) recorder.CounterSet {
		return counters(id, of, device, "", map[recorder.Counter]int64{counter: value})
	}
	resident := set("process:host", recorder.OfProcess, HostDevice, recorder.Resident, 900<<20)
	machine := &SourceView{ID: "host", Kind: recorder.KindHost, Sets: []recorder.CounterSet{
		counters("host", recorder.OfHost, HostDevice, "", map[recorder.Counter]int64{recorder.Total: 24 << 30, recorder.Available: 20 << 30})}}
	beside := []*SourceView{machine}
	for _, check := range []struct {
		name   string
		sets   []recorder.CounterSet
		device string
	}{
		{"nothing else", nil, HostDevice},
		{"it reads a GPU", []recorder.CounterSet{set("device:0", recorder.OfDevice, "GPU-1", recorder.Total, 80<<30)}, "GPU-1"},
		{"torch on a GPU", []recorder.CounterSet{set("torch:0", recorder.OfPool, "GPU-1", recorder.Reserved, 1<<30)}, "GPU-1"},
		{"an arena in the machine's memory", []recorder.CounterSet{set("arena:1", recorder.OfArena, HostDevice, recorder.Length, 4<<30)}, HostDevice},
	} {
		v := &SourceView{ID: "p", Kind: recorder.KindProcess, Name: "render.py", Hello: &recorder.Hello{PID: 7}, Sets: append([]recorder.CounterSet{resident}, check.sets...)}
		if got := v.FirstDevice(); got != check.device {
			t.Errorf("%s: its first device is %q", check.name, got)
		}
		if host := HostMemoryOf(v, beside); !host.Resident.Known || host.Resident.Value != 900<<20 {
			t.Errorf("%s: resident is %+v", check.name, host.Resident)
		}
		for _, device := range []string{HostDevice, "GPU-1", ""} {
			if inside := InsideOf(v, beside, device); inside.Driver.Known || inside.Unaccounted.Known {
				t.Errorf("%s: on %q the driver counts %+v", check.name, device, inside.Driver)
			}
			if accounts := AccountsOf(v, beside, device); accounts.Driver.Known || accounts.Rest.Known || accounts.Held.Known && accounts.Held.Value == 900<<20 {
				t.Errorf("%s: the accounts of %q are %+v", check.name, device, accounts)
			}
		}
	}
}
