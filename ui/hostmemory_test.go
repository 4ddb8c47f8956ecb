package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
	"vramscope/ui/plain"
)

// hostFixture is a program whose arena lies in the machine's own memory, beside
// the machine, of which counters are told.
func hostFixture(t *testing.T, memory map[recorder.Counter]int64) *fixture {
	f := newFixture(t)
	f.fold(&recorder.Hello{Head: f.stream.Head(), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: "loop.py",
		PID: 8098, Have: []string{"algan"}, Commands: []string{recorder.CommandHeadroom}})
	arena := recorder.CounterSet{ID: "arena:1", Of: recorder.OfArena, Name: "algan arena", Device: model.HostDevice, Call: "sampled"}
	arena.Values.Set(recorder.Length, 4*gib)
	f.stream.Emit(&recorder.Sample{Head: f.stream.Head(), Sets: []recorder.CounterSet{arena}})
	machine := recorder.CounterSet{ID: "host", Of: recorder.OfHost, Name: "this machine", Device: model.HostDevice, Call: "/proc/meminfo"}
	for counter, value := range memory {
		machine.Values.Set(counter, value)
	}
	f.foldInto("host", &recorder.Hello{Head: recorder.Head{Src: "host", Ns: f.ns}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol,
		Kind: recorder.KindHost, Name: "vm"})
	f.foldInto("host", &recorder.Sample{Head: recorder.Head{Src: "host", Ns: f.ns}, Sets: []recorder.CounterSet{machine}})
	return f
}

// TestHeadroomOfAProgramInHostMemory: the machine's memory is the device, by its
// own gates, and no GPU or driver is spoken of.
func TestHeadroomOfAProgramInHostMemory(t *testing.T) {
	type memory = map[recorder.Counter]int64
	for _, c := range []struct {
		name   string
		memory memory
		title  string
		gates  string
		want   []string
	}{
		{"no limit", memory{recorder.Total: 24 * gib, recorder.Available: 20 * gib}, "host memory",
			"15 % available clear  cgroup 60 % –", []string{"memory 24.0 GiB", "= free 20.0 GiB - reserve"}},
		{"little left", memory{recorder.Total: 24 * gib, recorder.Available: 2 * gib}, "15 % or less available", "15 % available crossed", nil},
		{"past the group's gate", memory{recorder.Total: 24 * gib, recorder.Available: 20 * gib, recorder.CgroupLimit: 8 * gib, recorder.CgroupCurrent: 6 * gib},
			"cgroup over 60 %", "cgroup 60 % crossed", []string{"memory 8.0 GiB", "= free 2.0 GiB - reserve", "host 20.0G free of 24.0G"}},
	} {
		snapshot := hostFixture(t, c.memory).snapshot()
		d := newScreen(t, snapshot, layout.Overview, 200, 60)
		text := paneText(t, d, layout.HeadroomPane) + paneText(t, d, layout.InsidePane)
		for _, want := range append(c.want, "reserved 4.0 GiB") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
		if _, note := d.panes[layout.HeadroomPane].title(&d.scene); note != c.title {
			t.Errorf("%s: the title's note is %q, want %q", c.name, note, c.title)
		}
		d.focus[layout.Overview], d.zoomed = layout.HeadroomPane, true
		if text += paneText(t, d, layout.HeadroomPane); !strings.Contains(text, c.gates) {
			t.Errorf("%s: no %q in\n%s", c.name, c.gates, text)
		}
		for _, o := range d.panes[layout.HeadroomPane].(originator).origins(&d.scene) {
			text += o.name + " " + o.figure.Origin + " " + o.figure.Why + "\n"
		}
		text += plain.Overview(snapshot, gib)
		for _, never := range []string{"device", "driver", "GPU", "press H"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: %q in\n%s", c.name, never, text)
			}
		}
		if !strings.Contains(text, "in host memory: 4.0 GiB in allocators") {
			t.Errorf("%s: plain output reads\n%s", c.name, text)
		}
	}
}

// TestAnUnwrittenArenaPressesNothingFlat: what an arena in the machine's memory
// reserves and never writes takes none, and has no line over what is used.
func TestAnUnwrittenArenaPressesNothingFlat(t *testing.T) {
	for _, c := range []struct {
		used, length int64
		line         bool
	}{{40 * mib, 4 * gib, false}, {gib, 4 * gib, true}, {0, 4 * gib, true}} {
		f := hostFixture(t, map[recorder.Counter]int64{recorder.Total: 24 * gib, recorder.Available: 20 * gib})
		f.stream.Emit(&recorder.State{Head: f.stream.Head(), Arenas: []recorder.ArenaState{{ID: 1, Name: "algan arena", Device: model.HostDevice,
			Length: c.length, Reverse: c.length, HighWater: c.used, Managed: true, HasBuffer: true}}})
		d := newScreen(t, f.snapshot(), layout.Timeline, 120, 32)
		if text := d.grid.Plain(); strings.Contains(text, "reserved") != c.line {
			t.Errorf("%d of %d used:\n%s", c.used, c.length, text)
		}
	}
}

// TestThePeakOfArenasInNoPool: x goes to the moment at which most was used of one,
// also of one that is gone.
func TestThePeakOfArenasInNoPool(t *testing.T) {
	f := hostFixture(t, map[recorder.Counter]int64{recorder.Total: 24 * gib, recorder.Available: 20 * gib})
	peak := int64(0)
	for i, used := range []int64{10 * mib, 40 * mib, 20 * mib} {
		set := recorder.CounterSet{ID: "arena:" + string(rune('2'+i)), Of: recorder.OfArena, Name: "algan arena", Device: model.HostDevice, Call: "sampled"}
		set.Values.Set(recorder.Length, 4*gib)
		set.Values.Set(recorder.HighWater, used)
		f.wait(fixturePeriod)
		head := f.stream.Head()
		if used == 40*mib {
			peak = head.Ns
		}
		f.stream.Emit(&recorder.Sample{Head: head, Sets: []recorder.CounterSet{set}})
	}
	d := newScreen(t, f.snapshot(), layout.Timeline, 120, 32)
	if ns, what, ok := peakMoment(&d.scene); !ok || ns != peak || what != "what was used of arena:3" {
		t.Errorf("the peak is at %d, %q, %v; want %d", ns, what, ok, peak)
	}
	press(d, "2")
	if text := paneText(t, d, layout.ProcessesPane); !strings.Contains(text, " host ") || strings.Contains(text, "host…") {
		t.Errorf("the process's device is cut:\n%s", text)
	}
}

// TestAMomentBeforeTheFirstState has samples alone, though arenas were told of
// later.
func TestAMomentBeforeTheFirstState(t *testing.T) {
	f := hostFixture(t, map[recorder.Counter]int64{recorder.Total: 24 * gib, recorder.Available: 20 * gib})
	before := f.ns
	f.wait(fixturePeriod)
	f.newArena("frames 0-23", gib)
	d := newScreen(t, f.snapshot(), layout.Timeline, 120, 32)
	d.lookAt(before)
	expect(t, d, layout.LiveThenPane, "By this moment no arena and no pool had been told of")
}

// TestResidentMemoryIsShown of a program that has told of no allocator, and as text
// of one on a GPU, too.
func TestResidentMemoryIsShown(t *testing.T) {
	resident := recorder.CounterSet{ID: "process", Of: recorder.OfProcess, Device: model.HostDevice, Call: "/proc/self/statm"}
	resident.Values.Set(recorder.Resident, 900*mib)
	cpu := newFixture(t)
	cpu.stream.Emit(&recorder.Sample{Head: cpu.stream.Head(), Sets: []recorder.CounterSet{resident}})
	cpu.fold(&recorder.Hello{Head: cpu.stream.Head(), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: "loop.py", PID: 8098})
	cpu.stream.Emit(&recorder.Sample{Head: cpu.stream.Head(), Sets: []recorder.CounterSet{resident}})
	gpu := trainedFixture(t)
	gpu.say(&recorder.Sample{Seq: gpu.frame, Sets: append(gpu.sets(), resident)})
	d := newScreen(t, cpu.snapshot(), layout.Overview, 120, 32)
	if text := paneText(t, d, layout.InsidePane); !strings.Contains(text, "resident 900M") || strings.Contains(text, "No allocator") {
		t.Errorf("inside it stands\n%s", text)
	}
	for _, snapshot := range []*model.Snapshot{cpu.snapshot(), gpu.snapshot()} {
		if text := plain.Overview(snapshot, 0); !strings.Contains(text, "host memory of the process: 900.0 MiB") {
			t.Errorf("plain output reads\n%s", text)
		}
	}
	if text := bodyText(newScreen(t, cpu.snapshot(), layout.Timeline, 120, 32)); !strings.Contains(text, "resident") || strings.Contains(text, "by the driver") {
		t.Errorf("the timeline reads\n%s", text)
	}
}
