package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vramscope/pool"
	"vramscope/recorder"
	"vramscope/sources/probe"
)

// socketDirectory is where the demos of a test have their sockets.
func socketDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vs") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv(probe.DirectoryVariable, dir)
	return dir
}

// watched is a demo's records as a reader gets them.
type watched struct {
	*probe.Source
	t       *testing.T
	records chan recorder.Record
	end     chan error
}

func watch(t *testing.T, path string, events bool) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &watched{Source: probe.NewSource(path), t: t, records: make(chan recorder.Record, 1024), end: make(chan error, 1)}
	_ = w.Want(events)
	go func() {
		w.end <- w.Run(ctx, func(record recorder.Record) {
			select {
			case w.records <- record:
			case <-ctx.Done():
			}
		})
		close(w.records)
	}()
	t.Cleanup(func() {
		cancel()
		for range w.records {
		}
	})
	return w
}

func await[R recorder.Record](w *watched) R {
	w.t.Helper()
	for record := range w.records {
		if wanted, ok := record.(R); ok {
			return wanted
		}
	}
	var none R
	w.t.Fatalf("the stream ended (%v) without a %T", <-w.end, none)
	return none
}

func TestServedDemoIsWatchedAndObeys(t *testing.T) {
	socketDirectory(t)
	ctx, cancel := context.WithCancel(context.Background())
	ready, end := make(chan string, 1), make(chan error, 1)
	go func() {
		end <- Serve(ctx, Options{Speed: 100, Hz: 100}, Surroundings{Version: "test", Ready: func(path string) { ready <- path }})
	}()
	w := watch(t, <-ready, true)
	hello := await[*recorder.Hello](w)
	if hello.PID != os.Getpid() || hello.Kind != recorder.KindProcess || hello.Seed == nil || hello.Reserve == 0 ||
		!slices.Contains(hello.Commands, recorder.CommandRebuild) || hello.Refuses[recorder.CommandSnapshot] == "" {
		t.Errorf("hello is %+v", hello)
	}
	if state := await[*recorder.State](w); len(state.Pools) != 1 || len(state.Arenas) == 0 {
		t.Errorf("the first state has %d pools and %d arenas", len(state.Pools), len(state.Arenas))
	}
	sample := await[*recorder.Sample](w)
	if host := set(sample, recorder.OfHost); host == nil || value(t, host, recorder.Total) <= 0 {
		t.Error("the sample does not tell of the machine")
	}
	if process := set(sample, recorder.OfProcess); value(t, process, recorder.Resident) <= 0 || value(t, process, recorder.CPUTime) <= 0 {
		t.Error("the sample does not tell of the process")
	}
	if events := await[*recorder.ArenaEvents](w); events.Len() == 0 {
		t.Error("a batch without events")
	}
	if err := w.Send(ctx, &recorder.Command{ID: "1", Name: recorder.CommandForceReclaim}); err != nil {
		t.Fatal(err)
	}
	if ack := await[*recorder.Ack](w); ack.State != recorder.AckAccepted {
		t.Errorf("the command is answered %+v", ack)
	}
	if ack := await[*recorder.Ack](w); ack.State != recorder.AckDone || len(ack.Result) == 0 || ack.Took <= 0 {
		t.Errorf("the command ends with %+v", ack)
	}
	cancel()
	if bye := await[*recorder.Bye](w); bye.Why != "it was asked to end" {
		t.Errorf("the goodbye says %q", bye.Why)
	}
	if err := <-end; err != nil {
		t.Error(err)
	}
	if err := <-w.end; err != nil {
		t.Error(err)
	}
}

// Who reads no events gets none, and the render makes none.
func TestServedDemoMakesNoEventsUnasked(t *testing.T) {
	socketDirectory(t)
	ready, end := make(chan string, 1), make(chan error, 1)
	go func() {
		end <- Serve(context.Background(), Options{Speed: 500, Frames: 100}, Surroundings{Ready: func(path string) { ready <- path }})
	}()
	w := watch(t, <-ready, false)
	frames := 0
	for record := range w.records {
		switch record.(type) {
		case *recorder.ArenaEvents, *recorder.PoolEvents:
			t.Error("events came unasked")
		case *recorder.Frame:
			frames++
		}
	}
	if err := <-end; err != nil {
		t.Error(err)
	}
	if frames == 0 {
		t.Error("no frame came")
	}
}

func spawn(t *testing.T, role string) (*Child, error) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(roleVariable, role)
	return Spawn(context.Background(), []string{binary})
}

func TestChildIsWatchedAndStopped(t *testing.T) {
	dir := socketDirectory(t)
	child, err := spawn(t, "demo")
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := probe.ParseName(child.Path()); !ok || name.PID != child.PID() || filepath.Dir(child.Path()) != dir {
		t.Errorf("the socket is %s of process %d", child.Path(), child.PID())
	}
	w := watch(t, child.Path(), false)
	await[*recorder.Sample](w)
	child.Stop()
	if bye := await[*recorder.Bye](w); bye.Why == "" {
		t.Error("the child does not say why it ends")
	}
	<-child.Ended()
	if err := child.Err(); err != nil {
		t.Error(err)
	}
	checkGone(t, child)
}

func TestChildEndsWithItsParent(t *testing.T) {
	socketDirectory(t)
	child, err := spawn(t, "demo")
	if err != nil {
		t.Fatal(err)
	}
	// What the kernel does when this process dies.
	_ = child.input.Close()
	<-child.Ended()
	if err := child.Err(); err != nil {
		t.Error(err)
	}
	child.Stop()
	checkGone(t, child)
}

func TestChildThatDoesNotEndIsKilled(t *testing.T) {
	socketDirectory(t)
	child, err := spawn(t, "stubborn")
	if err != nil {
		t.Fatal(err)
	}
	child.patience = time.Millisecond
	child.Stop()
	var failed *ChildError
	if err := child.Err(); !errors.As(err, &failed) {
		t.Errorf("it ended with %v", err)
	}
	checkGone(t, child)
}

func TestChildThatFailsSaysWhy(t *testing.T) {
	socketDirectory(t)
	_, err := spawn(t, "broken")
	var failed *ChildError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "the device is on fire") {
		t.Errorf("Spawn = %v", err)
	}
	if _, err := Spawn(context.Background(), []string{"/nowhere/vramscope"}); !errors.As(err, &failed) {
		t.Errorf("Spawn of nothing = %v", err)
	}
}

// checkGone looks for a zombie and for a socket.
func checkGone(t *testing.T, child *Child) {
	t.Helper()
	if _, err := probe.StartTime(child.PID()); err == nil {
		t.Errorf("process %d is still there", child.PID())
	}
	if _, err := os.Lstat(child.Path()); err == nil {
		t.Errorf("the socket %s is still there", child.Path())
	}
}

func TestMachineTellsItsMemory(t *testing.T) {
	tick := make(chan time.Time)
	machine := &Machine{Tick: tick, Read: func() pool.HostMemory {
		return pool.HostMemory{Total: 64 << 30, Available: 10 << 30, CgroupCurrent: pool.Unknown, CgroupLimit: pool.Unknown}
	}}
	ctx, cancel := context.WithCancel(context.Background())
	records, end := make(chan recorder.Record, 16), make(chan error, 1)
	go func() { end <- machine.Run(ctx, func(r recorder.Record) { records <- r }) }()
	hello := (<-records).(*recorder.Hello)
	if hello.Kind != recorder.KindHost || hello.Wall == 0 || hello.Src != machine.ID() {
		t.Errorf("hello is %+v", hello)
	}
	if kind := (<-records).Type(); kind != "state" {
		t.Errorf("hello is followed by %q", kind)
	}
	for seq := int64(1); seq <= 3; seq++ {
		sample := (<-records).(*recorder.Sample)
		host := set(sample, recorder.OfHost)
		if sample.Seq != seq || value(t, host, recorder.Available) != 10<<30 {
			t.Errorf("sample %d is %+v", seq, sample)
		}
		if host.Values.Known(recorder.CgroupLimit) || host.Why["cgroup_limit"] == "" {
			t.Error("a limit that is not there is a number")
		}
		if seq < 3 {
			tick <- time.Time{}
		}
	}
	cancel()
	if err := <-end; err != nil {
		t.Error(err)
	}
	if err := machine.Send(ctx, &recorder.Command{}); !errors.Is(err, ErrNoCommands) {
		t.Errorf("Send = %v", err)
	}
}
