package torchsnap

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"vramscope/recorder"
)

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

// TestProgressGrowsAndCancels tells bytes and events on the way, and ends when
// asked to.
func TestProgressGrowsAndCancels(t *testing.T) {
	content := pickled(drawSnapshot(newRandom(1), 20_000, false).top, 4, false, nil).out
	for name, content := range map[string][]byte{"plain": content, "gzip": gzipped(content)} {
		var bytesRead, events []int64
		_, err := Read(bytes.NewReader(content), Options{Size: int64(len(content)), Progress: func(b, e int64) bool {
			bytesRead, events = append(bytesRead, b), append(events, e)
			return true
		}})
		if err != nil || len(events) < 5 {
			t.Fatalf("%s: told %d times, %v", name, len(events), err)
		}
		for i := 1; i < len(events); i++ {
			if bytesRead[i] < bytesRead[i-1] || events[i] < events[i-1] || bytesRead[i] > int64(len(content)) {
				t.Errorf("%s: %d bytes after %d, %d events after %d", name, bytesRead[i], bytesRead[i-1], events[i], events[i-1])
			}
		}
		told := 0
		_, err = Read(bytes.NewReader(content), Options{Progress: func(_, _ int64) bool { told++; return told < 3 }})
		if !errors.Is(err, ErrCancelled) || told != 3 {
			t.Errorf("%s: cancelled after %d: %v", name, told, err)
		}
	}
}

// TestPartsAreTheBeginning of the whole dump, and stay what they are while
// the reading goes on: another goroutine looks at each.
func TestPartsAreTheBeginning(t *testing.T) {
	d := drawSnapshot(newRandom(2), 9000, true)
	var text bytes.Buffer
	asJSON(&text, d.top, "")
	for name, content := range map[string][]byte{
		"Python": pickled(d.top, 4, false, nil).out, "TorchScript": pickled(d.top, 2, true, nil).out, "JSON": text.Bytes(),
	} {
		parts := make(chan *recorder.Dump, 100)
		var looked []plainDump
		done := make(chan struct{})
		go func() {
			defer close(done)
			for part := range parts {
				looked = append(looked, plain(part))
			}
		}()
		in := newInput(bytes.NewReader(content), 1000)
		m := newMachine(in, func() int64 { return int64(len(content)) })
		m.watch = watch{partial: func(part *recorder.Dump) { parts <- part }, every: 500}
		run := (*machine).run
		if name == "JSON" {
			run = (*machine).runJSON
		}
		dump, err := m.dump(run)
		in.close()
		close(parts)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		whole := plain(dump)
		if len(looked) < 3 {
			t.Errorf("%s: %d parts", name, len(looked))
		}
		for _, part := range looked {
			if !part.Truncated || len(part.Devices) == 0 {
				t.Fatalf("%s: truncated %v, %d devices", name, part.Truncated, len(part.Devices))
			}
			for i, device := range part.Devices {
				all := whole.Devices[i]
				for n := range all.Events { // those come with the whole
					all.Events[n].Notes, all.Events[n].Free = nil, -1
				}
				if diff := difference(all.Segments, device.Segments); diff != "" {
					t.Fatalf("%s: %s", name, diff)
				}
				if diff := difference(all.Events[:len(device.Events)], device.Events); diff != "" {
					t.Fatalf("%s: %s", name, diff)
				}
			}
		}
	}
}
