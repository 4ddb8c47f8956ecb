package ui

import (
	"strings"
	"testing"

	"vramscope/ui/layout"
)

// What is typed behind / was never meant as keys: in no view and no pane does it
// act on a program, whether or not there is something to filter.
func TestAFilterNeverActsAsKeys(t *testing.T) {
	for view := range layout.ViewNames() {
		_, d, feed := recordScreen(t, true, false)
		d.view = layout.View(view)
		d.drawFrame()
		for range 6 { // every pane of the view
			typeIn(d, "/rRmaBPHrmm")
			press(d, "esc", "esc", "tab")
			if len(feed.sent) != 0 || feed.recording != "" || d.question != nil {
				t.Fatalf("view %d: typing a filter sent %v, records to %q and asks %v", view+1, feed.sent, feed.recording, d.question)
			}
		}
	}
}

// A filter that cannot be read says so when it is applied, too.
func TestABrokenFilterIsNotSwallowed(t *testing.T) {
	_, d, _ := recordScreen(t, true, false)
	d.view = layout.Scopes
	d.drawFrame()
	typeIn(d, "/[")
	if !strings.Contains(d.message.text, "no filter: ") {
		t.Errorf("the line says %q", d.message.text)
	}
}
