package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// reclaimedFixture is the Python process after a force reclaim of six steps.
func reclaimedFixture(t testing.TB) *pythonFixture {
	f := trainedFixture(t)
	bytes := func(n int64) *int64 { return &n }
	f.say(&recorder.Ack{ID: "7f3", Name: recorder.CommandForceReclaim, State: recorder.AckAccepted, Where: "the next frame boundary"})
	f.ns += 2e9
	f.say(&recorder.Ack{ID: "7f3", Name: recorder.CommandForceReclaim, State: recorder.AckDone, Took: 812e6, Result: []recorder.ResultLine{
		{What: "collect garbage, 3 generations", Took: 41e6},
		{What: "torch 0: empty the cache", Before: bytes(40 * gib), After: bytes(33 * gib), Freed: bytes(7 * gib), Took: 300e6,
			Why: "14 segments hold live blocks: 9.1 GiB free in them cannot go back"},
		{What: "torch 0: graph pools", Before: bytes(4 * gib), After: bytes(4 * gib), Freed: bytes(0), Why: "a graph's private pool goes back when every graph that uses it is gone"},
		{What: "cupy: free all blocks", Before: bytes(5 * gib), After: bytes(3 * gib), Freed: bytes(0), Why: "it lies in the rmm pool, which keeps what it was given"},
		{What: "rmm pool", Why: "RMM has no call that gives a pool's memory back"},
		{What: "jax", Why: "JAX has no call that empties its cache"},
	}})
	return f
}

// TestResultLinesAreRead at 80 columns: the line says how many there are, view 7
// has each whole, and so has the pop-up of enter.
func TestResultLinesAreRead(t *testing.T) {
	f := reclaimedFixture(t)
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 80, 24)
	d.take(f.snapshot())
	line := strings.Join(strings.Fields(textIn(d.grid.All().At(d.layout.Message))), " ")
	if !strings.HasPrefix(line, "✓ train.py 812 rank 3: force reclaim · 812.0 ms · 7.0 GiB back to the driver · torch 0: empty the cache: 14 segments") {
		t.Errorf("the line is %q", line)
	}
	if !strings.Contains(d.message.text, "4 more reasons · 7 tells each of the 6 steps") {
		t.Errorf("it does not say where the rest is: %q", d.message.text)
	}
	press(d, "7", "enter")
	if d.popup == nil {
		t.Fatal("enter shows nothing")
	}
	text := popupText(d)
	joined := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"torch 0: empty the cache · 300.0 ms · 40.0 GiB → 33.0 GiB · 7.0 GiB back to the driver · 14 segments hold live blocks: 9.1 GiB free in them cannot go back",
		"cupy: free all blocks · 5.0 GiB → 3.0 GiB · 0 B back to the driver · it lies in the rmm pool",
		"jax · JAX has no call that empties its cache",
	} {
		if !strings.Contains(joined, want) {
			t.Errorf("the pop-up does not say %q:\n%s", want, text)
		}
	}
	for _, row := range d.popup.lines {
		if len([]rune(row.text)) > 80-5 {
			t.Errorf("a row is cut at 80 columns: %q", row.text)
		}
	}
}

// TestReasonsAreWrapped: i on what is missing says the whole reason.
func TestReasonsAreWrapped(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 80, 24)
	pane := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	pane.table.Selected = pane.rows.find("jax:0")
	pane.choose(&d.scene)
	press(d, "i")
	if text := strings.Join(strings.Fields(popupText(d)), " "); !strings.Contains(text, "JAX does not tell what it has taken unless it preallocates") {
		t.Errorf("the reason is cut:\n%s", popupText(d))
	}
}
