package recorder

import (
	"fmt"
	"testing"

	"vramscope/arena"
)

// frameOfEvents is what a launch-bound frame does: nested scopes with
// parameters and runs of small allocations.
func frameOfEvents(scopes uint32) []ArenaEvent {
	var events []ArenaEvent
	b := newBump(1<<40, func(event ArenaEvent) { events = append(events, event) })
	frame := b.scope(1)
	for name := range scopes {
		stage := b.scope(2+name, arena.Int("frames", 8), arena.Text("mode", "fast"))
		b.push(true)
		for range 16 {
			b.alloc(1024, 4)
		}
		inner := b.scope(1000 + name)
		b.persist(256, 8)
		b.close(inner)
		b.pop()
		b.close(stage)
	}
	b.close(frame)
	return events[1:]
}

func BenchmarkScopeTreeObserve(b *testing.B) {
	tree := NewScopeTree(TreeLimits{})
	events := frameOfEvents(40)
	number := uint64(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		event := events[i%len(events)]
		if i%len(events) == 0 {
			number += 1000
		}
		if event.Scope > 0 {
			event.Scope += number
		}
		tree.Observe(&event)
	}
}

func BenchmarkAllocationRecorderObserve(b *testing.B) {
	recorder := NewAllocationRecorder(RecorderLimits{Bytes: 1 << 40})
	events := frameOfEvents(40)
	number := uint64(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		event := events[i%len(events)]
		if i%len(events) == 0 {
			number += 1000
		}
		if event.Scope > 0 {
			event.Scope += number
		}
		recorder.Observe(&event)
	}
	b.ReportMetric(float64(recorder.Bytes())/float64(b.N), "B_kept/event")
}

// bigTree has n rows, 100 under each that is not a leaf.
func bigTree(n int) (*ScopeTree, *bump) {
	tree := NewScopeTree(TreeLimits{})
	b := newBump(1<<50, func(event ArenaEvent) { tree.Observe(&event) })
	name := uint32(1)
	for rows := 0; rows < n; {
		outer := b.scope(name)
		name++
		rows++
		for inner := range min(n-rows, 99) {
			number := b.scope(uint32(1_000_000 + inner))
			b.alloc(64, 4)
			b.close(number)
			rows++
		}
		b.close(outer)
	}
	return tree, b
}

func BenchmarkSnapshot(b *testing.B) {
	for _, spread := range []int{1, 997} {
		b.Run(fmt.Sprintf("100000 rows, 100 changed, %d apart", spread), func(b *testing.B) {
			tree, bump := bigTree(100_000)
			s := tree.Snapshot()
			b.ReportAllocs()
			for b.Loop() {
				for i := range 100 {
					row := int32(i * spread % s.Len())
					if parent := s.Parent(row); parent >= 0 {
						bump.scope(s.Name(parent))
					}
					bump.scope(s.Name(row))
					bump.alloc(64, 4)
					bump.close(bump.open[0])
					bump.forward = 0
				}
				s = tree.Snapshot()
			}
			if s.Len() != 100_000 {
				b.Fatal(s.Len())
			}
		})
	}
}

func BenchmarkLoadScopeTree(b *testing.B) {
	tree, _ := bigTree(100_000)
	var state ArenaState
	tree.Snapshot().FillState(&state)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := LoadScopeTree(&state, TreeLimits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A recording's way into the tree: lines are read and every event is observed.
func BenchmarkDecodeAndObserve(b *testing.B) {
	line, err := AppendLine(nil, benchBatch())
	if err != nil {
		b.Fatal(err)
	}
	decoder, tree := NewDecoder(&repeated{line: line}), NewScopeTree(TreeLimits{})
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		record, err := decoder.Next()
		if err != nil {
			b.Fatal(err)
		}
		tree.ObserveBatch(record.(*ArenaEvents))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*MaxBatch), "ns/event")
}
