package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/probe"
)

// TestDoctorOnForksAndOtherPlaces: what a fork has inherited opens no socket, and
// one that is elsewhere is not said to be waited for.
func TestDoctorOnForksAndOtherPlaces(t *testing.T) {
	environment := append(testEnvironment(t), standIns(t)...)
	elsewhere := filepath.Join(t.TempDir(), "s")
	start := func(text string, variables ...string) (child int) {
		t.Helper()
		command := exec.Command(binary(t), "run", "--", "python3", "-c", text)
		command.Env = append(slices.Clone(environment), variables...)
		in, out := converse(t, command)
		t.Cleanup(func() {
			_ = in.Close()
			_ = command.Wait()
		})
		if _, err := fmt.Fscan(out, &child); err != nil {
			t.Fatal(err)
		}
		return child
	}
	library := filepath.Join(t.TempDir(), "torch", "libtorch.so")
	if err := errors.Join(os.Mkdir(filepath.Dir(library), 0o700), os.WriteFile(library, make([]byte, 4096), 0o600)); err != nil {
		t.Fatal(err)
	}
	fork := start(fmt.Sprintf("import mmap, os, torch\nmapped = mmap.mmap(os.open(%q, os.O_RDWR), 0)\n", library) +
		"if os.fork() == 0: print(os.getpid(), flush=True)\nos.read(0, 1)\n")
	other := start("import os, torch, vramscope_probe\nvramscope_probe.start()\nprint(os.getpid(), flush=True)\nos.read(0, 1)\n", probe.DirectoryVariable+"="+elsewhere)
	idle := start("import os\nprint(os.getpid(), flush=True)\nos.read(0, 1)\n")
	out, problems, _ := runIn(t, environment, "doctor")
	for pid, says := range map[int]string{
		fork:  "a fork that only inherits torch opens no socket",
		other: "its socket is in " + elsewhere,
		idle:  "the probe starts with the first GPU library",
	} {
		_, line, found := strings.Cut(out, fmt.Sprintf("process %d, ", pid))
		lines := strings.SplitN(line, "\n", 3)
		if !found || !strings.Contains(strings.Join(lines[:min(2, len(lines))], "\n"), says) {
			t.Errorf("of process %d is said %q, want %q: %s", pid, lines, says, problems)
		}
	}
}

// TestDiagnosisOfAnIdleProgram: one that is there and holds nothing yet is well,
// and it is said why it tells no numbers.
func TestDiagnosisOfAnIdleProgram(t *testing.T) {
	idle := &model.SourceView{Kind: recorder.KindProcess, Status: model.StatusLive}
	if good, how := diagnosis(idle); !good || how == "" {
		t.Errorf("%v, %q", good, how)
	}
	telling := &model.SourceView{Kind: recorder.KindProcess, Status: model.StatusLive, Sets: make([]recorder.CounterSet, 1)}
	if good, how := diagnosis(telling); !good || how != "" {
		t.Errorf("%v, %q", good, how)
	}
	for _, status := range []model.Status{model.StatusLive, model.StatusEnded} {
		if good, how := diagnosis(&model.SourceView{Kind: recorder.KindDevice, Status: status}); good || how == "" {
			t.Errorf("a device without numbers, %v: %v, %q", status, good, how)
		}
	}
}
