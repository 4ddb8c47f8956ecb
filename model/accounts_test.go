package model

import (
	"math/rand/v2"
	"testing"

	"vramscope/recorder"
)

// TestAccountsOfTheDesign: torch 47.6 with an arena in it, a pool of 22.7 with
// CuPy in it, 71.2 by the driver, and the rest of the device.
func TestAccountsOfTheDesign(t *testing.T) {
	render, device := designScreen()
	a := AccountsOf(render, []*SourceView{device}, "GPU-4f2e")
	for _, c := range []struct {
		name string
		got  Figure
		want int64
	}{
		{"held", a.Held, tenth(476) + tenth(227)}, {"driver", a.Driver, tenth(712)}, {"rest", a.Rest, tenth(712) - tenth(476) - tenth(227)},
		{"others", a.Others, tenth(836) - tenth(712)}, {"reserve", a.Reserve, tenth(6)}, {"free", a.Free, tenth(562)}, {"total", a.Total, tenth(1404)},
	} {
		if !c.got.Known || c.got.Value != c.want || c.got.Origin == "" {
			t.Errorf("%s is %+v, want %d", c.name, c.got, c.want)
		}
	}
	// Tenths of a GiB are no whole bytes: the total is a byte more than its parts.
	if !a.Untold.Known || a.Untold.Value != 1 || a.Name != "H200 #0" || a.Silent != 0 {
		t.Errorf("%+v", a)
	}
	for i, want := range []struct {
		id    string
		depth int
	}{{"torch:0", 0}, {"arena:0", 1}, {"pool:1", 0}, {"cupy", 1}} {
		if row := a.Rows[i]; row.Set.ID != want.id || row.Depth != want.depth {
			t.Errorf("row %d is %s at %d, want %+v", i, row.Set.ID, row.Depth, want)
		}
	}
}

// TestAccountsAddUp: whatever the numbers, the lines that are known add up to
// the byte.
func TestAccountsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		render, device := designScreen()
		for i := range render.Sets {
			render.Sets[i].Values.Set(recorder.Reserved, random.Int64N(1<<40))
		}
		for _, counter := range []recorder.Counter{recorder.Used, recorder.Free, recorder.DriverReserved, recorder.Total} {
			device.Sets[0].Values.Set(counter, random.Int64N(1<<42))
		}
		a := AccountsOf(render, []*SourceView{device}, "GPU-4f2e")
		if a.Rest.Known != (a.Driver.Value >= a.Held.Value) || a.Rest.Known && a.Held.Value+a.Rest.Value != a.Driver.Value {
			t.Fatalf("%d held and %+v of the rest are not %d", a.Held.Value, a.Rest, a.Driver.Value)
		}
		if used, _ := device.Sets[0].Values.Get(recorder.Used); a.Others.Known != (used >= a.Driver.Value) {
			t.Fatalf("%d used, of them %d by the process: %+v", used, a.Driver.Value, a.Others)
		} else if !a.Others.Known {
			continue
		}
		sum := a.Driver.Value + a.Others.Value + a.Reserve.Value + a.Free.Value
		if a.Untold.Known {
			sum += a.Untold.Value
		}
		if sum != a.Total.Value {
			t.Fatalf("the lines add up to %d of %d", sum, a.Total.Value)
		}
	}
}

// TestAnAllocatorThatDoesNotTell: the others still add up, and its bytes are in
// the rest.
func TestAnAllocatorThatDoesNotTell(t *testing.T) {
	render, device := designScreen()
	render.Sets[2].Values.Unset(recorder.Reserved)
	render.Sets[2].Why = map[string]string{"reserved": "it does not count it"}
	a := AccountsOf(render, []*SourceView{device}, "GPU-4f2e")
	if !a.Held.Known || a.Held.Value != tenth(476) || a.Rest.Value != tenth(712)-tenth(476) || a.Silent != 1 {
		t.Errorf("%+v", a)
	}
	render.Sets[0].Values.Unset(recorder.Reserved)
	if a := AccountsOf(render, []*SourceView{device}, "GPU-4f2e"); a.Held.Known || a.Held.Why == "" || a.Rest.Known || a.Silent != 2 {
		t.Errorf("nothing is known to be held: %+v", a)
	}
}

// TestAccountsWithoutTheDriver: nothing is taken for zero.
func TestAccountsWithoutTheDriver(t *testing.T) {
	render, device := designScreen()
	alone := AccountsOf(render, nil, "GPU-4f2e")
	for _, figure := range []Figure{alone.Driver, alone.Rest, alone.Others, alone.Free, alone.Total, alone.Untold} {
		if figure.Known || figure.Why == "" {
			t.Errorf("without a device something is known: %+v", figure)
		}
	}
	device.Sets = device.Sets[:1] // the driver lists no processes
	a := AccountsOf(render, []*SourceView{device}, "GPU-4f2e")
	if a.Driver.Known || a.Rest.Known || a.Others.Value != tenth(836) {
		t.Errorf("what is used is everybody's: %+v", a)
	}
}

// TestDevicesOfAProcess: those that it has memory on, in the order of their
// ordinals, though it can see more.
func TestDevicesOfAProcess(t *testing.T) {
	v := &SourceView{Hello: &recorder.Hello{PID: 7, GPUs: []recorder.GPU{{UUID: "a"}, {Ordinal: 1, UUID: "b"}, {Ordinal: 2, UUID: "c"}}}, Sets: []recorder.CounterSet{
		counters("torch:1", recorder.OfPool, "b", "", nil), counters("pinned", recorder.OfPool, "host", "", nil)}}
	gpu := &SourceView{ID: "gpu:c", Kind: recorder.KindDevice, Sets: []recorder.CounterSet{
		counters("device", recorder.OfDevice, "c", "", nil), counters("process:7", recorder.OfProcess, "c", "", nil)}}
	got := v.Devices([]*SourceView{gpu})
	if len(got) != 3 || got[0] != "b" || got[1] != "c" || got[2] != "host" {
		t.Errorf("%v", got)
	}
}
