package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// unwatchedGPU is two programs on a GPU that has no source of its own: a
// container that has no NVML. Both read its memory by themselves.
func unwatchedGPU(t testing.TB) *pythonFixture {
	t.Helper()
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	for i, src := range []string{pythonSource, "pid:900-5"} {
		hello := pythonHello(src, [2]int{812, 900}[i], 3*(1-i))
		hello.Ns = f.ns
		f.fold(src, &hello)
	}
	for range 5 {
		f.ns += 10 * fixturePeriod
		for _, src := range []string{pythonSource, "pid:900-5"} {
			f.fold(src, &recorder.Sample{Head: f.head(src), Sets: []recorder.CounterSet{
				counterSet("device:0", recorder.OfDevice, "NVIDIA H200", pythonGPU0, "", "cuMemGetInfo", map[recorder.Counter]int64{
					recorder.Total: 140 * gib, recorder.Free: 90 * gib}),
				counterSet("torch:0", recorder.OfPool, "torch", pythonGPU0, "", "torch._C._cuda_memoryStats", map[recorder.Counter]int64{
					recorder.Reserved: 20 * gib, recorder.Allocated: 14 * gib}),
			}})
		}
	}
	return f
}

// TestHeadroomWithoutNVML: the programs' own readings fill the headroom, and
// the device stands there once.
func TestHeadroomWithoutNVML(t *testing.T) {
	d := newScreen(t, unwatchedGPU(t).snapshot(), layout.Overview, 120, 32)
	text := paneText(t, d, layout.HeadroomPane)
	for _, want := range []string{"device 140.0 GiB", "headroom 96.0G = free 90.0G + in pool 6.0G - reserve 0B", "used besides 30.0G"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	d = newScreen(t, unwatchedGPU(t).snapshot(), layout.Devices, 160, 40)
	text = paneText(t, d, layout.DevicesPane)
	if strings.Count(text, "NVIDIA H200") != 1 || !strings.Contains(text, "50.0 GiB") {
		t.Errorf("two programs read one device:\n%s", text)
	}
	pane := d.panes[layout.DevicePane].(*devicePane)
	last := pane.columns[0][len(pane.columns[0])-1]
	if !last.Known || last.Last != 50*gib {
		t.Errorf("over time it is %+v", last)
	}
}

// TestNVMLSpeaksFirst: what programs read of a device that has a source of its
// own is neither added nor shown as another device.
func TestNVMLSpeaksFirst(t *testing.T) {
	f := trainedFixture(t)
	sets := append(f.sets(), counterSet("device:0", recorder.OfDevice, "NVIDIA H200", pythonGPU0, "", "cuMemGetInfo",
		map[recorder.Counter]int64{recorder.Total: 140 * gib, recorder.Free: 77 * gib}))
	f.say(&recorder.Sample{Seq: f.frame, Sets: sets})
	d := newScreen(t, f.snapshot(), layout.Devices, 160, 40)
	if text := paneText(t, d, layout.DevicesPane); strings.Contains(text, "NVIDIA H200") {
		t.Errorf("the device stands there twice:\n%s", text)
	}
	if view, set := d.panes[layout.DevicePane].(*devicePane).device(&d.scene); view == nil || view.Kind != recorder.KindDevice || set.ID != "device" {
		t.Errorf("the device over time is %v", set)
	}
	var rows momentRows
	rows.update(&d.scene)
	told := 0
	for i := range rows.rows {
		if rows.rows[i].of.Of == recorder.OfDevice && rows.rows[i].counter == recorder.Free {
			told++
		}
	}
	if told != 1 {
		t.Errorf("at the cursor the device is told of %d times", told)
	}
	d = newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(text, "free 77.3G") {
		t.Errorf("it is not NVML's:\n%s", text)
	}
}
