package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// arenasFixture is a program whose state tells of those arenas, in bytes used,
// numbered from 1; a released one is negative.
type arenasFixture struct {
	*fixture
	states []recorder.ArenaState
}

func (f *arenasFixture) tell() {
	f.stream.Emit(&recorder.State{Head: f.stream.Head(), Arenas: f.states})
}

// make makes an arena of which so much has been used.
func (f *arenasFixture) make(id int64, name string, highWater int64) {
	f.states = append(f.states, recorder.ArenaState{ID: id, Name: name, Device: fixtureGPU, Length: gib, Reverse: gib, HighWater: highWater,
		Managed: true, HasBuffer: true, Created: f.ns})
}

func (f *arenasFixture) release(id int64) {
	for i := range f.states {
		if f.states[i].ID == id {
			f.states[i].Released, f.states[i].HasBuffer = f.ns, false
		}
	}
}

// TestTheArenaThatIsLookedAt: the newest that lives and is used, whatever number
// others have; a choice holds as long as that arena lives, and one of an arena
// that is gone already holds.
func TestTheArenaThatIsLookedAt(t *testing.T) {
	f := &arenasFixture{fixture: newFixture(t)}
	f.make(0, "", 0)
	f.release(0)
	f.make(3, "third", 5*mib)
	f.make(4, "fourth", 6*mib)
	f.make(5, "fifth", 0)
	f.tell()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	looksAt := func(want, when string) {
		t.Helper()
		if got := arenaName(d.choices.arenaOf(d.scene.view)); got != want {
			t.Errorf("%s: it looks at %q, want %q", when, got, want)
		}
	}
	looksAt("fourth", "the newest is not used yet, and one without a number is gone")

	press(d, "(")
	looksAt("third", "chosen")
	f.states[3].HighWater = mib
	f.tell()
	d.show(f.snapshot())
	looksAt("third", "a newer one is used, and the chosen one lives")
	f.release(3)
	f.tell()
	d.show(f.snapshot())
	looksAt("fifth", "the chosen one was released")
	press(d, "(", "(")
	looksAt("third", "chosen though it is gone")
	f.tell()
	d.show(f.snapshot())
	looksAt("third", "chosen after it was gone")

	press(d, ")", ")")
	f.release(4)
	f.release(5)
	f.tell()
	d.show(f.snapshot())
	looksAt("fifth", "none lives")
}

// TestAnUnmanagedArenaComesLast: it is looked at where no other is known, however
// new it is and whatever has become of the others.
func TestAnUnmanagedArenaComesLast(t *testing.T) {
	f := &arenasFixture{fixture: newFixture(t)}
	unmanaged := func(id int64, name string, highWater int64) {
		f.make(id, name, highWater)
		f.states[len(f.states)-1].Managed = false
	}
	unmanaged(1, "scratch", 1)
	f.tell()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	looksAt := func(want string) {
		t.Helper()
		f.tell()
		d.show(f.snapshot())
		if got := arenaName(d.choices.arenaOf(d.scene.view)); got != want {
			t.Errorf("it looks at %q, want %q", got, want)
		}
	}
	looksAt("scratch")
	f.make(2, "managed", 0)
	unmanaged(3, "newer scratch", 1)
	looksAt("managed")
	f.release(2)
	looksAt("managed")
}

// TestScopesOfArenasThatComeAndGo: they are summed without a key once an arena
// with scopes was released and another one is there, until one arena is chosen.
func TestScopesOfArenasThatComeAndGo(t *testing.T) {
	f := renderedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	shows := func(summed bool, when string) {
		t.Helper()
		d.drawFrame()
		title, _ := d.panes[layout.ScopesPane].title(&d.scene)
		if got := strings.Contains(title, "all arenas"); got != summed {
			t.Errorf("%s: the title is %q", when, title)
		}
		if got := strings.Contains(paneText(t, d, layout.ScopesPane), "├"); got == summed {
			t.Errorf("%s: the scopes are\n%s", when, paneText(t, d, layout.ScopesPane))
		}
	}
	shows(false, "one arena lives")
	living := f.arena
	f.newArena("frames 24-47", 16*gib)
	f.renderFrame()
	d.show(f.snapshot())
	shows(false, "two arenas live")
	living.Release("done")
	f.state()
	if d.show(f.snapshot()); d.scene.view.Arenas[0].State.Released == 0 {
		t.Fatal("the first arena was not released")
	}
	shows(true, "one of two was released")
	if title, _ := d.panes[layout.ScopesPane].title(&d.scene); !strings.Contains(title, "(2)") {
		t.Errorf("two arenas have scopes, and the title is %q", title)
	}

	press(d, "A")
	shows(false, "A looks at one")
	press(d, "A")
	shows(true, "and comes back")
	press(d, ")")
	shows(false, ") looks at the newest, where there is none after it")
	press(d, "A")
	shows(true, "A comes back")
	press(d, "(")
	shows(false, "( looks at the one before")
	if got := arenaName(d.choices.arenaOf(d.scene.view)); got != "frames 0-23" {
		t.Errorf("it is %q", got)
	}

	press(d, ")")
	d.show(f.snapshot())
	shows(false, "the newest is chosen")
	f.arena.Release("done")
	f.state()
	d.show(f.snapshot())
	shows(true, "the arena that was chosen is gone, and nothing is chosen by hand")

	press(d, "d")
	if got := d.panes[layout.ScopesPane].(*scopesPane).mode(&d.scene); got != scopesDiff {
		t.Errorf("since a moment that is remembered, it shows mode %d", got)
	}
}

// TestKeysOfOneArenaWhereAllAreSummed say so, and numbers that are sums say of
// what.
func TestKeysOfOneArenaWhereAllAreSummed(t *testing.T) {
	f := renderedFixture(t)
	f.arena.Release("done")
	f.newArena("frames 24-47", 16*gib)
	f.renderFrame()
	d := newScreen(t, f.snapshot(), layout.Scopes, 120, 32)
	for _, key := range []string{"T", "+", "-"} {
		press(d, key)
		if !strings.Contains(d.message.text, "A looks at one") || d.panes[layout.ScopesPane].(*scopesPane).flaming {
			t.Errorf("%s says %q", key, d.message.text)
		}
	}
	press(d, "i")
	text := d.grid.Plain()
	for _, want := range []string{"largest peak", "peaks are never added", "all scopes called render in 2 arenas"} {
		if !strings.Contains(text, want) {
			t.Errorf("i does not say %q:\n%s", want, text)
		}
	}
	press(d, "esc", "A", "A")
	if d.choices.summing != sumAlways {
		t.Fatal("they are not summed by hand")
	}
	press(d, "d")
	if got := d.panes[layout.ScopesPane].(*scopesPane).mode(&d.scene); got != scopesDiff {
		t.Errorf("d promises what has changed, and shows mode %d", got)
	}
}

// TestScratchArenasAreNoArenasThatComeAndGo: beside an arena that was released
// they leave its tree, which tells more.
func TestScratchArenasAreNoArenasThatComeAndGo(t *testing.T) {
	f := renderedFixture(t)
	f.arena.Release("done")
	f.state()
	view := f.view()
	scratch := *view.Arenas[0]
	scratch.ID, scratch.State, scratch.Scopes = 9, recorder.ArenaState{ID: 9, Length: 1, Reverse: 1}, nil
	view.Arenas = append(view.Arenas, &scratch)
	if arenasComeAndGo(view) {
		t.Error("they are summed")
	}
	scratch.State.Managed = true
	if !arenasComeAndGo(view) {
		t.Error("beside one that manages memory they are not")
	}
	long := *view.Arenas[0]
	long.State.Released = long.State.Created + briefArena + 1
	view.Arenas[0] = &long
	if arenasComeAndGo(view) {
		t.Error("the tree of one that lived long enough to be read is left")
	}
}

// TestAReleasedArenaIsNoAllocator: it has no row and counts nowhere, though it is
// sampled on.
func TestAReleasedArenaIsNoAllocator(t *testing.T) {
	f := renderedFixture(t)
	f.sample()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	rows := func() (rows []string) {
		pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
		pane.collect(&d.scene)
		for i := range pane.rows.lines {
			rows = append(rows, pane.rows.lines[i].label)
		}
		return rows
	}
	if all := strings.Join(rows(), "; "); !strings.Contains(all, "frames 0-23") {
		t.Fatalf("the rows are %s", all)
	}
	f.arena.Release("done")
	f.sample()
	d.show(f.snapshot())
	if all := strings.Join(rows(), "; "); strings.Contains(all, "frames 0-23") || !strings.Contains(all, "render pool") {
		t.Errorf("the rows are %s", all)
	}
	if held := d.scene.inside().Held; held.Value != f.pool.Stats().Usage.Reserved {
		t.Errorf("its allocators hold %d, the pool %d", held.Value, f.pool.Stats().Usage.Reserved)
	}
}
