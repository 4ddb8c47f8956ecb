package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"vramscope/recorder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that the tests move.
type clock struct{ ns int64 }

func (c *clock) now() (int64, int64) { return c.ns, 1_790_000_000_000_000_000 + c.ns }

func newTestStore() (*Store, *clock) {
	c := &clock{ns: 1_000_000}
	options := DefaultOptions()
	options.Clock = c.now
	return NewStore(options), c
}

func helloOf(src, kind, name string) *recorder.Hello {
	return &recorder.Hello{Head: recorder.Head{Src: src, Ns: 1_000_000}, Proto: 1, Min: 1, Kind: kind, Name: name, Hz: 10}
}

func noteOf(src, text string) *recorder.Note {
	return &recorder.Note{Head: recorder.Head{Src: src, Ns: 2_000_000}, Text: text, Level: "warning"}
}

func ids(s *Snapshot) (list []string) {
	for _, v := range s.Sources {
		list = append(list, v.ID)
	}
	return list
}

func TestSourcesStandInGroups(t *testing.T) {
	s, _ := newTestStore()
	s.Add(SourceInfo{ID: "file:/a.vscope", File: "/a.vscope"})
	s.Add(SourceInfo{ID: "nvml", Kind: recorder.KindDevice, Name: "NVIDIA driver"})
	s.Add(SourceInfo{ID: "pid:2-1", Kind: recorder.KindProcess, Name: "second"})
	if got := ids(s.Snapshot(1, 1)); !slices.Equal(got, []string{"pid:2-1", "nvml", "file:/a.vscope"}) {
		t.Errorf("before anybody spoke: %v", got)
	}
	for _, hello := range []*recorder.Hello{helloOf("gpu:B", recorder.KindDevice, "H200 #1"), helloOf("gpu:A", recorder.KindDevice, "H200 #0")} {
		_ = s.Fold("nvml", hello)
	}
	_ = s.Fold("host", helloOf("host", recorder.KindHost, "host"))
	_ = s.Fold("pid:2-1", helloOf("pid:2-1", recorder.KindProcess, "second"))
	_ = s.Fold("pid:1-1", helloOf("pid:1-1", recorder.KindProcess, "first"))
	want := []string{"pid:2-1", "pid:1-1", "gpu:B", "gpu:A", "host", "file:/a.vscope"}
	if got := ids(s.Snapshot(2, 2)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if v := s.Snapshot(2, 2).Find("gpu:A"); v.Status != StatusLive || v.Source != "nvml" || v.Name != "H200 #0" {
		t.Errorf("%+v", v)
	}
}

// TestARecordingHoldsSeveralSources: each is a view of its own, and what a second
// program told under the same name is not mixed with the first.
func TestARecordingHoldsSeveralSources(t *testing.T) {
	s, _ := newTestStore()
	const file = "file:/a.vscope"
	s.Add(SourceInfo{ID: file, File: "/a.vscope"})
	_ = s.Fold(file, helloOf("pid:1-1", recorder.KindProcess, "render.py"))
	_ = s.Fold(file, helloOf("gpu:A", recorder.KindDevice, "H200"))
	_ = s.Fold(file, noteOf("pid:1-1", "of the first"))
	_ = s.Fold(file, &recorder.Bye{Head: recorder.Head{Src: "pid:1-1", Ns: 3_000_000}, Why: "exit 0"})
	again := helloOf("pid:1-1", recorder.KindProcess, "render.py")
	again.Start = 77
	_ = s.Fold(file, again)
	s.SetProgress(file, Progress{Done: 10, Size: 20})
	snapshot := s.Snapshot(1, 1)
	if got := ids(snapshot); !slices.Equal(got, []string{file, file + "#pid:1-1", file + "#gpu:A"}) {
		t.Fatalf("%v", got)
	}
	if first := snapshot.Sources[0]; first.Goodbye == nil || first.Status != StatusLoading || first.Done != 10 || first.Size != 20 {
		t.Errorf("%+v", first)
	}
	if beside := snapshot.Beside(snapshot.Sources[0]); len(beside) != 2 {
		t.Errorf("beside it: %v", beside)
	}
}

func TestAVersionThatIsNotUnderstood(t *testing.T) {
	s, _ := newTestStore()
	newer := helloOf("pid:1", recorder.KindProcess, "render.py")
	newer.Proto = 7
	if err := s.Fold("pid:1", newer); err != nil {
		t.Errorf("a newer writer with a known minimum: %v", err)
	}
	foreign := helloOf("pid:2", recorder.KindProcess, "render.py")
	foreign.Proto, foreign.Min = 9, 9
	err := s.Fold("pid:2", foreign)
	var protocol *recorder.ProtocolError
	if !errors.As(err, &protocol) || protocol.Min != 9 || protocol.Proto != 9 {
		t.Fatalf("%v", err)
	}
	_ = s.Fold("pid:2", noteOf("pid:2", "not heard"))
	snapshot := s.Snapshot(1, 1)
	if v := snapshot.Find("pid:2"); v.Status != StatusFailed || v.StatusWhy != err.Error() {
		t.Errorf("%v %q", v.Status, v.StatusWhy)
	}
	if n := len(snapshot.Log); n != 1 || snapshot.Log[0].Level != LevelError || strings.Contains(err.Error(), "\n") {
		t.Errorf("log %+v", snapshot.Log)
	}
}

func TestTheLogKeepsEverythingThatMatters(t *testing.T) {
	s, _ := newTestStore()
	_ = s.Fold("p", helloOf("p", recorder.KindProcess, "render.py"))
	head := recorder.Head{Src: "p", Ns: 5_000_000}
	_ = s.Fold("p", &recorder.OOM{Head: head, ID: "pool:1", Asked: 4096, Free: pointer(int64(0)), Rescued: true,
		Steps: []recorder.LadderStep{{Attempt: 1, Action: "collect", Ns: 1200, Freed: pointer(int64(0))}}, Outcome: "the window was split"})
	_ = s.Fold("p", &recorder.OOM{Head: head, ID: "pool:1", Asked: 8192})
	s.Sent("p", &recorder.Command{ID: "1", Name: recorder.CommandReclaim}, 6_000_000)
	_ = s.Fold("p", &recorder.Ack{Head: head, ID: "1", State: recorder.AckAccepted})
	_ = s.Fold("p", &recorder.Ack{Head: head, ID: "1", State: recorder.AckDone, Took: 4_200_000})
	_ = s.Fold("p", &recorder.Ack{Head: head, ID: "1", State: recorder.AckDone, Took: 9_999_999})
	_ = s.Fold("p", noteOf("p", "a remark"))
	_ = s.Fold("p", &recorder.Lost{Head: head, N: 17, What: "ev"})
	_ = s.Fold("p", &recorder.Bye{Head: head, Why: "exit 0"})
	snapshot := s.Snapshot(1, 1)
	var lines []string
	for i, entry := range snapshot.Log {
		lines = append(lines, fmt.Sprintf("%s: %s", entry.Level, entry.Text))
		if entry.Seq != uint64(i+1) || entry.Source != "p" || entry.Name != "render.py" {
			t.Errorf("%+v", entry)
		}
	}
	want := []string{
		"warning: pool:1: out of memory: asked 4.0 KiB, device free 0 B; rescued after 1 retry step",
		"error: pool:1: out of memory: asked 8.0 KiB; failed",
		"info: reclaim · 4.2 ms",
		"warning: a remark",
		"warning: 17 events lost: the source had no room for more",
		"info: ended: exit 0",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
	if detail := snapshot.Log[0].Detail; !slices.Equal(detail, []string{"retry 1: collect, took 1.2 us, freed 0 B", "then: the window was split"}) {
		t.Errorf("%q", detail)
	}
	v := snapshot.Find("p")
	if len(v.OOMs) != 2 || len(v.Actions) != 1 || v.Actions[0].Final.Took != 4_200_000 || v.Lost != 17 || v.Status != StatusEnded {
		t.Errorf("%+v", v)
	}
}

func TestNothingFallsOutOfTheLogUnseen(t *testing.T) {
	s, _ := newTestStore()
	s.log.limit = 50
	seen, last := 0, uint64(0)
	for round := range 30 {
		for i := range 45 {
			_ = s.Fold("p", noteOf("p", fmt.Sprintf("%d.%d", round, i)))
		}
		for _, entry := range s.Snapshot(1, 1).Since(last) {
			if entry.Seq != last+1 {
				t.Fatalf("%d comes after %d", entry.Seq, last)
			}
			last = entry.Seq
			seen++
		}
	}
	if seen != 30*45 {
		t.Errorf("%d lines seen of %d", seen, 30*45)
	}
	if n := len(s.Snapshot(1, 1).Log); n > 100 {
		t.Errorf("%d lines are kept", n)
	}
}

func TestSilenceMakesASourceStale(t *testing.T) {
	s, c := newTestStore()
	_ = s.Fold("p", helloOf("p", recorder.KindProcess, "render.py"))
	_ = s.Fold("slow", &recorder.Hello{Head: recorder.Head{Src: "slow", Ns: 1}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Hz: 0.1})
	status := func(id string) Status { return s.Snapshot(c.ns, 0).Find(id).Status }
	c.ns += 2_000_000_000
	if status("p") != StatusLive {
		t.Error("two seconds of silence are fine")
	}
	c.ns++
	if status("p") != StatusStale || status("slow") != StatusLive {
		t.Errorf("p %v, slow %v", status("p"), status("slow"))
	}
	_ = s.Fold("p", noteOf("p", "back"))
	if status("p") != StatusLive {
		t.Error("it spoke and is still stale")
	}
}

func TestADeviceThatDoesNotAnswer(t *testing.T) {
	s, _ := newTestStore()
	_ = s.Fold("nvml", helloOf("gpu:A", recorder.KindDevice, "H200"))
	sample := &recorder.Sample{Head: recorder.Head{Src: "gpu:A", Ns: 2_000_000}, Sets: []recorder.CounterSet{setOf("device", recorder.Free, 5)}}
	_ = s.Fold("nvml", sample)
	_ = s.Fold("nvml", &recorder.Sample{Head: recorder.Head{Src: "gpu:A", Ns: 3_000_000}, Error: "the GPU is lost: reset it"})
	if v := s.Snapshot(1, 1).Find("gpu:A"); v.Status != StatusLost || v.StatusWhy != "the GPU is lost: reset it" || len(v.Sets) != 1 {
		t.Errorf("%v %q %v", v.Status, v.StatusWhy, v.Sets)
	}
	again := *sample
	again.Ns = 4_000_000
	_ = s.Fold("nvml", &again)
	v := s.Snapshot(1, 1).Find("gpu:A")
	if v.Status != StatusLive || v.Trouble != "" {
		t.Errorf("%v %q", v.Status, v.Trouble)
	}
	if past := v.At(3_500_000); past.Trouble != "the GPU is lost: reset it" {
		t.Errorf("then: %q", past.Trouble)
	}
}

func TestTheDriversOwnVoiceGoesWhenItsDevicesSpeak(t *testing.T) {
	s, _ := newTestStore()
	_ = s.Fold("nvml", helloOf("nvml", recorder.KindDevice, "NVIDIA driver"))
	_ = s.Fold("nvml", &recorder.Sample{Head: recorder.Head{Src: "nvml", Ns: 2_000_000}, Error: "no driver"})
	if v := s.Snapshot(1, 1).Find("nvml"); v == nil || v.Status != StatusLost || v.StatusWhy != "no driver" {
		t.Fatalf("%+v", v)
	}
	_ = s.Fold("nvml", helloOf("gpu:A", recorder.KindDevice, "H200"))
	_ = s.Fold("nvml", &recorder.Bye{Head: recorder.Head{Src: "nvml", Ns: 3_000_000}, Why: "the driver answers"})
	if got := ids(s.Snapshot(1, 1)); !slices.Equal(got, []string{"gpu:A"}) {
		t.Errorf("%v", got)
	}
}

func TestASnapshotIsNewOnlyWhenSomethingChanged(t *testing.T) {
	s, _ := newTestStore()
	_ = s.Fold("p", helloOf("p", recorder.KindProcess, "render.py"))
	_ = s.Fold("q", helloOf("q", recorder.KindProcess, "other.py"))
	first := s.Snapshot(1, 1)
	if again := s.Snapshot(2, 2); again != first {
		t.Error("nothing changed, and there is a new snapshot")
	}
	_ = s.Fold("p", noteOf("p", "a remark"))
	second := s.Snapshot(3, 3)
	if second == first || second.Version != first.Version+1 {
		t.Errorf("version %d after %d", second.Version, first.Version)
	}
	if second.Find("q") != first.Find("q") || second.Find("p") == first.Find("p") {
		t.Error("what changed is new, and what did not is shared")
	}
}

// TestTheLoopPublishesAtMostEvery100ms drives the loop with a clock and ticks of
// its own.
func TestTheLoopPublishesAtMostEvery100ms(t *testing.T) {
	s, c := newTestStore()
	var mutex sync.Mutex
	advance := func(ns int64) { mutex.Lock(); c.ns += ns; mutex.Unlock() }
	s.options.Clock = func() (int64, int64) { mutex.Lock(); defer mutex.Unlock(); return c.now() }
	in, tick, out := make(chan Envelope), make(chan time.Time), make(chan *Snapshot, 100)
	done := make(chan struct{})
	go func() { s.Loop(t.Context(), in, tick, func(s *Snapshot) { out <- s }); close(done) }()

	in <- Envelope{Source: "p", Record: helloOf("p", recorder.KindProcess, "render.py")}
	if first := <-out; first.Find("p") == nil {
		t.Fatal("after a quiet time a change is published at once")
	}
	for range 20 {
		in <- Envelope{Source: "p", Record: noteOf("p", "a remark")}
	}
	advance(50_000_000)
	tick <- time.Time{}
	in <- Envelope{Do: func(s *Store) { s.SetStatus("p", StatusFailed, "broken off") }}
	if len(out) != 0 {
		t.Error("published again after 50 ms")
	}
	advance(50_000_000)
	tick <- time.Time{}
	if second := <-out; len(second.Log) != 21 || second.Find("p").Status != StatusFailed {
		t.Errorf("%d lines, %v", len(second.Log), second.Find("p").Status)
	}
	advance(500_000_000)
	tick <- time.Time{}
	tick <- time.Time{}
	if len(out) != 0 {
		t.Error("published although nothing changed")
	}
	in <- Envelope{Source: "p", Record: noteOf("p", "published at once")}
	<-out
	in <- Envelope{Source: "p", Record: noteOf("p", "the last words")}
	close(in)
	<-done
	if last := <-out; last.Log[len(last.Log)-1].Text != "the last words" {
		t.Errorf("the last snapshot ends with %q", last.Log[len(last.Log)-1].Text)
	}
}

func TestTheLoopEndsWithItsContext(t *testing.T) {
	s, _ := newTestStore()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Loop(ctx, nil, nil, func(*Snapshot) {}); close(done) }()
	cancel()
	<-done
}

func TestSourcesComeAndGo(t *testing.T) {
	s, _ := newTestStore()
	s.Add(SourceInfo{ID: "p"})
	s.Add(SourceInfo{ID: "p", Name: "twice"})
	if got := s.Snapshot(1, 1); len(got.Sources) != 1 || got.Sources[0].Status != StatusConnecting || got.Sources[0].Frame != -1 {
		t.Errorf("%+v", got.Sources)
	}
	s.Remove("p")
	if got := s.Snapshot(1, 1); len(got.Sources) != 0 {
		t.Errorf("%v", ids(got))
	}
	s.SetStatus("p", StatusFailed, "nobody")
	s.SetProgress("p", Progress{Done: 1})
	s.Sent("p", &recorder.Command{}, 1)
	if got := s.Snapshot(1, 1); len(got.Sources) != 0 || len(got.Log) != 0 {
		t.Error("what is not there cannot change")
	}
}

// TestAnAbruptEndIsTold: a program that ended without a goodbye leaves a line in
// the log; one that said it has left its own.
func TestAnAbruptEndIsTold(t *testing.T) {
	for why, lines := range map[string]int{"pid:1-1 ended without a goodbye: it was killed, or crashed": 1, "": 0} {
		store := NewStore(Options{})
		store.Add(SourceInfo{ID: "pid:1-1"})
		store.SetStatus("pid:1-1", StatusLive, "")
		store.SetStatus("pid:1-1", StatusEnded, why)
		log := store.Snapshot(1, 1).Log
		if len(log) != lines {
			t.Fatalf("%q leaves %d lines", why, len(log))
		}
		if lines > 0 && (log[0].Text != why || log[0].Level != LevelWarning || log[0].Kind != EntrySource) {
			t.Errorf("%+v", log[0])
		}
	}
}

// TestASilentSourceKeepsItsNumbers: what is told of it meanwhile, a command that is
// sent to it or its end, takes nothing away of what it said last.
func TestASilentSourceKeepsItsNumbers(t *testing.T) {
	const second = int64(1_000_000_000)
	for name, tell := range map[string]func(*Store){
		"a command is sent": func(s *Store) {
			s.Sent("p", &recorder.Command{ID: "1", Name: recorder.CommandReclaim}, 20*second)
		},
		"a command cannot be sent": func(s *Store) {
			s.SendFailed("p", &recorder.Command{ID: "1", Name: recorder.CommandReclaim}, "nobody answers", 20*second)
		},
		"its end is found": func(s *Store) {
			_ = s.Fold("p", &recorder.Bye{Head: recorder.Head{Src: "p", Ns: 20 * second}, Why: "signal 9"})
		},
	} {
		s, _ := newTestStore()
		_ = s.Fold("p", helloOf("p", recorder.KindProcess, "render.py"))
		for n := range int64(10) {
			_ = s.Fold("p", &recorder.Sample{Head: recorder.Head{Src: "p", Ns: second + n*second/10}, Sets: []recorder.CounterSet{setOf("torch:0", recorder.Reserved, n)}})
		}
		tell(s)
		view := s.Snapshot(20*second, 0).Find("p")
		if len(view.Sets) != 1 || view.Now != 20*second {
			t.Fatalf("%s: at %d there are %d sets", name, view.Now, len(view.Sets))
		}
		if reserved, _ := view.Sets[0].Values.Get(recorder.Reserved); reserved != 9 {
			t.Errorf("%s: the last number is %d", name, reserved)
		}
		if past := view.At(15 * second); len(past.Sets) != 0 {
			t.Errorf("%s: in the middle of the silence %d sets are known", name, len(past.Sets))
		}
		// One that says that it has no numbers any more has none.
		_ = s.Fold("p", &recorder.Sample{Head: recorder.Head{Src: "p", Ns: 30 * second}, Error: "lost"})
		if view := s.Snapshot(30*second, 0).Find("p"); len(view.Sets) != 0 {
			t.Errorf("%s: numbers of a source that has none: %v", name, view.Sets)
		}
	}
}
