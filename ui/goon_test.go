package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// joins has another program say hello: one that began so many clock ticks after
// boot.
func (f *pythonFixture) joins(src string, pid int, start uint64) {
	hello := pythonHello(src, pid, 0)
	hello.Ns, hello.Start, hello.Rank = f.ns, start, nil
	f.fold(src, &hello)
}

// ends has a program end.
func (f *pythonFixture) ends(src string) {
	f.fold(src, &recorder.Bye{Head: f.head(src), Why: "exit 9"})
	f.store.SetStatus(src, model.StatusEnded, "")
}

// TestAChildDoesNotTakeTheScreen: of programs that live the one that began first is
// looked at, whichever was found first, and a child that comes and goes changes
// nothing.
func TestAChildDoesNotTakeTheScreen(t *testing.T) {
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	f.joins("pid:1000-7", 1000, 7) // the child, whose number comes first
	f.joins("pid:999-5", 999, 5)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	at := func(want, when string) {
		t.Helper()
		if d.scene.newest.ID != want {
			t.Errorf("%s it looks at %s: %s", when, d.scene.newest.ID, d.message.text)
		}
	}
	at("pid:999-5", "at first")
	f.ends("pid:1000-7")
	f.joins("pid:1001-9", 1001, 9)
	d.take(f.snapshot())
	at("pid:999-5", "while another child lives")
	f.joins("pid:500-1", 500, 1) // one that had been busy
	d.take(f.snapshot())
	at("pid:999-5", "after an older one was found")
	f.ends("pid:999-5")
	d.take(f.snapshot())
	at("pid:999-5", "with two to choose from")
	f.ends("pid:1001-9")
	d.take(f.snapshot())
	at("pid:500-1", "once one other lives")
	if want := "train.py 999 has ended (exit 9); this is train.py 500, which lives: c Enter goes back"; d.message.text != want {
		t.Errorf("it says %q, want %q", d.message.text, want)
	}
	press(d, "c", "enter")
	at("pid:999-5", "on the way back")
	d.take(f.snapshot())
	at("pid:999-5", "after it was chosen")
}

// TestWhoChoseOrPausedStays on what has ended.
func TestWhoChoseOrPausedStays(t *testing.T) {
	for name, do := range map[string]func(*Dashboard){
		"nothing":                   func(*Dashboard) {},
		"chosen":                    func(d *Dashboard) { press(d, "c", "enter") },
		"paused":                    func(d *Dashboard) { press(d, "p") },
		"an earlier moment":         func(d *Dashboard) { d.lookAt(d.scene.newest.First + 1) },
		"a comparison":              func(d *Dashboard) { press(d, "d") },
		"a question":                func(d *Dashboard) { press(d, "R") },
		"a filter that is typed in": func(d *Dashboard) { press(d, "/") },
	} {
		f := trainedFixture(t)
		d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
		do(d)
		f.joins("pid:2000-2000000", 2000, 2_000_000)
		f.ends(pythonSource)
		d.take(f.snapshot())
		want := pythonSource
		if name == "nothing" {
			want = "pid:2000-2000000"
		}
		if d.scene.newest.ID != want {
			t.Errorf("%s: it looks at %s", name, d.scene.newest.ID)
		}
	}
}

// TestNoStandInIsGoneOnWith: the demo that runs because nothing was there is no
// program of the user's.
func TestNoStandInIsGoneOnWith(t *testing.T) {
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	d.options.StandIn = func() string { return "pid:2000-2000000" }
	f.joins("pid:2000-2000000", 2000, 2_000_000)
	f.ends(pythonSource)
	d.take(f.snapshot())
	if d.scene.newest.ID != pythonSource || strings.Contains(d.message.text, "lives") {
		t.Errorf("it looks at %s: %s", d.scene.newest.ID, d.message.text)
	}
}
