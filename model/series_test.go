package model

import (
	"testing"

	"pgregory.net/rapid"

	"vramscope/recorder"
)

// plainSample is a sample as the model of these tests keeps it.
type plainSample struct {
	ns    int64
	value int64
	known bool
}

// plainChart is what a chart means, worked out sample by sample.
func plainChart(samples []plainSample, bounds []int64, hold, until int64) []Column {
	var columns []Column
	for i := range len(bounds) - 1 {
		columns = append(columns, plainColumn(samples, bounds[i], bounds[i+1], hold, until))
	}
	return columns
}

func plainColumn(samples []plainSample, begin, end, hold, until int64) (column Column) {
	add := func(value int64) {
		if !column.Known {
			column = Column{Min: value, Max: value, Known: true}
		}
		column.Min, column.Max, column.Last = min(column.Min, value), max(column.Max, value), value
	}
	var before *plainSample
	for i := range samples {
		if samples[i].ns < begin {
			before = &samples[i]
		}
	}
	if before != nil && before.known && begin <= until && begin-before.ns <= hold {
		add(before.value)
	}
	for _, s := range samples {
		if s.ns >= begin && s.ns < end && s.ns <= until && s.known {
			add(s.value)
		}
	}
	return column
}

// TestChartsAnswerWhatEverySampleSays holds the pyramid and the searches to a
// walk over every sample.
func TestChartsAnswerWhatEverySampleSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s series
		var samples []plainSample
		ns, dropped := int64(5_000), 0
		n := rapid.IntRange(1, 3000).Draw(rt, "samples")
		wide := rapid.Int64Range(1, 400_000_000).Draw(rt, "spacing")
		seed := rapid.Uint64().Draw(rt, "seed")
		random := func(n int64) int64 {
			seed = seed*6364136223846793005 + 1442695040888963407
			return int64(seed>>33) % n
		}
		for range n {
			ns += random(wide)
			sample := plainSample{ns: ns, value: random(1000) - 500, known: random(10) > 0}
			samples = append(samples, sample)
			var values recorder.Counters
			values.Set(recorder.Total, 1)
			if sample.known {
				values.Set(recorder.Used, sample.value)
			}
			s.append(ns, &values)
			if random(500) == 0 {
				s.drop(s.times.end - int(random(int64(s.times.len()))))
				dropped = s.times.first
			}
		}
		samples = samples[dropped:]
		count := rapid.IntRange(1, 60).Draw(rt, "columns")
		begin := rapid.Int64Range(0, ns+1000).Draw(rt, "from")
		bounds := []int64{begin}
		for range count {
			begin += random(max(2, (ns-bounds[0])/int64(count)*2+2))
			bounds = append(bounds, begin)
		}
		until := rapid.Int64Range(0, ns+1000).Draw(rt, "until")
		got := s.view().chart(nil, recorder.Used, count, func(i int) int64 { return bounds[i] }, until)
		want := plainChart(samples, bounds, s.hold(), until)
		for i := range want {
			if got[i].Known && want[i].Known && got[i].Last != want[i].Last && want[i].Max == got[i].Last {
				got[i].Last = want[i].Last // more than fan samples without a value at the column's end
			}
			if got[i] != want[i] {
				rt.Fatalf("column %d [%d, %d) until %d: %+v, want %+v", i, bounds[i], bounds[i+1], until, got[i], want[i])
			}
		}
	})
}

func TestAPauseIsNotKnown(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	second := int64(1_000_000_000)
	for i := range int64(40) {
		at := i * second / 10
		if i >= 20 {
			at += 60 * second // stopped for a minute
		}
		k.addSample(at, []recorder.CounterSet{setOf("pool:1", recorder.Reserved, 100+i)})
	}
	v := &SourceView{history: k.publish(), Now: 64 * second}
	columns := v.Columns(nil, "pool:1", recorder.Reserved, 0, 64*second, 64)
	for i, column := range columns {
		known := i <= 2 || i >= 62 // its last value stands for a second
		if column.Known != known {
			t.Errorf("second %d: known %v, want %v (%+v)", i, column.Known, known, column)
		}
	}
	if columns[0] != (Column{Min: 100, Max: 109, Last: 109, Known: true}) || columns[1].Min != 109 {
		t.Errorf("the first seconds are %+v", columns[:2])
	}
}

func TestWhatIsNotToldIsNotZero(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	k.addSample(1000, []recorder.CounterSet{setOf("pool:1", recorder.Reserved, 7)})
	v := &SourceView{history: k.publish(), Now: 2000}
	for _, columns := range [][]Column{
		v.Columns(nil, "pool:2", recorder.Reserved, 0, 2000, 3),
		v.Columns(nil, "pool:1", recorder.Limit, 0, 2000, 3),
		v.Columns(nil, "pool:1", recorder.Reserved, 5000, 6000, 3), // still to come
		v.Columns(nil, "pool:1", recorder.Reserved, 0, 900, 3),     // before it began
	} {
		for _, column := range columns {
			if column.Known {
				t.Errorf("%+v", columns)
			}
		}
	}
}

func TestTheHighestSampleIsFoundWithItsTime(t *testing.T) {
	k := newHistoryKeeper(HistoryLimits{})
	for i := range int64(5000) {
		value := i % 700
		if i == 3333 {
			value = 900
		}
		k.addSample(i*10, []recorder.CounterSet{setOf("pool:1", recorder.Reserved, value)})
	}
	v := &SourceView{history: k.publish(), Now: 60_000}
	if value, ns, ok := v.Peak("pool:1", recorder.Reserved); !ok || value != 900 || ns != 33_330 {
		t.Errorf("%d at %d, %v", value, ns, ok)
	}
	v.Now = 20_000 // earlier, the first of the largest
	if value, ns, ok := v.Peak("pool:1", recorder.Reserved); !ok || value != 699 || ns != 6_990 {
		t.Errorf("%d at %d, %v", value, ns, ok)
	}
	if _, _, ok := v.Peak("pool:1", recorder.Limit); ok {
		t.Error("a counter that was never told has a peak")
	}
}

// setOf is a counter set with one counter.
func setOf(id string, counter recorder.Counter, value int64) recorder.CounterSet {
	set := recorder.CounterSet{ID: id, Of: recorder.OfPool, Call: "test"}
	set.Values.Set(counter, value)
	return set
}

func BenchmarkSampleAppend(b *testing.B) {
	b.ReportAllocs()
	k := newHistoryKeeper(HistoryLimits{Duration: 600_000_000_000, Bytes: 4 << 20})
	set := benchmarkSet()
	for i := range b.N {
		k.addSample(int64(i)*100_000_000, set)
	}
}

func benchmarkSet() []recorder.CounterSet {
	var sets []recorder.CounterSet
	for _, id := range []string{"device", "process:812", "pool:1", "arena:1", "host", "peaks"} {
		set := recorder.CounterSet{ID: id, Of: recorder.OfPool, Call: "test"}
		for c := range recorder.Counter(10) {
			set.Values.Set(c, int64(c)<<30)
		}
		sets = append(sets, set)
	}
	return sets
}

// BenchmarkChart asks for 400 columns over ten million samples, whole and zoomed
// in.
func BenchmarkChart(b *testing.B) {
	var s series
	var values recorder.Counters
	const samples = 10_000_000
	for i := range int64(samples) {
		values.Set(recorder.Used, i*7919%100_003)
		s.append(i*100_000, &values)
	}
	v := &SourceView{history: &history{sets: []*seriesView{{id: "x", series: &s}}}, Now: samples * 100_000}
	for _, zoom := range []struct {
		name string
		part int64
	}{{"whole", 1}, {"a hundredth", 100}, {"a ten thousandth", 10_000}} {
		b.Run(zoom.name, func(b *testing.B) {
			b.ReportAllocs()
			into := make([]Column, 0, 400)
			for range b.N {
				into = v.Columns(into[:0], "x", recorder.Used, 0, samples*100_000/zoom.part, 400)
			}
		})
	}
}
