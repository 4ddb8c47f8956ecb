package torchsnap

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(content)
	w.Close()
	return packed.Bytes()
}

func zstandard(content []byte, options ...zstd.EOption) []byte {
	w, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return w.EncodeAll(content, nil)
}

// page is what torch.cuda._memory_viz writes around a pickle.
func page(content []byte) []byte {
	return []byte("<!DOCTYPE html>\n<html><head></head><body><script type=\"module\">\nimport {add_local_files} from \"https://x/MemoryViz.js\"\n" +
		`const local_files = [{"name": "snapshot.pickle", "base64": "` + base64.StdEncoding.EncodeToString(content) + "\"}]\n" +
		"add_local_files(local_files, \"Active Memory Timeline\")\n</script></body>")
}

// archive is what torch.save writes around an object.
func archive(content []byte, method uint16, name string) []byte {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	entry, err := w.CreateRaw(&zip.FileHeader{
		Name: name, Method: method, UncompressedSize64: uint64(len(content)), CompressedSize64: uint64(len(content)),
		Extra: append([]byte("FB\x0c\x00"), "ZZZZZZZZZZZZ"...),
	})
	if err != nil {
		panic(err)
	}
	entry.Write(content)
	if version, err := w.Create("archive/version"); err == nil {
		io.WriteString(version, "3\n")
	}
	w.Close()
	return packed.Bytes()
}

// TestPackings opens the same dump in everything that people put around one.
func TestPackings(t *testing.T) {
	content := inflate(t, "render-oom")
	want, err := readBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string][]byte{
		"gzip":                 gzipped(content),
		"gzip twice":           gzipped(gzipped(content)),
		"gzip of two members":  append(gzipped(content[:5000]), gzipped(content[5000:])...),
		"zstd":                 zstandard(content),
		"zstd, as -19":         zstandard(content, zstd.WithEncoderLevel(zstd.SpeedBestCompression)),
		"gzip in zstd":         zstandard(gzipped(content)),
		"HTML":                 page(content),
		"HTML in gzip":         gzipped(page(content)),
		"gzip in HTML":         page(gzipped(content)),
		"torch.save":           archive(content, zip.Store, "archive/data.pkl"),
		"with something after": append(bytes.Clone(content), "garbage"...),
	} {
		dump, err := readBytes(packed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := difference(plain(want), plain(dump)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if dump.Bytes != want.Bytes || dump.Format != want.Format {
			t.Errorf("%s: %d bytes, %q", name, dump.Bytes, dump.Format)
		}
	}
}

// TestWrapped opens a snapshot that somebody put into something else.
func TestWrapped(t *testing.T) {
	d := drawSnapshot(newRandom(11), 40, false)
	want := d.want
	for name, c := range map[string]struct {
		top     any
		problem string
	}{
		"a dictionary":         {d.keys.dictOf("rank", int64(0), "snapshot", d.top), `value of the key "snapshot"`},
		"a list":               {&sequence{[]any{d.top, d.keys.dictOf("segments", &sequence{})}}, "list of 2 snapshots"},
		"a list of one":        {&sequence{[]any{d.top}}, ""},
		"a tuple":              {&tuple{[]any{d.top, int64(3)}}, "list of 2 snapshots"},
		"a dictionary of none": {d.keys.dictOf("state", d.keys.dictOf("lr", 0.5)), "no snapshot"},
	} {
		var text bytes.Buffer
		asJSON(&text, c.top, " ")
		for _, content := range [][]byte{pickled(c.top, 4, false, nil).out, pickled(c.top, 2, true, nil).out, text.Bytes(), append([]byte("\ufeff \n"), text.Bytes()...)} {
			dump, err := readBytes(content)
			if c.problem == "no snapshot" {
				if _, ok := errors.AsType[*NotSnapshotError](err); !ok {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got := plain(dump)
			if all := strings.Join(got.Problems, "; "); !strings.Contains(all, c.problem) {
				t.Errorf("%s: problems %q", name, all)
			}
			got.Problems = nil
			if diff := difference(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// TestDeclined says in one sentence what a file is and what to do.
func TestDeclined(t *testing.T) {
	content := inflate(t, "expandable")
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"an empty file":        {nil, "empty"},
		"empty gzip":           {gzipped(nil), "empty"},
		"text":                 {[]byte("Tried to allocate 2 GiB"), "neither a pickle nor JSON"},
		"bzip2":                {[]byte("BZh91AY&SY"), "bunzip2"},
		"xz":                   {[]byte("\xfd7zXZ\x00\x00"), "unxz"},
		"a zip of pictures":    {archive(content, zip.Store, "a.png"), "data.pkl"},
		"a compressed archive": {archive(content, zip.Deflate, "archive/data.pkl"), "data.pkl"},
		"half a zip":           {[]byte("PK\x03\x04"), "data.pkl"},
		"a page":               {[]byte("<html><img src=\"data:image/png;base64,iVBORw0KGgo\"></html>"), "no snapshot in it"},
		"a page of another":    {[]byte("<html>\"base64\" is 6 bits</html>"), "not where it belongs"},
		"packed four times":    {gzipped(gzipped(gzipped(gzipped(content)))), "unpack it first"},
		"damaged gzip":         {[]byte("\x1f\x8b\x08\xffxxxxxx"), "damaged"},
		"damaged zstd":         {[]byte("\x28\xb5\x2f\xfdxxxxxxxx"), "damaged"},
		"a pickle of numbers":  {[]byte("\x80\x04]K\x01a."), "no segments"},
	} {
		_, err := readBytes(c.content)
		if _, ok := errors.AsType[*NotSnapshotError](err); !ok || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkSentence(t, err)
	}
}

// TestDamagedPackings shows what came out of a packing before it broke.
func TestDamagedPackings(t *testing.T) {
	content := inflate(t, "fragmented")
	for name, pack := range map[string]func([]byte) []byte{
		"gzip": gzipped, "zstd": func(content []byte) []byte { return zstandard(content) },
		"base64": page, "gzip twice": func(content []byte) []byte { return gzipped(gzipped(content)) },
	} {
		packed := pack(content)
		cut, err := readBytes(packed[:len(packed)*3/4])
		if err != nil || !cut.Truncated || cut.Devices[0].Events.Len() == 0 || len(cut.Devices[0].Segments) != 482 {
			t.Errorf("%s, cut: %v", name, err)
			continue
		}
		if problem := strings.Join(cut.Problems, "; "); !strings.Contains(problem, "ends early") {
			t.Errorf("%s, cut: %q", name, problem)
		}
		if name != "gzip" {
			continue
		}
		broken := bytes.Clone(packed)
		copy(broken[len(broken)*3/4:], make([]byte, 40))
		dump, err := readBytes(broken)
		if err != nil {
			checkSentence(t, err)
		} else if len(dump.Problems) == 0 {
			t.Errorf("%s, broken: %d events and no problem", name, dump.Devices[0].Events.Len())
		}
	}
}

// TestInflatingWithoutEnd refuses a small file that inflates to a huge one,
// long before it is through.
func TestInflatingWithoutEnd(t *testing.T) {
	// A string of 16 MiB, again and again: nothing of it is kept.
	piece := append([]byte("X\x00\x00\x00\x01"), make([]byte, maximumText)...)
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "\x80\x02(")
	for range 40 {
		w.Write(piece)
	}
	w.Close()
	_, err = readBytes(packed.Bytes())
	tooLarge, ok := errors.AsType[*TooLargeError](err)
	if !ok || tooLarge.Packing != "zstd" || tooLarge.Packed > int64(packed.Len()) {
		t.Fatalf("%d bytes: %v", packed.Len(), err)
	}
	checkSentence(t, err)
}

// TestReaderThatFails hands on the reader's own error.
func TestReaderThatFails(t *testing.T) {
	content := inflate(t, "expandable")
	broken := errors.New("the disk is gone")
	for name, content := range map[string][]byte{"plain": content, "gzip": gzipped(content), "zstd": zstandard(content), "HTML": page(content)} {
		for _, at := range []int{0, 1000, len(content) / 10} {
			r := io.MultiReader(bytes.NewReader(content[:at]), iotest.ErrReader(broken))
			if _, err := Read(r, Options{}); !errors.Is(err, broken) {
				t.Errorf("%s, at %d: %v", name, at, err)
			}
		}
	}
}
