package probe

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vramscope/recorder"
)

// hunting is a Watcher that runs; its scans come by hand.
type hunting struct {
	found chan Found
	gone  chan string
	scan  chan time.Time
	stop  func() error
}

func watch(t *testing.T, dir string) *hunting {
	t.Helper()
	h := &hunting{found: make(chan Found, 100), gone: make(chan string, 100), scan: make(chan time.Time)}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{Directory: dir, Scan: h.scan,
		Found: func(f Found) { h.found <- f },
		Gone:  func(path string, _ Name) { h.gone <- path }}
	end := make(chan error, 1)
	go func() { end <- w.Run(ctx) }()
	h.stop = func() error { cancel(); err := <-end; end <- err; return err }
	t.Cleanup(func() { _ = h.stop() })
	return h
}

// nextFound lets time pass, scan by scan, until something is found.
func (h *hunting) nextFound() Found {
	for {
		select {
		case f := <-h.found:
			return f
		case h.scan <- time.Time{}:
		}
	}
}

// nextGone lets time pass until something is gone.
func (h *hunting) nextGone() string {
	for {
		select {
		case path := <-h.gone:
			return path
		case h.scan <- time.Time{}:
		}
	}
}

// render is another process that offers itself.
type render struct {
	*exec.Cmd
	path string
	end  io.Closer // ends it in order
}

func startRender(t *testing.T, dir string) *render {
	t.Helper()
	command := otherProcess(t, "render")
	command.Env = append(command.Env, DirectoryVariable+"="+dir)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	path, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	r := &render{Cmd: command, path: strings.TrimSpace(path), end: input}
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	return r
}

func TestFiftyProcessesAreFoundAndTheirEndsNoticed(t *testing.T) {
	dir := socketDirectory(t)
	var renders []*render
	var want []string
	for range 25 { // before
		renders = append(renders, startRender(t, dir))
	}
	h := watch(t, dir)
	for range 25 { // and while it looks: the directory tells
		renders = append(renders, startRender(t, dir))
	}
	for _, r := range renders {
		want = append(want, r.path)
	}
	slices.Sort(want)
	var got []string
	for range renders {
		f := h.nextFound()
		if f.Hello.Name != "test" {
			t.Errorf("%s says hello as %q", f.Path, f.Hello.Name)
		}
		got = append(got, f.Path)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	for _, r := range renders {
		_ = r.end.Close()
	}
	got = nil
	for range renders {
		got = append(got, h.nextGone())
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("gone %v, want %v", got, want)
	}
}

// TestSocketThatDoesNotListenYetIsTriedAgainSoon: a program that ends at once is
// gone by the next scan.
func TestSocketThatDoesNotListenYetIsTriedAgainSoon(t *testing.T) {
	const path = "/nowhere/1-1.sock"
	h := &hunt{Watcher: &Watcher{}, known: map[string]*socket{path: {wait: greetAgain}}, soon: make(chan struct{}, 1)}
	for try := range refusedTries + 1 {
		h.hear(greeted{path: path, err: &DialError{Err: syscall.ECONNREFUSED}})
		if h.known[path].wait != 0 {
			t.Fatalf("try %d waits %d scans", try, h.known[path].wait)
		}
		if try == refusedTries { // then the scans alone
			break
		}
		select {
		case <-h.soon:
		case <-time.After(10 * time.Second):
			t.Fatalf("after try %d nothing comes", try)
		}
	}
	if h.known[path].tries != refusedTries {
		t.Errorf("%d tries", h.known[path].tries)
	}
	h.hear(greeted{path: path, hello: testHelloPointer()})
	if !h.known[path].found {
		t.Error("it is not found")
	}
}

func testHelloPointer() *recorder.Hello {
	hello := testHello()
	return &hello
}

func TestOwnProcessAndForeignFilesAreNotFound(t *testing.T) {
	dir := socketDirectory(t)
	own, err := OwnName()
	if err != nil {
		t.Fatal(err)
	}
	serve(t, Options{Path: filepath.Join(dir, own.String())}, &fakeRender{})
	serve(t, Options{Path: filepath.Join(dir, "other.sock")}, &fakeRender{})
	if err := os.WriteFile(filepath.Join(dir, "5-5.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := watch(t, dir)
	other := startRender(t, dir)
	if f := h.nextFound(); f.Path != other.path {
		t.Errorf("found %s, want only %s", f.Path, other.path)
	}
	if err := h.stop(); err != nil || len(h.found) > 0 {
		t.Errorf("ended with %v and %d more found", err, len(h.found))
	}
}

func TestStaleSocketsAreRemoved(t *testing.T) {
	dir := socketDirectory(t)
	stale := filepath.Join(dir, Name{PID: 1 << 30, Start: 1}.String())
	leaveStale(t, stale)
	own, err := OwnName()
	if err != nil {
		t.Fatal(err)
	}
	// A living process with no listener behind its socket, as for a moment
	// between bind and listen: not ours to remove.
	parent, err := StartTime(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	living := filepath.Join(dir, Name{PID: os.Getppid(), Start: parent}.String())
	leaveStale(t, living)
	reused := filepath.Join(dir, Name{PID: own.PID, Start: own.Start + 1}.String())
	leaveStale(t, reused)
	h := watch(t, dir)
	for exists(stale) || exists(reused) {
		h.scan <- time.Time{}
	}
	_ = h.stop()
	if !exists(living) {
		t.Error("the socket of a living process was removed")
	}
	if len(h.found)+len(h.gone) > 0 {
		t.Error("a stale socket was found, or is said to be gone")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestKilledProcessIsGoneAndItsSocketRemoved(t *testing.T) {
	dir := socketDirectory(t)
	h := watch(t, dir)
	r := startRender(t, dir)
	if f := h.nextFound(); f.Path != r.path || f.Name.PID != r.Process.Pid {
		t.Errorf("found %s of %d, want %s of %d", f.Path, f.Name.PID, r.path, r.Process.Pid)
	}
	_ = r.Process.Kill()
	_ = r.Wait()
	if path := h.nextGone(); path != r.path {
		t.Errorf("gone %s, want %s", path, r.path)
	}
	if exists(r.path) {
		t.Errorf("the socket of process %d is still there", r.Process.Pid)
	}
}

func TestWatcherRefusesADirectoryOfOthers(t *testing.T) {
	dir := socketDirectory(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var refused *DirectoryError
	if err := (&Watcher{Directory: dir}).Run(context.Background()); !errors.As(err, &refused) {
		t.Errorf("Run = %v, want a *DirectoryError", err)
	}
}

func TestReconnectAndEnds(t *testing.T) {
	dir := socketDirectory(t)
	path := filepath.Join(dir, Name{PID: 1 << 30, Start: 7}.String())
	source := NewSource(path)
	var dial *DialError
	if err := source.Run(context.Background(), nil); !errors.As(err, &dial) || !dial.Gone {
		t.Errorf("Run without a socket = %v, want a *DialError of a program that is gone", err)
	}
	for range 2 { // the second time is the reconnect
		server := serve(t, Options{Path: path}, &fakeRender{})
		r := read(t, path, false)
		pollUntil[*recorder.State](server, r)
		_ = server.Close("again")
		for range r.records {
		}
		if err := <-r.end; err != nil {
			t.Errorf("an orderly end is %v", err)
		}
	}
	leaveStale(t, path)
	if err := source.Run(context.Background(), nil); !errors.As(err, &dial) {
		t.Errorf("Run on a stale socket = %v, want a *DialError", err)
	}
}
