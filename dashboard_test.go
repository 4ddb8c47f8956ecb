package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The keys as a terminal sends them.
const (
	escape = "\x1b"
	enter  = "\r"
	ctrlC  = "\x03"
	ctrlZ  = "\x1a"
)

// TestEveryViewAtEverySize opens each view of a running demo at the sizes that
// people have. Each shows its own things, and the program ends at once and
// leaves the terminal as it was.
func TestEveryViewAtEverySize(t *testing.T) {
	for _, size := range []struct{ columns, rows int }{{40, 10}, {80, 24}, {120, 32}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.rows), func(t *testing.T) {
			term := startTerminal(t, size.columns, size.rows, nil, "demo")
			term.waitForText("vramscope", "live")
			for _, view := range []struct{ key, text string }{
				{"1", "headroom"}, {"2", "demo"}, {"3", "forward"}, {"4", "render"}, {"6", "frag"}, {"7", "out of memory"},
			} {
				term.send(view.key)
				term.waitForText(view.text)
			}
			term.send("5")
			term.waitFor("the timeline", func(screen string) bool {
				return strings.ContainsFunc(screen, func(r rune) bool { return r > 0x2800 && r <= 0x28ff })
			})
			for i, line := range strings.Split(term.screen(), "\n") {
				if width := len([]rune(line)); width > size.columns {
					t.Errorf("line %d has %d columns", i, width)
				}
			}
			term.send("q")
			if code := term.waitForExit(); code != exitFine {
				t.Errorf("q ends with %d", code)
			}
			term.assertRestored()
		})
	}
}

// TestKeysActOnTheDemo presses every key that acts: the result stays on the
// screen, with before and after or the reason.
func TestKeysActOnTheDemo(t *testing.T) {
	term := startTerminal(t, 160, 40, nil, "demo", "--no-oom")
	term.waitForText("live", "tier B")

	term.send("R")
	term.waitForText("force reclaim?", "No")
	term.send(enter) // the default is No
	term.waitFor("the question to go", func(screen string) bool { return !strings.Contains(screen, "force reclaim?") })
	if screen := term.screen(); strings.Contains(screen, "force reclaim ·") {
		t.Fatalf("No reclaimed:\n%s", screen)
	}

	term.send("R")
	term.waitForText("force reclaim?")
	term.send("y")
	result := term.waitFor("the result of a reclaim", func(screen string) bool {
		return regexp.MustCompile(`force reclaim · .*→`).MatchString(screen)
	})
	if !regexp.MustCompile(`force reclaim · .*(segment|block|in use|live)`).MatchString(result) {
		t.Errorf("the result does not say why not more came back:\n%s", lastLines(result, 3))
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
	// While allocations live a rebuild is refused at once, with how many and
	// whose; in the pause between two jobs of the demo it asks.
	term.send("B")
	term.waitFor("the refusal or the question", func(screen string) bool {
		return regexp.MustCompile(`rebuild pool on demo render \d+: \d+ live allocations hold .* in render pool|rebuild pool\?`).MatchString(screen)
	})
	term.send("n")
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("q ends with %d", code)
	}
}

// TestRebuildBeginsAGeneration presses B until the demo has a pause between two
// jobs, when nothing lives in its pool.
func TestRebuildBeginsAGeneration(t *testing.T) {
	term := startTerminal(t, 160, 40, nil, "demo", "--no-oom", "--speed", "20")
	term.waitForText("live", "gen 0")
	for {
		term.send("B")
		screen := term.waitFor("the refusal or the question", func(screen string) bool {
			return strings.Contains(screen, "live allocations hold") || strings.Contains(screen, "rebuild pool?")
		})
		if !strings.Contains(screen, "rebuild pool?") {
			term.send(escape) // the refusal goes, so that the next one is seen
			term.waitFor("the refusal to go", func(screen string) bool { return !strings.Contains(screen, "live allocations hold") })
			continue
		}
		term.send("y")
		screen = term.waitFor("the answer", func(screen string) bool {
			return strings.Contains(screen, "gen 1") || regexp.MustCompile(`rebuild pool (failed|expired)`).MatchString(screen)
		})
		if strings.Contains(screen, "gen 1") {
			return
		}
		term.send(escape)
	}
}

func lastLines(screen string, n int) string {
	lines := strings.Split(screen, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// TestReadOnlyRefusesEveryAction holds --readonly to its word.
func TestReadOnlyRefusesEveryAction(t *testing.T) {
	term := startTerminal(t, 120, 32, nil, "demo", "--readonly")
	term.waitForText("live", "read-only")
	for _, key := range []string{"r", "R", "B", "P", "H"} {
		term.send(key)
		screen := term.waitForText("read-only")
		if strings.Contains(screen, "?  ") && strings.Contains(screen, "No ") && strings.Contains(screen, "reclaim?") {
			t.Errorf("%s asks:\n%s", key, screen)
		}
	}
	term.send("7")
	if screen := term.waitForText("Events"); strings.Contains(screen, "reclaim · ") {
		t.Errorf("something was done:\n%s", screen)
	}
}

// TestResizeWhileDrawing changes the size again and again; the last one counts.
func TestResizeWhileDrawing(t *testing.T) {
	term := startTerminal(t, 80, 24, nil, "demo")
	term.waitForText("live")
	for i := range 60 {
		term.resize(20+i*3%160, 5+i*7%50)
		if i%10 == 0 {
			term.send(fmt.Sprint(1 + i/10%7))
		}
	}
	term.resize(1, 1)
	term.resize(120, 32)
	term.send("1")
	term.waitForText("vramscope", "Headroom", "help", "quit")
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("ends with %d", code)
	}
}

// TestSuspendAndResume suspends with ^Z and with a signal, under a shell with
// job control, and comes back to a whole screen.
func TestSuspendAndResume(t *testing.T) {
	term := startInTerminal(t, 100, 30, []string{"PS1=prompt> "}, "bash", "--norc", "--noprofile", "-i")
	term.waitForText("prompt>")
	term.send(binary(t) + " demo\r")
	term.waitForText("live", "Headroom")
	for _, again := range []string{"fg\r", "clear; fg\r"} {
		term.send(ctrlZ)
		term.waitForText("Stopped", "prompt>")
		term.send(again)
		term.waitForText("live", "Headroom", "quit")
	}
	term.send("q")
	term.waitForText("prompt>")
	term.send("clear; echo ended with $?; stty -a\r")
	term.waitFor("a terminal in its usual mode", func(screen string) bool {
		return strings.Contains(screen, "ended with 0") && regexp.MustCompile(`[^-]icanon`).MatchString(screen) && regexp.MustCompile(`[^-]echo `).MatchString(screen)
	})
	term.send("exit\r")
	term.waitForExit()
	term.assertRestored()
}

// TestStoppedFromOutside stops the program with a signal, as kill -TSTP does,
// and continues it: the terminal is given back meanwhile, and then drawn anew.
func TestStoppedFromOutside(t *testing.T) {
	term := startTerminal(t, 80, 24, nil, "demo")
	term.waitForText("live", "quit")
	signal := func(s syscall.Signal) {
		if err := term.command.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGTSTP)
	term.waitFor("the terminal to be given back", func(string) bool {
		return strings.Contains(term.raw.String(), "\x1b[?1049l")
	})
	waitForState(t, term.command.Process.Pid, 'T')
	before := len(term.output())
	signal(syscall.SIGCONT)
	term.waitFor("the screen to be drawn again", func(screen string) bool {
		return strings.Contains(term.raw.String()[before:], "\x1b[?1049h") && strings.Contains(screen, "quit")
	})
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("ends with %d", code)
	}
	term.assertRestored()
}

// waitForState waits until the kernel says that a process is in a state, such
// as T for stopped.
func waitForState(t *testing.T, pid int, state byte) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if end := bytes.LastIndexByte(stat, ')'); end > 0 && end+2 < len(stat) && stat[end+2] == state {
			return
		}
	}
	t.Fatalf("process %d did not come into state %c", pid, state)
}

// TestSignalsRestoreTheTerminal ends the program from outside.
func TestSignalsRestoreTheTerminal(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{
		syscall.SIGTERM: exitFine, syscall.SIGINT: exitInterrupted, syscall.SIGHUP: exitInterrupted,
	} {
		t.Run(signal.String(), func(t *testing.T) {
			term := startTerminal(t, 80, 24, nil, "demo")
			term.waitForText("live")
			if err := term.command.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code := term.waitForExit(); code != want {
				t.Errorf("ends with %d, want %d", code, want)
			}
			term.assertRestored()
		})
	}
}

// TestPanicRestoresTheTerminal panics on purpose, in the update loop and in a
// goroutine of ours.
func TestPanicRestoresTheTerminal(t *testing.T) {
	for _, where := range []string{"panic", "panic goroutine"} {
		t.Run(where, func(t *testing.T) {
			term := startTerminal(t, 80, 24, nil, "demo")
			term.waitForText("live")
			term.send(":" + where + enter)
			if code := term.waitForExit(); code != exitFailed {
				t.Errorf("ends with %d", code)
			}
			term.assertRestored()
			if output := term.output(); !strings.Contains(output, "on purpose") {
				t.Errorf("the reason was not printed:\n%s", lastLines(output, 30))
			}
		})
	}
}

// TestInterruptByKey ends with ^C from anywhere, also while a line is typed.
func TestInterruptByKey(t *testing.T) {
	term := startTerminal(t, 80, 24, nil, "demo")
	term.waitForText("live")
	term.send(":")
	term.send(ctrlC)
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("ends with %d", code)
	}
	term.assertRestored()
}

// TestNoColorWithAnyValue holds NO_COLOR to its standard: any value counts.
func TestNoColorWithAnyValue(t *testing.T) {
	for _, value := range []string{"1", "yes", "0", "anything"} {
		term := startTerminal(t, 80, 24, []string{"NO_COLOR=" + value}, "demo")
		term.waitForText("live", "Headroom")
		term.send("q")
		term.waitForExit()
		if color := regexp.MustCompile("\x1b\\[[0-9;]*?(3[0-7]|4[0-7]|38|48|9[0-7]|10[0-7])[;m]").FindString(term.output()); color != "" {
			t.Errorf("NO_COLOR=%s: a colour was written: %q", value, color)
		}
	}
}

// TestRecordByKeyAndOpenAgain records a demo with m, and opens the file.
func TestRecordByKeyAndOpenAgain(t *testing.T) {
	directory := t.TempDir()
	binary(t) // built from here
	t.Chdir(directory)
	term := startTerminal(t, 120, 32, nil, "demo", "--speed", "50")
	term.waitForText("live")
	term.send("m")
	term.waitForText("recording to")
	term.waitFor("some frames", func(screen string) bool {
		match := regexp.MustCompile(`frame (\d+)`).FindStringSubmatch(screen)
		return match != nil && len(match[1]) >= 3
	})
	term.send("m")
	term.waitForText("recorded: vramscope")
	term.send("q")
	term.waitForExit()

	files, err := filepath.Glob(filepath.Join(directory, "*.vscope.zst"))
	if err != nil || len(files) != 1 {
		t.Fatalf("recordings: %v, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the recording's mode: %v, %v", info, err)
	}
	again := startTerminal(t, 120, 32, nil, files[0])
	again.waitForText("demo render", "tier B", "complete")
	again.send("4")
	again.waitForText("render", "peak")
	again.send("q")
	if code := again.waitForExit(); code != exitFine {
		t.Errorf("ends with %d", code)
	}
}
