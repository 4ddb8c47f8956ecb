package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/recorder"
)

func TestLateReaderGetsHelloThePastAndAState(t *testing.T) {
	render := &fakeRender{}
	server := serve(t, Options{}, render)
	for seq := range int64(3) {
		server.Publish(sample(seq + 1))
		server.Publish(&recorder.Frame{Head: recorder.Head{Src: "test", Ns: monotonic()}, N: seq + 1})
	}
	settle(server)
	r := read(t, server.Path(), false)
	var got []string
	for len(got) < 9 {
		select {
		case <-server.Work():
			server.Poll()
		case record := <-r.records:
			got = append(got, record.Type())
			if hello, ok := record.(*recorder.Hello); ok && (hello.Ns == 0 || hello.Wall == 0 || hello.Name != "test") {
				t.Errorf("hello is %+v, want a pair of clocks and the name", hello)
			}
		}
	}
	if want := "hello s frame s frame s frame str state"; strings.Join(got, " ") != want {
		t.Errorf("a late reader gets %v, want %s", got, want)
	}
	server.Publish(sample(4))
	if s := next[*recorder.Sample](r); s.Seq != 4 || s.Dropped != 0 {
		t.Errorf("then sample %d with %d missed, want 4 and 0", s.Seq, s.Dropped)
	}
}

// settle waits until everything published was handed on.
func settle(s *Server) {
	for stats := s.Stats(); stats.HandedOn+stats.Overflowed < stats.Published; stats = s.Stats() {
		runtime.Gosched()
	}
}

func TestTwoReadersGetTheSame(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	a, b := read(t, server.Path(), false), read(t, server.Path(), false)
	pollUntil[*recorder.State](server, a)
	pollUntil[*recorder.State](server, b)
	for n := range int64(100) {
		server.Publish(&recorder.Frame{Head: recorder.Head{Src: "test", Ns: n + 1}, N: n})
	}
	for n := range int64(100) {
		if x, y := next[*recorder.Frame](a), next[*recorder.Frame](b); x.N != n || y.N != n {
			t.Fatalf("frame %d came as %d and %d", n, x.N, y.N)
		}
	}
}

// A reader that is stopped takes nothing. The render publishes as if it were
// not there: every record is taken over, none is refused, the other reader gets
// the last one of each round, and in the end the stopped one is closed.
func TestStoppedReaderChangesNothing(t *testing.T) {
	server := serve(t, Options{Stall: 50 * time.Millisecond}, &fakeRender{})
	stopped := dialRaw(t, server.Path())
	live := read(t, server.Path(), false)
	pollUntil[*recorder.State](server, live)
	large := strings.Repeat("x", 8<<10)
	published := int64(0)
	for server.Stats().Stalled == 0 {
		for range 100 {
			published++
			s := sample(published)
			s.Sets[0].Name = large
			server.Publish(s)
		}
		for next[*recorder.Sample](live).Seq != published {
		}
	}
	stats := server.Stats()
	if stats.Overflowed != 0 || stats.Lost != 0 {
		t.Errorf("%d records of %d were not taken over, %d were lost", stats.Overflowed, stats.Published, stats.Lost)
	}
	if stats.Dropped == 0 {
		t.Error("no sample was replaced for the reader that is stopped")
	}
	for buffer := make([]byte, 1<<16); ; { // what the kernel had, then the end
		if _, err := stopped.Read(buffer); err != nil {
			break
		}
	}
}

func TestSlowReaderLearnsWhatItMissed(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	conn := dialRaw(t, server.Path())
	decoder := recorder.NewDecoder(conn)
	for polled := false; !polled; {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := record.(*recorder.Hello); ok {
			<-server.Work()
			server.Poll()
		}
		_, polled = record.(*recorder.State)
	}
	const samples = 5_000
	for seq := range int64(samples) {
		server.Publish(sample(seq + 1))
		if seq%1000 == 0 {
			settle(server) // the inbox holds 4096
		}
	}
	var got int64
	for {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := record.(*recorder.Sample); ok {
			got++
			if s.Seq == samples {
				if s.Dropped+got != samples {
					t.Errorf("%d samples came and the last says that %d did not, of %d", got, s.Dropped, samples)
				}
				return
			}
		}
	}
}

func events(n int) *recorder.PoolEvents {
	e := &recorder.PoolEvents{Head: recorder.Head{Src: "test", Ns: monotonic()}, Pool: 1}
	for range n {
		e.Ns, e.Op = append(e.Ns, e.Head.Ns), append(e.Op, pool.OpAlloc)
		e.Address, e.Bytes = append(e.Address, 1<<40), append(e.Bytes, 1<<30)
		e.Requested, e.Stream = append(e.Requested, 1<<30-1), append(e.Stream, 1)
	}
	return e
}

func TestEventsComeOnlyToThoseWhoAskAndFromAStateOn(t *testing.T) {
	render := &fakeRender{}
	server := serve(t, Options{}, render)
	asks, other := read(t, server.Path(), true), read(t, server.Path(), false)
	pollUntil[*recorder.State](server, other)
	pollUntil[*recorder.State](server, asks)
	if fmt.Sprint(render.armed) != "[true]" {
		t.Errorf("the render was armed %v, want once", render.armed)
	}
	server.Publish(events(3))
	server.Publish(&recorder.Frame{Head: recorder.Head{Src: "test"}, N: 9})
	if e := next[*recorder.PoolEvents](asks); len(e.Op) != 3 {
		t.Errorf("a batch of %d events came, want 3", len(e.Op))
	}
	for record := range other.records {
		if _, ok := record.(*recorder.PoolEvents); ok {
			t.Fatal("events came to a reader that did not ask")
		}
		if _, ok := record.(*recorder.Frame); ok {
			break
		}
	}
	if err := asks.Want(false); err != nil {
		t.Fatal(err)
	}
	for len(render.armed) < 2 {
		<-server.Work()
		server.Poll()
	}
	if err := asks.Want(true); err != nil {
		t.Fatal(err)
	}
	for len(render.armed) < 3 {
		<-server.Work()
		server.Poll()
	}
	if fmt.Sprint(render.armed) != "[true false true]" {
		t.Errorf("the render was armed %v", render.armed)
	}
}

func TestEventsThatDoNotFitAreLostAndFollowedByAState(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	conn := dialRaw(t, server.Path(), "ev")
	decoder := recorder.NewDecoder(conn)
	nextOf := func() recorder.Record {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	nextOf() // hello
	for state := false; !state; {
		<-server.Work()
		server.Poll()
		settle(server)
		server.mu.Lock()
		for _, c := range server.readers {
			state = !c.queue.needState
		}
		server.mu.Unlock()
	}
	batch := events(1000)
	published := int64(0)
	for server.lost() == 0 {
		server.Publish(batch)
		published += 1000
		settle(server)
	}
	polled := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // the render goes on while the reader catches up
		defer close(polled)
		for {
			select {
			case <-server.Work():
				server.Poll()
			case <-ctx.Done():
				return
			}
		}
	}()
	var got, lost int64
	for lost == 0 {
		switch r := nextOf().(type) {
		case *recorder.PoolEvents:
			got += int64(len(r.Op))
		case *recorder.Lost:
			lost = r.N
		}
	}
	if got+lost != published {
		t.Errorf("%d events came and %d are said to be lost, of %d", got, lost, published)
	}
	if _, ok := nextOf().(*recorder.Strings); !ok {
		t.Error("the loss is not followed by the strings")
	}
	if _, ok := nextOf().(*recorder.State); !ok {
		t.Error("the strings are not followed by a state")
	}
	cancel()
	<-polled
}

// lost is how many events the readers have lost and not been told of.
func (s *Server) lost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost int64
	for _, c := range s.readers {
		lost += c.queue.lostEvents
	}
	return lost
}

func TestPublishedStateComesToThoseWhoHaveOne(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	r := read(t, server.Path(), false)
	pollUntil[*recorder.State](server, r)
	server.Publish(&recorder.State{Head: recorder.Head{Src: "test", Ns: 1}, Dropped: 99})
	if state := next[*recorder.State](r); state.Dropped != 99 {
		t.Errorf("the next state is number %d, want 99", state.Dropped)
	}
}

func TestBatchesMayBeUsedAgain(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	r := read(t, server.Path(), true)
	pollUntil[*recorder.State](server, r)
	pools := &recorder.PoolEvents{Head: recorder.Head{Src: "test"}, Pool: 1}
	arenas := &recorder.ArenaEvents{Head: recorder.Head{Src: "test"}, Arena: 2}
	const batches = 500
	for i := range int64(batches) {
		pools.Reset()
		pools.Append(recorder.PoolEvent{Ns: i + 1, Op: pool.OpAlloc, Bytes: i})
		server.Publish(pools)
		arenas.Reset()
		arenas.Append(&recorder.ArenaEvent{Ns: i + 1, Op: arena.OpScopeOpen, Scope: uint64(i), Params: []arena.Param{arena.Int("i", i)}})
		server.Publish(arenas)
	}
	for i := range int64(batches) {
		if got := next[*recorder.PoolEvents](r); got.Len() != 1 || got.Bytes[0] != i || got.Pool != 1 {
			t.Fatalf("batch %d came as %+v", i, got)
		}
		got := next[*recorder.ArenaEvents](r)
		if got.Len() != 1 || got.Scope[0] != uint64(i) || got.Arena != 2 || got.Params[0].Params[0].Int != i {
			t.Fatalf("batch %d came as %+v", i, got)
		}
	}
}

func TestCloseSaysGoodbyeAndRemovesTheSocket(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	r := read(t, server.Path(), false)
	next[*recorder.Hello](r)
	info, err := os.Lstat(server.Path())
	if err != nil || info.Mode()&fs.ModeSocket == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v; want 0600", info.Mode(), err)
	}
	pollUntil[*recorder.State](server, r)
	silent := dialSilent(t, server.Path()) // does not even say hello
	if err := server.Close("exit 0"); err != nil {
		t.Fatal(err)
	}
	if bye := next[*recorder.Bye](r); bye.Why != "exit 0" {
		t.Errorf("the goodbye says %q", bye.Why)
	}
	if err := <-r.end; err != nil {
		t.Errorf("an orderly end is the error %v", err)
	}
	if _, err := os.Lstat(server.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	_ = silent.Close()
}

func TestStaleSocketIsReplacedAndALivingOneIsNot(t *testing.T) {
	dir := socketDirectory(t)
	path := filepath.Join(dir, "1-1.sock")
	leaveStale(t, path)
	server := serve(t, Options{Path: path}, &fakeRender{})
	_, err := Listen(Options{Path: path}, &fakeRender{})
	var used *InUseError
	if !errors.As(err, &used) {
		t.Errorf("Listen on a living socket = %v, want an *InUseError", err)
	}
	_ = server.Close("")

	file := filepath.Join(dir, "2-2.sock")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(Options{Path: file}, &fakeRender{}); err == nil {
		t.Error("a file that is no socket was replaced")
	}
	if text, _ := os.ReadFile(file); string(text) != "mine" {
		t.Error("a file that is no socket was changed")
	}
}

// leaveStale makes a socket whose owner is gone.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	_ = listener.Close()
}

func TestAnotherUserIsRefused(t *testing.T) {
	if allowed(65534, 1000) || !allowed(1000, 1000) || !allowed(0, 1000) || allowed(1000, 0) {
		t.Error("the rule is: the same user, or root")
	}
	if os.Getuid() != 0 {
		return // only root can play another user
	}
	server := serve(t, Options{}, &fakeRender{})
	// Everything that keeps another user off is opened, but for the check.
	for path, mode := range map[string]fs.FileMode{filepath.Dir(server.Path()): 0o755, server.Path(): 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	command := otherProcess(t, "reader", server.Path())
	command.Path = readableCopy(t, command.Path)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "runs as user 65534 and this one as user 0: run both as the same user"
	if !strings.Contains(string(out), want) {
		t.Errorf("the other user is told %q, want %q in it", out, want)
	}
	if stats := server.Stats(); stats.Refused != 1 || stats.Readers != 0 {
		t.Errorf("%d refused, %d readers; want 1 and 0", stats.Refused, stats.Readers)
	}
}

// readableCopy is the program at a place where every user can run it.
func readableCopy(t *testing.T, program string) string {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := socketDirectory(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "reader")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// dialRaw greets a server and then reads nothing.
func dialRaw(t *testing.T, path string, want ...string) *net.UnixConn {
	t.Helper()
	conn := dialSilent(t, path)
	hello := &recorder.Hello{Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Want: want}
	if err := writeRecord(conn, hello, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func dialSilent(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func BenchmarkPublish(b *testing.B) {
	b.Run("sample", func(b *testing.B) { benchmarkPublish(b, sample(1)) })
	b.Run("256 events", func(b *testing.B) { benchmarkPublish(b, events(256)) })
}

func benchmarkPublish(b *testing.B, record recorder.Record) {
	dir, err := os.MkdirTemp("", "vs")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := Listen(Options{Path: filepath.Join(dir, "1-1.sock"), Hello: testHello()}, &fakeRender{})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close("")
	b.ReportAllocs()
	for b.Loop() {
		server.Publish(record)
		server.Poll()
	}
}

// Neither a reader that takes nothing nor one that takes a little now and then
// keeps a program from ending.
func TestCloseWaitsForNobody(t *testing.T) {
	server := serve(t, Options{Stall: time.Hour}, &fakeRender{})
	dialRaw(t, server.Path())
	dripping := dialRaw(t, server.Path())
	for server.Readers() < 2 {
		runtime.Gosched()
	}
	large := strings.Repeat("x", 1<<19)
	for range 16 { // more than the kernel takes
		server.Publish(&recorder.Note{Head: recorder.Head{Src: "test"}, Text: large})
	}
	drips := make(chan struct{})
	go func() {
		defer close(drips)
		for buffer := make([]byte, 1); ; {
			if _, err := dripping.Read(buffer); err != nil {
				return
			}
		}
	}()
	if err := server.Close("the end"); err != nil {
		t.Error(err)
	}
	_ = dripping.Close()
	<-drips
}
