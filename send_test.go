package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/probe"
)

// TestSendSaysWhatItWaitsFor, for as long as it was told to wait, and how it can be
// told to wait longer.
func TestSendSaysWhatItWaitsFor(t *testing.T) {
	environment := append(testEnvironment(t), standIns(t)...)
	for _, c := range []struct{ name, busy, says string }{
		{"a prompt", "input()", "its main thread waits for input"},
		{"a long call", "import ctypes\nfor line in sys.stdin:\n  if ctypes.CDLL(None).sleep(600) == 0: break", "comes back from a long call"},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := exec.Command("python3", "-c", "import os, sys, torch, vramscope_probe\nvramscope_probe.start()\nprint(os.getpid(), flush=True)\n"+c.busy)
			module := t.TempDir()
			text, _, _ := run(t, "probe")
			if err := os.WriteFile(filepath.Join(module, "vramscope_probe.py"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, variable := range environment {
				if path, isPath := strings.CutPrefix(variable, "PYTHONPATH="); isPath {
					variable = "PYTHONPATH=" + module + ":" + path
				}
				command.Env = append(command.Env, variable)
			}
			in, out := converse(t, command)
			t.Cleanup(func() {
				_ = command.Process.Kill()
				_ = command.Wait()
			})
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if c.busy != "input()" {
				if _, err := in.Write([]byte("work\n")); err != nil {
					t.Fatal(err)
				}
			}
			_, problems, code := runIn(t, environment, "send", "--wait", "1200ms", strings.TrimSpace(line), "record-on")
			if code != exitFailed || !strings.Contains(problems, "waiting up to 1.2s for python -c (process "+strings.TrimSpace(line)+"): ") ||
				!strings.Contains(problems, c.says) || !strings.Contains(problems, "it was waited for 1.2s: give it longer, such as with --wait 4.8s") {
				t.Errorf("ends with %d: %s", code, problems)
			}
		})
	}
	for _, wait := range []string{"0s", "-1s", "11m"} {
		if _, problems, code := runIn(t, environment, "send", "--wait", wait, "demo", "reclaim"); code != exitUsage || !strings.Contains(problems, "--wait") {
			t.Errorf("--wait %s ends with %d: %s", wait, code, problems)
		}
	}
}

// TestSendReplacesNoFile that is there already, and asks the program for nothing.
func TestSendReplacesNoFile(t *testing.T) {
	environment := testEnvironment(t)
	path := filepath.Join(t.TempDir(), "night.vscope")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := startDemo(t, environment, "--speed", "200")
	for _, arguments := range [][]string{
		{"send", strconv.Itoa(pid), "calibration", "--path", path},
		{"record", "--calibration", "-o", path, "--duration", "10ms", strconv.Itoa(pid)},
	} {
		_, problems, code := runIn(t, environment, arguments...)
		text, err := os.ReadFile(path)
		if code != exitFailed || !strings.Contains(problems, "exists already") || err != nil || string(text) != "kept" {
			t.Errorf("%v ends with %d: %s; the file holds %.40q, %v", arguments, code, problems, text, err)
		}
	}
}

// TestSendToAProgramThatHasJustEnded is to nothing, and no question of leave.
func TestSendToAProgramThatHasJustEnded(t *testing.T) {
	socket, end := serveDemo(t, t.TempDir())
	settings := defaultSettings()
	h := newHub(t.Context(), &settings)
	defer h.close()
	source := probe.NewSource(socket)
	h.attach(source, model.SourceInfo{ID: source.ID(), Kind: recorder.KindProcess, Name: "demo render"})
	h.waitUntil(t.Context(), patience, func(_ *hub, snapshot *model.Snapshot) bool {
		return len(snapshot.Sources) > 0 && snapshot.Sources[0].Hello != nil
	})
	id := h.Snapshot().Sources[0].ID
	end()
	if !h.waitUntil(t.Context(), patience, func(h *hub, _ *model.Snapshot) bool { return h.hasEnded(id) }) {
		t.Fatal("its end is not known")
	}
	_, err := h.obey(t.Context(), id, recorder.CommandRecordOff, recorder.CommandArgs{}, hold{wait: commandWait})
	if exitCode(err) != exitNothing || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("ends with %d: %v", exitCode(err), err)
	}
}
