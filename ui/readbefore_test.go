package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestADeviceThatWasReadBefore says how old its rows are where the allocators above
// them have moved since, and the headroom is that of then.
func TestADeviceThatWasReadBefore(t *testing.T) {
	f := newPythonFixture(t)
	read := f.ns
	for i := range int64(20) {
		f.ns += fixturePeriod
		reserved := gib
		if i > 2 {
			reserved = 30 * gib
		}
		f.say(&recorder.Sample{Sets: []recorder.CounterSet{
			counterSet("torch:0", recorder.OfPool, "torch", pythonGPU0, "", "torch._C._cuda_memoryStats", map[recorder.Counter]int64{recorder.Reserved: reserved, recorder.Allocated: reserved - mib}),
			counterSet("device:0", recorder.OfDevice, "NVIDIA H200", pythonGPU0, "", "cuMemGetInfo_v2", map[recorder.Counter]int64{
				recorder.Free: 130 * gib, recorder.Used: 10 * gib, recorder.Total: 140 * gib, recorder.Age: f.ns - read}),
		}})
	}
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	table := paneText(t, d, layout.AllocatorsPane)
	for _, want := range []string{"  torch", "+ 2.0 s ago: used by all processes", "+ 2.0 s ago: free", "30.0 GiB"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if _, note := d.panes[layout.HeadroomPane].title(&d.scene); !strings.HasPrefix(note, "2.0 s ago: ") {
		t.Errorf("the headroom's frame says %q", note)
	}
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(text, "in pool 1.0M") || strings.Contains(text, "train.py") {
		t.Errorf("the headroom is not that of then:\n%s", text)
	}
}
