package launch

/*
#include <stdlib.h>
#include <unistd.h>

// Go's runtime would unblock signals on its threads, so this comes before it.
__attribute__((constructor)) static void be_witness(void)
{
	while (getenv("VRAMSCOPE_SIGNAL_WITNESS"))
		pause();
}
*/
import "C"

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// witness is a process in the group of this one that blocks every signal and does
// nothing. Nobody tells whom a signal was sent to; but what was sent to the whole
// group, or to every process of a service, is pending in the witness.
type witness struct {
	process *os.Process // nil where there is none
	do      chan func() // is done on the one thread whose signals are blocked
}

// newWitness starts a witness. It ends with this process, however that ends.
func newWitness() *witness {
	w := &witness{do: make(chan func())}
	go func() {
		// The thread is never unlocked and ends with this function: nothing else
		// of this process may run where every signal is blocked. The kernel ends
		// the witness with the thread that started it.
		runtime.LockOSThread()
		var every unix.Sigset_t
		for i := range every.Val {
			every.Val[i] = ^every.Val[i]
		}
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &every, nil) // a child inherits it
		for do := range w.do {
			do()
		}
	}()
	w.renew()
	return w
}

// renew puts a new witness, in which nothing is pending, in the place of the old
// one, and says what became pending in that until it ended. The new one is there
// first, so that no signal falls between the two.
func (w *witness) renew() (pending uint64) {
	done := make(chan struct{})
	w.do <- func() {
		old := w.process
		w.process = startWitness()
		pending = end(old)
		close(done)
	}
	<-done
	return pending
}

// end ends the witness.
func (w *witness) end() {
	done := make(chan struct{})
	w.do <- func() {
		end(w.process)
		w.process = nil
		close(done)
	}
	<-done
	close(w.do)
}

// end ends a process of a witness, nil for none, and says what was pending in it.
func end(process *os.Process) (pending uint64) {
	if process == nil {
		return 0
	}
	pending, _ = pendingIn(process.Pid)
	_ = process.Kill()
	_, _ = process.Wait()
	return pending
}

// witnessVariable has this very program be the witness, where there is no sleep.
const witnessVariable = "VRAMSCOPE_SIGNAL_WITNESS"

// startWitness starts the process of a witness, nil where that cannot be done. It
// is a sleep of 68 years where there is one: who looks for vramscope by its name
// means this process and not the witness.
func startWitness() *os.Process {
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer nowhere.Close()
	attributes := &os.ProcAttr{
		Dir: "/", Env: []string{witnessVariable + "=1"}, Files: []*os.File{nowhere, nowhere, nowhere},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	}
	if path, err := exec.LookPath("sleep"); err == nil {
		if process, err := os.StartProcess(path, []string{"sleep", "2147483647"}, attributes); err == nil {
			return process
		}
	}
	process, err := os.StartProcess("/proc/self/exe", []string{"signal-witness"}, attributes)
	if err != nil {
		return nil
	}
	return process
}

// pending are the signals that were sent to the group since the witness began,
// signal number n in bit n-1. known is false where there is no witness.
func (w *witness) pending() (pending uint64, known bool) {
	if w.process == nil {
		return 0, false
	}
	return pendingIn(w.process.Pid)
}

// pendingIn are the signals that wait for a process that blocks them.
func pendingIn(pid int) (pending uint64, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return 0, false // somebody has killed it
			}
		case "ShdPnd":
			pending, err = strconv.ParseUint(value, 16, 64)
			return pending, err == nil
		}
	}
	return 0, false
}
