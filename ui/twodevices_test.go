package ui

import (
	"fmt"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// The two GPUs of one model that programs read by themselves.
const (
	twinGPU0 = "GPU-30303030-0000-4000-8000-000000000000"
	twinGPU1 = "GPU-31313131-0000-4000-8000-000000000000"
)

// readTwins lets a program tell what it reads of GPUs that no other source tells of,
// and of torch's 300 MiB on the first and 750 MiB on the second; gpus are those that
// its hello names.
func readTwins(t testing.TB, f *pythonFixture, src string, pid int, gpus []recorder.GPU, on ...string) {
	t.Helper()
	hello := pythonHello(src, pid, pid)
	hello.Ns, hello.GPUs = f.ns, gpus
	f.fold(src, &hello)
	sample := &recorder.Sample{Head: f.head(src)}
	for i, gpu := range on {
		reserved := 300 * mib
		if gpu == twinGPU1 {
			reserved = 750 * mib
		}
		sample.Sets = append(sample.Sets,
			counterSet(fmt.Sprintf("device:%d", i), recorder.OfDevice, "NVIDIA H200", gpu, "", "cuMemGetInfo", map[recorder.Counter]int64{
				recorder.Total: 140 * gib, recorder.Free: 90 * gib}),
			counterSet(fmt.Sprintf("torch:%d", i), recorder.OfPool, "torch", gpu, "", "torch._C._cuda_memoryStats", map[recorder.Counter]int64{
				recorder.Reserved: reserved, recorder.Allocated: reserved}))
	}
	f.fold(src, sample)
}

// twins is one program on two GPUs of one model.
func twins(t testing.TB, gpus []recorder.GPU) *model.Snapshot {
	t.Helper()
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	readTwins(t, f, pythonSource, 812, gpus, twinGPU0, twinGPU1)
	return f.snapshot()
}

// titleOf is what the frame of a pane says.
func titleOf(d *Dashboard, pane layout.Pane) string {
	title, note := d.panes[pane].title(&d.scene)
	return title + " | " + note
}

// TestTwoGPUsOfOneModelAreToldApart: wherever a device is named, by its ordinal or,
// where the program tells none, by the beginning of its UUID.
func TestTwoGPUsOfOneModelAreToldApart(t *testing.T) {
	known := []recorder.GPU{{Ordinal: 0, UUID: twinGPU0, Name: "NVIDIA H200"}, {Ordinal: 1, UUID: twinGPU1, Name: "NVIDIA H200"}}
	for name, test := range map[string]struct {
		gpus  []recorder.GPU
		names [2]string
	}{
		"with ordinals": {known, [2]string{"NVIDIA H200 #0", "NVIDIA H200 #1"}},
		"by UUID":       {nil, [2]string{"NVIDIA H200 GPU-30303030", "NVIDIA H200 GPU-31313131"}},
	} {
		d := newScreen(t, twins(t, test.gpus), layout.Overview, 120, 48)
		if title := titleOf(d, layout.HeadroomPane); !strings.HasSuffix(title, test.names[0]) {
			t.Errorf("%s: the headroom is of %q", name, title)
		}
		if title := titleOf(d, layout.TimelinePane); !strings.Contains(title, " of "+test.names[0]) {
			t.Errorf("%s: the timeline is %q", name, title)
		}
		headings := paneText(t, d, layout.AllocatorsPane)
		for _, device := range test.names {
			if strings.Count(headings, device) != 2 { // above and at the end of the sum
				t.Errorf("%s: %s is not in\n%s", name, device, headings)
			}
		}
		d = newScreen(t, twins(t, test.gpus), layout.Devices, 120, 32)
		rows := strings.Split(paneText(t, d, layout.DevicesPane), "\n")
		for i, device := range test.names {
			if d.panes[layout.DevicesPane].(*devicesPane).rows.rows[i].name != device+" of train.py" || !strings.Contains(rows[i+1], device[:len("NVIDIA H200")-3]) {
				t.Errorf("%s: row %d is %q", name, i, rows[i+1])
			}
		}
		if name == "with ordinals" && !strings.Contains(rows[2], "NVIDIA H200 #1 of train.py") {
			t.Errorf("it is cut: %q", rows[2])
		}
		clickIn(t, d, layout.DevicesPane, 3, 2)
		if title := titleOf(d, layout.DevicePane); !strings.Contains(title, test.names[1]+" of train.py") {
			t.Errorf("%s: over time it is %q", name, title)
		}
	}
	// The header has room for the ordinal alone.
	d := newScreen(t, twins(t, known), layout.Overview, 120, 32)
	if header, _, _ := strings.Cut(d.drawFrame(), "\n"); !strings.Contains(header, "NVIDIA H200 #0") {
		t.Errorf("the header is %q", header)
	}
	press(d, ")")
	if title := titleOf(d, layout.HeadroomPane); !strings.HasSuffix(title, "#1") {
		t.Errorf("after ) the headroom is of %q", title)
	}
	if title := titleOf(d, layout.TimelinePane); !strings.HasSuffix(strings.Split(title, " | ")[0], "#1") {
		t.Errorf("after ) the timeline is %q", title)
	}
}

// TestProgramsThatSeeOneGPUEach: both call it their first, and it is not one device.
func TestProgramsThatSeeOneGPUEach(t *testing.T) {
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	readTwins(t, f, pythonSource, 812, []recorder.GPU{{UUID: twinGPU0, Name: "NVIDIA H200"}}, twinGPU0)
	readTwins(t, f, "pid:900-5", 900, []recorder.GPU{{UUID: twinGPU1, Name: "NVIDIA H200"}}, twinGPU1)
	d := newScreen(t, f.snapshot(), layout.Devices, 160, 40)
	text := paneText(t, d, layout.DevicesPane)
	rows := d.panes[layout.DevicesPane].(*devicesPane).rows.rows
	for i, uuid := range []string{"GPU-30303030", "GPU-31313131"} {
		if want := "NVIDIA H200 " + uuid + " of train.py"; rows[i].name != want {
			t.Errorf("row %d is %q, want %q", i, rows[i].name, want)
		}
		if end := uuid[8:] + " of train.py"; strings.Count(text, end) != 1 { // the middle may be cut
			t.Errorf("%q is not once in\n%s", end, text)
		}
	}
}

// TestAProcessIsListedOnEachOfItsGPUs: where no driver lists it, what it holds on
// the second one is not left out, and in a narrow terminal the rows differ too.
func TestAProcessIsListedOnEachOfItsGPUs(t *testing.T) {
	gpus := []recorder.GPU{{Ordinal: 0, UUID: twinGPU0, Name: "NVIDIA H200"}, {Ordinal: 1, UUID: twinGPU1, Name: "NVIDIA H200"}}
	for _, width := range []int{80, 120} {
		d := newScreen(t, twins(t, gpus), layout.Devices, width, 32)
		text := paneText(t, d, layout.ProcessesPane)
		lines := strings.Split(text, "\n")
		for i, want := range [][2]string{{"750.0 MiB", "#1"}, {"300.0 MiB", "#0"}} {
			if line := lines[i+1]; !strings.Contains(line, "812") || !strings.Contains(line, want[0]) || !strings.Contains(line, want[1]) {
				t.Errorf("%d columns: row %d is %q", width, i, line)
			}
		}
		if strings.Contains(lines[3], "812") {
			t.Errorf("a third row: %q", lines[3])
		}
	}
}
