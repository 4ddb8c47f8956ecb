package attach_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vramscope/sources/probe"
	"vramscope/sources/probe/attach"
)

const patience = 30 * time.Second

// attachVariable makes this test's own program attach to the process that it
// names, and print what came of it: for tests as another user.
const attachVariable = "ATTACH_TEST_PID"

func TestMain(m *testing.M) {
	var pid int
	if _, err := fmt.Sscan(os.Getenv(attachVariable), &pid); err != nil {
		os.Exit(m.Run())
	}
	_, err := attach.Attach(context.Background(), pid, attach.Options{})
	fmt.Printf("%T: %v\n", err, err)
}

// target is a process to attach to.
type target struct {
	*exec.Cmd
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	err strings.Builder
}

// start starts a program and waits until it has printed a line.
func start(t *testing.T, attributes *syscall.SysProcAttr, environment []string, argv ...string) *target {
	t.Helper()
	p := &target{Cmd: exec.Command(argv[0], argv[1:]...), t: t}
	p.Env = append(os.Environ(), environment...)
	p.SysProcAttr = attributes
	p.Stderr = &p.err
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	if p.line() == "" {
		t.Fatalf("%q said nothing: %s", argv, p.err.String())
	}
	return p
}

func (p *target) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the program ended: %v", err)
	}
	return strings.TrimSpace(line)
}

// finish ends a loop and fails where the program wrote a word of complaint.
func (p *target) finish() {
	p.t.Helper()
	_ = p.in.Close()
	if err := p.Wait(); err != nil || p.err.Len() > 0 {
		p.t.Errorf("the program ended with %v and complained: %s", err, p.err.String())
	}
}

// loop runs Python until its input ends; blocked waits in one call for a line
// first.
const (
	loop = `
import os, sys, time, select
print("ready", flush=True)
frames = 0
while not select.select([0], [], [], 0.01)[0]: frames += 1
`
	blocked = `
import os, ctypes
print("ready", flush=True)
buffer = ctypes.create_string_buffer(1)
ctypes.CDLL(None).read(0, buffer, 1)
import select, time
while not select.select([0], [], [], 0.01)[0]: pass
`
)

// until waits for a condition that nothing announces.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v until %s", patience, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// sockets gives the test a place of its own for sockets.
func sockets(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "vs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	t.Setenv(probe.DirectoryVariable, directory)
	return directory
}

// TestObstacles meets what keeps the probe out, with real processes.
func TestObstacles(t *testing.T) {
	sockets(t)
	_, err := attach.Attach(t.Context(), 1<<22-1, attach.Options{})
	var gone *attach.GoneError
	if !errors.As(err, &gone) {
		t.Errorf("no process: %v", err)
	}

	shell := start(t, nil, nil, "sh", "-c", "echo ready; read line")
	_, err = attach.Attach(t.Context(), shell.Process.Pid, attach.Options{})
	var other *attach.NotPythonError
	if !errors.As(err, &other) {
		t.Errorf("a shell: %v", err)
	}

	_ = shell.Process.Kill() // a zombie until it is waited for
	until(t, "a zombie is no process", func() bool {
		_, err = attach.Inspect(shell.Process.Pid)
		return errors.As(err, &gone)
	})
}

// TestOldVersions meets every Python of this machine that cannot be entered.
func TestOldVersions(t *testing.T) {
	sockets(t)
	seen := 0
	for _, path := range interpreters(t) {
		out, err := exec.Command(path, "-c", "import sys; sys.stdout.write('%d.%d %s' % (sys.version_info[:2] + (sys.version_info >= (3, 14),)))").Output()
		version, isNew, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
		if err != nil || !ok || isNew == "True" {
			continue
		}
		seen++
		script := filepath.Join(t.TempDir(), "render.py")
		if err := os.WriteFile(script, []byte("import sys\nprint('ready')\nsys.stdout.flush()\nsys.stdin.read()\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, nil, nil, path, "-W", "ignore", script)
		_, err = attach.Attach(t.Context(), p.Process.Pid, attach.Options{})
		var old *attach.VersionError
		if !errors.As(err, &old) || !strings.Contains(err.Error(), "Python "+version+",") || !strings.Contains(err.Error(), "render.py") ||
			!strings.Contains(err.Error(), "vramscope run") {
			t.Errorf("%s: %v", path, err)
		}
		found, err := attach.Processes()
		if err != nil {
			t.Fatal(err)
		}
		listed := false
		for _, process := range found {
			listed = listed || process.PID == p.Process.Pid && process.Name == "render.py" && process.Version.String() == version
		}
		if !listed {
			t.Errorf("%s is not among the Python processes of the machine", path)
		}
		p.finish()
	}
	if seen == 0 {
		t.Skip("this machine has no Python before 3.14")
	}
}

// TestBuiltIn: a program of another name that has Python in it is known by what
// it has mapped.
func TestBuiltIn(t *testing.T) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.base_prefix); print(sys.executable); print('%d.%d' % sys.version_info[:2])").Output()
	facts := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(facts) != 3 {
		t.Fatalf("python3 said %q, %v", out, err)
	}
	binary, err := os.ReadFile(facts[1])
	if err != nil {
		t.Fatal(err)
	}
	sculptor := filepath.Join(t.TempDir(), "sculptor")
	if err := os.WriteFile(sculptor, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, []string{"PYTHONHOME=" + facts[0]}, sculptor, "-c", "import ctypes"+loop)
	process, err := attach.Inspect(p.Process.Pid)
	if err != nil || !process.Embedded || process.Version.String() != facts[2] || process.Executable != sculptor {
		t.Errorf("found %+v, %v", process, err)
	}
	p.finish()
}

func interpreters(t *testing.T) []string {
	t.Helper()
	home, _ := os.UserHomeDir()
	found, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python"))
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("python3 is missing (%v): install the package python3", err)
	}
	return append(found, path)
}

// TestAnotherUsersProcess is left alone: only its user and root may ask.
func TestAnotherUsersProcess(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a program as another user")
	}
	p := start(t, nil, nil, "python3", "-c", loop)
	// The test's own program lies where only its user can read.
	directory, err := os.MkdirTemp("/tmp", "attach-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(directory, "attach.test")
	if err := errors.Join(os.Chmod(directory, 0o755), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program)
	command.Dir = directory
	command.Env = []string{fmt.Sprintf("%s=%d", attachVariable, p.Process.Pid)}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := command.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "*attach.UserError: ") || !strings.Contains(string(out), "root") {
		t.Errorf("said %q, %v", out, err)
	}
	p.finish()
}

// TestAnotherContainer has other files, or other process numbers.
func TestAnotherContainer(t *testing.T) {
	modern, _ := python314()
	if modern == "" {
		modern = "python3"
	}
	for flag, namespace := range map[uintptr]string{syscall.CLONE_NEWNS: "mnt", syscall.CLONE_NEWPID: "pid"} {
		command := exec.Command("true")
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flag}
		if err := command.Run(); err != nil {
			t.Skipf("this user cannot make a namespace: %v", err)
		}
		p := start(t, &syscall.SysProcAttr{Cloneflags: flag}, nil, modern, "-c", loop)
		process, err := attach.Inspect(p.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		var container *attach.ContainerError
		switch err := process.Obstacle(); {
		case errors.As(err, &container) && container.Namespace == namespace && strings.Contains(err.Error(), "inside"):
		case modern == "python3" && errors.As(err, new(*attach.VersionError)):
		default:
			t.Errorf("%s: %v", namespace, err)
		}
		p.finish()
	}
}

// python314 is a Python that can be entered, or why there is none.
func python314() (path, missing string) {
	if path = os.Getenv("VRAMSCOPE_TEST_PYTHON314"); path != "" {
		return path, ""
	}
	path, err := exec.LookPath("python3.14")
	if err != nil {
		return "", "no python3.14 is in PATH: install it, or set VRAMSCOPE_TEST_PYTHON314 to one, to see a process entered"
	}
	return path, ""
}

func modern(t *testing.T) string {
	t.Helper()
	path, missing := python314()
	if missing != "" {
		t.Skip(missing)
	}
	return path
}

// leftovers are the directories of attempts.
func leftovers(t *testing.T) map[string]bool {
	t.Helper()
	found, err := filepath.Glob("/tmp/vramscope-attach-*")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range found {
		names[name] = true
	}
	return names
}

func noLeftovers(t *testing.T, before map[string]bool) {
	t.Helper()
	for name := range leftovers(t) {
		if !before[name] {
			t.Errorf("left behind: %s", name)
		}
	}
}

// TestEnter lets the probe into a program that knows nothing of it: its socket
// speaks, the program's own names are untouched, and nothing is left behind.
func TestEnter(t *testing.T) {
	directory, before := sockets(t), leftovers(t)
	p := start(t, nil, nil, modern(t), "-c", loop+`
print(sorted(name for name in globals() if not name.startswith("__")), flush=True)
`)
	reached, err := attach.Attach(t.Context(), p.Process.Pid, attach.Options{Wait: patience})
	if err != nil || reached.Already || reached.Directory != directory {
		t.Fatalf("reached %+v, %v", reached, err)
	}
	noLeftovers(t, before)
	hello, err := probe.Greet(t.Context(), filepath.Join(directory, reached.Process.SocketName().String()))
	if err != nil || hello.PID != p.Process.Pid || hello.Kind != "process" {
		t.Errorf("hello %+v, %v", hello, err)
	}
	again, err := attach.Attach(t.Context(), p.Process.Pid, attach.Options{})
	if err != nil || !again.Already {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	_ = p.in.Close()
	if names := p.line(); names != "['frames', 'os', 'select', 'sys', 'time']" {
		t.Errorf("the program's names are %s", names)
	}
	p.finish()
	if p.err.Len() > 0 {
		t.Errorf("the program complained: %s", p.err.String())
	}
}

// TestEnterLate: a main thread in a long call lets the probe in when that
// returns, also when nobody waits any more.
func TestEnterLate(t *testing.T) {
	directory, before := sockets(t), leftovers(t)
	p := start(t, nil, nil, modern(t), "-c", blocked)
	_, err := attach.Attach(t.Context(), p.Process.Pid, attach.Options{Wait: 100 * time.Millisecond})
	var busy *attach.BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "long call") {
		t.Fatalf("while it is in a call: %v", err)
	}
	if _, err := p.in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	until(t, "the probe enters", func() bool { return busy.Process.HasProbe(directory) })
	until(t, "nothing is left behind", func() bool { return len(leftovers(t)) <= len(before) })
	p.finish()
}

// TestEnterNoMore: an attempt that was interrupted does nothing later.
func TestEnterNoMore(t *testing.T) {
	directory, before := sockets(t), leftovers(t)
	p := start(t, nil, nil, modern(t), "-c", blocked)
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan string, 1)
	go func() {
		<-said
		cancel()
	}()
	_, err := attach.Attach(ctx, p.Process.Pid, attach.Options{Wait: patience, Say: func(text string) { said <- text }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if _, err := p.in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	process, err := attach.Inspect(p.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "nothing is left behind", func() bool { return len(leftovers(t)) <= len(before) })
	if process.HasProbe(directory) {
		t.Error("the probe entered all the same")
	}
	p.finish()
}

// TestDoorSwitchedOff, by each of the switches.
func TestDoorSwitchedOff(t *testing.T) {
	sockets(t)
	path := modern(t)
	for name, p := range map[string]*target{
		"PYTHON_DISABLE_REMOTE_DEBUG": start(t, nil, []string{"PYTHON_DISABLE_REMOTE_DEBUG=1"}, path, "-c", loop),
		"-X disable-remote-debug":     start(t, nil, nil, path, "-X", "disable-remote-debug", "-c", loop),
		"-X disable-remote-debug ":    start(t, nil, nil, path, "-Xdisable_remote_debug", "-c", loop),
	} {
		_, err := attach.Attach(t.Context(), p.Process.Pid, attach.Options{})
		var off *attach.DisabledError
		if !errors.As(err, &off) || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
		p.finish()
	}
}

// TestProbeThatCannotStart says why, and the program hears nothing of it.
func TestProbeThatCannotStart(t *testing.T) {
	sockets(t)
	p := start(t, nil, nil, modern(t), "-c", "import sys; sys.modules['socket'] = None"+loop)
	_, err := attach.Attach(t.Context(), p.Process.Pid, attach.Options{Wait: patience})
	var refused *attach.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "socket") {
		t.Errorf("without sockets: %v", err)
	}
	p.finish()
}

// TestAskingAnotherUser: root lets the probe into a program of somebody else,
// whose socket is where that user looks for it.
func TestAskingAnotherUser(t *testing.T) {
	path := modern(t)
	if os.Getuid() != 0 {
		t.Skip("only root may enter another user's program")
	}
	sockets(t)
	before := leftovers(t)
	theirs, err := os.MkdirTemp("/tmp", "vs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(theirs) })
	if err := os.Chown(theirs, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	attributes := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	p := start(t, attributes, []string{probe.DirectoryVariable + "=" + theirs, "HOME=/"}, path, "-c", loop)
	reached, err := attach.Attach(t.Context(), p.Process.Pid, attach.Options{Wait: patience})
	if !onlyRoots(t, path) {
		var foreign *attach.InterpreterError
		if !errors.As(err, &foreign) || !strings.Contains(err.Error(), "another user's") {
			t.Errorf("an interpreter that others can write: %v", err)
		}
		p.finish()
		return
	}
	if err != nil || reached.Directory != theirs || !reached.Process.HasProbe(theirs) {
		t.Errorf("reached %+v, %v", reached, err)
	}
	noLeftovers(t, before)
	p.finish()
}

// onlyRoots says whether all of a path is root's, as the shell sees it.
func onlyRoots(t *testing.T, path string) bool {
	t.Helper()
	out, err := exec.Command("sh", "-c", `path=$(readlink -f "$0"); while :; do [ "$(stat -c %u "$path")" = 0 ] || exit 1
case $(stat -c %A "$path") in ?????w*|????????w*) exit 1;; esac
[ "$path" = / ] && exit 0; path=$(dirname "$path"); done`, path).CombinedOutput()
	if len(out) > 0 {
		t.Fatalf("%s", out)
	}
	return err == nil
}
