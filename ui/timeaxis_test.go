package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

func TestTheFixtureIsTheSameEveryTime(t *testing.T) {
	a, b := renderedFixture(t).view(), renderedFixture(t).view()
	if a.Now != b.Now || a.Frame != b.Frame || len(a.Moments) != len(b.Moments) || a.Arenas[0].State.Forward != b.Arenas[0].State.Forward {
		t.Errorf("one ends at %d in frame %d, the other at %d in frame %d", a.Now, a.Frame, b.Now, b.Frame)
	}
	if len(a.Problems) > 0 {
		t.Errorf("its records do not fit together: %v", a.Problems)
	}
}

// axisOnScreen is a time axis as a pane has it, on the rendered fixture.
type axisOnScreen struct {
	timeAxis
	d     *Dashboard
	chart widget.Chart
	r     grid.Region
}

func newAxisOnScreen(t *testing.T) *axisOnScreen {
	d := newScreen(t, renderedSnapshot(t), layout.Timeline, 120, 32)
	g := grid.New(grid.NewStyles(themes.All()[0], themes.NoColor), themes.UnicodeGlyphs())
	g.Resize(107, 10) // 101 columns of plot
	a := &axisOnScreen{d: d, r: g.All()}
	a.draw()
	return a
}

func (a *axisOnScreen) draw() { a.prepare(&a.chart, &a.d.scene, a.r) }

// do carries an action out as the dashboard does.
func (a *axisOnScreen) do(actions ...keymap.Action) {
	for _, action := range actions {
		a.timeAxis.do(action, &a.d.scene)
		a.follow()
	}
}

func (a *axisOnScreen) follow() {
	if ns, live, ok := a.takeMoment(); ok {
		a.d.moment = ns
		if live {
			a.d.moment = 0
		}
		a.d.setScene()
	}
	a.draw()
}

func TestTimeAxisOfALiveSource(t *testing.T) {
	a := newAxisOnScreen(t)
	now := a.d.scene.newest.Now
	if a.chart.To != now || a.chart.From != now-defaultWindow || !a.chart.Live || a.chart.Zero != now || a.chart.HasCursor {
		t.Errorf("it shows %d to %d from %d on, live %v, cursor %v", a.chart.From, a.chart.To, a.chart.Zero, a.chart.Live, a.chart.HasCursor)
	}
	if got := len(a.chart.Markers); got != len(a.d.scene.newest.Moments) {
		t.Errorf("%d markers", got)
	}
	if first := a.chart.Markers[0]; first.Glyph != a.r.Glyphs().EventFrame {
		t.Errorf("what matters least is drawn last: %q comes first", first.Glyph)
	}
}

func TestTheCursorMovesByAColumn(t *testing.T) {
	a := newAxisOnScreen(t)
	a.d.choices.window.length = 1e9
	a.draw()
	now := a.d.scene.newest.Now
	a.do(keymap.Left, keymap.Left, keymap.Left)
	if got := now - a.d.scene.moment; got != 3e7 || !a.d.scene.past || !a.chart.HasCursor || a.chart.Cursor != a.d.scene.moment {
		t.Errorf("three columns of 10 ms to the left it stands %d ns before the end", got)
	}
	if w := a.d.choices.window; !w.fixed || w.end != now {
		t.Errorf("the window runs on under the cursor: %+v", w)
	}
	a.do(keymap.Right, keymap.Right, keymap.Right)
	if a.d.scene.past || a.d.choices.window.fixed {
		t.Error("at the right end nothing is followed")
	}
}

func TestTheWindowFollowsTheCursor(t *testing.T) {
	a := newAxisOnScreen(t)
	a.d.choices.window.length = 1e8
	a.draw()
	a.do(keymap.Top)
	first := a.d.scene.newest.First
	if a.d.scene.moment != first || a.chart.From > first || a.chart.To < first {
		t.Errorf("the beginning, %d, is looked at as %d and not in %d to %d", first, a.d.scene.moment, a.chart.From, a.chart.To)
	}
	// A jump from elsewhere, such as to the peak.
	a.d.lookAt(2e9)
	a.draw()
	if a.chart.From > 2e9 || a.chart.To < 2e9 {
		t.Errorf("2 s is not in %d to %d", a.chart.From, a.chart.To)
	}
	// A window that was moved away from the cursor stays there.
	a.do(keymap.PanForward, keymap.PanForward, keymap.PanForward)
	if a.chart.From <= 2e9 {
		t.Errorf("the window came back to the cursor: %d to %d", a.chart.From, a.chart.To)
	}
}

func TestEventsBeforeAndAfterTheCursor(t *testing.T) {
	a := newAxisOnScreen(t)
	var reset, oom int64
	for _, m := range a.d.scene.newest.Moments {
		switch m.Kind {
		case model.MomentArenaReset:
			reset = m.Ns
		case model.MomentOOM:
			oom = m.Ns
		}
	}
	for i, step := range []struct {
		action keymap.Action
		want   int64
	}{
		{keymap.PreviousEvent, oom}, {keymap.PreviousEvent, reset}, {keymap.PreviousEvent, reset}, // a new arena is none
		{keymap.NextEvent, oom}, {keymap.NextEvent, oom},
	} {
		a.do(step.action)
		if a.d.scene.moment != step.want {
			t.Errorf("step %d looks at %d, want %d", i, a.d.scene.moment, step.want)
		}
	}
}

func TestZoomKeepsTheCursorInPlace(t *testing.T) {
	a := newAxisOnScreen(t)
	a.do(keymap.ZoomAll)
	a.d.lookAt(2e9)
	a.draw()
	share := func() float64 { return float64(2e9-a.chart.From) / float64(a.chart.To-a.chart.From) }
	before := share()
	length := a.chart.To - a.chart.From
	a.do(keymap.ZoomIn, keymap.ZoomIn)
	if got := a.chart.To - a.chart.From; got != length/4 {
		t.Errorf("a quarter of %d is %d", length, got)
	}
	if after := share(); after < before-0.01 || after > before+0.01 {
		t.Errorf("the cursor went from %.2f of the width to %.2f", before, after)
	}
}

func TestTimeAxisInFrames(t *testing.T) {
	a := newAxisOnScreen(t)
	a.d.axis = widget.Frames
	a.d.setScene()
	a.do(keymap.ZoomAll)
	if a.chart.Unit != widget.Frames || a.from != 0 || a.to != fixtureFrames || a.chart.To != fixtureFrames+1 {
		t.Errorf("frames %d to %d", a.from, a.to)
	}
	a.do(keymap.Left)
	if a.d.scene.view.Frame != fixtureFrames-1 || a.chart.Cursor != fixtureFrames-1 {
		t.Errorf("left of frame %d is %d, drawn at %d", fixtureFrames, a.d.scene.view.Frame, a.chart.Cursor)
	}
	x := a.plot.X + (a.plot.W-1)*10/(fixtureFrames+1)
	a.click(x, 2, &a.d.scene)
	a.follow()
	if a.d.scene.view.Frame != 10 {
		t.Errorf("a click at frame 10 looks at frame %d", a.d.scene.view.Frame)
	}
	a.click(0, 2, &a.d.scene)
	if _, _, ok := a.takeMoment(); ok {
		t.Error("a click beside the plot moves the cursor")
	}
}

func TestPreparingAnAxisMakesNoGarbage(t *testing.T) {
	a := newAxisOnScreen(t)
	var columns []widget.Column
	draw := func() {
		a.draw()
		columns = a.columns(columns[:0], &a.d.scene, "host", 0)
	}
	draw()
	if allocs := testing.AllocsPerRun(20, draw); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestTheAxisSaysNowOfWhatIsNow: the newest moment of a program that is silent or
// has ended was some time ago, and the axis goes on to count from it.
func TestTheAxisSaysNowOfWhatIsNow(t *testing.T) {
	for name, test := range map[string]struct {
		tell func(*pythonFixture)
		want string
	}{
		"it lives":    {func(*pythonFixture) {}, "now"},
		"it is still": {func(f *pythonFixture) { f.store.SetStatus(pythonSource, model.StatusStale, "nothing came") }, "last"},
		"it ended":    {func(f *pythonFixture) { f.say(&recorder.Bye{Why: "exit 0"}) }, "end"},
		"was killed":  {func(f *pythonFixture) { f.store.SetStatus(pythonSource, model.StatusEnded, "signal 9") }, "end"},
	} {
		f := trainedFixture(t)
		test.tell(f)
		snapshot := f.snapshot()
		if name == "it lives" {
			// A snapshot judges by the clock, which the fixture does not move.
			snapshot.Find(pythonSource).Status = model.StatusLive
		}
		d := newScreen(t, snapshot, layout.Timeline, 120, 32)
		var axis string
		for _, line := range strings.Split(paneText(t, d, layout.TimelinePane), "\n") {
			if strings.Contains(line, " -60 s ") {
				axis = strings.TrimSpace(line)
			}
		}
		if !strings.HasSuffix(axis, " "+test.want) || !strings.Contains(axis, " -10 s ") {
			t.Errorf("%s: the axis is %q", name, axis)
		}
	}
}
