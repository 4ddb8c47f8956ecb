// Package pythontest starts real Python processes with the probe in them, for
// tests. Tests that use it stand in package python_test, since it imports the
// probe.
package pythontest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vramscope/sources/probe"
	"vramscope/sources/probe/python"
)

// Patience is how long a test waits for what must come. It is far more than
// anything takes, so that a busy machine fails no test.
const Patience = 60 * time.Second

var interpreter = sync.OnceValues(func() (string, error) {
	found, err := exec.LookPath("python3")
	if err != nil {
		return "", err
	}
	// What is in the path may be a script that chooses a version.
	out, err := exec.Command(found, "-I", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

// Interpreter is the Python that tests use: the python3 of the path.
func Interpreter(t testing.TB) string {
	t.Helper()
	path, err := interpreter()
	if err != nil {
		t.Fatalf("python3 is missing (%v): install the package python3", err)
	}
	return path
}

// Process is a Python process that a test started.
type Process struct {
	Directory string // where its socket is
	Module    string // folder of its script and of the probe's module, first in its path
	Command   *exec.Cmd

	t      testing.TB
	input  io.WriteCloser
	lines  chan string // of its standard output
	stderr bytes.Buffer
	ended  chan struct{} // closed after its end
}

// Options say how a process is started. The zero value is python3 with a script
// of one's own.
type Options struct {
	Interpreter string   // "" is the one of Interpreter
	Flags       []string // of the interpreter
	Arguments   []string // of the script
	Directory   string   // for sockets; "" is a new one
	Env         []string // "NAME=value"
	Credential  *syscall.Credential
}

// Start runs a script in a Python process that has the joined probe in its
// path, with a socket directory of its own. The process is killed when the test
// ends, if it still runs. Environment entries are "NAME=value"; they come last,
// so that they win.
func Start(t testing.TB, script string, env ...string) *Process {
	t.Helper()
	return StartWith(t, script, Options{Env: env})
}

// StartWith is Start with more to say.
func StartWith(t testing.TB, script string, options Options) *Process {
	t.Helper()
	p := &Process{Directory: options.Directory, Module: Module(t), t: t, lines: make(chan string, 1<<16), ended: make(chan struct{})}
	if p.Directory == "" {
		p.Directory = SocketDirectory(t)
	}
	if options.Interpreter == "" {
		options.Interpreter = Interpreter(t)
	}
	file := filepath.Join(p.Module, "render.py")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Command = exec.Command(options.Interpreter, append(append(options.Flags, "-u", file), options.Arguments...)...)
	p.Command.Env = append(os.Environ(), "PYTHONPATH="+p.Module, "PYTHONDONTWRITEBYTECODE=1", probe.DirectoryVariable+"="+p.Directory)
	p.Command.Env = append(p.Command.Env, options.Env...)
	p.Command.Stderr = &p.stderr
	p.Command.WaitDelay = time.Second // a child may hold the output open
	if options.Credential != nil {
		p.Command.SysProcAttr = &syscall.SysProcAttr{Credential: options.Credential}
	}
	p.run()
	return p
}

func (p *Process) run() {
	p.t.Helper()
	var err error
	if p.input, err = p.Command.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	p.Command.Stdout = write
	if err := p.Command.Start(); err != nil {
		p.t.Fatal(err)
	}
	write.Close()
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	go func() {
		_ = p.Command.Wait()
		close(p.ended)
	}()
	p.t.Cleanup(func() {
		_ = p.Command.Process.Kill()
		<-p.ended
		read.Close()
	})
}

// Module is a new folder with the joined probe and its sitecustomize.
func Module(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := python.WriteTo(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// SocketDirectory is a new folder whose path is short enough for sockets,
// whatever the test is called.
func SocketDirectory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// PID is the process's number.
func (p *Process) PID() int { return p.Command.Process.Pid }

// Path is the process's socket, once somebody listens there.
func (p *Process) Path() string {
	p.t.Helper()
	start, err := probe.StartTime(p.PID())
	if err != nil {
		p.t.Fatalf("the process has ended: %s", p.Stderr())
	}
	path := filepath.Join(p.Directory, probe.Name{PID: p.PID(), Start: start}.String())
	p.Until("its socket is there", func() bool {
		conn, err := net.Dial("unix", path)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return path
}

// Until waits for a condition that nothing announces, as long as the process
// runs and no longer than Patience.
func (p *Process) Until(what string, condition func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(Patience)
	for !condition() {
		select {
		case <-p.ended:
			if condition() {
				return
			}
			p.t.Fatalf("the process ended before %s: %s", what, p.stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("waited %v until %s", Patience, what)
		}
	}
}

// Line is the next line that the script printed.
func (p *Process) Line() string {
	p.t.Helper()
	select {
	case line, open := <-p.lines:
		if !open {
			p.t.Fatalf("the script printed no further line: %s", p.Stderr())
		}
		return line
	case <-time.After(Patience):
		p.t.Fatalf("the script printed nothing for %v", Patience)
	}
	return ""
}

// Say hands the script a line on its standard input.
func (p *Process) Say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.input, line+"\n"); err != nil {
		p.t.Fatalf("the script reads nothing (%v): %s", err, p.Stderr())
	}
}

// CloseInput ends the script's standard input.
func (p *Process) CloseInput() { _ = p.input.Close() }

// Kill ends the process with a signal that it cannot catch, and waits.
func (p *Process) Kill() {
	_ = p.Command.Process.Kill()
	<-p.ended
}

// Wait waits for the end and is the exit code; -1 is an end by a signal.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(Patience):
		p.t.Fatalf("the process did not end within %v", Patience)
	}
	return p.Command.ProcessState.ExitCode()
}

// Stderr is what the process wrote to its standard error, once it has ended; it
// ends a process that has not.
func (p *Process) Stderr() string {
	p.CloseInput()
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second):
		p.Kill()
	}
	return p.stderr.String()
}

// Quiet fails the test unless the process ended with code 0 and printed nothing
// on its standard error.
func (p *Process) Quiet() {
	p.t.Helper()
	p.CloseInput()
	if code := p.Wait(); code != 0 || p.stderr.Len() > 0 {
		p.t.Errorf("the process ended with %d and printed: %s", code, p.stderr.String())
	}
}

// Missing says whether a file is not there.
func Missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
