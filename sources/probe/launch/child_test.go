package launch_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"vramscope/sources/probe/launch"
)

// wrapperVariable makes this test's own program the one under test: it starts
// its arguments and ends as they do.
const wrapperVariable = "LAUNCH_TEST_WRAPPER"

func TestMain(m *testing.M) {
	if os.Getenv(wrapperVariable) == "" {
		os.Exit(m.Run())
	}
	child, err := launch.Start(os.Args[1:], os.Environ())
	var start *launch.StartError
	if errors.As(err, &start) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(start.Code())
	}
	exit, err := child.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	os.Exit(exit.Status())
}

func wrapper(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, argv...)
	command.Env = append(os.Environ(), wrapperVariable+"=1")
	return command
}

// TestExitStatus: the program's own code, 128 and the signal, 126 and 127.
func TestExitStatus(t *testing.T) {
	directory := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "render the scene\n", 0o600)
	bare := file("bare", "test \"$1\" = a && exit 9\n", 0o700)
	none := filepath.Join(directory, "none")
	orphan := file("orphan", "#! "+none+"/python -u\nprint()\n", 0o700)
	typed := file("typed", "#!/bin/sh\r\nexit 0\r\n", 0o700)
	barred := file("barred", "#!"+plain+"\n", 0o700)
	foreign := file("foreign", "\x7fELF and nothing that runs", 0o700)
	for _, c := range []struct {
		argv []string
		code int
		says string
	}{
		{[]string{"true"}, 0, ""},
		{[]string{"sh", "-c", "exit 3"}, 3, ""},
		{[]string{"sh", "-c", "exit 255"}, 255, ""},
		{[]string{"sh", "-c", "kill -KILL $$"}, 137, ""},
		{[]string{"sh", "-c", "kill -SEGV $$"}, 139, ""},
		{[]string{"no-such-program"}, 127, "not found"},
		{[]string{none}, 127, "not found"},
		{[]string{plain}, 126, "executable"},
		{[]string{bare, "a"}, 9, ""}, // the shell's, as with env and nohup
		{[]string{orphan}, 126, "is there, but the interpreter in its first line is not, \"" + none + "/python\""},
		{[]string{typed}, 126, "carriage return"},
		{[]string{barred}, 126, "the interpreter in its first line, \"" + plain + "\""},
		{[]string{foreign}, 126, "another kind of machine"},
		{[]string{directory}, 126, ""},
	} {
		command := wrapper(t, c.argv...)
		var problems strings.Builder
		command.Stderr = &problems
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%q ends with %d, want %d: %s", c.argv, code, c.code, problems.String())
		}
		if text := problems.String(); !strings.Contains(text, c.says) || (c.code < 125 || c.code > 127) && text != "" || strings.Count(text, "\n") > 1 {
			t.Errorf("%q says %q", c.argv, text)
		}
	}
}

// TestInputAndOutputAreTheProgramsOwn: bytes go through untouched, and an end
// of input too.
func TestInputAndOutputAreTheProgramsOwn(t *testing.T) {
	command := wrapper(t, "sh", "-c", "cat; echo problem >&2; exit 4")
	command.Stdin = strings.NewReader("\x00\xff\x1b[2J no line feed")
	var out, problems strings.Builder
	command.Stdout, command.Stderr = &out, &problems
	_ = command.Run()
	if out.String() != "\x00\xff\x1b[2J no line feed" || problems.String() != "problem\n" || command.ProcessState.ExitCode() != 4 {
		t.Errorf("wrote %q and %q, ended with %d", out.String(), problems.String(), command.ProcessState.ExitCode())
	}
}

// listener says "ready PID", and then the name of each signal that it gets, until TERM.
const listener = `
import os, signal, sys
def say(text): os.write(1, (text + "\n").encode())
for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "WINCH", "TERM", "CONT"):
    signal.signal(getattr(signal, "SIG" + name), lambda number, frame: say(signal.Signals(number).name))
say("ready %d" % os.getpid())
while True:
    signal.pause()
`

// lines reads a program's lines, with a deadline.
type lines struct {
	t    *testing.T
	ch   chan string
	seen []string
}

func linesOf(t *testing.T, from io.Reader) *lines {
	l := &lines{t: t, ch: make(chan string, 64)}
	go func() {
		defer close(l.ch)
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			l.ch <- strings.TrimSpace(scanner.Text())
		}
	}()
	return l
}

const patience = 30 * time.Second

func (l *lines) next() string {
	l.t.Helper()
	select {
	case line, open := <-l.ch:
		if !open {
			l.t.Fatalf("the program wrote no further line; it had written %q", l.seen)
		}
		l.seen = append(l.seen, line)
		return line
	case <-time.After(patience):
		l.t.Fatalf("the program wrote nothing more; it had written %q", l.seen)
	}
	return ""
}

// until waits for a line that holds a text.
func (l *lines) until(text string) string {
	l.t.Helper()
	for {
		if line := l.next(); strings.Contains(line, text) {
			return line
		}
	}
}

// count is how many of the lines so far end with a text.
func (l *lines) count(text string) (n int) {
	for _, line := range l.seen {
		if strings.HasSuffix(line, text) {
			n++
		}
	}
	return n
}

func startListener(t *testing.T, attributes *syscall.SysProcAttr) (command *exec.Cmd, said *lines, child int) {
	t.Helper()
	command = wrapper(t, "python3", "-c", listener)
	command.SysProcAttr = attributes
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	said = linesOf(t, out)
	child, err = strconv.Atoi(strings.TrimPrefix(said.until("ready"), "ready "))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = syscall.Kill(child, syscall.SIGKILL)
		_ = command.Wait()
	})
	return command, said, child
}

// TestSignalsReachTheProgram, where no terminal would bring them.
func TestSignalsReachTheProgram(t *testing.T) {
	command, said, _ := startListener(t, &syscall.SysProcAttr{Setsid: true})
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTERM} {
		if err := command.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if got, want := said.next(), map[syscall.Signal]string{
			syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGUSR1: "SIGUSR1",
			syscall.SIGUSR2: "SIGUSR2", syscall.SIGWINCH: "SIGWINCH", syscall.SIGTERM: "SIGTERM",
		}[s]; got != want {
			t.Errorf("%v came as %q", s, got)
		}
	}
}

// TestContinueReachesTheProgram that somebody has stopped by hand.
func TestContinueReachesTheProgram(t *testing.T) {
	command, said, child := startListener(t, &syscall.SysProcAttr{Setsid: true})
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); said.count("SIGCONT") == 0; {
		if err := command.Process.Signal(syscall.SIGCONT); err != nil { // again until its parent knows of the stop
			t.Fatal(err)
		}
		select {
		case line := <-said.ch:
			said.seen = append(said.seen, line)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the program stands still")
		}
	}
}

// TestEndRightAfterAStop: a program that goes on and ends before its stop was
// looked at still has its exit code.
func TestEndRightAfterAStop(t *testing.T) {
	for range 20 {
		command := wrapper(t, "sh", "-c", "(while kill -CONT $$ 2>/dev/null; do :; done) & kill -STOP $$; exit 5")
		var problems strings.Builder
		command.Stderr = &problems
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code != 5 || problems.Len() > 0 {
			t.Fatalf("ends with %d: %s", code, problems.String())
		}
	}
}

// TestProgramOutlivesItsParent: what starts a render must not take it along.
func TestProgramOutlivesItsParent(t *testing.T) {
	command, said, child := startListener(t, nil)
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = command.Process.Wait()
	if err := syscall.Kill(child, syscall.SIGUSR1); err != nil {
		t.Fatalf("the program is gone: %v", err)
	}
	if line := said.next(); line != "SIGUSR1" {
		t.Errorf("the program said %q", line)
	}
}

// TestTerminal runs the program under a shell with job control: ^C reaches it
// once, ^Z stops the job, fg goes on.
func TestTerminal(t *testing.T) {
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Env = append(os.Environ(), "PS1=prompt> ", "TERM=dumb", wrapperVariable+"=1")
	file, err := pty.Start(shell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = file.Close()
		_ = shell.Process.Kill()
		_ = shell.Wait()
	})
	said := linesOf(t, file)
	typed := func(keys string) {
		t.Helper()
		if _, err := io.WriteString(file, keys); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(t.TempDir(), "listen.py")
	if err := os.WriteFile(script, []byte(listener), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	typed(self + " python3 " + script + "\n")
	_, program, _ := strings.Cut(said.until("ready "), "ready ")
	interrupts := 0
	for range 2 {
		typed("\x03") // ^C
		said.until("SIGINT")
		interrupts++
		typed("\x1a") // ^Z
		said.until("Stopped")
		typed("echo shell $((40+2))\n")
		said.until("shell 42")
		typed("fg\n")
		said.until("SIGCONT") // it has the terminal again
	}
	typed("\x1c") // ^\
	said.until("SIGQUIT")
	if said.count("SIGINT") != interrupts || said.count("SIGQUIT") != 1 {
		t.Errorf("%d interrupts came as %d, and one quit as %d", interrupts, said.count("SIGINT"), said.count("SIGQUIT"))
	}
	typed("\x1a")
	said.until("Stopped")
	typed("kill -KILL " + program + "\n")
	typed("fg; echo code $?\n")
	said.until("code 137")
}
