package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vramscope/model"
)

// endings are the processes of a report by their names, with how each ended.
func endings(report model.Report) (ended map[string]string) {
	ended = map[string]string{}
	for _, source := range report.Sources {
		if source.PID > 0 {
			ended[source.Name] = source.Ended
		}
	}
	return ended
}

// TestRecordingSaysHowTheProgramEnded: with the exit code that its probe cannot
// know, and with what it was before it executed another program.
func TestRecordingSaysHowTheProgramEnded(t *testing.T) {
	first := script(t, "first.py", `
import os, sys, torch
kept = torch.empty(1 << 20)
os.read(0, 1)
os.execv(sys.executable, [sys.executable, sys.argv[1]])
`)
	second := script(t, "second.py", `
import os, torch
kept = torch.empty(1 << 20)
os.read(0, 1)
raise SystemExit(9)
`)
	path := filepath.Join(t.TempDir(), "run.vscope")
	command := exec.Command(binary(t), "run", "--record", path, "--", "python3", first, second)
	command.Env = append(testEnvironment(t), standIns(t)...)
	in := feed(t, command)
	for _, name := range []string{"first.py", "second.py"} {
		waitReported(t, path, func(report model.Report) bool {
			return slices.ContainsFunc(report.Sources, func(s model.SourceReport) bool { return s.Name == name && len(s.Sets) > 0 })
		})
		if _, err := in.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 9 {
		t.Errorf("ends with %d", code)
	}
	ended := endings(reportOf(t, path))
	if !strings.Contains(ended["first.py"], "became another program") || ended["second.py"] != "the program ended with exit code 9" {
		t.Errorf("ended %q", ended)
	}
}

// TestRecordingSaysOfAFaultWhatItWas beside the exit code, and of a program that
// a shell stands before, for whose process nobody is told a code.
func TestRecordingSaysOfAFaultWhatItWas(t *testing.T) {
	const hold = "import os, torch\nkept = torch.empty(1 << 20)\nos.read(0, 1)\n"
	for _, c := range []struct {
		name, script string
		argv         []string
		ended        string
	}{
		{"an exception", hold + "raise ValueError('x')\n", nil, "the program ended with exit code 1; the last exception that nothing caught was ValueError"},
		{"an exception at a prompt, which goes on", hold + "1/0\n", []string{"sh", "-c", `exec "$1" -i "$2"`, "sh"}, "the program ended"},
		{"nothing", hold, nil, "the program ended"},
		{"a signal, behind the goodbye", hold + "import atexit, signal\natexit._run_exitfuncs()\nos.kill(os.getpid(), signal.SIGKILL)\n", nil, "the program ended, then it was killed by signal 9 (killed)"},
		{"in a shell", hold + "raise SystemExit(9)\n", []string{"sh", "-c", `"$@"; exit 7`, "sh"}, "the program ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.vscope")
			argv := append([]string{"run", "--record", path, "--"}, append(c.argv, "python3", script(t, "render.py", c.script))...)
			command := exec.Command(binary(t), argv...)
			command.Env = append(testEnvironment(t), standIns(t)...)
			in := feed(t, command)
			waitReported(t, path, func(report model.Report) bool { _, there := endings(report)["render.py"]; return there })
			_ = in.Close()
			_ = command.Wait()
			report := reportOf(t, path)
			if got := endings(report)["render.py"]; got != c.ended {
				t.Errorf("ended %q, want %q", got, c.ended)
			}
			for _, source := range report.Sources {
				if source.Kind == "host" && c.name == "in a shell" && source.Ended != "the recording ended with the program (exit code 7)" {
					t.Errorf("the machine ended: %s", source.Ended)
				}
			}
		})
	}
}
