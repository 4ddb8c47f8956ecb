package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestAProgramComesBack under another number: the end of one that was chosen stays
// on the screen, and c Enter goes to the new run. It is said once.
func TestAProgramComesBack(t *testing.T) {
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	d.choose(pythonSource)
	f.say(&recorder.Bye{Why: "exit 1"})
	other := pythonHello("pid:913-1000", 913, pythonRank+1) // another rank is no comeback
	other.Ns, other.Start = f.ns, 1_000_000
	f.fold(other.Src, &other)
	d.take(f.snapshot())
	if d.message.text != "" && strings.Contains(d.message.text, "runs again") {
		t.Errorf("another rank is taken for it: %q", d.message.text)
	}
	again := pythonHello("pid:914-1001", 914, pythonRank)
	again.Ns, again.Start = f.ns, 1_000_001
	f.fold(again.Src, &again)
	d.take(f.snapshot())
	if want := "train.py 812 rank 3 has ended; it runs again as train.py 914 rank 3: c Enter goes there"; d.message.text != want {
		t.Errorf("%q, want %q", d.message.text, want)
	}
	if d.scene.newest.ID != pythonSource {
		t.Error("the end of the program went off the screen by itself")
	}
	press(d, "esc")
	f.trainFrame()
	d.take(f.snapshot())
	if d.message.text != "" {
		t.Errorf("it is said again: %q", d.message.text)
	}
	press(d, "c", "enter")
	if d.scene.newest.ID != again.Src {
		t.Errorf("c Enter went to %s", d.scene.newest.ID)
	}
}
