package layout

import (
	"testing"

	"vramscope/ui/grid"
)

// On every screen from 1×1 to 250×80: everything lies on the screen, nothing
// lies over anything else (frames share their sides and no more), no cell is
// left over, every pane has contents, and header and footer are there where
// there is room.
func TestEveryScreen(t *testing.T) {
	options := []Options{{}, {Input: true, Message: 1, Arenas: 3},
		{Content: Allocators, Pools: Counters, Allocators: 14}, {Content: AllocatorsAndPool, Pools: Tiers, Allocators: 3}, {Content: Everything, Allocators: 9, Arenas: 2}}
	for width := 1; width <= 250; width++ {
		for height := 1; height <= 80; height++ {
			for v := View(0); int(v) < ViewCount; v++ {
				for _, o := range options {
					l := Compute(width, height, v, o)
					checkRectangles(t, width, height, &l)
					if (width*7+height*13)%31 == 0 {
						checkCells(t, width, height, &l)
					}
					if t.Failed() {
						t.Fatalf("%s at %d×%d with %+v:\n%s", v, width, height, o, art(width, height, &l))
					}
				}
			}
		}
	}
}

// checkRectangles fails where a line or the contents of a pane lie outside the
// screen or over others, or under another pane's frame.
func checkRectangles(t *testing.T, width, height int, l *Layout) {
	var taken [16]grid.Rect
	n := 0
	claim := func(what string, rect grid.Rect) {
		for _, other := range taken[:n] {
			if !rect.Intersect(other).Empty() {
				t.Errorf("%s at %v lies over %v", what, rect, other)
			}
		}
		taken[n] = rect
		n++
	}
	whole := grid.Rect{W: width, H: height}
	for _, line := range [...]grid.Rect{l.Header, l.Tabs, l.Input, l.Message, l.Footer} {
		if line.Empty() {
			continue
		}
		if line.Intersect(whole) != line || line.W != width || line.H != 1 {
			t.Errorf("a line is at %v", line)
		}
		claim("a line", line)
	}
	if l.Header.Empty() != (height < 3) || l.Footer.Empty() != (height < 6) {
		t.Error("header or footer is missing")
	}
	if l.Body.Intersect(whole) != l.Body || l.Body.Empty() || len(l.Places()) == 0 {
		t.Errorf("the body is %v, with %d panes", l.Body, len(l.Places()))
	}
	for _, place := range l.Places() {
		switch {
		case place.Frame.Intersect(l.Body) != place.Frame:
			t.Errorf("%s is at %v, outside the body %v", place.Pane, place.Frame, l.Body)
		case place.Inner.Empty() || place.Inner.Intersect(place.Frame) != place.Inner:
			t.Errorf("the inside of %s is %v", place.Pane, place.Inner)
		case place.Framed != (l.Size >= Compact):
			t.Errorf("%s has the wrong frame", place.Pane)
		}
		claim("a pane", place.Inner)
		for _, other := range l.Places() {
			if other.Pane != place.Pane && !other.Frame.Intersect(place.Inner).Empty() {
				t.Errorf("the frame of %s crosses the inside of %s", other.Pane, place.Pane)
			}
		}
	}
}

// checkCells fails where a cell of the body belongs to nobody.
func checkCells(t *testing.T, width, height int, l *Layout) {
	covered := make([]bool, width*height)
	for _, place := range l.Places() {
		for y := place.Frame.Y; y < place.Frame.Y+place.Frame.H; y++ {
			for x := place.Frame.X; x < place.Frame.X+place.Frame.W; x++ {
				covered[y*width+x] = true
			}
		}
	}
	for y := l.Body.Y; y < l.Body.Y+l.Body.H; y++ {
		for x := l.Body.X; x < l.Body.X+l.Body.W; x++ {
			if !covered[y*width+x] {
				t.Errorf("nobody has %d, %d", x, y)
				return
			}
		}
	}
}

func TestComputeMakesNoGarbage(t *testing.T) {
	if allocs := testing.AllocsPerRun(100, func() {
		l := Compute(200, 60, Overview, Options{Arenas: 3})
		l.Find(TimelinePane)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkCompute(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Compute(200, 60, Overview, Options{})
	}
}
