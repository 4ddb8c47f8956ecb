package model

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"vramscope/pool"
	"vramscope/recorder"
)

// smallPool is a pool of two segments: 1024 bytes with live 256, free 512, live
// 256; and 2048 wholly free.
func smallPool() *PoolView {
	state := recorder.PoolState{ID: 1, Tier: "B", Generation: 3,
		Segments: recorder.SegmentColumns{Address: []string{"0x1000", "0x2000"}, Bytes: []int64{1024, 2048}},
		Blocks: recorder.BlockColumns{Address: []string{"0x1000", "0x1100", "0x1300", "0x2000", "0x2400"}, Bytes: []int64{256, 512, 256, 1024, 1024},
			Requested: []int64{200, 0, 256, 0, 0}, Stream: []uint32{0, 1, 0, 0, 1}, Live: []uint8{1, 0, 1, 0, 0}},
		Ladder: &recorder.Ladder{Used: 3, CooldownNs: 400_000_000}}
	return replacePool(&state, nil, func(string) {}).published()
}

func TestWhatAPoolsBlocksAddUpTo(t *testing.T) {
	use, ok := smallPool().Use()
	if !ok {
		t.Fatal("not known")
	}
	sizes := use.Sizes
	use.Sizes = [64]SizeClass{}
	want := PoolUse{Segments: 2, Reserved: 3072, Live: 512, LiveBlocks: 2, Requested: 456, Releasable: 2048, Whole: 1,
		Free: FreeUse{Bytes: 2560, Blocks: 3, Largest: 1024},
		Streams: []StreamUse{{Stream: 0, Live: 512, Free: FreeUse{Bytes: 1024, Blocks: 1, Largest: 1024}},
			{Stream: 1, Free: FreeUse{Bytes: 1536, Blocks: 2, Largest: 1024}}}}
	if use.last = 0; !reflect.DeepEqual(use, want) {
		t.Errorf("got  %+v\nwant %+v", use, want)
	}
	if sizes[9] != (SizeClass{Blocks: 1, Bytes: 512}) || sizes[10] != (SizeClass{Blocks: 2, Bytes: 2048}) {
		t.Errorf("sizes %v", sizes)
	}
	if share, ok := use.Free.Fragmentation(); !ok || share != 1-1024.0/2560 {
		t.Errorf("fragmentation %v, %v", share, ok)
	}
	if _, ok := (FreeUse{}).Fragmentation(); ok {
		t.Error("where nothing is free nothing is in pieces")
	}
	if _, ok := (&PoolView{}).Use(); ok {
		t.Error("a pool that nobody told of is not known")
	}
}

func TestTheLadder(t *testing.T) {
	rungs, cooldown, ok := smallPool().Ladder()
	if !ok || cooldown != 400_000_000 || !rungs[2].Spent || rungs[3].Spent || rungs[2].Action != "collect" || rungs[3].Action != "rebuild" {
		t.Errorf("%+v, %d, %v", rungs, cooldown, ok)
	}
	if _, _, ok := (&PoolView{}).Ladder(); ok {
		t.Error("a pool without a callback has a ladder")
	}
}

func TestACellOfTheMap(t *testing.T) {
	cells := smallPool().Segments[0].Cells(nil, 4)
	want := []Cell{
		{Live: 256, Blocks: 1, Largest: 256},
		{Free: 256, Blocks: 1, Largest: 512, Stream: 1},
		{Free: 256, Largest: 512, Stream: 1},
		{Live: 256, Blocks: 1, Largest: 256},
	}
	if !reflect.DeepEqual(cells, want) {
		t.Errorf("got  %+v\nwant %+v", cells, want)
	}
	if one := smallPool().Segments[0].Cells(nil, 1)[0]; one.Live != 512 || one.Free != 512 || one.Blocks != 3 || !one.Mixed {
		t.Errorf("%+v", one)
	}
	if many := smallPool().Segments[0].Cells(nil, 5000); many[0].Live != 1 || many[1].Live != 0 || many[4].Live != 1 {
		t.Errorf("%+v", many[:5]) // more cells than bytes: a byte lies in one of five
	}
}

// TestAMapLosesNoByte: whatever the scale, the cells have what the blocks have.
func TestAMapLosesNoByte(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRender(t)
		p := r.newPool(1 << 20)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			p.act(rt)
		}
		r.flush()
		view := keep(r.records, Limits{}).published().Pools
		if len(view) == 0 {
			return
		}
		use := p.Usage()
		got := Cell{}
		for _, s := range view[0].Segments {
			for _, cell := range s.Cells(nil, rapid.IntRange(1, 700).Draw(rt, "cells")) {
				got.Live, got.Free, got.Blocks = got.Live+cell.Live, got.Free+cell.Free, got.Blocks+cell.Blocks
			}
		}
		if got.Live != use.Allocated || got.Free != use.Free {
			rt.Fatalf("the map has %+v, the pool %+v", got, use)
		}
	})
}

// TestThePoolIsWhatItCounts holds the sums over blocks to the pool's own
// counters, after any history on one stream.
func TestThePoolIsWhatItCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRender(t)
		p := r.newPool(4 << 20)
		for range rapid.IntRange(1, 300).Draw(rt, "steps") {
			switch n := len(p.live); {
			case n > 0 && rapid.IntRange(0, 2).Draw(rt, "free") == 0:
				p.give(rapid.IntRange(0, n-1).Draw(rt, "block"), 0)
			case rapid.IntRange(0, 30).Draw(rt, "release") == 0:
				_, _ = p.ReleaseFreeSegments()
			default:
				p.take(rapid.Int64Range(1, 20_000).Draw(rt, "bytes"), 0)
			}
		}
		r.state()
		_, _ = p.Allocate(1, 0)
		r.flush()
		use, ok := keep(r.records, Limits{}).published().Pools[0].Use()
		want := p.Usage()
		if !ok || use.Reserved != want.Reserved || use.Live != want.Allocated || use.Requested != want.Requested ||
			use.Free != (FreeUse{Bytes: want.Free, Blocks: want.FreeBlocks, Largest: want.LargestFree}) ||
			use.Releasable != want.Releasable || use.LiveBlocks != want.LiveBlocks || use.Segments != want.Segments {
			rt.Fatalf("got  %+v\nwant %+v", use, want)
		}
	})
}

// TestTheListsOfStreamsAreFollowed: after a state, the fold knows of every free
// block in which stream's list it is, as long as no allocation fails.
func TestTheListsOfStreamsAreFollowed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRender(t)
		p := r.newPool(1 << 40)
		p.take(100, 0)
		r.state()
		for range rapid.IntRange(1, 200).Draw(rt, "steps") {
			stream := pool.Stream(rapid.IntRange(0, 3).Draw(rt, "stream"))
			switch n := len(p.live); {
			case n > 0 && rapid.IntRange(0, 1).Draw(rt, "free") == 0:
				p.give(rapid.IntRange(0, n-1).Draw(rt, "block"), stream)
			case rapid.IntRange(0, 30).Draw(rt, "release") == 0:
				_, _ = p.ReleaseFreeSegments()
			default:
				p.take(rapid.Int64Range(1, 9_000).Draw(rt, "bytes"), stream)
			}
		}
		r.flush()
		var got []pool.Block
		for _, s := range keep(r.records, Limits{}).published().Pools[0].Segments {
			for b := range s.Blocks() {
				got = append(got, pool.Block{Address: pool.Address(b.Address), Bytes: b.Bytes, Requested: b.Requested, Stream: pool.Stream(b.Stream), Live: b.Live})
			}
		}
		if _, want := p.Layout(); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			rt.Fatal(firstDifference(got, want))
		}
	})
}

// TestEventsThatCannotBeAreCounted: nothing that a file says breaks the map.
func TestEventsThatCannotBeAreCounted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := newKeeper("x", "x", "s", Limits{}, nil)
		state := &recorder.State{Head: recorder.Head{Ns: 1}, Pools: []recorder.PoolState{{ID: 1,
			Segments: recorder.SegmentColumns{Address: []string{"0x100"}, Bytes: []int64{256}}}}}
		if rapid.Bool().Draw(rt, "state") {
			k.take(state)
		}
		batch := &recorder.PoolEvents{Head: recorder.Head{Ns: 2}, Pool: 1}
		for range rapid.IntRange(0, 60).Draw(rt, "events") {
			batch.Append(recorder.PoolEvent{Ns: 2, Op: pool.Op(rapid.IntRange(18, 25).Draw(rt, "op")),
				Address: rapid.SampledFrom([]uint64{0, 1, 0x100, 0x140, 0x180, 0x200, 1<<64 - 1}).Draw(rt, "address"),
				Bytes:   rapid.SampledFrom([]int64{-1, 0, 1, 64, 128, 256, 1<<63 - 1}).Draw(rt, "bytes")})
		}
		k.take(batch)
		for _, p := range k.published().Pools {
			for _, s := range p.Segments {
				end := s.Address
				for b := range s.Blocks() {
					if b.Address != end || b.Bytes <= 0 {
						rt.Fatalf("blocks do not tile: %+v at %#x", b, end)
					}
					end += uint64(b.Bytes)
				}
				if end != s.Address+uint64(s.Bytes) {
					rt.Fatalf("the segment ends at %#x, its blocks at %#x", s.Address+uint64(s.Bytes), end)
				}
				s.Cells(nil, 7)
			}
			p.Use()
		}
	})
}

func TestAnOldMapStaysAsItWas(t *testing.T) {
	r := newRender(t)
	p := r.newPool(1 << 20)
	for range 500 {
		p.take(300, 0)
	}
	r.flush()
	k := keep(r.records, Limits{})
	old := k.published()
	before := picture(old)
	for range 400 {
		p.give(0, 0)
	}
	r.records = r.records[:0]
	r.flush()
	for _, record := range r.records {
		k.take(record)
	}
	k.published()
	expectSame(t, "the old map", picture(old), before)
}

func BenchmarkPoolEvents(b *testing.B) {
	r := newRender(b)
	p := r.newPool(1 << 30)
	for range 10_000 {
		p.take(1000, 0)
	}
	for i := range 5000 {
		p.give(i, 0) // every other one: 5,000 free blocks between live ones
	}
	r.flush()
	k := newKeeper("x", "x", renderSource, DefaultOptions().Live, nil)
	for _, record := range r.records {
		k.take(record)
	}
	r.state()
	k.take(r.records[len(r.records)-1])
	r.records = r.records[:0]
	for i := range 3000 {
		p.take(1000, 0)
		p.give(i, 0)
	}
	r.flush()
	batch := r.records[0].(*recorder.PoolEvents)
	b.Run("fold, a snapshot each 600", func(b *testing.B) {
		b.ReportAllocs()
		at := 0
		for range b.N {
			k.fold.applyPool(&recorder.PoolEvents{Pool: p.id, Ns: batch.Ns[at : at+1], Op: batch.Op[at : at+1], Address: batch.Address[at : at+1],
				Bytes: batch.Bytes[at : at+1], Requested: batch.Requested[at : at+1], Stream: batch.Stream[at : at+1]}, 1)
			if at++; at == batch.Len() {
				at = 0
			}
			if at%600 == 0 {
				k.fold.view()
			}
		}
	})
	view := k.published().Pools[0]
	b.Run("use", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			view.Use()
		}
	})
	b.Run("map", func(b *testing.B) {
		b.ReportAllocs()
		into := make([]Cell, 0, 400)
		for range b.N {
			into = view.Segments[len(view.Segments)-1].Cells(into[:0], 400)
		}
	})
}
