package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// TestHintsSayWhatWorks: on a recording, on what has ended and on a driver that was
// lost nothing acts and nothing is recorded; what lives can be, and a recording
// that runs is stopped with the key that began it.
func TestHintsSayWhatWorks(t *testing.T) {
	f := trainedFixture(t)
	f.store.SetStatus(pythonSource, model.StatusLive, "")
	f.store.Add(model.SourceInfo{ID: "nvml", Kind: recorder.KindDevice, Name: "NVIDIA driver"})
	f.store.SetStatus("nvml", model.StatusLost, "the driver did not load")
	f.store.Add(model.SourceInfo{ID: "file:a", Name: "a.vscope", File: "a.vscope"})
	hello := pythonHello(pythonSource, 812, 0)
	hello.Ns = f.ns
	f.fold("file:a", &hello)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	check := func(name string, acts, records bool) {
		t.Helper()
		for _, hint := range d.hints() {
			switch hint.Action {
			case keymap.Reclaim, keymap.ForceReclaim, keymap.ResetPeak, keymap.Headroom:
				if hint.Off == acts {
					t.Errorf("%s: %s is marked: %v", name, hint.Label, hint.Off)
				}
			case keymap.Record:
				if hint.Off == records || hint.Label != "record" {
					t.Errorf("%s: %s is marked: %v", name, hint.Label, hint.Off)
				}
			}
		}
	}
	d.choose(pythonSource)
	check("a program", true, true)
	for _, view := range d.snapshot.Sources {
		if view.File != "" {
			d.choose(view.ID)
		}
	}
	check("a recording", false, false)
	d.choose("nvml")
	check("a lost driver", false, false)
	d.choose(pythonSource)
	d.feed.(*fixtureFeed).recording = "/tmp/render.vscope"
	d.drawFrame()
	if bar := textIn(d.grid.All().At(d.layout.Footer)); !strings.Contains(bar, "m stop") || strings.Contains(bar, "m record") {
		t.Errorf("while it records the hints are %q", bar)
	}
	press(d, "m")
	check("a program, after it", true, true)
	f.store.SetStatus(pythonSource, model.StatusEnded, "exit 0")
	d.take(f.snapshot())
	check("a program that has ended", false, false)
}

// TestARecordingCanBeStartedOn80Columns: the hint is there.
func TestARecordingCanBeStartedOn80Columns(t *testing.T) {
	f := trainedFixture(t)
	f.store.SetStatus(pythonSource, model.StatusLive, "")
	d := newScreen(t, f.snapshot(), layout.Overview, 80, 24)
	if bar := textIn(d.grid.All().At(d.layout.Footer)); !strings.Contains(bar, "m record") || !strings.Contains(bar, "q quit") {
		t.Errorf("the hints are %q", bar)
	}
}
