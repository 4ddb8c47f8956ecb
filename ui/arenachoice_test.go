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
