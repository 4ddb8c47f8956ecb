package grid

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vramscope/themes"
)

func newGrid(width, height int) *Grid {
	theme, _ := themes.ByName("dark")
	g := New(NewStyles(theme, themes.TrueColor), themes.UnicodeGlyphs())
	g.Resize(width, height)
	return g
}

// picture is what a grid of the given size shows after draw, one line a row.
func picture(width, height int, draw func(Region)) string {
	g := newGrid(width, height)
	draw(g.All())
	return g.Plain()
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		what string
		draw func(Region)
		want string
	}{
		{"clipped at the right", func(r Region) { r.Text(6, 0, 0, "headroom") }, "      head"},
		{"clipped at the left", func(r Region) { r.Text(-4, 0, 0, "headroom") }, "room"},
		{"outside", func(r Region) { r.Text(0, 1, 0, "headroom"); r.Text(0, -1, 0, "x"); r.Text(10, 0, 0, "x") }, ""},
		{"in few columns", func(r Region) { r.TextIn(1, 0, 4, 0, "headroom") }, " head"},
		{"in no columns", func(r Region) { r.TextIn(1, 0, -3, 0, "headroom") }, ""},
		{"wide", func(r Region) { r.Text(0, 0, 0, "漢字x") }, "漢字x"},
		{"wide does not fit", func(r Region) { r.TextIn(0, 0, 3, 0, "漢字x") }, "漢"},
		{"wide cut at the left", func(r Region) { r.Text(-1, 0, 0, "漢字") }, " 字"},
		{"cluster", func(r Region) { r.Text(0, 0, 0, "e\u0301t") }, "e\u0301t"},
		{"overwrites the second half", func(r Region) { r.Text(0, 0, 0, "漢字"); r.Set(1, 0, 'x', 0) }, " x字"},
		{"overwrites the first half", func(r Region) { r.Text(0, 0, 0, "漢字"); r.Set(2, 0, 'x', 0) }, "漢x"},
		{"wide over halves", func(r Region) { r.Text(0, 0, 0, "漢字"); r.Text(1, 0, 0, "国") }, " 国"},
		{"fits", func(r Region) { r.Fit(0, 0, 5, 0, "pool", Left); r.Set(5, 0, '|', 0) }, "pool |"},
		{"fits exactly", func(r Region) { r.Fit(0, 0, 4, 0, "pool", Left); r.Set(4, 0, '|', 0) }, "pool|"},
		{"right", func(r Region) { r.Fit(0, 0, 6, 0, "pool", Right); r.Set(6, 0, '|', 0) }, "  pool|"},
		{"center", func(r Region) { r.Fit(0, 0, 7, 0, "pool", Center); r.Set(7, 0, '|', 0) }, " pool  |"},
		{"cut", func(r Region) { r.Fit(0, 0, 5, 0, "headroom", Left) }, "head…"},
		{"cut to one", func(r Region) { r.Fit(0, 0, 1, 0, "headroom", Left) }, "…"},
		{"cut between wide ones", func(r Region) { r.Fit(0, 0, 4, 0, "漢字漢", Left); r.Set(4, 0, '|', 0) }, "漢… |"},
		{"middle", func(r Region) { r.FitMiddle(0, 0, 9, 0, "wavefront_state_resolve") }, "wave…olve"},
		{"middle fits", func(r Region) { r.FitMiddle(0, 0, 9, 0, "resolve") }, "resolve"},
		{"middle too small", func(r Region) { r.FitMiddle(0, 0, 4, 0, "resolve") }, "res…"},
		{"sub", func(r Region) { r.Sub(2, 0, 3, 1).Text(0, 0, 0, "headroom") }, "  hea"},
		{"sub beyond", func(r Region) { r.Sub(8, 0, 5, 5).Text(0, 0, 0, "headroom") }, "        he"},
		{"sub of sub", func(r Region) { r.Sub(2, 0, 3, 1).Sub(1, 0, 9, 1).Text(0, 0, 0, "headroom") }, "   he"},
		{"fill", func(r Region) { r.Fill(Rect{1, 0, 3, 9}, '#', 0) }, " ###"},
		{"control", func(r Region) { r.Set(0, 0, 0x1b, 0); r.Set(1, 0, '漢', 0); r.Set(2, 0, 0x301, 0) }, "\uFFFD\uFFFD\uFFFD"},
	} {
		if got := picture(10, 1, c.draw); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestTextSaysHowFarItCame(t *testing.T) {
	r := newGrid(10, 1).All()
	for _, c := range []struct {
		got, want int
	}{
		{r.Text(0, 0, 0, "abc"), 3}, {r.Text(8, 0, 0, "abc"), 2}, {r.Text(0, 0, 0, "漢字"), 4},
		{r.TextIn(0, 0, 3, 0, "漢字"), 2}, {r.Text(0, 0, 0, "a\u200bb"), 2}, {r.Text(0, 5, 0, "abc"), 3},
	} {
		if c.got != c.want {
			t.Errorf("took %d columns, want %d", c.got, c.want)
		}
	}
}

func TestASCII(t *testing.T) {
	g := newGrid(24, 2)
	g.SetLook(g.styles, themes.ASCIIGlyphs())
	r := g.All()
	r.Text(0, 0, 0, "Müller 漢字 → 4.7× e\u0301 –")
	r.Set(0, 1, '█', 0)
	r.Arms(1, 1, themes.ArmLeft|themes.ArmRight, 0)
	if got, want := g.Plain(), "M?ller ? ?  > 4.7x e -\n?-"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, b := range []byte(g.Encode()) {
		if b >= 0x80 || b < ' ' && b != '\n' && b != 0x1b {
			t.Fatalf("%q in %q", b, g.Encode())
		}
	}
}

func TestFramesJoin(t *testing.T) {
	frame := func(r Region) {
		right, bottom := r.Width()-1, r.Height()-1
		for x := 1; x < right; x++ {
			r.Arms(x, 0, themes.ArmLeft|themes.ArmRight, 0)
			r.Arms(x, bottom, themes.ArmLeft|themes.ArmRight, 0)
		}
		for y := 1; y < bottom; y++ {
			r.Arms(0, y, themes.ArmUp|themes.ArmDown, 0)
			r.Arms(right, y, themes.ArmUp|themes.ArmDown, 0)
		}
		r.Arms(0, 0, themes.ArmRight|themes.ArmDown, 0)
		r.Arms(right, 0, themes.ArmLeft|themes.ArmDown, 0)
		r.Arms(0, bottom, themes.ArmRight|themes.ArmUp, 0)
		r.Arms(right, bottom, themes.ArmLeft|themes.ArmUp, 0)
	}
	got := picture(9, 5, func(r Region) {
		frame(r.Sub(0, 0, 5, 3))
		frame(r.Sub(4, 0, 5, 3))
		frame(r.Sub(0, 2, 9, 3))
	})
	want := strings.Join([]string{
		"┌───┬───┐",
		"│   │   │",
		"├───┴───┤",
		"│       │",
		"└───────┘",
	}, "\n")
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

func TestDots(t *testing.T) {
	got := picture(4, 1, func(r Region) {
		r.Dots(0, 0, 0, 0x47, 0)
		r.Dots(0, 0, 0, 0x08, 0)
		r.Set(1, 0, 'x', 0)
		r.Dots(1, 0, 0xff, 0x01, 0)
		r.Dots(2, 0, 0, 0xff, 0)
		r.Dots(2, 0, 0xf0, 0, 0)
		r.Dots(9, 0, 0, 0xff, 0)
	})
	if want := "⡏⠁⠏"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestForcedStyle(t *testing.T) {
	g := newGrid(4, 1)
	selected := Of(themes.Selection)
	r := g.All().Forced(selected)
	r.Text(0, 0, Of(themes.Error), "a漢")
	r.Set(3, 0, 'b', Of(themes.OK))
	for x := range 4 {
		if _, style := g.All().Get(x, 0); style != selected {
			t.Errorf("column %d has style %d", x, style)
		}
	}
}

func TestSizes(t *testing.T) {
	g := newGrid(10, 3)
	for _, c := range []struct{ width, height, wantWidth, wantHeight int }{
		{0, 0, 0, 0}, {-5, 3, 0, 0}, {3, -1, 0, 0}, {1, 1, 1, 1}, {1 << 40, 2, MaxSide, 2}, {2, 1 << 40, 2, MaxSide}, {200, 60, 200, 60},
	} {
		g.Resize(c.width, c.height)
		if g.Width() != c.wantWidth || g.Height() != c.wantHeight {
			t.Errorf("Resize(%d, %d) is %d×%d", c.width, c.height, g.Width(), g.Height())
		}
		r := g.All()
		r.Text(0, 0, 0, "漢字")
		r.Fit(0, 0, 99, 0, "漢字", Center)
		r.Arms(0, 0, 15, 0)
		r.Clear(0)
		r.Sub(-5, -5, 100, 100).Text(4, 4, 0, "漢字")
		if lines := strings.Split(g.Encode(), "\n"); c.wantHeight > 0 && len(lines) != c.wantHeight {
			t.Errorf("%d lines at %d×%d", len(lines), c.width, c.height)
		}
	}
}

func TestResizeKeepsMemory(t *testing.T) {
	g := newGrid(200, 60)
	if allocs := testing.AllocsPerRun(10, func() {
		g.Resize(80, 24)
		g.Resize(200, 60)
		g.Clear()
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestRects(t *testing.T) {
	r := Rect{2, 3, 4, 5}
	if !r.Contains(2, 3) || !r.Contains(5, 7) || r.Contains(6, 3) || r.Contains(2, 8) || r.Contains(1, 3) {
		t.Error("Contains is wrong at the edges")
	}
	if got := r.Intersect(Rect{4, 0, 10, 5}); got != (Rect{4, 3, 2, 2}) {
		t.Errorf("Intersect is %v", got)
	}
	if !r.Intersect(Rect{6, 3, 4, 5}).Empty() || !(Rect{}).Empty() || r.Empty() {
		t.Error("Empty is wrong")
	}
	if got := r.Inset(1); got != (Rect{3, 4, 2, 3}) {
		t.Errorf("Inset is %v", got)
	}
	if !r.Inset(3).Empty() {
		t.Error("an inset beyond the middle is not empty")
	}
}

func TestPen(t *testing.T) {
	got := picture(60, 1, func(r Region) {
		p := r.Pen(0, 0)
		p.Text(0, "live")
		p.Skip(1)
		p.Bytes(0, 14*gib, 10)
		p.Text(0, " in ")
		p.Count(0, 2113, 0)
		p.Rune(0, ',')
		p.Percent(0, Missing, 5, 6)
		p.To(40)
		p.Labeled("free", 0, 5*gib)
		p.Fit(0, "a name that is long", 5, Left)
		p.Exact(0, 77, 0)
	})
	if want := "live   14.0 GiB in 2,113,     –         free 5.0  a na…77 B"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got = picture(30, 1, func(r Region) {
		p := r.Pen(0, 0)
		p.Duration(0, 65e9, 0)
		p.Skip(1)
		p.Rate(0, gib, 0)
		p.Skip(1)
		p.Hertz(0, 10_000, 0)
		p.Skip(1)
		p.Factor(0, 98, 21, 0)
		p.Delta(0, kib, 0) // no room for all of it
		if p.Left() != 0 {
			t.Errorf("%d columns left", p.Left())
		}
	})
	if want := "1 m 05 s 1.0 GiB/s 10 Hz 4.7…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// However cells are drawn over one another, a wide character has both its
// halves or none, and every line has its width.
func TestWideCharactersStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 3).Draw(t, "height")
		g := newGrid(width, height)
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab漢字é\u0301👍🏽\u200d\x1b🇩🇪\u202e")))
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			r := g.All()
			if rapid.Bool().Draw(t, "clipped") {
				r = r.Sub(rapid.IntRange(-2, width).Draw(t, "x"), rapid.IntRange(-1, height).Draw(t, "y"),
					rapid.IntRange(0, width).Draw(t, "w"), rapid.IntRange(0, height).Draw(t, "h"))
			}
			x, y := rapid.IntRange(-3, width+1).Draw(t, "column"), rapid.IntRange(-1, height).Draw(t, "row")
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				r.Text(x, y, 0, text.Draw(t, "text"))
			case 1:
				r.Set(x, y, rapid.SampledFrom([]rune("x█\x1b漢")).Draw(t, "rune"), 0)
			case 2:
				r.Fit(x, y, rapid.IntRange(-1, width).Draw(t, "fit"), 0, text.Draw(t, "text"), Align(rapid.IntRange(0, 2).Draw(t, "align")))
			case 3:
				r.FitMiddle(x, y, rapid.IntRange(-1, width).Draw(t, "fit"), 0, text.Draw(t, "text"))
			case 4:
				r.Arms(x, y, uint8(rapid.IntRange(0, 15).Draw(t, "arms")), 0)
			}
			for i, c := range g.cells {
				if c.kind == wide && (i%width == width-1 || g.cells[i+1].kind != covered) {
					t.Fatalf("cell %d is half a character", i)
				}
				if c.kind == covered && (i%width == 0 || g.cells[i-1].kind != wide) {
					t.Fatalf("cell %d is the second half of nothing", i)
				}
			}
		}
		checkEncoded(t, g)
	})
}
