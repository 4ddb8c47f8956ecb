package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/recorder"
)

// watched is a program whose arenas are watched by the recorder itself, and what
// it writes.
type watched struct {
	t      *testing.T
	ns     int64
	stream *recorder.Stream
	wire   []byte
}

func newWatched(t *testing.T) *watched {
	w := &watched{t: t, ns: 1_000_000}
	w.stream = recorder.NewStream(recorder.StreamOptions{Source: renderSource, Program: "render.py",
		Clock: func() int64 { w.ns += 1000; return w.ns }, Emit: func(record recorder.Record) { _ = w.Write(record) }})
	return w
}

// Write appends a record to what is on the wire.
func (w *watched) Write(record recorder.Record) (err error) {
	w.wire, err = recorder.AppendLine(w.wire, record)
	return err
}

func (w *watched) arena(name string, bytes int64) *renderArena {
	made, err := arena.New(arena.Config{Name: name, Bytes: bytes, Base: 0x7f00_0000_0000,
		Observer: w.stream.WatchArena(recorder.ArenaFacts{Name: name, Device: "host", Managed: true})})
	if err != nil {
		w.t.Fatal(err)
	}
	return &renderArena{Arena: made, tree: recorder.NewScopeTree(recorder.TreeLimits{})}
}

// opened reads what is on the wire as the recording /r.vscope.
func (w *watched) opened() *Snapshot {
	s, _ := newTestStore()
	s.Add(SourceInfo{ID: "file:/r.vscope", File: "/r.vscope"})
	decoder := recorder.NewDecoder(bytes.NewReader(w.wire))
	for {
		record, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if err := s.Fold("file:/r.vscope", record); err != nil {
			w.t.Fatal(err)
		}
	}
	s.SetProgress("file:/r.vscope", Progress{Done: int64(len(w.wire)), Size: int64(len(w.wire)), Problems: decoder.Problems()})
	status := StatusComplete
	if decoder.Problems().CutBytes > 0 {
		status = StatusCut
	}
	s.SetStatus("file:/r.vscope", status, "")
	return s.Snapshot(w.ns, w.ns)
}

// TestACalibrationDump holds every arena that was recorded, buffers long gone,
// arena by arena and summed by name.
func TestACalibrationDump(t *testing.T) {
	w := newWatched(t)
	w.stream.Registry().SetAutoRecord(true)
	for range 3 {
		a := w.arena("frame arena", 1024)
		workedTree(t, a)
		a.open("trace")
		_, _ = a.Alloc(500, 1)
		a.Reset("retry")
		a.Release("the job ended")
	}
	w.stream.NotePeak("project", 2_100_000, 9_800_000)
	w.wire = nil
	if err := w.stream.WriteCalibration(w, &recorder.Hello{Name: "render.py"}); err != nil {
		t.Fatal(err)
	}
	s := w.opened()
	report, ok := ReportOf(s, "file:/r.vscope")
	if !ok || len(report.Sources) != 1 || len(report.Missing) != 0 || report.Status != "complete" {
		t.Fatalf("%+v, %v", report, ok)
	}
	source := report.Sources[0]
	if source.Kind != recorder.KindCalibration || len(source.Arenas) != 3 || source.Ended != "calibration dump" {
		t.Fatalf("%+v", source)
	}
	for _, a := range source.Arenas {
		if a.HasBuffer || a.PeakEver != 612 || a.AllocCount != 6 || len(a.Scopes) != 1 || a.Scopes[0].Children[0].Name != "trace" ||
			len(a.Abandoned) != 1 || a.Abandoned[0].SelfBytes != 500 || a.From != "render.py" || !a.EventsComplete {
			t.Errorf("%+v", a)
		}
	}
	if sum := source.Summed; len(sum.Scopes) != 3 || sum.Scopes[0].Count != 3 || sum.Scopes[0].Peak != 268 || sum.Abandoned[0].Count != 3 {
		t.Errorf("%+v", source.Summed)
	}
	if p := source.NonArena; len(p) != 1 || p[0].PeakBytes != 9_800_000 || p[0].Count != 1 || *p[0].Ratio < 4.66 || *p[0].Ratio > 4.67 {
		t.Errorf("%+v", source.NonArena)
	}

	// Any moment of it, although the dump begins with its end.
	v := s.Sources[0]
	for i, events := range []int64{4, 20, 40} {
		past := v.At(v.First + (v.Now-v.First)*events/50)
		if len(past.Arenas) != i+1 || past.Arenas[i].State.Name != "frame arena" {
			t.Errorf("after %d of 50: %d arenas", events, len(past.Arenas))
		}
	}
	list := NewEventList(2, []string{"render", "trace"}, true)
	list.Update(v, 1000)
	if peak, _, ok := list.Peak(); !ok || peak != 265 {
		t.Errorf("the events of the second arena's trace peak at %d, %v", peak, ok)
	}
}

func TestAReportOfARun(t *testing.T) {
	w := newWatched(t)
	_ = w.Write(&recorder.Hello{Head: recorder.Head{Src: renderSource, Ns: 1_000_000}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py",
		PID: 812, Wall: 1_790_000_000_000_000_000, GPUs: []recorder.GPU{{UUID: "GPU-1"}}})
	w.stream.WantEvents(true)
	w.stream.EmitState(nil)
	a := w.arena("frame arena", 1024)
	for frame := range int64(3) {
		w.stream.BeginFrame(frame)
		a.open("render")
		_, _ = a.Alloc(100, 1)
		a.close()
	}
	w.stream.Flush()
	head := func() recorder.Head { return w.stream.Head() }
	set := setOf("pool:1", recorder.Reserved, 2048)
	set.Values.Set(recorder.PeakAllocated, 1024)
	_ = w.Write(&recorder.Sample{Head: head(), Sets: []recorder.CounterSet{set}})
	_ = w.Write(&recorder.OOM{Head: head(), ID: "pool:1", Asked: 9999, Rescued: true, Outcome: "the window was split"})
	_ = w.Write(&recorder.Command{Head: head(), ID: "1", Name: recorder.CommandReclaim})
	_ = w.Write(&recorder.Ack{Head: head(), ID: "1", State: recorder.AckDone, Took: 1000})
	_ = w.Write(&recorder.Note{Head: head(), Level: "warning", Text: "careful"})
	_ = w.Write(&recorder.Lost{Head: head(), N: 3, What: "s"})
	w.wire = append(w.wire, "this is no record\n"...)
	w.wire = append(w.wire, `{"t":"note","src":"pid:812-9`...)
	report, ok := ReportOf(w.opened(), "file:/r.vscope")
	if !ok {
		t.Fatal("no report")
	}
	if report.Status != "cut" || report.BadLines != 1 || report.CutBytes != 28 || len(report.Missing) != 2 || len(report.Bad) != 1 {
		t.Errorf("%+v", report)
	}
	s := report.Sources[0]
	if s.Frames == nil || s.Frames.First != 0 || s.Frames.Last != 2 || s.Started != "2026-09-21T14:13:20Z" || !s.EndIsMissing ||
		len(s.OOMs) != 1 || len(s.Actions) != 1 || s.Actions[0].State != "done" || len(s.Notes) != 1 || s.Lost != 3 || *s.Peak.Reported != 1024 {
		t.Errorf("%+v", s)
	}
	if *s.Arenas[0].HighWater != 300 || s.Arenas[0].Scopes[0].Count != 3 || s.Arenas[0].Scopes[0].Peak != 100 || *s.Arenas[0].Scopes[0].PeakFrame != 0 {
		t.Errorf("%+v", s.Arenas[0])
	}
	if c := s.Sets[0].Counters["reserved"]; *c.Last != 2048 || c.Max != 2048 {
		t.Errorf("%+v", s.Sets)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"high_water":300`, `"peak_frame":0`, `"live_bytes":null`, `"lost_records":3`, `"bad_lines":1`, `"end_is_missing":true`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("no %s in %s", key, text)
		}
	}
	if _, ok := ReportOf(w.opened(), "file:/other"); ok {
		t.Error("a report of what is not there")
	}
}

func TestAReportOfNothing(t *testing.T) {
	w := newWatched(t)
	report, ok := ReportOf(w.opened(), "file:/r.vscope")
	if !ok || len(report.Sources) != 0 || !slices.Equal(report.Missing, []string{"no source introduces itself: the file holds no hello"}) {
		t.Errorf("%+v, %v", report, ok)
	}
	if text, err := json.Marshal(report); err != nil || !strings.Contains(string(text), `"sources":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestARecordingCutAnywhereOpens: at every byte.
func TestARecordingCutAnywhereOpens(t *testing.T) {
	w := newWatched(t)
	_ = w.Write(helloOf(renderSource, recorder.KindProcess, "render.py"))
	w.stream.WantEvents(true)
	w.stream.EmitState(nil)
	workedTree(t, w.arena("frame arena", 1024))
	w.stream.EmitState(nil)
	whole := w.wire
	for cut := range whole {
		w.wire = whole[:cut]
		if _, ok := ReportOf(w.opened(), "file:/r.vscope"); !ok {
			t.Fatalf("cut at %d: no report", cut)
		}
	}
}
