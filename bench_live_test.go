package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// watchTime is how long the cost of watching is measured.
const watchTime = 30 * time.Second

// TestBenchLive prints what watching costs, beside what the same library costs
// when it draws a picture that never changes. It asserts nothing.
func TestBenchLive(t *testing.T) {
	if os.Getenv("VRAMSCOPE_BENCH") != "1" {
		t.Skip("measures for a minute: make bench runs it")
	}
	binary(t) // built before the clock runs
	fmt.Println("\nwatching one process sampled at 10 Hz, its events on, at 120×32")
	measureTerminal(t, "vramscope demo", func() *terminal {
		started := time.Now()
		term := startTerminal(t, 120, 32, nil, "demo")
		term.waitForText("vramscope")
		fmt.Printf("  start to first frame           %6.0f ms\n", float64(time.Since(started))/1e6)
		term.waitForText("live", "tier B")
		return term
	})
	measureTerminal(t, "an idle Bubble Tea program, 60 fps", func() *terminal {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		term := startInTerminal(t, 120, 32, []string{idleVariable + "=1"}, program)
		term.waitForText("idle")
		return term
	})
}

func measureTerminal(t *testing.T, name string, start func() *terminal) {
	t.Helper()
	term := start()
	pid := term.command.Process.Pid
	before, written := processorTime(t, pid), len(term.output())
	time.Sleep(watchTime) // a measurement, not a test: its length is its resolution
	used := processorTime(t, pid) - before
	fmt.Printf("  %-34s %5.2f %% of a core, %3.0f MB resident at most, %5.1f kB/s to the terminal\n", name,
		100*used.Seconds()/watchTime.Seconds(), peakResident(t, pid), float64(len(term.output())-written)/1e3/watchTime.Seconds())
	term.stop()
}

// processorTime is what a process has used so far, in steps of 10 ms.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	ticks := int64(0)
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// peakResident is the most resident memory that a process had, in MB.
func peakResident(t *testing.T, pid int) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes * 1024 / 1e6
}

// idleVariable makes the test binary run the idle program.
const idleVariable = "VRAMSCOPE_TEST_IDLE"

// idle is a Bubble Tea program that shows one picture.
type idle struct{}

func (idle) Init() tea.Cmd { return nil }

func (i idle) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "q" {
		return i, tea.Quit
	}
	return i, nil
}

func (idle) View() tea.View {
	view := tea.NewView("idle")
	view.AltScreen = true
	return view
}

func runIdle() int {
	if _, err := tea.NewProgram(idle{}).Run(); err != nil {
		return exitFailed
	}
	return exitFine
}
