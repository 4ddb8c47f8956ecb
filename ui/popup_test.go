package ui

import (
	"strings"
	"testing"

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
