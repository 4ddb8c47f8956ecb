package ui

import (
	"strings"
	"testing"

	"vramscope/ui/layout"
)

// TestWhatKeysDoStandsFirstInTheHeader: in a narrow terminal too it is seen that
// something is recorded, that keys reach several programs, and that they do nothing.
func TestWhatKeysDoStandsFirstInTheHeader(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		d := newScreen(t, renderedSnapshot(t), layout.Overview, 80, 24)
		d.options.ReadOnly = readOnly
		press(d, "a")
		d.feed.(*fixtureFeed).recording = "/tmp/render.vscope"
		d.options.ASCII = true
		header, _, _ := strings.Cut(d.drawFrame(), "\n")
		for _, want := range []string{"REC", "all of the device"} {
			if !strings.Contains(header, want) {
				t.Errorf("read-only %v: %q is not in %q", readOnly, want, header)
			}
		}
		if strings.Contains(header, "read-only") != readOnly {
			t.Errorf("read-only %v: the header is %q", readOnly, header)
		}
	}
}

// TestAPaneWithoutOriginsIsNamed: the keys may be another pane's than the one
// that is looked at.
func TestAPaneWithoutOriginsIsNamed(t *testing.T) {
	d := newScreen(t, renderedSnapshot(t), layout.Overview, 120, 32)
	for range d.layout.Places() {
		press(d, "tab", "i")
		if d.popup != nil {
			press(d, "esc")
			continue
		}
		title, _ := d.focusedPane().title(&d.scene)
		if !strings.Contains(d.message.text, title) {
			t.Errorf("i in %q says %q", title, d.message.text)
		}
	}
}
