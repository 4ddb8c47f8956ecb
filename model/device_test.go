package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// ownReading is what a program reads of a device by itself.
func ownReading(ordinal, uuid string, total, free int64) recorder.CounterSet {
	set := counters("device:"+ordinal, recorder.OfDevice, uuid, "", map[recorder.Counter]int64{recorder.Total: total, recorder.Free: free})
	set.Name, set.Call = "NVIDIA H200", "cuMemGetInfo"
	return set
}

// TestHeadroomByTheProgramItself: a machine without NVML, where the program
// itself reads its device.
func TestHeadroomByTheProgramItself(t *testing.T) {
	render, device := designScreen()
	render.Sets = append(render.Sets, ownReading("0", "GPU-4f2e", tenth(1400), tenth(500)))
	h := HeadroomOf(render, nil, "", gib)
	if want := tenth(500) + tenth(43) - gib; !h.Bytes.Known || h.Bytes.Value != want || !strings.HasPrefix(h.DriverFree.Origin, "cuMemGetInfo") {
		t.Errorf("headroom %+v, want %d; free %+v", h.Bytes, want, h.DriverFree)
	}
	if h.DriverTotal.Value != tenth(1400) || h.DriverUsed.Value != tenth(900) || h.DriverReserved.Known || h.HeadroomGate.At != 21*gib {
		t.Errorf("total %+v, used %+v, reserve %+v, gate %+v", h.DriverTotal, h.DriverUsed, h.DriverReserved, h.HeadroomGate)
	}
	if a := AccountsOf(render, nil, "GPU-4f2e"); a.Total.Value != tenth(1400) || a.Free.Value != tenth(500) || a.Others.Value != tenth(900) || a.Untold.Known {
		t.Errorf("accounts %+v", a)
	}
	if h := HeadroomOf(render, []*SourceView{device}, "", gib); h.DriverFree.Value != tenth(562) || h.DriverTotal.Value != tenth(1404) {
		t.Errorf("NVML speaks first, and alone: %+v of %+v", h.DriverFree, h.DriverTotal)
	}
	device.Status = StatusLost
	if h := HeadroomOf(render, []*SourceView{device}, "", gib); h.DriverFree.Value != tenth(500) {
		t.Errorf("a device that was lost speaks for one that is read: %+v", h.DriverFree)
	}
}

// TestADeviceByAnotherProgram: one that has ended, or reads no more, tells of
// another moment.
func TestADeviceByAnotherProgram(t *testing.T) {
	for _, check := range []struct {
		name   string
		change func(other *SourceView)
		known  bool
	}{
		{"lives", func(*SourceView) {}, true},
		{"has ended", func(other *SourceView) { other.Status = StatusEnded }, false},
		{"said goodbye", func(other *SourceView) { other.Goodbye = &recorder.Bye{} }, false},
		{"reads no more", func(other *SourceView) { other.Now -= 10e9 }, false},
		{"is one of a recording, at a past moment", func(other *SourceView) { other.Past, other.Status = true, StatusEnded }, true},
	} {
		subject, _ := designScreen()
		subject.Now = 100e9
		other := &SourceView{ID: "pid:2", Kind: recorder.KindProcess, Now: 100e9, Sets: []recorder.CounterSet{ownReading("0", "GPU-4f2e", 8*gib, 7*gib)}}
		check.change(other)
		if h := HeadroomOf(subject, []*SourceView{other}, "", 0); h.DriverFree.Known != check.known {
			t.Errorf("a program that %s: free %+v", check.name, h.DriverFree)
		}
	}
}

// TestAProgramIsWhereItsAllocatorsAre: reading the first GPU's memory puts
// nothing there.
func TestAProgramIsWhereItsAllocatorsAre(t *testing.T) {
	view := &SourceView{Hello: &recorder.Hello{GPUs: []recorder.GPU{{UUID: "GPU-0"}, {UUID: "GPU-1"}}}, Sets: []recorder.CounterSet{
		ownReading("0", "GPU-0", 8*gib, 8*gib), ownReading("1", "GPU-1", 8*gib, gib),
		counters("torch:1", recorder.OfPool, "GPU-1", "", map[recorder.Counter]int64{recorder.Reserved: 6 * gib}),
	}}
	if got := view.FirstDevice(); got != "GPU-1" {
		t.Errorf("it is on %s", got)
	}
	view.Sets = view.Sets[:2]
	if got := view.FirstDevice(); got != "GPU-0" {
		t.Errorf("without an allocator it is on %s", got)
	}
}
