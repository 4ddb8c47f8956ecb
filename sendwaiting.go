package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vramscope/model"
	"vramscope/sources/probe/launch"
)

// commandWait is how long a command may wait for its program where nobody says
// otherwise.
const commandWait = 30 * time.Second

// longestWait is how long a program lets a command wait at most.
const longestWait = 10 * time.Minute

// beyondWait is how much longer the answer to a command that was accepted is waited
// for than it may wait for the program, so that "expired" is heard.
const beyondWait = 5 * time.Second

// noticeTime is how much longer it is waited at least, so that a program that is
// well can say that it has accepted a command.
const noticeTime = 500 * time.Millisecond

// sayWaitingAfter is after how long without an answer it is said what a command
// waits for.
const sayWaitingAfter = 700 * time.Millisecond

// hold is how long a command may wait, and who is told that it does.
type hold struct {
	wait time.Duration
	say  func(text string) // nil tells nobody
}

// patiently is the hold of a command from a script.
func (p *program) patiently(wait time.Duration) hold {
	return hold{wait: wait, say: func(text string) { fmt.Fprintln(p.problems, printable(text)) }}
}

// waitsFor is one sentence on what a command without a final answer waits for.
func waitsFor(view *model.SourceView, action *model.Action, wait time.Duration) string {
	title := printable(view.Name)
	why := "it is busy in one long call, such as compiling kernels, and does not answer"
	if name, ok := socketOf(view); ok {
		title = fmt.Sprintf("%s (process %d)", title, name.PID)
		switch {
		case launch.Stopped(name.PID):
			why = fmt.Sprintf("it was stopped by a signal: continue it with kill -CONT %d, or fg where it was started", name.PID)
		case waitsForInput(name.PID):
			why = "its main thread waits for input, such as the prompt of python -i: enter something there"
		case action != nil && action.Accepted != nil && view.Hello != nil && view.Hello.Safe == "poll":
			why = "the command runs at the program's next frame"
		case action != nil && action.Accepted != nil:
			why = "the command runs once the main thread comes back from a long call, or takes long itself"
		}
	}
	return fmt.Sprintf("waiting up to %v for %s: %s", wait, title, why)
}

// waitsForInput says whether the main thread of a process reads its standard
// input, or waits until that can be read. It is false where the kernel does not
// tell.
func waitsForInput(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return false
	}
	call, err := strconv.Atoi(fields[0])
	if err != nil {
		return false
	}
	const selectOnAMD64 = 23 // other machines have pselect6 alone
	switch {
	case call == unix.SYS_READ:
		return fields[1] == "0x0"
	case call == unix.SYS_PSELECT6, call == selectOnAMD64 && runtime.GOARCH == "amd64":
		return fields[1] == "0x1" // descriptors below 1
	}
	return false
}
