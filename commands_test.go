package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vramscope/model"
)

// record makes a recording of a demo and returns its path.
func record(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	_, problems, code := run(t, append([]string{"record", "-o", path, "--duration", "1s", "demo"}, arguments...)...)
	if code != exitFine {
		t.Fatalf("record ends with %d: %s", code, problems)
	}
	return path
}

// TestBadInputGetsOneSentence holds every kind of bad input to one sentence and
// the right exit code.
func TestBadInputGetsOneSentence(t *testing.T) {
	directory := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, prose := write("empty", ""), write("notes.txt", "Dear diary,\nthe render died again.\n")
	hostile := write("hostile\x1b[2Jname", "\x1b]0;owned\x07\x1b[31m\x00\xff\xfe binary")
	newer := write("newer.vscope", `{"t":"hello","proto":99,"min":99,"src":"x"}`+"\n")
	config := write("config.toml", "interval = \"1ns\"\n")
	theme := write("theme.toml", "name = \"x\"\n[roles]\nnothing = \"#zz\"\n")
	for _, c := range []struct {
		name      string
		arguments []string
		code      int
		says      string
	}{
		{"no such file", []string{filepath.Join(directory, "missing.vscope")}, exitUsage, "no file"},
		{"a program's number", []string{"28888"}, exitUsage, "choose with c"},
		{"a GPU", []string{"gpu:0"}, exitUsage, "choose with c"},
		{"directory", []string{"report", directory}, exitUsage, "directory"},
		{"empty file", []string{"report", empty}, exitFailed, "empty"},
		{"prose", []string{"report", prose}, exitFailed, "not"},
		{"hostile", []string{"report", hostile}, exitFailed, ""},
		{"newer format", []string{"report", newer}, exitFailed, "99"},
		{"unknown flag", []string{"--frobnicate"}, exitUsage, "frobnicate"},
		{"unknown command flag", []string{"check", "--frobnicate"}, exitUsage, "frobnicate"},
		{"bad size", []string{"check", "--min-headroom", "lots"}, exitUsage, "size"},
		{"no size", []string{"check"}, exitUsage, "--min-headroom"},
		{"bad colour", []string{"--color", "pink", "doctor"}, exitUsage, "pink"},
		{"bad interval", []string{"--interval", "1ms", "doctor"}, exitUsage, "100ms"},
		{"bad theme", []string{"--theme", "nosuch", "render", prose}, exitFailed, ""},
		{"bad configuration", []string{"--config", config, "doctor"}, exitUsage, "interval"},
		{"missing configuration", []string{"--config", filepath.Join(directory, "none.toml"), "doctor"}, exitUsage, "configuration"},
		{"render size", []string{"render", "--size", "0x0", prose}, exitUsage, "0x0"},
		{"render view", []string{"render", "--view", "moon", prose}, exitUsage, "moon"},
		{"send nobody", []string{"send", "pid:1", "reclaim"}, exitNothing, "pid:1"},
		{"send nonsense", []string{"send", "demo", "explode"}, exitUsage, "explode"},
		{"record nothing", []string{"record", "-o", filepath.Join(directory, "x.vscope"), "gpu:7"}, exitNothing, "gpu:7"},
		{"record without a file", []string{"record", "demo"}, exitUsage, "-o"},
		{"record over a file", []string{"record", "-o", prose, "--duration", "1s", "demo"}, exitFailed, "exist"},
		{"demo memory", []string{"demo", "--headless", "--memory", "1"}, exitUsage, "memory"},
		{"one too many for host", []string{"host", "extra"}, exitUsage, `"extra"`},
		{"one too many for demo", []string{"demo", "extra"}, exitUsage, `"extra"`},
		{"one too many for doctor", []string{"doctor", "extra"}, exitUsage, `"extra"`},
		{"one too many for probe", []string{"probe", "extra"}, exitUsage, `"extra"`},
		{"one too many for check", []string{"check", "--min-headroom", "1GiB", "gpu:0", "gpu:1"}, exitUsage, "one SOURCE"},
		{"one too many for record", []string{"record", "-o", "x", "gpu:0", "gpu:1"}, exitUsage, "SOURCE"},
		{"one too many for completion", []string{"completion", "bash", "extra"}, exitUsage, "extra"},
		{"no such shell", []string{"completion", "tcsh"}, exitUsage, "tcsh"},
		{"not a number", []string{"demo", "--frames", "many"}, exitUsage, `--frames "many": write a whole number`},
		{"too large a number", []string{"demo", "--seed", "99999999999999999999"}, exitUsage, "too large"},
		{"not a time", []string{"record", "--duration", "3", "-o", "x", "demo"}, exitUsage, `--duration "3": write a time with its unit`},
		{"no time at all", []string{"record", "--duration", "0s", "-o", "x", "demo"}, exitUsage, "--duration 0s"},
		{"not a share", []string{"host", "--cuda-default-pool", "half"}, exitUsage, "write a number"},
		{"an empty path", []string{"send", "--path", "", "demo", "snapshot"}, exitUsage, "--path"},
		{"no speed", []string{"demo", "--headless", "--speed", "0", "--frames", "1"}, exitUsage, "--speed 0"},
		{"no samples", []string{"demo", "--headless", "--hz", "0", "--frames", "1"}, exitUsage, "--hz 0"},
		{"no memory", []string{"demo", "--headless", "--memory", "0", "--frames", "1"}, exitUsage, "--memory 0"},
		{"demo tier", []string{"demo", "--tier", "Q"}, exitUsage, "tier"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, problems, code := run(t, c.arguments...)
			if code != c.code {
				t.Errorf("ends with %d, want %d: %s%s", code, c.code, out, problems)
			}
			text := strings.TrimSuffix(problems, "\n")
			if strings.Contains(text, "strconv") || strings.Contains(text, "time: ") {
				t.Errorf("speaks of the language it is written in: %q", text)
			}
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("says %q: want one sentence", problems)
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("says %q, without %q", text, c.says)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("a control character was written: %q", text)
			}
		})
	}
	_ = theme
}

// TestWithoutATerminal watches as text, once, and ends with 3 where there is
// nothing to watch.
func TestWithoutATerminal(t *testing.T) {
	out, problems, code := run(t)
	if code != exitNothing || !strings.Contains(problems, "vramscope demo") {
		t.Errorf("ends with %d: %s", code, problems)
	}
	if !strings.Contains(out, "host") || strings.Contains(out, "\x1b") {
		t.Errorf("wrote %q", out)
	}
}

// startDemo runs a demo without a dashboard, to be watched from outside, until
// the test ends. It returns its process.
func startDemo(t *testing.T, environment []string, arguments ...string) int {
	t.Helper()
	demo := exec.Command(binary(t), append([]string{"demo", "--headless"}, arguments...)...)
	demo.Env = environment
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = demo.Process.Signal(syscall.SIGTERM)
		_ = demo.Wait()
	})
	line := make([]byte, 256)
	if n, err := out.Read(line); err != nil || !bytes.Contains(line[:n], []byte("process")) {
		t.Fatalf("the demo said %q, %v", line[:n], err)
	}
	return demo.Process.Pid
}

// TestCheckBelievesALowerBound has a program with an allocator that does not
// tell what it has free: what is free besides is headroom all the same.
func TestCheckBelievesALowerBound(t *testing.T) {
	bound := model.Headroom{AtLeast: model.Figure{Value: 3 << 30, Known: true}, Bytes: model.Figure{Why: "jax does not tell"}}
	for _, c := range []struct {
		minimum int64
		below   bool
	}{{2 << 30, false}, {3 << 30, false}, {4 << 30, true}} {
		row := rowOf(&model.SourceView{ID: "pid:1-1", Name: "train.py"}, &bound, c.minimum)
		if row.Headroom == nil || *row.Headroom != 3<<30 || !row.AtLeast || row.Below != c.below || !strings.Contains(row.text(), "at least 3.0 GiB: jax does not tell") {
			t.Errorf("%d: %+v, %q", c.minimum, row, row.text())
		}
	}
	if row := rowOf(&model.SourceView{}, &model.Headroom{Bytes: model.Figure{Why: "no driver"}}, 1); row.Headroom != nil || row.Why != "no driver" {
		t.Errorf("nothing known: %+v", row)
	}
	if none, some := noHeadroom(nil).Error(), noHeadroom(make([]headroomRow, 18)).Error(); !strings.Contains(none, "no program with a probe") || strings.Contains(some, "no program") || !strings.Contains(some, "none of 18 sources") {
		t.Errorf("it says %q, and where there are programs %q", none, some)
	}
}

// TestCheckHeadroom runs a demo and looks at it and acts on it from outside.
func TestCheckHeadroom(t *testing.T) {
	environment := testEnvironment(t)
	startDemo(t, environment, "--no-oom")
	text, problems, code := runIn(t, environment, "check", "--min-headroom", "1KiB", "--reserve", "0")
	if code != exitFine || !strings.Contains(text, "enough") || !strings.Contains(text, "free") {
		t.Errorf("check of 1 KiB ends with %d: %s%s", code, text, problems)
	}
	text, problems, code = runIn(t, environment, "check", "--min-headroom", "100TiB", "demo")
	if code != exitBelow || !strings.Contains(text, "BELOW") {
		t.Errorf("check of 100 TiB ends with %d: %s%s", code, text, problems)
	}
	text, problems, code = runIn(t, environment, "check", "--json", "--min-headroom", "100TiB")
	var answer struct {
		Below   bool
		Sources []struct {
			Headroom *int64 `json:"headroom_bytes"`
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || code != exitBelow || !answer.Below || len(answer.Sources) == 0 || answer.Sources[0].Headroom == nil {
		t.Errorf("check --json ends with %d, %v: %s%s", code, err, text, problems)
	}
	text, problems, code = runIn(t, environment, "send", "demo", "force-reclaim", "--yes")
	if code != exitFine || !strings.Contains(text, "force reclaim") || !strings.Contains(text, "→") {
		t.Errorf("send force-reclaim ends with %d: %s%s", code, text, problems)
	}
	_, problems, code = runIn(t, environment, "send", "demo", "rebuild")
	if code != exitUsage || !strings.Contains(problems, "--yes") {
		t.Errorf("send rebuild without --yes ends with %d: %s", code, problems)
	}
	_, problems, code = runIn(t, environment, "--readonly", "send", "demo", "reclaim")
	if code != exitNotPermitted {
		t.Errorf("send with --readonly ends with %d: %s", code, problems)
	}
	text, _, code = runIn(t, environment, "doctor")
	if code != exitFine || !strings.Contains(text, "demo render") {
		t.Errorf("doctor ends with %d: %s", code, text)
	}
}

// TestStoppedProgramIsTold: a program that was stopped cannot say hello, and is
// no program without a probe.
func TestStoppedProgramIsTold(t *testing.T) {
	environment := testEnvironment(t)
	pid := startDemo(t, environment)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	want := fmt.Sprintf("process %d lets vramscope in, but was stopped by a signal: continue it with kill -CONT %d", pid, pid)
	_, problems, code := runIn(t, environment, "send", strconv.Itoa(pid), "reclaim")
	if code != exitFailed || !strings.Contains(problems, want) {
		t.Errorf("send ends with %d: %s", code, problems)
	}
	text, _, code := runIn(t, environment, "doctor")
	if code != exitFine || !strings.Contains(text, want) || strings.Contains(text, "no program with a probe") {
		t.Errorf("doctor ends with %d: %s", code, text)
	}
}

// TestRecordReportRender records without a terminal, plain and compressed, and
// reads the recordings back.
func TestRecordReportRender(t *testing.T) {
	for _, name := range []string{"run.vscope", "run.vscope.zst"} {
		path := record(t, name)
		out, problems, code := run(t, "report", path)
		if code != exitFine {
			t.Fatalf("report ends with %d: %s", code, problems)
		}
		listed := out
		for _, text := range []string{"demo render", "tier B", "arena", "high-water", "frames", "peak"} {
			if !strings.Contains(out, text) {
				t.Errorf("%s: the report lacks %q:\n%s", name, text, out)
			}
		}
		out, _, code = run(t, "report", "--json", path)
		var report map[string]any
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitFine || report["status"] != "complete" {
			t.Errorf("report --json ends with %d, %v, status %v", code, err, report["status"])
		}
		for _, size := range []string{"1x1", "40x10", "80x24", "200x60", "400x100"} {
			out, problems, code := run(t, "render", path, "--view", "scopes", "--size", size)
			if code != exitFine || strings.Contains(out, "\x1b") {
				t.Errorf("render at %s ends with %d: %s", size, code, problems)
			}
		}
		number := regexp.MustCompile(`(?m)^  arena (\d+) `).FindStringSubmatch(listed)
		if number == nil {
			t.Fatalf("the report has no arena:\n%s", listed)
		}
		of, problems, code := run(t, "render", path, "--view", "arena", "--size", "120x32", "--arena", number[1])
		if code != exitFine || !strings.Contains(of, "Arena arena of shot") {
			t.Errorf("render --arena %s ends with %d: %s\n%s", number[1], code, problems, of)
		}
		of, problems, code = run(t, "render", path, "--view", "scopes", "--size", "120x32", "--all-arenas")
		if code != exitFine || !strings.Contains(of, "Scopes of all arenas") {
			t.Errorf("render --all-arenas ends with %d: %s\n%s", code, problems, of)
		}
		out, _, _ = run(t, "render", path, "--view", "overview", "--size", "120x32")
		if !strings.Contains(out, "Headroom") || !strings.Contains(out, "demo render") {
			t.Errorf("render shows:\n%s", out)
		}
		for _, wrong := range []struct {
			arguments []string
			says      string
		}{
			{[]string{"render", path, "--at", "99s"}, "lasts"},
			{[]string{"render", path, "--at", "f12x"}, "f12x"},
			{[]string{"render", path, "--source", "pid:1"}, "demo render"},
			{[]string{"render", path, "--frames", "8"}, "no calibration file"},
			{[]string{"render", path, "--arena", "4711"}, "choose the number of an arena"},
			{[]string{"render", path, "--arena", "1", "--all-arenas"}, "leave one out"},
			{[]string{"report", path, "--driver", "pool=1"}, "no calibration file"},
		} {
			out, problems, code := run(t, wrong.arguments...)
			if code != exitUsage || out != "" || !strings.Contains(problems, wrong.says) {
				t.Errorf("%v ends with %d: %s%s", wrong.arguments, code, out, problems)
			}
		}
		if out, problems, code := run(t, "render", path, "--source", "host", "--at", "0.1s"); code != exitFine || problems != "" {
			t.Errorf("render of the machine ends with %d: %s%s", code, out, problems)
		}
		out, _, _ = run(t, "--color", "always", "render", path)
		if !strings.Contains(out, "\x1b[") {
			t.Error("--color always renders without colours")
		}
	}
}

// TestCutRecordingOpens cuts a recording in the middle of a record.
func TestCutRecordingOpens(t *testing.T) {
	for name, cut := range map[string]func(content []byte) []byte{
		"run.vscope": func(content []byte) []byte { return content[:len(content)*2/3+7] },
		"lines.vscope": func(content []byte) []byte { // its recorder was killed
			return content[:bytes.LastIndexByte(content[:len(content)*2/3], '\n')+1]
		},
		"run.vscope.zst": func(content []byte) []byte { return content[:len(content)*2/3] },
	} {
		content, err := os.ReadFile(record(t, name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, cut(content), 0o600); err != nil {
			t.Fatal(err)
		}
		out, problems, code := run(t, "report", path)
		if code != exitFine || !strings.Contains(out, "missing") || !strings.Contains(out, "not finished") || strings.Contains(out, "complete") {
			t.Errorf("%s: report of a cut recording ends with %d: %s%s", name, code, out, problems)
		}
	}
}

// TestCalibrationDump records a demo's arenas and opens the dump.
func TestCalibrationDump(t *testing.T) {
	environment := testEnvironment(t)
	startDemo(t, environment, "--speed", "200")
	path := filepath.Join(t.TempDir(), "arenas.vscope")
	_, problems, code := runIn(t, environment, "record", "--calibration", "-o", path, "--duration", "2s", "demo")
	if code != exitFine {
		t.Fatalf("ends with %d: %s", code, problems)
	}
	out, problems, code := run(t, "report", path)
	if code != exitFine || !strings.Contains(out, "scopes by name, over all arenas") || !regexp.MustCompile(`arena \d+ `).MatchString(out) {
		t.Errorf("report of a calibration dump ends with %d: %s%s", code, out, problems)
	}
}

// TestSendWritesHere: without --path a file goes where the user is, and not
// where the program likes it.
func TestSendWritesHere(t *testing.T) {
	environment, directory := testEnvironment(t), t.TempDir()
	pid := startDemo(t, environment, "--speed", "200")
	if _, problems, code := runIn(t, environment, "send", "demo", "record-on"); code != exitFine {
		t.Fatalf("record-on ends with %d: %s", code, problems)
	}
	for deadline := time.Now().Add(patience); ; { // until a job has begun
		command := exec.Command(binary(t), "send", "demo", "calibration")
		command.Env, command.Dir = environment, directory
		out, err := command.CombinedOutput()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v: %s", err, out)
		}
	}
	written, _ := filepath.Glob(filepath.Join(directory, fmt.Sprintf("vramscope-%d-*.vscope", pid)))
	if len(written) != 1 {
		t.Fatalf("written: %v", written)
	}
	reportOf(t, written[0])
}

// TestCalibrationOfNothing: a dump without an arena says so, and shows no heading
// over nothing.
func TestCalibrationOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.vscope")
	text := `{"t":"hello","src":"pid:7-1","ns":1,"proto":1,"min":1,"kind":"calibration","name":"render.py"}` + "\n" +
		`{"t":"state","src":"pid:7-1","ns":1}` + "\n" + `{"t":"bye","src":"pid:7-1","ns":2,"why":"calibration dump"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, problems, code := run(t, "report", path)
	if code != exitFine || !strings.Contains(out, "recorded no arena") || strings.Contains(out, "scopes by name") {
		t.Errorf("report ends with %d: %s%s", code, out, problems)
	}
}

// TestVersionAndHelp are what a script looks at first.
func TestVersionAndHelp(t *testing.T) {
	out, _, code := run(t, "--version")
	if code != exitFine || !strings.HasPrefix(out, "vramscope ") {
		t.Errorf("--version: %d %q", code, out)
	}
	out, _, code = run(t, "--help")
	for _, text := range []string{"demo", "run", "attach", "probe", "record", "report", "render", "check", "send", "doctor", "completion", "Exit codes", "130"} {
		if !strings.Contains(out, text) {
			t.Errorf("--help (%d) lacks %q", code, text)
		}
	}
}
