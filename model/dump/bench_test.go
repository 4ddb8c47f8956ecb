package dump

import (
	"io"
	"testing"

	"vramscope/recorder"
)

// repeated makes a dump of n times the events of another, with addresses and
// times shifted so that no block is allocated twice.
func repeated(source *recorder.Dump, n int) *recorder.Dump {
	from := &source.Devices[0]
	dump := *source
	d := *from
	d.Events, d.Segments, d.Blocks = recorder.DumpEvents{}, nil, recorder.DumpBlocks{}
	e, f := &d.Events, &from.Events
	span := f.TimeUs[f.Len()-1] - f.TimeUs[0] + 1000
	for k := range n {
		shift := uint64(k) << 48
		e.Action = append(e.Action, f.Action...)
		e.Bytes = append(e.Bytes, f.Bytes...)
		e.Stream = append(e.Stream, f.Stream...)
		e.Pool = append(e.Pool, f.Pool...)
		e.Stack = append(e.Stack, f.Stack...)
		for i := range f.Len() {
			e.Address = append(e.Address, f.Address[i]+shift)
			e.TimeUs = append(e.TimeUs, f.TimeUs[i]+int64(k)*span)
		}
		first := int32(d.Blocks.Len())
		for _, s := range from.Segments {
			s.Address += shift
			s.First += first
			d.Segments = append(d.Segments, s)
		}
		b := &from.Blocks
		for i := range b.Len() {
			d.Blocks.Address = append(d.Blocks.Address, b.Address[i]+shift)
		}
		d.Blocks.Bytes = append(d.Blocks.Bytes, b.Bytes...)
		d.Blocks.Requested = append(d.Blocks.Requested, b.Requested...)
		d.Blocks.State = append(d.Blocks.State, b.State...)
		d.Blocks.Stack = append(d.Blocks.Stack, b.Stack...)
	}
	dump.Devices = []recorder.DumpDevice{d}
	return &dump
}

// bothSizes runs a benchmark on the large real dump, and on twenty times it.
func bothSizes(b *testing.B, run func(b *testing.B, x *Index)) {
	b.Run("events=956k", func(b *testing.B) { run(b, New(load(b, "resnet50-400-steps"))) })
	b.Run("events=19M", func(b *testing.B) { run(b, New(twenty(b))) })
}

var twentyfold *recorder.Dump

func twenty(b *testing.B) *recorder.Dump {
	if twentyfold == nil {
		twentyfold = repeated(load(b, "resnet50-400-steps"), 20)
	}
	return twentyfold
}

// BenchmarkNew is the time from a decoded dump to all indexes.
func BenchmarkNew(b *testing.B) {
	for _, size := range []struct {
		name string
		dump func() *recorder.Dump
	}{
		{"events=956k", func() *recorder.Dump { return load(b, "resnet50-400-steps") }},
		{"events=19M", func() *recorder.Dump { return twenty(b) }},
	} {
		b.Run(size.name, func(b *testing.B) {
			dump := size.dump()
			b.ReportAllocs()
			for b.Loop() {
				New(dump)
			}
			n := float64(dump.Devices[0].Events.Len())
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
		})
	}
}

// BenchmarkFinish is what is left to do after a dump whose parts were indexed
// while it was read.
func BenchmarkFinish(b *testing.B) {
	dump := load(b, "resnet50-400-steps")
	n := dump.Devices[0].Events.Len()
	for b.Loop() {
		b.StopTimer()
		builder := NewBuilder()
		for at := 1 << 16; at < n; at += 1 << 16 {
			builder.Read(part(dump, at))
		}
		b.StartTimer()
		builder.Finish(dump)
	}
}

// BenchmarkReport is the time from indexes to all figures of a report.
func BenchmarkReport(b *testing.B) {
	bothSizes(b, func(b *testing.B, x *Index) {
		b.ReportAllocs()
		for b.Loop() {
			if err := x.Report().WriteText(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkKeys are what keys ask for, at places all over the trace.
func BenchmarkKeys(b *testing.B) {
	bothSizes(b, func(b *testing.B, x *Index) {
		d := x.Devices[x.Main()]
		n := d.Events.Len()
		place := 0
		next := func() int { // somewhere else each time
			place = (place + 611953) % n
			return place
		}
		columns := make([]Column, 200)
		for _, key := range []struct {
			name string
			do   func()
		}{
			{"Columns/all", func() { d.Columns(columns, 0, n) }},
			{"Columns/tenth", func() { d.Columns(columns, next()/10*9, next()/10*9+n/10) }},
			{"ColumnsByTime", func() { d.ColumnsByTime(columns, d.FirstUs, d.LastUs+1) }},
			{"At", func() { d.At(next()) }},
			{"LiveAt", func() { d.LiveAt(next()) }},
			{"LiveByStack", func() { d.LiveByStack(next()) }},
			{"AllocatedByStack", func() { d.AllocatedByStack(next(), n) }},
			{"MapAt", func() { d.MapAt(next()).Shelves() }},
			{"PeakIn", func() { d.PeakIn(Requested, next()/2, n) }},
			{"Tree", func() { x.Tree(FromAllocator, true).Weigh(d.LiveByStack(next())).Flame(0, 200, 50) }},
		} {
			b.Run(key.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					key.do()
				}
			})
		}
	})
}

// manyStacks is a dump of 100,000 stacks of up to 50 frames, each of which
// allocates twice.
func manyStacks() *recorder.Dump {
	const stacks, depth = 100_000, 50
	dump := &recorder.Dump{Strings: []string{""}}
	for i := range 20_000 {
		dump.Strings = append(dump.Strings, "function_"+string(rune('a'+i%26)), "package/file.py")
		dump.Frames = append(dump.Frames, recorder.DumpFrame{Name: uint32(2*i + 1), File: uint32(2*i + 2), Line: int64(i)})
	}
	dump.Stacks.Start = []uint32{0, 0}
	d := recorder.DumpDevice{}
	state := uint32(1)
	for s := range stacks {
		for level := range depth {
			state = state*1664525 + 1013904223
			// Outer frames are few, inner ones many.
			choices := uint32(2 + (depth-level)*(depth-level)/8)
			dump.Stacks.Frames = append(dump.Stacks.Frames, uint32(level)*397+state>>8%choices)
		}
		dump.Stacks.Start = append(dump.Stacks.Start, uint32(len(dump.Stacks.Frames)))
		for range 2 {
			e := &d.Events
			e.Action = append(e.Action, recorder.DumpAlloc)
			e.Address = append(e.Address, uint64(1<<40+e.Len()*4096))
			e.Bytes = append(e.Bytes, int64(512*(1+s%7)))
			e.Stream, e.Pool, e.TimeUs = append(e.Stream, 0), append(e.Pool, 0), append(e.TimeUs, int64(e.Len()))
			e.Stack = append(e.Stack, int32(s+1))
		}
	}
	dump.Devices = []recorder.DumpDevice{d}
	return dump
}

// BenchmarkManyStacks is a dump with 100,000 stacks.
func BenchmarkManyStacks(b *testing.B) {
	dump := manyStacks()
	x := New(dump)
	d := x.Devices[0]
	end := d.Events.Len() - 1
	b.Run("grow tree", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			growTree(dump, FromProgram, nil)
		}
	})
	tree := x.Tree(FromProgram, true)
	b.Logf("%d nodes", tree.Len())
	weights := tree.Weigh(d.LiveByStack(end))
	for _, key := range []struct {
		name string
		do   func()
	}{
		{"LiveByStack", func() { d.LiveByStack(end) }},
		{"Weigh", func() { weights = tree.Weigh(d.LiveByStack(end)) }},
		{"Flame", func() { weights.Flame(0, 200, 50) }},
		{"Children", func() { weights.Children(0) }},
		{"Search", func() { x.Search("function_q").Filter(d.LiveByStack(end)) }},
		{"MapAt", func() { d.MapAt(end) }},
	} {
		b.Run(key.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				key.do()
			}
		})
	}
}
