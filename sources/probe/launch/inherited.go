package launch

/*
#include <signal.h>

enum { LAST_SIGNAL = 64 };

static unsigned long long ignored_signals; // number n in bit n-1
static sigset_t blocked_signals;

// Go's runtime puts handlers of its own in the place of most of what was ignored,
// so this comes before it.
__attribute__((constructor)) static void look_at_signals(void)
{
	for (int number = 1; number <= LAST_SIGNAL; number++) {
		struct sigaction action;
		if (sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN)
			ignored_signals |= 1ULL << (number - 1);
	}
	if (sigprocmask(SIG_BLOCK, 0, &blocked_signals) != 0)
		sigemptyset(&blocked_signals);
}

static unsigned long long ignored_at_start(void) { return ignored_signals; }

static int block_as_at_start(sigset_t *before) { return pthread_sigmask(SIG_SETMASK, &blocked_signals, before); }

static void block_again(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, 0); }
*/
import "C"

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// ignoreAsInherited ignores again what this process was started to ignore, so that
// the program inherits that; listen undoes it for what is passed on. Left out are
// SIGCHLD, since the kernel would keep the program's end to itself, and SIGURG,
// which wakes Go's runtime and is ignored by default. Go leaves out SIGPROF, and
// what tells of a fault.
func ignoreAsInherited() {
	inherited := uint64(C.ignored_at_start())
	for s := syscall.Signal(1); s <= lastSignal; s++ {
		if s != syscall.SIGCHLD && s != syscall.SIGURG && inherited&(1<<(s-1)) != 0 {
			signal.Ignore(s)
		}
	}
}

// startBlocking starts a process that blocks what this one was started to block:
// it inherits that from the thread that starts it.
func startBlocking(path string, argv []string, attributes *os.ProcAttr) (*os.Process, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var own C.sigset_t
	if C.block_as_at_start(&own) == 0 {
		defer C.block_again(&own)
	}
	return os.StartProcess(path, argv, attributes)
}
