package attach

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"
)

// Every obstacle is one sentence with what to do. Starting the program with
// `vramscope run` goes around most of them.
const startInstead = "start it with `vramscope run`, or let it import vramscope_probe"

// GoneError says that there is no such process.
type GoneError struct{ PID int }

// Error is one sentence that says what to do.
func (e *GoneError) Error() string {
	return fmt.Sprintf("there is no process %d here: vramscope doctor lists the Python processes that can be seen", e.PID)
}

// NotPythonError says that a process has no Python in it.
type NotPythonError struct {
	PID     int
	Program string
}

// Error is one sentence that says what to do.
func (e *NotPythonError) Error() string {
	return fmt.Sprintf("process %d is %s and no Python: vramscope doctor lists the Python processes, its children may be among them", e.PID, e.Program)
}

// VersionError says that a Python is too old to be entered.
type VersionError struct {
	Process *Process
}

// Error is one sentence that says what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s runs Python %v, and only 3.14 and later can be entered while they run: %s", e.Process.title(), e.Process.Version, startInstead)
}

// UserError says that a process belongs to somebody else.
type UserError struct {
	Process *Process
	User    string // name or number of the process's user
}

// Error is one sentence that says what to do.
func (e *UserError) Error() string {
	return fmt.Sprintf("%s belongs to user %s: run vramscope attach as that user, or as root", e.Process.title(), e.User)
}

// ContainerError says that a process lives where paths or numbers are others.
type ContainerError struct {
	Process   *Process
	Namespace string // mnt or pid
}

// Error is one sentence that says what to do.
func (e *ContainerError) Error() string {
	what := "files"
	if e.Namespace == "pid" {
		what = "process numbers"
	}
	return fmt.Sprintf("%s runs in another container, with %s of its own: run vramscope attach inside it, or %s there", e.Process.title(), what, startInstead)
}

// PtraceError says that the kernel does not let one process into another.
type PtraceError struct {
	Process *Process
	Scope   int // kernel.yama.ptrace_scope; 0 where the kernel has none
}

// Error is one sentence that says what to do.
func (e *PtraceError) Error() string {
	switch e.Scope {
	case 1:
		return fmt.Sprintf("%s may only be entered by what started it (kernel.yama.ptrace_scope is 1): run vramscope attach with sudo, or %s", e.Process.title(), startInstead)
	case 2:
		return fmt.Sprintf("%s may only be entered by root (kernel.yama.ptrace_scope is 2): run vramscope attach with sudo, or %s", e.Process.title(), startInstead)
	case 3:
		return fmt.Sprintf("nobody may enter %s (kernel.yama.ptrace_scope is 3): %s", e.Process.title(), startInstead)
	}
	return fmt.Sprintf("the kernel lets nobody like us into %s: in a container add the capability SYS_PTRACE, else %s", e.Process.title(), startInstead)
}

// DisabledError says that the interpreter was told to let nobody in.
type DisabledError struct {
	Process *Process
	By      string // what told it; "" where that cannot be seen
}

// Error is one sentence that says what to do.
func (e *DisabledError) Error() string {
	by := e.By
	if by == "" {
		by = "an option of its own or of its build"
	}
	return fmt.Sprintf("%s lets nobody in (%s): start it without that, or with `vramscope run`", e.Process.title(), by)
}

// InterpreterError says that the target's own interpreter, which has to ask, is
// not to be had.
type InterpreterError struct {
	Process *Process
	Why     string
}

// Error is one sentence that says what to do.
func (e *InterpreterError) Error() string {
	return fmt.Sprintf("%s can only be asked by Python %v, and %s: install that version, or %s", e.Process.title(), e.Process.Version, e.Why, startInstead)
}

// BusyError says that the process did not come to a point where it could let
// the probe in. It still does as soon as it comes there.
type BusyError struct {
	Process *Process
	Waited  time.Duration
}

// Error is one sentence that says what happens now.
func (e *BusyError) Error() string {
	return fmt.Sprintf("the main thread of %s did not come back to Python within %v: it is in a long call, and the probe enters when that returns", e.Process.title(), e.Waited)
}

// RefusedError says what went wrong inside the process, or in asking it.
type RefusedError struct {
	Process *Process
	Said    string
}

// Error is one sentence that says what to do.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the probe could not start in %s (%s): %s", e.Process.title(), e.Said, startInstead)
}

// title names a process in a sentence.
func (p *Process) title() string { return fmt.Sprintf("%s (process %d)", p.Name, p.PID) }

// caller is who asks.
type caller struct {
	uid    int
	ptrace bool // it has the capability SYS_PTRACE
	scope  int  // kernel.yama.ptrace_scope
}

func thisCaller() caller {
	return caller{uid: os.Getuid(), ptrace: mayTrace(), scope: ptraceScope()}
}

// Obstacle is what keeps the probe out of a process as far as that can be seen
// from outside, nil if nothing does: a *VersionError, *UserError,
// *ContainerError, *PtraceError or *DisabledError.
func (p *Process) Obstacle() error { return p.obstacle(thisCaller()) }

func (p *Process) obstacle(by caller) error {
	switch {
	case p.UID != by.uid && by.uid != 0:
		return &UserError{p, userName(p.UID)}
	case p.Version.before(first) && p.Version != (Version{}):
		return &VersionError{p}
	case p.elsewhere != "":
		return &ContainerError{p, p.elsewhere}
	case p.disabled != "":
		return &DisabledError{p, p.disabled}
	case !p.readable, by.scope == 3, by.scope > 0 && !by.ptrace, p.UID != by.uid && !by.ptrace:
		return &PtraceError{p, by.scope}
	}
	return nil
}

func userName(uid int) string {
	number := strconv.Itoa(uid)
	if found, err := user.LookupId(number); err == nil {
		return found.Username
	}
	return number
}

// ptraceScope is kernel.yama.ptrace_scope, 0 on kernels without it.
func ptraceScope() int {
	text, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return 0
	}
	scope, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return scope
}

// tracing is the bit of the capability SYS_PTRACE.
const tracing = 1 << 19

// mayTrace says whether this process has the capability to enter others.
func mayTrace() bool {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "CapEff:" {
			capabilities, err := strconv.ParseUint(fields[1], 16, 64)
			return err == nil && capabilities&tracing != 0
		}
	}
	return false
}
