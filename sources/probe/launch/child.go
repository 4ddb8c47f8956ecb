package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The exit codes of a program that could not be started, as shells have them.
const (
	CodeNotExecutable = 126
	CodeNotFound      = 127
)

// StartError says that the program could not be started.
type StartError struct {
	Name string // as it was given
	Err  error
}

// Error is one sentence that says what to do.
func (e *StartError) Error() string {
	switch {
	case errors.Is(e.Err, exec.ErrDot):
		return fmt.Sprintf("%s is in the working directory, which is not searched: name it ./%s", e.Name, e.Name)
	case e.Code() == CodeNotFound:
		return fmt.Sprintf("%s is not found: name a program that is in PATH, or its path", e.Name)
	case errors.Is(e.Err, syscall.ENOEXEC):
		return fmt.Sprintf("%s is neither a program nor a script that names its interpreter: put the interpreter before it, such as python %s", e.Name, e.Name)
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("%s may not be executed: make it executable, or put its interpreter before it, such as python %s", e.Name, e.Name)
	}
	return fmt.Sprintf("%s cannot be executed (%v): see whether it runs without vramscope", e.Name, e.Err)
}

// Unwrap is the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// Code is what a shell would end with.
func (e *StartError) Code() int {
	if errors.Is(e.Err, fs.ErrNotExist) || errors.Is(e.Err, exec.ErrNotFound) {
		return CodeNotFound
	}
	return CodeNotExecutable
}

// Exit is how a program ended.
type Exit struct {
	Code   int            // its exit code, if no signal ended it
	Signal syscall.Signal // the signal that ended it, 0 if none
}

// Status is the exit code that a shell tells: the program's own, or 128 and the
// signal's number.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// String says it in words.
func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("killed by signal %d (%v)", int(e.Signal), e.Signal)
	}
	return "exit " + strconv.Itoa(e.Code)
}

// Child is a program that runs in the terminal, the process group and the
// session of this one, with its standard input, output and errors. It goes on
// if this process is killed.
type Child struct {
	PID     int
	signals chan os.Signal
	stopped chan struct{} // the terminal's stop signals have stopped it
	ended   chan struct{}
}

// passed are the signals that are handed on.
var passed = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGWINCH,
}

// Start starts a program that is looked for as a shell does. argv[0] is its
// name. The error is a *StartError. Wait must be called.
func Start(argv, environment []string) (*Child, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		var failed *exec.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, &StartError{argv[0], err}
	}
	c := &Child{signals: make(chan os.Signal, 16), stopped: make(chan struct{}), ended: make(chan struct{})}
	for _, s := range passed {
		// What nohup or a shell's & made us ignore, the program ignores too.
		if !signal.Ignored(s) {
			signal.Notify(c.signals, s)
		}
	}
	process, err := os.StartProcess(path, argv, &os.ProcAttr{
		Env: environment, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		signal.Stop(c.signals)
		var failed *fs.PathError
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, &StartError{argv[0], err}
	}
	c.PID = process.Pid
	_ = process.Release() // it is waited for here, to see it stop too
	return c, nil
}

// Wait hands signals on until the program has ended, and leaves no zombie.
func (c *Child) Wait() (Exit, error) {
	defer signal.Stop(c.signals)
	go c.observe()
	for {
		select {
		case s := <-c.signals:
			c.pass(s.(syscall.Signal))
		case <-c.stopped:
			stopSelf()
		case <-c.ended:
			return c.reap()
		}
	}
}

// childStopped is CLD_STOPPED of the kernel's siginfo.
const childStopped = 5

// observe tells of stops and of the end, without reaping: as long as the
// program is not reaped, its number is its own and a signal meets nobody else.
func (c *Child) observe() {
	defer close(c.ended)
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, c.PID, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || info.Code != childStopped:
			return
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(c.PID, &status, syscall.WUNTRACED|syscall.WNOHANG, nil)
		if err != nil || pid != c.PID {
			continue // it was continued meanwhile
		}
		if !status.Stopped() {
			// It ended between the two looks and is reaped: that cannot be,
			// since WUNTRACED takes the stop that is there first.
			continue
		}
		switch status.StopSignal() {
		case syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
			c.stopped <- struct{}{}
		}
	}
}

func (c *Child) reap() (Exit, error) {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(c.PID, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return Exit{}, fmt.Errorf("the program's end cannot be learned (%w): see whether something else of this process waits for it", err)
		}
		break
	}
	if status.Signaled() {
		return Exit{Signal: status.Signal()}, nil
	}
	return Exit{Code: status.ExitStatus()}, nil
}

// pass hands a signal on, unless the program has it already: what comes from
// the terminal goes to the whole group in its foreground.
func (c *Child) pass(s syscall.Signal) {
	switch s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGWINCH:
		if inForeground() {
			return
		}
	case syscall.SIGCONT:
		if !isStopped(c.PID) {
			return
		}
	}
	_ = syscall.Kill(c.PID, s)
}

// stopSelf stops this process as the terminal has stopped the program, so that
// the shell that started it takes over, and returns when it goes on. The signal
// is sent to this very thread: it has then stopped before the call returns.
func stopSelf() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSTOP)
}

// inForeground says whether this process's group has the terminal.
func inForeground() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
