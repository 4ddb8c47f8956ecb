package main

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/local"
	"vramscope/sources/probe"
	"vramscope/ui"
)

// serveDemo runs a demo in this process, with its socket in a directory, until end.
func serveDemo(t *testing.T, directory string) (socket string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- local.Serve(ctx, local.Options{Speed: 100}, local.Surroundings{
			Path: filepath.Join(directory, "demo.sock"), Ready: func(path string) { ready <- path },
		})
	}()
	return <-ready, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestHubLeavesNothingBehind watches a demo that runs in this process, records
// it, sends it a command, and closes: no goroutine is left, and the recording is
// whole.
func TestHubLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	directory := t.TempDir()
	socket, end := serveDemo(t, directory)
	settings := defaultSettings()
	settings.NVML = filepath.Join(directory, "none.so")
	h := newHub(t.Context(), &settings)
	h.watchDevices()
	source := probe.NewSource(socket)
	h.attach(source, model.SourceInfo{ID: source.ID(), Kind: recorder.KindProcess, Name: "demo render"})
	h.Show(ui.Interest{Source: source.ID(), Events: true, Focused: true})
	seen := h.waitUntil(t.Context(), patience, func(_ *hub, snapshot *model.Snapshot) bool {
		return len(snapshot.Sources) > 0 && len(snapshot.Sources[0].Arenas) > 0 && len(snapshot.Sources[0].Sets) > 0
	})
	if !seen {
		t.Fatalf("the demo was not seen: %+v", h.Snapshot())
	}
	view := h.Snapshot().Sources[0]
	path := filepath.Join(directory, "run.vscope")
	h.mutex.Lock()
	err := h.startRecording(path, []string{view.Source}, "")
	h.mutex.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if ack, err := h.obey(t.Context(), view.ID, recorder.CommandForceReclaim, recorder.CommandArgs{}, hold{wait: commandWait}); err != nil || ack.State != recorder.AckDone {
		t.Errorf("force reclaim: %+v, %v", ack, err)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
	end()

	p := &program{settings: defaultSettings()}
	snapshot, id, err := p.load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	report, ok := model.ReportOf(snapshot, id)
	if !ok || report.Status != model.StatusComplete.String() || len(report.Sources) == 0 || len(report.Sources[0].Arenas) == 0 {
		t.Errorf("the recording holds %+v", report)
	}
}
