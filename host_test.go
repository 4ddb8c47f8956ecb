//go:build cuda && linux && cgo

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vramscope/pool/cuda/cudatest"
	"vramscope/sources/probe"
)

var builtWithCUDA struct {
	sync.Once
	content []byte
	err     error
}

// cudaBinary is the program with CUDA, built once for all tests.
func cudaBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vramscope")
	builtWithCUDA.Do(func() {
		output, err := exec.Command("go", "build", "-tags", "cuda", "-o", path, ".").CombinedOutput()
		if err != nil {
			builtWithCUDA.err = errors.New("go build -tags cuda: " + err.Error() + "\n" + string(output))
			return
		}
		builtWithCUDA.content, builtWithCUDA.err = os.ReadFile(path)
	})
	if builtWithCUDA.err != nil {
		t.Fatal(builtWithCUDA.err)
	}
	if err := os.WriteFile(path, builtWithCUDA.content, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// cudaMachine is a machine with GPUs that has vramscope with CUDA.
type cudaMachine struct {
	*cudatest.Machine
	t           *testing.T
	binary      string
	environment []string
}

func newCUDAMachine(t *testing.T, options cudatest.Options) *cudaMachine {
	t.Helper()
	machine := cudatest.New(t, options)
	environment := append(testEnvironment(t), machine.Environment()...)
	return &cudaMachine{Machine: machine, t: t, binary: cudaBinary(t), environment: append(environment, "VRAMSCOPE_NVML=")}
}

// terminal runs the program in a terminal.
func (m *cudaMachine) terminal(columns, rows int, arguments ...string) *terminal {
	m.t.Helper()
	return startInTerminal(m.t, columns, rows, m.environment, m.binary, arguments...)
}

// command is the program without a terminal.
func (m *cudaMachine) command(arguments ...string) *exec.Cmd {
	command := exec.Command(m.binary, arguments...)
	command.Env = m.environment
	return command
}

// run runs it to its end.
func (m *cudaMachine) run(arguments ...string) (stdout, stderr string, code int) {
	m.t.Helper()
	command := m.command(arguments...)
	var out, problems strings.Builder
	command.Stdout, command.Stderr = &out, &problems
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return out.String(), problems.String(), command.ProcessState.ExitCode()
}

// sockets are the files where programs are watched.
func (m *cudaMachine) sockets() []string {
	m.t.Helper()
	for _, variable := range slices.Backward(m.environment) {
		if directory, ok := strings.CutPrefix(variable, "VRAMSCOPE_SOCKET_DIR="); ok {
			names, err := filepath.Glob(filepath.Join(directory, "*"))
			if err != nil {
				m.t.Fatal(err)
			}
			return names
		}
	}
	m.t.Fatal("there is no directory of sockets")
	return nil
}

// headroom is what the driver has free on a GPU less the reserve, by NVML.
func (m *cudaMachine) headroom(device int) int64 {
	m.t.Helper()
	stdout, stderr, _ := m.run("check", "--min-headroom", "1", "--json", cudatest.UUID(device))
	var answer struct {
		Sources []struct {
			Headroom *int64 `json:"headroom_bytes"`
		} `json:"sources"`
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || len(answer.Sources) != 1 || answer.Sources[0].Headroom == nil {
		m.t.Fatalf("check says %s%s", stdout, stderr)
	}
	return *answer.Sources[0].Headroom
}

// headless starts a render without a dashboard and waits for its socket.
func (m *cudaMachine) headless(arguments ...string) *exec.Cmd {
	m.t.Helper()
	command := m.command(append([]string{"host", "--headless", "--memory", "64MiB"}, arguments...)...)
	if err := command.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	m.until("a socket", func() bool { return len(m.sockets()) > 0 })
	return command
}

func (m *cudaMachine) until(what string, condition func() bool) {
	m.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			m.t.Fatalf("waited for %s in vain", what)
		}
	}
}

// number is the first number on a screen that an expression has in brackets, -1
// without one.
func number(screen, expression string) int {
	found := regexp.MustCompile(expression).FindStringSubmatch(screen)
	if found == nil {
		return -1
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return -1
	}
	return n
}

// small are the flags of a render that a test watches.
var small = []string{"host", "--memory", "64MiB", "--speed", "30"}

// TestCUDAHostIsWatchedAndObeys opens the dashboard on a render on a GPU and presses
// every key that acts.
func TestCUDAHostIsWatchedAndObeys(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{SlowSync: 3})
	before := m.headroom(0)
	term := m.terminal(160, 44, append(small, "--cuda-default-pool", "0.1")...)
	term.waitForText("host render #0", "tier B", "Stand-in GPU 0", "default pool of the device", "CUDA context", "512.0 MiB")
	term.send("R")
	term.waitForText("force reclaim?", "host render #0")
	term.send("y")
	result := term.waitFor("the result of a reclaim", func(screen string) bool {
		return strings.Contains(screen, "force reclaim ·") && strings.Contains(screen, "→")
	})
	if !strings.Contains(result, "wait for the device: its work in flight took") {
		t.Errorf("it does not say that it waited for the device:\n%s", lastLines(result, 4))
	}
	term.send("r")
	term.waitFor("the result of a reclaim without force", func(screen string) bool {
		return regexp.MustCompile(`[^e] reclaim · [0-9.]+ `).MatchString(screen)
	})
	term.send("H")
	term.waitFor("the result of the check", func(screen string) bool {
		return regexp.MustCompile(`headroom check · [0-9.]+ `).MatchString(screen)
	})
	term.send("P")
	term.waitForText("reset peak floor?")
	term.send("y")
	term.waitFor("the result of the reset", func(screen string) bool {
		return regexp.MustCompile(`reset peak floor · [0-9.]+ `).MatchString(screen)
	})
	// A rebuild is refused over live blocks, and done in the pause between two
	// jobs. One that comes too late for the pause fails over live blocks.
	refusal := regexp.MustCompile(`rebuild pool on host render #0 \d+: \d+ live allocations? holds? `)
	for refused, rebuilt := false, false; !refused || !rebuilt; {
		term.send("B")
		screen := term.waitFor("the refusal or the question", func(screen string) bool {
			return refusal.MatchString(screen) || strings.Contains(screen, "rebuild pool?")
		})
		if refusal.MatchString(screen) {
			refused = true
			term.send(escape)
			term.waitFor("the refusal to go", func(screen string) bool { return !refusal.MatchString(screen) })
			continue
		}
		term.send("y")
		screen = term.waitFor("the rebuild's result", func(screen string) bool {
			return regexp.MustCompile(`rebuild pool( failed)? · [0-9.]+ `).MatchString(screen) && !strings.Contains(screen, "rebuild pool?")
		})
		rebuilt = rebuilt || !strings.Contains(screen, "rebuild pool failed")
	}
	term.waitFor("the next generation", func(screen string) bool { return number(screen, `gen (\d+)`) > 0 })
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("q ends with %d", code)
	}
	term.assertRestored()
	if left := m.sockets(); len(left) > 0 {
		t.Errorf("sockets are left: %q", left)
	}
	if after := m.headroom(0); after != before {
		t.Errorf("the GPU's headroom was %d and is %d", before, after)
	}
}

// TestCUDAHostSurvivesTheDriversOutOfMemory lets the driver refuse, and the ladder
// run for it.
func TestCUDAHostSurvivesTheDriversOutOfMemory(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{Memory: 2 << 30, Log: true})
	term := m.terminal(160, 44, append(small, "--oom")...)
	term.waitForText("host render #0", "live")
	term.send("7")
	frame := number(term.waitForText("asked 2.0 GiB", "lacks tiles"), `frame (\d+)`)
	term.waitFor("the next frames", func(screen string) bool { return number(screen, `frame (\d+)`) > frame })
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("q ends with %d", code)
	}
	refused := 0
	for _, call := range m.Calls() {
		if strings.HasPrefix(call, "cuMemAlloc ") && strings.HasSuffix(call, "-> 2") {
			refused++
		}
		if strings.HasPrefix(call, "cuMemAllocManaged") {
			t.Errorf("the driver was asked %q", call)
		}
	}
	if refused < 6 { // once, and for each rung of the ladder
		t.Errorf("the driver refused %d times", refused)
	}
}

func TestCUDAHostSaysThatItsDeviceIsLost(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{})
	term := m.terminal(220, 44, small...) // wide enough for the whole sentence
	term.waitForText("host render #0", "live")
	m.On(cudatest.Lost(0))
	term.waitFor("the end of the render", func(screen string) bool { return !strings.Contains(screen, "● live") })
	term.send("7")
	term.waitForText("is lost: cu", "CUDA_ERROR_ILLEGAL_ADDRESS")
	m.until("the socket to go", func() bool { return len(m.sockets()) == 0 })
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("q ends with %d", code)
	}
	term.assertRestored()

	m = newCUDAMachine(t, cudatest.Options{LostAfter: 300})
	_, stderr, code := m.run("host", "--headless", "--memory", "64MiB")
	if code != exitFailed || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "is lost") {
		t.Errorf("without a dashboard it ends with %d and says %q", code, stderr)
	}
}

// TestCUDAKilledHostLeavesNothing kills the render under its dashboard.
func TestCUDAKilledHostLeavesNothing(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{})
	before := m.headroom(0)
	term := m.terminal(160, 44, small...)
	screen := term.waitForText("host render #0", "live")
	pid := number(screen, `host render #0 (\d+)`)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	term.waitFor("the end of the render", func(screen string) bool { return !strings.Contains(screen, "● live") })
	m.until("the socket and the process to go", func() bool {
		_, err := probe.StartTime(pid)
		return err != nil && len(m.sockets()) == 0
	})
	if after := m.headroom(0); after != before {
		t.Errorf("the GPU's headroom was %d and is %d", before, after)
	}
	term.send("q")
	term.waitForExit()
	term.assertRestored()
}

func TestCUDAHostWithoutADashboard(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{})
	stdout, stderr, code := m.run("host", "--headless", "--memory", "64MiB", "--duration", "300ms")
	if code != exitFine || stderr != "" || !strings.Contains(stdout, "runs as process") {
		t.Errorf("it ends with %d and says %q, %q", code, stdout, stderr)
	}
	render := m.headless()
	stdout, stderr, code = m.run("send", strconv.Itoa(render.Process.Pid), "force-reclaim", "--yes")
	for _, step := range []string{"collect", "wait for the device", "empty caches: driver free", "trim the device's default pool: driver free"} {
		if !strings.Contains(stdout, "\n  "+step) {
			t.Errorf("the answer lacks %q: %d %s%s", step, code, stdout, stderr)
		}
	}
	if err := render.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := render.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// TestCUDAReclaimSaysWhatItWaitsFor holds the device up: the command is accepted,
// and its line says that the device is waited for.
func TestCUDAReclaimSaysWhatItWaitsFor(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{})
	term := m.terminal(160, 44, small...)
	term.waitForText("host render #0", "live")
	m.On(cudatest.HoldSynchronize)
	term.send("R")
	term.waitForText("force reclaim?")
	term.send("y")
	term.waitForText("force reclaim", "waits for the program's next frame boundary, then the device")
	m.Off(cudatest.HoldSynchronize)
	term.waitForText("force reclaim ·", "→")
	term.send("q")
	term.waitForExit()
}

// TestCUDAHostOnEveryGPU starts a render on each of two GPUs, and another one on the
// first. Keys reach one of them, or all on its GPU.
func TestCUDAHostOnEveryGPU(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{Devices: 2})
	beside := m.headless("--gpu", cudatest.UUID(0))
	term := m.terminal(160, 44, append(small, "--gpu", "all")...)
	term.send("2")
	screen := term.waitFor("three renders on two GPUs", func(screen string) bool {
		_, processes, _ := strings.Cut(screen, "Processes")
		return len(regexp.MustCompile(`\d host render #0 `).FindAllString(processes, -1)) == 2 &&
			len(regexp.MustCompile(`\d host render #1 `).FindAllString(processes, -1)) == 1
	})
	devices, _, _ := strings.Cut(screen, "Processes")
	if strings.Count(devices, "8.0 GiB") < 2 || strings.Count(devices, "Stand-in") != 3 { // and once in the header
		t.Errorf("each GPU has one line:\n%s", devices)
	}
	selected := number(screen, `▸ host render #(\d)`)
	if strings.Contains(screen, fmt.Sprintf("▸ host render #0 %d ", beside.Process.Pid)) {
		t.Error("it opens on another program than its own renders")
	}
	term.send("R")
	term.waitFor("the question about one", func(screen string) bool { return strings.Count(screen, "(pid ") == 1 })
	term.send("n")
	term.waitFor("the question to go", func(screen string) bool { return !strings.Contains(screen, "force reclaim?") })
	term.send("a")
	term.send("R")
	screen = term.waitForText("force reclaim?", "(pid ")
	want := []int{2, 1}[selected]
	if got := strings.Count(screen, "(pid "); got != want {
		t.Errorf("on all of GPU %d it asks about %d processes, want %d:\n%s", selected, got, want, screen)
	}
	term.send("y")
	term.waitForText("force reclaim ·", "→")
	term.send("7")
	lines := regexp.MustCompile(`force reclaim · .*→`)
	term.waitFor("a line for each", func(screen string) bool { return len(lines.FindAllString(screen, -1)) >= want })
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("q ends with %d", code)
	}
}

// TestCUDAHostOnEveryGPUWithoutADashboard has one process for each GPU under one
// that starts and ends them.
func TestCUDAHostOnEveryGPUWithoutADashboard(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{Devices: 2})
	renders := m.headless("--gpu", "all")
	m.until("both sockets", func() bool { return len(m.sockets()) == 2 })
	if err := renders.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := renders.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if left := m.sockets(); len(left) > 0 {
		t.Errorf("sockets are left: %q", left)
	}
	m.On(cudatest.Lost(1))
	_, stderr, code := m.run("host", "--headless", "--memory", "64MiB", "--gpu", "all", "--frames", "20")
	if code != exitFailed || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "GPU 1: CUDA: ") {
		t.Errorf("with one of two lost it ends with %d and says %q", code, stderr)
	}
}

func TestCUDAHostRefusesInASentence(t *testing.T) {
	for _, c := range []struct {
		name      string
		machine   cudatest.Options
		arguments []string
		code      int
		says      string
	}{
		{"more than there is", cudatest.Options{}, []string{"--memory", "100GiB"}, exitUsage, "ask for at most 7.0 GiB, not 100.0 GiB: GPU 0 (Stand-in GPU 0) has 7.5 GiB of 8.0 GiB free beside its context of 512.0 MiB"},
		{"a full GPU", cudatest.Options{Memory: 540 << 20}, nil, exitUsage, "there is no room"},
		{"no such GPU", cudatest.Options{Devices: 2}, []string{"--gpu", "7"}, exitUsage, "choose 0 ("},
		{"two of one beginning", cudatest.Options{Devices: 2}, []string{"--gpu", "GPU-"}, exitUsage, "names 2 GPUs"},
		{"no device", cudatest.Options{InitResult: 100}, nil, exitNothing, "nvidia-smi"},
		{"an old driver", cudatest.Options{WithoutSymbols: []string{"cuMemsetD8Async"}}, nil, exitNothing, "cuMemsetD8Async"},
		{"a context too large", cudatest.Options{Memory: 256 << 20}, nil, exitFailed, "CUDA"},
		{"oversubscription of plain memory", cudatest.Options{}, []string{"--allow-oversubscription"}, exitUsage, "--tier C"},
		{"a share too large", cudatest.Options{}, []string{"--cuda-default-pool", "0.9"}, exitUsage, "default pool"},
		{"a tier that there is not", cudatest.Options{}, []string{"--tier", "D"}, exitUsage, "choose A, B, C"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newCUDAMachine(t, c.machine)
			_, stderr, code := m.run(append([]string{"host", "--headless"}, c.arguments...)...)
			if code != c.code || !strings.Contains(stderr, c.says) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("it ends with %d and says %q, want %d and %q", code, stderr, c.code, c.says)
			}
			if c.code == exitUsage || len(c.arguments) > 0 {
				return
			}
			// With a dashboard it ends in the same way, and leaves the terminal.
			term := m.terminal(100, 30, "host")
			if got := term.waitForExit(); got != c.code {
				t.Errorf("the dashboard ends with %d, want %d", got, c.code)
			}
			term.assertRestored()
			if !strings.Contains(term.output(), "vramscope: CUDA") || strings.Contains(term.output(), "goroutine") {
				t.Errorf("the terminal says %q", lastLines(term.screen(), 3))
			}
		})
	}
}

// A device without managed memory serves no tier C: the pool says so, and runs.
func TestCUDAHostWithoutManagedMemory(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{NoManaged: true})
	term := m.terminal(160, 44, append(small, "--tier", "C")...)
	term.waitForText("tier B", "no managed memory")
	term.send("q")
	term.waitForExit()
}

func TestCUDAHostListsGPUs(t *testing.T) {
	m := newCUDAMachine(t, cudatest.Options{Devices: 2})
	stdout, stderr, code := m.run("host", "--list")
	if code != exitFine || strings.Count(stdout, "8.0 GiB") != 2 || !strings.Contains(stdout, cudatest.UUID(1)) {
		t.Errorf("it ends with %d and says %s%s", code, stdout, stderr)
	}
	if _, stderr, code := m.run("host", "--list", "--gpu", "7"); code != exitUsage || !strings.Contains(stderr, "whatever --gpu says") {
		t.Errorf("with another flag it ends with %d and says %s", code, stderr)
	}
	if _, stderr, code := m.run("host", "--headless", "--gpu", "gpu:5"); code != exitUsage || !strings.Contains(stderr, "there is no such GPU here") {
		t.Errorf("a GPU that is not there: %d, %s", code, stderr)
	}
	if stdout, stderr, code := m.run("host", "--headless", "--gpu", cudatest.UUID(1), "--memory", "64MiB", "--frames", "2"); code != exitFine || !strings.Contains(stdout, "the render on GPU 1 runs") {
		t.Errorf("a GPU by its UUID: %d, %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = m.run("host", "--list", "--json")
	var listed []map[string]any
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil || code != exitFine || len(listed) != 2 || listed[1]["uuid"] != cudatest.UUID(1) ||
		listed[1]["ordinal"] != 1.0 || listed[1]["total_bytes"] != float64(8<<30) || listed[1]["name"] == nil {
		t.Errorf("as JSON it ends with %d, %v, and says %s%s", code, err, stdout, stderr)
	}
	stdout, _, code = m.run("doctor")
	if code != exitFine || !strings.Contains(stdout, "`vramscope host --gpu 1` can use Stand-in GPU 1") {
		t.Errorf("doctor ends with %d and says %s", code, stdout)
	}
}
