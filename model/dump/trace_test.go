package dump

import (
	"fmt"
	"strings"
	"testing"

	"vramscope/recorder"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// written is a dump with one device that a test writes down by hand. Its
// stacks 1 to 3 have the frames "load", "train" and "loss", each called by
// "main".
func written(d recorder.DumpDevice) *recorder.Dump {
	dump := &recorder.Dump{
		Format: "PyTorch memory snapshot", Strings: []string{"", "load", "train", "loss", "main", "a.py", "PyEval_Vector", "ceval.c"},
		Streams: []uint64{0}, MemoryPools: [][2]int64{{0, 0}}, Devices: []recorder.DumpDevice{d},
	}
	dump.Frames = []recorder.DumpFrame{{Name: 1, File: 5, Line: 10}, {Name: 2, File: 5, Line: 20}, {Name: 3, File: 5, Line: -1}, {Name: 4, File: 5, Line: 40}, {Name: 6, File: 7, Line: 1}}
	dump.Stacks = recorder.DumpStacks{Start: []uint32{0, 0, 3, 6, 9}, Frames: []uint32{0, 4, 3, 1, 4, 3, 2, 4, 3}}
	return dump
}

// events reads one event a line: action, address in MiB, bytes, and stack.
// Each takes a second.
func events(text string) (e recorder.DumpEvents) {
	e.Free = map[int]int64{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var action string
		var address, bytes int64
		var stack int32
		fmt.Sscan(line, &action, &address, &bytes, &stack)
		e.Action = append(e.Action, recorder.DumpActionByName(action))
		e.Address = append(e.Address, uint64(address*mib))
		e.Bytes = append(e.Bytes, bytes)
		e.Stream, e.Pool, e.Stack = append(e.Stream, 0), append(e.Pool, 0), append(e.Stack, stack)
		e.TimeUs = append(e.TimeUs, int64(1000+len(e.TimeUs))*1_000_000)
	}
	return e
}

// end writes segments down: for each its address in MiB, and blocks by size
// and, when they are allocated, requested size and stack.
type endBlock struct {
	bytes, requested int64
	stack            int32
}

func endSegment(d *recorder.DumpDevice, address int64, blocks ...endBlock) {
	s := recorder.DumpSegment{Address: uint64(address * mib), First: int32(d.Blocks.Len()), Count: int32(len(blocks))}
	for _, b := range blocks {
		state := recorder.DumpInactive
		if b.requested > 0 {
			state = recorder.DumpActive
			s.Allocated += b.bytes
		}
		d.Blocks.Address = append(d.Blocks.Address, s.Address+uint64(s.Bytes))
		d.Blocks.Bytes = append(d.Blocks.Bytes, b.bytes)
		d.Blocks.Requested = append(d.Blocks.Requested, b.requested)
		d.Blocks.State = append(d.Blocks.State, state)
		d.Blocks.Stack = append(d.Blocks.Stack, b.stack)
		s.Bytes += b.bytes
	}
	s.Small = s.Bytes == 2*mib
	d.Segments = append(d.Segments, s)
}

// problem fails the test unless a problem holds a text.
func problem(t *testing.T, x *Index, text string) {
	t.Helper()
	for _, p := range x.Problems {
		if strings.Contains(p, text) {
			return
		}
	}
	t.Errorf("no problem says %q: %q", text, x.Problems)
}

// Segment sizes and blocks follow the allocator's worked table.
func TestRulesFollowTheAllocator(t *testing.T) {
	plain := rulesOf(nil, false)
	for _, c := range []struct{ request, rounded, segment, free int64 }{
		{1, 512, 2 * mib, 2_096_640},
		{513, 1024, 2 * mib, 2_096_128},
		{1_048_576, 1_048_576, 2 * mib, 1_048_576},
		{1_048_577, 1_049_088, 20 * mib, 19_922_432},
		{10_485_759, 10_485_760, 10_485_760, 0},
		{10_485_248, 10_485_248, 20 * mib, 10_486_272},
		{10_485_761, 10_486_272, 12_582_912, 2_096_640},
		{12_000_000, 12_000_256, 12_582_912, 0},
	} {
		rounded := plain.round(c.request)
		segment := plain.segment(rounded)
		if free := segment - plain.block(rounded, segment, false); rounded != c.rounded || segment != c.segment || free != c.free {
			t.Errorf("request %d: rounded %d, segment %d, free %d; want %+v", c.request, rounded, segment, free, c)
		}
	}
	for _, c := range []struct {
		setting            string
		request, roundedTo int64
	}{
		{"roundup_power2_divisions:4", 1200, 1536}, // 512*4 is not exceeded: plain rounding
		{"roundup_power2_divisions:4", 2_500_000, 2_621_440},
		{"roundup_power2_divisions:4", 4 << 20, 4 << 20},
		{"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", 600 << 20, 768 << 20},
		{"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", 100<<20 + 1, 100<<20 + 512},
		{"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", 2100 << 20, 2304 << 20},
		{"roundup_power2_divisions:nonsense", 1200, 1536},
	} {
		r := rulesOf([]recorder.DumpSetting{{Key: "PYTORCH_CUDA_ALLOC_CONF", Value: c.setting}}, false)
		if got := r.round(c.request); got != c.roundedTo {
			t.Errorf("%s: %d becomes %d, want %d", c.setting, c.request, got, c.roundedTo)
		}
	}
}

func TestBlocksFromBeforeTheTraceAreTheBaseline(t *testing.T) {
	d := recorder.DumpDevice{Events: events(`
		alloc 2 1000 1
		free_requested 1 700 2
		free_completed 1 700 2
		alloc 1 600 2`)}
	endSegment(&d, 1, endBlock{1024, 600, 2}, endBlock{mib - 1024, 0, 0}, endBlock{1024, 1000, 1}, endBlock{512, 100, 3}, endBlock{mib - 1536, 0, 0})
	x := New(written(d))
	got := x.Devices[0]
	if len(x.Problems) > 0 || !got.Exact {
		t.Errorf("exact %v, problems %q", got.Exact, x.Problems)
	}
	// 700 bytes were freed unseen, 100 are still there.
	if want := (Totals{800, 1024 + 512, 0, 2 * mib}); got.Base != want {
		t.Errorf("before the first event %v, want %v", got.Base, want)
	}
	if want := (Peak{1800, 0}); got.Peaks[Requested] != want {
		t.Errorf("peak %v, want %v", got.Peaks[Requested], want)
	}
	if cut, reason := got.History(); !cut || !strings.Contains(reason, "1 frees are of blocks never seen") {
		t.Errorf("cut %v: %s", cut, reason)
	}
	// The older block that is still there has its block's stack, the freed one none.
	want := []StackTotal{{1, 1000, 1}, {BeforeRecording, 700, 1}, {3, 100, 1}}
	if live := got.LiveByStack(0); fmt.Sprint(live) != fmt.Sprint(want) {
		t.Errorf("live at the peak %v, want %v", live, want)
	}
}

func TestALateStartIsNotACut(t *testing.T) {
	d := recorder.DumpDevice{Events: events(`alloc 1 512 1`)}
	endSegment(&d, 1, endBlock{512, 512, 1}, endBlock{512, 512, 0}, endBlock{2*mib - 1024, 0, 0})
	dump := written(d)
	if cut, reason := New(dump).Devices[0].History(); cut || !strings.Contains(reason, "began late") {
		t.Errorf("cut %v: %s", cut, reason)
	}
	dump.Overflowed = true
	if cut, reason := New(dump).Devices[0].History(); !cut || !strings.Contains(reason, "overwritten") {
		t.Errorf("cut %v: %s", cut, reason)
	}
}

func TestATraceWithoutCompletedFreesEndsBlocksWhenAsked(t *testing.T) {
	d := recorder.DumpDevice{Events: events(`
		segment_alloc 1 2097152 1
		alloc 1 1000 1
		free_requested 1 1000 1
		alloc 1 300 2`)}
	endSegment(&d, 1, endBlock{512, 300, 2}, endBlock{2*mib - 512, 0, 0})
	x := New(written(d))
	got := x.Devices[0]
	if want := (Totals{300, 512, 0, 2 * mib}); got.At(3) != want || len(x.Problems) > 0 {
		t.Errorf("at the end %v, want %v; problems %q", got.At(3), want, x.Problems)
	}
}

func TestWhatDoesNotFitIsSaidAndTakenAsFarAsItGoes(t *testing.T) {
	for _, c := range []struct {
		name, events, problem string
		end                   int64 // requested after the last event
		blocks                []endBlock
	}{
		{"double allocation", "segment_alloc 1 2097152 1\nalloc 1 1000 1\nalloc 1 300 2", "address of a live block", 300,
			[]endBlock{{512, 300, 2}, {2*mib - 512, 0, 0}}},
		{"double free", "segment_alloc 1 2097152 1\nalloc 1 1000 1\nfree_completed 1 1000 1\nfree_completed 1 1000 1", "freed already", 0,
			[]endBlock{{2 * mib, 0, 0}}},
		{"free of another size", "segment_alloc 1 2097152 1\nalloc 1 1000 1\nfree_completed 1 900 1", "of another size", 0,
			[]endBlock{{2 * mib, 0, 0}}},
		{"lost", "segment_alloc 1 2097152 1\nalloc 1 1000 1", "missing in the end state", 1000, []endBlock{{2 * mib, 0, 0}}},
		{"came from nowhere", "segment_alloc 1 2097152 1\nalloc 1 1000 1\nfree_completed 1 1000 1", "had left free", 0,
			[]endBlock{{1024, 1000, 1}, {2*mib - 1024, 0, 0}}},
		{"another size at the end", "segment_alloc 1 2097152 1\nalloc 1 1000 1", "another requested size", 1000,
			[]endBlock{{1024, 900, 1}, {2*mib - 1024, 0, 0}}},
		{"more than reserved", "segment_alloc 1 2097152 1\nalloc 1 1000 1\nalloc 9 3145728 1", "exceeds reserved", 1000 + 3*mib,
			[]endBlock{{1024, 1000, 1}, {2*mib - 1024, 0, 0}}},
	} {
		d := recorder.DumpDevice{Events: events(c.events)}
		endSegment(&d, 1, c.blocks...)
		x := New(written(d))
		problem(t, x, c.problem)
		got := x.Devices[0]
		if last := got.At(got.Events.Len() - 1)[Requested]; last != c.end {
			t.Errorf("%s: %d requested at the end, want %d", c.name, last, c.end)
		}
	}
}

func TestADumpWithoutSegmentsSaysSo(t *testing.T) {
	x := New(written(recorder.DumpDevice{Events: events("alloc 1 1000 1")}))
	problem(t, x, "no segments, and its trace leaves 1000 B allocated")
	if d := x.Devices[0]; len(x.Problems) != 1 || d.Reserves || d.End[Requested] != 1000 {
		t.Errorf("problems %q, reserves %v, end %v", x.Problems, d.Reserves, d.End)
	}
}

func TestEventsOfAnEarlierRecordingAreLeftOut(t *testing.T) {
	d := recorder.DumpDevice{Events: events(`
		alloc 1 999 3
		alloc 3 999 3
		segment_alloc 1 2097152 1
		alloc 1 1000 1`)}
	for i := 2; i < 4; i++ {
		d.Events.TimeUs[i] += 3_600_000_000
	}
	endSegment(&d, 1, endBlock{1024, 1000, 1}, endBlock{2*mib - 1024, 0, 0})
	x := New(written(d))
	problem(t, x, "the first 2 events are left out")
	got := x.Devices[0]
	if want := (Peak{1000, 3}); got.Peaks[Requested] != want || !got.Exact || got.Base != (Totals{}) {
		t.Errorf("peak %v, want %v; exact %v; before %v", got.Peaks[Requested], want, got.Exact, got.Base)
	}
	if live := got.LiveByStack(1); len(live) != 0 {
		t.Errorf("live in the earlier recording: %v", live)
	}
}

func TestATruncatedTraceStartsFromItsOwnFrees(t *testing.T) {
	whole := load(t, "fragmented")
	for _, part := range []int{1, 100, 3000, 6000} {
		dump, full := *whole, New(whole).Devices[0]
		dump.Truncated = true
		d := dump.Devices[0]
		d.Events = *firstEvents(&d.Events, part)
		dump.Devices = []recorder.DumpDevice{d}
		got := New(&dump).Devices[0]
		if len(got.Problems) > 0 {
			t.Errorf("%d events: problems %q", part, got.Problems)
		}
		if got.End != full.End || got.Exact {
			t.Errorf("%d events: the end state is %v, want %v", part, got.End, full.End)
		}
		// Nothing of this trace frees an older block: those are not known.
		for _, event := range []int{0, part / 2, part - 1} {
			want, have := full.At(event), got.At(event)
			if have[Requested] != want[Requested]-full.Base[Requested] {
				t.Errorf("%d events, after %d: requested %d, want %d", part, event, have[Requested], want[Requested]-full.Base[Requested])
			}
			if have[Allocated] != want[Allocated]-full.Base[Allocated] {
				t.Errorf("%d events, after %d: allocated %d, want %d", part, event, have[Allocated], want[Allocated]-full.Base[Allocated])
			}
		}
	}
}

func TestTheDeviceWithMostEventsIsShownFirst(t *testing.T) {
	dump := written(recorder.DumpDevice{Events: events("alloc 1 512 1")})
	busy := recorder.DumpDevice{Ordinal: 1, Events: events("alloc 1 512 1\nalloc 2 512 1")}
	dump.Devices = append(dump.Devices, busy, recorder.DumpDevice{Ordinal: 2}, recorder.DumpDevice{Ordinal: -1, Host: true})
	x := New(dump)
	if x.Main() != 1 {
		t.Errorf("device %d is shown first", x.Main())
	}
	if r := x.Report(); r.Events != 2 || len(r.Devices) != 4 || r.Devices[3].Device != "pinned host memory" {
		t.Errorf("report has %d events and devices %v", r.Events, r.Devices)
	}
	if (&Index{Dump: dump}).Main() != -1 {
		t.Error("no device is one")
	}
}
