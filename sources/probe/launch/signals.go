package launch

import (
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lastSignal is the highest number of a signal.
const lastSignal syscall.Signal = 64

// passes says whether a signal to this process is meant for the program. The
// others speak of this process itself: of its children, of what it does with the
// terminal and with its files, or are the Go runtime's and the C library's own.
func passes(s syscall.Signal) bool {
	switch s {
	case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPROF, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGXFSZ, 32, 33:
		return false
	}
	return true
}

// listen has signals come to the channel: those that are passed on and that this
// process was started to ignore, or the others of them.
func listen(to chan os.Signal, ignored bool) {
	for s := syscall.Signal(1); s <= lastSignal; s++ {
		if passes(s) && signal.Ignored(s) == ignored {
			signal.Notify(to, s)
		}
	}
}

// grace is how long a signal waits for the witness: timeout and batch systems
// send one to a process and then the same one to its group.
const grace = 50 * time.Millisecond

// post passes signals on to the program: what was sent to this process alone, and
// not what the program got by itself, as one of the group.
type post struct {
	pid     int // the program's
	witness *witness
	shared  [lastSignal + 1]time.Time // until when a signal is one that the whole group got
	waiting []letter                  // the oldest first
	due     *time.Timer               // when the oldest has waited for its grace
	resumed time.Time                 // when the program went on after the terminal had stopped it
}

// letter is a signal that may be the program's.
type letter struct {
	signal syscall.Signal
	due    time.Time
}

func newPost() *post {
	p := &post{witness: newWitness(), due: time.NewTimer(time.Hour)}
	p.due.Stop()
	return p
}

// receive takes a signal that has come.
func (p *post) receive(s syscall.Signal, now time.Time) {
	if (s == syscall.SIGTSTP || s == syscall.SIGCONT) && now.Before(p.resumed.Add(grace)) {
		return // of the stop that is over: the kernel has taken the witness's word back
	}
	switch {
	case !p.apart():
		if p.isShared(s, now) {
			return
		}
	case slices.ContainsFunc(p.waiting, func(l letter) bool { return l.signal == s }):
		return // sent to this process and to its group: one, as the program would have got without us
	}
	p.waiting = append(p.waiting, letter{s, now.Add(grace)})
	if len(p.waiting) == 1 {
		p.due.Reset(grace)
	}
}

// deliver passes on what has waited for its grace.
func (p *post) deliver(now time.Time) {
	for len(p.waiting) > 0 && !now.Before(p.waiting[0].due) {
		s := p.waiting[0].signal
		p.waiting = p.waiting[1:]
		if p.apart() || !p.isShared(s, now) {
			_ = syscall.Kill(p.pid, s)
		}
	}
	if len(p.waiting) > 0 {
		p.due.Reset(p.waiting[0].due.Sub(now))
	}
}

// apart says whether the program is in a group of its own by now, where it gets
// nothing that was sent to this one's.
func (p *post) apart() bool {
	group, err := unix.Getpgid(p.pid)
	return err == nil && group != unix.Getpgrp()
}

// isShared says whether the program, as one of the group, got the signal too.
func (p *post) isShared(s syscall.Signal, now time.Time) bool {
	pending, known := p.witness.pending()
	if !known {
		p.witness.renew()
		return fromTerminal(s)
	}
	if pending != 0 {
		pending |= p.witness.renew()
	}
	until := time.Now().Add(grace)
	has := func(s syscall.Signal) bool { return pending&(1<<(s-1)) != 0 }
	for number := syscall.Signal(1); number <= lastSignal; number++ {
		if has(number) {
			p.shared[number] = until
		}
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(l letter) bool { return has(l.signal) })
	return has(s) || now.Before(p.shared[s])
}

// goneOn forgets what has to do with a stop by the terminal that is over.
func (p *post) goneOn() {
	p.waiting = slices.DeleteFunc(p.waiting, func(l letter) bool { return l.signal == syscall.SIGTSTP || l.signal == syscall.SIGCONT })
	p.witness.renew()
	p.resumed = time.Now()
}

// end ends what the post needs.
func (p *post) end() {
	p.due.Stop()
	p.witness.end()
}

// fromTerminal says of a signal, where there is no witness, whether the terminal
// has sent it to the group in its foreground.
func fromTerminal(s syscall.Signal) bool {
	switch s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGWINCH, syscall.SIGCONT:
		return inForeground()
	}
	return false
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
