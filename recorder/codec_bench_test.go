package recorder

import (
	"bytes"
	"io"
	"testing"

	"vramscope/arena"
	"vramscope/pool"
)

// benchBatch is a batch as a launch-bound render sends it.
func benchBatch() *ArenaEvents {
	batch := &ArenaEvents{Head: Head{Src: "pid:48213-991234"}, Arena: 3}
	for batch.Len() < MaxBatch {
		for _, event := range frameOfEvents(8) {
			event.Ns += 1_234_567_890_123 + int64(batch.Len())*1700
			event.Forward += 14_800_000_000
			event.Reverse = 33_000_000_000
			event.Params = nil
			if batch.Len() < MaxBatch {
				batch.Append(&event)
			}
		}
	}
	return batch
}

func benchPoolBatch() *PoolEvents {
	batch := &PoolEvents{Head: Head{Src: "pid:48213-991234"}, Pool: 1, Generation: 3}
	for i := range MaxBatch {
		batch.Append(PoolEvent{
			Ns: 1_234_567_890_123 + int64(i)*900, Frame: 412, Op: pool.OpAlloc + pool.Op(i%2), Address: 0x7f2b5c000000 + uint64(i%777)<<9,
			Bytes: 4096, Requested: 4000, Stream: uint32(i % 3),
		})
	}
	return batch
}

func benchSample() *Sample {
	sample := &Sample{Head: Head{Src: "pid:48213-991234", Ns: 1_234_567_890_123}, Seq: 71}
	for _, id := range []string{"device", "process:48213", "pool:1", "arena:3", "peaks"} {
		set := CounterSet{ID: id, Of: id, Device: "GPU-4f2e9c1d-0000-1111-2222-333344445555", Call: "nvmlDeviceGetMemoryInfo_v2"}
		for counter := Total; counter < 10; counter++ {
			set.Values.Set(counter, 14_800_000_000+int64(counter))
		}
		sample.Sets = append(sample.Sets, set)
	}
	return sample
}

func benchRecords() map[string]Record {
	tree, _ := bigTree(4000)
	state := &State{Head: Head{Src: "pid:48213-991234", Ns: 1_234_567_890_123}, Arenas: []ArenaState{{ID: 3, Name: "frame"}}}
	tree.Snapshot().FillState(&state.Arenas[0])
	scopes := &ArenaEvents{Head: Head{Src: "pid:48213-991234"}, Arena: 3}
	for i := range MaxBatch / 2 {
		scopes.Append(&ArenaEvent{Ns: int64(i) * 1000, Op: arena.OpScopeOpen, Scope: uint64(i), Params: []arena.Param{arena.Int("frames", 8), arena.Text("mode", "fast")}})
		scopes.Append(&ArenaEvent{Ns: int64(i)*1000 + 500, Op: arena.OpScopeClose, Scope: uint64(i)})
	}
	return map[string]Record{
		"arena events": benchBatch(), "pool events": benchPoolBatch(), "scopes with parameters": scopes,
		"sample": benchSample(), "state": state,
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, record := range benchRecords() {
		b.Run(name, func(b *testing.B) {
			buf, err := AppendLine(nil, record)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = AppendLine(buf[:0], record)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, record := range benchRecords() {
		b.Run(name, func(b *testing.B) {
			line, err := AppendLine(nil, record)
			if err != nil {
				b.Fatal(err)
			}
			stream := &repeated{line: line}
			decoder := NewDecoder(stream)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decoder.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeated is an endless stream of one line.
type repeated struct {
	line []byte
	at   int
}

func (r *repeated) Read(into []byte) (int, error) {
	n := 0
	for n < len(into) {
		copied := copy(into[n:], r.line[r.at:])
		n += copied
		r.at = (r.at + copied) % len(r.line)
	}
	return n, nil
}

// Encoding and decoding of samples and events: the first costs no allocation,
// the second a handful.
func TestHotPathsMakeNoGarbage(t *testing.T) {
	batch, sample := benchBatch(), benchSample()
	buf := make([]byte, 0, 2*MaxLine)
	for name, encode := range map[string]func(){
		"arena events": func() { buf, _ = AppendLine(buf[:0], batch) },
		"sample":       func() { buf, _ = AppendLine(buf[:0], sample) },
	} {
		if allocs := testing.AllocsPerRun(20, encode); allocs != 0 {
			t.Errorf("encoding %s: %v allocations", name, allocs)
		}
	}
	tree := NewScopeTree(TreeLimits{})
	events := frameOfEvents(40)
	number := uint64(0)
	observe := func() {
		number += 1000
		for i := range events {
			event := events[i]
			if event.Scope > 0 {
				event.Scope += number
			}
			tree.Observe(&event)
		}
	}
	observe()
	if allocs := testing.AllocsPerRun(20, observe); allocs != 0 {
		t.Errorf("observing a frame: %v allocations", allocs)
	}
	line, _ := AppendLine(nil, batch)
	decoder := NewDecoder(bytes.NewReader(bytes.Repeat(line, 30)))
	decode := func() {
		if _, err := decoder.Next(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	decode()
	if allocs := testing.AllocsPerRun(20, decode); allocs > 8 {
		t.Errorf("decoding a batch: %v allocations", allocs)
	}
}
