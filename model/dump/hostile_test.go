package dump

import (
	"io"
	"math/rand/v2"
	"testing"

	"vramscope/recorder"
)

// garbage makes a dump of random events at few addresses, which fit nothing,
// from a text of bytes.
func garbage(seed uint64, text []byte) *recorder.Dump {
	random := rand.New(rand.NewPCG(seed, 2))
	next := func() int {
		if len(text) == 0 {
			return random.IntN(256)
		}
		b := text[0]
		text = text[1:]
		return int(b)
	}
	dump := &recorder.Dump{Strings: []string{"", "\x1b[31mred", "a\u202eb"}, Truncated: next()%5 == 0, Overflowed: next()%5 == 0}
	dump.Frames = []recorder.DumpFrame{{Name: 1, File: 2, Line: -1}, {Name: 9, File: 9, Line: 3}}
	dump.Stacks = recorder.DumpStacks{Start: []uint32{0, 0, 1, 3}, Frames: []uint32{0, 1, 0}}
	dump.Streams, dump.MemoryPools = []uint64{0}, [][2]int64{{0, 0}}
	if next()%2 == 0 {
		dump.Settings = []recorder.DumpSetting{{Key: "expandable_segments", Value: "true"}}
	}
	d := recorder.DumpDevice{Host: next()%8 == 0}
	address := func() uint64 {
		if next() == 0 {
			return ^uint64(0) - uint64(next())
		}
		return uint64(1+next()%12) << (9 + next()%14)
	}
	sizes := []int64{0, 1, 512, 4096, 1 << 20, 2 << 20, 20 << 20, 1 << 50, 1 << 44}
	e := &d.Events
	e.Free = map[int]int64{}
	for range 40 + next() {
		action := recorder.DumpAction(next() % 13)
		if action == recorder.DumpOOM && next()%2 == 0 {
			e.Free[e.Len()] = sizes[next()%len(sizes)]
		}
		e.Action = append(e.Action, action)
		e.Address = append(e.Address, address())
		e.Bytes = append(e.Bytes, sizes[next()%len(sizes)])
		e.Stream, e.Pool = append(e.Stream, uint16(next()%2)), append(e.Pool, uint16(next()%2))
		e.TimeUs = append(e.TimeUs, int64(next()%3*next()*10_000))
		e.Stack = append(e.Stack, int32(next()%5-1))
	}
	for range next() % 6 {
		s := recorder.DumpSegment{Address: address(), Bytes: sizes[next()%len(sizes)], Expandable: next()%2 == 0, First: int32(d.Blocks.Len())}
		for range next() % 4 {
			d.Blocks.Address = append(d.Blocks.Address, address())
			d.Blocks.Bytes = append(d.Blocks.Bytes, sizes[next()%len(sizes)])
			d.Blocks.Requested = append(d.Blocks.Requested, sizes[next()%len(sizes)])
			d.Blocks.State = append(d.Blocks.State, recorder.DumpBlockState(next()%3))
			d.Blocks.Stack = append(d.Blocks.Stack, int32(next()%5))
			s.Count++
		}
		d.Segments = append(d.Segments, s)
	}
	dump.Devices = []recorder.DumpDevice{d}
	for range next() % 5 {
		dump.Annotations = append(dump.Annotations, recorder.DumpAnnotation{Name: "step", Start: next()%2 == 0, TimeUs: int64(next())})
	}
	return dump
}

// check asks everything of a dump that fits nothing: whatever it holds, what
// lives at a moment adds up to the totals there.
func check(t *testing.T, dump *recorder.Dump) {
	t.Helper()
	x := New(dump)
	d := x.Devices[0]
	for event := BeforeFirst; event < d.Events.Len(); event++ {
		at := d.At(event)
		var live, requested, bytes, pending int64
		for _, total := range d.LiveByStack(event) {
			live += total.Bytes
		}
		for _, block := range d.LiveAt(event) {
			requested += block.Requested
			if block.State == recorder.DumpPendingFree {
				pending += block.Bytes
			} else {
				bytes += block.Bytes
			}
		}
		if live != at[Requested] || requested != at[Requested] || bytes != at[Allocated] || pending != at[Pending] {
			t.Fatalf("after event %d: stacks %d, blocks %d, %d, %d; totals %v", event, live, requested, bytes, pending, at)
		}
		if at[Requested] < 0 || at[Allocated] < 0 || at[Pending] < 0 {
			t.Fatalf("after event %d: totals %v", event, at)
		}
		d.MapAt(event).Shelves()
	}
	compareColumns(t, d)
	if err := x.Report().WriteText(clean{t}); err != nil {
		t.Fatal(err)
	}
	if diff, err := NewDiff(Side{Index: x, Device: -1, Moment: AtPeak}, Side{Index: x, Device: 0}); err != nil {
		t.Fatal(err)
	} else if err := diff.WriteText(clean{t}); err != nil {
		t.Fatal(err)
	}
	d.Spans()
	for _, fold := range []bool{false, true} {
		x.Tree(FromAllocator, fold).Weigh(d.UnfreedByStack()).Flame(0, 80, 9)
	}
}

// clean is a writer that fails on what a terminal would take for a command.
type clean struct{ t *testing.T }

func (c clean) Write(text []byte) (int, error) {
	c.t.Helper()
	for _, r := range string(text) {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
			c.t.Fatalf("%q holds %U", text, r)
		}
	}
	return io.Discard.Write(text)
}

func TestAnythingAddsUp(t *testing.T) {
	for seed := range uint64(150) {
		check(t, garbage(seed, nil))
	}
}

func FuzzDump(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, []byte("events"))
	}
	f.Fuzz(func(t *testing.T, seed uint64, text []byte) { check(t, garbage(seed, text)) })
}
