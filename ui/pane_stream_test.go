package ui

import (
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/ui/layout"
)

// streamScreen is the events of sheet_resolve.
func streamScreen(t *testing.T) (*Dashboard, *streamPane) {
	d := newScreen(t, renderedSnapshot(t), layout.Arena, 200, 60)
	d.choices.scope.choose([]string{"render", "wavefront_state", "sheet_resolve"}, false)
	d.drawFrame()
	return d, d.panes[layout.StreamPane].(*streamPane)
}

func TestStreamOfAScope(t *testing.T) {
	d, pane := streamScreen(t)
	text := paneText(t, d, layout.StreamPane)
	for _, want := range []string{"scope     │ sheet_resolve", "alloc     ", "complex64", "hits=1,023", "temp end", "0x7f2c"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "projection") || strings.Contains(text, "postprocess") {
		t.Errorf("events of other scopes are in\n%s", text)
	}
	if title, note := pane.title(&d.scene); title != "Events of sheet_resolve and inside" || !strings.HasPrefix(note, "peak 2.3 GiB") {
		t.Errorf("the title is %q, %q", title, note)
	}
}

func TestWhoseEventsAreListed(t *testing.T) {
	d, pane := streamScreen(t)
	d.choices.scope.choose([]string{"render", "wavefront_state"}, false)
	counts := map[streamReach]int{}
	for _, key := range []string{"h", "l", "l", "l"} {
		press(d, key)
		counts[pane.reach] = pane.Len()
	}
	if counts[reachOwn] >= counts[reachInside] || counts[reachInside] >= counts[reachArena] || counts[reachOwn] == 0 {
		t.Errorf("the scope's own, with those inside, and all: %v", counts)
	}
	if all := d.scene.view.Arenas[0].Events; int64(counts[reachArena]) != all {
		t.Errorf("all events are %d of %d", counts[reachArena], all)
	}
}

// The event that set the peak is marked, and x goes to it.
func TestTheEventThatSetThePeak(t *testing.T) {
	d, pane := streamScreen(t)
	press(d, "x")
	event := pane.selected(&d.scene)
	if event == nil || !event.SetPeak || event.Op != arena.OpAlloc {
		t.Fatalf("x goes to %+v", event)
	}
	scopes, row := d.choices.scope.find(d.scene.view, d.scene.view.Arenas[0])
	if peak, _, _ := pane.list.Peak(); peak != scopes.Peak(row) {
		t.Errorf("the list's peak is %d, the tree's %d", peak, scopes.Peak(row))
	}
	if line := selectedIn(t, d, layout.StreamPane); !strings.Contains(line, "▴") {
		t.Errorf("it is not marked: %q", line)
	}
	press(d, "enter")
	if d.popup == nil || d.popup.title != "Event: alloc" {
		t.Errorf("its details are %+v", d.popup)
	}
}

func selectedIn(t *testing.T, d *Dashboard, pane layout.Pane) string {
	t.Helper()
	for line := range strings.Lines(paneText(t, d, pane)) {
		if strings.HasPrefix(line, "▌") {
			return line
		}
	}
	return ""
}

// The newest event stays selected while events come, until one moves away.
func TestTheStreamFollows(t *testing.T) {
	f := renderedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Arena, 120, 32)
	pane := d.panes[layout.StreamPane].(*streamPane)
	last := func() int64 { return pane.selected(&d.scene).Number }
	before := last()
	f.must(f.arena.AllocTyped(arena.DTypeUint8, false, 1000))
	d.show(f.snapshot())
	if last() != before+1 {
		t.Errorf("after event %d came %d", before, last())
	}
	press(d, "k")
	f.must(f.arena.AllocTyped(arena.DTypeUint8, false, 1000))
	d.show(f.snapshot())
	if last() != before {
		t.Errorf("while event %d is looked at, %d is shown", before, last())
	}
	press(d, "G")
	if last() != before+2 {
		t.Errorf("at the end is %d", last())
	}
	press(d, "k", "F")
	if last() != before+2 {
		t.Errorf("following shows %d", last())
	}
	// At another moment it has the events until then.
	d.lookAt(2_000_000_000)
	d.drawFrame()
	if event := pane.selected(&d.scene); event.Ns > 2_000_000_000 || int64(pane.Len()) != d.scene.view.Arenas[0].Events {
		t.Errorf("at 2 s the last event is at %d ns, and there are %d", event.Ns, pane.Len())
	}
}

// What the address says is where the pointers were.
func TestAddressesInTheStream(t *testing.T) {
	d, pane := streamScreen(t)
	press(d, "l")
	for _, event := range pane.list.Rows(nil, 0, pane.Len()) {
		if event.Op == arena.OpAlloc && (!event.Located || event.Address != 0x7f2b_5c00_0000+uint64(event.Forward-event.Bytes)) {
			t.Fatalf("%+v", event)
		}
	}
	if text := paneText(t, d, layout.StreamPane); !strings.Contains(text, "reverse") {
		t.Errorf("a wide pane leaves columns out:\n%s", text)
	}
}

func TestAStreamWithoutEvents(t *testing.T) {
	f := newFixture(t)
	f.newArena("quiet", gib)
	snapshot := f.snapshot()
	view := *snapshot.Find(fixtureSource)
	a := *view.Arenas[0]
	a.Events = 0
	view.Arenas = []*model.ArenaView{&a}
	pane := newStreamPane()
	s := scene{view: &view, newest: &view, choices: &choices{}}
	pane.list = model.NewEventList(a.ID, []string{"none"}, true)
	if got := pane.emptied(&s, &a); !strings.Contains(got, "from the source's next state on") {
		t.Errorf("of a live source it says %q", got)
	}
	view.File = "render.vscope"
	if got := pane.emptied(&s, &a); !strings.Contains(got, "recording holds no events") {
		t.Errorf("of a recording it says %q", got)
	}
}
