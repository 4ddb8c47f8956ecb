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

// TestTheChooserMovesAsElsewhere: Home, g, End and G go to its ends, over headings,
// and a page up from near the beginning goes there too.
func TestTheChooserMovesAsElsewhere(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 120, 32)
	press(d, "c")
	var first, last string
	for _, line := range d.popup.lines {
		if !line.head {
			last = line.id
			if first == "" {
				first = line.id
			}
		}
	}
	if first == last {
		t.Fatal("there is one source alone")
	}
	for _, check := range []struct{ from, key, want string }{
		{"down", "home", first}, {"down", "g", first}, {"down", "pgup", first}, {"home", "end", last}, {"home", "G", last}, {"home", "up", first}, {"end", "down", last},
	} {
		press(d, check.from, check.key)
		if got := d.popup.lines[d.popup.selected].id; got != check.want {
			t.Errorf("%s after %s goes to %s, want %s", check.key, check.from, got, check.want)
		}
	}
}
