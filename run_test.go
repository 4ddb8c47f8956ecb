package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/probe"
)

// TestRunEndsAsItsProgram: the program's own exit code and output, vramscope's
// own failures apart from it, and nothing left behind.
func TestRunEndsAsItsProgram(t *testing.T) {
	directory := t.TempDir()
	plain := filepath.Join(directory, "notes")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		arguments []string
		code      int
		out, says string
	}{
		{"fine", []string{"--", "sh", "-c", "echo picture"}, 0, "picture\n", ""},
		{"without dashes", []string{"sh", "-c", "echo picture"}, 0, "picture\n", ""},
		{"its own flags", []string{"echo", "--record", "x", "--help"}, 0, "--record x --help\n", ""},
		{"nothing to watch is its own 3", []string{"--", "sh", "-c", "exit 3"}, 3, "", ""},
		{"interrupted", []string{"--", "sh", "-c", "kill -INT $$"}, 130, "", ""},
		{"killed", []string{"--", "sh", "-c", "kill -KILL $$"}, 137, "", ""},
		{"terminated", []string{"--", "sh", "-c", "kill -TERM $$"}, 143, "", ""},
		{"not found", []string{"--", "no-such-render"}, 127, "", "not found"},
		{"not executable", []string{"--", plain}, 126, "", "executable"},
		{"no command", nil, 125, "", "python render.py"},
		{"wrong flag", []string{"--frobnicate", "--", "true"}, 125, "", "frobnicate"},
		{"too fast", []string{"--rate", "1000", "--", "true"}, 125, "", "1 to 10"},
		{"not a rate", []string{"--rate", "NaN", "--", "true"}, 125, "", "1 to 10"},
		{"negative history", []string{"--torch-history", "-1", "--", "true"}, 125, "", "--torch-history"},
		{"no number", []string{"--torch-history", "x", "--", "true"}, 125, "", `--torch-history "x": write a whole number`},
		{"no rate", []string{"--rate", "0", "--", "true"}, 125, "", "1 to 10"},
		{"a recording without a name", []string{"--record", "", "--", "echo", "started"}, 125, "", "--record names no file"},
		{"over a file", []string{"--record", plain, "--", "echo", "started"}, 125, "", "exist"},
		{"bad setting", []string{"--color", "pink", "--", "echo", "started"}, 125, "", "pink"},
		{"history has a price", []string{"--torch-history", "1000", "--", "true"}, 0, "", "longer"},
		{"history is a device's", []string{"--torch-history", "1000", "--", "true"}, 0, "", "where torch has a device"},
		{"quiet", []string{"--quiet", "--torch-history", "1000", "--", "python3", "-I", "-c", ""}, 0, "", ""},
		{"isolated", []string{"--", "python3", "-Ic", "print('picture')"}, 0, "picture\n", "-I leaves PYTHONPATH aside"},
		{"without sitecustomize", []string{"--", "python3", "-S", "-c", "print('picture')"}, 0, "picture\n", "-S runs no sitecustomize"},
	} {
		t.Run(c.name, func(t *testing.T) {
			temporary := t.TempDir()
			environment := append(testEnvironment(t), "TMPDIR="+temporary)
			out, problems, code := runIn(t, environment, append([]string{"run"}, c.arguments...)...)
			if code != c.code || out != c.out {
				t.Errorf("ends with %d and %q, want %d and %q: %s", code, out, c.code, c.out, problems)
			}
			text := strings.TrimSuffix(problems, "\n")
			if !strings.Contains(text, c.says) || (text == "") != (c.says == "") || strings.Contains(text, "\n") {
				t.Errorf("says %q, want one sentence with %q", problems, c.says)
			}
			if left, _ := os.ReadDir(temporary); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// reportOf reads a recording back.
func reportOf(t *testing.T, path string) model.Report {
	t.Helper()
	out, problems, code := run(t, "report", "--json", path)
	var report model.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitFine || report.Status != "complete" || len(report.Sources) == 0 {
		t.Fatalf("report ends with %d, %v: %s%s", code, err, out, problems)
	}
	return report
}

// TestRunRecords: the recording holds the program first, then the machine, and
// how it ended, also when nothing could be said.
func TestRunRecords(t *testing.T) {
	for _, c := range []struct {
		name, script string
		code         int
		ended        string
	}{
		{"to its end", `exec "$0" demo --headless --frames 5`, 0, "all frames are rendered"},
		{"killed", `"$0" demo --headless --frames 5 --speed 1000 --memory 64MiB >&2; exec "$0" demo --headless`, 137, "killed by signal 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.vscope.zst")
			command := exec.Command(binary(t), "run", "--record", path, "--", "sh", "-c", c.script, binary(t))
			command.Env = testEnvironment(t)
			var problems strings.Builder
			command.Stderr = &problems
			out, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			demo := demoProcess(t, out)
			if c.code == 137 {
				waitRecorded(t, path, demo)
				if err := syscall.Kill(demo, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			_ = command.Wait()
			if code := command.ProcessState.ExitCode(); code != c.code || !strings.Contains(problems.String(), "recorded: vramscope "+path) {
				t.Errorf("ends with %d: %s", code, problems.String())
			}
			report := reportOf(t, path)
			ended := ""
			for _, source := range report.Sources {
				if source.PID == demo {
					ended = source.Ended
				}
				if source.Kind == "host" && !strings.Contains(source.Ended, "with the program") {
					t.Errorf("the machine ended: %s", source.Ended)
				}
			}
			if report.Sources[0].Name != "demo render" || !strings.Contains(ended, c.ended) {
				t.Errorf("begins with %s, which ended %q", report.Sources[0].Name, ended)
			}
		})
	}
}

// TestRunRecordsWhatTheDiskTakes: a full disk ends the recording, says so once
// and leaves the program alone.
func TestRunRecordsWhatTheDiskTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.vscope")
	command := exec.Command(binary(t), "run", "--record", path, "--", binary(t), "demo", "--headless")
	command.Env = testEnvironment(t)
	var problems strings.Builder
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	demo := demoProcess(t, out)
	t.Cleanup(func() {
		if command.ProcessState == nil {
			_ = syscall.Kill(demo, syscall.SIGKILL)
			_ = command.Wait()
		}
	})
	waitRecorded(t, path, demo)
	// From now on no file of the parent's grows, those of the program do.
	none := unix.Rlimit{Cur: 1, Max: 1}
	if err := unix.Prlimit(command.Process.Pid, unix.RLIMIT_FSIZE, &none, nil); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(t, path)
	waitFrames(t, command.Env, demo, 20) // two seconds; the file is written each second
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != exitFine {
		t.Errorf("the program ended with %d", code)
	}
	if text := problems.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "broke off") || !strings.Contains(text, path) {
		t.Errorf("says %q", text)
	}
	if after := sizeOf(t, path); after != before {
		t.Errorf("the file grew from %d to %d bytes", before, after)
	}
	text, _, _ := run(t, "report", path)
	if !strings.Contains(text, "process demo render") || !strings.Contains(text, "not finished") || strings.Contains(text, "complete") {
		t.Errorf("what fitted holds:\n%s", text)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// demoProcess reads which process a demo render says it is.
func demoProcess(t *testing.T, out io.Reader) int {
	t.Helper()
	line := make([]byte, 256)
	n, err := out.Read(line)
	said := regexp.MustCompile(`process (\d+)`).FindSubmatch(line[:n])
	if err != nil || said == nil {
		t.Fatalf("the program said %q, %v", line[:n], err)
	}
	pid, err := strconv.Atoi(string(said[1]))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// waitFrames waits until a demo render has begun so many frames from now on.
func waitFrames(t *testing.T, environment []string, pid, count int) {
	t.Helper()
	start, err := probe.StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	directory := ""
	for _, variable := range environment {
		if value, ok := strings.CutPrefix(variable, probe.DirectoryVariable+"="); ok {
			directory = value
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	now := recorder.MonotonicClock()()
	err = probe.NewSource(filepath.Join(directory, probe.Name{PID: pid, Start: start}.String())).Run(ctx, func(record recorder.Record) {
		if frame, ok := record.(*recorder.Frame); ok && frame.Ns > now {
			if count--; count == 0 {
				cancel()
			}
		}
	})
	if err != nil || count > 0 {
		t.Fatalf("%d frames did not begin: %v", count, err)
	}
}

// waitRecorded waits until the file holds something of a process.
func waitRecorded(t *testing.T, path string, pid int) {
	t.Helper()
	waitReported(t, path, func(report model.Report) bool {
		return slices.ContainsFunc(report.Sources, func(s model.SourceReport) bool { return s.PID == pid })
	})
}

// waitReported waits until the report on a file that is being written satisfies
// a condition. Its writer makes it readable each second.
func waitReported(t *testing.T, path string, condition func(model.Report) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		out, _, _ := run(t, "report", "--json", path)
		var report model.Report
		if json.Unmarshal([]byte(out), &report) == nil && condition(report) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it was not recorded: %s", out)
		}
	}
}

// TestRunOutlivedByItsProgram: killing vramscope does not touch the program, and
// leaves nothing behind.
func TestRunOutlivedByItsProgram(t *testing.T) {
	temporary := t.TempDir()
	command := exec.Command(binary(t), "run", "--record", filepath.Join(t.TempDir(), "run.vscope"), "--", "sh", "-c", "echo $$; read line; echo still $line")
	command.Env = append(testEnvironment(t), "TMPDIR="+temporary)
	in, out := converse(t, command)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, _ = command.Process.Wait()
	if _, err := in.Write([]byte("here\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); err != nil || line != "still here\n" {
		t.Errorf("the program said %q, %v", line, err)
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("left behind by the one that was killed: %v", left)
	}
}

// TestRunWithoutAPlaceForSockets: the program runs, and it is said that nobody
// will see it; a recording that could hold nothing is refused.
func TestRunWithoutAPlaceForSockets(t *testing.T) {
	directory := t.TempDir()
	if err := os.Chmod(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	environment := append(testEnvironment(t), probe.DirectoryVariable+"="+directory)
	out, problems, code := runIn(t, environment, "run", "--", "echo", "picture")
	if code != exitFine || out != "picture\n" || !strings.Contains(problems, "0700") {
		t.Errorf("ends with %d: %s%s", code, out, problems)
	}
	out, problems, code = runIn(t, environment, "run", "--record", "run.vscope", "--", "echo", "picture")
	if code != exitRunFailed || out != "" || !strings.Contains(problems, "0700") {
		t.Errorf("with a recording ends with %d: %s%s", code, out, problems)
	}
}

// TestRunWhereSocketPathsAreTooLong: that is said before the start, by doctor too,
// and not blamed on the program.
func TestRunWhereSocketPathsAreTooLong(t *testing.T) {
	long := probe.DirectoryVariable + "=" + filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	environment := append(testEnvironment(t), long)
	out, problems, code := runIn(t, environment, "run", "--", "echo", "picture")
	if code != exitFine || out != "picture\n" || !strings.Contains(problems, "nothing will see the program: a socket path such as") || !strings.Contains(problems, "shorter directory") {
		t.Errorf("ends with %d: %s%s", code, out, problems)
	}
	out, problems, code = runIn(t, environment, "run", "--record", "run.vscope", "--", "echo", "picture")
	if code != exitRunFailed || out != "" || !strings.Contains(problems, "shorter directory") {
		t.Errorf("with a recording ends with %d: %s%s", code, out, problems)
	}
	if out, _, _ := runIn(t, environment, "doctor"); !strings.Contains(out, "no  sockets of programs\n    a socket path such as") {
		t.Errorf("doctor says:\n%s", out)
	}
}

// TestRunWithARelativePlaceForSockets: the program goes elsewhere, and is recorded
// all the same.
func TestRunWithARelativePlaceForSockets(t *testing.T) {
	directory := t.TempDir()
	command := exec.Command(binary(t), "run", "--record", "run.vscope", "--", "python3", "-c", `
import os, torch
os.chdir("/")
kept = torch.empty(1 << 20)
os.read(0, 1)
`)
	command.Env, command.Dir = append(append(testEnvironment(t), standIns(t)...), probe.DirectoryVariable+"=sockets"), directory
	in := feed(t, command)
	path := filepath.Join(directory, "run.vscope")
	waitReported(t, path, func(report model.Report) bool { return len(endings(report)) > 0 })
	_ = in.Close()
	_ = command.Wait()
	if ended := endings(reportOf(t, path)); ended["python -c"] != "the program ended" {
		t.Errorf("recorded: %q", ended)
	}
}

// TestRunHandsOnWhatItHas: limits and open files are the program's as they
// would be without vramscope.
func TestRunHandsOnWhatItHas(t *testing.T) {
	const show = `ulimit -n; ulimit -s; umask; pwd; cat <&7`
	command := exec.Command("bash", "-c", `ulimit -Sn 321; umask 027; exec 7<<<seven; `+show+`; exec 7<<<seven; exec "$0" run -- bash -c '`+show+`'`, binary(t))
	command.Env, command.Dir = testEnvironment(t), t.TempDir()
	out, err := command.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 10 || !slices.Equal(lines[:5], lines[5:]) || lines[0] != "321" {
		t.Errorf("%v: without and within:\n%s", err, out)
	}
}

// TestRunUnderNohup: what vramscope was made to ignore, the program ignores.
func TestRunUnderNohup(t *testing.T) {
	command := exec.Command("sh", "-c", `trap "" HUP INT; exec "$0" run -- python3 -c "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"`, binary(t))
	command.Env = testEnvironment(t)
	if out, err := command.CombinedOutput(); err != nil || string(out) != "True True\n" {
		t.Errorf("ignored: %s, %v", out, err)
	}
}

// TestRunWhereNobodyListens: its messages go into a closed pipe, and the
// program's exit code is what it was, whatever came of that signal before.
func TestRunWhereNobodyListens(t *testing.T) {
	for _, before := range []string{"", "trap '' PIPE; "} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = read.Close()
		path := filepath.Join(t.TempDir(), "run.vscope")
		command := exec.Command("sh", "-c", before+`exec "$0" "$@"`, binary(t), "run", "--record", path, "--torch-history", "5", "--", "sh", "-c", "exit 7")
		command.Env, command.Stderr = testEnvironment(t), write
		_ = command.Run()
		_ = write.Close()
		if code := command.ProcessState.ExitCode(); code != 7 {
			t.Errorf("%sends with %d", before, code)
		}
	}
}

// TestProbeIsAModule: what probe prints is Python that compiles.
func TestProbeIsAModule(t *testing.T) {
	out, problems, code := run(t, "probe")
	if code != exitFine || problems != "" {
		t.Fatalf("ends with %d: %s", code, problems)
	}
	command := exec.Command("python3", "-c", "import sys; compile(sys.stdin.read(), 'vramscope_probe.py', 'exec')")
	command.Stdin = strings.NewReader(out)
	if text, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// TestRunSaysWhyNothingWasRecorded: no more is said than is known, whether a
// probe was there or not.
func TestRunSaysWhyNothingWasRecorded(t *testing.T) {
	directory := t.TempDir()
	for _, c := range []struct{ name, script, says, never string }{
		{"none", "true", "no probe spoke", "nothing else"},
		{"one that left a snapshot", ": > " + filepath.Join(directory, "run.oom-1.pickle"), "nothing else was recorded: the program ended before", "no probe"},
	} {
		path := filepath.Join(directory, "run.vscope")
		_, problems, code := run(t, "run", "--record", path, "--", "sh", "-c", c.script)
		if code != exitFine || !strings.Contains(problems, c.says) || strings.Contains(problems, c.never) {
			t.Errorf("%s: ends with %d and says %s", c.name, code, problems)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: an empty recording is left", c.name)
		}
	}
}

// TestSnapshotsAreNamedAsTheRecording: beside it, under its name without the
// format, and told with a path as it was given.
func TestSnapshotsAreNamedAsTheRecording(t *testing.T) {
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ recording, stem, told string }{
		{"rec/oom.ndjson", working + "/rec/oom", "rec/oom.oom-1.pickle"},
		{"rec/oom.vscope.zst", working + "/rec/oom", "rec/oom.oom-1.pickle"},
		{"oom.zst", working + "/oom", "oom.oom-1.pickle"},
		{"./oom.ndjson.zst", working + "/oom", "oom.oom-1.pickle"},
		{"/tmp/night.1", "/tmp/night.1", "/tmp/night.1.oom-1.pickle"},
		{"/tmp/.vscope", "/tmp/.vscope", "/tmp/.vscope.oom-1.pickle"},
	} {
		flags := &runFlags{record: c.recording}
		stem, err := flags.snapshots(time.Now())
		if err != nil || stem != c.stem {
			t.Errorf("%s: snapshots begin with %q, %v", c.recording, stem, err)
		}
		if told := flags.asNamed(stem + ".oom-1.pickle"); told != c.told {
			t.Errorf("%s: the snapshot is told as %q", c.recording, told)
		}
	}
}
