package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNothingToCalibrate: where no job began meanwhile that is said, no file is
// left, and the program is not left recording.
func TestNothingToCalibrate(t *testing.T) {
	environment := testEnvironment(t)
	startDemo(t, environment, "--speed", "1")
	path := filepath.Join(t.TempDir(), "arenas.vscope")
	problems, code := "", exitFine
	for tries := 0; code == exitFine && tries < 5; tries++ { // a job may begin just then
		_ = os.Remove(path)
		_, problems, code = runIn(t, environment, "record", "--calibration", "-o", path, "--duration", "50ms", "demo")
	}
	if code != exitFailed || !strings.Contains(problems, "no job has begun after recording was armed") {
		t.Errorf("ends with %d: %s", code, problems)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("a file was left behind")
	}
	if out, problems, code := runIn(t, environment, "send", "demo", "calibration", "--path", path); code != exitFailed || !strings.Contains(out+problems, "recording is not armed") {
		t.Errorf("afterwards calibration ends with %d: %s%s", code, out, problems)
	}
}

// TestAProgramThatEndsUncalibrated: what it had recorded is gone, which is said
// with what to do, at once.
func TestAProgramThatEndsUncalibrated(t *testing.T) {
	environment := testEnvironment(t)
	pid := startDemo(t, environment)
	path := filepath.Join(t.TempDir(), "arenas.vscope")
	command := exec.Command(binary(t), "record", "--calibration", "-o", path, "demo")
	command.Env = environment
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	if !lines.Scan() || !strings.Contains(lines.Text(), "are recorded from now on") {
		t.Fatalf("it says %q", lines.Text())
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text := ""
	for lines.Scan() {
		text += lines.Text() + "\n"
	}
	_ = command.Wait()
	for _, want := range []string{"has ended and took what it had recorded with it", "nothing was written to " + path, "save_calibration"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q: %s", want, text)
		}
	}
	if code := command.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("it ends with %d", code)
	}
}

// TestCalibrateLeavesRecordingOn: what another has armed goes on being recorded.
func TestCalibrateLeavesRecordingOn(t *testing.T) {
	environment := testEnvironment(t)
	startDemo(t, environment, "--speed", "1")
	if out, problems, code := runIn(t, environment, "send", "demo", "record-on"); code != exitFine {
		t.Fatalf("record-on ends with %d: %s%s", code, out, problems)
	}
	directory := t.TempDir()
	// Whether a job begins meanwhile does not matter here.
	_, _, _ = runIn(t, environment, "record", "--calibration", "-o", filepath.Join(directory, "first.vscope"), "--duration", "50ms", "demo")
	out, problems, _ := runIn(t, environment, "send", "demo", "calibration", "--path", filepath.Join(directory, "second.vscope"))
	if strings.Contains(out+problems, "not armed") || out+problems == "" {
		t.Errorf("afterwards recording is off: %s%s", out, problems)
	}
}
