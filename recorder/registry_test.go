package recorder

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vramscope/arena"
)

// lineWriter is a RecordWriter into memory.
type lineWriter struct{ bytes.Buffer }

func (w *lineWriter) Write(record Record) error {
	line, err := AppendLine(nil, record)
	if err != nil {
		return err
	}
	_, err = w.Buffer.Write(line)
	return err
}

func newStream(limits RegistryLimits) *Stream {
	return NewStream(StreamOptions{Source: "pid:1", Program: "render.py", Clock: (&manualClock{}).read, Registry: limits})
}

// newArena is an arena as a job makes it.
func newArena(stream *Stream, name string) (*arena.Arena, *ArenaFeed) {
	feed := stream.WatchArena(ArenaFacts{Name: name, Job: "job of " + name, Managed: true, Device: "host"})
	a, err := arena.New(arena.Config{Name: name, Bytes: 1 << 16, Observer: feed.Observer()})
	if err != nil {
		panic(err)
	}
	return a, feed
}

func recordedNames(stream *Stream) []string {
	var names []string
	for _, entry := range stream.Registry().Arenas() {
		names = append(names, entry.State.Name)
	}
	return names
}

func TestArmingDecidesAtConstruction(t *testing.T) {
	stream := newStream(RegistryLimits{})
	registry := stream.Registry()
	newArena(stream, "before")
	registry.SetAutoRecord(true)
	if !registry.AutoRecordEnabled() {
		t.Error("armed, and says it is not")
	}
	during, _ := newArena(stream, "during")
	registry.NonArenaPeaks()
	stream.NotePeak("project", 5, 50)
	stream.NotePeak("nothing in", 0, 50)
	stream.NotePeak("negative in", -1, 50)
	stream.NotePeak("negative peak", 1, -7)
	during.Alloc(1, 4)
	if got := recordedNames(stream); !slices.Equal(got, []string{"during"}) {
		t.Errorf("recorded %q", got)
	}
	registry.SetAutoRecord(true) // arming again forgets nothing
	if got := recordedNames(stream); !slices.Equal(got, []string{"during"}) {
		t.Errorf("recorded %q", got)
	}
	want := []NonArena{{Name: "project", InputBytes: 5, PeakBytes: 50}, {Name: "negative peak", InputBytes: 1, PeakBytes: -7}}
	registry.SetAutoRecord(false)
	if got := recordedNames(stream); len(got) != 0 {
		t.Errorf("disarmed, and recorded %q", got)
	}
	if got := registry.NonArenaPeaks(); !slices.Equal(got, want) {
		t.Errorf("disarmed, and the transients are %+v", got)
	}
	stream.NotePeak("project", 5, 60)
	during.Alloc(1, 4) // its feed goes on
	if got := registry.NonArenaPeaks(); !slices.Equal(got, want) {
		t.Errorf("a transient was kept while disarmed: %+v", got)
	}
	registry.Clear()
	if got := registry.NonArenaPeaks(); len(got) != 0 {
		t.Errorf("cleared, and the transients are %+v", got)
	}
}

func TestHalfBuiltAndReleasedArenasStay(t *testing.T) {
	stream := newStream(RegistryLimits{})
	stream.Registry().SetAutoRecord(true)
	stream.WatchArena(ArenaFacts{Name: "no buffer", Managed: true}).Gone()
	a, _ := newArena(stream, "done")
	scope := a.Scope("trace")
	a.Alloc(10, 4)
	scope.End()
	a.Release("job end")
	entries := stream.Registry().Arenas()
	if len(entries) != 2 {
		t.Fatalf("%d entries", len(entries))
	}
	half, done := entries[0], entries[1]
	if s := half.Whole(); !s.HalfBuilt || s.HasBuffer || s.Length != 0 || s.Released == 0 {
		t.Errorf("half-built: %+v", s)
	}
	if s := done.Whole(); s.HalfBuilt || s.HasBuffer || s.Length != 1<<16 || s.Released == 0 || s.Created == 0 ||
		s.Job != "job of done" || s.From != "render.py" || done.Scopes.SelfBytes(0) != 40 {
		t.Errorf("released: %+v", s)
	}
}

func TestRegistryBounds(t *testing.T) {
	t.Run("arenas", func(t *testing.T) {
		stream := newStream(RegistryLimits{Arenas: 3})
		stream.Registry().SetAutoRecord(true)
		for n := range 7 {
			newArena(stream, fmt.Sprint(n))
		}
		if got := recordedNames(stream); !slices.Equal(got, []string{"4", "5", "6"}) {
			t.Errorf("recorded %q", got)
		}
		if arenas, _ := stream.Registry().Dropped(); arenas != 4 {
			t.Errorf("%d dropped, want 4", arenas)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		stream := newStream(RegistryLimits{Bytes: 100 << 10})
		stream.Registry().SetAutoRecord(true)
		for n := range 10 {
			a, _ := newArena(stream, fmt.Sprint(n))
			for range 2000 {
				a.Alloc(1, 1)
			}
		}
		taken := int64(0)
		entries := stream.Registry().Arenas()
		for _, entry := range entries {
			taken += entry.Log.Bytes()
		}
		arenas, _ := stream.Registry().Dropped()
		if taken > 100<<10 || arenas+len(entries) != 10 || len(entries) < 2 || entries[len(entries)-1].Log.Len() != 2001 {
			t.Errorf("%d bytes in %d arenas, %d dropped", taken, len(entries), arenas)
		}
	})
	t.Run("one arena that is too large alone", func(t *testing.T) {
		stream := newStream(RegistryLimits{Bytes: 10 << 10})
		stream.Registry().SetAutoRecord(true)
		a, _ := newArena(stream, "huge")
		for range 5000 {
			a.Alloc(1, 1)
		}
		entry := stream.Registry().Arenas()[0]
		if entry.State.CutEvents != 5001 || entry.Log.Len() != 0 || entry.Scopes.Root().AllocCount != 5000 {
			t.Errorf("%d events cut, %d kept, %d counted", entry.State.CutEvents, entry.Log.Len(), entry.Scopes.Root().AllocCount)
		}
	})
	t.Run("transients", func(t *testing.T) {
		stream := newStream(RegistryLimits{Peaks: 10})
		stream.Registry().SetAutoRecord(true)
		for n := range int64(25) {
			stream.NotePeak("project", n+1, n)
		}
		peaks := stream.Registry().NonArenaPeaks()
		if _, dropped := stream.Registry().Dropped(); len(peaks) != 10 || dropped != 15 || peaks[9].InputBytes != 25 {
			t.Errorf("%d kept, %d dropped, last %+v", len(peaks), dropped, peaks[9])
		}
	})
}

// A calibration dump holds every recorded arena; reading its events gives the
// same trees as its state says.
func TestCalibrationDump(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := newStream(RegistryLimits{})
		stream.Registry().SetAutoRecord(true)
		stream.BeginFrame(1)
		for n := range rapid.IntRange(0, 4).Draw(t, "arenas") {
			a, feed := newArena(stream, fmt.Sprint("arena ", n))
			var scopes []arena.Scope
			for range rapid.IntRange(0, 40).Draw(t, "steps") {
				randomUse(t, a, &scopes)
				if rapid.IntRange(0, 9).Draw(t, "next frame") == 0 {
					stream.BeginFrame(stream.frame + 1)
				}
			}
			if rapid.Bool().Draw(t, "released") {
				a.Release("")
			} else {
				feed.Update(a.State())
			}
			stream.NotePeak("project", int64(n)+1, 100)
		}
		var file lineWriter
		if err := stream.WriteCalibration(&file, &Hello{Head: Head{Ns: 5}, Wall: 1000, Name: "render.py"}); err != nil {
			t.Fatal(err)
		}
		reader := newWatcher(t)
		recorders := map[int64]*AllocationRecorder{}
		fromEvents := map[int64]*ScopeTree{}
		var peaks []NonArena
		records := readAll(t, NewDecoder(&file.Buffer))
		for _, record := range records {
			reader.take(record)
			switch r := record.(type) {
			case *ArenaEvents:
				if recorders[r.Arena] == nil {
					recorders[r.Arena], fromEvents[r.Arena] = NewAllocationRecorder(RecorderLimits{}), NewScopeTree(TreeLimits{})
				}
				recorders[r.Arena].ObserveBatch(r)
				fromEvents[r.Arena].ObserveBatch(r)
			case *Peak:
				peaks = append(peaks, r.NonArena)
			}
		}
		hello, ok := records[0].(*Hello)
		if !ok || hello.Kind != KindCalibration || hello.Proto != Protocol || hello.Wall-hello.Ns != 995 {
			t.Fatalf("first record %+v", records[0])
		}
		if _, ok := records[len(records)-1].(*Bye); !ok {
			t.Fatalf("last record %+v", records[len(records)-1])
		}
		entries := stream.Registry().Arenas()
		if len(entries) != len(reader.state.Arenas) {
			t.Fatalf("%d arenas, want %d", len(reader.state.Arenas), len(entries))
		}
		for i, entry := range entries {
			id := entry.State.ID
			if reader.state.Arenas[i].ID != id || !reader.state.Arenas[i].Recorded {
				t.Fatalf("arena %d is %+v", i, reader.state.Arenas[i])
			}
			want := said(entry.Scopes, &reader.strings)
			if diff := cmp.Diff(want, said(reader.trees[id].Snapshot(), &reader.strings)); diff != "" {
				t.Fatalf("state of arena %d (-process +dump):\n%s", id, diff)
			}
			if diff := cmp.Diff(want, said(fromEvents[id].Snapshot(), &reader.strings)); diff != "" {
				t.Fatalf("events of arena %d (-process +dump):\n%s", id, diff)
			}
			whole := Replay(&entry.Log)
			if diff := cmp.Diff(saidRecorder(whole), saidRecorder(recorders[id])); diff != "" {
				t.Fatalf("scopes of arena %d (-process +dump):\n%s", id, diff)
			}
		}
		if !slices.Equal(peaks, stream.Registry().NonArenaPeaks()) {
			t.Fatalf("transients %+v", peaks)
		}
	})
}

// saidRecorder is every scope of a recorder in words.
func saidRecorder(r *AllocationRecorder) string {
	var text strings.Builder
	for scope := range r.Len() {
		fmt.Fprintf(&text, "%d %+v %v\n", scope, r.Scope(scope), slices.Collect(r.Children(scope)))
		for event := range r.Events(scope) {
			fmt.Fprintf(&text, "  %+v\n", *event)
		}
	}
	fmt.Fprint(&text, r.Abandoned())
	return text.String()
}
