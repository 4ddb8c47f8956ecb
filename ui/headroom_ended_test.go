package ui

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestAProgramThatEndedHasNoPartOfTheBar: what is used of the device now is not
// its own any more.
func TestAProgramThatEndedHasNoPartOfTheBar(t *testing.T) {
	f := renderedFixture(t)
	f.sample()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(text, "render.py") {
		t.Fatalf("while it runs:\n%s", text)
	}
	f.stream.Emit(&recorder.Bye{Head: f.stream.Head(), Why: "exit 0"})
	f.wait(fixturePeriod)
	f.sampleDevice()
	d.show(f.snapshot())
	if text := paneText(t, d, layout.HeadroomPane); strings.Contains(text, "render.py") || strings.Contains(text, "in pool 1") || !strings.Contains(text, "headroom") {
		t.Errorf("after its end:\n%s", text)
	}
}
