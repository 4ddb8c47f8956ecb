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
	options := []Options{{}, {Input: true, Message: true, Arenas: 3}}
	for width := 1; width <= 250; width++ {
		for height := 1; height <= 80; height++ {
			if width > 130 && width%7 > 0 {
				continue // enough of the wide ones
			}
			for v := View(0); int(v) < ViewCount; v++ {
				for _, o := range options {
					l := Compute(width, height, v, o)
					checkLayout(t, width, height, &l)
					if t.Failed() {
						t.Fatalf("%s at %d×%d with %+v:\n%s", v, width, height, o, art(width, height, &l))
					}
				}
			}
		}
	}
}

// owners says for every cell of a screen what lies there.
type owners struct {
	width  int
	inside []uint8 // number of the pane or line whose contents lie there
	framed []bool  // a frame's line lies there
}

func (o *owners) reset(width, height int) {
	o.width = width
	if n := width * height; n <= cap(o.inside) {
		o.inside, o.framed = o.inside[:n], o.framed[:n]
		clear(o.inside)
		clear(o.framed)
	} else {
		o.inside, o.framed = make([]uint8, n, 2*n), make([]bool, n, 2*n)
	}
}

// claim marks the cells of a rectangle and reports whether one was taken.
func (o *owners) claim(rect grid.Rect, owner uint8) bool {
	taken := false
	for y := rect.Y; y < rect.Y+rect.H; y++ {
		for x := rect.X; x < rect.X+rect.W; x++ {
			i := y*o.width + x
			taken = taken || o.inside[i] != 0
			o.inside[i] = owner
		}
	}
	return taken
}

var screen owners

func checkLayout(t *testing.T, width, height int, l *Layout) {
	screen.reset(width, height)
	whole := grid.Rect{W: width, H: height}
	for i, line := range []grid.Rect{l.Header, l.Tabs, l.Input, l.Message, l.Footer} {
		if line.Empty() {
			continue
		}
		if line.Intersect(whole) != line || line.W != width || line.H != 1 {
			t.Errorf("line %d is at %v", i, line)
			return
		}
		if screen.claim(line, uint8(100+i)) {
			t.Errorf("line %d lies over another", i)
		}
	}
	if l.Header.Empty() != (height < 3) || l.Footer.Empty() != (height < 6) {
		t.Error("header or footer is missing")
	}
	if l.Body.Intersect(whole) != l.Body || l.Body.Empty() {
		t.Errorf("the body is %v", l.Body)
		return
	}
	if len(l.Places()) == 0 {
		t.Error("no pane is shown")
	}
	for i, place := range l.Places() {
		switch {
		case place.Frame.Intersect(l.Body) != place.Frame:
			t.Errorf("%s is at %v, outside the body %v", place.Pane, place.Frame, l.Body)
			return
		case place.Inner.Empty() || place.Inner.Intersect(place.Frame) != place.Inner:
			t.Errorf("the inside of %s is %v", place.Pane, place.Inner)
			return
		case place.Framed != (l.Size >= Compact):
			t.Errorf("%s has the wrong frame", place.Pane)
		}
		if screen.claim(place.Inner, uint8(i+1)) {
			t.Errorf("the inside of %s lies over something", place.Pane)
		}
	}
	checkFrames(t, l)
}

// checkFrames fails where a frame crosses contents, or a cell of the body
// belongs to nobody.
func checkFrames(t *testing.T, l *Layout) {
	for _, place := range l.Places() {
		for y := place.Frame.Y; y < place.Frame.Y+place.Frame.H; y++ {
			for x := place.Frame.X; x < place.Frame.X+place.Frame.W; x++ {
				if place.Inner.Contains(x, y) {
					continue
				}
				i := y*screen.width + x
				if screen.inside[i] != 0 {
					t.Errorf("the frame of %s crosses something at %d, %d", place.Pane, x, y)
				}
				screen.framed[i] = true
			}
		}
	}
	for y := l.Body.Y; y < l.Body.Y+l.Body.H; y++ {
		for x := l.Body.X; x < l.Body.X+l.Body.W; x++ {
			if i := y*screen.width + x; screen.inside[i] == 0 && !screen.framed[i] {
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
