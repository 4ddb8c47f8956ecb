package model

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"vramscope/recorder"
)

func TestALiveHistoryStaysInItsBounds(t *testing.T) {
	limits := HistoryLimits{Duration: 600_000_000_000, Bytes: 1 << 20}
	k := newHistoryKeeper(limits)
	for i := range int64(40_000) { // more than an hour at 10 Hz
		k.addSample(i*100_000_000, benchmarkSet())
		k.addFrame(i*100_000_000, i)
		if k.bytes > limits.Bytes+seriesChunk*8*70 {
			t.Fatalf("%d bytes after %d samples", k.bytes, i)
		}
	}
	real := k.frames.starts.room() * 16
	for _, kept := range k.order {
		real += kept.series.size()
	}
	if k.bytes != real {
		t.Errorf("%d bytes are counted, %d are taken", k.bytes, real)
	}
	v := &SourceView{history: k.publish(), Now: 40_000 * 100_000_000}
	if columns := v.Columns(nil, "pool:1", recorder.Used, v.Now-60_000_000_000, v.Now, 60); !columns[0].Known || !columns[59].Known {
		t.Errorf("the last minute is %+v", columns)
	}
	if first, last, ok := v.Frames(); !ok || last != 39_999 || first > 39_999-6000 || first < 39_999-7000 {
		t.Errorf("frames %d to %d, %v", first, last, ok)
	}
}

func TestSetsThatEndAreForgotten(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{Duration: 1_000_000_000, Bytes: 1 << 20})
	for i := range int64(2000) {
		k.addSample(i*10_000_000, []recorder.CounterSet{setOf(fmt.Sprintf("arena:%d", i/100), recorder.Length, i), setOf("pool:1", recorder.Used, i)})
	}
	if len(k.order) > 4 || len(k.series) != len(k.order) {
		t.Errorf("%d series are kept of an arena at a time", len(k.order))
	}
}

// TestShortLivedSetsMakeWay: a program that makes an arena for each shot does not
// push its pool out of the history.
func TestShortLivedSetsMakeWay(t *testing.T) {
	const second = int64(1_000_000_000)
	k := newHistoryKeeper(HistoryLimits{Duration: 600 * second, Bytes: 512 << 10})
	for i := range int64(6000) {
		arena := setOf(fmt.Sprintf("arena:%d", i/12), recorder.Length, i)
		for c := range recorder.Counter(6) {
			arena.Values.Set(c, i)
		}
		k.addSample(i*second/10, []recorder.CounterSet{arena, setOf("pool:1", recorder.Used, i)})
	}
	if k.bytes > 512<<10 {
		t.Errorf("%d bytes", k.bytes)
	}
	pool, short := k.series["pool:1"].series.times.len(), len(k.order)-1
	if pool < 2000 || short < 100 {
		t.Errorf("%d samples of the pool and %d arenas are kept", pool, short)
	}
}

func TestAFileNamesNoEndOfSets(t *testing.T) {
	k := newKeeper("f", "f", "s", Limits{}, nil)
	sets := make([]recorder.CounterSet, 5000)
	for i := range sets {
		sets[i] = setOf(fmt.Sprint(i), recorder.Used, 1)
	}
	k.take(&recorder.Sample{Head: recorder.Head{Ns: 1}, Sets: sets})
	v := k.published()
	if len(v.Sets) != maximumSeries || len(v.Problems) != 1 {
		t.Errorf("%d sets, problems %v", len(v.Sets), v.Problems)
	}
}

// TestNewestSets says when a set still speaks: until it has been silent for three
// of its own intervals, or for three seconds if it has none.
func TestNewestSets(t *testing.T) {
	const ms = int64(1_000_000)
	k := newHistoryKeeper(HistoryLimits{})
	for i := range int64(11) {
		sets := []recorder.CounterSet{setOf("often", recorder.Used, i)}
		if i%10 == 0 {
			sets = append(sets, setOf("seldom", recorder.Used, i))
		}
		k.addSample(i*500*ms, sets)
	}
	for _, check := range []struct {
		at     int64
		often  int64 // -1: gone
		seldom int64
	}{
		{0, 0, 0},
		{499 * ms, 0, 0},
		{500 * ms, 1, 0},
		{3000 * ms, 6, 0},
		{3001 * ms, 6, -1}, // nothing is known of its interval yet
		{5000 * ms, 10, 10},
		{6500 * ms, 10, 10},
		{6501 * ms, -1, 10},
		{20_000 * ms, -1, 10}, // three times five seconds
		{20_001 * ms, -1, -1},
	} {
		got := map[string]int64{"often": -1, "seldom": -1}
		for _, set := range k.publish().setsAt(check.at) {
			got[set.ID], _ = set.Values.Get(recorder.Used)
		}
		if got["often"] != check.often || got["seldom"] != check.seldom {
			t.Errorf("at %d ms: %v, want %d and %d", check.at/ms, got, check.often, check.seldom)
		}
	}
}

// TestSamplesThatComeInOneGo: a busy machine brings two samples within a
// millisecond, and the next one in time. The set is there all the while.
func TestSamplesThatComeInOneGo(t *testing.T) {
	const ms = int64(1_000_000)
	k := newHistoryKeeper(HistoryLimits{})
	for _, at := range []int64{0, 100, 200, 399, 400, 500} {
		k.addSample(at*ms, []recorder.CounterSet{setOf("pool:1", recorder.Reserved, at)})
	}
	for at := int64(0); at <= 600; at++ {
		if sets := k.publish().setsAt(at * ms); len(sets) != 1 {
			t.Fatalf("at %d ms there are %d sets", at, len(sets))
		}
	}
	if sets := k.publish().setsAt(2000 * ms); len(sets) != 0 {
		t.Errorf("after a second and a half of silence it speaks still: %v", sets)
	}
}

// TestArenasThatEndAreNotCounted: one that the next sample of arenas leaves out
// is gone at once, or the sum would have two.
func TestArenasThatEndAreNotCounted(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	arena := func(id string) recorder.CounterSet {
		return counters(id, recorder.OfArena, "host", "", map[recorder.Counter]int64{recorder.Length: 100})
	}
	k.addSample(1000, []recorder.CounterSet{arena("arena:1"), setOf("pool:1", recorder.Reserved, 5)})
	k.addSample(2000, []recorder.CounterSet{arena("arena:1"), setOf("pool:1", recorder.Reserved, 5)})
	k.addSample(3000, []recorder.CounterSet{arena("arena:2"), setOf("pool:1", recorder.Reserved, 5)})
	for _, check := range []struct {
		at   int64
		want string
	}{{2500, "[arena:1 pool:1]"}, {3000, "[pool:1 arena:2]"}, {4000, "[pool:1 arena:2]"}} {
		var got []string
		for _, set := range k.publish().setsAt(check.at) {
			got = append(got, set.ID)
		}
		if fmt.Sprint(got) != check.want {
			t.Errorf("at %d: %v, want %v", check.at, got, check.want)
		}
	}
}

func TestASetKeepsWhatItSaidOfItself(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	set := recorder.CounterSet{ID: "device", Of: recorder.OfDevice, Call: "NVML v2", Why: map[string]string{"used": "not permitted"}}
	set.Values.Set(recorder.Free, 5)
	k.addSample(10, []recorder.CounterSet{set})
	set.Call, set.Why = "NVML v1", nil
	set.Values.Set(recorder.Used, 3)
	k.addSample(20, []recorder.CounterSet{set})
	early, late := k.publish().setsAt(15)[0], k.publish().setsAt(25)[0]
	if early.Call != "NVML v2" || early.Why["used"] == "" || early.Values.Known(recorder.Used) {
		t.Errorf("early: %+v", early)
	}
	if late.Call != "NVML v1" || late.Why != nil || !late.Values.Known(recorder.Used) {
		t.Errorf("late: %+v", late)
	}
}

// TestFrames turns frames into times and back.
func TestFrames(t *testing.T) {
	var axis frameAxis
	for i := range int64(1000) {
		axis.append(1000+i*100, 5+i)
	}
	v := &SourceView{history: &history{frames: axis}, Now: 200_000}
	for _, check := range []struct{ ns, frame int64 }{{999, -1}, {1000, 5}, {1099, 5}, {1100, 6}, {500_000, 1004}} {
		if got := v.FrameAt(check.ns); got != check.frame {
			t.Errorf("at %d frame %d, want %d", check.ns, got, check.frame)
		}
	}
	for _, check := range []struct {
		frame, ns int64
		ok        bool
	}{{5, 1000, true}, {0, 1000, true}, {1004, 100_900, true}, {1005, 0, false}} {
		if ns, ok := v.FrameStart(check.frame); ns != check.ns || ok != check.ok {
			t.Errorf("frame %d at %d, %v", check.frame, ns, ok)
		}
	}
	if ns, ok := v.FrameDuration(10); !ok || ns != 100 {
		t.Errorf("a frame takes %d, %v", ns, ok)
	}
}

func TestFramesThatBeginAnew(t *testing.T) {
	var axis frameAxis
	for _, frame := range []int64{0, 1, 2, 0, 1} {
		axis.append(axis.startOfNext(), frame)
	}
	if ns, ok := axis.start(1); !ok || ns != 40 {
		t.Errorf("frame 1 is the one at %d", ns)
	}
	if frame := axis.frame(25); frame != 2 {
		t.Errorf("at 25 frame %d", frame)
	}
}

func (a *frameAxis) startOfNext() int64 { return int64(a.starts.end) * 10 }

func TestGrowthPerFrame(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	for frame := range int64(20) {
		k.addSample(frame*1000, []recorder.CounterSet{setOf("torch:0", recorder.Allocated, 500+frame*64)})
		k.addFrame(frame*1000+1, frame)
		k.addSample(frame*1000+500, []recorder.CounterSet{setOf("torch:0", recorder.Allocated, 9999)}) // within a frame
	}
	v := &SourceView{history: k.publish(), Now: 20_000}
	if growth, ok := v.GrowthPerFrame("torch:0", recorder.Allocated, 10); !ok || growth != 64 {
		t.Errorf("%v bytes a frame, %v", growth, ok)
	}
	if _, ok := v.GrowthPerFrame("torch:0", recorder.Requested, 10); ok {
		t.Error("a counter that is not told grows")
	}
}

// TestFrameColumnsAreChartsOfFrames holds the axis of frames to the axis of time.
func TestFrameColumnsAreChartsOfFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := newHistoryKeeper(HistoryLimits{})
		ns := int64(0)
		starts := []int64{}
		for frame := range int64(rapid.IntRange(2, 40).Draw(rt, "frames")) {
			k.addFrame(ns, frame)
			starts = append(starts, ns)
			for range rapid.IntRange(0, 4).Draw(rt, "samples") {
				ns += rapid.Int64Range(1, 1000).Draw(rt, "gap")
				k.addSample(ns, []recorder.CounterSet{setOf("x", recorder.Used, rapid.Int64Range(0, 99).Draw(rt, "value"))})
			}
			ns += 1000
		}
		v := &SourceView{history: k.publish(), Now: ns}
		got := v.FrameColumns(nil, "x", recorder.Used, 0, int64(len(starts)-1), len(starts))
		for i := range starts {
			end := ns
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			if want := v.Columns(nil, "x", recorder.Used, starts[i], end, 1)[0]; got[i] != want {
				rt.Fatalf("frame %d: %+v, want %+v", i, got[i], want)
			}
		}
		wide := v.FrameColumns(nil, "x", recorder.Used, 0, int64(len(starts)-1), len(starts)*3)
		for i := range starts {
			column := Column{Min: 1 << 60, Max: -1}
			for _, part := range wide[i*3 : i*3+3] {
				if part.Known {
					column = Column{Min: min(column.Min, part.Min), Max: max(column.Max, part.Max), Known: true}
				}
			}
			if column.Known != got[i].Known || column.Known && (column.Min != got[i].Min || column.Max != got[i].Max) {
				rt.Fatalf("frame %d in three: %+v, want %+v", i, column, got[i])
			}
		}
	})
}
