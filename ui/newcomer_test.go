package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestANewcomerIsOffered: a program that comes while a stand-in is looked at is
// told of once, and c Enter goes there.
func TestANewcomerIsOffered(t *testing.T) {
	for _, standIn := range []string{fixtureSource, ""} {
		f := renderedFixture(t)
		d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
		d.options.StandIn = func() string { return standIn }
		d.take(f.snapshot())
		if d.message.text != "" {
			t.Fatalf("before anything came it says %q", d.message.text)
		}
		hello := pythonHello(pythonSource, 812, pythonRank)
		hello.Ns = f.ns
		f.foldInto(pythonSource, &hello)
		d.take(f.snapshot())
		if standIn == "" {
			if d.message.text != "" {
				t.Errorf("where there is no stand-in it says %q", d.message.text)
			}
			continue
		}
		if want := "train.py 812 rank 3 is here: c Enter goes there"; d.message.text != want {
			t.Errorf("%q, want %q", d.message.text, want)
		}
		press(d, "esc")
		d.take(f.snapshot())
		if d.message.text != "" {
			t.Errorf("it is said again: %q", d.message.text)
		}
		press(d, "c", "enter")
		if d.scene.newest.ID != pythonSource {
			t.Errorf("c Enter went to %s", d.scene.newest.ID)
		}
	}
}

// TestTroubleOfAnotherSource: it goes with the source that it is of, comes back
// once, stands for a while, and is not told again until another is looked at.
func TestTroubleOfAnotherSource(t *testing.T) {
	f := renderedFixture(t)
	hello := pythonHello(pythonSource, 812, pythonRank)
	hello.Ns = f.ns
	f.foldInto(pythonSource, &hello)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	d.selected = fixtureSource
	fail := func(rescued bool) {
		f.stream.Emit(&recorder.OOM{Head: f.stream.Head(), ID: f.poolSetID(), Asked: 3 * gib, Rescued: rescued})
		d.take(f.snapshot())
	}
	tells := func() bool { return strings.Contains(d.message.text, "out of memory") }
	fail(false)
	if !tells() {
		t.Fatalf("of what is looked at it says %q", d.message.text)
	}
	d.choose(pythonSource)
	d.take(f.snapshot())
	if tells() {
		t.Errorf("over another source it says %q", d.message.text)
	}
	fail(true)
	if tells() {
		t.Error("a failure of another source that came to nothing is told")
	}
	fail(false)
	if !tells() {
		t.Error("a failure of another source is not told at all")
	}
	f.wait(asideStays + 1)
	f.sample()
	d.take(f.snapshot())
	if tells() {
		t.Errorf("it stays for good: %q", d.message.text)
	}
	fail(false)
	if tells() {
		t.Errorf("it is told again and again: %q", d.message.text)
	}
	d.choose(fixtureSource)
	fail(true)
	if !tells() {
		t.Error("of what is looked at again nothing is told")
	}
}
