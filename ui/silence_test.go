package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

const illegalAccess = "RuntimeError: CUDA error: an illegal memory access was encountered"

// silence makes a set one that tells no numbers any more.
func silence(set *recorder.CounterSet) {
	set.Values = recorder.Counters{}
	set.Why = map[string]string{"reserved": illegalAccess, "allocated": illegalAccess}
	if set.Of == recorder.OfPeaks {
		set.Why = map[string]string{"peak_reported": illegalAccess}
	}
}

// silentFixture is the process after torch has raised for four seconds, on one of its
// two devices.
func silentFixture(t testing.TB) *pythonFixture {
	f := trainedFixture(t)
	for range 40 {
		f.ns += fixturePeriod
		f.say(&recorder.Frame{N: f.frame})
		f.sampleDevices()
		sets := f.sets()
		for i := range sets {
			if id := sets[i].ID; id == "torch:0" || id == "torch:0:graphs" || id == "peaks:0" {
				silence(&sets[i])
			}
		}
		f.say(&recorder.Sample{Seq: f.frame, Sets: sets})
		f.frame++
	}
	return f
}

func TestSilencePictures(t *testing.T) {
	snapshot := silentFixture(t).snapshot()
	for _, view := range []layout.View{layout.Overview, layout.Timeline, layout.Pool, layout.Events} {
		t.Run(view.String(), func(t *testing.T) {
			goldenView(t, snapshot, view, "silent-"+strings.ToLower(view.String()))
		})
	}
}

// TestAnAllocatorThatFellSilent keeps its row with what it told last, how old that
// is and why, and counts into no sum; i says the same of each number.
func TestAnAllocatorThatFellSilent(t *testing.T) {
	d := newScreen(t, silentFixture(t).snapshot(), layout.Overview, 120, 32)
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	lines := pane.rows.lines
	at := pane.rows.find("torch:0")
	if at < 0 {
		t.Fatal("torch has no row")
	}
	line := lines[at]
	if line.figure.Known || line.taken() != 40*gib+2*mib || line.age <= 0 || line.number(recorder.Allocated) == grid.Missing {
		t.Errorf("its row is %+v", line)
	}
	if remark := lines[at+1]; remark.kind != accountRemark || remark.label != illegalAccess {
		t.Errorf("below it stands %+v", remark)
	}
	if count := strings.Count(paneText(t, d, layout.AllocatorsPane), illegalAccess); count != 1 {
		t.Errorf("the reason stands there %d times", count)
	}
	for _, other := range lines {
		if other.kind == accountSum && strings.Contains(other.label, "that tell") && other.figure.Value >= 40*gib {
			t.Errorf("the old number is added up: %+v", other)
		}
	}
	text := paneText(t, d, layout.AllocatorsPane)
	for _, want := range []string{"? 4.0 s ago: torch", "40.0 GiB", "└ 4.0 s ago: graph pools", illegalAccess} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	pane.table.Selected = at
	pane.choose(&d.scene)
	press(d, "down")
	if next := pane.selected(&d.scene); next.kind == accountRemark {
		t.Error("the reason can be selected")
	}
	press(d, "up", "i")
	popup := strings.Join(strings.Fields(popupText(d)), " ")
	if !strings.Contains(popup, "not known: it was 42,951,770,112 B, 4.0 s ago; torch tells no numbers any more: "+illegalAccess) {
		t.Errorf("i says\n%s", popup)
	}
}

// TestTheTimelineEndsWhereALibraryFellSilent: its series keep their past, and the sum
// of those that still tell is no sum of all.
func TestTheTimelineEndsWhereALibraryFellSilent(t *testing.T) {
	f := silentFixture(t)
	d := newScreen(t, f.snapshot(), layout.Timeline, 120, 32)
	pane := d.panes[layout.TimelinePane].(*timelinePane)
	reserved := -1
	for i := range pane.plan.series {
		if pane.plan.series[i].name == "reserved" {
			reserved = i
		}
	}
	if reserved < 0 {
		t.Fatal("there is no series of what is reserved")
	}
	columns := pane.columns.series[reserved]
	first, last := false, columns[len(columns)-1]
	for _, column := range columns {
		first = first || column.Known && column.Last >= 40*gib
	}
	if !first || last.Known {
		t.Errorf("its past is kept: %v, and at the end it is %+v", first, last)
	}
	if text := paneText(t, d, layout.TimelinePane); !strings.Contains(text, "reserved was 48.0 GiB") {
		t.Errorf("the legend does not say that it is not of now:\n%s", text)
	}
	if text := paneText(t, d, layout.MomentPane); !strings.Contains(text, "ago: torch") {
		t.Errorf("the numbers of the moment lack what torch told last:\n%s", text)
	}
}

// TestAPoolThatFellSilent says so where its numbers stand.
func TestAPoolThatFellSilent(t *testing.T) {
	f := trainedFixture(t)
	f.say(&recorder.State{Pools: []recorder.PoolState{{ID: 7, Name: "vibespatial.raster pool", Device: pythonGPU0, Tier: "B",
		Stack: []string{"StatisticsResourceAdaptor"}, Generation: 3}}})
	pool := counterSet("vibespatial-raster", recorder.OfPool, "vibespatial.raster pool, tier B", pythonGPU0, "rmm:0", "memory_pool_stats", map[recorder.Counter]int64{
		recorder.Reserved: 8 * gib, recorder.Allocated: 3*gib + 7, recorder.LiveBlocks: 41, recorder.PeakAllocated: 6 * gib, recorder.Generation: 3})
	f.ns += fixturePeriod
	f.say(&recorder.Sample{Sets: append(f.sets(), pool)})
	f.ns += fixturePeriod
	silence(&pool)
	pool.Values.Set(recorder.Generation, 3) // the probe's own count goes on
	f.say(&recorder.Sample{Sets: append(f.sets(), pool)})
	d := newScreen(t, f.snapshot(), layout.Pool, 120, 32)
	text := paneText(t, d, layout.PoolPane)
	if _, note := d.panes[layout.PoolPane].title(&d.scene); note != "as it was 100 ms ago" {
		t.Errorf("its frame says %q", note)
	}
	for _, want := range []string{"RuntimeError: CUDA error", "live 3.0 GiB in 41", "size 8.0 GiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the pool lacks %q:\n%s", want, text)
		}
	}
}

// TestASilenceIsSaidInTheStatusLine while the program is looked at.
func TestASilenceIsSaidInTheStatusLine(t *testing.T) {
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Devices, 120, 32)
	show := func() {
		d.feed.(*fixtureFeed).newest = f.snapshot()
		d.takeData()
	}
	f.ns += fixturePeriod
	sets := f.sets()
	silence(&sets[0])
	f.say(&recorder.Sample{Sets: sets})
	show()
	if want := "torch tells no numbers any more: " + illegalAccess; !strings.HasSuffix(d.message.text, want) {
		t.Errorf("the status line says %q, want %q", d.message.text, want)
	}
	f.ns += fixturePeriod
	f.say(&recorder.Sample{Sets: f.sets()})
	show()
	if !strings.HasSuffix(d.message.text, "torch tells numbers again") {
		t.Errorf("the status line says %q still", d.message.text)
	}
}

// TestASilentAllocatorIsNotMadeToTellMore than it ever did: JAX tells what it has
// handed out, and not what it has taken.
func TestASilentAllocatorIsNotMadeToTellMore(t *testing.T) {
	f := trainedFixture(t)
	f.ns += fixturePeriod
	sets := f.sets()
	for i := range sets {
		if sets[i].ID == "jax:0" {
			silence(&sets[i])
		}
	}
	f.say(&recorder.Sample{Sets: sets})
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	if line := pane.rows.lines[pane.rows.find("jax:0")]; line.told == nil || line.taken() != grid.Missing || line.cached() != grid.Missing ||
		line.number(recorder.Allocated) != 700*mib+256 {
		t.Errorf("jax is %+v", line)
	}
}
