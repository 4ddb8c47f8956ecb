package probe

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"vramscope/recorder"
)

// The test binary plays other processes, too: what one is to do stands in its
// environment.
const roleVariable = "VRAMSCOPE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(playRole(role))
	}
	goleak.VerifyTestMain(m)
}

func playRole(role string) int {
	switch role {
	case "render": // offers itself until its standard input closes
		server, err := Listen(Options{Hello: testHello()}, &fakeRender{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(server.Path())
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close("done")
		return 0
	case "reader": // connects to the socket in its argument and says what came of it
		err := NewSource(os.Args[len(os.Args)-1]).Run(context.Background(), func(recorder.Record) {})
		fmt.Println(err)
		return 0
	}
	return 2
}

// otherProcess is a command of this test binary in a role.
func otherProcess(t *testing.T, role string, arguments ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, arguments...)
	command.Env = append(os.Environ(), roleVariable+"="+role)
	command.Stderr = os.Stderr
	return command
}

func userID() string { return strconv.Itoa(os.Getuid()) }

// fakeRender is a render that has one string and an arena-less state, and
// remembers what it was told.
type fakeRender struct {
	states int
	armed  []bool
	done   []string
	answer recorder.Ack
	during func() // while a command runs
	large  int    // bytes of padding in a state
}

func (r *fakeRender) State() []recorder.Record {
	r.states++
	head := recorder.Head{Src: "test", Ns: monotonic()}
	return []recorder.Record{
		&recorder.Strings{Head: head, First: 1, Strings: []string{"render"}},
		&recorder.State{Head: head, Dropped: r.states},
	}
}

func (r *fakeRender) Arm(events bool) { r.armed = append(r.armed, events) }

func (r *fakeRender) Do(command *recorder.Command) *recorder.Ack {
	r.done = append(r.done, command.Name)
	if r.during != nil {
		r.during()
	}
	ack := r.answer
	if ack.State == "" {
		ack.State = recorder.AckDone
	}
	return &ack
}

var monotonic = recorder.MonotonicClock()

func testHello() recorder.Hello {
	return recorder.Hello{Head: recorder.Head{Src: "test"}, Kind: recorder.KindProcess, Name: "test",
		Commands: []string{recorder.CommandReclaim, recorder.CommandRebuild},
		Refuses:  map[string]string{recorder.CommandSnapshot: "there is none"}}
}

// serve starts a server in a directory of the test's own.
func serve(t *testing.T, options Options, render Render) *Server {
	t.Helper()
	if options.Path == "" {
		options.Path = filepath.Join(socketDirectory(t), Name{PID: os.Getpid(), Start: 1}.String())
	}
	options.Hello = testHello()
	server, err := Listen(options, render)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close("the test ends") })
	return server
}

// socketDirectory is short enough for a socket's path, whatever the test's
// name is.
func socketDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// watching is a Source that runs, and what it has received.
type watching struct {
	*Source
	t       *testing.T
	records chan recorder.Record
	end     chan error
	cancel  context.CancelFunc
}

func read(t *testing.T, path string, events bool) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &watching{Source: NewSource(path), t: t, records: make(chan recorder.Record, 1<<16), end: make(chan error, 1), cancel: cancel}
	_ = r.Want(events)
	go func() {
		r.end <- r.Run(ctx, func(record recorder.Record) { r.records <- record })
		close(r.records)
	}()
	t.Cleanup(func() {
		cancel()
		for range r.records {
		}
	})
	return r
}

// next is the next record of a kind; others are passed over.
func next[R recorder.Record](r *watching) R {
	r.t.Helper()
	for record := range r.records {
		if wanted, ok := record.(R); ok {
			return wanted
		}
	}
	var none R
	r.t.Fatalf("the stream ended (%v) without a %T", <-r.end, none)
	return none
}

// pollUntil lets the render reach frame boundaries until the reader has got a
// record of a kind.
func pollUntil[R recorder.Record](s *Server, r *watching) R {
	r.t.Helper()
	for {
		select {
		case <-s.Work():
			s.Poll()
		case record, open := <-r.records:
			if wanted, ok := record.(R); ok {
				return wanted
			}
			if !open {
				var none R
				r.t.Fatalf("the stream ended (%v) without a %T", <-r.end, none)
			}
		}
	}
}

func sample(seq int64) *recorder.Sample {
	return &recorder.Sample{Head: recorder.Head{Src: "test", Ns: monotonic()}, Seq: seq,
		Sets: []recorder.CounterSet{{ID: "device", Of: recorder.OfDevice, Name: "test device"}}}
}
