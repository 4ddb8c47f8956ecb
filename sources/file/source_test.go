package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"vramscope/recorder"
	"vramscope/recorder/open"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines encodes records.
func lines(t testing.TB, records ...recorder.Record) []byte {
	t.Helper()
	var text []byte
	for _, record := range records {
		var err error
		if text, err = recorder.AppendLine(text, record); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func head(ns int64) recorder.Head { return recorder.Head{Src: "pid:1-1", Ns: ns} }

func hello() recorder.Record {
	return &recorder.Hello{Head: head(1), Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"}
}

func frame(n int64) recorder.Record { return &recorder.Frame{Head: head(n + 2), N: n} }

func bye() recorder.Record { return &recorder.Bye{Head: head(1000), Why: "exit 0"} }

// following is a Source that runs.
type following struct {
	*Source
	t       *testing.T
	records chan recorder.Record
	end     chan error
	second  chan time.Time // a second passes
	cancel  context.CancelFunc
}

// follow starts to read. A blind source is told nothing by the file system.
func follow(t *testing.T, path string, blind bool) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	source, err := NewSource(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &following{Source: source, t: t, records: make(chan recorder.Record, 1024), end: make(chan error, 1),
		second: make(chan time.Time), cancel: cancel}
	f.Look, f.blind = f.second, blind
	go func() {
		f.end <- f.Run(ctx, func(record recorder.Record) { f.records <- record })
		close(f.records)
	}()
	t.Cleanup(func() {
		cancel()
		for range f.records {
		}
	})
	return f
}

// next is the next record of a kind. A blind source gets it by seconds that
// pass; the other must be told by the file system.
func next[R recorder.Record](f *following) R {
	f.t.Helper()
	var second chan time.Time
	if f.blind {
		second = f.second
	}
	for {
		select {
		case record, open := <-f.records:
			if !open {
				var none R
				f.t.Fatalf("it ended (%v) without a %T", <-f.end, none)
			}
			if wanted, ok := record.(R); ok {
				return wanted
			}
		case second <- time.Time{}:
		}
	}
}

func wantFrame(f *following, n int64) {
	f.t.Helper()
	if got := next[*recorder.Frame](f); got.N != n {
		f.t.Fatalf("frame %d comes, want %d", got.N, n)
	}
}

// nextNote waits for a note. One that says how the file ends so far may come
// before it, where that was read before something happened to the file.
func nextNote(f *following, part string) {
	f.t.Helper()
	for !strings.Contains(next[*recorder.Note](f).Text, part) {
	}
}

// wantNote lets seconds pass until a note comes.
func wantNote(f *following, part string) {
	f.t.Helper()
	for {
		select {
		case record, open := <-f.records:
			if !open {
				f.t.Fatalf("it ended (%v) without a note that has %q", <-f.end, part)
			}
			if note, ok := record.(*recorder.Note); ok && strings.Contains(note.Text, part) {
				return
			}
		case f.second <- time.Time{}:
		}
	}
}

func appendTo(t *testing.T, path string, text []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFinishedFileIsReadAndNotFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.vscope")
	text := lines(t, hello(), frame(1), bye())
	write(t, path, text)
	f := follow(t, path, false)
	wantFrame(f, 1)
	next[*recorder.Bye](f)
	if err := <-f.end; err != nil {
		t.Errorf("it ended with %v", err)
	}
	done, total, waits := f.Progress()
	if done != int64(len(text)) || total != done || waits {
		t.Errorf("progress is %d of %d, following %v", done, total, waits)
	}
	if f.ID() != "file:"+path {
		t.Errorf("ID is %q", f.ID())
	}
}

// Each case is what happens to a file that is followed, once as the file system
// tells it and once by looking each second.
func TestFollowedFile(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, f *following, path string)
	}{
		{"grows", func(t *testing.T, f *following, path string) {
			for n := int64(2); n < 6; n++ {
				appendTo(t, path, lines(t, frame(n)))
				wantFrame(f, n)
			}
		}},
		{"grows by halves of a line", func(t *testing.T, f *following, path string) {
			line := lines(t, frame(2))
			appendTo(t, path, line[:10])
			appendTo(t, path, line[10:])
			wantFrame(f, 2)
		}},
		{"is truncated", func(t *testing.T, f *following, path string) {
			appendTo(t, path, lines(t, frame(2), frame(3)))
			wantFrame(f, 2)
			wantFrame(f, 3)
			write(t, path, lines(t, hello(), frame(7)))
			next[*recorder.Hello](f)
			wantFrame(f, 7)
		}},
		{"is truncated to nothing and begins later", func(t *testing.T, f *following, path string) {
			write(t, path, nil)
			nextNote(f, "was truncated")
			appendTo(t, path, lines(t, hello(), frame(8)))
			wantFrame(f, 8)
		}},
		{"is rotated by a rename", func(t *testing.T, f *following, path string) {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path+".1", lines(t, frame(2))) // the old one's last words
			write(t, path, lines(t, hello(), frame(3)))
			wantFrame(f, 2)
			next[*recorder.Hello](f)
			wantFrame(f, 3)
			appendTo(t, path, lines(t, frame(4)))
			wantFrame(f, 4)
		}},
		{"is replaced by a rename", func(t *testing.T, f *following, path string) {
			write(t, path+".new", lines(t, hello(), frame(5)))
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
			next[*recorder.Hello](f)
			wantFrame(f, 5)
		}},
		{"is removed and returns", func(t *testing.T, f *following, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			nextNote(f, "was removed")
			write(t, path, lines(t, hello(), frame(6)))
			next[*recorder.Hello](f)
			wantFrame(f, 6)
		}},
		{"ends", func(t *testing.T, f *following, path string) {
			appendTo(t, path, lines(t, bye()))
			next[*recorder.Bye](f)
			if err := <-f.end; err != nil {
				t.Errorf("it ended with %v", err)
			}
			f.end <- nil
		}},
	} {
		for _, blind := range []bool{false, true} {
			name := c.name + ", told by the file system"
			if blind {
				name = c.name + ", looked at each second"
			}
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "run.vscope")
				write(t, path, lines(t, hello(), frame(1)))
				f := follow(t, path, blind)
				wantFrame(f, 1)
				c.run(t, f, path)
				f.cancel()
				if err := <-f.end; err != nil {
					t.Errorf("it ended with %v", err)
				}
			})
		}
	}
}

func TestCompressedFileIsFollowedWhileItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.vscope.zst")
	now := int64(1)
	writer, err := recorder.CreateFile(path, recorder.FileOptions{Clock: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	put := func(record recorder.Record) {
		t.Helper()
		if err := writer.Write(record); err != nil {
			t.Fatal(err)
		}
		if err := writer.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	put(hello())
	put(frame(1))
	f := follow(t, path, true)
	wantFrame(f, 1)
	for n := int64(2); n < 20; n++ {
		put(frame(n))
		wantFrame(f, n)
	}
	if err := writer.Close("done"); err != nil {
		t.Fatal(err)
	}
	next[*recorder.Bye](f)
	if err := <-f.end; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestQuietFileSaysHowItEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.vscope")
	text := lines(t, hello(), frame(1), frame(2))
	write(t, path, text[:len(text)-7])
	f := follow(t, path, false)
	wantFrame(f, 1)
	wantNote(f, "ends within a record")
	if _, _, waits := f.Progress(); !waits {
		t.Error("it does not say that it waits")
	}
	appendTo(t, path, text[len(text)-7:])
	wantFrame(f, 2)

	open := filepath.Join(t.TempDir(), "open.vscope")
	write(t, open, append(lines(t, hello()), "garbage\n"...))
	wantNote(follow(t, open, false), "1 lines of "+open+" are no records")
}

func TestEmptyFileIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.vscope")
	write(t, path, nil)
	f := follow(t, path, false)
	f.second <- time.Time{} // it waits
	appendTo(t, path, lines(t, hello(), frame(1)))
	wantFrame(f, 1)
}

func TestTwoSourcesEndWhenBothHave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.vscope")
	other := &recorder.Hello{Head: recorder.Head{Src: "gpu:1", Ns: 1}, Proto: 1, Min: 1, Kind: recorder.KindDevice}
	write(t, path, lines(t, hello(), other, bye(), frame(1)))
	f := follow(t, path, false)
	wantFrame(f, 1)
	f.second <- time.Time{} // it waits for the other one
	appendTo(t, path, lines(t, &recorder.Bye{Head: recorder.Head{Src: "gpu:1", Ns: 5}}))
	if err := <-f.end; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// readOnce reads without following.
func readOnce(path string) (records []recorder.Record, err error) {
	source := &Source{path: path}
	err = source.Run(context.Background(), func(record recorder.Record) { records = append(records, record) })
	return records, err
}

// A recording cut at any byte gives every record that is whole, and says what
// is missing.
func TestFileCutAtAnyByte(t *testing.T) {
	text := lines(t, hello(), frame(1), frame(2), bye())
	dir := t.TempDir()
	path := filepath.Join(dir, "run.vscope")
	for length := 1; length <= len(text); length++ {
		write(t, path, text[:length])
		records, err := readOnce(path)
		whole, rest := 0, 0
		for _, line := range strings.SplitAfter(string(text[:length]), "\n") {
			if strings.HasSuffix(line, "\n") || strings.HasSuffix(line, "}") {
				whole++
			} else {
				rest = len(line)
			}
		}
		if len(records) != whole {
			t.Fatalf("cut at %d: %d records, want %d (%v)", length, len(records), whole, err)
		}
		if whole == 4 {
			if err != nil {
				t.Fatalf("cut at %d: %v", length, err)
			}
			continue
		}
		var cut *CutError
		if !errors.As(err, &cut) || cut.Bytes != int64(rest) || (whole > 0) != (len(cut.Sources) == 1) {
			t.Fatalf("cut at %d: %v, want %d bytes cut", length, err, rest)
		}
	}
}

func TestCompressedFileCutAtAnyByte(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.vscope.zst")
	writer, err := recorder.CreateFile(whole, recorder.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []recorder.Record{hello(), frame(1), frame(2), bye()} {
		if err := writer.Write(record); err != nil {
			t.Fatal(err)
		}
		if err := writer.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close("done"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cut.vscope.zst")
	most := 0
	for length := 4; length < len(text); length++ { // from four bytes on it is known to be compressed
		write(t, path, text[:length])
		records, err := readOnce(path)
		var cut *CutError
		if err != nil && !errors.As(err, &cut) {
			t.Fatalf("cut at %d: %v", length, err)
		}
		if len(records) < most {
			t.Fatalf("cut at %d: %d records, and fewer bytes gave %d", length, len(records), most)
		}
		most = len(records)
	}
	if most != 4 {
		t.Errorf("all but the last byte gives %d records, want 4", most)
	}
}

func TestWhatIsNoRecordingIsRefusedInASentence(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		write(t, p, []byte(text))
		return p
	}
	newer := string(lines(t, &recorder.Hello{Head: head(1), Proto: 9, Min: 9}))
	for _, c := range []struct {
		path string
		want any
	}{
		{filepath.Join(dir, "none"), new(*recorder.FileError)},
		{dir, new(*recorder.FileError)},
		{path("text", "hello, world\n"), new(*open.UnknownError)},
		{path("zip", "PK\x03\x04...."), new(*open.DeclinedError)},
		{path("newer", newer), new(*recorder.ProtocolError)},
	} {
		_, err := NewSource(c.path)
		if err == nil || !errors.As(err, c.want) {
			t.Errorf("%s: %v, want %T", c.path, err, c.want)
		}
		source := &Source{path: c.path, Follow: true} // it may have become so since
		if err := source.Run(context.Background(), func(recorder.Record) {}); err == nil || !errors.As(err, c.want) {
			t.Errorf("run on %s: %v, want %T", c.path, err, c.want)
		}
	}
	if _, err := readOnce(path("empty", "")); err == nil {
		t.Error("an empty file that is not followed is no error")
	}
}

func TestCommandsAreRefused(t *testing.T) {
	if err := new(Source).Send(context.Background(), &recorder.Command{}); !errors.Is(err, ErrNoCommands) {
		t.Errorf("Send = %v", err)
	}
}
