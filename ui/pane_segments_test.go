package ui

import (
	"slices"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/ui/layout"
)

// onSegments is a screen on the pool whose table of segments has the keys.
func onSegments(t testing.TB) (*Dashboard, *segmentsPane) {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Pool, 160, 40)
	for d.focusedName() != layout.SegmentsPane {
		press(d, "tab")
	}
	return d, d.panes[layout.SegmentsPane].(*segmentsPane)
}

func TestSegmentTotalsAddUpToTheBlocks(t *testing.T) {
	d, pane := onSegments(t)
	pool := d.choices.poolOf(d.scene.view)
	use, ok := pool.Use()
	if !ok {
		t.Fatal("the pool's blocks are not known")
	}
	var live, free, reserved, largest int64
	whole := 0
	for i := range pane.totals.all {
		total := &pane.totals.all[i]
		live, free, reserved, largest = live+total.live, free+total.free, reserved+total.segment.Bytes, max(largest, total.largest)
		if total.live+total.free != total.segment.Bytes {
			t.Errorf("the segment at %#x is %d bytes, its blocks are %d", total.segment.Address, total.segment.Bytes, total.live+total.free)
		}
		if total.releasable() {
			whole++
		}
		if total.releasable() != isReleasable(total.segment) {
			t.Errorf("the segment at %#x is releasable by one reckoning alone", total.segment.Address)
		}
	}
	if live != use.Live || free != use.Free.Bytes || reserved != use.Reserved || largest != use.Free.Largest || whole != use.Whole {
		t.Errorf("live %d, free %d, reserved %d, largest %d, whole %d; the pool says %+v", live, free, reserved, largest, whole, use)
	}
	if whole == 0 {
		t.Error("no segment is releasable: the test looks at too little")
	}
}

// A segment that did not change is not added up again, one that did is.
func TestSegmentTotalsFollowThePool(t *testing.T) {
	f := rebuiltFixture(t)
	before := f.view().Pools[0]
	var totals segmentTotals
	if !totals.update(before) || totals.update(before) {
		t.Fatal("the same pool is added up twice, or not at all")
	}
	f.give(0)
	after := f.view().Pools[0]
	totals.update(after)
	for i := range totals.all {
		if want := totalOf(after.Segments[i]); totals.all[i] != want {
			t.Errorf("segment %d is %+v, want %+v", i, totals.all[i], want)
		}
	}
	totals.update(before)
	if len(totals.all) != len(before.Segments) {
		t.Errorf("%d segments of %d", len(totals.all), len(before.Segments))
	}
}

func TestSegmentsAreSorted(t *testing.T) {
	for _, c := range []struct {
		keys []string
		of   func(*segmentTotal) int64
		up   bool
	}{
		{nil, func(s *segmentTotal) int64 { return int64(s.segment.Address) }, true},
		{[]string{"s", "z"}, func(s *segmentTotal) int64 { return s.segment.Bytes }, false},
		{[]string{"s", "z", "S"}, func(s *segmentTotal) int64 { return s.segment.Bytes }, true},
		{[]string{"s", "l"}, func(s *segmentTotal) int64 { return s.live }, false},
		{[]string{"s", "t"}, func(s *segmentTotal) int64 { return s.free }, false},
		{[]string{"s", "p"}, func(s *segmentTotal) int64 { return s.largest }, false},
		{[]string{"s", "c"}, func(s *segmentTotal) int64 { return int64(s.segment.Len()) }, false},
		{[]string{"s", "a"}, func(s *segmentTotal) int64 { return -s.newest }, true},
		{[]string{"s", "l", "s", "n"}, func(s *segmentTotal) int64 { return int64(s.segment.Address) }, true},
	} {
		d, pane := onSegments(t)
		press(d, c.keys...)
		if !slices.IsSortedFunc(pane.rows.rows, func(a, b *segmentTotal) int {
			x, y := c.of(a), c.of(b)
			if !c.up {
				x, y = y, x
			}
			return int(min(max(x-y, -1), 1))
		}) {
			t.Errorf("%v does not sort the segments:\n%s", c.keys, paneText(t, d, layout.SegmentsPane))
		}
		if pane.rows.rows[pane.table.Selected].segment != d.scene.view.Pools[0].Segments[0] {
			t.Errorf("%v loses the selected segment", c.keys)
		}
	}
}

func TestSegmentsAreFiltered(t *testing.T) {
	d, pane := onSegments(t)
	press(d, "/")
	typeIn(d, "releasable")
	if len(pane.rows.rows) != 1 || !pane.rows.rows[0].releasable() {
		t.Errorf("%d segments are releasable:\n%s", len(pane.rows.rows), paneText(t, d, layout.SegmentsPane))
	}
	press(d, "/", "backspace")
	press(d, "enter", "esc")
	if all := len(d.scene.view.Pools[0].Segments); len(pane.rows.rows) != all {
		t.Errorf("without a filter there are %d segments of %d", len(pane.rows.rows), all)
	}
	press(d, "/")
	typeIn(d, "nowhere")
	if got := paneText(t, d, layout.SegmentsPane); !strings.Contains(got, "No segment matches") {
		t.Errorf("nothing matches, and the table says %q", got)
	}
}

// The selected segment is the one that the map walks, both ways round.
func TestTableAndMapShareTheSegment(t *testing.T) {
	d, pane := onSegments(t)
	segments := d.scene.view.Pools[0].Segments
	press(d, "down", "down")
	if got := under(t, d).Address; got != segments[2].Address {
		t.Errorf("the map is at %#x, the table at %#x", got, segments[2].Address)
	}
	for d.focusedName() != layout.BlocksPane {
		press(d, "tab")
	}
	press(d, "end")
	if got := pane.rows.rows[pane.table.Selected].segment; got != segments[len(segments)-1] {
		t.Errorf("the table is at %#x", got.Address)
	}
	clickIn(t, d, layout.SegmentsPane, 4, 2)
	if got := under(t, d).Address; got != segments[1].Address {
		t.Errorf("after a click the map is at %#x, want %#x", got, segments[1].Address)
	}
	clickIn(t, d, layout.SegmentsPane, 30, 0)
	if pane.sort == segmentAddress {
		t.Error("a click on a title does not sort")
	}
}

func TestFreeSizes(t *testing.T) {
	use := &model.PoolUse{}
	for _, k := range []int{9, 12, 20, 21, 27} {
		use.Sizes[k] = model.SizeClass{Blocks: k, Bytes: int64(k) << k}
	}
	var p freeSizesPane
	for _, c := range []struct {
		most int
		want []int64 // the least size of each bin
	}{
		{40, []int64{1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21,
			1 << 22, 1 << 23, 1 << 24, 1 << 25, 1 << 26, 1 << 27}},
		{10, []int64{1 << 9, 1 << 11, 1 << 13, 1 << 15, 1 << 17, 1 << 19, 1 << 21, 1 << 23, 1 << 25, 1 << 27}},
		{3, []int64{1 << 9, 1 << 16, 1 << 23}},
		{1, []int64{1 << 9}}, {0, []int64{1 << 9}},
	} {
		bins := p.group(use, c.most)
		var from []int64
		count, bytes := int64(0), int64(0)
		for _, bin := range bins {
			from = append(from, bin.From)
			count, bytes = count+bin.Count, bytes+bin.Bytes
		}
		if !slices.Equal(from, c.want) || count != 9+12+20+21+27 || bytes != 9<<9+12<<12+20<<20+21<<21+27<<27 {
			t.Errorf("in %d rows the bins begin at %v with %d blocks of %d bytes, want %v", c.most, from, count, bytes, c.want)
		}
	}
}

func TestFragmentationIsShownWithItsFormula(t *testing.T) {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Pool, 200, 60)
	got := paneText(t, d, layout.FreeSizesPane)
	for _, want := range []string{"fragmentation 38 % = 1 - largest 360.4 MiB / free 577.6 MiB in 16", "stream 0 live 95.0 MiB"} {
		if !strings.Contains(got, want) {
			t.Errorf("the free blocks do not show %q:\n%s", want, got)
		}
	}
}
