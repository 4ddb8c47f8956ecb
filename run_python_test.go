package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/recorder/open"
	"vramscope/sources/probe"
)

// standIns is what lets a Python program load libraries that behave like torch
// and its driver, without a GPU.
func standIns(t *testing.T) []string {
	t.Helper()
	modules, err := filepath.Abs("sources/probe/python/testdata/standins")
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(t.TempDir(), "libcuda.so.1")
	if text, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, filepath.Join(modules, "driver", "libcuda.c")).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v: %s", err, text)
	}
	return []string{"PYTHONPATH=" + modules, "PYTHONDONTWRITEBYTECODE=1", "FAKE_LIBCUDA=" + library}
}

// script writes a Python program.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// holding holds 1 GiB of torch's and caches another until its input ends.
const holding = `
import select, sys, torch
kept, cached = torch.empty(1 << 30), torch.empty(1 << 30)
del cached
print("rendering", flush=True)
while not select.select([0], [], [], 0.01)[0]: pass
`

// socketsOf is the variable that two programs of one test share.
func socketsOf(environment []string) string {
	for _, variable := range environment {
		if strings.HasPrefix(variable, probe.DirectoryVariable+"=") {
			return variable
		}
	}
	return ""
}

// waitForSocket waits until a program offers itself to be watched.
func waitForSocket(t *testing.T, environment []string) {
	t.Helper()
	_, directory, _ := strings.Cut(socketsOf(environment), "=")
	for deadline := time.Now().Add(patience); ; {
		if entries, err := os.ReadDir(directory); err == nil && len(entries) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no probe came")
		}
		<-time.After(5 * time.Millisecond)
	}
}

// TestRunInTheDashboard starts a program in one terminal, watches it in another
// and acts on it, and finds it again when it is started anew.
func TestRunInTheDashboard(t *testing.T) {
	environment := append(testEnvironment(t), standIns(t)...)
	render := script(t, "render.py", holding)
	shared := environment[len(environment)-3:]
	shared = append(shared, socketsOf(environment))

	program := startTerminal(t, 80, 24, shared, "run", "--", "python3", render)
	program.waitForText("rendering")
	waitForSocket(t, environment)
	dashboard := startTerminal(t, 120, 32, shared)
	dashboard.waitForText("render.py", "live", "torch", "1.0 GiB")

	out, problems, code := runIn(t, environment, "send", "--json", "render.py", "force-reclaim", "--yes")
	type sets []struct {
		Of       string           `json:"of"`
		Counters map[string]int64 `json:"counters"`
	}
	var ack struct {
		Name, Command, State string
		Took                 int64 `json:"took_ns"`
		Before               sets  `json:"counter_sets_before"`
		After                sets  `json:"counter_sets_after"`
	}
	if err := json.Unmarshal([]byte(out), &ack); err != nil || code != exitFine || ack.State != recorder.AckDone || ack.Name != "render.py" || ack.Command != "force-reclaim" || ack.Took <= 0 {
		t.Errorf("send ends with %d, %v: %s%s", code, err, out, problems)
	}
	reserved := func(sets sets) int64 {
		for _, set := range sets {
			if set.Of == recorder.OfPool {
				return set.Counters["reserved"]
			}
		}
		return -1
	}
	if before, after := reserved(ack.Before), reserved(ack.After); before != 2<<30 || after != 1<<30 {
		t.Errorf("reserved %d → %d bytes, want 2 GiB → 1 GiB: %s", before, after, out)
	}
	path := filepath.Join(t.TempDir(), "live.vscope")
	if _, problems, code := runIn(t, environment, "record", "-o", path, "--duration", "1s", "render.py"); code != exitFine {
		t.Errorf("record ends with %d: %s", code, problems)
	}
	if report := reportOf(t, path); !contains(report, "render.py") {
		t.Errorf("the recording holds %+v", report.Sources)
	}

	program.send(ctrlC)
	if code := program.waitForExit(); code != exitInterrupted {
		t.Errorf("^C ends the program with %d", code)
	}
	if screen := program.screen(); strings.Count(screen, "KeyboardInterrupt") != 1 || strings.Contains(screen, "vramscope:") {
		t.Errorf("the program's terminal:\n%s", screen)
	}
	again := startTerminal(t, 80, 24, shared, "run", "--", "python3", render)
	again.waitForText("rendering")
	dashboard.send("c")
	dashboard.waitFor("the program, twice", func(screen string) bool {
		return regexp.MustCompile(`(?s)render\.py.*render\.py`).MatchString(screen) && strings.Contains(screen, "live")
	})
	again.send("\x04") // ^D ends its input
	if code := again.waitForExit(); code != exitFine {
		t.Errorf("the program ends with %d: %s", code, again.screen())
	}
}

func contains(report model.Report, name string) bool {
	for _, source := range report.Sources {
		if source.Name == name {
			return true
		}
	}
	return false
}

// TestDashboardAwaitsAProgram: one that was started with the probe and has
// loaded no GPU library yet is named, in place of a demo, and is seen as soon as
// it has.
func TestDashboardAwaitsAProgram(t *testing.T) {
	environment := append(testEnvironment(t), standIns(t)...)
	shared := append(environment[len(environment)-3:], socketsOf(environment))
	program := startTerminal(t, 80, 24, shared, "run", "--", "python3", script(t, "render.py", "print('loading', flush=True)\ninput()"+holding))
	program.waitForText("loading")
	dashboard := startTerminal(t, 120, 32, shared)
	screen := dashboard.waitForText("render.py", "started by vramscope run")
	if strings.Contains(screen, "demo") {
		t.Errorf("a demo began:\n%s", screen)
	}
	program.send("\r")
	program.waitForText("rendering")
	dashboard.waitForText("torch", "1.0 GiB", "live")
	program.send("\r")
	if code := program.waitForExit(); code != exitFine {
		t.Errorf("the program ends with %d: %s", code, program.screen())
	}
}

// TestRunRecordsAFailure: the program runs out of memory in the night and is
// killed. Its last samples, the failure and torch's snapshot are there.
func TestRunRecordsAFailure(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "night.vscope.zst")
	render := script(t, "render.py", `
import os, signal, time, torch
kept = torch.empty(1 << 30)
while not torch._C.observers: time.sleep(0.01)
try:
    torch.empty(1 << 40)
except torch.OutOfMemoryError:
    print("out of memory", flush=True)
input()
os.kill(os.getpid(), signal.SIGKILL)
`)
	command := exec.Command(binary(t), "run", "--record", path, "--torch-history", "1000", "--hide-argv", "--rate", "5", "--", "python3", render, "--secret")
	command.Env = append(testEnvironment(t), standIns(t)...)
	var problems strings.Builder
	command.Stderr = &problems
	in, out := converse(t, command)
	if line, err := out.ReadString('\n'); err != nil || line != "out of memory\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	waitReported(t, path, func(report model.Report) bool { return len(report.Sources) > 0 && len(report.Sources[0].OOMs) > 0 })
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 137 {
		t.Errorf("ends with %d: %s", code, problems.String())
	}
	snapshot := filepath.Join(directory, "night.oom-1.pickle")
	lines := strings.Split(strings.TrimSpace(problems.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "stacks") || !strings.HasSuffix(lines[1], "vramscope "+path) || !strings.HasSuffix(lines[2], "vramscope "+snapshot) {
		t.Errorf("said:\n%s", problems.String())
	}
	render0 := reportOf(t, path).Sources[0]
	if render0.Name != "render.py" || !strings.Contains(render0.Ended, "signal 9") || len(render0.OOMs) != 1 || !strings.Contains(render0.OOMs[0].Outcome, snapshot) {
		t.Errorf("the recording holds %+v", render0)
	}
	if text, _, code := run(t, "report", snapshot); code != exitFine || !strings.Contains(text, "PyTorch memory snapshot") {
		t.Errorf("the snapshot: %s", text)
	}
	for _, hello := range hellos(t, path) {
		if hello.Kind == recorder.KindProcess && (len(hello.Argv) > 0 || hello.Hz != 5) {
			t.Errorf("hello tells %q and %g samples a second", hello.Argv, hello.Hz)
		}
	}
}

func hellos(t *testing.T, path string) (found []*recorder.Hello) {
	t.Helper()
	opened, err := open.Open(path, open.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Recording.Close()
	for {
		record, err := opened.Recording.Next()
		if err != nil {
			return found
		}
		if hello, ok := record.(*recorder.Hello); ok {
			found = append(found, hello)
		}
	}
}

// TestRunRecordsEveryRank: several processes of one job, started by a program
// that is no Python, are in one file with their places in the job. A process
// that loads no GPU library is not among them.
func TestRunRecordsEveryRank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.vscope")
	render, other := script(t, "train.py", holding), script(t, "other.py", "print('other'); input()")
	launcher := `
exec 3<&0
for rank in 0 1 2; do
    RANK=$rank WORLD_SIZE=3 TORCHELASTIC_RUN_ID=night python3 "$0" <&3 &
done
python3 "$1" <&3 &
wait
exit 9
`
	command := exec.Command(binary(t), "run", "--record", path, "--", "sh", "-c", launcher, render, other)
	command.Env = append(testEnvironment(t), standIns(t)...)
	var problems strings.Builder
	command.Stderr = &problems
	in := feed(t, command)
	ranks := func(report model.Report) (found map[int]bool) {
		found = map[int]bool{}
		for _, source := range report.Sources {
			if source.Rank != nil && source.Job == "night" && source.Name == "train.py" && len(source.Sets) > 0 {
				found[*source.Rank] = true
			}
		}
		return found
	}
	waitReported(t, path, func(report model.Report) bool { return len(ranks(report)) == 3 })
	_ = in.Close()
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 9 {
		t.Errorf("ends with %d: %s", code, problems.String())
	}
	report := reportOf(t, path)
	if len(ranks(report)) != 3 || contains(report, "other.py") {
		t.Errorf("the recording holds %+v", report.Sources)
	}
	for _, source := range report.Sources {
		if source.Rank != nil && source.Ended != "the program ended" {
			t.Errorf("rank %d ended: %s", *source.Rank, source.Ended)
		}
	}
	if text, _, _ := run(t, "report", path); !regexp.MustCompile(`process train.py \d+, rank 2 of night`).MatchString(text) {
		t.Errorf("the report:\n%s", text)
	}
}
