package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"vramscope/sources/probe"
)

// Child is a render in a process of its own, which ends with this one.
type Child struct {
	command *exec.Cmd
	input   io.Closer // ends the child when it closes, as it does when this process dies
	path    string
	said    tail
	ended   chan struct{}
	err     error // how it ended, once ended is closed
	stop    sync.Once

	patience time.Duration // how long it is given to end before it is killed
}

// ChildError says that the child did not start, or how it ended.
type ChildError struct {
	Argv []string
	Said string // the end of what it wrote to its standard error, one line
	Err  error
}

// Error is one sentence.
func (e *ChildError) Error() string {
	if e.Said != "" {
		return fmt.Sprintf("the render's process ended (%v) and said: %s", e.Err, strings.TrimPrefix(e.Said, "vramscope: "))
	}
	return fmt.Sprintf("the render's process could not run (%v): try %s by hand", e.Err, strings.Join(e.Argv, " "))
}

// Unwrap is the system's error.
func (e *ChildError) Unwrap() error { return e.Err }

// Spawn starts a program that calls Serve with its standard input as the parent
// and prints the socket's path when that is ready (Announce), and waits for
// it. The error is a *ChildError, or ctx's.
func Spawn(ctx context.Context, argv []string) (*Child, error) {
	command := exec.Command(argv[0], argv[1:]...)
	// The terminal's own signals are for the dashboard, which then ends us.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c := &Child{command: command, ended: make(chan struct{}), patience: 2 * time.Second}
	command.Stderr = &c.said
	input, err := command.StdinPipe()
	if err != nil {
		return nil, &ChildError{Argv: argv, Err: err}
	}
	output, ours, err := os.Pipe()
	if err != nil {
		return nil, &ChildError{Argv: argv, Err: err}
	}
	command.Stdout, c.input = ours, input
	err = command.Start()
	_ = ours.Close() // the child has its own
	if err != nil {
		_ = output.Close()
		return nil, &ChildError{Argv: argv, Err: err}
	}
	go c.wait()
	stop := context.AfterFunc(ctx, func() { _ = output.Close() })
	line, err := bufio.NewReader(io.LimitReader(output, probe.MaxPath+1)).ReadString('\n')
	stop()
	_ = output.Close()
	if err != nil {
		c.Stop()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.failure(err)
	}
	c.path = strings.TrimSuffix(line, "\n")
	return c, nil
}

// Announce prints the socket's path for Spawn to read: it is a Surroundings'
// Ready in a child.
func Announce(path string) { fmt.Println(path) }

func (c *Child) wait() {
	c.err = c.command.Wait()
	close(c.ended)
}

func (c *Child) failure(err error) error {
	if c.err != nil {
		err = c.err
	}
	return &ChildError{Argv: c.command.Args, Said: c.said.line(), Err: err}
}

// Path is the child's socket.
func (c *Child) Path() string { return c.path }

// PID is the child's process number.
func (c *Child) PID() int { return c.command.Process.Pid }

// Ended is closed when the child has ended.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Err is how the child ended, once Ended is closed: nil for an orderly end,
// else a *ChildError.
func (c *Child) Err() error {
	if c.err == nil {
		return nil
	}
	return c.failure(c.err)
}

// Stop ends the child: asked first, killed after two seconds. It leaves neither
// a zombie nor a socket, and returns when the child is gone. It may be called
// more than once.
func (c *Child) Stop() {
	c.stop.Do(func() {
		_ = c.input.Close()
		_ = c.command.Process.Signal(syscall.SIGTERM)
		deadline := time.NewTimer(c.patience)
		defer deadline.Stop()
		select {
		case <-c.ended:
		case <-deadline.C:
			_ = c.command.Process.Kill()
			<-c.ended
		}
	})
	if c.path != "" {
		// Its own name: no other process has the same number and start.
		if err := os.Remove(c.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

const tailBytes = 2048

// Write takes everything.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, text...)
	if extra := len(t.bytes) - tailBytes; extra > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[extra:]...)
	}
	return len(text), nil
}

// line is the last line that says something.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.bytes), []byte("\n"))
	return strings.ToValidUTF8(string(lines[len(lines)-1]), "�")
}
