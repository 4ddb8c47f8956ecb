package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// hostileSnapshot is what a program can say that nobody should: names that act
// on terminals, sizes near the end of 64 bits, a pool of very many segments,
// counters that cannot be.
func hostileSnapshot(t testing.TB) *model.Snapshot {
	store := model.NewStore(model.Options{})
	const evil = "\x1b[2J\x1b]0;owned\a\u202egnp.exe\t\n\xff世界👩‍👩‍👧"
	fold := func(record recorder.Record) {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	head := func(ns int64) recorder.Head { return recorder.Head{Src: "p", Ns: ns} }
	fold(&recorder.Hello{Head: head(5), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: evil, Wall: 1 << 62})
	state := recorder.PoolState{ID: 1, Name: evil, Tier: evil, Why: evil, Stack: []string{evil, evil}, Generation: 1 << 40, Limit: -5,
		Generations: []recorder.PoolGeneration{{Generation: -1, Ended: 1 << 62, PeakBytes: -1, LifetimeBytes: 1 << 62, LifetimeCount: 1 << 62, PoolBytes: 1 << 62}},
		Ladder:      &recorder.Ladder{Used: 99, CooldownNs: 1 << 60, Exhausted: new(int64(-3)), LastAsked: 1 << 62, LastAction: evil}}
	for i := range uint64(3000) {
		address := recorder.FormatAddress(1<<20 + i<<50)
		state.Segments.Address = append(state.Segments.Address, address)
		state.Segments.Bytes = append(state.Segments.Bytes, int64(1+i*i*i*i))
		state.Blocks.Address = append(state.Blocks.Address, address)
		state.Blocks.Bytes = append(state.Blocks.Bytes, int64(1+i*i*i*i))
		state.Blocks.Requested = append(state.Blocks.Requested, 1<<62)
		state.Blocks.Stream = append(state.Blocks.Stream, uint32(i)*4096)
		state.Blocks.Live = append(state.Blocks.Live, uint8(i%2))
	}
	fold(&recorder.State{Head: head(6), Pools: []recorder.PoolState{state}, Arenas: []recorder.ArenaState{
		{ID: 1, Name: evil, Length: 1 << 62, Forward: 1 << 61, Reverse: 1 << 61, HasBuffer: true, Created: 1 << 62},
		{ID: 2, Name: evil, Length: -1, Forward: -5, Reverse: -9, HasBuffer: true, Released: -1},
	}})
	set := func(id, of string) recorder.CounterSet {
		s := recorder.CounterSet{ID: id, Of: of, Name: evil, In: id}
		for counter := range recorder.NumCounters {
			s.Values.Set(recorder.Counter(counter), int64(1)<<62)
		}
		return s
	}
	for i := range int64(5) {
		fold(&recorder.Frame{Head: head(7 + i*1e15), N: i << 50})
		fold(&recorder.Sample{Head: head(8 + i*1e15), Sets: []recorder.CounterSet{set("pool:1", recorder.OfPool), set("arena:1", recorder.OfArena), set("device", recorder.OfDevice), set("x", evil)}})
	}
	fold(&recorder.OOM{Head: head(9e15), ID: "pool:1", Asked: -7, Steps: []recorder.LadderStep{{Attempt: 3, Action: evil, Ns: -1, Why: evil}}, Outcome: evil})
	return store.Snapshot(1e16, 1)
}

// paneSnapshots are what panes are drawn with whatever their size.
func paneSnapshots(t testing.TB) map[string]*model.Snapshot {
	return map[string]*model.Snapshot{
		"nothing": {}, "a fresh program": newFixture(t).snapshot(), "a render": rebuiltFixture(t).snapshot(), "hostile": hostileSnapshot(t),
	}
}

// Every size of both views, with and without a past moment, is drawn to the
// cell: as many lines as asked, each as wide.
func TestPoolAndTimelineAtEverySize(t *testing.T) {
	for name, snapshot := range paneSnapshots(t) {
		for _, view := range []layout.View{layout.Pool, layout.Timeline} {
			for _, keys := range [][]string{nil, {"0", ",", "left", "z", "+", "down", "right"}} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, view, len(keys)), func(t *testing.T) {
					d := newScreen(t, snapshot, view, 120, 40)
					press(d, keys...)
					for width := 1; width <= 200; width += 1 + width/9 {
						for height := 1; height <= 60; height += 1 + height/9 {
							checkSize(t, d, width, height)
						}
					}
				})
			}
		}
	}
}

// checkSize draws at a size and looks at lines and widths.
func checkSize(t *testing.T, d *Dashboard, width, height int) {
	t.Helper()
	d.width, d.height = width, height
	lines := strings.Split(d.drawFrame(), "\n")
	if len(lines) != height {
		t.Fatalf("at %d×%d there are %d lines", width, height, len(lines))
	}
	for i, line := range lines {
		plain := ansi.Strip(line)
		if got := grid.Width(plain); got != width {
			t.Fatalf("at %d×%d line %d is %d wide: %q", width, height, i, got, plain)
		}
		if strings.ContainsAny(plain, "\x1b\a\t\u202e\u009b") {
			t.Fatalf("at %d×%d line %d holds what acts on terminals: %q", width, height, i, plain)
		}
	}
}

// Panes of any size, alone, draw nothing outside themselves: frames of others
// stay as they are.
func TestPanesStayInside(t *testing.T) {
	snapshot := rebuiltFixture(t).snapshot()
	d := newScreen(t, snapshot, layout.Pool, 120, 40)
	all := []layout.Pane{layout.PoolPane, layout.LadderPane, layout.BlocksPane, layout.SegmentsPane, layout.FreeSizesPane,
		layout.TimelinePane, layout.MomentPane, layout.LiveThenPane}
	sheet := grid.New(grid.NewStyles(themes.All()[0], themes.NoColor), themes.UnicodeGlyphs())
	for _, name := range all {
		for width := 0; width <= 60; width += 3 {
			for height := 0; height <= 20; height++ {
				sheet.Resize(width+4, height+4)
				r := sheet.All()
				r.Fill(grid.Rect{W: width + 4, H: height + 4}, '#', 0)
				inside := r.Sub(2, 2, width, height)
				inside.Clear(0)
				d.panes[name].draw(inside, &d.scene, true)
				for y := range height + 4 {
					for x := range width + 4 {
						char, _ := r.Get(x, y)
						within := x >= 2 && x < width+2 && y >= 2 && y < height+2
						if !within && char != '#' {
							t.Fatalf("%s at %d×%d draws %q at %d, %d", name, width, height, char, x-2, y-2)
						}
					}
				}
			}
		}
	}
}

// Whatever keys and clicks come, at whatever size, nothing breaks.
func TestPoolAndTimelineTakeAnyKey(t *testing.T) {
	keys := []string{"up", "down", "left", "right", "pgup", "pgdown", "home", "end", "+", "-", "0", "[", "]", ",", ".", "x", "o", "O", "f", "F",
		"tab", "z", "s", "l", "a", "S", "enter", "esc", "i", "y", "d", "space", "n", "N"}
	for name, snapshot := range paneSnapshots(t) {
		t.Run(name, func(t *testing.T) {
			for view, size := range map[layout.View][2]int{layout.Pool: {110, 36}, layout.Timeline: {70, 14}} {
				d := newScreen(t, snapshot, view, size[0], size[1])
				state := uint32(1)
				for range 600 {
					state = state*1664525 + 1013904223
					press(d, keys[int(state>>16)%len(keys)])
					d.view = view // esc leaves it
					if place := d.layout.Places(); len(place) > 0 && state%5 == 0 {
						p := place[int(state>>20)%len(place)]
						clickIn(t, d, p.Pane, int(state>>8)%(p.Inner.W+1), int(state>>12)%(p.Inner.H+1))
					}
				}
			}
		})
	}
}

// Drawing the same data again makes no garbage.
func TestDrawingPoolAndTimelineMakesNoGarbage(t *testing.T) {
	snapshot := rebuiltFixture(t).snapshot()
	for _, view := range []layout.View{layout.Pool, layout.Timeline} {
		for _, size := range goldenSizes {
			d := newScreen(t, snapshot, view, size.width, size.height)
			if view == layout.Timeline {
				press(d, "0", ",")
			}
			d.draw()
			for _, place := range d.layout.Places() {
				p, r := d.panes[place.Pane], d.grid.All().At(place.Inner)
				n := testing.AllocsPerRun(10, func() {
					p.title(&d.scene)
					p.draw(r, &d.scene, true)
				})
				if n != 0 {
					t.Errorf("%s at %s makes %v pieces of garbage", place.Pane, size.name, n)
				}
			}
		}
	}
}

func BenchmarkPoolFrame(b *testing.B)     { benchmarkFrames(b, layout.Pool) }
func BenchmarkTimelineFrame(b *testing.B) { benchmarkFrames(b, layout.Timeline) }

// benchmarkFrames draws a view at 200×60: again with the same data, after a key,
// and with other data in each frame.
func benchmarkFrames(b *testing.B, view layout.View) {
	f := rebuiltFixture(b)
	first := f.snapshot()
	f.give(0)
	f.sample()
	second := f.snapshot()
	if first == second {
		b.Fatal("the data did not change")
	}
	b.Run("same", func(b *testing.B) {
		d := newScreen(b, first, view, 200, 60)
		b.ReportAllocs()
		for b.Loop() {
			d.drawFrame()
		}
	})
	b.Run("key", func(b *testing.B) {
		d := newScreen(b, first, view, 200, 60)
		b.ReportAllocs()
		for b.Loop() {
			d.do(keymap.Left)
			d.drawFrame()
		}
	})
	b.Run("data", func(b *testing.B) {
		d := newScreen(b, first, view, 200, 60)
		feed := d.feed.(*fixtureFeed)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			feed.newest = first
			if i%2 == 1 {
				feed.newest = second
			}
			d.takeData()
			d.drawFrame()
		}
	})
}
