package launch

/*
#include <errno.h>
#include <signal.h>
#include <unistd.h>

static int mouth;

static void tell(int number)
{
	int before = errno;
	char byte = (char)number;
	if (write(mouth, &byte, 1) < 0) {} // nobody can be told from here
	errno = before;
}

static int listen_with(int number, int descriptor)
{
	struct sigaction action = {.sa_handler = tell, .sa_flags = SA_ONSTACK | SA_RESTART};
	mouth = descriptor;
	sigfillset(&action.sa_mask);
	return sigaction(number, &action, 0);
}
*/
import "C"

import (
	"os"
	"syscall"
)

// firstRealTime is SIGRTMIN as the C library counts, which has two for itself.
const firstRealTime syscall.Signal = 34

// listenToFirstRealTime has the first real-time signal come to the channel, too.
// It would end this process: Go's runtime leaves it to some C libraries and lets
// nobody be notified of it, so that the handler is one of C.
func listenToFirstRealTime(to chan<- os.Signal) {
	ear, mouth, err := os.Pipe()
	if err != nil {
		return
	}
	if C.listen_with(C.int(firstRealTime), C.int(mouth.Fd())) != 0 {
		_, _ = ear.Close(), mouth.Close()
		return
	}
	go func() {
		defer mouth.Close() // the handler's, for as long as this process lives
		told := make([]byte, 1)
		for {
			if _, err := ear.Read(told); err != nil {
				return
			}
			to <- syscall.Signal(told[0])
		}
	}()
}
