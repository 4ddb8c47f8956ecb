package recorder

import (
	"fmt"
	"io"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"vramscope/arena"
	"vramscope/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines is a RecordWriter that encodes and forgets.
type lines struct{ buf []byte }

func (l *lines) Write(record Record) (err error) {
	l.buf, err = AppendLine(l.buf[:0], record)
	return err
}

// Arenas on goroutines of their own, a pool, a sampler, a late reader and a
// calibration dump share one stream. The race detector is the judge.
func TestStreamIsShared(t *testing.T) {
	var out lines
	stream := NewStream(StreamOptions{Source: "pid:1", Clock: MonotonicClock(), Emit: func(record Record) {
		if err := out.Write(record); err != nil {
			panic(err)
		}
	}})
	stream.Registry().SetAutoRecord(true)
	stream.WantEvents(true)
	stream.EmitState(nil)
	var working sync.WaitGroup
	for n := range 3 {
		working.Go(func() {
			feed := stream.WatchArena(ArenaFacts{Name: fmt.Sprint("arena ", n), Managed: true})
			a, err := arena.New(arena.Config{Name: fmt.Sprint("arena ", n), Bytes: 1 << 16, Observer: feed.Observer()})
			if err != nil {
				panic(err)
			}
			for i := range 500 {
				scope := a.Scope(fmt.Sprint("scope ", i%17), arena.Int("frames", int64(i)))
				a.Alloc(int64(i%50), 4)
				a.NoteParams(arena.Text("mode", "fast"))
				if i%100 == 99 {
					a.Reset("retry")
					feed.Update(a.State())
				}
				scope.End()
			}
			a.Release("done")
		})
	}
	feed := stream.WatchPool()
	working.Go(func() {
		for i := range 2000 {
			feed.ObservePool(pool.Event{Op: pool.OpAlloc, Address: pool.Address(i << 9), Bytes: 512, Requested: 500})
		}
	})
	working.Go(func() {
		for i := range int64(50) {
			stream.BeginFrame(i)
			stream.NotePeak("project", i+1, i)
			if stream.StateDue() {
				stream.EmitState(nil)
			}
			stream.EmitAll(nil, func(record Record) {
				var late lines
				if err := late.Write(record); err != nil {
					panic(err)
				}
			})
		}
	})
	working.Go(func() {
		for range 10 {
			if err := stream.WriteCalibration(&lines{}, nil); err != nil {
				panic(err)
			}
			for _, entry := range stream.Registry().Arenas() {
				Replay(&entry.Log)
			}
		}
	})
	working.Wait()
}

// Snapshots and views are read elsewhere while their owner goes on.
func TestSnapshotsAreReadElsewhere(t *testing.T) {
	type view struct {
		snapshot *ScopeSnapshot
		log      EventLog
		names    StringTable
	}
	views := make(chan view, 4)
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			for v := range views {
				io.WriteString(io.Discard, said(v.snapshot, &v.names))
				for range v.log.All() {
				}
			}
		})
	}
	tree, in := NewScopeTree(TreeLimits{}), NewInterner()
	var log EventLog
	var names StringTable
	b := newBump(1<<40, func(event ArenaEvent) {
		tree.Observe(&event)
		log.Append(&event)
	})
	for i := range 300 {
		outer := b.scope(in.Number(fmt.Sprint("outer ", i%7)), arena.Int("i", int64(i)))
		for inner := range 20 {
			number := b.scope(in.Number(fmt.Sprint("inner ", i%5, inner)))
			b.alloc(10, 1)
			b.close(number)
		}
		if i%11 == 10 {
			b.reset()
		} else {
			b.close(outer)
		}
		in.Flush(Head{}, func(record *Strings) { names.Add(record) })
		views <- view{tree.Snapshot(), log.View(), names}
	}
	close(views)
	reading.Wait()
}
