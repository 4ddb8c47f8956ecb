package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// startPython runs a Python program until the test ends, and waits until it
// runs.
func startPython(t *testing.T, environment []string, interpreter, name string) int {
	t.Helper()
	command := exec.Command(interpreter, script(t, name, "import select\nprint('ready', flush=True)\nwhile not select.select([0], [], [], 0.01)[0]: pass\n"))
	command.Env = environment
	in, out := converse(t, command)
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%s said %q, %v", interpreter, line, err)
	}
	return command.Process.Pid
}

// modernPython is a Python that lets the probe in while it runs, "" where none
// is here.
func modernPython() string {
	if path := os.Getenv("VRAMSCOPE_TEST_PYTHON314"); path != "" {
		return path
	}
	path, _ := exec.LookPath("python3.14")
	return path
}

// TestAttachNamesTheObstacle, in one sentence and with the right exit code.
func TestAttachNamesTheObstacle(t *testing.T) {
	environment := testEnvironment(t)
	for _, c := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{nil, exitUsage, "PID"},
		{[]string{"render.py"}, exitUsage, "process number"},
		{[]string{"0"}, exitUsage, "process number"},
		{[]string{"--wait", "0s", "1"}, exitUsage, "--wait"},
		{[]string{"4194303"}, exitNothing, "no process"},
		{[]string{"--readonly", "4194303"}, exitNotPermitted, "--readonly"},
		{[]string{fmt.Sprint(os.Getpid())}, exitFailed, "no Python"},
	} {
		out, problems, code := runIn(t, environment, append([]string{"attach"}, c.arguments...)...)
		if text := strings.TrimSuffix(problems, "\n"); code != c.code || !strings.Contains(text, c.says) || strings.Contains(text, "\n") || out != "" {
			t.Errorf("attach %q ends with %d: %s%s", c.arguments, code, out, problems)
		}
	}
}

// TestDoctorSaysWhoCanBeReached: of each Python process whether the probe can
// enter, and what keeps it out.
func TestDoctorSaysWhoCanBeReached(t *testing.T) {
	environment := testEnvironment(t)
	version, err := exec.Command("python3", "-c", "import sys; print(sys.version_info >= (3, 14))").Output()
	if err != nil {
		t.Fatalf("python3 is missing (%v): install the package python3", err)
	}
	pid := startPython(t, environment, "python3", "render.py")
	out, problems, code := runIn(t, environment, "doctor")
	if code != exitFine {
		t.Fatalf("doctor ends with %d: %s", code, problems)
	}
	line := ""
	lines := strings.Split(out, "\n")
	for i, text := range lines {
		if strings.Contains(text, fmt.Sprintf("process %d, render.py", pid)) {
			line = text + lines[i+1]
		}
	}
	if want := "3.14 and later"; strings.HasPrefix(string(version), "False") && (!strings.HasPrefix(line, "no  Python 3.") || !strings.Contains(line, want)) {
		t.Errorf("doctor says %q of an old Python:\n%s", line, out)
	}
	waiting := startPython(t, append(environment, "VRAMSCOPE_TARGET="+t.TempDir()), "python3", "later.py")
	again, _, _ := runIn(t, environment, "doctor")
	if !strings.Contains(again, fmt.Sprintf("process %d, later.py: started by vramscope run", waiting)) {
		t.Errorf("doctor does not know a program that was started with the probe:\n%s", again)
	}
	if !strings.Contains(out, "vramscope run -- python render.py") {
		t.Errorf("doctor names no way in:\n%s", out)
	}
}

// TestAttachInTheDashboard enters a running program, from a terminal and from a
// script.
func TestAttachInTheDashboard(t *testing.T) {
	interpreter := modernPython()
	if interpreter == "" {
		t.Skip("no python3.14 is in PATH: install it, or set VRAMSCOPE_TEST_PYTHON314 to one, to see a process entered")
	}
	environment := testEnvironment(t)
	pid := startPython(t, environment, interpreter, "render.py")
	if out, _, _ := runIn(t, environment, "doctor"); !strings.Contains(out, fmt.Sprintf("vramscope attach %d", pid)) {
		t.Errorf("doctor does not offer process %d:\n%s", pid, out)
	}
	dashboard := startTerminal(t, 120, 32, []string{socketsOf(environment)}, "attach", fmt.Sprint(pid))
	dashboard.waitForText("render.py "+fmt.Sprint(pid), "live")
	dashboard.send("q")
	if code := dashboard.waitForExit(); code != exitFine {
		t.Errorf("q ends with %d", code)
	}
	out, problems, code := runIn(t, environment, "attach", fmt.Sprint(pid))
	if code != exitFine || !strings.Contains(out, "already") {
		t.Errorf("attach ends with %d: %s%s", code, out, problems)
	}
}
