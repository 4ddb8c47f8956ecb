package model

import (
	"testing"

	"pgregory.net/rapid"

	"vramscope/arena"
	"vramscope/recorder"
)

// plainPointers are an arena's events as the model of these tests keeps them.
type plainPointers struct {
	ns     int64
	values [pointerKinds]int64
}

func pointerHistory(records []recorder.Record, id int64) (events []plainPointers) {
	length := int64(0)
	for _, record := range records {
		batch, ok := record.(*recorder.ArenaEvents)
		if !ok || batch.Arena != id {
			continue
		}
		for _, event := range batch.All() {
			if event.Op == arena.OpNew {
				length = event.Bytes
			}
			events = append(events, plainPointers{event.Ns, [3]int64{event.Forward, length - event.Reverse, event.Forward + length - event.Reverse}})
		}
	}
	return events
}

func plainPointerColumn(events []plainPointers, begin, end, until int64) (columns [pointerKinds]Column) {
	for k := range columns {
		c := &columns[k]
		add := func(value int64) {
			if !c.Known {
				*c = Column{Min: value, Max: value, Known: true}
			}
			c.Min, c.Max, c.Last = min(c.Min, value), max(c.Max, value), value
		}
		before := -1
		for i := range events {
			if events[i].ns < begin {
				before = i
			}
		}
		if before >= 0 && begin <= until {
			add(events[before].values[k])
		}
		for _, event := range events {
			if event.ns >= begin && event.ns < end && event.ns <= until {
				add(event.values[k])
			}
		}
	}
	return columns
}

// busyArena is an arena with so many events, most of them in scopes.
func busyArena(t testing.TB, events int) *render {
	r := newRender(t)
	r.state()
	a := r.newArena(1 << 40)
	seed := uint32(1)
	random := func(n uint32) uint32 { seed = seed*1664525 + 1013904223; return seed >> 16 % n }
	for a.batch.Len() < events {
		switch random(8) {
		case 0:
			if len(a.scopes) < 5 {
				a.open([]string{"render", "trace", "post"}[random(3)])
			}
		case 1:
			a.close()
		case 2:
			a.pushTemp(true)
		case 3, 4:
			a.popTemp()
		default:
			if _, err := a.AllocTyped(arena.DTypeFloat32, random(4) == 0, int64(random(100))); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.flush()
	return r
}

// TestPointersOfFewEventsAreExact holds the chart to a walk over every event.
func TestPointersOfFewEventsAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRender(t)
		a := r.newArena(1 << 16)
		for range rapid.IntRange(1, 600).Draw(rt, "events") {
			a.act(rt, []string{"render", "trace"})
			r.ns += rapid.Int64Range(0, 500).Draw(rt, "pause")
		}
		r.flush()
		v := keep(r.records, Limits{}).published()
		if ns := rapid.Int64Range(0, r.ns).Draw(rt, "moment"); rapid.Bool().Draw(rt, "past") {
			v = v.At(ns)
		}
		events := pointerHistory(r.records, a.id)
		t0 := rapid.Int64Range(0, r.ns).Draw(rt, "from")
		t1 := rapid.Int64Range(t0, r.ns+1000).Draw(rt, "to")
		n := rapid.IntRange(4, 50).Draw(rt, "columns") // few blocks a column
		got := v.PointerColumns(nil, a.id, t0, t1, n)
		for i := range n {
			want := plainPointerColumn(events, divide(t0, t1, i, n), divide(t0, t1, i+1, n), v.Now)
			if got[i].Forward != want[0] || got[i].Reverse != want[1] || got[i].Used != want[2] {
				rt.Fatalf("column %d of %d from %d to %d, now %d: %+v, want %+v", i, n, t0, t1, v.Now, got[i], want)
			}
		}
	})
}

// TestPointersOfManyEventsMissNoExtreme: zoomed out, a column may show up to a
// block of its neighbour's events, and no peak is lost.
func TestPointersOfManyEventsMissNoExtreme(t *testing.T) {
	r := busyArena(t, 60_000)
	a := r.arenas[0]
	v := keep(r.records, Limits{}).published()
	events := pointerHistory(r.records, a.id)
	const n = 60
	got := v.PointerColumns(nil, a.id, 0, r.ns+1, n)
	block := pointerBlockEvents * 2 * r.step
	for i := range n {
		begin, end := divide(0, r.ns+1, i, n), divide(0, r.ns+1, i+1, n)
		inner := plainPointerColumn(events, min(begin+block, end), end-block, v.Now)[pointerUsed]
		outer := plainPointerColumn(events, begin-block, end+block, v.Now)[pointerUsed]
		used := got[i].Used
		if used.Known != outer.Known && used.Known != inner.Known {
			t.Fatalf("column %d: %+v", i, used)
		}
		if used.Known && (used.Max < inner.Max && inner.Known || used.Max > outer.Max || used.Min < outer.Min) {
			t.Fatalf("column %d: %+v, want between %+v and %+v", i, used, inner, outer)
		}
	}
	highest := int64(0)
	for _, column := range got {
		highest = max(highest, column.Used.Max)
	}
	want := plainPointerColumn(events, 0, r.ns+1, v.Now)[pointerUsed].Max
	if highest != want {
		t.Errorf("the highest column has %d, the highest event %d", highest, want)
	}
}

// TestPointersOfThePastShowNothingLater: also zoomed out.
func TestPointersOfThePastShowNothingLater(t *testing.T) {
	r := busyArena(t, 30_000)
	whole := keep(r.records, Limits{}).published()
	events := pointerHistory(r.records, 1)
	for i := range int64(40) {
		past := whole.At(whole.First + (whole.Now-whole.First)*i/40)
		highest := Column{}
		for _, column := range past.PointerColumns(nil, 1, 0, r.ns, 20) {
			if column.Used.Known && (!highest.Known || column.Used.Max > highest.Max) {
				highest = column.Used
			}
		}
		want := plainPointerColumn(events, 0, r.ns, past.Now)[pointerUsed]
		if highest.Known != want.Known || highest.Max != want.Max {
			t.Errorf("at %d the highest is %+v, want %+v", past.Now, highest, want)
		}
	}
}

// TestPointersComeFromSamplesWhereNobodyRecorded: without events the samples
// speak.
func TestPointersComeFromSamplesWhereNobodyRecorded(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1000)
	r.flush()
	r.sample()
	_, _ = a.Alloc(100, 1)
	r.flush()
	recorded := len(r.records)
	r.ns += 200_000_000
	_, _ = a.Alloc(300, 1) // nobody records this
	r.sample()
	records := append(r.records[:recorded:recorded], r.records[len(r.records)-1])
	v := keep(records, Limits{}).published()
	columns := v.PointerColumns(nil, a.id, r.ns-1000, r.ns+1, 2)
	if got := columns[1].Forward; got != (Column{Min: 100, Max: 400, Last: 400, Known: true}) {
		t.Errorf("forward %+v", got)
	}
	if got := columns[1].Reverse; !got.Known || got.Last != 0 {
		t.Errorf("reverse %+v", got)
	}
}

func BenchmarkPointerChart(b *testing.B) {
	r := newRender(b)
	a := r.newArena(1 << 30)
	k := newKeeper("x", "x", renderSource, Limits{}, nil)
	for range 400 {
		for range 5000 {
			if _, err := a.Alloc(64, 4); err != nil {
				a.restart("full")
			}
		}
		r.flush()
		for _, record := range r.records {
			k.take(record)
		}
		r.records = r.records[:0]
	}
	v := k.published()
	for _, zoom := range []struct {
		name string
		part int64
	}{{"two million events", 1}, {"a tenth", 10}, {"a hundredth", 100}} {
		b.Run(zoom.name, func(b *testing.B) {
			b.ReportAllocs()
			into := make([]PointerColumn, 0, 400)
			for range b.N {
				into = v.PointerColumns(into[:0], a.id, 0, v.Now/zoom.part, 400)
			}
		})
	}
}
