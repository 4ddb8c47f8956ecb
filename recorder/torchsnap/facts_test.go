package torchsnap

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"vramscope/recorder"
)

func inflate(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".pickle.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestQuick(t *testing.T) {
	for _, name := range []string{"expandable", "fragmented", "render-oom", "resnet18-train", "resnet50-400-steps"} {
		all := inflate(t, name)
		dump, err := ReadPickle(bytes.NewReader(all), Options{Size: int64(len(all))})
		if err != nil {
			t.Fatal(name, err)
		}
		d := dump.Devices[0]
		counts := map[recorder.DumpAction]int{}
		for _, a := range d.Events.Action {
			counts[a]++
		}
		var reserved, requested int64
		for _, s := range d.Segments {
			reserved += s.Bytes
			requested += s.Requested
		}
		t.Log(name, dump.Format, len(d.Segments), d.Blocks.Len(), reserved, requested, d.Events.Len(), counts, dump.Stacks.Len(), len(dump.Frames), dump.Problems, dump.Extras, dump.Settings)
	}
}

func BenchmarkPickle(b *testing.B) {
	all := inflate(b, "resnet50-400-steps")
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadPickle(bytes.NewReader(all), Options{Size: int64(len(all))}); err != nil {
			b.Fatal(err)
		}
	}
}
