package recorder

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"vramscope/arena"
)

// hostileStream is a recording of about n bytes that wants as much memory as
// it can get: every scope has a name and parameters of its own, none of them
// closes, and nothing that can be left out is there.
func hostileStream(t *testing.T, n int) []byte {
	var stream []byte
	for scope := uint32(1); len(stream) < n; {
		batch := &ArenaEvents{Arena: 1}
		for range MaxBatch {
			event := &ArenaEvent{Op: arena.OpScopeOpen, Text: scope}
			if scope%2 == 0 {
				event = &ArenaEvent{Op: arena.OpScopeClose}
			} else if scope%8 == 1 {
				event.Params = []arena.Param{arena.Int(fmt.Sprint(scope), 1)}
			}
			batch.Append(event)
			scope++
		}
		line, err := AppendLine(stream, batch)
		if err != nil {
			t.Fatal(err)
		}
		stream = line
		if stream, err = AppendLine(stream, &Strings{First: scope, Strings: make([]string, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	return stream
}

// Reading takes no more than 4 bytes of memory for each byte of a recording,
// plus 64 MB.
func TestHostileRecordingsTakeBoundedMemory(t *testing.T) {
	stream := hostileStream(t, 12<<20)
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	decoder := NewDecoder(bytes.NewReader(stream))
	tree, recorder := NewScopeTree(TreeLimits{}), NewAllocationRecorder(RecorderLimits{})
	var names StringTable
	for {
		record, err := decoder.Next()
		if err != nil {
			break
		}
		switch r := record.(type) {
		case *ArenaEvents:
			tree.ObserveBatch(r)
			recorder.ObserveBatch(r)
		case *Strings:
			names.Add(r)
		}
	}
	snapshot := tree.Snapshot()
	taken := heap() - before
	if limit := 4*int64(len(stream)) + 64<<20; taken > limit {
		t.Errorf("%d MiB for a recording of %d", taken>>20, len(stream)>>20)
	}
	if snapshot.Folded() == 0 || recorder.Cut() == 0 {
		t.Errorf("%d scopes folded, %d events cut: the bounds were not reached", snapshot.Folded(), recorder.Cut())
	}
	t.Logf("%d MiB for a recording of %d MiB, %d rows", taken>>20, len(stream)>>20, snapshot.Len())
	runtime.KeepAlive(names)
	runtime.KeepAlive(recorder)
	runtime.KeepAlive(decoder)
}
