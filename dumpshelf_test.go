package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/recorder/open"
	"vramscope/recorder/torchsnap"
	"vramscope/ui"
)

const realDumps = "recorder/torchsnap/testdata/"

// openHub is a hub whose dumps may take so many bytes together.
func openHub(t *testing.T, dumpMemory int64) *hub {
	t.Helper()
	settings := defaultSettings()
	settings.DumpMemory = byteSize(dumpMemory)
	h := newHub(context.Background(), &settings)
	t.Cleanup(func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// ranks are files of the same run: copies of real dumps.
func ranks(t *testing.T, count int) (paths []string) {
	t.Helper()
	directory := t.TempDir()
	for i := range count {
		name := []string{"render-oom", "fragmented", "resnet18-train", "expandable"}[i%4]
		content, err := os.ReadFile(realDumps + name + ".pickle.gz")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(directory, "rank"+string(rune('0'+i))+".pickle")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// wait waits until a snapshot is as it should be.
func (h *hub) wait(t *testing.T, what string, condition func(*model.Snapshot) bool) *model.Snapshot {
	t.Helper()
	if !h.waitUntil(context.Background(), patience, func(_ *hub, s *model.Snapshot) bool { return condition(s) }) {
		t.Fatalf("waited for %s in vain", what)
	}
	return h.Snapshot()
}

func allRead(count int) func(*model.Snapshot) bool {
	return func(s *model.Snapshot) bool {
		read := 0
		for _, view := range s.Sources {
			if view.Status == model.StatusComplete && view.Summary != nil {
				read++
			}
		}
		return read == count
	}
}

// keptBytes is what the indexes that a snapshot holds take.
func keptBytes(s *model.Snapshot) (bytes int64, kept []string) {
	for _, view := range s.Sources {
		if view.Dump != nil {
			bytes += indexBytes(view.Dump)
			kept = append(kept, view.ID)
		}
	}
	return bytes, kept
}

// TestManyDumpsStayWithinTheirMemory opens more dumps than fit: each has its row,
// the one that is looked at its indexes, and another one gets them when it is
// looked at.
func TestManyDumpsStayWithinTheirMemory(t *testing.T) {
	const limit = 900 << 10
	h, paths := openHub(t, limit), ranks(t, 8)
	for _, path := range paths {
		if err := h.Open(path); err != nil {
			t.Fatal(err)
		}
	}
	h.wait(t, "all rows", allRead(len(paths)))
	first := "file:" + paths[0]
	snapshot := h.wait(t, "the first dump within the bound", func(s *model.Snapshot) bool {
		bytes, _ := keptBytes(s)
		return bytes <= limit && s.Find(first).Dump != nil
	})
	if _, kept := keptBytes(snapshot); len(kept) == len(paths) {
		t.Fatalf("all of %d dumps fit: the bound is not tried", len(paths))
	}
	for _, path := range []string{paths[1], paths[2], paths[6], paths[1]} {
		id := "file:" + path
		h.Show(ui.Interest{Source: id})
		snapshot := h.wait(t, id+" within the bound", func(s *model.Snapshot) bool {
			bytes, _ := keptBytes(s)
			return s.Find(id).Dump != nil && s.Find(id).Status == model.StatusComplete && bytes <= limit
		})
		for _, view := range snapshot.Sources {
			if view.Summary == nil {
				t.Errorf("%s has lost its row", view.ID)
			}
		}
	}
}

// TestDumpLargerThanTheBound is shown all the same, alone.
func TestDumpLargerThanTheBound(t *testing.T) {
	h, paths := openHub(t, 1), ranks(t, 3)
	for _, path := range paths {
		if err := h.Open(path); err != nil {
			t.Fatal(err)
		}
	}
	h.wait(t, "all rows", allRead(len(paths)))
	for _, path := range paths {
		id := "file:" + path
		h.Show(ui.Interest{Source: id})
		h.wait(t, "only "+id, func(s *model.Snapshot) bool {
			_, kept := keptBytes(s)
			return len(kept) == 1 && kept[0] == id
		})
	}
}

// TestFirstPartIsShownWhileTheRestIsRead sees the first part of a dump, then all
// of it, as a reading from beginning to end has it.
func TestFirstPartIsShownWhileTheRestIsRead(t *testing.T) {
	h := openHub(t, 1<<30)
	h.dumps.partAfter = 0
	parts := make(chan int, 64)
	id := "file:" + realDumps + "resnet50-400-steps.pickle.gz"
	format, err := open.Recognise(strings.TrimPrefix(id, "file:"))
	if err != nil {
		t.Fatal(err)
	}
	h.tell(func(store *model.Store) { store.Add(model.SourceInfo{ID: id, Kind: model.KindDump}) })
	h.dumps.shown = id
	watch := h.dumps.watch(context.Background(), id)
	show := watch.Partial
	watch.Partial = func(part *recorder.Dump) {
		show(part)
		h.tell(func(store *model.Store) {
			if view := store.Snapshot(0, 0).Find(id); view.Dump != nil {
				parts <- view.Dump.Devices[0].Events.Len()
			}
		})
	}
	index, err := readDump(strings.TrimPrefix(id, "file:"), format, watch)
	if err != nil {
		t.Fatal(err)
	}
	if events := index.Devices[0].Events.Len(); events != 955_900 {
		t.Errorf("%d events were read", events)
	}
	if first := <-parts; first <= 0 || first >= 955_900 {
		t.Errorf("the first part has %d events", first)
	}
}

// TestIndexBuiltBesideTheDecoding is that of the whole dump.
func TestIndexBuiltBesideTheDecoding(t *testing.T) {
	for _, name := range []string{"render-oom", "fragmented", "resnet50-400-steps"} {
		path := realDumps + name + ".pickle.gz"
		format, err := open.Recognise(path)
		if err != nil {
			t.Fatal(err)
		}
		beside, err := readDump(path, format, open.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		var got, want strings.Builder
		_ = beside.Report().WriteText(&got)
		_ = newIndexOf(t, path).WriteText(&want)
		if got.String() != want.String() {
			t.Errorf("%s: the report differs:\n%s\nwant\n%s", name, got.String(), want.String())
		}
	}
}

// TestClosedDumpIsReadNoFurther closes a dump while it is read, and another one
// that was read.
func TestClosedDumpIsReadNoFurther(t *testing.T) {
	h, paths := openHub(t, 1<<30), ranks(t, 2)
	large := realDumps + "resnet50-400-steps.pickle.gz"
	if err := errors.Join(h.Open(large), h.Open(paths[0]), h.Open(paths[1])); err != nil {
		t.Fatal(err)
	}
	if err := h.Close("file:" + large); err != nil {
		t.Error(err)
	}
	h.wait(t, "the others", allRead(2))
	if err := h.Close("file:" + paths[0]); err != nil {
		t.Error(err)
	}
	h.wait(t, "one source", func(s *model.Snapshot) bool { return len(s.Sources) == 1 && s.Sources[0].ID == "file:"+paths[1] })
	if err := h.Close("file:" + paths[0]); err == nil {
		t.Error("a file was closed twice")
	}
	if err := h.Open(paths[0]); err != nil {
		t.Error(err)
	}
	h.wait(t, "the file again", allRead(2))
}

// TestCancelledReading ends with the next piece of the file.
func TestCancelledReading(t *testing.T) {
	path := realDumps + "resnet50-400-steps.pickle.gz"
	format, err := open.Recognise(path)
	if err != nil {
		t.Fatal(err)
	}
	pieces := 0
	_, err = readDump(path, format, open.Watch{Progress: func(_, _, _ int64) bool {
		pieces++
		return pieces < 3
	}})
	if !errors.Is(err, torchsnap.ErrCancelled) || pieces != 3 {
		t.Errorf("ended after %d pieces with %v", pieces, err)
	}
}

func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		taken       time.Duration
		done, total int64
		want        time.Duration
	}{
		{time.Second, 25, 100, 3 * time.Second}, {time.Second, 0, 100, 0}, {time.Second, 100, 100, 0}, {time.Second, 150, 100, 0}, {time.Second, 1, 0, 0},
	} {
		if got := leftOf(c.taken, c.done, c.total); got != int64(c.want) {
			t.Errorf("%v for %d of %d: %v left, want %v", c.taken, c.done, c.total, time.Duration(got), c.want)
		}
	}
}

// TestMomentBehindTheFile begins at moments of dumps on every command that takes
// them.
func TestMomentBehindTheFile(t *testing.T) {
	path, err := filepath.Abs(realDumps + "render-oom.pickle.gz")
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "rank@3.pickle.gz")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments []string
		says      string
	}{
		{[]string{path + "@peak"}, "event 1,785 of 1,858"}, {[]string{path + "@12"}, "event 12 of 1,858"},
		{[]string{path + "@0.08s"}, "event 1,813 of 1,858"}, {[]string{path, "--at", "peak"}, "event 1,785 of 1,858"},
		{[]string{path, "--at", "7"}, "event 7 of 1,858"}, {[]string{path, "--at", "0.1s"}, "event 1,851 of 1,858"},
		{[]string{path}, "end state after 1,858 events"}, {[]string{odd}, "end state after 1,858 events"}, {[]string{odd + "@peak"}, "event 1,785"},
	} {
		out, problems, code := run(t, append([]string{"render", "--view", "timeline", "--size", "160x40"}, c.arguments...)...)
		if code != exitFine || !strings.Contains(out, c.says) {
			t.Errorf("render %v ends with %d and lacks %q: %s%s", c.arguments, code, c.says, problems, out)
		}
	}
	for _, wrong := range []string{path + "@99999", path + "@12.5x"} {
		if _, problems, code := run(t, "render", wrong); code != exitUsage || !strings.Contains(problems, "vramscope: ") {
			t.Errorf("render %s ends with %d: %s", wrong, code, problems)
		}
	}
	if _, problems, code := run(t, "render", path, "--at", "f412"); code != exitUsage || !strings.Contains(problems, "peak") {
		t.Errorf("render --at f412 of a dump ends with %d: %s", code, problems)
	}
	if out, problems, code := run(t, path+"@peak"); code != exitFine || !strings.Contains(out, "peak requested") {
		t.Errorf("without a terminal %s@peak ends with %d: %s", path, code, problems)
	}
}

// TestDumpsInATerminal opens several dumps in a terminal, at a moment, walks
// through the views, goes from one to the other, and closes one.
func TestDumpsInATerminal(t *testing.T) {
	paths := ranks(t, 3)
	term := startTerminal(t, 160, 40, nil, paths[0]+"@peak", paths[1], paths[2])
	term.waitForText("rank0.pickle", "event 1,785 of 1,858", "Headroom")
	term.send("2")
	term.waitForText("Memory dumps", "rank0.pickle", "rank1.pickle", "rank2.pickle", "late start", "6.3 GiB", "421.4 MiB")
	term.send("c")
	term.waitForText("Sources", "peak 6.3 GiB")
	term.send("\x1b[B\r")
	term.waitForText("rank1.pickle", "end state after 6,503 events")
	term.send("5x")
	term.waitForText("event 3,466 of 6,503", "at the peak of requested bytes", "before recording")
	term.send("7:close\r")
	term.waitForText("closed", "rank0.pickle")
	term.send("q")
	if code := term.waitForExit(); code != exitFine {
		t.Errorf("ends with %d", code)
	}
	term.assertRestored()
}

// newIndexOf is the report on a dump that was read whole before it was indexed.
func newIndexOf(t *testing.T, path string) *dump.Report {
	return dump.New(readSnapshot(t, path)).Report()
}
