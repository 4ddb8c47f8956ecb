package probe

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"testing"

	"vramscope/recorder"
)

// TestBrokenStreamOfAProgramThatEnds: its connection closes before it is seen to
// have ended, and what is said of it is what is said of one that ended at once.
func TestBrokenStreamOfAProgramThatEnds(t *testing.T) {
	program := exec.Command("sleep", "600")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	pid := program.Process.Pid
	start, err := StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), Name{PID: pid, Start: start}.String())
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			hello := testHello()
			hello.Proto, hello.Min = recorder.Protocol, recorder.MinimumProtocol
			line, _ := recorder.AppendLine(nil, &hello)
			_, err = conn.Write(line)
			_ = conn.(*net.UnixConn).CloseWrite()
			_, _ = conn.Read(make([]byte, 1<<16)) // the reader's hello
			_ = conn.Close()
		}
		answered <- err
	}()
	source := NewSource(path)
	run := func(source *Source) error { return source.Run(context.Background(), func(recorder.Record) {}) }
	var end *EndError
	if err := run(source); !errors.As(err, &end) || end.Gone {
		t.Errorf("while the program runs: %v", err)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	_ = program.Process.Kill()
	_ = program.Wait()
	_ = listener.Close()
	if err := run(source); !errors.As(err, &end) || !end.Gone {
		t.Errorf("after its end: %v", err)
	}
	var dial *DialError
	if err := run(NewSource(path)); !errors.As(err, &dial) || !dial.Gone {
		t.Errorf("to one that never saw it: %v", err)
	}
}
