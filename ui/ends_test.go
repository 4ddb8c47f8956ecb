package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestAnEndIsSeenOverAnOldResult: the program that is looked at was killed.
func TestAnEndIsSeenOverAnOldResult(t *testing.T) {
	f := unwatchedGPU(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	f.say(&recorder.Ack{ID: "9a", Name: recorder.CommandResetPeak, State: recorder.AckDone, Took: 5e6})
	d.take(f.snapshot())
	f.store.SetStatus("pid:900-5", model.StatusEnded, "ended without a goodbye")
	d.take(f.snapshot())
	if !strings.Contains(d.message.text, "reset peak floor") {
		t.Errorf("the end of another program wipes the result off: %q", d.message.text)
	}
	f.store.SetStatus(pythonSource, model.StatusEnded, "ended without a goodbye")
	d.take(f.snapshot())
	if want := "train.py 812 rank 3: ended without a goodbye"; d.message.text != want {
		t.Errorf("it says %q, want %q", d.message.text, want)
	}
}

// TestOriginsOfAProcess: i says where its numbers come from.
func TestOriginsOfAProcess(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Devices, 120, 32)
	press(d, "i")
	if d.popup == nil {
		t.Fatalf("i says %q", d.message.text)
	}
	for _, want := range []string{"by the driver", "nvmlDeviceGetComputeRunningProcesses", "unaccounted"} {
		if !strings.Contains(popupText(d), want) {
			t.Errorf("it lacks %q:\n%s", want, popupText(d))
		}
	}
}
