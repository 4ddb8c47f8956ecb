package ui

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

func TestTimelineView(t *testing.T) {
	goldenView(t, rebuiltFixture(t).snapshot(), layout.Timeline, "timeline", "0")
}

func TestTimelineViewOfThePast(t *testing.T) {
	goldenView(t, rebuiltFixture(t).snapshot(), layout.Timeline, "timeline-then", "0", ",", ",")
}

func TestTimelineViewInFrames(t *testing.T) {
	goldenView(t, renderedFixture(t).snapshot(), layout.Timeline, "timeline-frames", "0", "f", "+")
}

// onTimeline is a screen on the timeline.
func onTimeline(t testing.TB, width, height int, keys ...string) (*Dashboard, *timelinePane) {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Timeline, width, height)
	press(d, keys...)
	return d, d.panes[layout.TimelinePane].(*timelinePane)
}

func TestTimelineShowsWhatTheSourceTells(t *testing.T) {
	names := func(plan *timelinePlan) (all []string) {
		for i := range plan.series {
			all = append(all, plan.series[i].name)
		}
		return all
	}
	snapshot := rebuiltFixture(t).snapshot()
	var c choices
	for _, test := range []struct {
		source string
		want   []string
	}{
		{fixtureSource, []string{"allocated", "arena", "reserved", "device used"}},
		{"gpu:" + fixtureGPU, []string{"used", "render.py"}},
	} {
		view := snapshot.Find(test.source)
		s := scene{snapshot: snapshot, view: view, newest: view, device: fixtureGPU, choices: &c}
		var plan timelinePlan
		plan.make(&s)
		if got := names(&plan); !slices.Equal(got, test.want) {
			t.Errorf("%s has the series %v, want %v", test.source, got, test.want)
		}
	}
}

// A device on which others use much more than the process would press its
// memory flat: then the process's own figure takes its place.
func TestTimelineLeavesOutADeviceThatIsTooLarge(t *testing.T) {
	view, snapshot := deviceAndProcess(t, 3*gib, 100*gib)
	var c choices
	s := scene{snapshot: snapshot, view: view, newest: view, device: fixtureGPU, choices: &c}
	var plan timelinePlan
	plan.make(&s)
	if last := plan.series[len(plan.series)-1]; last.name != "by the driver" {
		t.Errorf("the last series is %s", last.name)
	}
	view, snapshot = deviceAndProcess(t, 60*gib, 100*gib)
	s = scene{snapshot: snapshot, view: view, newest: view, device: fixtureGPU, choices: &c}
	plan.make(&s)
	if last := plan.series[len(plan.series)-1]; last.name != "device used" || len(plan.limits) != 1 || plan.limits[0].Value != 140*gib {
		t.Errorf("the last series is %s, the limits are %v", last.name, plan.limits)
	}
}

// deviceAndProcess is a process with a pool on a device of which more is used.
func deviceAndProcess(t testing.TB, reserved, used int64) (*model.SourceView, *model.Snapshot) {
	store := model.NewStore(model.Options{})
	set := func(id, of string, values map[recorder.Counter]int64) recorder.CounterSet {
		s := recorder.CounterSet{ID: id, Of: of, Device: fixtureGPU}
		for counter, value := range values {
			s.Values.Set(counter, value)
		}
		return s
	}
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: recorder.Head{Src: "p", Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess},
		&recorder.Sample{Head: recorder.Head{Src: "p", Ns: 2e9}, Sets: []recorder.CounterSet{
			set("device", recorder.OfDevice, map[recorder.Counter]int64{recorder.Used: used, recorder.Total: 140 * gib}),
			set("process:1", recorder.OfProcess, map[recorder.Counter]int64{recorder.Used: reserved + gib}),
			set("torch:0", recorder.OfPool, map[recorder.Counter]int64{recorder.Reserved: reserved, recorder.Allocated: reserved / 2}),
		}},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := store.Snapshot(2e9, 1)
	return snapshot.Sources[0], snapshot
}

// The cursor is the moment that every pane shows.
func TestCursorIsTheMomentOfTheDashboard(t *testing.T) {
	d, pane := onTimeline(t, 120, 32, "0")
	press(d, ",")
	oom := d.scene.newest.Moments[len(d.scene.newest.Moments)-1]
	if !d.scene.past || d.scene.moment != oom.Ns || d.scene.view.Now != oom.Ns {
		t.Fatalf("after , the moment is %d, the failure was at %d", d.scene.moment, oom.Ns)
	}
	if want := d.scene.newest.At(oom.Ns).Arenas[0].State.Forward; d.scene.view.Arenas[0].State.Forward != want {
		t.Errorf("the forward pointer is %d, want %d", d.scene.view.Arenas[0].State.Forward, want)
	}
	before := d.scene.moment
	press(d, "left")
	if d.scene.moment >= before {
		t.Error("left does not go back")
	}
	press(d, "home")
	if d.scene.moment != d.scene.newest.First {
		t.Errorf("home is %d, the beginning %d", d.scene.moment, d.scene.newest.First)
	}
	press(d, "end")
	if d.scene.past || d.moment != 0 {
		t.Error("end does not follow what is live")
	}
	x := pane.plot.X + pane.plot.W/2
	clickIn(t, d, layout.TimelinePane, x, 4)
	middle := pane.from + (pane.to-pane.from)/2
	if column := (pane.to - pane.from) / int64(pane.plot.W-1); !d.scene.past || max(d.scene.moment-middle, middle-d.scene.moment) > column {
		t.Errorf("a click in the middle is %d, want about %d", d.scene.moment, middle)
	}
	press(d, "F")
	if d.scene.past {
		t.Error("F does not follow what is live")
	}
}

func TestTimelineZoomsAndPans(t *testing.T) {
	d, pane := onTimeline(t, 120, 32)
	length := pane.to - pane.from
	if length != defaultWindow {
		t.Errorf("at first %d ns are shown", length)
	}
	press(d, "0")
	if pane.from != d.scene.newest.First || pane.to != d.scene.newest.Now {
		t.Errorf("all of it is %d to %d", pane.from, pane.to)
	}
	press(d, "+")
	if pane.to != d.scene.newest.Now {
		t.Error("what is followed does not stay at the right edge")
	}
	half := pane.to - pane.from
	press(d, "[")
	if pane.to != d.scene.newest.Now-half/2 {
		t.Errorf("half a screen back ends at %d, want %d", pane.to, d.scene.newest.Now-half/2)
	}
	press(d, "]")
	if pane.to != d.scene.newest.Now {
		t.Error("forward does not reach the end")
	}
}

// Each series has a value in the legend: the newest one, or that at the cursor.
func TestLegendTellsValues(t *testing.T) {
	d, pane := onTimeline(t, 160, 40, "0")
	text := paneText(t, d, layout.TimelinePane)
	legend, _, _ := strings.Cut(text, "\n")
	use := d.scene.newest.FindSet("pool:1").Values
	reserved, _ := use.Get(recorder.Reserved)
	if want := "reserved " + string(grid.AppendBytes(nil, reserved+32*gib)); !strings.Contains(legend, want) {
		t.Errorf("the legend is %q, want %q in it", legend, want)
	}
	for _, want := range []string{"✗ 2 OOM", "! 1 reset"} {
		if !strings.Contains(legend, want) {
			t.Errorf("the legend is %q, want %q in it", legend, want)
		}
	}
	press(d, "home")
	press(d, "right", "right")
	at := d.scene.moment
	want := d.scene.view.Arenas[0].State
	used := want.Forward + want.Length - want.Reverse
	if got := pane.valueOf(1); got < used-gib || got > used+8*gib {
		t.Errorf("at %d the arena is told as %d, it is %d", at, got, used)
	}
}

// A spike of one sample is seen at any zoom.
func TestNoSpikeIsHidden(t *testing.T) {
	store := model.NewStore(model.Options{})
	fold := func(record recorder.Record) {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	fold(&recorder.Hello{Head: recorder.Head{Src: "p", Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess})
	const samples = 40_000
	for i := range int64(samples) {
		set := recorder.CounterSet{ID: "torch:0", Of: recorder.OfPool, Device: fixtureGPU}
		value := gib
		if i == 23_456 {
			value = 40 * gib
		}
		set.Values.Set(recorder.Allocated, value)
		fold(&recorder.Sample{Head: recorder.Head{Src: "p", Ns: 1 + (i+1)*1e8}, Sets: []recorder.CounterSet{set}})
	}
	d := newScreen(t, store.Snapshot(1+samples*1e8, 1), layout.Timeline, 100, 30)
	press(d, "0")
	pane := d.panes[layout.TimelinePane].(*timelinePane)
	highest := int64(0)
	for _, column := range pane.columns.series[0] {
		highest = max(highest, column.Max)
	}
	if highest != 40*gib {
		t.Errorf("of %d samples the highest that is drawn is %d", samples, highest)
	}
}

// The sum of several values in a column is one that they have surely reached,
// and with one value it is that value.
func TestColumnSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 12).Draw(t, "steps")
		parts := rapid.IntRange(1, 4).Draw(t, "parts")
		totals := make([]int64, steps)
		var sum columnSum
		for range parts {
			values := rapid.SliceOfN(rapid.Int64Range(0, 100), steps, steps).Draw(t, "values")
			for i, value := range values {
				totals[i] += value
			}
			sum.add(model.Column{Min: slices.Min(values), Max: slices.Max(values), Last: values[steps-1], Known: true})
		}
		sum.add(model.Column{Max: 1000}) // not known: not counted
		got := sum.column()
		if got.Max > slices.Max(totals) || got.Min < slices.Min(totals) {
			t.Fatalf("the sum goes from %d to %d, it was between %d and %d", got.Min, got.Max, slices.Min(totals), slices.Max(totals))
		}
		if got.Last != totals[steps-1] || got.Min > got.Last || got.Max < got.Last {
			t.Fatalf("the sum ends with %d between %d and %d, want %d", got.Last, got.Min, got.Max, totals[steps-1])
		}
		if parts == 1 && (got.Max != slices.Max(totals) || got.Min != slices.Min(totals)) {
			t.Fatalf("one value alone goes from %d to %d", got.Min, got.Max)
		}
	})
	var none columnSum
	if none.column().Known {
		t.Error("a sum of nothing is known")
	}
}

func TestTimelineInOneRow(t *testing.T) {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Timeline, 60, 3)
	press(d, "0")
	pane := d.panes[layout.TimelinePane].(*timelinePane)
	if pane.plot.H != 1 {
		t.Fatalf("the plot is %d rows high", pane.plot.H)
	}
	got := bodyText(d)
	if !strings.Contains(got, "▁") && !strings.Contains(got, "█") || !strings.Contains(got, "✗") {
		t.Errorf("the row shows no memory over time, or no failure: %q", got)
	}
}

// Frames are an axis for a device as well, which counts none itself.
func TestDeviceOnAnAxisOfFrames(t *testing.T) {
	d, pane := onTimeline(t, 160, 40, "0", "f")
	if pane.unit != widget.Frames {
		t.Fatal("the axis does not count frames")
	}
	at := slices.IndexFunc(pane.plan.series, func(s plannedSeries) bool { return s.name == "device used" })
	columns := pane.columns.series[at]
	last := columns[len(columns)-1]
	used, _ := d.snapshot.Find("gpu:" + fixtureGPU).Sets[0].Values.Get(recorder.Used)
	if !last.Known || last.Last != used {
		t.Errorf("in the last frame %+v is used on the device, want %d", last, used)
	}
}

func TestMomentTellsNumbersAndChanges(t *testing.T) {
	d, _ := onTimeline(t, 200, 60, "0", ",")
	pane := d.panes[layout.MomentPane].(*momentPane)
	now, then := d.scene.newest, d.scene.view
	found := 0
	for i := range pane.rows.rows {
		row := &pane.rows.rows[i]
		set := "pool:1"
		if row.set != "render pool" || row.counter != recorder.Allocated && row.counter != recorder.Reserved {
			continue
		}
		found++
		want, _ := then.FindSet(set).Values.Get(row.counter)
		newest, _ := now.FindSet(set).Values.Get(row.counter)
		if row.value != want || row.change != newest-want {
			t.Errorf("%s is %d and changes by %d, want %d and %d", row.name, row.value, row.change, want, newest-want)
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 counters of the pool are told:\n%s", found, paneText(t, d, layout.MomentPane))
	}
	if got := paneText(t, d, layout.MomentPane); !strings.Contains(got, "⟲ at this moment") || !strings.Contains(got, "generation 2") {
		t.Errorf("the rebuild at this moment is not told:\n%s", got)
	}
	press(d, "d", "F")
	if got := bodyText(d); !strings.Contains(got, "since d") {
		t.Errorf("what changed since the moment that was remembered is not told:\n%s", got)
	}
}

// Growth a frame is that of the counter between the beginnings of frames.
func TestGrowthAFrame(t *testing.T) {
	store := model.NewStore(model.Options{})
	fold := func(record recorder.Record) {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	fold(&recorder.Hello{Head: recorder.Head{Src: "p", Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess})
	for frame := range int64(40) {
		set := recorder.CounterSet{ID: "torch:0", Of: recorder.OfPool}
		set.Values.Set(recorder.Allocated, 500+frame*64)
		fold(&recorder.Sample{Head: recorder.Head{Src: "p", Ns: frame*1e9 + 1e9}, Sets: []recorder.CounterSet{set}})
		fold(&recorder.Frame{Head: recorder.Head{Src: "p", Ns: frame*1e9 + 1e9}, N: frame})
	}
	view := store.Snapshot(40e9, 1).Sources[0]
	for _, moment := range []int64{40e9, 12e9, 2e9} {
		s := scene{newest: view, view: view, moment: moment}
		if got := growthAt(&s, "torch:0", recorder.Allocated); got != 64 {
			t.Errorf("at %d it grows by %d a frame, want 64", moment, got)
		}
	}
	for _, c := range []struct {
		moment  int64
		set     string
		counter recorder.Counter
	}{{1e9, "torch:0", recorder.Allocated}, {40e9, "torch:0", recorder.Reserved}, {40e9, "torch:1", recorder.Allocated}, {0, "torch:0", recorder.Allocated}} {
		s := scene{newest: view, view: view, moment: c.moment}
		if got := growthAt(&s, c.set, c.counter); got != grid.Missing {
			t.Errorf("%s of %s at %d grows by %d, which nobody knows", c.counter, c.set, c.moment, got)
		}
	}
}

// What is live in the open scopes and outside them is what is in use.
func TestLiveThenAddsUp(t *testing.T) {
	f := renderedFixture(t)
	view := f.view()
	var c choices
	for _, ns := range []int64{view.Now, view.Now - 3e8, view.Now - 12e8, view.First + 5e7} {
		then := view.At(ns)
		s := scene{newest: view, view: then, moment: ns, choices: &c}
		var rows liveRows
		rows.update(&s)
		own, used := int64(0), int64(0)
		for i := range rows.scopes {
			own += rows.scopes[i].own
		}
		for _, arena := range then.Arenas {
			used += usedOf(arena)
		}
		if own != used {
			t.Errorf("at %d %d bytes are live in scopes and outside, %d are in use", ns, own, used)
		}
		blocks, want := int64(0), int64(0)
		for i := range rows.blocks {
			blocks += rows.blocks[i].bytes()
		}
		for _, pool := range then.Pools {
			use, _ := pool.Use()
			want += use.Live
		}
		if blocks != want {
			t.Errorf("at %d blocks of %d bytes are live, the pool says %d", ns, blocks, want)
		}
		if !slices.IsSortedFunc(rows.blocks, func(a, b liveBlocks) int { return int(min(max(b.bytes()-a.bytes(), -1), 1)) }) {
			t.Error("the blocks are not sorted by bytes")
		}
	}
}

func TestLiveThenSharesTheScope(t *testing.T) {
	d, _ := onTimeline(t, 160, 40)
	d = newScreen(t, renderedFixture(t).snapshot(), layout.Timeline, 160, 40)
	for d.focusedName() != layout.LiveThenPane {
		press(d, "tab")
	}
	press(d, "down")
	if got, want := strings.Join(d.choices.scope.path, "/"), "render/wavefront_state"; got != want {
		t.Errorf("the chosen scope is %q, want %q", got, want)
	}
	clickIn(t, d, layout.LiveThenPane, 3, 3)
	if got, want := strings.Join(d.choices.scope.path, "/"), "render/wavefront_state/sheet_resolve"; got != want {
		t.Errorf("the clicked scope is %q, want %q", got, want)
	}
	press(d, "right")
	if got := d.panes[layout.LiveThenPane].(*liveThenPane).selectedText(&d.scene); !strings.Contains(got, "blocks of") {
		t.Errorf("right does not go to the blocks: %q", got)
	}
}

// Where arenas and pools are not kept as far back as the counters, it is said.
func TestLiveThenSaysHowFarBackItKnows(t *testing.T) {
	f := newFixture(t)
	f.store = model.NewStore(model.Options{Live: model.Limits{TapeBytes: 4096}})
	f.stream.Emit(&recorder.Hello{Head: f.stream.Head(), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: "render.py", Wall: fixtureWall})
	f.newArena("frames", 32*gib)
	for range fixtureFrames {
		f.renderFrame()
	}
	snapshot := f.snapshot()
	view := snapshot.Find(fixtureSource)
	if view.KeptFrom() <= view.First {
		t.Fatal("everything is kept: the limit does nothing")
	}
	d := newScreen(t, snapshot, layout.Timeline, 160, 40)
	if got := bodyText(d); !strings.Contains(got, "m records all") {
		t.Errorf("nothing says how far back is known:\n%s", got)
	}
	press(d, "0", "home")
	for _, pane := range []layout.Pane{layout.LiveThenPane} {
		if got := paneText(t, d, pane); !strings.Contains(got, "not kept as far back") {
			t.Errorf("%s shows %q", pane, got)
		}
	}
	press(d, "6")
	if got := paneText(t, d, layout.BlocksPane); !strings.Contains(got, "not kept as far back") {
		t.Errorf("the map shows %q", got)
	}
}

// Legends tell series apart without colours.
func TestSeriesDifferInShape(t *testing.T) {
	for _, glyphs := range []*themes.Glyphs{themes.UnicodeGlyphs(), themes.ASCIIGlyphs()} {
		_, pane := onTimeline(t, 120, 32)
		seen := map[rune]bool{}
		for i := range pane.plan.series {
			sample := sampleOf(glyphs, pane.plan.series[i].kind, i)
			if seen[sample] {
				t.Errorf("in %s two series look like %q", glyphs.Name, sample)
			}
			seen[sample] = true
		}
	}
}

// An arena that was released is not held any more, on any axis.
func TestReleasedArenasAreNotCounted(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.newArena("frames", 32*gib)
		for range 3 {
			f.frame = max(f.frame, 0) // the fixture uploads its scene in frame 0 alone
			f.renderFrame()
		}
		f.arena.Release("the job is over")
		f.state()
		f.wait(1e9)
	}
	f.sample()
	if arenas := f.view().Arenas; len(arenas) != 3 || arenas[0].State.Released == 0 {
		t.Fatalf("%d arenas, the first released at %d", len(arenas), arenas[0].State.Released)
	}
	d := newScreen(t, f.snapshot(), layout.Timeline, 160, 40)
	for _, keys := range [][]string{{"0"}, {"f"}} {
		press(d, keys...)
		pane := d.panes[layout.TimelinePane].(*timelinePane)
		at := slices.IndexFunc(pane.plan.series, func(s plannedSeries) bool { return s.name == "reserved" })
		highest := int64(0)
		for _, column := range pane.columns.series[at] {
			highest = max(highest, column.Max)
		}
		if highest < 32*gib || highest > 33*gib {
			t.Errorf("after %v %d bytes are reserved at most, one arena of 32 GiB at a time was", keys, highest)
		}
	}
}

// What is kept of past columns is what would be asked for anew, while a program
// goes on and the window moves along.
func TestSettledColumnsAreThoseAskedForAnew(t *testing.T) {
	f := newFixture(t)
	f.newArena("frames", 32*gib)
	var kept, fresh timelineColumns
	var axis timeAxis
	var c choices
	c.window.length = 8e8
	for frame := range 60 {
		f.renderFrame()
		if frame == 30 {
			f.wait(settleAfter) // a break in which nothing is settled but time
		}
		if frame%3 == 2 {
			continue
		}
		if frame == 45 {
			c.window.length = 4e8 // zoomed
		}
		snapshot := f.snapshot()
		view := snapshot.Find(fixtureSource)
		s := scene{snapshot: snapshot, view: view, newest: view, device: fixtureGPU, choices: &c}
		var plan timelinePlan
		plan.make(&s)
		axis.from, axis.to = c.window.of(&s)
		axis.n = 50
		kept.fill(&plan, &axis, &s)
		fresh = timelineColumns{}
		fresh.fill(&plan, &axis, &s)
		for i := range fresh.series {
			for j := range fresh.series[i] {
				if kept.series[i][j] != fresh.series[i][j] {
					t.Fatalf("in frame %d column %d of %s is kept as %+v, and is %+v", frame, j, plan.series[i].name, kept.series[i][j], fresh.series[i][j])
				}
			}
		}
	}
}
