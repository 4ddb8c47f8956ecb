package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

var bothNames = []string{"render.vscope", "render.vscope.zst"}

func create(t *testing.T, name string, options FileOptions) *FileWriter {
	t.Helper()
	w, err := CreateFile(filepath.Join(t.TempDir(), name), options)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func readFile(t *testing.T, path string) ([]Record, *FileReader) {
	t.Helper()
	r, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	var records []Record
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, r
		}
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
}

func TestFilesComeBack(t *testing.T) {
	for _, name := range bothNames {
		t.Run(name, func(t *testing.T) {
			w := create(t, name, FileOptions{Clock: (&manualClock{}).read})
			want := exampleRecording()
			for _, record := range want {
				if err := w.Write(record); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close("end"); err != nil {
				t.Fatal(err)
			}
			got, r := readFile(t, w.Path())
			if diff := cmp.Diff(want, got, sameRecord); diff != "" {
				t.Errorf("(-written +read):\n%s", diff)
			}
			info, err := os.Stat(w.Path())
			if err != nil {
				t.Fatal(err)
			}
			size, content := w.Size()
			if info.Mode().Perm() != 0o600 || info.Size() != size || r.Size() != size || r.Done() != size || content != r.Offset() {
				t.Errorf("mode %v, %d bytes; writer says %d and %d, reader %d and %d", info.Mode(), info.Size(), size, content, r.Done(), r.Offset())
			}
			if r.Truncated() || r.Problems().CutBytes != 0 {
				t.Errorf("a whole file is said to be cut: %+v", r.Problems())
			}
			if err := w.Write(want[0]); !errors.Is(err, os.ErrClosed) {
				t.Errorf("written after the end: %v", err)
			}
		})
	}
}

func TestCloseSaysBye(t *testing.T) {
	w := create(t, "render.vscope", FileOptions{Clock: (&manualClock{}).read})
	for _, record := range []Record{
		&Hello{Head: Head{Src: "a"}, Proto: 1, Min: 1}, &Hello{Head: Head{Src: "b"}, Proto: 1, Min: 1},
		&Hello{Head: Head{Src: "a"}, Proto: 1, Min: 1}, &Bye{Head: Head{Src: "b"}, Why: "exit 0"},
	} {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close("recording off"); err != nil {
		t.Fatal(err)
	}
	records, _ := readFile(t, w.Path())
	last, ok := records[len(records)-1].(*Bye)
	if len(records) != 5 || !ok || last.Src != "a" || last.Why != "recording off" || last.Ns == 0 {
		t.Errorf("%d records, last %+v", len(records), records[len(records)-1])
	}
}

// A file that is cut at any byte loses no more than what came in the second
// before the cut.
func TestCutFiles(t *testing.T) {
	for _, name := range bothNames {
		t.Run(name, func(t *testing.T) {
			clock := &manualClock{}
			w := create(t, name, FileOptions{Clock: func() int64 { return clock.now }})
			type moment struct {
				size    int64
				records int
			}
			var flushed []moment
			for n := range 60 {
				clock.now += FlushPeriod / 4
				if err := w.Write(&Note{Head: Head{Src: "a", Ns: clock.now}, Text: fmt.Sprint("note ", n*n)}); err != nil {
					t.Fatal(err)
				}
				if (n+1)%4 == 0 {
					info, _ := os.Stat(w.Path())
					flushed = append(flushed, moment{info.Size(), n + 1})
				}
			}
			if err := w.Close(""); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(w.Path())
			if err != nil {
				t.Fatal(err)
			}
			for cut := range len(whole) + 1 {
				r := NewReader(iotest.HalfReader(bytes.NewReader(whole[:cut])))
				records := 0
				for {
					_, err := r.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatalf("cut at %d of %d, after %d records: %v", cut, len(whole), records, err)
					}
					records++
				}
				r.Close()
				want := 0
				for _, m := range flushed {
					if m.size <= int64(cut) {
						want = m.records
					}
				}
				if records < want || records > 60 {
					t.Fatalf("cut at %d: %d records, want %d", cut, records, want)
				}
				if cut == len(whole)-1 && records == 60 {
					continue // nothing but the last line feed is missing
				}
				if p := r.Problems(); p.BadLines != 0 || (cut == len(whole)) == (r.Truncated() || p.CutBytes > 0 || records < 60) {
					t.Fatalf("cut at %d of %d: %+v, truncated %t", cut, len(whole), p, r.Truncated())
				}
			}
		})
	}
}

func TestFilesAreFlushedEachSecond(t *testing.T) {
	for _, name := range bothNames {
		clock := &manualClock{now: 1}
		w := create(t, name, FileOptions{Clock: func() int64 { return clock.now }})
		w.Write(&Frame{N: 1})
		if records, _ := readFile(t, w.Path()); len(records) != 0 {
			t.Errorf("%s: %d records are there at once", name, len(records))
		}
		clock.now += FlushPeriod
		if err := w.Tick(); err != nil {
			t.Fatal(err)
		}
		if records, _ := readFile(t, w.Path()); len(records) != 1 {
			t.Errorf("%s: %d records are there after a second", name, len(records))
		}
		size, _ := w.Size()
		clock.now += FlushPeriod
		w.Tick()
		if again, _ := w.Size(); again != size {
			t.Errorf("%s: a tick without records writes %d bytes", name, again-size)
		}
		w.Close("")
	}
}

func TestFilesThatCannotBeMade(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "there.vscope")
	link := filepath.Join(folder, "link.vscope")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(folder, "target"), link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		there:                                    "exists",
		link:                                     "exists",
		folder:                                   "exists",
		filepath.Join(folder, "no/such.vscope"):  "check the path",
		filepath.Join(there, "in a file.vscope"): "path",
		filepath.Join(folder, strings.Repeat("n", 300)): "too long",
	} {
		_, err := CreateFile(path, FileOptions{})
		var failed *FileError
		if !errors.As(err, &failed) || failed.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(folder, "target")); err == nil {
		t.Error("a file was made through a symbolic link")
	}
}

func TestFullDisk(t *testing.T) {
	for _, name := range bothNames {
		t.Run(name, func(t *testing.T) {
			clock := &manualClock{}
			w := create(t, name, FileOptions{Clock: func() int64 { return clock.now }})
			if err := w.Write(&Hello{Head: Head{Src: "a"}, Proto: 1, Min: 1}); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			real := w.file
			w.file = full
			clock.now += FlushPeriod
			err = w.Write(&Frame{N: 1})
			var failed *FileError
			if !errors.As(err, &failed) || !failed.Full() || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "disk is full; free space") {
				t.Fatalf("got %v", err)
			}
			if again := w.Write(&Frame{N: 2}); again != err {
				t.Errorf("the next write says %v", again)
			}
			if again := w.Close("end"); again != err {
				t.Errorf("the end says %v", again)
			}
			real.Close()
			if records, _ := readFile(t, w.Path()); len(records) != 1 {
				t.Errorf("%d records can be read, want the one before", len(records))
			}
		})
	}
}

func TestSizeLimit(t *testing.T) {
	w := create(t, "render.vscope", FileOptions{Clock: (&manualClock{}).read, Limit: 1000})
	var err error
	for n := 0; err == nil; n++ {
		err = w.Write(&Note{Head: Head{Src: "a"}, Text: strings.Repeat("x", 100)})
	}
	if !errors.Is(err, ErrFileLimit) || !strings.Contains(err.Error(), "set a larger limit") {
		t.Errorf("got %v", err)
	}
	if err := w.Close(""); err != nil {
		t.Error(err)
	}
	if size, _ := w.Size(); size > 1000 || size < 800 {
		t.Errorf("%d bytes", size)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		folder: "folder", pipe: "no regular file", filepath.Join(folder, "missing"): "does not exist",
	} {
		var failed *FileError
		if _, err := OpenFile(path); !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	var content []byte
	for n := range 2000 {
		content, _ = AppendLine(content, &Note{Text: fmt.Sprint("note ", n*n*n)})
	}
	packed := encoder.EncodeAll(content, nil)
	for at := 0; at < len(packed); at += 41 {
		damaged := bytes.Clone(packed)
		damaged[at] ^= 0x55
		path := filepath.Join(t.TempDir(), "damaged.zst")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		var failed *FileError
		if !errors.Is(err, io.EOF) && !errors.As(err, &failed) {
			t.Errorf("byte %d: %v", at, err)
		}
		r.Close()
	}
}

// A file that inflates to a thousand times its size takes no memory for it.
func TestBombs(t *testing.T) {
	encoder, _ := zstd.NewWriter(nil, zstd.WithWindowSize(8<<20))
	zeros := make([]byte, 256<<20)
	packed := encoder.EncodeAll(zeros, nil)
	zeros = nil
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(bytes.NewReader(packed))
	_, err := r.Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.EOF) || r.Problems().CutBytes != 256<<20 {
		t.Errorf("%v, %+v", err, r.Problems())
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("%d bytes were taken for a file of %d", taken, len(packed))
	}
	r.Close()

	encoder, _ = zstd.NewWriter(nil, zstd.WithWindowSize(64<<20))
	r = NewReader(bytes.NewReader(encoder.EncodeAll(make([]byte, 65<<20), nil)))
	if _, err := r.Next(); !errors.Is(err, ErrWindow) {
		t.Errorf("a window of 64 MiB: %v", err)
	}
	r.Close()
}

func TestReaderTellsInputsApart(t *testing.T) {
	line := `{"t":"frame","n":1}` + "\n"
	for _, input := range []io.Reader{strings.NewReader(line), iotest.OneByteReader(strings.NewReader(line))} {
		r := NewReader(input)
		if record, err := r.Next(); err != nil || record.(*Frame).N != 1 {
			t.Errorf("got %v, %v", record, err)
		}
	}
	for _, input := range []string{"", "{", "(", "(\xb5", "{}", "ab"} {
		r := NewReader(strings.NewReader(input))
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", input, err)
		}
	}
	broken := errors.New("the network is gone")
	if _, err := NewReader(iotest.ErrReader(broken)).Next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	encoder, _ := zstd.NewWriter(nil)
	packed := encoder.EncodeAll([]byte(line), nil)
	if _, err := NewReader(io.MultiReader(bytes.NewReader(packed[:8]), iotest.ErrReader(broken))).Next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A plain file can be followed from its first byte on.
func TestReaderFollows(t *testing.T) {
	var file growing
	r := NewReader(&file)
	for _, step := range []struct {
		written string
		want    int
	}{{"", 0}, {"{", 0}, {`"t`, 0}, {`":"frame"}`, 1}, {"\n" + `{"t":"frame"}` + "\n", 1}} {
		file.WriteString(step.written)
		if got := readAll(t, r.Decoder); len(got) != step.want {
			t.Fatalf("after %q: %d records, want %d", step.written, len(got), step.want)
		}
	}
}

func BenchmarkFileWriter(b *testing.B) {
	for _, name := range bothNames {
		b.Run(name, func(b *testing.B) {
			w, err := CreateFile(filepath.Join(b.TempDir(), name), FileOptions{})
			if err != nil {
				b.Fatal(err)
			}
			batch := benchBatch()
			line, _ := AppendLine(nil, batch)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Write(batch); err != nil {
					b.Fatal(err)
				}
			}
			w.Close("")
			size, content := w.Size()
			b.ReportMetric(float64(content)/float64(size), "times_smaller")
		})
	}
}
