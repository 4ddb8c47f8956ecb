package model

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/recorder"
)

// randomHistory lets a program do anything in any order.
func randomHistory(t *rapid.T, tb testing.TB, steps int) *render {
	r := newRender(tb)
	if rapid.Bool().Draw(t, "state at the beginning") {
		r.state()
	}
	names := []string{"render", "trace", "resolve", "post"}
	for range rapid.IntRange(1, steps).Draw(t, "steps") {
		var a *renderArena
		if n := len(r.arenas); n > 0 {
			a = r.arenas[rapid.IntRange(0, n-1).Draw(t, "arena")]
		}
		var p *renderPool
		if n := len(r.pools); n > 0 {
			p = r.pools[rapid.IntRange(0, n-1).Draw(t, "pool")]
		}
		op := rapid.IntRange(0, 30).Draw(t, "op")
		switch {
		case op <= 1 && len(r.arenas) < 3:
			r.newArena(rapid.Int64Range(64, 4096).Draw(t, "length"))
		case op == 2 && len(r.pools) < 2:
			r.newPool(1 << 20)
		case op == 3:
			r.beginFrame()
		case op == 4:
			r.sample()
		case op == 5:
			r.state()
		case op == 6:
			r.emit(&recorder.Peak{Head: recorder.Head{Src: r.src, Ns: r.tick()}, NonArena: recorder.NonArena{
				Name: rapid.SampledFrom(names).Draw(t, "name"), InputBytes: 10, PeakBytes: rapid.Int64Range(0, 99).Draw(t, "peak")}})
		case op == 7:
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
			state := rapid.SampledFrom([]string{recorder.AckAccepted, recorder.AckDone, recorder.AckRefused}).Draw(t, "ack")
			r.emit(&recorder.Command{Head: recorder.Head{Src: r.src, Ns: r.tick()}, ID: id, Name: recorder.CommandReclaim})
			r.emit(&recorder.Ack{Head: recorder.Head{Src: r.src, Ns: r.tick()}, ID: id, State: state})
		case op == 8:
			r.emit(&recorder.Lost{Head: recorder.Head{Src: r.src, Ns: r.tick()}, N: 3, What: "s"})
		case op == 9 && p != nil:
			r.generation++
			for _, each := range r.pools {
				each.rebuild(r.generation)
			}
		case op == 10:
			hello := *r.records[0].(*recorder.Hello)
			hello.Ns = r.tick()
			r.emit(&hello)
			for _, each := range slices.Concat(r.ended, r.arenas) {
				each.failed = 0 // no state tells of failures
			}
			r.strings.All(recorder.Head{Src: r.src}, func(s *recorder.Strings) { r.emit(s) })
			r.state()
		case op == 11 && a != nil && rapid.IntRange(0, 3).Draw(t, "end") == 0:
			a.end()
		case op <= 20 && a != nil:
			a.act(t, names)
		case p != nil:
			p.act(t)
		default:
			r.tick()
		}
		if rapid.IntRange(0, 3).Draw(t, "flush") == 0 {
			r.flush()
		}
	}
	r.flush()
	return r
}

func (a *renderArena) act(t *rapid.T, names []string) {
	switch rapid.IntRange(0, 12).Draw(t, "arena op") {
	case 0, 1, 2:
		a.open(rapid.SampledFrom(names).Draw(t, "scope"), arena.Int("frames", int64(a.render.frame)))
	case 3, 4:
		a.close()
	case 5:
		a.pushTemp(rapid.Bool().Draw(t, "clear"))
	case 6:
		a.popTemp()
	case 7:
		a.Mark()
	case 8:
		_ = a.Restore()
	case 9:
		if rapid.IntRange(0, 4).Draw(t, "reset") == 0 {
			a.restart("retry")
		}
	default:
		item := rapid.SampledFrom([]int64{1, 2, 4, 8}).Draw(t, "item")
		_, _ = a.AllocTyped(dtypes[item], rapid.Bool().Draw(t, "persist"), rapid.Int64Range(0, 40).Draw(t, "numel"))
	}
}

var dtypes = map[int64]arena.DType{1: arena.DTypeUint8, 2: arena.DTypeFloat16, 4: arena.DTypeFloat32, 8: arena.DTypeFloat64}

func (p *renderPool) act(t *rapid.T) {
	stream := pool.Stream(rapid.IntRange(0, 2).Draw(t, "stream"))
	if n := len(p.live); n > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
		p.give(rapid.IntRange(0, n-1).Draw(t, "block"), stream)
		return
	}
	if rapid.IntRange(0, 9).Draw(t, "release") == 0 {
		_, _ = p.ReleaseFreeSegments()
		return
	}
	p.take(rapid.Int64Range(1, 4000).Draw(t, "bytes"), stream)
}

// upTo is the records of a history up to a moment, batches cut.
func upTo(records []recorder.Record, ns int64) (cut []recorder.Record) {
	for _, record := range records {
		switch r := record.(type) {
		case *recorder.ArenaEvents:
			part := &recorder.ArenaEvents{Arena: r.Arena}
			for _, event := range r.All() {
				if event.Ns <= ns {
					part.Append(event)
				}
			}
			if part.Len() > 0 {
				part.Src = r.Src
				cut = append(cut, part)
			}
		case *recorder.PoolEvents:
			part := &recorder.PoolEvents{Pool: r.Pool}
			for _, event := range r.All() {
				if event.Ns <= ns {
					part.Append(event)
				}
			}
			if part.Len() > 0 {
				part.Src = r.Src
				cut = append(cut, part)
			}
		default:
			if record.Time() <= ns {
				cut = append(cut, record)
			}
		}
	}
	return cut
}

// picture is everything that a view says, in comparable form.
func picture(v *SourceView) map[string]any {
	p := map[string]any{
		"hello": v.Hello, "first": v.First, "frame": v.Frame, "recording": v.Recording, "sets": v.Sets, "nonarena": list(v.NonArena),
		"ooms": list(v.OOMs), "actions": list(v.Actions), "moments": list(v.Moments), "lost": v.Lost, "trouble": v.Trouble,
		"problems": len(v.Problems), "arenas": len(v.Arenas), "pools": len(v.Pools),
	}
	for i, a := range v.Arenas {
		state := a.State
		a.Scopes.FillState(&state)
		state.Marks = list(state.Marks)
		state.Open = list(state.Open)
		p[fmt.Sprintf("arena %d", i)] = state
		p[fmt.Sprintf("arena %d facts", i)] = []any{a.ID, a.Innermost, a.Partial, a.Failed, a.Events, a.Since, list(a.Callers()), list(a.DTypes())}
	}
	for i, q := range v.Pools {
		var blocks []Block
		for _, s := range q.Segments {
			blocks = append(blocks, Block{Address: s.Address, Bytes: s.Bytes, Stream: 99})
			for block := range s.Blocks() {
				blocks = append(blocks, block)
			}
		}
		p[fmt.Sprintf("pool %d", i)] = []any{q.ID, q.State, q.Complete, blocks}
	}
	return p
}

// list is a list in which none and empty are the same.
func list[T any](l []T) []T {
	if len(l) == 0 {
		return nil
	}
	return l
}

func expectSame(t interface{ Fatalf(string, ...any) }, what string, got, want map[string]any) {
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Fatalf("%s: %s differs: %s", what, key, firstDifference(got[key], want[key]))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d parts, want %d", what, len(got), len(want))
	}
}

// firstDifference shows where two values begin to differ, and not all of them.
func firstDifference(got, want any) string {
	a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want)
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	from := max(0, at-80)
	return fmt.Sprintf("\n got …%s\nwant …%s", a[from:min(len(a), at+120)], b[from:min(len(b), at+120)])
}

// TestAnyMomentEqualsFoldingUpToIt holds At to its meaning: what the tape gives
// for a moment is what all records up to it amount to, folded from nothing.
func TestAnyMomentEqualsFoldingUpToIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := randomHistory(rt, t, 120)
		k := keep(r.records, Limits{})
		whole := k.published()
		for range 4 {
			ns := rapid.Int64Range(1_000_000, r.ns+1000).Draw(rt, "moment")
			want := keep(upTo(r.records, ns), Limits{}).published()
			if ns < whole.Now {
				want.Sets = want.setsAt(ns) // counters age with time, not with records
			}
			expectSame(rt, fmt.Sprintf("at %d of %d", ns, r.ns), picture(whole.At(ns)), picture(want))
		}
	})
}

// TestTheViewIsTheTruth holds the newest view to the arenas and pools that the
// records came from.
func TestTheViewIsTheTruth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := randomHistory(rt, t, 150)
		v := keep(r.records, Limits{}).published()
		for _, a := range slices.Concat(r.ended, r.arenas) {
			var view *ArenaView
			for _, candidate := range v.Arenas {
				if candidate.ID == a.id {
					view = candidate
				}
			}
			if view == nil {
				rt.Fatalf("arena %d is missing", a.id)
			}
			got, want := view.State, a.state()
			view.Scopes.FillState(&got)
			got.Marks, want.Marks, got.Open, want.Open = list(got.Marks), list(want.Marks), list(got.Open), list(want.Open)
			got.Created, got.Base = want.Created, want.Base
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("arena %d: %s", a.id, firstDifference(got, want))
			}
			if view.Failed != a.failed {
				rt.Fatalf("arena %d: %d failures, want %d", a.id, view.Failed, a.failed)
			}
		}
		for _, p := range r.pools {
			for _, view := range v.Pools {
				if view.ID == p.id {
					comparePool(rt, p, view)
				}
			}
		}
	})
}

// comparePool holds the blocks of a view to those of the pool. Free neighbours
// are compared as one: in which stream's list a free block is after an allocation
// failed is only told by the next state.
func comparePool(rt *rapid.T, p *renderPool, view *PoolView) {
	_, blocks := p.Layout()
	var got, want []pool.Block
	for _, s := range view.Segments {
		for b := range s.Blocks() {
			got = appendBlock(got, pool.Block{Address: pool.Address(b.Address), Bytes: b.Bytes, Requested: b.Requested, Live: b.Live})
		}
	}
	for _, b := range blocks {
		b.Stream = 0
		want = appendBlock(want, b)
	}
	if !reflect.DeepEqual(got, want) {
		rt.Fatalf("pool %d: %s", p.id, firstDifference(got, want))
	}
}

func appendBlock(blocks []pool.Block, b pool.Block) []pool.Block {
	if n := len(blocks); n > 0 && !b.Live && !blocks[n-1].Live && blocks[n-1].Address+pool.Address(blocks[n-1].Bytes) == b.Address {
		blocks[n-1].Bytes += b.Bytes
		return blocks
	}
	return append(blocks, b)
}

// TestAShortTapeEqualsFoldingUpToIt: a tape that gives up its oldest stretches
// says from when on it has everything, and then has it.
func TestAShortTapeEqualsFoldingUpToIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := randomHistory(rt, t, 200)
		whole := keep(r.records, Limits{TapeBytes: 1}).published()
		from := whole.KeptFrom()
		if from > whole.Now {
			rt.Fatalf("kept from %d, it is %d", from, whole.Now)
		}
		ns := rapid.Int64Range(from, max(from, r.ns)).Draw(rt, "moment")
		want := keep(upTo(r.records, ns), Limits{}).published()
		if ns < whole.Now {
			want.Sets = want.setsAt(ns)
		}
		expectSame(rt, fmt.Sprintf("at %d of %d, kept from %d", ns, r.ns, from), picture(whole.At(ns)), picture(want))
	})
}
