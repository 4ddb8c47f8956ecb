package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestThePoolThatIsLookedAt: the newest that has taken memory, until another is
// chosen, by its row among the allocators too.
func TestThePoolThatIsLookedAt(t *testing.T) {
	f := trainedFixture(t)
	told := func(name string, reserved int64) recorder.CounterSet {
		set := recorder.CounterSet{ID: "set of " + name, Of: recorder.OfPool, Name: name + ", tier B", Device: fixtureGPU}
		set.Values.Set(recorder.Reserved, reserved)
		return set
	}
	f.say(&recorder.State{Pools: []recorder.PoolState{{ID: 1, Name: "raster pool", Tier: "B"}, {ID: 2, Name: "idle pool", Tier: "A"}}})
	f.say(&recorder.Sample{Sets: []recorder.CounterSet{told("raster pool", gib), told("idle pool", 0)}})
	d := newScreen(t, f.snapshot(), layout.Overview, 200, 60)
	if title, _ := d.panes[layout.PoolPane].title(&d.scene); !strings.HasPrefix(title, "Pool 1 of 2: ") {
		t.Errorf("at first the title is %q", title)
	}
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	pane.collect(&d.scene)
	pane.table.Selected = pane.rows.find("set of idle pool")
	pane.choose(&d.scene)
	if title, _ := d.panes[layout.PoolPane].title(&d.scene); !strings.HasPrefix(title, "Pool 2 of 2: ") {
		t.Errorf("chosen by its row the title is %q", title)
	}
}

// TestEscTakesTroubleAway: a line about a source can be taken off the screen, and
// Esc leaves what it would leave without it.
func TestEscTakesTroubleAway(t *testing.T) {
	f := renderedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, "z")
	f.stream.Emit(&recorder.OOM{Head: f.stream.Head(), ID: f.poolSetID(), Asked: 3 * gib})
	d.take(f.snapshot())
	if !strings.Contains(d.message.text, "out of memory") || !d.zoomed {
		t.Fatalf("it says %q", d.message.text)
	}
	press(d, "esc")
	if d.message.text != "" || d.zoomed {
		t.Errorf("after Esc it says %q, zoomed %v", d.message.text, d.zoomed)
	}
}

// TestNoFailureCallbackIsToldOf where a program has counters of a pool alone, as
// one of torch.
func TestNoFailureCallbackIsToldOf(t *testing.T) {
	facts := poolFacts{}
	if why := facts.whyNoRetries(); !strings.Contains(why, "no failure callback") {
		t.Errorf("of torch's pool it says %q", why)
	}
}
