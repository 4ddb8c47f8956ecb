package probe

import (
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"vramscope/recorder"
)

// TestWriteToAClosedEndRaisesNoSignal, and is an error all the same.
func TestWriteToAClosedEndRaisesNoSignal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	raised := make(chan os.Signal, 1)
	signal.Notify(raised, syscall.SIGPIPE)
	failed := writeRecord(conn, &recorder.Want{Events: true}, time.Now().Add(time.Second))
	signal.Stop(raised) // waits for what was raised
	if cause(failed) != syscall.EPIPE || len(raised) > 0 {
		t.Errorf("%v, with %d signals", failed, len(raised))
	}
}
