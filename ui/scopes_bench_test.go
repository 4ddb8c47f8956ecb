package ui

import (
	"fmt"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// hugeTree is a source with a scope tree of so many rows, ten below each, in
// names of which there are many.
func hugeTree(t testing.TB, rows, names int, ns int64) *model.Snapshot {
	t.Helper()
	store := model.NewStore(model.Options{})
	fold := func(record recorder.Record) {
		if err := store.Fold("pid:1", record); err != nil {
			t.Fatal(err)
		}
	}
	head := recorder.Head{Src: "pid:1", Ns: ns}
	fold(&recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "huge"})
	texts := make([]string, names)
	for i := range texts {
		texts[i] = fmt.Sprintf("stage_%d_of_many", i)
	}
	fold(&recorder.Strings{Head: head, First: 1, Strings: texts})
	state := recorder.ArenaState{ID: 1, Name: "huge", Length: 1 << 45, Reverse: 1 << 45, Managed: true, HasBuffer: true}
	tree := &state.Tree
	for row := range rows {
		parent := int32(row/10) - 1
		tree.Parent = append(tree.Parent, parent)
		tree.Name = append(tree.Name, uint32(row%names+1))
		tree.Count = append(tree.Count, int64(row%7+1))
		tree.Open = append(tree.Open, 0)
		tree.Unclosed = append(tree.Unclosed, 0)
		tree.AllocCount = append(tree.AllocCount, int64(rows-row))
		tree.SelfBytes = append(tree.SelfBytes, (int64(row)*7919+ns)%100_003<<10)
		tree.Peak = append(tree.Peak, (int64(row)*104729+ns)%1_000_003<<10)
		tree.PeakForward = append(tree.PeakForward, 0)
		tree.PeakReverse = append(tree.PeakReverse, 0)
		tree.PeakNs = append(tree.PeakNs, 0)
		tree.PeakFrame = append(tree.PeakFrame, -1)
	}
	fold(&recorder.State{Head: head, Arenas: []recorder.ArenaState{state}})
	return store.Snapshot(ns, 0)
}

const hugeRows = 100_000

// benchmarkKeys presses keys in turn and draws a frame after each.
func benchmarkKeys(b *testing.B, prepare func(d *Dashboard), names ...string) {
	d := newScreen(b, hugeTree(b, hugeRows, 5000, 1000), layout.Scopes, 200, 60)
	prepare(d)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.Update(keyOf(names[i%len(names)]))
		d.drawFrame()
		i++
	}
}

func BenchmarkKeyOnAHugeTree(b *testing.B) {
	open := func(d *Dashboard) { press(d, "E") }
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"down", []string{"j"}}, {"page", []string{"pgdown"}}, {"end", []string{"G", "g"}}, {"toggle", []string{"space"}},
		{"expand", []string{"C", "E"}}, {"reverse", []string{"S"}}, {"flame", []string{"T"}}, {"drill", []string{".", ","}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkKeys(b, open, c.keys...) })
	}
	b.Run("sort", func(b *testing.B) {
		d := newScreen(b, hugeTree(b, hugeRows, 5000, 1000), layout.Scopes, 200, 60)
		press(d, "E")
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			d.Update(keyOf("s"))
			d.Update(keyOf([]string{"n", "p", "t", "c"}[i%4]))
			d.drawFrame()
			i++
		}
	})
	b.Run("filter", func(b *testing.B) {
		d := newScreen(b, hugeTree(b, hugeRows, 5000, 1000), layout.Scopes, 200, 60)
		press(d, "E", "/")
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			d.Update(keyOf([]string{"9", "backspace"}[i%2]))
			d.drawFrame()
			i++
		}
	})
	b.Run("search", func(b *testing.B) {
		benchmarkKeys(b, func(d *Dashboard) { press(d, "/"); typeIn(d, "_4999_"); press(d, "esc", "4") }, "n")
	})
}

// A snapshot in which every row has changed.
func BenchmarkDataOnAHugeTree(b *testing.B) {
	snapshots := []*model.Snapshot{hugeTree(b, hugeRows, 5000, 1000), hugeTree(b, hugeRows, 5000, 2000)}
	for _, keys := range [][]string{{"E"}, {"E", "d"}} {
		b.Run(fmt.Sprint(len(keys)), func(b *testing.B) {
			d := newScreen(b, snapshots[0], layout.Scopes, 200, 60)
			press(d, keys...)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				d.feed.(*fixtureFeed).newest = snapshots[i%2]
				d.takeData()
				d.drawFrame()
			}
		})
	}
}

// A frame at 200×60 in which all data has changed, nothing memoised.
func BenchmarkFrameOfNewData(b *testing.B) {
	f := renderedFixture(b)
	var snapshots []*model.Snapshot
	for range 64 {
		f.renderFrame()
		snapshots = append(snapshots, f.snapshot())
	}
	for _, view := range []layout.View{layout.Overview, layout.Arena, layout.Scopes} {
		b.Run(view.String(), func(b *testing.B) {
			d := newScreen(b, snapshots[0], view, 200, 60)
			feed := d.feed.(*fixtureFeed)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 1) % len(snapshots)
				feed.newest = snapshots[i]
				d.takeData()
				d.drawFrame()
			}
		})
	}
}

// Panes that show the same data again make no garbage.
func TestDrawingMakesNoGarbage(t *testing.T) {
	for _, view := range []layout.View{layout.Arena, layout.Scopes} {
		for _, keys := range [][]string{nil, {"T"}, {"A"}, {"O", "d", "F"}} {
			for _, size := range goldenSizes {
				d := newScreen(t, renderedSnapshot(t), view, size.width, size.height)
				press(d, keys...)
				all := d.grid.All()
				if allocs := testing.AllocsPerRun(20, func() { d.drawPanes(all) }); allocs > 0 {
					t.Errorf("%s at %s after %v: %v allocations", view, size.name, keys, allocs)
				}
			}
		}
	}
}
