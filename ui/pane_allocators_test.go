package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

func TestAllocatorsPictures(t *testing.T) {
	snapshot := trainedSnapshot(t)
	for _, view := range []layout.View{layout.Overview, layout.Devices, layout.Timeline, layout.Pool} {
		t.Run(view.String(), func(t *testing.T) {
			goldenView(t, snapshot, view, "python-"+strings.ToLower(view.String()))
		})
	}
}

// TestTheLinesAddUp: on both devices the lines with a plus add up to those with
// an equals sign, to the byte.
func TestTheLinesAddUp(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 120, 32)
	lines := d.panes[layout.AllocatorsPane].(*allocatorsPane).rows.lines
	sum, sums := int64(0), 0
	for _, line := range lines {
		switch {
		case line.kind == accountDevice:
			sum = 0
		case line.kind == accountSum:
			if !line.figure.Known || sum != line.figure.Value {
				t.Errorf("%s is %d, the lines above add up to %d", line.label, line.figure.Value, sum)
			}
			sums++
		case line.depth == 0 && line.figure.Known:
			sum += line.figure.Value
		}
	}
	if sums != 4 {
		t.Errorf("%d sums, want the process and the device on two devices", sums)
	}
}

// TestWhatDoesNotTell: a number that an allocator does not tell is a dash, with
// its reason behind i.
func TestWhatDoesNotTell(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 120, 32)
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	pane.table.Selected = pane.rows.find("jax:0")
	pane.choose(&d.scene)
	press(d, "i")
	if d.popup == nil {
		t.Fatal("i shows nothing")
	}
	text := popupText(d)
	for _, want := range []string{"not known: JAX does not tell what it has taken", "734,003,456 B", "Device.memory_stats"} {
		if !strings.Contains(text, want) {
			t.Errorf("i does not say %q:\n%s", want, text)
		}
	}
	if line := pane.rows.lines[pane.rows.find("jax:0")]; value(line.figure) != grid.Missing || line.cached() != grid.Missing {
		t.Errorf("an unknown number has a value: %+v", line)
	}
}

// TestASampledPeakIsALowerBound: CuPy counts no peak.
func TestASampledPeakIsALowerBound(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 120, 32)
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	cupy, torch := pane.rows.lines[pane.rows.find("cupy:0")], pane.rows.lines[pane.rows.find("torch:0")]
	if !cupy.sampled || cupy.peak != 3*gib+512 || torch.sampled || torch.peak != 30*gib {
		t.Errorf("peaks %+v and %+v", cupy, torch)
	}
	if text := paneText(t, d, layout.AllocatorsPane); !strings.Contains(text, "≥3.0 GiB") {
		t.Errorf("the bound is not marked:\n%s", text)
	}
}

// TestTheSelectionStaysOnItsAllocator while numbers come and allocators appear.
func TestTheSelectionStaysOnItsAllocator(t *testing.T) {
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, "down", "down", "down")
	before := d.choices.allocator
	if before == "" {
		t.Fatal("nothing is selected")
	}
	f.ns += fixturePeriod
	sets := append([]recorder.CounterSet{counterSet("new:0", recorder.OfPool, "new", pythonGPU0, "torch:0", "", map[recorder.Counter]int64{recorder.Reserved: 1})}, f.sets()...)
	f.say(&recorder.Sample{Sets: sets})
	d.show(f.snapshot())
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	if line := pane.selected(&d.scene); line.set == nil || line.set.ID != before {
		t.Errorf("the selection went from %s to %+v", before, line)
	}
	press(d, "home")
	if line := pane.selected(&d.scene); line == nil || line.kind == accountDevice {
		t.Errorf("a heading is selected: %+v", line)
	}
}

// TestOneProcessIsOneRow on each device, though the driver counts it by the
// number that the host has for it, and another process has that of the
// container.
func TestOneProcessIsOneRow(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Devices, 120, 32)
	rows := d.panes[layout.ProcessesPane].(*processesPane).rows.rows
	if len(rows) != 3 {
		t.Fatalf("%d rows, want ours on two devices and one more: %+v", len(rows), rows)
	}
	for _, row := range rows {
		if own := row.pid == 40812; own != (row.view != nil) || own != (row.name == "train.py") {
			t.Errorf("%d is %q, with a probe: %v", row.pid, row.name, row.view != nil)
		}
		if row.pid == 40812 && row.device == "H200 #1" && row.held.Value != 10*gib {
			t.Errorf("on the second device it holds %d", row.held.Value)
		}
	}
}

// popupText is what stands in the pop-up.
func popupText(d *Dashboard) string {
	var text strings.Builder
	for _, line := range d.popup.lines {
		text.WriteString(line.label + "  " + line.text + "\n")
	}
	return text.String()
}

func BenchmarkAllocatorsFrame(b *testing.B) {
	f := trainedFixture(b)
	first := f.snapshot()
	f.trainFrame()
	second := f.snapshot()
	for _, view := range []layout.View{layout.Overview, layout.Pool} {
		b.Run(view.String(), func(b *testing.B) {
			d := newScreen(b, first, view, 200, 60)
			feed := d.feed.(*fixtureFeed)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				feed.newest = first
				if i%2 == 1 {
					feed.newest = second
				}
				d.takeData()
				d.drawFrame()
			}
		})
	}
}

// TestArenasAndAllocators: where a program has both, both have room: the arena
// is shown inside torch, and its scopes stay.
func TestArenasAndAllocators(t *testing.T) {
	f := renderedFixture(t)
	pool, arena := f.poolSet(), f.arenaSet()
	arena.In = "torch:0"
	torch := counterSet("torch:0", recorder.OfPool, "torch", fixtureGPU, "", "torch._C._cuda_memoryStats", map[recorder.Counter]int64{
		recorder.Reserved: 32*gib + 600*mib, recorder.Allocated: 32*gib + 8*mib, recorder.PeakAllocated: 33 * gib, recorder.Retries: 0, recorder.OOMs: 0})
	f.stream.Emit(&recorder.Sample{Head: f.stream.Head(), Sets: []recorder.CounterSet{torch, arena, pool, f.hostSet()}})
	f.sampleDevice()
	goldenView(t, f.snapshot(), layout.Overview, "python-arena-overview")
}

// TestAllocatorsAndAPool: a library's pool tells its tier, its failure callback
// and counters, and not its blocks. What it does not tell is no zero.
func TestAllocatorsAndAPool(t *testing.T) {
	f := trainedFixture(t)
	f.say(&recorder.State{Pools: []recorder.PoolState{{ID: 7, Name: "vibespatial.raster pool", Device: pythonGPU0, Tier: "B", Why: "71 % of the device was free",
		Stack: []string{"StatisticsResourceAdaptor", "FailureCallbackResourceAdaptor", "PoolMemoryResource", "CudaMemoryResource"}, Generation: 3,
		Ladder: &recorder.Ladder{Used: 2, CooldownNs: 4e8}}}})
	f.ns += fixturePeriod
	f.say(&recorder.Sample{Sets: append(f.sets(), counterSet("vibespatial-raster", recorder.OfPool, "vibespatial.raster pool, tier B", pythonGPU0, "rmm:0", "memory_pool_stats", map[recorder.Counter]int64{
		recorder.Reserved: 8*gib + 256, recorder.Allocated: 3*gib + 7, recorder.LiveBlocks: 41, recorder.PeakAllocated: 6 * gib}))})
	snapshot := f.snapshot()
	goldenView(t, snapshot, layout.Overview, "python-pool-overview")
	goldenView(t, snapshot, layout.Pool, "python-pool-tiers")
	d := newScreen(t, snapshot, layout.Pool, 120, 32)
	if text := paneText(t, d, layout.PoolPane); !strings.Contains(text, "live 3.0 GiB in 41") || !strings.Contains(text, "size 8.0 GiB") || strings.Contains(text, " 0 B") {
		t.Errorf("the pool is\n%s", text)
	}
	if text := paneText(t, d, layout.LadderPane); strings.Contains(text, "exhausted") || strings.Contains(text, "rebuilds 0") {
		t.Errorf("what the callback does not count is no zero:\n%s", text)
	}
	if text := paneText(t, d, layout.BlocksPane); !strings.Contains(text, "not its segments") {
		t.Errorf("nobody says why there is no map: %q", text)
	}
}

// TestTheTableHasTheKeys where there is no map to walk.
func TestTheTableHasTheKeys(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Pool, 120, 32)
	if d.focusedName() != layout.AllocatorsPane {
		t.Errorf("%s has the keys", d.focusedName())
	}
	press(d, "down")
	if text := paneText(t, d, layout.AllocatorPane); !strings.Contains(text, "torch.cuda.memory_snapshot") {
		t.Errorf("down does not go to the next allocator:\n%s", text)
	}
}

// TestWithoutTheDriver the sum is that of the allocators, of those that tell
// where one does not.
func TestWithoutTheDriver(t *testing.T) {
	f := newPythonFixture(t)
	f.say(&recorder.Sample{Sets: f.sets()})
	text := paneText(t, newScreen(t, f.snapshot(), layout.Overview, 120, 32), layout.AllocatorsPane)
	for _, want := range []string{"NVIDIA H200 #0", "= by those that tell", "48.0 GiB", "= by its allocators", "10.0 GiB", "+ rest of the device"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}
