package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// countedFixture is a program like algan: it samples its arenas' pointers, and of
// an arena that is recorded it tells the scopes, without times. No event comes.
type countedFixture struct {
	*arenasFixture
	recording bool
}

func newCountedFixture(t *testing.T) *countedFixture {
	f := &countedFixture{arenasFixture: &arenasFixture{fixture: newFixture(t)}}
	f.stream.Emit(&recorder.Strings{Head: f.stream.Head(), First: 1000, Strings: []string{"scene_upload"}})
	return f
}

func (f *countedFixture) tell() {
	f.stream.Emit(&recorder.State{Head: f.stream.Head(), Recording: f.recording, Arenas: f.states})
}

// makeUnrecorded makes an arena of whose allocations nobody tells.
func (f *countedFixture) makeUnrecorded(id int64) {
	f.make(id, "unrecorded", mib)
	f.states[len(f.states)-1].Root = recorder.RootTotals{Peak: mib, PeakBound: gib}
}

// makeRecorded makes an arena with a scope, counted by a recorder without times.
func (f *countedFixture) makeRecorded(id int64) {
	f.make(id, "recorded", mib)
	state := &f.states[len(f.states)-1]
	state.Recorded = true
	state.Root = recorder.RootTotals{AllocCount: 3, Peak: mib, PeakFrame: -1}
	state.Tree = recorder.TreeColumns{Parent: []int32{-1}, Name: []uint32{1000}, Count: []int64{1}, AllocCount: []int64{3}, SelfBytes: []int64{mib},
		Peak: []int64{mib}, PeakFrame: []int64{-1}}
}

func (f *countedFixture) screen(t *testing.T, view layout.View) *Dashboard {
	f.tell()
	return newScreen(t, f.snapshot(), view, 200, 60)
}

// expect says whether a pane reads as it is to, however its lines are broken.
func expect(t *testing.T, d *Dashboard, pane layout.Pane, want string) {
	t.Helper()
	if text := strings.Join(strings.Fields(paneText(t, d, pane)), " "); !strings.Contains(text, want) {
		t.Errorf("%s reads\n%s\nwithout %q", pane, text, want)
	}
}

// TestWhyAnArenaHasNoScopes says what is so for that arena, and what to do.
func TestWhyAnArenaHasNoScopes(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(f *countedFixture)
		want string
	}{
		{"not recorded", func(f *countedFixture) { f.makeUnrecorded(1) }, "it was not recorded. Press m, and those that are made from then on tell theirs."},
		{"made before the recording", func(f *countedFixture) { f.makeUnrecorded(1); f.recording = true },
			"it was not recorded. Those that are made from now on are, and tell theirs."},
		{"recorded and new", func(f *countedFixture) { f.make(1, "new", 0); f.states[0].Recorded, f.recording = true, true },
			"No scope was opened in this arena yet. Each is shown once it is."},
		{"recorded and released", func(f *countedFixture) {
			f.make(1, "brief", 0)
			f.states[0].Recorded, f.recording = true, true
			f.release(1)
		}, "No scope was opened in this arena: it was recorded until it was released."},
	} {
		f := newCountedFixture(t)
		c.then(f)
		d := f.screen(t, layout.Scopes)
		t.Run(c.name, func(t *testing.T) { expect(t, d, layout.ScopesPane, c.want) })
	}
}

// TestMIsPromisedWhereItArms and nowhere else.
func TestMIsPromisedWhereItArms(t *testing.T) {
	f := newCountedFixture(t)
	f.makeUnrecorded(1)
	d := f.screen(t, layout.Scopes)
	d.options.ReadOnly = true
	d.setScene()
	expect(t, d, layout.ScopesPane, "Without --readonly, m would have the program record")
	d.options.ReadOnly = false
	d.setScene()
	hello := *d.scene.newest.Hello
	hello.Commands = nil
	d.scene.newest.Hello = &hello
	if got := howToRecord(&d.scene); got != "Its program cannot be asked to record." {
		t.Error(got)
	}
	d.scene.newest.File = "render.vscope"
	if got := howToRecord(&d.scene); strings.Contains(got, "Press m") {
		t.Error(got)
	}
	press(d, "A")
	expect(t, d, layout.ScopesPane, "none was recorded.")
}

// TestAnArenaThatTellsNoEvents: view 3 promises nothing that never comes.
func TestAnArenaThatTellsNoEvents(t *testing.T) {
	f := newCountedFixture(t)
	f.makeRecorded(1)
	d := f.screen(t, layout.Arena)
	expect(t, d, layout.StreamPane, "This arena tells no events: its program counts what each scope allocates, without times. View 4 has the scopes.")
	expect(t, d, layout.CallersPane, "this arena tells none")
	expect(t, d, layout.MarksPane, "Of temporary contexts its program tells nothing.")
	expect(t, d, layout.PointersPane, "fill this as samples come")
	if _, note := d.panes[layout.MarksPane].title(&d.scene); note != "" {
		t.Errorf("the marks' title promises: %q", note)
	}

	f.make(2, "new", 0) // of which alone nothing tells that
	d = f.screen(t, layout.Arena)
	press(d, ")")
	expect(t, d, layout.StreamPane, "This arena tells no events: its program tells where its pointers stand")

	f.release(2)
	d = f.screen(t, layout.Arena)
	press(d, ")")
	expect(t, d, layout.PointersPane, "it was released before a sample was taken")
	expect(t, d, layout.MarksPane, "This arena was released")

	f.makeUnrecorded(3)
	f.states[2].Managed = false
	d = f.screen(t, layout.Arena)
	press(d, ")", ")")
	expect(t, d, layout.PointersPane, "This arena is unmanaged and has no pointers")

	// The events of one that never held a byte are those of its scopes.
	scopes := model.ArenaView{State: recorder.ArenaState{Name: "scopes of MainThread"}, Scopes: &recorder.ScopeSnapshot{}, Events: 6}
	if text := noPointers(&d.scene, &scopes); !strings.HasPrefix(text, "These scopes lie in no arena") {
		t.Errorf("scopes in no arena: %q", text)
	}
	scopes.State.HighWater = mib
	if text := noPointers(&d.scene, &scopes); text != "" {
		t.Errorf("an unmanaged arena whose pointers moved: %q", text)
	}
}

// TestCalibrationIsNamedForRecordedArenas where the program writes one.
func TestCalibrationIsNamedForRecordedArenas(t *testing.T) {
	f := newCountedFixture(t)
	f.makeRecorded(1)
	d := f.screen(t, layout.Arena)
	hello := *d.scene.newest.Hello
	hello.Commands = append(hello.Commands, recorder.CommandCalibration)
	d.scene.newest.Hello = &hello
	if got := noEvents(&d.scene, d.scene.view.Arenas[0]); !strings.Contains(got, "and :calibration writes every allocation") {
		t.Error(got)
	}
}

// TestAnArenaOfEventsIsPromisedThem until they come, and its released ones are
// drawn from their samples.
func TestAnArenaOfEventsIsPromisedThem(t *testing.T) {
	f := &arenasFixture{fixture: newFixture(t)}
	f.make(1, "idle", 0)
	f.tell()
	d := newScreen(t, f.snapshot(), layout.Arena, 200, 60)
	expect(t, d, layout.StreamPane, "No event was told yet.")
	expect(t, d, layout.CallersPane, "they come while somebody looks")
	expect(t, d, layout.PointersPane, "samples always")

	set := recorder.CounterSet{ID: "arena:1", Of: recorder.OfArena, Name: "idle", Device: fixtureGPU, Call: "sampled"}
	for counter, value := range map[recorder.Counter]int64{recorder.Length: gib, recorder.Forward: mib, recorder.Reverse: gib} {
		set.Values.Set(counter, value)
	}
	f.stream.Emit(&recorder.Sample{Head: f.stream.Head(), Sets: []recorder.CounterSet{set}})
	f.release(1)
	f.tell()
	d.show(f.snapshot())
	if noPointers(&d.scene, d.scene.view.Arenas[0]) != "" || d.scene.newest.FindSet("arena:1") != nil {
		t.Errorf("a released arena that was sampled is not drawn:\n%s", paneText(t, d, layout.PointersPane))
	}
	if title, _ := d.panes[layout.PointersPane].title(&d.scene); title != "Pointers over 1 m 00 s" {
		t.Errorf("the title is %q", title)
	}
}

// TestACalibrationDumpHasEveryEvent, though those of algan have the moment at
// which they were written.
func TestACalibrationDumpHasEveryEvent(t *testing.T) {
	d := newScreen(t, renderedFixture(t).snapshot(), layout.Arena, 120, 32)
	arena := d.scene.view.Arenas[0]
	arena.State.Created, arena.Since = 1, 5e9
	pane := d.panes[layout.CallersPane]
	if _, note := pane.title(&d.scene); note != "not from the start" {
		t.Errorf("of a live program the note is %q", note)
	}
	d.scene.newest.Kind = recorder.KindCalibration
	if _, note := pane.title(&d.scene); note != "" {
		t.Errorf("of a calibration dump the note is %q", note)
	}
}
