package ui

import (
	"math/rand/v2"
	"strings"
	"testing"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// headerText is the first line of the screen.
func headerText(d *Dashboard) string {
	d.drawFrame()
	return textIn(d.grid.All().At(d.layout.Header))
}

// moment is the event that is looked at; -2 for the end state.
func (d *Dashboard) lookedAt() int {
	if d.choices.dump.atEnd {
		return -2
	}
	return d.choices.dump.event
}

func TestGoldenDumps(t *testing.T) {
	for _, name := range []string{"render-oom", "fragmented"} {
		for _, view := range []layout.View{layout.Overview, layout.Timeline, layout.Events} {
			title := "dump-" + name + "-" + strings.ToLower(view.String())
			goldenView(t, dumpSnapshot(t, name), view, title)
		}
		goldenView(t, dumpSnapshot(t, name), layout.Timeline, "dump-"+name+"-timeline-peak", "x", "+", "+", "f", "esc")
	}
	goldenView(t, dumpSnapshot(t, "render-oom"), layout.Events, "dump-render-oom-events-oom", "o", "tab", "enter")
	goldenView(t, dumpSnapshot(t, "render-oom"), layout.Devices, "dump-render-oom-devices")
}

// TestJumpsInDump walks from the end state to the peaks and to each failed
// allocation, and back.
func TestJumpsInDump(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Timeline, 120, 32)
	if got := headerText(d); !strings.Contains(got, "end state after 1,858 events") || !strings.Contains(got, "late start") {
		t.Errorf("the header says %q", got)
	}
	for _, step := range []struct {
		keys string
		want int
		says string
	}{
		{"x", 1785, "that of allocated bytes too"}, {"esc", -2, ""}, {"o", 1851, "out of memory, 1 of 1"}, {"o", 1851, ""}, {"O", 1851, ""},
		{"home", dump.BeforeFirst, ""}, {".", 0, ""}, {".", 1, ""}, {",", 0, ""}, {",", -1, ""}, {",", -1, ""}, {"end", -2, ""}, {",", 1857, ""},
	} {
		press(d, step.keys)
		if got := d.lookedAt(); got != step.want {
			t.Errorf("%s leads to event %d, want %d", step.keys, got, step.want)
		}
		if !strings.Contains(d.message.text, step.says) {
			t.Errorf("%s says %q, want %q", step.keys, d.message.text, step.says)
		}
	}
	press(d, "x")
	if got := headerText(d); !strings.Contains(got, "event 1,785 of 1,858") {
		t.Errorf("the header says %q", got)
	}
}

// TestPeaksAtDifferentMoments goes to the peak of requested bytes and then to
// that of allocated ones, which is another event here.
func TestPeaksAtDifferentMoments(t *testing.T) {
	d := dumpScreen(t, "resnet18-train", layout.Overview, 120, 32)
	press(d, "x")
	if got := d.lookedAt(); got != 1575 || !strings.Contains(d.message.text, "x again") {
		t.Errorf("the first jump leads to %d and says %q", got, d.message.text)
	}
	press(d, "x")
	if got := d.lookedAt(); got != 2631 || !strings.Contains(d.message.text, "allocated") {
		t.Errorf("the second jump leads to %d and says %q", got, d.message.text)
	}
	peaks := paneText(t, d, layout.PeaksPane)
	for _, text := range []string{"requested     421.4 MiB at event 1,575", "allocated     426.4 MiB at event 2,631", "reserved      528.0 MiB at event 1,929"} {
		if !strings.Contains(peaks, text) {
			t.Errorf("the peaks lack %q:\n%s", text, peaks)
		}
	}
}

// TestZoomKeepsTheCursor zooms in around the cursor as far as it goes, on both
// axes, pans, and shows all again.
func TestZoomKeepsTheCursor(t *testing.T) {
	for _, axis := range []widget.AxisUnit{widget.Seconds, widget.Frames} {
		d := dumpScreen(t, "fragmented", layout.Timeline, 120, 32)
		d.axis = axis
		d.setScene()
		press(d, "x")
		_, device := d.scene.dumpOf()
		shorter := device.Events.Len()
		for range 20 {
			press(d, "+")
			from, to := d.choices.dump.stretch(device)
			if to-from > shorter || from > 3466 || to <= 3466 {
				t.Fatalf("axis %d: [%d,%d) is shown, the cursor is at 3466", axis, from, to)
			}
			shorter = to - from
		}
		if shorter > 8 {
			t.Errorf("axis %d: zoomed in as far as it goes, %d events are shown", axis, shorter)
		}
		press(d, "]", "]", "[")
		if got := d.lookedAt(); got != 3466 {
			t.Errorf("panning moved the cursor to %d", got)
		}
		press(d, "right")
		if from, to := d.choices.dump.stretch(device); d.lookedAt() < from || d.lookedAt() >= to {
			t.Errorf("the cursor went to %d, [%d,%d) is shown", d.lookedAt(), from, to)
		}
		press(d, "-", "-", "-", "0")
		if from, to := d.choices.dump.stretch(device); from != 0 || to != device.Events.Len() {
			t.Errorf("0 shows [%d,%d)", from, to)
		}
	}
}

// TestAxisOfDump turns the axis between time and events.
func TestAxisOfDump(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Timeline, 120, 32)
	if text := paneText(t, d, layout.TimelinePane); !strings.Contains(text, "0.12 s") {
		t.Errorf("the axis is not in seconds:\n%s", text)
	}
	press(d, "f")
	text := paneText(t, d, layout.TimelinePane)
	if strings.Contains(text, "0.12 s") || !strings.Contains(text, "1,858") {
		t.Errorf("the axis does not count events:\n%s", text)
	}
	if d.message.text != "the axis counts events" {
		t.Errorf("f says %q", d.message.text)
	}
}

// TestClickOnTimeline looks at the moment under the pointer.
func TestClickOnTimeline(t *testing.T) {
	d := dumpScreen(t, "fragmented", layout.Timeline, 120, 32)
	press(d, "f") // events
	place, _ := d.layout.Find(layout.TimelinePane)
	clickIn(t, d, layout.TimelinePane, place.Inner.W/2, place.Inner.H/2)
	if got := d.lookedAt(); got < 2900 || got > 3500 {
		t.Errorf("a click in the middle looks at event %d of 6,503", got)
	}
}

// TestLiveAddsUp holds the list of what was live to the total at moments all over
// the traces: nothing is left out, blocks from before the recording neither.
func TestLiveAddsUp(t *testing.T) {
	for _, name := range []string{"render-oom", "fragmented", "resnet18-train", "expandable"} {
		d := dumpScreen(t, name, layout.Timeline, 120, 32)
		_, device := d.scene.dumpOf()
		for range 60 {
			event := rand.IntN(device.Events.Len()+1) - 1
			d.choices.dump.lookAt(device, event)
			d.drawFrame()
			live, facts := d.dumpPanes[layout.LiveThenPane].(*dumpLivePane), d.scene.dumpFacts()
			if live.bytes != device.At(event)[dump.Requested] || live.bytes != facts.totals[dump.Requested] {
				t.Fatalf("%s after event %d: %d bytes are listed, %d are live", name, event, live.bytes, device.At(event)[dump.Requested])
			}
			older, _ := device.OlderAt(event)
			if older > 0 && !strings.Contains(paneText(t, d, layout.LiveThenPane), "before recording") && name == "expandable" {
				t.Fatalf("%s after event %d: blocks from before the recording are not named", name, event)
			}
		}
	}
}

// TestSelectedStackIsShared selects a stack in the list of what was live.
func TestSelectedStackIsShared(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Timeline, 120, 32)
	press(d, "x", "tab", "down")
	index, _ := d.scene.dumpOf()
	if got := index.StackName(d.choices.dump.stack); got != "tonemap (dumps.py:61)" {
		t.Errorf("the selected stack is %q", got)
	}
	typeIn(d, "/merge")
	if text := paneText(t, d, layout.LiveThenPane); !strings.Contains(text, "460.6 MiB") || strings.Contains(text, "tonemap") || !strings.Contains(text, "of which 1 match") {
		t.Errorf("filtered by merge:\n%s", text)
	}
}

// TestMomentOfDump shows the numbers at the cursor and how they differ from the
// end.
func TestMomentOfDump(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Timeline, 200, 60)
	press(d, "x")
	text := paneText(t, d, layout.MomentPane)
	for _, want := range []string{"event 1,785 of 1,858", "alloc 230.3 MiB at 0x7fe3b8000000 s0", "tonemap dumps.py:61", "requested", "2.5 GiB", "-834.8 MiB", "largest free", "fragmentation"} {
		if !strings.Contains(text, want) {
			t.Errorf("the moment lacks %q:\n%s", want, text)
		}
	}
}

// TestEventsAndMomentAreOne selects an event in the list, sees it in the other
// panes, and the other way round.
func TestEventsAndMomentAreOne(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Events, 120, 32)
	press(d, "home", "down", "down")
	if got := d.lookedAt(); got != 2 {
		t.Errorf("two rows below the first, event %d is looked at", got)
	}
	press(d, "5", "o", "7")
	text := paneText(t, d, layout.EventsPane)
	if !strings.Contains(text, "▌✗1,851") || !strings.Contains(text, "oom") {
		t.Errorf("the failed allocation does not stand out:\n%s", text)
	}
	event := paneText(t, d, layout.EventPane)
	for _, want := range []string{"264.8 MiB were asked for", "136.5 GiB were free on the device", "largest free block", "had set itself a limit", "would have had to go"} {
		if !strings.Contains(strings.Join(strings.Fields(event), " "), want) {
			t.Errorf("the explanation lacks %q:\n%s", want, event)
		}
	}
	press(d, "end", "up")
	if got := d.lookedAt(); got != 1857 {
		t.Errorf("above the end state stands event %d", got)
	}
	press(d, "pgup", "pgdown", "pgdown")
	if got := d.lookedAt(); got != -2 {
		t.Errorf("a page below the last event is %d, not the end state", got)
	}
}

// TestFilteredEvents filters by action and by who allocated.
func TestFilteredEvents(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Events, 120, 32)
	typeIn(d, "/^oom$")
	press(d, "home")
	if got := d.lookedAt(); got != 1851 {
		t.Errorf("the only match is event %d", got)
	}
	press(d, "down")
	if got := d.lookedAt(); got != -2 {
		t.Errorf("below the only match stands %d, not the end state", got)
	}
	press(d, "esc", "home")
	typeIn(d, "/tonemap")
	press(d, "home")
	index, device := d.scene.dumpOf()
	if name := index.StackName(device.Events.Stack[d.lookedAt()]); !strings.Contains(name, "tonemap") {
		t.Errorf("filtered by tonemap, the first row is of %s", name)
	}
	typeIn(d, "/[")
	if !strings.Contains(bodyText(d)+d.message.text, "tonemap") {
		t.Error("a pattern that does not compile took the rows away")
	}
}

// TestFilteredRowsArePlainScan compares the search that steps over stretches with
// a look at every event.
func TestFilteredRowsArePlainScan(t *testing.T) {
	d := dumpScreen(t, "resnet18-train", layout.Events, 120, 32)
	facts := d.scene.dumpFacts()
	// Longer than a stretch.
	grownIndex := dump.New(grown(facts.index.Dump, 4))
	facts = &dumpFacts{index: grownIndex, device: grownIndex.Devices[0]}
	for _, text := range []string{"alloc", "segment", "adam", "!free", "!alloc", "nothing has that", "!a", "linear.py:134", "^oom$"} {
		var pattern filterPattern
		if err := pattern.set(text); err != nil {
			t.Fatal(err)
		}
		rows := dumpEventRows{notes: notesOfEvents(facts.device.Events)}
		rows.set(facts, pattern)
		plain := keptEvents(facts, pattern)
		last := facts.device.Events.Len()
		for range 300 {
			at := rand.IntN(last + 1)
			next, previous := last, -1
			for i := at; i < last; i++ {
				if plain[i] {
					next = i
					break
				}
			}
			for i := min(at, last-1); i >= 0; i-- {
				if plain[i] {
					previous = i
					break
				}
			}
			if at == last {
				previous = last
			}
			if got := rows.next(at); got != next {
				t.Fatalf("%q: the next of %d is %d, want %d", text, at, got, next)
			}
			if got := rows.previous(at); got != previous {
				t.Fatalf("%q: the previous of %d is %d, want %d", text, at, got, previous)
			}
		}
	}
}

// keptEvents says of every event whether a filter keeps it, looking at each.
func keptEvents(f *dumpFacts, pattern filterPattern) []bool {
	kept := make([]bool, f.device.Events.Len())
	for i := range kept {
		found := pattern.pattern.MatchString(f.device.Events.Action[i].String())
		for _, frame := range f.index.Stack(f.device.Events.Stack[i]) {
			found = found || pattern.pattern.MatchString(f.index.FrameName(frame)+" "+f.index.FramePlace(frame))
		}
		kept[i] = found != pattern.invert
	}
	return kept
}

// TestMomentToBeginWith opens a dump at a moment that was named with it, and says
// so where there is none.
func TestMomentToBeginWith(t *testing.T) {
	snapshot := dumpSnapshot(t, "render-oom")
	id := snapshot.Sources[0].ID
	for text, want := range map[string]int{"peak": 1785, "17": 17, "0.1s": 1851, "end": -2} {
		moment, err := dump.ParseMoment(text)
		if err != nil {
			t.Fatal(err)
		}
		d := newDashboard(still{snapshot}, Options{Moments: map[string]dump.Moment{id: moment}})
		if got := d.lookedAt(); got != want {
			t.Errorf("@%s begins at %d, want %d", text, got, want)
		}
	}
	d := newDashboard(still{snapshot}, Options{Moments: map[string]dump.Moment{id: dump.AtEvent(1 << 20)}})
	if d.lookedAt() != -2 || !strings.Contains(d.message.text, "1858 events") {
		t.Errorf("an event that is not there: at %d, %q", d.lookedAt(), d.message.text)
	}
}

// TestTypedMoment goes to moments by their names.
func TestTypedMoment(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Timeline, 120, 32)
	for _, c := range []struct {
		text string
		want int
	}{{":at peak", 1785}, {":at 12", 12}, {":at end", -2}, {":at 0.08s", 1813}} {
		typeIn(d, c.text)
		if got := d.lookedAt(); got != c.want {
			t.Errorf("%s leads to %d, want %d", c.text, got, c.want)
		}
	}
	typeIn(d, ":at 9999999")
	if !strings.Contains(d.message.text, "no moment") {
		t.Errorf("an event that is not there: %q", d.message.text)
	}
}

// TestDumpWithoutHistory says what is missing and shows the end state.
func TestDumpWithoutHistory(t *testing.T) {
	read := *readDump(t, "render-oom")
	device := read.Devices[0]
	device.Events = recorder.DumpEvents{}
	read.Devices = []recorder.DumpDevice{device}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"state.pickle": dump.New(&read)}), layout.Overview, 120, 32)
	press(d, "x", "o", "f", "5", "left", "+", ".", "7", "down", "home", "1")
	if text := bodyText(d); !strings.Contains(text, "This dump has no history") || !strings.Contains(text, "2.6 GiB") {
		t.Errorf("without a history:\n%s", text)
	}
}

// TestDumpWithoutTimes counts events where there is no time.
func TestDumpWithoutTimes(t *testing.T) {
	read := *readDump(t, "render-oom")
	device := read.Devices[0]
	device.Events.TimeUs = make([]int64, device.Events.Len())
	read.Devices = []recorder.DumpDevice{device}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"old.pickle": dump.New(&read)}), layout.Timeline, 120, 32)
	press(d, "x", "+", "+", "left", "f")
	if !strings.Contains(d.message.text, "no times") {
		t.Errorf("f says %q", d.message.text)
	}
	if text := bodyText(d); !strings.Contains(text, "events") || strings.Contains(text, " s  ") {
		t.Errorf("without times:\n%s", text)
	}
}

// TestSeveralDevices goes from one device of a dump to the next.
func TestSeveralDevices(t *testing.T) {
	read := *readDump(t, "render-oom")
	other := readDump(t, "render-oom").Devices[0]
	other.Ordinal = 1
	read.Devices = []recorder.DumpDevice{read.Devices[0], other}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"two.pickle": dump.New(&read)}), layout.Devices, 160, 40)
	if text := paneText(t, d, layout.DevicesPane); !strings.Contains(text, "device 0") || !strings.Contains(text, "device 1") {
		t.Errorf("the devices are:\n%s", text)
	}
	d.focus[layout.Devices] = layout.DevicesPane
	press(d, "down", "enter")
	if got := headerText(d); !strings.Contains(got, "device 1") {
		t.Errorf("enter on the second device: %q", got)
	}
	press(d, "(")
	if got := headerText(d); !strings.Contains(got, "device 0") {
		t.Errorf("the device before: %q", got)
	}
}

// TestAnnotatedSpans draws what the program marked, where there is room.
func TestAnnotatedSpans(t *testing.T) {
	read := *readDump(t, "render-oom")
	first := read.Devices[0].Events.TimeUs[0]
	read.Annotations = nil
	for i, name := range []string{"frame 1", "project"} {
		read.Annotations = append(read.Annotations, recorder.DumpAnnotation{Start: true, Name: name, TimeUs: first + int64(i)*20_000})
	}
	for i, name := range []string{"project", "frame 1"} {
		read.Annotations = append(read.Annotations, recorder.DumpAnnotation{Name: name, TimeUs: first + 80_000 + int64(i)*20_000})
	}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"marked.pickle": dump.New(&read)}), layout.Timeline, 120, 40)
	text := strings.Split(paneText(t, d, layout.TimelinePane), "\n")
	if !strings.Contains(text[1], "├frame 1─") || !strings.Contains(text[2], "├project─") {
		t.Errorf("the spans are:\n%s", strings.Join(text[:4], "\n"))
	}
}

// TestDumpOriginsSayHowNumbersCame asks every pane with numbers where they come
// from.
func TestDumpOriginsSayHowNumbersCame(t *testing.T) {
	d := dumpScreen(t, "render-oom", layout.Timeline, 120, 32)
	press(d, "x")
	for _, name := range []layout.Pane{layout.TimelinePane, layout.MomentPane, layout.HeadroomPane, layout.PeaksPane} {
		origins := d.dumpPanes[name].(originator).origins(&d.scene)
		if len(origins) == 0 {
			t.Errorf("%s has no origins", name)
		}
		for _, o := range origins {
			if o.name == "" || o.figure.Known && o.figure.Origin == "" || !o.figure.Known && o.figure.Why == "" {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
}

// TestUnknownIsNotZero: a dump without segments has no reserved bytes, and one
// without a failed allocation no headroom.
func TestUnknownIsNotZero(t *testing.T) {
	read := *readDump(t, "fragmented")
	device := read.Devices[0]
	device.Segments, device.Blocks = nil, recorder.DumpBlocks{}
	e := device.Events
	device.Events = recorder.DumpEvents{Free: e.Free}
	for i := range e.Len() { // without the events about segments
		if e.Action[i] == recorder.DumpSegmentAlloc {
			continue
		}
		n := &device.Events
		n.Action, n.Address, n.Bytes = append(n.Action, e.Action[i]), append(n.Address, e.Address[i]), append(n.Bytes, e.Bytes[i])
		n.Stream, n.Pool, n.TimeUs = append(n.Stream, e.Stream[i]), append(n.Pool, e.Pool[i]), append(n.TimeUs, e.TimeUs[i])
		n.Stack = append(n.Stack, e.Stack[i])
	}
	read.Devices = []recorder.DumpDevice{device}
	index := dump.New(&read)
	if index.Devices[0].Reserves {
		t.Fatal("the dump still tells of reserved bytes")
	}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"trace.pickle": index}), layout.Overview, 120, 32)
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(text, "reserved –") || !strings.Contains(text, "headroom –") {
		t.Errorf("the headroom is:\n%s", text)
	}
	if text := paneText(t, d, layout.PeaksPane); !strings.Contains(text, "reserved              –") {
		t.Errorf("the peaks are:\n%s", text)
	}
}

// TestEverySizeOfDumpScreens draws every view at every size: nothing panics.
func TestEverySizeOfDumpScreens(t *testing.T) {
	snapshot := dumpSnapshot(t, "render-oom")
	for view := range layout.ViewCount {
		d := newScreen(t, snapshot, layout.View(view), 80, 24)
		press(d, "o")
		for _, width := range []int{0, 1, 2, 7, 13, 24, 39, 40, 63, 80, 120, 300} {
			for _, height := range []int{0, 1, 2, 5, 9, 10, 20, 30, 70} {
				d.width, d.height = width, height
				d.drawFrame()
			}
		}
	}
}

// TestDumpFrameMakesNoGarbage draws the views again and again.
func TestDumpFrameMakesNoGarbage(t *testing.T) {
	snapshot := dumpSnapshot(t, "render-oom")
	for _, view := range []layout.View{layout.Timeline, layout.Events, layout.Devices} {
		d := newScreen(t, snapshot, view, 120, 32)
		press(d, "o")
		d.message = message{}
		d.draw()
		if allocs := testing.AllocsPerRun(20, d.draw); allocs > 4 {
			t.Errorf("%s: %.0f allocations a frame", view, allocs)
		}
	}
}
