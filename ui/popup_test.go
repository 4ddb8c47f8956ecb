package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

// TestQLeavesAPopup: whoever closes the help with q does not lose the dashboard.
func TestQLeavesAPopup(t *testing.T) {
	d := newScreen(t, renderedSnapshot(t), layout.Overview, 80, 24)
	press(d, "?")
	if d.popup == nil {
		t.Fatal("? opens no help")
	}
	press(d, "q")
	if d.popup != nil {
		t.Error("q does not close the help")
	}
}

// TestAPopupGoesWithItsView: what it tells is of a pane that is not on the screen
// any more, by whichever way that was left.
func TestAPopupGoesWithItsView(t *testing.T) {
	for _, open := range []string{"enter", "i", "?", "c"} {
		for _, leave := range []string{"1", "}", "{"} {
			d := newScreen(t, trainedSnapshot(t), layout.Devices, 80, 24)
			press(d, open)
			if d.popup == nil {
				t.Fatalf("%s opens nothing: %s", open, d.message.text)
			}
			press(d, leave)
			if d.view == layout.Devices || d.popup != nil {
				t.Errorf("%s, then %s: view %d, a pop-up %t", open, leave, d.view, d.popup != nil)
			}
		}
	}
}

// TestAPopupGoesWithItsSource: where the screen goes on to another program, what is
// told of the one before does not stay; the list of sources does, being kept true.
func TestAPopupGoesWithItsSource(t *testing.T) {
	for open, stays := range map[string]bool{"enter": false, "i": false, "?": true, "c": true} {
		f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
		f.joins("pid:999-5", 999, 5)
		f.joins("pid:1000-7", 1000, 7)
		f.takes("pid:999-5", gib)
		d := newScreen(t, f.snapshot(), layout.Devices, 120, 32)
		press(d, open)
		if d.popup == nil {
			t.Fatalf("%s opens nothing: %s", open, d.message.text)
		}
		f.takes("pid:999-5", 2*gib)
		d.take(f.snapshot())
		if d.popup == nil {
			t.Fatalf("%s: new data of the same program closes it", open)
		}
		f.ends("pid:999-5")
		d.take(f.snapshot())
		if d.scene.newest.ID != "pid:1000-7" || (d.popup != nil) != stays {
			t.Errorf("%s: it looks at %s, a pop-up %t", open, d.scene.newest.ID, d.popup != nil)
		}
	}
}

// TestHelpIsWhole: no sentence of the help is cut on 80 columns.
func TestHelpIsWhole(t *testing.T) {
	for _, line := range newHelp().lines {
		if width := grid.Width(line.text); width > helpWidth {
			t.Errorf("%q takes %d columns", line.text, width)
		}
		if strings.TrimSpace(line.text) == "" && !line.head {
			t.Error("an empty line")
		}
	}
}
