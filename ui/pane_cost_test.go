package ui

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/model/costs"
	"vramscope/recorder"
	"vramscope/recorder/algan"
	"vramscope/ui/layout"
)

// costSnapshot is a snapshot with a calibration file.
func costSnapshot(t testing.TB) *model.Snapshot {
	t.Helper()
	content, err := os.ReadFile("../recorder/algan/testdata/mem_usage.py")
	if err != nil {
		t.Fatal(err)
	}
	read, err := algan.ReadModule(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return snapshotOfCosts(read)
}

func snapshotOfCosts(read *recorder.Costs) *model.Snapshot {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "file:a", Kind: model.KindCosts, Name: "algan/mem_usage.py", File: "a"})
	store.SetCosts("file:a", costs.New(read))
	store.SetStatus("file:a", model.StatusComplete, "")
	return store.Snapshot(1, fixtureWall)
}

func TestCalibrationScreens(t *testing.T) {
	for _, view := range []layout.View{layout.Overview, layout.Arena, layout.Scopes, layout.Timeline} {
		t.Run(view.String(), func(t *testing.T) { goldenView(t, costSnapshot(t), view, "costs-"+strings.ToLower(view.String())) })
	}
	t.Run("for 8 frames", func(t *testing.T) {
		goldenView(t, costSnapshot(t), layout.Scopes, "costs-scopes-8", "+", "+", "+", "+", "+", "+", "+", "s", "n", "end")
	})
}

// TestFramesAreTurned goes from one number of frames to another by keys and by
// command: the worked example's peak is 272 bytes for each frame.
func TestFramesAreTurned(t *testing.T) {
	d := newScreen(t, costSnapshot(t), layout.Scopes, 140, 40)
	press(d, "/")
	typeIn(d, "glow")
	for _, step := range []struct{ key, want string }{
		{"+", "544 B"}, {"=", "816 B"}, {"-", "544 B"}, {"-", "272 B"}, {"-", "272 B"},
	} {
		press(d, step.key)
		if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, step.want) {
			t.Errorf("after %s the scopes are\n%s", step.key, text)
		}
	}
	press(d, ":")
	typeIn(d, "frames 64")
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "17.0 KiB") || !strings.Contains(headerText(d), "replayed for 64 frames") {
		t.Errorf("for 64 frames:\n%s\n%s", headerText(d), text)
	}
	for _, wrong := range []string{"frames 0", "frames many", "frames 1,2", "driver pool", "driver =5"} {
		press(d, ":")
		typeIn(d, wrong)
		if !strings.Contains(d.message.text, "write ") || d.choices.cost.question.Frames != 64 {
			t.Errorf("%q is answered by %q", wrong, d.message.text)
		}
	}
}

// TestDriversAreGiven: a scope that grows with drivers says which it needs, and
// then its peak.
func TestDriversAreGiven(t *testing.T) {
	d := newScreen(t, costSnapshot(t), layout.Scopes, 140, 40)
	press(d, "/")
	typeIn(d, "wavefront.*sparse")
	press(d, "home")
	if text := paneText(t, d, layout.ScopesPane) + paneText(t, d, layout.ScopePane); !strings.Contains(text, "needs pool") || !strings.Contains(text, ":driver pool=N, :driver primary=N") {
		t.Errorf("without drivers:\n%s", text)
	}
	for _, command := range []string{"driver pool=65536", "driver primary=1000"} {
		press(d, ":")
		typeIn(d, command)
	}
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "peak 6.3 MiB") || !strings.Contains(text, "100 × pool + 28 × primary + 24 + 3 for alignment") {
		t.Errorf("with drivers:\n%s", text)
	}
}

// TestReplayedEvents lists the events of the selected scope with a running
// pointer, which the file does not hold.
func TestReplayedEvents(t *testing.T) {
	d := newScreen(t, costSnapshot(t), layout.Scopes, 140, 40)
	press(d, "/")
	typeIn(d, "glow")
	press(d, "home", "+", "3", "x")
	text := bodyText(d)
	for _, want := range []string{"Events of postprocess for 2 frames", "replayed, peak 544 B: x goes there", "alloc", "64 n", "512 B", "544 B", "temp ends"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	press(d, "enter")
	if d.popup == nil || !strings.Contains(d.popup.title, "Event 2 of postprocess") {
		t.Errorf("enter shows %+v", d.popup)
	}
}

// TestCalibrationKeysThatDoNothing: nothing obeys and nothing can be recorded or
// remembered, and each key says so.
func TestCalibrationKeysThatDoNothing(t *testing.T) {
	d := newScreen(t, costSnapshot(t), layout.Scopes, 140, 40)
	for _, name := range []string{"r", "R", "B", "P", "H", "m", "d", "x", "o", "f"} {
		d.message = message{}
		press(d, name)
		if d.message.text == "" || d.question != nil || d.baseline != nil {
			t.Errorf("%s says %q", name, d.message.text)
		}
	}
	for _, hint := range d.hints() {
		if hint.Label == "reclaim" || hint.Label == "record" || hint.Label == "pause" {
			t.Errorf("the hint %q is of no use here", hint.Label)
		}
	}
}

// TestHostileCalibrationNames draws every view at every size of a file whose
// names are made to break a terminal, before and after keys.
func TestHostileCalibrationNames(t *testing.T) {
	const evil = "\x1b]0;x\x07\u202e\n\u009b2J名"
	read := costSnapshot(t).Sources[0].Costs.Costs
	hostile := *read
	hostile.Version, hostile.Fingerprint, hostile.Corpus, hostile.Extras = evil, evil, []string{evil}, []string{evil}
	hostile.Scopes = append([]recorder.ScopeCost{{Name: evil, Route: []recorder.DumpSetting{{Key: evil, Value: evil}}, Units: &recorder.UnitCost{Drivers: []recorder.UnitDriver{{Name: evil, Bytes: 1 << 62}}}}}, read.Scopes...)
	hostile.Ratios = []recorder.RatioCost{{Name: evil}}
	for _, size := range [][2]int{{1, 1}, {20, 5}, {40, 10}, {80, 24}, {160, 50}} {
		for view := range layout.ViewCount {
			d := newScreen(t, snapshotOfCosts(&hostile), layout.View(view), size[0], size[1])
			press(d, "home", "+", "tab", "end", "z")
			for _, r := range d.grid.Plain() {
				if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
					t.Fatalf("%q on the screen at %v in %v", r, size, layout.View(view))
				}
			}
		}
	}
}

// TestUnreadCalibration says that the file is not read, or why it cannot be.
func TestUnreadCalibration(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "file:a", Kind: model.KindCosts, Name: "a.py", File: "a.py"})
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Scopes, 100, 30)
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "not read yet") {
		t.Error(text)
	}
	press(d, "down", "x", "enter", "i", "esc", "y", "1", "3", "5")
	store.SetStatus("file:a", model.StatusFailed, "line 1 holds a call")
	d.show(store.Snapshot(2, fixtureWall))
	press(d, "4")
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "line 1 holds a call") {
		t.Error(text)
	}
}

func BenchmarkCalibrationScreen(b *testing.B) {
	d := newScreen(b, costSnapshot(b), layout.Scopes, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		d.drawFrame()
	}
}
