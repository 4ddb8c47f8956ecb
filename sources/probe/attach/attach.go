package attach

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"vramscope/sources/probe"
	"vramscope/sources/probe/python"
)

// enterScript runs in the process that is entered, askScript in an interpreter
// of the same version that asks it to.
//
//go:embed enter.py
var enterScript string

//go:embed ask.py
var askScript string

// Options say how an Attach goes about. The zero value will do.
type Options struct {
	// Wait is how long the process may take to let the probe in; 0 is ten
	// seconds.
	Wait time.Duration
	// Say is told what is waited for, in a sentence; nil is nobody.
	Say func(string)
}

// Reached is a process that lets vramscope in.
type Reached struct {
	Process   *Process
	Already   bool   // the probe was there before
	Directory string // of its socket
}

const (
	waitByDefault = 10 * time.Second
	askTime       = 10 * time.Second // for the interpreter that asks
	saySoon       = time.Second      // after which it is said what is waited for
	lookEvery     = 20 * time.Millisecond
)

// Attach lets the probe into a running Python process. Besides the obstacles of
// Inspect and Process.Obstacle the error is an *InterpreterError, a *BusyError,
// a *RefusedError, a *probe.DirectoryError, or ctx's.
func Attach(ctx context.Context, pid int, options Options) (*Reached, error) {
	if options.Wait <= 0 {
		options.Wait = waitByDefault
	}
	if options.Say == nil {
		options.Say = func(string) {}
	}
	p, err := Inspect(pid)
	if err != nil {
		return nil, err
	}
	sockets, err := probe.Directory()
	if err != nil {
		return nil, err
	}
	if p.HasProbe(sockets) && answers(ctx, p, sockets) {
		return &Reached{p, true, sockets}, nil
	}
	by := thisCaller()
	obstacle := p.obstacle(by)
	var ptrace *PtraceError
	if errors.As(obstacle, &ptrace) && p.readable && ptrace.Scope < 3 {
		// A process may have named those who may enter it: the kernel knows.
		obstacle = nil
	}
	if obstacle != nil {
		return nil, obstacle
	}
	if p.UID != by.uid {
		sockets = "" // where that user's are
	}
	return enter(ctx, p, sockets, options)
}

// answers says whether a probe is behind a socket that is there.
func answers(ctx context.Context, p *Process, directory string) bool {
	_, err := probe.Greet(ctx, filepath.Join(directory, p.SocketName().String()))
	return err == nil
}

// enter lays the probe down where the process can read it, asks the process to
// take it in, and waits.
func enter(ctx context.Context, p *Process, sockets string, options Options) (*Reached, error) {
	place, err := newPlace(p, sockets)
	if err != nil {
		return nil, err
	}
	if err := ask(ctx, p, place); err != nil {
		place.remove()
		return nil, err
	}
	deadline := time.NewTimer(options.Wait)
	defer deadline.Stop()
	soon := time.NewTimer(saySoon)
	defer soon.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if outcome := place.outcome(); outcome != nil {
			place.remove()
			return outcome.reached(p)
		}
		if p.SocketName().Gone() {
			place.remove()
			return nil, &GoneError{p.PID}
		}
		select {
		case <-look.C:
		case <-soon.C:
			options.Say(fmt.Sprintf("waiting until the main thread of %s comes back to Python", p.title()))
		case <-deadline.C:
			place.leave()
			return nil, &BusyError{p, options.Wait}
		case <-ctx.Done():
			place.withdraw()
			return nil, ctx.Err()
		}
	}
}

// problem is what ask.py prints.
type problem struct {
	Kind    string `json:"kind"`
	Number  int    `json:"errno"`
	Text    string `json:"text"`
	Version string `json:"version"`
}

// ask has an interpreter of the process's own version ask it to run the script.
func ask(ctx context.Context, p *Process, at *place) error {
	executable, err := p.interpreter()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	command := exec.CommandContext(ctx, executable, "-I", "-c", askScript, fmt.Sprint(p.PID), at.script(),
		filepath.Join(at.directory, python.ModuleName+".py"), fmt.Sprint(p.UID))
	command.Env = p.askingEnvironment()
	var said, complained bytes.Buffer
	command.Stdout, command.Stderr = &said, &complained
	failed := command.Run()
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	var found problem
	if failed != nil || json.Unmarshal(said.Bytes(), &found) != nil {
		return &InterpreterError{p, fmt.Sprintf("%s did not do it (%v) %s", executable, failed, lastLine(complained.String()))}
	}
	if found.Kind == "" {
		return nil
	}
	return p.refusal(&found)
}

// refusal puts the interpreter's error into a typed one.
func (p *Process) refusal(found *problem) error {
	errno := syscall.Errno(found.Number)
	switch {
	case found.Kind == "PermissionError", isPermission(errno):
		return &PtraceError{p, ptraceScope()}
	case found.Kind == "ProcessLookupError", errors.Is(errno, syscall.ESRCH):
		return &GoneError{p.PID}
	case found.Kind == "AttributeError":
		if version := strings.SplitN(found.Version, ".", 3); len(version) == 3 {
			p.Version = versionOf(version[0], version[1])
		}
		return &VersionError{p}
	case found.Kind == "RuntimeError" && strings.Contains(found.Text, "not enabled"):
		return &DisabledError{p, p.disabled}
	}
	return &RefusedError{p, found.Kind + ": " + found.Text}
}

// interpreter is the program to ask with: the process's own, or for one that
// has Python built in the same version from PATH. On behalf of root only a
// program that is root's is run, since another user could have put anything in
// the place of theirs.
func (p *Process) interpreter() (string, error) {
	foreign := p.UID != os.Getuid()
	why := ""
	switch {
	case p.Embedded:
		why = "no python" + p.Version.String() + " is in PATH"
	case strings.HasSuffix(p.Executable, deleted):
		why = "the file of its own interpreter was replaced since it started"
	case foreign && !onlyRoots(p.Executable):
		why = "its own interpreter " + p.Executable + " is another user's, which root does not run"
	default:
		return p.Executable, nil
	}
	path, err := exec.LookPath("python" + p.Version.String())
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil || foreign && !onlyRoots(path) {
		return "", &InterpreterError{p, why}
	}
	return path, nil
}

// onlyRoots says whether nobody but root can have changed what a path, which
// has no links, leads to.
func onlyRoots(path string) bool {
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return false
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 || info.Mode().Perm()&0o022 != 0 {
			return false
		}
		above := filepath.Dir(path)
		if above == path {
			return true
		}
		path = above
	}
}

// askingEnvironment is ours without what would change an interpreter, and with
// where the process finds its libraries, if it is this user's.
func (p *Process) askingEnvironment() (kept []string) {
	const libraries = "LD_LIBRARY_PATH="
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PYTHON") && !strings.HasPrefix(variable, libraries) {
			kept = append(kept, variable)
		}
	}
	if p.UID != os.Getuid() {
		return kept
	}
	for _, variable := range p.environment() {
		if strings.HasPrefix(variable, libraries) {
			kept = append(kept, variable)
		}
	}
	return kept
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
