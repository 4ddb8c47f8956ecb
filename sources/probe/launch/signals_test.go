package launch_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// counter says "ready PID GROUP", and then the number of each signal that it gets.
const counter = `
import os, signal
def say(text): os.write(1, (text + "\n").encode())
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda number, frame: say(str(int(number))))
if os.environ.get("APART"):
    os.setpgid(0, 0)
say("ready %d %d" % (os.getpid(), os.getpgid(0)))
while True:
    signal.pause()
`

// counting is a program that counts signals under one parent or more.
type counting struct {
	*lines
	command *exec.Cmd
	program int
}

func startCounting(t *testing.T, environment []string, argv ...string) *counting {
	t.Helper()
	command := wrapper(t, append(argv, interpreterPath(t), "-c", counter)...)
	command.Env = append(command.Env, environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	c := &counting{lines: linesOf(t, out), command: command}
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		if c.program > 0 {
			_ = syscall.Kill(c.program, syscall.SIGKILL)
		}
		_ = command.Wait()
	})
	c.program, err = strconv.Atoi(strings.Fields(c.until("ready"))[1])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// send sends a signal to a process, or to a group where that is negative.
func (c *counting) send(to int, s syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(to, s); err != nil {
		c.t.Fatal(err)
	}
}

// fence waits until everything that was sent before has come: a signal to the
// parent alone, which waits for its turn behind the others.
func (c *counting) fence() {
	c.t.Helper()
	c.send(c.command.Process.Pid, syscall.SIGUSR2)
	c.until(strconv.Itoa(int(syscall.SIGUSR2)))
}

// interpreterPath is the path of an interpreter, whatever stands before it in PATH.
func interpreterPath(t *testing.T) string {
	t.Helper()
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(path))
}

// came is how often a signal has come so far.
func (c *counting) came(s syscall.Signal) (n int) {
	for _, line := range c.seen {
		if strings.TrimPrefix(line, "^C") == strconv.Itoa(int(s)) { // as a terminal shows it
			n++
		}
	}
	return n
}

// TestEachSignalComesOnce: whoever it was sent to, the program gets it once, as it
// would without a parent.
func TestEachSignalComesOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ environment, argv []string }{
		"plain":         {},
		"nested":        {argv: []string{self}},
		"without sleep": {environment: []string{"PATH=" + t.TempDir()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startCounting(t, c.environment, c.argv...)
			parent := p.command.Process.Pid
			for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGWINCH, syscall.SIGALRM, 34, 40} {
				before := p.came(s)
				p.send(-parent, s)
				p.until(strconv.Itoa(int(s)))
				p.fence()
				if got := p.came(s) - before; got != 1 {
					t.Errorf("%v to the group came %d times", s, got)
				}
				before = p.came(s)
				p.send(parent, s)
				p.until(strconv.Itoa(int(s)))
				p.fence()
				if got := p.came(s) - before; got != 1 {
					t.Errorf("%v to the parent alone came %d times", s, got)
				}
			}
			for _, s := range []syscall.Signal{syscall.SIGTERM, 41} { // as timeout does
				before := p.came(s)
				p.send(parent, syscall.SIGSTOP) // so that both are there when it looks
				p.send(parent, s)
				p.send(-parent, s)
				p.send(parent, syscall.SIGCONT)
				p.fence()
				if got := p.came(s) - before; got != 1 {
					t.Errorf("%v to the parent and to the group came %d times", s, got)
				}
			}
		})
	}
}

// TestEverySignalIsPassedOn that this process can get for the program, and none
// of them ends the parent.
func TestEverySignalIsPassedOn(t *testing.T) {
	p := startCounting(t, nil)
	for s := syscall.Signal(1); s <= 64; s++ {
		switch s {
		case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTTIN, syscall.SIGTTOU, 32, 33, // the kernel's, the terminal's, the C library's
			syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPROF, syscall.SIGXFSZ: // of the parent itself
			continue
		}
		p.send(p.command.Process.Pid, s)
		p.until(strconv.Itoa(int(s)))
	}
	for _, s := range []syscall.Signal{syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPROF, syscall.SIGXFSZ} {
		p.send(p.command.Process.Pid, s)
		p.fence()
		if p.came(s) != 0 {
			t.Errorf("%v, which speaks of the parent, came to the program", s)
		}
	}
}

// TestProgramInAGroupOfItsOwn gets what was sent to the parent or its group, once.
func TestProgramInAGroupOfItsOwn(t *testing.T) {
	p := startCounting(t, []string{"APART=1"})
	parent := p.command.Process.Pid
	for _, to := range [][]int{{parent}, {-parent}, {parent, -parent}} {
		before := p.came(syscall.SIGTERM)
		p.send(parent, syscall.SIGSTOP) // so that both are there when it looks
		for _, target := range to {
			p.send(target, syscall.SIGTERM)
		}
		p.send(parent, syscall.SIGCONT)
		p.until(strconv.Itoa(int(syscall.SIGTERM)))
		p.fence()
		if got := p.came(syscall.SIGTERM) - before; got != 1 {
			t.Errorf("to %v: came %d times", to, got)
		}
	}
}

// TestIgnoredAtTheStartIsPassedOn: a program that handles what a shell's & has it
// ignore hears it.
func TestIgnoredAtTheStartIsPassedOn(t *testing.T) {
	p := startCounting(t, nil, "sh", "-c", `exec "$@"`, "sh")
	command := exec.Command("sh", append([]string{"-c", `trap "" HUP INT; exec "$@"`, "sh"}, p.command.Args...)...)
	command.Env, command.SysProcAttr = p.command.Env, p.command.SysProcAttr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
	})
	said := linesOf(t, out)
	said.until("ready")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if err := command.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		said.until(strconv.Itoa(int(s)))
	}
}

// TestToTheParentInTheForeground: what is sent to the parent alone is passed on
// from a terminal's foreground, too, and ^C still comes once.
func TestToTheParentInTheForeground(t *testing.T) {
	command := wrapper(t, interpreterPath(t), "-c", counter)
	file, err := pty.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = file.Close()
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
	})
	p := &counting{lines: linesOf(t, file), command: command}
	p.until("ready")
	p.send(command.Process.Pid, syscall.SIGINT)
	p.until("2")
	p.fence()
	if _, err := io.WriteString(file, "\x03"); err != nil {
		t.Fatal(err)
	}
	p.until("2")
	p.fence()
	if p.came(syscall.SIGINT) != 2 {
		t.Errorf("one to the parent and one ^C came as %q", p.seen)
	}
}

// TestWitnessIsLeftNowhere: it ends with its parent, and with one that is killed.
func TestWitnessIsLeftNowhere(t *testing.T) {
	for _, s := range []syscall.Signal{0, syscall.SIGKILL} {
		p := startCounting(t, nil)
		members := groupOf(t, p.command.Process.Pid)
		if len(members) != 3 {
			t.Fatalf("in the group are %v, not a parent, a program and a witness", members)
		}
		if s != 0 {
			p.send(p.command.Process.Pid, s)
		}
		p.send(p.program, syscall.SIGKILL)
		_ = p.command.Wait()
		for deadline := time.Now().Add(patience); ; { // what is killed takes a moment to be gone
			members = groupOf(t, p.command.Process.Pid)
			if len(members) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after %v are left: %v", s, members)
			}
		}
	}
}

// groupOf are the processes of a group that run.
func groupOf(t *testing.T, group int) (members []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if its, err := unix.Getpgid(pid); err != nil || its != group {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(text), ") Z ") {
			members = append(members, string(text[:strings.IndexByte(string(text), ')')+1]))
		}
	}
	return members
}
