//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vramscope/recorder"
	"vramscope/recorder/torchsnap"
)

const largeDump = "recorder/torchsnap/testdata/resnet50-400-steps.pickle.gz"

// TestBenchDump measures what opening a large memory dump costs: the plain pickle
// of 955,900 events (87 MB), and twenty times it. Beside each stands CPython's
// pickle.load of the same file in the same run. It prints figures and asserts
// none.
func TestBenchDump(t *testing.T) {
	if os.Getenv("VRAMSCOPE_BENCH") == "" {
		t.Skip("measures; VRAMSCOPE_BENCH=1 runs it")
	}
	directory := t.TempDir()
	plain, grown := filepath.Join(directory, "plain.pickle"), filepath.Join(directory, "grown.pickle")
	inflate(t, largeDump, plain)
	grow(t, largeDump, grown, 20)
	for _, file := range []struct {
		path string
		runs int
	}{{plain, 7}, {grown, 1}} {
		info, err := os.Stat(file.path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\n%s, %.0f MB\n", filepath.Base(file.path), float64(info.Size())/1e6)
		benchRuns("report", file.runs, func() cost { return reportCost(t, file.path) })
		benchRuns("dashboard, first final frame", file.runs, func() cost { return dashboardCost(t, file.path) })
		benchRuns("CPython pickle.load", min(file.runs, 3), func() cost { return pythonCost(file.path) })
	}
}

// cost is what a run took.
type cost struct {
	wall time.Duration
	cpu  time.Duration
	peak int64 // VmHWM, bytes
	ok   bool
}

// benchRuns prints the quickest and the middle of so many runs.
func benchRuns(name string, runs int, run func() cost) {
	var costs []cost
	for range runs {
		if c := run(); c.ok {
			costs = append(costs, c)
		}
	}
	if len(costs) == 0 {
		fmt.Printf("%-30s not measured: python3 is missing or ran out of memory\n", name)
		return
	}
	slices.SortFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) })
	middle, peak := costs[len(costs)/2], int64(0)
	for _, c := range costs {
		peak = max(peak, c.peak)
	}
	fmt.Printf("%-30s %6.3f s at best, %6.3f s in the middle of %d, %6.3f s of CPU, peak %6.1f MB\n",
		name, costs[0].wall.Seconds(), middle.wall.Seconds(), len(costs), middle.cpu.Seconds(), float64(peak)/1e6)
}

// reportCost is what vramscope report takes, from its start to its end.
func reportCost(t *testing.T, path string) cost {
	command := exec.Command(binary(t), "report", path)
	command.Env = testEnvironment(t)
	begun := time.Now()
	out, peak, err := watched(command)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return costOf(command, time.Since(begun), peak)
}

// watched runs a command and looks at its high water all the while: what the
// kernel tells at the end counts the process that started it too.
func watched(command *exec.Cmd) (out string, peak int64, err error) {
	var text bytes.Buffer
	command.Stdout, command.Stderr = &text, &text
	if err := command.Start(); err != nil {
		return "", 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return text.String(), peak, err
		case <-ticker.C:
			peak = max(peak, highWater(command.Process.Pid))
		}
	}
}

func costOf(command *exec.Cmd, wall time.Duration, peak int64) cost {
	state := command.ProcessState
	return cost{wall, state.UserTime() + state.SystemTime(), peak, true}
}

// isFinal matches the header of a dump that was read whole.
var isFinal = regexp.MustCompile(`complete .* end state after [\d,]+ events`)

// dashboardCost is what it takes from the program's start until every number on
// the first frame is final.
func dashboardCost(t *testing.T, path string) cost {
	begun := time.Now()
	term := startTerminal(t, 120, 32, nil, path)
	term.waitFor("the end state", func(screen string) bool { return isFinal.MatchString(screen) && strings.Contains(screen, "peak") })
	wall := time.Since(begun)
	peak := highWater(term.command.Process.Pid)
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Fatalf("ends with %d", code)
	}
	return costOf(term.command, wall, peak)
}

// highWater is a process's largest resident size so far, in bytes.
func highWater(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if text, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return kilobytes * 1024
		}
	}
	return 0
}

// pythonCost is what pickle.load alone takes, without the start of Python.
func pythonCost(path string) cost {
	const load = "import pickle,sys,time\nt=time.perf_counter()\npickle.load(open(sys.argv[1],'rb'))\nprint(time.perf_counter()-t)"
	command := exec.Command("python3", "-c", load, path)
	out, peak, err := watched(command)
	if err != nil {
		return cost{}
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	c := costOf(command, time.Duration(seconds*1e9), peak)
	c.ok = err == nil
	return c
}

// inflate writes a packed file out plain.
func inflate(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	create(t, to, func(w io.Writer) error {
		_, err := io.Copy(w, reader)
		return err
	})
}

// grow writes a dump's events so many times over into a new file.
func grow(t *testing.T, from, to string, times int) {
	t.Helper()
	dump := readSnapshot(t, from)
	create(t, to, func(w io.Writer) error { return writeGrownPickle(w, dump, times) })
}

func create(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	file, err := os.Create(path)
	if err == nil {
		err = write(file)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readSnapshot(t *testing.T, path string) *recorder.Dump {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dump, err := torchsnap.Read(file, torchsnap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dump
}
