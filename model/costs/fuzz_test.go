package costs

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"

	"vramscope/recorder/algan"
)

// FuzzReport reports and compares whatever can be read, for frames and drivers
// that may be anything: no number wraps around, and no control character comes
// out.
func FuzzReport(f *testing.F) {
	module, err := os.ReadFile("../../recorder/algan/testdata/mem_usage.py")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(module, int64(8), int64(65536))
	f.Add([]byte("UNITS = {'a': {(): {'pool': 9223372036854775807, 'fixed': 9223372036854775807, 'align_slack': 1}}}"), int64(1), int64(1))
	f.Add([]byte("DENSITIES = {'a': {'density_of': 'pool', 'density_per': 'frames', 'density': 1e300, 'structural': {(): {'pool': 1}}}}"), int64(1<<62), int64(0))
	f.Fuzz(func(t *testing.T, content []byte, frames, units int64) {
		read, err := algan.ReadModule(bytes.NewReader(content))
		if err != nil || frames < 1 || frames > MostFrames || units < 0 {
			return
		}
		x := New(read)
		report := x.Report([]int64{1, frames}, map[string]int64{"pool": units, "primary": 3, "pixels": units})
		for i := range report.Scopes {
			for _, at := range report.Scopes[i].At {
				if at.Peak != nil && *at.Peak < 0 || (at.Peak == nil) != (at.Why != "") {
					t.Fatalf("%+v", report.Scopes[i])
				}
			}
		}
		var out bytes.Buffer
		if err := report.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if err := NewDiff(Side{x, "a"}, Side{New(tables()), "b"}, DefaultFrames, nil).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(io.Discard).Encode(report); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q comes out", r)
			}
		}
	})
}
