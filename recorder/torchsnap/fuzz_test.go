package torchsnap

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"vramscope/recorder"
)

// checkDump holds a dump to what its readers rely on, whatever the file was.
func checkDump(t *testing.T, dump *recorder.Dump) {
	t.Helper()
	shown := slices.Concat(dump.Strings, dump.Problems, dump.Extras, []string{dump.Format})
	for _, s := range dump.Settings {
		shown = append(shown, s.Key, s.Value)
	}
	for _, a := range dump.Annotations {
		shown = append(shown, a.Name)
	}
	stacks := int32(dump.Stacks.Len())
	for _, frame := range dump.Stacks.Frames {
		if int(frame) >= len(dump.Frames) {
			t.Fatalf("frame %d of %d", frame, len(dump.Frames))
		}
	}
	for _, f := range dump.Frames {
		if int(f.Name) >= len(dump.Strings) || int(f.File) >= len(dump.Strings) || f.Line < -1 {
			t.Fatalf("frame %+v", f)
		}
	}
	for _, d := range dump.Devices {
		e, b := &d.Events, &d.Blocks
		if n := e.Len(); len(e.Address) != n || len(e.Bytes) != n || len(e.Stream) != n || len(e.Pool) != n || len(e.TimeUs) != n || len(e.Stack) != n {
			t.Fatal("columns of unequal length")
		}
		if n := b.Len(); len(b.Bytes) != n || len(b.Requested) != n || len(b.State) != n || len(b.Stack) != n {
			t.Fatal("columns of unequal length")
		}
		for i := range e.Action {
			if e.Stack[i] < 0 || e.Stack[i] >= stacks || int(e.Stream[i]) >= len(dump.Streams) || int(e.Pool[i]) >= len(dump.MemoryPools) || uint64(e.Bytes[i]) > maximumBytes {
				t.Fatalf("event %d", i)
			}
		}
		for row, notes := range e.Notes {
			if row < 0 || row >= e.Len() || len(notes) == 0 {
				t.Fatalf("a note of event %d", row)
			}
			for _, n := range notes {
				shown = append(shown, n.Key, n.Value)
			}
		}
		for i := range b.Address {
			if b.Stack[i] < 0 || b.Stack[i] >= stacks || b.State[i] > recorder.DumpPendingFree || uint64(b.Bytes[i]) > maximumBytes {
				t.Fatalf("block %d", i)
			}
		}
		next := int32(0)
		for i, s := range d.Segments {
			if s.First != next || s.Count < 0 || i > 0 && s.Address < d.Segments[i-1].Address || s.Stack < 0 || s.Stack >= stacks {
				t.Fatalf("segment %d: %+v", i, s)
			}
			next += s.Count
		}
		if int(next) != b.Len() {
			t.Fatalf("%d of %d blocks lie in segments", next, b.Len())
		}
	}
	for _, text := range shown {
		if !harmless([]byte(text)) && harmlessText([]byte(text)) != text {
			t.Fatalf("%q would be obeyed by a terminal", text)
		}
	}
}

// fuzzed reads on one path and checks what comes of it.
func fuzzed(t *testing.T, content []byte, run func(*machine) (value, error), fast bool) (*recorder.Dump, error) {
	in := newInput(bytes.NewReader(content), 512)
	defer in.close()
	m := newMachine(in, func() int64 { return int64(len(content)) })
	m.fast.off = !fast
	dump, err := m.dump(run)
	if m.peak > memoryLimit(int64(len(content))) {
		t.Fatalf("%d bytes of memory for %d", m.peak, len(content))
	}
	if err != nil {
		checkSentence(t, err)
		return nil, err
	}
	checkDump(t, dump)
	return dump, nil
}

// FuzzPickle reads anything as a pickle: without a panic, within its memory,
// with the same result on both paths, and nothing that a terminal obeys.
func FuzzPickle(f *testing.F) {
	for _, name := range smallDumps {
		content := inflate(f, name)
		traces := bytes.Index(content, []byte("device_traces"))
		f.Add(content[:1500])
		// The first segments and the first events of a real one.
		f.Add(slices.Concat(content[:1000], content[traces-2:traces+2500]))
	}
	d := drawSnapshot(newRandom(3), 8, true)
	f.Add(pickled(d.top, 4, false, d.Rand).out)
	f.Add(pickled(d.top, 2, false, nil).out)
	f.Add(pickled(d.top, 2, true, nil).out)
	f.Fuzz(func(t *testing.T, content []byte) {
		fast, err := fuzzed(t, content, (*machine).run, true)
		plainly, plainErr := fuzzed(t, content, (*machine).run, false)
		for _, err := range []error{err, plainErr} {
			if _, ok := errors.AsType[*TooDenseError](err); ok {
				return // the paths do not take the same memory
			}
		}
		if err != nil || plainErr != nil {
			if err == nil || plainErr == nil || err.Error() != plainErr.Error() {
				t.Fatalf("%v\n%v", err, plainErr)
			}
			return
		}
		if diff := difference(plain(plainly), plain(fast)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzJSON reads anything as JSON text.
func FuzzJSON(f *testing.F) {
	for seed := range uint64(3) {
		var content bytes.Buffer
		asJSON(&content, drawSnapshot(newRandom(seed), 5, true).top, " ")
		f.Add(content.Bytes())
	}
	f.Add([]byte(`{"segments":[{"total_size":1,"blocks":[{"size":1,"state":"inactive"}]}],"device_traces":[[{"action":"oom","x":"\ud83d\u001b"}]]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzed(t, content, (*machine).runJSON, true)
	})
}

// FuzzRead reads anything as whatever it looks like.
func FuzzRead(f *testing.F) {
	content := inflate(f, "expandable")[:3000]
	for _, packed := range [][]byte{content, gzipped(content), zstandard(content), page(content), archive(content, 0, "archive/data.pkl"), []byte(`[{"blocks":[]}]`)} {
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		dump, err := readBytes(content)
		if err != nil {
			checkSentence(t, err)
			return
		}
		checkDump(t, dump)
	})
}
