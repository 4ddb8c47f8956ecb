package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"vramscope/arena"
	"vramscope/recorder"
)

// TestTheWorkedTree is the example of arena-and-pool 1.11, from the arena through
// the records into the view.
func TestTheWorkedTree(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1024)
	workedTree(t, a)
	r.flush()
	view := keep(r.records, Limits{}).published().Arenas[0]
	if view.State.HighWater != 268 || view.State.Forward != 88 || view.State.Reverse != 1000 || view.State.Name != "arena 1" {
		t.Errorf("%+v", view.State)
	}
	root := view.Scopes.Root()
	if root.AllocCount != 5 || root.PeakForward != 244 || root.Peak != 268 {
		t.Errorf("root %+v", root)
	}
	var got []string
	for row := range int32(view.Scopes.Len()) {
		n := view.Scopes.Row(row)
		got = append(got, fmt.Sprintf("%s allocs %d forward %d reverse %d self %d", view.strings.String(n.Name), n.AllocCount, n.PeakForward, n.PeakReverse, n.SelfBytes))
	}
	want := []string{
		"render allocs 5 forward 244 reverse 24 self 3",
		"trace allocs 3 forward 241 reverse 24 self 264",
		"post allocs 1 forward 44 reverse 0 self 40",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	callers, dtypes := view.Callers(), view.DTypes()
	if len(callers) != 1 || callers[0].Bytes != 307 || callers[0].Count != 5 || !strings.HasSuffix(callers[0].Name, "workedTree.func1") {
		t.Errorf("callers %+v", callers)
	}
	if want := []Rollup{{"float32", 240, 2}, {"float64", 64, 2}, {"uint8", 3, 1}}; !slices.Equal(dtypes, want) {
		t.Errorf("dtypes %+v", dtypes)
	}
}

// TestTheWireTellsTheSame: records that were written and read give the same view.
func TestTheWireTellsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := randomHistory(rt, t, 80)
		var wire []byte
		for _, record := range r.records {
			var err error
			if wire, err = recorder.AppendLine(wire, record); err != nil {
				rt.Fatal(err)
			}
		}
		decoder := recorder.NewDecoder(bytes.NewReader(wire))
		var read []recorder.Record
		for {
			record, err := decoder.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			read = append(read, record)
		}
		if problems := decoder.Problems(); problems.BadLines != 0 {
			rt.Fatalf("%+v", problems)
		}
		expectSame(rt, "read", picture(keep(read, Limits{}).published()), picture(keep(r.records, Limits{}).published()))
	})
}

// TestAnyRecordsAreTolerated: records in no order, of any content, break nothing.
func TestAnyRecordsAreTolerated(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := randomHistory(rt, t, 60)
		records := slices.Clone(r.records)
		for range rapid.IntRange(1, 60).Draw(rt, "shuffles") {
			i := rapid.IntRange(0, len(records)-1).Draw(rt, "i")
			j := rapid.IntRange(0, len(records)-1).Draw(rt, "j")
			if rapid.Bool().Draw(rt, "leave out") {
				records = slices.Delete(slices.Clone(records), i, i+1)
				if len(records) == 0 {
					return
				}
			} else {
				records[i], records[j] = records[j], records[i]
			}
		}
		k := keep(records, Limits{})
		v := k.published()
		for range 3 {
			ns := rapid.Int64Range(0, r.ns).Draw(rt, "moment")
			past := v.At(ns)
			picture(past)
			for _, a := range past.Arenas {
				past.PointerColumns(nil, a.ID, 0, r.ns, 20)
			}
		}
	})
}

func TestArenasAndPoolsThatAStateDoesNotNameAreForgotten(t *testing.T) {
	r := newRender(t)
	r.newArena(64)
	r.newPool(1 << 20)
	r.pools[0].take(100, 0)
	r.state()
	r.arenas, r.pools = nil, nil
	r.state()
	v := keep(r.records, Limits{}).published()
	if len(v.Arenas) != 0 || len(v.Pools) != 0 {
		t.Errorf("%d arenas, %d pools", len(v.Arenas), len(v.Pools))
	}
	if before := v.At(r.ns - 1); len(before.Arenas) != 1 || len(before.Pools) != 1 {
		t.Errorf("then: %d arenas, %d pools", len(before.Arenas), len(before.Pools))
	}
}

func TestAnArenaJoinedInTheMiddle(t *testing.T) {
	r := newRender(t)
	a := r.newArena(4096)
	a.open("render")
	r.flush()
	beginning := len(r.records)
	_, _ = a.Alloc(100, 1)
	a.open("trace")
	r.flush()
	records := append([]recorder.Record{r.records[0], r.records[1]}, r.records[beginning:]...)
	v := keep(records, Limits{}).published()
	if got := v.Arenas[0]; !got.Partial || got.State.Forward != 100 || got.State.Length != 0 || got.Innermost != "trace" {
		t.Errorf("%+v", got)
	}
	r.records = records
	r.state()
	if got := keep(r.records, Limits{}).published().Arenas[0]; got.Partial || got.State.Length != 4096 || got.Innermost != "render/trace" {
		t.Errorf("after a state: %+v", got)
	}
}

func TestABrokenTreeIsAProblemAndNothingElse(t *testing.T) {
	k := newKeeper("x", "x", "s", Limits{}, nil)
	k.take(&recorder.State{Head: recorder.Head{Ns: 1}, Arenas: []recorder.ArenaState{
		{ID: 1, Name: "a", Length: 100, Reverse: 100, Tree: recorder.TreeColumns{Parent: []int32{5}}}, {ID: 2, Name: "b", Length: 7}}})
	v := k.published()
	if len(v.Arenas) != 2 || v.Arenas[0].State.Length != 100 || v.Arenas[0].Scopes.Len() != 0 || len(v.Problems) != 1 {
		t.Errorf("%+v, problems %q", v.Arenas, v.Problems)
	}
}

func TestPartsOfAState(t *testing.T) {
	part := func(more, continued bool, id int64) *recorder.State {
		return &recorder.State{Head: recorder.Head{Ns: 5}, More: more, Continued: continued, Arenas: []recorder.ArenaState{{ID: id, Length: 8, Reverse: 8,
			Tree: recorder.TreeColumns{Parent: []int32{-1}, Name: []uint32{uint32(id)}}}}}
	}
	k := newKeeper("x", "x", "s", Limits{}, nil)
	k.take(part(true, false, 1))
	if n := len(k.published().Arenas); n != 0 {
		t.Errorf("%d arenas of half a state", n)
	}
	k.take(part(false, true, 2))
	if n := len(k.published().Arenas); n != 2 {
		t.Errorf("%d arenas", n)
	}
	k.take(part(false, true, 3))
	if v := k.published(); len(v.Arenas) != 2 || len(v.Problems) != 1 {
		t.Errorf("an end without a beginning: %d arenas, %q", len(v.Arenas), v.Problems)
	}
}

func TestTheSameProblemIsOneLine(t *testing.T) {
	var p problems
	for range 3 {
		p.add("pool 1", "frees of blocks that were not in use")
	}
	for i := range 100 {
		p.add("pool 2", fmt.Sprint(i))
	}
	texts := p.texts()
	if texts[0] != "pool 1: frees of blocks that were not in use (3 times)" || len(texts) != maximumProblems+1 || texts[maximumProblems] != "37 problems of other kinds" {
		t.Errorf("%d: %q … %q", len(texts), texts[0], texts[len(texts)-1])
	}
}

// TestReadersMayKeepOldSnapshots: with the race detector this fails if anything
// that a reader can see is ever written.
func TestReadersMayKeepOldSnapshots(t *testing.T) {
	r := newRender(t)
	r.state()
	a, p := r.newArena(1<<16), r.newPool(1<<20)
	k := newKeeper("x", "x", renderSource, Limits{History: HistoryLimits{Duration: 50_000_000, Bytes: 64 << 10}, TapeBytes: 128 << 10}, nil)
	k.tape.most = 300
	views := make(chan *SourceView, 64)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var old *SourceView
			var before map[string]any
			for v := range views {
				if old != nil && !reflect.DeepEqual(picture(old), before) {
					t.Error("an old snapshot changed")
				}
				old, before = v, picture(v)
				past := v.At((v.KeptFrom() + v.Now) / 2)
				picture(past)
				v.Columns(nil, "pool:2", recorder.Reserved, v.First, v.Now, 50)
				v.PointerColumns(nil, a.id, v.First, v.Now, 50)
				list := NewEventList(a.id, []string{"render"}, true)
				list.Update(v, 1<<20)
				list.Rows(nil, 0, 20)
				var tree TreeView
				tree.Show(v.Arenas[0])
				tree.Rows()
			}
		})
	}
	seed := uint32(7)
	random := func(n uint32) uint32 { seed = seed*1664525 + 1013904223; return seed >> 16 % n }
	for round := range 150 {
		for range 100 {
			switch random(6) {
			case 0:
				a.open([]string{"render", "trace"}[random(2)])
			case 1:
				a.close()
			case 2:
				p.take(int64(random(5000)+1), 0)
			case 3:
				if len(p.live) > 0 {
					p.give(int(random(uint32(len(p.live)))), 0)
				}
			default:
				if _, err := a.AllocTyped(arena.DTypeFloat32, random(3) == 0, int64(random(50))); err != nil {
					a.restart("full")
				}
			}
		}
		r.sample()
		r.beginFrame()
		if round%20 == 0 {
			r.state()
		}
		for _, record := range r.records {
			k.take(record)
		}
		r.records = r.records[:0]
		views <- k.published()
	}
	close(views)
	readers.Wait()
}

// BenchmarkFold is what an event costs, and what a snapshot costs, of one process
// with 6,000 events and 10 samples a second.
func BenchmarkFold(b *testing.B) {
	r := busyArena(b, 100_000)
	var batches []recorder.Record
	for _, record := range r.records {
		if batch, ok := record.(*recorder.ArenaEvents); ok {
			for from := 0; from < batch.Len(); from += 600 {
				part := &recorder.ArenaEvents{Arena: batch.Arena}
				i := 0
				for _, event := range batch.All() {
					if i >= from && i < from+600 {
						part.Append(event)
					}
					i++
				}
				batches = append(batches, part)
			}
		}
	}
	k := newKeeper("x", "x", renderSource, DefaultOptions().Live, nil)
	b.Run("event", func(b *testing.B) {
		b.ReportAllocs()
		done := 0
		for i := 0; done < b.N; i++ {
			k.take(batches[i%len(batches)])
			done += batches[i%len(batches)].(*recorder.ArenaEvents).Len()
		}
	})
	b.Run("snapshot after 600 events and a sample", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			b.StopTimer()
			k.take(batches[i%len(batches)])
			k.take(&recorder.Sample{Head: recorder.Head{Ns: k.fold.now + 1}, Sets: benchmarkSet()})
			b.StartTimer()
			k.published()
		}
	})
	b.Run("second of watching", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			for n := range 10 {
				k.take(batches[(10*i+n)%len(batches)])
				k.take(&recorder.Sample{Head: recorder.Head{Ns: k.fold.now + 1}, Sets: benchmarkSet()})
				k.published()
			}
		}
	})
	b.Run("second without events", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			for range 10 {
				k.take(&recorder.Sample{Head: recorder.Head{Ns: k.fold.now + 1}, Sets: benchmarkSet()})
				k.published()
			}
		}
	})
	v := k.published()
	b.Run("any moment", func(b *testing.B) {
		b.ReportAllocs()
		from := v.KeptFrom()
		for i := range b.N {
			v.At(from + (v.Now-from)*int64(i%97)/97)
		}
	})
}
