package model

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vramscope/arena"
	"vramscope/recorder"
)

// plainEvents are the numbers of the events that belong to a scope, worked out
// with a stack of names.
func plainEvents(records []recorder.Record, id int64, path string, inside bool) (numbers []int64) {
	type open struct {
		number uint64
		path   string
	}
	var stack []open
	var table recorder.StringTable
	here := func() string {
		if len(stack) == 0 {
			return ""
		}
		return stack[len(stack)-1].path
	}
	number := int64(0)
	for _, record := range records {
		if s, ok := record.(*recorder.Strings); ok {
			_ = table.Add(s)
		}
		batch, ok := record.(*recorder.ArenaEvents)
		if !ok || batch.Arena != id {
			continue
		}
		for _, event := range batch.All() {
			before := here()
			switch event.Op {
			case arena.OpScopeOpen:
				stack = append(stack, open{event.Scope, strings.TrimPrefix(before+"/"+table.String(event.Text), "/")})
			case arena.OpScopeClose:
				for i := range stack {
					if stack[i].number == event.Scope {
						stack = stack[:i]
						break
					}
				}
			case arena.OpReset, arena.OpNew:
				stack = nil
			}
			belongs := func(at string) bool { return at == path || inside && (path == "" || strings.HasPrefix(at, path+"/")) }
			if belongs(before) || belongs(here()) {
				numbers = append(numbers, number)
			}
			number++
		}
	}
	return numbers
}

func TestTheEventsOfAScope(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRender(t)
		a := r.newArena(1 << 14)
		for range rapid.IntRange(1, 300).Draw(rt, "events") {
			a.act(rt, []string{"render", "trace"})
			if rapid.IntRange(0, 20).Draw(rt, "flush") == 0 {
				r.flush()
			}
		}
		r.flush()
		v := keep(r.records, Limits{}).published()
		path := rapid.SampledFrom([]string{"", "render", "render/trace", "render/render", "trace/render/trace"}).Draw(rt, "path")
		inside := rapid.Bool().Draw(rt, "inside")
		var names []string
		if path != "" {
			names = strings.Split(path, "/")
		}
		list := NewEventList(a.id, names, inside)
		for !list.Update(v, 70) {
		}
		var got []int64
		for _, event := range list.Rows(nil, 0, list.Len()) {
			got = append(got, event.Number)
		}
		if want := plainEvents(r.records, a.id, path, inside); !slices.Equal(got, want) {
			rt.Fatalf("%q: events %v, want %v", path, got, want)
		}
	})
}

// TestTheEventThatSetThePeak uses the worked tree of the arena's specification:
// render peaks at its fifth allocation, trace at its own third.
func TestTheEventThatSetThePeak(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1024)
	workedTree(t, a)
	r.flush()
	v := keep(r.records, Limits{}).published()
	for _, check := range []struct {
		path  []string
		peak  int64
		bytes int64
		temps int
	}{
		{nil, 268, 200, 1},
		{[]string{"render"}, 268, 200, 1},
		{[]string{"render", "trace"}, 265, 200, 1},
		{[]string{"render", "post"}, 44, 40, 0},
	} {
		list := NewEventList(a.id, check.path, true)
		list.Update(v, 1000)
		peak, at, ok := list.Peak()
		if !ok || peak != check.peak {
			t.Fatalf("%v: peak %d, %v; want %d", check.path, peak, ok, check.peak)
		}
		event := list.Rows(nil, at, at+1)[0]
		if !event.SetPeak || event.Bytes != check.bytes || event.Temps != check.temps {
			t.Errorf("%v: the peak is set by %+v", check.path, event)
		}
	}
}

// workedTree is the example of arena-and-pool 1.11: scope render{3 x u8; scope
// trace{10 x f32; 3 x f64 persistent; temp{50 x f32}}; scope post{5 x f64}}.
func workedTree(t testing.TB, a *renderArena) {
	take := func(d arena.DType, persist bool, n int64) {
		if _, err := a.AllocTyped(d, persist, n); err != nil {
			t.Fatal(err)
		}
	}
	a.open("render")
	take(arena.DTypeUint8, false, 3)
	a.open("trace")
	take(arena.DTypeFloat32, false, 10)
	take(arena.DTypeFloat64, true, 3)
	a.pushTemp(false)
	take(arena.DTypeFloat32, false, 50)
	a.popTemp()
	a.close()
	a.open("post")
	take(arena.DTypeFloat64, false, 5)
	a.close()
	a.close()
}

func TestWhereAnAllocationLies(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1024)
	forward, _ := a.AllocTyped(arena.DTypeFloat32, false, 10)
	back, _ := a.AllocTyped(arena.DTypeFloat64, true, 3)
	r.state() // tells the base
	v := keep(r.records, Limits{}).published()
	list := NewEventList(a.id, nil, true)
	list.Update(v, 100)
	rows := list.Rows(nil, 0, list.Len())
	for i, block := range []arena.Block{forward, back} {
		event := rows[i+1]
		if !event.Located || event.Address != a.Address(block) {
			t.Errorf("%+v, want at %#x", event, a.Address(block))
		}
	}
	if event := rows[1]; event.Items != 10 || event.ItemSize != 4 || event.DType != "float32" || !strings.Contains(event.Text, "TestWhereAnAllocationLies") {
		t.Errorf("%+v", event)
	}
}

func TestTheListFollowsALiveArenaAndForgetsWithTheTape(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1 << 40)
	k := newKeeper("x", "x", renderSource, Limits{TapeBytes: 64 << 10}, nil)
	list := NewEventList(a.id, nil, true)
	for round := range 60 {
		for range 500 {
			_, _ = a.Alloc(8, 8)
		}
		r.flush()
		for _, record := range r.records {
			k.take(record)
		}
		r.records = r.records[:0]
		v := k.published()
		for !list.Update(v, 1<<20) {
		}
		rows := list.Rows(nil, list.Len()-1, list.Len())
		if len(rows) != 1 || rows[0].Number != int64(round+1)*500 {
			t.Fatalf("round %d: the last line is %+v of %d", round, rows, list.Len())
		}
	}
	v := k.published()
	first, end := v.tape.bounds(a.id)
	if first == 0 || int64(list.Len()) != end-first {
		t.Errorf("%d lines of events %d to %d", list.Len(), first, end)
	}
	if rows := list.Rows(nil, 0, 1); rows[0].Number != first {
		t.Errorf("the first line is %+v, event %d is kept", rows[0], first)
	}
	if bytes := k.tape.bytes + k.tape.open.size(); bytes > 128<<10 {
		t.Errorf("the tape has %d bytes", bytes)
	}
}

func BenchmarkEventList(b *testing.B) {
	r := busyArena(b, 200_000)
	k := newKeeper("x", "x", renderSource, Limits{}, nil)
	for _, record := range r.records {
		k.take(record)
	}
	v := k.published()
	b.Run("find in 200k events", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			list := NewEventList(1, []string{"render", "trace"}, true)
			list.Update(v, 1<<30)
		}
	})
	b.Run("50 lines", func(b *testing.B) {
		b.ReportAllocs()
		list := NewEventList(1, nil, true)
		list.Update(v, 1<<30)
		into := make([]ListedEvent, 0, 50)
		for i := 0; b.Loop(); i++ {
			into = list.Rows(into[:0], i%1000, i%1000+50)
		}
	})
}
