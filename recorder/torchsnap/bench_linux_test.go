//go:build linux && !race

package torchsnap

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkRead opens the dump of 400 training steps: 955,900 events, as the
// plain pickle of 87 MB and packed. Beside it stands what Python's
// pickle.load takes for the same file, where Python is there.
func BenchmarkRead(b *testing.B) {
	content := inflate(b, "resnet50-400-steps")
	plain := filepath.Join(b.TempDir(), "plain.pickle")
	if err := os.WriteFile(plain, content, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, path string }{{"plain", plain}, {"gzip", "testdata/resnet50-400-steps.pickle.gz"}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				events = readPath(b, c.path)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
			peak, _ := peakOfReading(b, c.path)
			b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
		})
	}
	b.Run("CPython", func(b *testing.B) {
		const load = "import pickle,resource,sys,time\nt=time.perf_counter()\npickle.load(open(sys.argv[1],'rb'))\n" +
			"print(time.perf_counter()-t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
		seconds, kilobytes := 0.0, 0.0
		for b.Loop() {
			out, err := exec.Command("python3", "-c", load, plain).Output()
			if err != nil {
				b.Skipf("python3 is missing or fails, so that there is nothing to compare with: %v", err)
			}
			fields := strings.Fields(string(out))
			took, _ := strconv.ParseFloat(fields[0], 64)
			seconds += took
			kilobytes, _ = strconv.ParseFloat(fields[1], 64)
		}
		b.ReportMetric(seconds/float64(b.N)*1e9, "ns-load")
		b.ReportMetric(kilobytes/1024, "MiB-peak")
	})
}

func readPath(b *testing.B, path string) (events int) {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	dump, err := Read(file, Options{Size: info.Size()})
	if err != nil {
		b.Fatal(err)
	}
	return dump.Devices[0].Events.Len()
}

// BenchmarkJSON reads the same as JSON text, where every stack is written
// out each time.
func BenchmarkJSON(b *testing.B) {
	var content bytes.Buffer
	asJSON(&content, drawSnapshot(newRandom(1), 20_000, false).top, " ")
	b.SetBytes(int64(content.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readBytes(content.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
