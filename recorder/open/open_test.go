package open

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"vramscope/recorder"
	"vramscope/recorder/algan"
)

const hello = `{"t":"hello","src":"a","ns":1,"proto":1,"min":1}` + "\n"

func write(t *testing.T, content []byte) string {
	t.Helper()
	// The name says nothing of the content.
	path := filepath.Join(t.TempDir(), "file.pickle")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(content)
	w.Close()
	return packed.Bytes()
}

func zstded(content []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(content, nil)
}

func TestRecordingsOpen(t *testing.T) {
	frame := `{"t":"frame","src":"a","n":1}` + "\n"
	long := `{"t":"hello","src":"a","proto":1,"min":1,"argv":["` + strings.Repeat("x", 2*headBytes) + `"]}` + "\n"
	for name, test := range map[string]struct {
		content []byte
		records int
	}{
		"plain":                 {[]byte(hello + frame), 2},
		"compressed":            {zstded([]byte(hello + frame)), 2},
		"keys in another order": {[]byte(`{"proto":7,"min":1,"src":"a","t":"hello"}` + "\n" + frame), 2},
		"a long first line":     {[]byte(long + frame), 2},
		"cut behind the hello":  {[]byte(hello + frame[:9]), 1},
		"cut in the hello":      {[]byte(hello[:20]), 0},
		"cut at the first byte": {[]byte(hello[:1]), 0},
		"compressed and cut":    {zstded([]byte(hello + frame))[:5], 0},
	} {
		file, err := Open(write(t, test.content), Watch{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		records := 0
		for {
			if _, err := file.Recording.Next(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			records++
		}
		if records != test.records || !file.Format.Opens() {
			t.Errorf("%s: %d records, want %d", name, records, test.records)
		}
		file.Recording.Close()
	}
}

func TestNewerRecordingIsRefused(t *testing.T) {
	for _, content := range [][]byte{
		[]byte(`{"t":"hello","proto":9,"min":9}` + "\n"), zstded([]byte(`{"proto":9,"min":9,"t":"hello"}` + "\n")),
	} {
		var protocol *recorder.ProtocolError
		if _, err := Open(write(t, content), Watch{}); !errors.As(err, &protocol) || protocol.Min != 9 {
			t.Errorf("got %v", err)
		}
	}
}

// TestSnapshotsAreOpened: each packing of a snapshot finds its reader.
func TestSnapshotsAreOpened(t *testing.T) {
	pickle := []byte("\x80\x02}q\x00X\x08\x00\x00\x00segmentsq\x01]q\x02s.")
	for name, content := range map[string][]byte{
		"pickle": pickle, "gzip": gzipped(pickle), "zstd": zstded(pickle), "both": zstded(gzipped(pickle)),
		"JSON": []byte(`{"segments": [], "device_traces": []}`),
	} {
		file, err := Open(write(t, content), Watch{})
		if err != nil || file.Dump == nil || !strings.Contains(file.Dump.Format, "PyTorch memory snapshot") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCalibrationFilesAreOpened: each of algan's two finds its reader.
func TestCalibrationFilesAreOpened(t *testing.T) {
	for want, content := range map[string]string{
		"memory tables by algan": "\"\"\"Measured.\"\"\"\n\n# \u2192\nSCHEMA_FINGERPRINT = 'sha256:00'\nTRACES = {}\n",
		"a probe by algan":       `{"key": "()", "fingerprint": null, "trace": [["A", 0, 4, 4, false]]}`,
	} {
		file, err := Open(write(t, []byte(content)), Watch{})
		if err != nil || file.Costs == nil || file.Costs.Format != want || !file.Format.Opens() {
			t.Errorf("%s: %+v, %v", want, file, err)
		}
	}
	var refused *algan.RefusedError
	if _, err := Open(write(t, []byte("TRACES = __import__('os').system('id')\n")), Watch{}); !errors.As(err, &refused) || refused.Column != 10 {
		t.Errorf("a module that calls: %v", err)
	}
}

func TestForeignFilesAreDeclined(t *testing.T) {
	for want, contents := range map[string][][]byte{
		"a Python pickle of protocol 0 or 1":  {[]byte("(dp0\nVsegments\np1\n"), []byte("}q\x00(X\x08\x00\x00\x00segments")},
		"an archive by torch.save":            {[]byte("PK\x03\x04....archive/data.pkl")},
		"a zip archive":                       {[]byte("PK\x03\x04....")},
		"an Nsight Systems export":            {[]byte("SQLite format 3\x00....CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS")},
		"an SQLite database":                  {[]byte("SQLite format 3\x00....")},
		"a memray capture":                    {[]byte("memray\x00\x0c\x00\x00\x00")},
		"an Nsight Systems report":            {[]byte("\x00\x01NVIDIA Tegra Profiler Report")},
		"a picture of a memory timeline":      {[]byte(`<html><img src="data:image/png;base64,`)},
		"an HTML page":                        {[]byte("<!DOCTYPE html>")},
		"a profiler's trace":                  {[]byte(`{ "schemaVersion": 1`), gzipped([]byte(`{"traceEvents":[`)), []byte(`[ {"name": "x", "ph": "X"}`)},
		"a memory timeline":                   {[]byte(`[[123, 0, 1, 512], `), []byte(`[[1.5,2.5],[[`)},
		"a log of CuPy's memory hook":         {[]byte(`{"hook":"alloc"`)},
		"a log of RMM":                        {[]byte("Thread,Time,Action,Pointer,Size,Stream\n"), []byte("Time,Action,Pointer,Size,Stream\n"), []byte("1234,12:34:56.123456,allocate,0x7f00,256,0x0\n"), []byte("1,00:00:00:000001,allocate failure,(nil),256,0\n")},
		"a debug log of RMM":                  {[]byte("[ 1234][12:34:56:123456][info  ] x")},
		"a buffer assignment of XLA":          {[]byte("BufferAssignment:\n")},
		"a memory usage report of XLA":        {[]byte("Total bytes used: 1\nAllocations sorted by size\n")},
		"TensorFlow's or JAX's allocator":     {[]byte("2024 I tsl/framework/bfc_allocator.cc:1122] Bin (256)")},
		"an out-of-memory message of PyTorch": {[]byte("x\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")},
		"a memory summary of PyTorch":         {[]byte("|====|\n|   PyTorch CUDA memory summary, device ID 0   |")},
		"CuPy's line profiler":                {[]byte("_root (4.00KB, 4.00KB)")},
		"RMM's profiler":                      {[]byte("Memory Profiling\n=====\n")},
		"a JAX device memory profile":         {gzipped([]byte("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"))},
		"a benchmark by algan":                {[]byte(`[{"run": "a", "kernel": 1, "peak_alloc_mb": 12.5}]`)},
		"bzip2":                               {[]byte("BZh91AY")},
		"xz":                                  {[]byte("\xfd7zXZ\x00\x00")},
		"an empty file":                       {nil},
	} {
		for _, content := range contents {
			path := write(t, content)
			_, err := Open(path, Watch{})
			var declined *DeclinedError
			if !errors.As(err, &declined) || !strings.Contains(declined.Format, want) {
				t.Errorf("%.30q: %v, want %s", content, err, want)
				continue
			}
			text := err.Error()
			if declined.Path != path || declined.Reason == "" || declined.Advice == "" || strings.ContainsAny(text, "\n\x1b") || strings.HasSuffix(text, ".") {
				t.Errorf("%s is said as %q", want, text)
			}
		}
	}
}

func TestEveryFormatSaysWhatToDo(t *testing.T) {
	for _, format := range formats {
		if format.Opens() == (format.Reason != "" || format.Advice != "") {
			t.Errorf("%+v", format)
		}
	}
}

func TestUnknownFiles(t *testing.T) {
	for content, want := range map[string]UnknownError{
		"Dear diary,\ntoday":               {Text: true, Begin: `"Dear diary,"`},
		"\x1b[31m\x1b]0;evil\u202eexe":     {Text: true, Begin: `"?[31m?]0;evil?exe"`},
		`{"t":"frame","n":1}` + "\n":       {Text: true, Begin: `"{\"t\":\"frame\",\"n\":1}"`},
		"\x7fELF\x02\x01\x01\x00":          {Begin: "7f 45 4c 46 02 01 01 00"},
		strings.Repeat("日本", 100):          {Text: true, Begin: `"` + strings.Repeat("日本", 20) + `…"`},
		string(gzipped([]byte("nothing"))): {Text: true, Begin: `"nothing"`},
		"\x1f\x8b\x00":                     {},
		`{"a":{"segments":1}}`:             {Text: true, Begin: `"{\"a\":{\"segments\":1}}"`},
	} {
		path := write(t, []byte(content))
		_, err := Open(path, Watch{})
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Text != want.Text || unknown.Begin != want.Begin {
			t.Errorf("%.20q: %#v", content, err)
			continue
		}
		if text := err.Error(); !strings.Contains(text, ".vscope") || strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("said as %q", text)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		folder: "it is a folder", pipe: "it is no regular file", "/dev/null": "it is no regular file",
		filepath.Join(folder, "missing"): "does not exist",
	} {
		var failed *recorder.FileError
		if _, err := Open(path, Watch{}); !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A small file that inflates to a huge one is looked at by its beginning.
func TestBombsAreNotInflated(t *testing.T) {
	zeros := make([]byte, 8<<20)
	for _, packed := range [][]byte{gzipped(zeros), zstded(zeros), zstded(gzipped(zeros))} {
		c := look(packed[:min(len(packed), headBytes)])
		if len(c.head) > headBytes {
			t.Errorf("%d bytes were inflated", len(c.head))
		}
	}
}

func FuzzRecognise(f *testing.F) {
	for _, seed := range [][]byte{
		[]byte(hello), zstded([]byte(hello)), gzipped([]byte("\x80\x04\x95")), []byte("PK\x03\x04/data.pkl"), []byte("<html>"),
		[]byte(`[[1,2,3,4],`), []byte("1234,12:34:56.123456,allocate,0x7f00,256,0x0\n"), {0x1f, 0x8b}, {0x28, 0xb5, 0x2f, 0xfd},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if len(head) == 0 {
			return
		}
		c := look(head)
		for i := range formats {
			if formats[i].match(c) {
				return
			}
		}
		if text := unknown("file", c).Error(); strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q", text)
		}
	})
}
