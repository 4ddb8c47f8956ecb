package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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

// Fine says whether the program ended by itself and found nothing wrong.
func (e Exit) Fine() bool { return e == Exit{} }

// String says it in words.
func (e Exit) String() string {
	switch {
	case e.Signal != 0:
		return fmt.Sprintf("killed by signal %d (%v)", int(e.Signal), e.Signal)
	case e.Code != 0:
		return "the program ended with exit code " + strconv.Itoa(e.Code)
	}
	return "the program ended"
}

// Child is a program that runs in the terminal, the process group and the
// session of this one, with its standard input, output and errors. It goes on
// if this process is killed.
type Child struct {
	PID     int
	signals chan os.Signal
	stopped chan struct{} // a signal has stopped it, and next is waited for
	next    chan struct{}
	ended   chan struct{}
	post    *post
	held    bool                // it was stopped by what only SIGCONT undoes, and not by the terminal
	status  *syscall.WaitStatus // of its end, once it is reaped: its number may then be another's
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
		return nil, &StartError{argv[0], "", err}
	}
	c := &Child{signals: make(chan os.Signal, lastSignal), stopped: make(chan struct{}), next: make(chan struct{}), ended: make(chan struct{}), post: newPost()}
	ignoreAsInherited()
	listen(c.signals, false)
	process, err := execute(path, argv, environment)
	if err != nil {
		signal.Stop(c.signals)
		c.post.end()
		return nil, &StartError{argv[0], path, err}
	}
	// What nohup, a shell's & or a trap made us ignore, the program ignores too. From
	// now on it is passed on: the program may want to hear it by now.
	listen(c.signals, true)
	listenToFirstRealTime(c.signals)
	c.PID, c.post.pid = process.Pid, process.Pid
	_ = process.Release() // it is waited for here, to see it stop too
	return c, nil
}

// shell runs scripts that name no interpreter.
const shell = "/bin/sh"

// execute starts a program. What names no interpreter is the shell's, as it is
// where a shell, env or nohup start it. The error is the system's.
func execute(path string, argv, environment []string) (*os.Process, error) {
	attributes := &os.ProcAttr{Env: environment, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	process, err := startBlocking(path, argv, attributes)
	if errors.Is(err, syscall.ENOEXEC) && !isELF(path) {
		process, err = startBlocking(shell, append([]string{shell, path}, argv[1:]...), attributes)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return process, err
}

// Wait hands signals on until the program has ended, and leaves no zombie.
func (c *Child) Wait() (Exit, error) {
	defer c.post.end()
	defer signal.Stop(c.signals)
	go c.observe()
	for {
		select {
		case s := <-c.signals:
			c.pass(s.(syscall.Signal))
		case <-c.post.due.C:
			if c.status == nil {
				c.post.deliver(time.Now())
			}
		case <-c.stopped:
			c.stop()
			c.next <- struct{}{}
		case <-c.ended:
			return c.reap()
		}
	}
}

// childStopped is CLD_STOPPED of the kernel's siginfo.
const childStopped = 5

// observe tells of stops and of the end, without taking the news from the
// kernel: as long as the program is not reaped, its number is its own and a
// signal meets nobody else.
func (c *Child) observe() {
	defer close(c.ended)
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, c.PID, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || info.Code != childStopped:
			return
		default:
			c.stopped <- struct{}{}
			<-c.next
		}
	}
}

// stop takes the news of a stop. Where the terminal stopped the program, this
// process stops too, so that the shell takes over, and goes on with it.
func (c *Child) stop() {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(c.PID, &status, syscall.WUNTRACED|syscall.WNOHANG, nil)
	switch {
	case err != nil || pid != c.PID:
		return // it goes on already
	case !status.Stopped():
		c.status = &status // it has even ended already
		return
	}
	switch status.StopSignal() {
	case syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		stopSelf()
		c.post.goneOn()
		// A shell continues the whole group. What is stopped now and no news is
		// still in the same stop, and was left there by who continued us alone.
		if isStopped(c.PID) && !c.news() {
			_ = syscall.Kill(c.PID, syscall.SIGCONT)
		}
	default:
		c.held = true
	}
}

// news says whether the kernel has something to tell of the program.
func (c *Child) news() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.PID, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// reap learns how the program ended.
func (c *Child) reap() (Exit, error) {
	for c.status == nil {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.PID, &status, 0, nil)
		switch {
		case err == nil:
			c.status = &status
		case !errors.Is(err, syscall.EINTR):
			return Exit{}, fmt.Errorf("the program's end cannot be learned (%w): see whether something else of this process waits for it", err)
		}
	}
	if c.status.Signaled() {
		return Exit{Signal: c.status.Signal()}, nil
	}
	return Exit{Code: c.status.ExitStatus()}, nil
}

// pass hands a signal on, unless the program has it already.
func (c *Child) pass(s syscall.Signal) {
	switch {
	case c.status != nil:
	case s == syscall.SIGCONT && c.held && isStopped(c.PID):
		// Had the whole group been continued, the program would run.
		c.held = false
		_ = syscall.Kill(c.PID, s)
	default:
		c.post.receive(s, time.Now())
	}
}
