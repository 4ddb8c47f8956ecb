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
	"vramscope/sources/probe/attach"
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
	fork := start(fmt.Sprintf("import mmap, os, torch\nmapped = mmap.mmap(os.open(%q, os.O_RDWR), 0)\n", torchStandIn(t)) +
		"if os.fork() == 0: print(os.getpid(), flush=True)\nos.read(0, 1)\n")
	other := start("import os, torch, vramscope_probe\nvramscope_probe.start()\nprint(os.getpid(), flush=True)\nos.read(0, 1)\n", probe.DirectoryVariable+"="+elsewhere)
	idle := start("import os\nprint(os.getpid(), flush=True)\nos.read(0, 1)\n")
	out, problems, _ := runIn(t, environment, "doctor")
	for pid, says := range map[int]string{
		fork:  "a fork that only inherits torch opens no socket: the probe starts once it holds memory of its own on a device, registers an arena or calls poll()",
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

// torchStandIn is the path of a file that is taken for a compiled part of torch by a
// process that has it mapped.
func torchStandIn(t *testing.T) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "torch", "libtorch.so")
	if err := errors.Join(os.Mkdir(filepath.Dir(library), 0o700), os.WriteFile(library, make([]byte, 4096), 0o600)); err != nil {
		t.Fatal(err)
	}
	return library
}

// TestDoctorOnWhatKeepsTheProbeOut of a Python of a run, wherever in the command
// that is: an option, or an environment that is not the run's.
func TestDoctorOnWhatKeepsTheProbeOut(t *testing.T) {
	environment := append(testEnvironment(t), standIns(t)...)
	const program = `-c "import os; print(os.getpid(), flush=True); os.read(0, 1)"`
	says := map[int]string{}
	for _, c := range []struct{ command, says string }{
		{"python3 -I " + program, "python3 -I leaves PYTHONPATH aside: leave -I out"},
		{"python3 -u -S " + program + "; true", "python3 -S runs no sitecustomize"},
		{"PYTHONPATH=/mine python3 " + program + "; true", "the command set PYTHONPATH anew (/mine)"},
		{`exec env -i "$(command -v python3)" ` + program, "was not passed on, as with env -i"},
		{"python3 " + program + "; true", "the probe starts with the first GPU library"},
	} {
		command := exec.Command(binary(t), "run", "--", "sh", "-c", c.command)
		command.Env = environment
		in, out := converse(t, command)
		t.Cleanup(func() {
			_ = in.Close()
			_ = command.Wait()
		})
		pid := 0
		if _, err := fmt.Fscan(out, &pid); err != nil {
			t.Fatal(err)
		}
		says[pid] = c.says
	}
	out, problems, _ := runIn(t, environment, "doctor")
	for pid, says := range says {
		_, text, found := strings.Cut(out, fmt.Sprintf("process %d, ", pid))
		lines := strings.SplitN(text, "\n", 3)
		if !found || !strings.Contains(lines[0], "started by vramscope run") || len(lines) < 2 || !strings.Contains(lines[1], says) {
			t.Errorf("of process %d is said %q, want %q: %s", pid, lines, says, problems)
		}
	}
}

// TestDoctorBeginsWithRuns: their processes are not cut off by many others.
func TestDoctorBeginsWithRuns(t *testing.T) {
	var pids []int
	for _, process := range firstThose([]*attach.Process{{PID: 3}, {PID: 5}, {PID: 8}, {PID: 9}}, func(p *attach.Process) bool { return p.PID == 5 || p.PID == 9 }) {
		pids = append(pids, process.PID)
	}
	if !slices.Equal(pids, []int{5, 9, 3, 8}) {
		t.Errorf("the order is %v", pids)
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
