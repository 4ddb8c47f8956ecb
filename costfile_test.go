package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/model"
)

// Two calibration files; the program runs in a folder of its own.
var (
	calibrationModule, _ = filepath.Abs("recorder/algan/testdata/mem_usage.py")
	calibrationProbe, _  = filepath.Abs("recorder/algan/testdata/0123456789abcdef01234567.json")
)

// TestReportOfACalibrationFile prints peaks for the frames and drivers that are
// asked for, as text and as JSON.
func TestReportOfACalibrationFile(t *testing.T) {
	out, problems, code := run(t, "report", calibrationModule, "--frames", "2,64", "--driver", "pool=65536", "--driver", "primary=1000")
	if code != exitFine {
		t.Fatalf("ends with %d: %s", code, problems)
	}
	for _, want := range []string{"memory tables by algan 0.2.2, commit d81b2a9", "peak at 2  peak at 64", "544 B", "17.0 KiB", "6.3 MiB", "not known without --driver out_cells=N", "peak ×4.7 of its input"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	out, problems, code = run(t, "report", "--json", "--frames", "2", calibrationProbe)
	var report struct {
		Scopes []struct {
			At []struct{ Frames, Peak, End int64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); code != exitFine || err != nil {
		t.Fatalf("ends with %d, %v: %s", code, err, problems)
	}
	if at := report.Scopes[0].At; len(at) != 1 || at[0].Frames != 2 || at[0].Peak != 544 || at[0].End != 64 {
		t.Errorf("the worked example is %+v", at)
	}
}

func TestDiffOfCalibrationFiles(t *testing.T) {
	content, err := os.ReadFile(calibrationModule)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.py")
	content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("sha256:00"), []byte("sha256:99")), []byte("'pool': 92"), []byte("'pool': 96"))
	if err := os.WriteFile(other, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, problems, code := run(t, "diff", calibrationModule, other)
	if code != exitFine || !strings.Contains(out, "the fingerprints differ") || !strings.Contains(out, "1 differ, 10 are the same") || !strings.Contains(out, "pool: 92 B → 96 B") {
		t.Errorf("ends with %d: %s%s", code, out, problems)
	}
	out, problems, code = run(t, "diff", "--json", calibrationModule, calibrationProbe)
	if code != exitFine || !strings.Contains(out, `"stale": false`) || !strings.Contains(out, `"same": 1`) {
		t.Errorf("ends with %d: %s%s", code, out, problems)
	}
}

func TestRenderOfACalibrationFile(t *testing.T) {
	out, problems, code := run(t, "render", calibrationModule, "--view", "scopes", "--size", "140x40", "--frames", "64")
	if code != exitFine || !strings.Contains(out, "replayed for 64 frames") || !strings.Contains(out, "17.0 KiB") {
		t.Errorf("ends with %d: %s%s", code, out, problems)
	}
}

// TestCalibrationFileThatCannotBeRead gets one sentence, whatever it holds, and
// what it asks for does not happen.
func TestCalibrationFileThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	trace := filepath.Join(folder, "executed")
	for name, test := range map[string]struct{ content, says string }{
		"call.py":   {"TRACES = __import__('os').system('touch " + trace + "')\n", "line 1, column 10 holds a call of \"__import__\""},
		"escape.py": {"TRACES = {'\\x1b[2J': \x1b[31m}\n", "malformed at line 1, column 22"},
		"deep.py":   {"TRACES = " + strings.Repeat("[", 100_000) + "\n", "more than 64 deep"},
		"huge.py":   {"TRACES = {'a': {(): (('A', " + strings.Repeat("9", 30) + ", 1, 4, False),)}}\n", "does not fit into 64 bits"},
		"none.json": {`{"fingerprint": null, "key": "()", "trace": {"a": 1}}`, "a trace is a tuple of events"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		out, problems, code := run(t, "report", path)
		if code != exitFailed || out != "" || !strings.Contains(problems, test.says) || strings.Count(problems, "\n") != 1 || strings.ContainsRune(problems, 0x1b) {
			t.Errorf("%s ends with %d and says %q", name, code, problems)
		}
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a calibration file was executed")
	}
	for _, arguments := range [][]string{
		{"report", calibrationModule, "--frames", "0"}, {"report", calibrationModule, "--driver", "pool"}, {"diff", calibrationModule, filepath.Join(folder, "missing.py")},
	} {
		if _, problems, code := run(t, arguments...); code != exitUsage || strings.Count(problems, "\n") != 1 {
			t.Errorf("%v ends with %d and says %q", arguments, code, problems)
		}
	}
}

// TestHubOpensACalibrationFile reads it beside the dashboard, says what is wrong
// with one, and closes them.
func TestHubOpensACalibrationFile(t *testing.T) {
	h := openHub(t, 1<<20)
	broken := filepath.Join(t.TempDir(), "broken.py")
	if err := os.WriteFile(broken, []byte("TRACES = f()\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{calibrationModule, broken} {
		if err := h.Open(path); err != nil {
			t.Fatal(err)
		}
	}
	h.wait(t, "both are read", func(s *model.Snapshot) bool {
		good, bad := s.Find("file:"+calibrationModule), s.Find("file:"+broken)
		return good != nil && good.Costs != nil && good.Status == model.StatusComplete && bad != nil && bad.Status == model.StatusFailed &&
			strings.Contains(bad.StatusWhy, "was not executed")
	})
	if !h.hasFiles() {
		t.Error("the hub says that no file is open")
	}
	for _, path := range []string{calibrationModule, broken} {
		if err := h.Close("file:" + path); err != nil {
			t.Error(err)
		}
	}
	h.wait(t, "both are closed", func(s *model.Snapshot) bool { return len(s.Sources) == 0 })
	if h.hasFiles() {
		t.Error("the hub says that a file is open")
	}
}

// TestCalibrationFileInATerminal opens one, sizes its scopes for other frames,
// gives a driver, and walks through the views.
func TestCalibrationFileInATerminal(t *testing.T) {
	term := startTerminal(t, 160, 40, nil, calibrationModule)
	term.waitForText("mem_usage.py", "replayed for 1 frame", "Drivers", "Outside the arena")
	term.send("4:frames 64\r")
	term.waitForText("replayed for 64 frames", "253.1 MiB")
	term.send("+")
	term.waitForText("replayed for 65 frames")
	term.send(":driver pool=65536\r:driver primary=1000\r")
	term.waitForText("Scopes for 65 frames, pool=65536 primary=1000", "6.3 MiB")
	term.send("3")
	term.waitForText("Events of postprocess for 65 frames", "temp ends")
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("ends with %d", code)
	}
	term.assertRestored()
}
