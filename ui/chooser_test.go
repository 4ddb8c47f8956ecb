package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// chooserText is the list of sources, one a line.
func chooserText(d *Dashboard) string {
	var text strings.Builder
	for _, line := range d.popup.lines {
		text.WriteString(line.label + " " + line.text + "\n")
	}
	return text.String()
}

// TestTheChooserStaysTrue while it is open, with the same line selected: what
// ends meanwhile is said to have ended, and stands after what lives.
func TestTheChooserStaysTrue(t *testing.T) {
	f := unwatchedGPU(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, "c")
	selected := d.popup.lines[d.popup.selected].id
	if text := chooserText(d); strings.Contains(text, "ended") || strings.Index(text, "900") > strings.Index(text, "812") {
		t.Fatalf("before it:\n%s", text)
	}
	f.ns += fixturePeriod
	f.fold("pid:900-5", &recorder.Bye{Head: f.head("pid:900-5"), Why: "exit 0"})
	f.store.SetStatus("pid:900-5", model.StatusEnded, "exit 0")
	d.take(f.snapshot())
	if text := chooserText(d); !strings.Contains(text, "ended") || strings.Index(text, "900") < strings.Index(text, "812") {
		t.Errorf("after it:\n%s", text)
	}
	if d.popup.lines[d.popup.selected].id != selected {
		t.Errorf("another line is selected: %s", d.popup.lines[d.popup.selected].id)
	}
	press(d, "esc", "2")
	rows := d.panes[layout.ProcessesPane].(*processesPane).rows.rows
	if len(rows) != 2 || rows[0].pid != 812 || rows[1].pid != 900 {
		t.Errorf("what has ended stands above what lives: %+v", rows)
	}
}
