package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"vramscope/pool/cuda"
)

// patience is how long a terminal test waits for a screen before it calls the
// program hung. No test waits that long when all is well.
const patience = 30 * time.Second

// terminal is the real program under a pseudo-terminal, with an emulator that
// draws what it writes.
type terminal struct {
	t       *testing.T
	command *exec.Cmd
	file    *os.File

	mutex    sync.Mutex
	changed  *sync.Cond
	emulator *vt.Emulator
	raw      bytes.Buffer // every byte that the program wrote
	drawing  bool         // a frame has begun and has not ended: the screen is half of two
	closed   bool
	exited   chan struct{}
}

// startTerminal runs the program in a terminal of that size. It ends with the
// test.
func startTerminal(t *testing.T, columns, rows int, environment []string, arguments ...string) *terminal {
	t.Helper()
	return startInTerminal(t, columns, rows, environment, binary(t), arguments...)
}

// startInTerminal does the same for any program, such as a shell.
func startInTerminal(t *testing.T, columns, rows int, environment []string, name string, arguments ...string) *terminal {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Env = append(testEnvironment(t), environment...)
	file, err := pty.StartWithSize(command, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{
		t: t, command: command, file: file,
		emulator: vt.NewEmulator(columns, rows), exited: make(chan struct{}),
	}
	term.changed = sync.NewCond(&term.mutex)
	go term.answerQueries()
	go term.draw()
	go func() {
		_ = command.Wait()
		close(term.exited)
		term.mutex.Lock()
		term.changed.Broadcast()
		term.mutex.Unlock()
	}()
	t.Cleanup(term.stop)
	return term
}

// testEnvironment keeps the test away from the user's own files and sockets.
func testEnvironment(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	var kept []string
	// The tests behave the same on a machine with a GPU: its library is not found.
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name == "TMUX" || strings.HasPrefix(name, "SSH_") || strings.HasPrefix(name, "VRAMSCOPE_") || strings.HasPrefix(name, "XDG_") || name == "NO_COLOR" {
			continue
		}
		kept = append(kept, variable)
	}
	sockets := filepath.Join(home, "s")
	if err := os.Mkdir(sockets, 0o700); err != nil {
		t.Fatal(err)
	}
	return append(kept, "TERM=xterm-256color", "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home,
		"XDG_CACHE_HOME="+home, "VRAMSCOPE_SOCKET_DIR="+sockets,
		"VRAMSCOPE_NVML="+filepath.Join(home, "no-nvml.so"), "LANG=C.UTF-8")
}

// answerQueries hands the emulator's answers back to the program, as a
// terminal does.
func (term *terminal) answerQueries() { _, _ = io.Copy(term.file, term.emulator) }

// beginFrame and endFrame bracket what the program wants to be seen at once.
var beginFrame, endFrame = []byte("\x1b[?2026h"), []byte("\x1b[?2026l")

func (term *terminal) draw() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := term.file.Read(buffer)
		term.mutex.Lock()
		_, _ = term.emulator.Write(buffer[:n])
		term.raw.Write(buffer[:n])
		written := term.raw.Bytes()
		term.drawing = err == nil && bytes.LastIndex(written, beginFrame) > bytes.LastIndex(written, endFrame)
		term.closed = err != nil
		term.changed.Broadcast()
		term.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

func (term *terminal) stop() {
	select {
	case <-term.exited:
	default:
		_ = term.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-term.exited:
		case <-time.After(patience):
			_ = term.command.Process.Kill()
			<-term.exited
		}
	}
	_ = term.file.Close()
	term.waitForEnd()
	// Closing the pipe of answers ends answerQueries; the emulator's own Close
	// would write what its Read reads.
	if pipe, ok := term.emulator.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}

// screen is what the terminal shows, one line per row, without trailing blanks.
// It waits for the end of a frame that is being written.
func (term *terminal) screen() string {
	term.mutex.Lock()
	defer term.mutex.Unlock()
	for term.drawing {
		term.changed.Wait()
	}
	return term.screenLocked()
}

func (term *terminal) screenLocked() string {
	lines := strings.Split(term.emulator.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \r")
	}
	return strings.Join(lines, "\n")
}

// output is every byte that the program wrote so far.
func (term *terminal) output() string {
	term.mutex.Lock()
	defer term.mutex.Unlock()
	return term.raw.String()
}

// waitFor waits until a whole frame satisfies the condition, and returns it.
func (term *terminal) waitFor(what string, condition func(screen string) bool) string {
	term.t.Helper()
	timer := time.AfterFunc(patience, func() {
		term.mutex.Lock()
		term.changed.Broadcast()
		term.mutex.Unlock()
	})
	defer timer.Stop()
	deadline := time.Now().Add(patience)
	term.mutex.Lock()
	defer term.mutex.Unlock()
	for {
		screen := term.screenLocked()
		if !term.drawing && condition(screen) {
			return screen
		}
		if term.closed || !time.Now().Before(deadline) {
			term.t.Fatalf("waited for %s; the screen was:\n%s", what, screen)
		}
		term.changed.Wait()
	}
}

// waitForText waits until every text stands on the screen.
func (term *terminal) waitForText(texts ...string) string {
	term.t.Helper()
	return term.waitFor(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// send types bytes, as a keyboard would.
func (term *terminal) send(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.file, keys); err != nil {
		term.t.Fatal(err)
	}
}

// resize changes the terminal's size.
func (term *terminal) resize(columns, rows int) {
	term.t.Helper()
	term.mutex.Lock()
	term.emulator.Resize(columns, rows)
	term.mutex.Unlock()
	if err := pty.Setsize(term.file, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		term.t.Fatal(err)
	}
}

// waitForExit waits for the program's end and returns its exit code.
func (term *terminal) waitForExit() int {
	term.t.Helper()
	select {
	case <-term.exited:
	case <-time.After(patience):
		term.t.Fatalf("the program did not end; the screen was:\n%s", term.screen())
	}
	term.waitForEnd()
	return term.command.ProcessState.ExitCode()
}

// waitForEnd waits until everything that was written has been drawn.
func (term *terminal) waitForEnd() {
	term.mutex.Lock()
	defer term.mutex.Unlock()
	for !term.closed {
		term.changed.Wait()
	}
}

// assertRestored checks that the terminal was left as it was found: main
// screen, cursor shown, mouse and bracketed paste off.
func (term *terminal) assertRestored() {
	term.t.Helper()
	output := term.output()
	for _, pair := range []struct{ what, on, off string }{
		{"alternate screen", "\x1b[?1049h", "\x1b[?1049l"},
		{"mouse", "\x1b[?1002h", "\x1b[?1002l"},
		{"cursor", "\x1b[?25l", "\x1b[?25h"},
		{"bracketed paste", "\x1b[?2004h", "\x1b[?2004l"},
	} {
		if on := strings.LastIndex(output, pair.on); on >= 0 && strings.LastIndex(output, pair.off) < on {
			term.t.Errorf("the %s was not restored", pair.what)
		}
	}
}

var built struct {
	sync.Once
	path string
	err  error
}

// binary builds the program once for all tests of this package.
func binary(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		directory, err := os.MkdirTemp("", "vramscope-test-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(directory, "vramscope")
		tags := ""
		if cuda.Included {
			tags = "cuda"
		}
		output, err := exec.Command("go", "build", "-tags", tags, "-o", built.path, ".").CombinedOutput()
		if err != nil {
			built.err = errors.New("go build: " + err.Error() + "\n" + string(output))
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	if os.Getenv(idleVariable) != "" {
		os.Exit(runIdle())
	}
	code := m.Run()
	if built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// runIn does the same as run with an environment, such as testEnvironment, that
// several programs share.
func runIn(t *testing.T, environment []string, arguments ...string) (stdout, stderr string, code int) {
	t.Helper()
	command := exec.Command(binary(t), arguments...)
	command.Env = environment
	command.Dir = t.TempDir()
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), problems.String(), command.ProcessState.ExitCode()
}

// run runs the program without a terminal and returns what it wrote and its
// exit code.
func run(t *testing.T, arguments ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runIn(t, testEnvironment(t), arguments...)
}
