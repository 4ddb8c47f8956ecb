package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// hostProgram is a program whose memory is the machine's own, and the machine.
func hostProgram(memory map[recorder.Counter]int64) (render, machine *SourceView) {
	render = &SourceView{ID: "pid:1-1", Kind: recorder.KindProcess, Name: "loop.py",
		Hello: &recorder.Hello{PID: 1, Commands: []string{recorder.CommandHeadroom}},
		Sets:  []recorder.CounterSet{counters("arena:1", recorder.OfArena, HostDevice, "", map[recorder.Counter]int64{recorder.Length: 4 * gib})}}
	machine = &SourceView{ID: "host", Kind: recorder.KindHost, Name: "vm",
		Sets: []recorder.CounterSet{counters("host", recorder.OfHost, HostDevice, "", memory)}}
	return render, machine
}

// TestHeadroomOfTheHost: what is available, and no more than the control group's
// limit leaves.
func TestHeadroomOfTheHost(t *testing.T) {
	type memory = map[recorder.Counter]int64
	for _, c := range []struct {
		name                     string
		memory                   memory
		total, free              int64
		available, cgroup        bool // the gate is crossed
		availableKnown, cgroup60 bool
	}{
		{"no limit", memory{recorder.Total: 24 * gib, recorder.Available: 20 * gib}, 24 * gib, 20 * gib, false, false, true, false},
		{"little available", memory{recorder.Total: 24 * gib, recorder.Available: 3 * gib}, 24 * gib, 3 * gib, true, false, true, false},
		{"the limit leaves less", memory{recorder.Total: 24 * gib, recorder.Available: 20 * gib, recorder.CgroupLimit: 8 * gib, recorder.CgroupCurrent: 3 * gib},
			8 * gib, 5 * gib, false, false, true, true},
		{"past the group's gate", memory{recorder.Total: 24 * gib, recorder.Available: 20 * gib, recorder.CgroupLimit: 8 * gib, recorder.CgroupCurrent: 5 * gib},
			8 * gib, 3 * gib, false, true, true, true},
		{"past the limit", memory{recorder.Total: 24 * gib, recorder.Available: 20 * gib, recorder.CgroupLimit: 8 * gib, recorder.CgroupCurrent: 9 * gib},
			8 * gib, 0, false, true, true, true},
		{"the limit leaves more", memory{recorder.Total: 24 * gib, recorder.Available: 4 * gib, recorder.CgroupLimit: 64 * gib, recorder.CgroupCurrent: gib},
			24 * gib, 4 * gib, false, false, true, true},
	} {
		render, machine := hostProgram(c.memory)
		h := HeadroomOf(render, []*SourceView{machine}, "", gib)
		if h.Device != HostDevice || h.Host == nil || h.DriverTotal.Value != c.total || h.DriverFree.Value != c.free || h.DriverUsed.Value != c.total-c.free {
			t.Errorf("%s: total %+v, free %+v, used %+v", c.name, h.DriverTotal, h.DriverFree, h.DriverUsed)
		}
		if !h.Bytes.Known || h.Bytes.Value != c.free-gib || h.Largest.Value != c.free {
			t.Errorf("%s: headroom %+v, largest %+v", c.name, h.Bytes, h.Largest)
		}
		if h.HeadroomGate.Crossed != c.available || h.PressureGate.Crossed != c.cgroup || h.HeadroomGate.Known != c.availableKnown || h.PressureGate.Known != c.cgroup60 {
			t.Errorf("%s: gates %+v %+v", c.name, h.HeadroomGate, h.PressureGate)
		}
		if !strings.Contains(h.DriverFree.Origin, "call of host") {
			t.Errorf("%s: free is from %q", c.name, h.DriverFree.Origin)
		}
		a := AccountsOf(render, []*SourceView{machine}, HostDevice)
		if a.Held.Value != 4*gib || a.Total.Value != c.total || a.Free.Value != c.free || a.Others.Value != c.total-c.free || a.Name != hostName {
			t.Errorf("%s: accounts %+v", c.name, a)
		}
	}
}

// TestWhatIsSaidOfTheHost speaks of no GPU and of no key that could not help.
func TestWhatIsSaidOfTheHost(t *testing.T) {
	render, machine := hostProgram(map[recorder.Counter]int64{recorder.Total: 24 * gib, recorder.Available: 20 * gib})
	h := HeadroomOf(render, []*SourceView{machine}, "", gib)
	if got := h.Formula(); got != "19.0 GiB = free 20.0 GiB − reserve 1.0 GiB" {
		t.Error(got)
	}
	if h = HeadroomOf(machine, nil, "", gib); !h.Bytes.Known || h.Bytes.Value != 19*gib {
		t.Errorf("the machine itself: %+v", h.Bytes)
	}
	for _, file := range []string{"", "run.vscope"} {
		render.File = file
		h = HeadroomOf(render, nil, "", gib)
		a := AccountsOf(render, nil, HostDevice)
		for _, why := range []string{h.Bytes.Why, h.DriverReserved.Why, a.Free.Why, a.Driver.Why} {
			if h.Bytes.Known || why == "" || strings.Contains(why, "press H") || strings.Contains(why, "GPU") || strings.Contains(why, "device") {
				t.Errorf("file %q: %q", file, why)
			}
		}
	}
	render.File, render.Sets = "", nil
	if h = HeadroomOf(render, []*SourceView{machine}, "", gib); h.Bytes.Known || strings.Contains(h.Bytes.Why, "press H") {
		t.Errorf("before its first allocator: %+v", h.Bytes)
	}
}

// TestHeadroomOfTheHostAfterTheEnd: a program that has ended holds nothing of it.
func TestHeadroomOfTheHostAfterTheEnd(t *testing.T) {
	render, machine := hostProgram(map[recorder.Counter]int64{recorder.Total: 24 * gib, recorder.Available: 20 * gib})
	render.Sets = append(render.Sets, counters("pool:1", recorder.OfPool, HostDevice, "", map[recorder.Counter]int64{recorder.Free: gib, recorder.LargestFree: gib}))
	if h := HeadroomOf(render, []*SourceView{machine}, "", 0); h.Gone || h.Bytes.Value != 21*gib {
		t.Errorf("while it runs: %+v", h.Bytes)
	}
	render.Status = StatusEnded
	if h := HeadroomOf(render, []*SourceView{machine}, "", 0); !h.Gone || h.PoolFree.Known {
		t.Errorf("after its end: %+v", h)
	}
}
