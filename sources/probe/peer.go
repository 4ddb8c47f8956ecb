package probe

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerError refuses the process at the other end of a socket: it runs as
// another user.
type PeerError struct {
	PID int // as this side's namespace sees it, 0 when it does not
	UID int // who it is
	Own int // who we are
}

// Error is one sentence that says what to do.
func (e *PeerError) Error() string {
	return fmt.Sprintf("process %d at the other end of the socket runs as user %d and this one as user %d: run both as the same user",
		e.PID, e.UID, e.Own)
}

// allowed is the rule for both ends: the same user, or root. Process numbers
// are not compared, since namespaces map them.
func allowed(peer, own int) bool { return peer == own || peer == 0 }

// checkPeer asks the kernel who is at the other end (SO_PEERCRED). The error
// is a *PeerError for another user's process.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var credentials *unix.Ucred
	var asked error
	err = raw.Control(func(fd uintptr) {
		credentials, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = asked
	}
	if err != nil {
		return fmt.Errorf("the kernel does not say who is at the other end of the socket: %w", err)
	}
	if own := os.Getuid(); !allowed(int(credentials.Uid), own) {
		return &PeerError{PID: int(credentials.Pid), UID: int(credentials.Uid), Own: own}
	}
	return nil
}
