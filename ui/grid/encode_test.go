package grid

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"vramscope/themes"
)

// checkEncoded fails unless the encoded grid has its lines, each exactly as
// wide as the grid however one counts, and no sequence but ours.
func checkEncoded(t interface{ Fatalf(string, ...any) }, g *Grid) {
	encoded := g.Encode()
	if g.height == 0 {
		if encoded != "" {
			t.Fatalf("an empty grid is %q", encoded)
		}
		return
	}
	lines := strings.Split(encoded, "\n")
	if len(lines) != g.height {
		t.Fatalf("%d lines, want %d", len(lines), g.height)
	}
	for y, line := range lines {
		if got := ansi.StringWidth(line); got != g.width {
			t.Fatalf("line %d is %d columns wide by characters, want %d: %q", y, got, g.width, line)
		}
		if got := ansi.StringWidthWc(line); got != g.width {
			t.Fatalf("line %d is %d columns wide by runes, want %d: %q", y, got, g.width, line)
		}
		if rest := withoutStyles(g.styles, line); strings.ContainsFunc(rest, isControl) {
			t.Fatalf("line %d holds a control character that is not ours: %q", y, rest)
		}
	}
}

func isControl(char rune) bool {
	return char < ' ' || char >= 0x7f && char < 0xa0 || isDirectional(char) || isDropped(char)
}

// withoutStyles removes the sequences that are in the tables, and no others.
func withoutStyles(s *Styles, line string) string {
	known := sequencesOf(s)
	var rest strings.Builder
	for len(line) > 0 {
		if line[0] == 0x1b {
			if end := strings.IndexByte(line, 'm'); end > 0 && known[line[:end+1]] {
				line = line[end+1:]
				continue
			}
		}
		rest.WriteByte(line[0])
		line = line[1:]
	}
	return rest.String()
}

// sequencesOf are all that a table can write; the last table's are kept.
func sequencesOf(s *Styles) map[string]bool {
	if lastTable.styles != s {
		lastTable.styles, lastTable.known = s, map[string]bool{reset: true}
		for i := range s.full {
			lastTable.known[s.full[i]], lastTable.known[s.foreground[i]] = true, true
		}
	}
	return lastTable.known
}

var lastTable struct {
	styles *Styles
	known  map[string]bool
}

func TestEncode(t *testing.T) {
	dark, _ := themes.ByName("dark")
	plain, _ := themes.ByName("default")
	draw := func(r Region) {
		r.Text(0, 0, Of(themes.Dim), "ab")
		r.Text(3, 0, Of(themes.Error), "c")
	}
	for _, c := range []struct {
		what    string
		theme   themes.Theme
		profile themes.Profile
		draw    func(Region)
		want    string
	}{
		{"nothing", plain, themes.TrueColor, func(Region) {}, "      "},
		{"plain text", plain, themes.TrueColor, func(r Region) { r.Text(0, 0, 0, "abc") }, "abc   "},
		{"16 colours of the terminal", plain, themes.TrueColor, draw, "\x1b[0;2mab\x1b[m \x1b[0;1;91mc\x1b[m  "},
		{"no colour", plain, themes.NoColor, draw, "ab \x1b[0;1mc\x1b[m  "},
		{
			"24 bits", dark, themes.TrueColor, draw,
			"\x1b[0;48;2;21;23;28;38;2;139;147;161mab \x1b[0;1;48;2;21;23;28;38;2;242;99;95mc\x1b[0;48;2;21;23;28;38;2;216;220;227m  \x1b[m",
		},
		{"256", dark, themes.Ansi256, draw, "\x1b[0;48;5;233;38;5;246mab \x1b[0;1;48;5;233;38;5;203mc\x1b[0;48;5;233;38;5;253m  \x1b[m"},
		{"16", dark, themes.Ansi16, draw, "\x1b[0;40;37mab \x1b[0;1;40;91mc\x1b[0;40;37m  \x1b[m"},
		{"no colour in the dark theme", dark, themes.NoColor, draw, "ab \x1b[0;1mc\x1b[m  "},
		{
			"one foreground after another", plain, themes.Ansi16,
			func(r Region) { r.Text(0, 0, Of(themes.OK), "a"); r.Text(1, 0, Of(themes.Gate), "b") },
			"\x1b[0;32ma\x1b[33mb    \x1b[m",
		},
		{
			"a blank takes the style before it", plain, themes.Ansi16,
			func(r Region) { r.Text(0, 0, Of(themes.OK), "a"); r.Set(1, 0, ' ', Of(themes.Gate)) },
			"\x1b[0;32ma     \x1b[m",
		},
		{
			"an inverse blank is seen", plain, themes.NoColor,
			func(r Region) { r.Text(1, 0, Of(themes.Selection), "a ") }, " \x1b[0;7ma \x1b[m   ",
		},
		{
			"inverse twice", plain, themes.NoColor,
			func(r Region) { r.Text(0, 0, Of(themes.Selection).With(themes.Inverse|themes.Bold), "a") }, "\x1b[0;1ma\x1b[m     ",
		},
	} {
		g := New(NewStyles(c.theme, c.profile), themes.UnicodeGlyphs())
		g.Resize(6, 1)
		c.draw(g.All())
		if got := g.Encode(); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.what, got, c.want)
		}
		checkEncoded(t, g)
	}
}

func TestEveryLineStartsFromTheDefault(t *testing.T) {
	g := newGrid(2, 2)
	g.All().Fill(Rect{W: 2, H: 2}, 'x', Of(themes.Error))
	lines := strings.Split(g.Encode(), "\n")
	if lines[0] != lines[1] || !strings.HasSuffix(lines[0], reset) {
		t.Errorf("%q", lines)
	}
}

func TestStylesAreDistinct(t *testing.T) {
	for look := range styleLooks {
		for attr := range styleVaried {
			if got := (Style(look) | Style(attr)<<attrShift).index(); got != look*styleVaried+attr {
				t.Fatalf("look %d with %04b is style %d", look, attr, got)
			}
		}
	}
	if got := Style(styleLooks).index(); got != 0 {
		t.Errorf("a style that does not exist is %d, want plain text", got)
	}
	for _, c := range []struct {
		got, want Style
	}{
		{Step(themes.Heat, -1), Step(themes.Heat, 0)}, {Step(themes.Heat, 99), Step(themes.Heat, 7)},
		{StepOf(themes.Heat, 0, 10), Step(themes.Heat, 0)}, {StepOf(themes.Heat, 10, 10), Step(themes.Heat, 7)},
		{StepOf(themes.Heat, 5, 10), Step(themes.Heat, 4)}, {StepOf(themes.Heat, 5, 0), Step(themes.Heat, 0)},
		{Series(0), Of(themes.Series0)}, {Series(9), Of(themes.Series1)}, {Series(-1), Of(themes.Series7)},
	} {
		if c.got != c.want {
			t.Errorf("style %d, want %d", c.got, c.want)
		}
	}
}

// A real terminal, fed with the encoded frame, shows the characters of the
// cells in their places.
func TestATerminalShowsTheCells(t *testing.T) {
	const width, height = 24, 6
	for _, name := range themes.Names() {
		theme, _ := themes.ByName(name)
		for profile := themes.Profile(0); int(profile) < themes.ProfileCount; profile++ {
			g := New(NewStyles(theme, profile), themes.UnicodeGlyphs())
			g.Resize(width, height)
			for y, text := range []string{"plain", "漢字 e\u0301 Müller", "a\x1b[2Jb\x9b1;1Hc\u202e", "👨\u200d👩\u200d👧👍🏽🇩🇪|", "\u0915\u094d\u0937\u093f|", "▐█▍⣿─┼●◌✗⟲"} {
				r := g.All().Row(y)
				r.Text(0, 0, Style(y*3), text)
				r.Text(width-3, 0, Of(themes.Selection), "end")
			}
			screen := vt.NewEmulator(width, height)
			if _, err := screen.Write([]byte(strings.ReplaceAll(g.Encode(), "\n", "\r\n"))); err != nil {
				t.Fatal(err)
			}
			shown := strings.Split(screen.String(), "\n")
			for y, want := range strings.Split(g.Plain(), "\n") {
				if got := strings.TrimRight(shown[y], " "); got != want {
					t.Errorf("%s, %s, line %d: the terminal shows %q, want %q", name, profile, y, got, want)
				}
			}
		}
	}
}

// Every rune of the planes that have any, twice and beside a letter, leaves
// the line as wide as it was.
func TestEveryRuneKeepsTheLine(t *testing.T) {
	theme, _ := themes.ByName("default")
	g := New(NewStyles(theme, themes.NoColor), themes.UnicodeGlyphs())
	g.Resize(6, 1)
	r := g.All()
	for char := rune(0); char < 0xe0200; char++ {
		if char == 0x20000 {
			char = 0xe0000
		}
		g.Clear()
		used := r.Text(0, 0, 0, string(char))
		used += r.Text(used, 0, 0, string(char))
		r.Text(used, 0, 0, "a")
		line := g.Encode()
		if ansi.StringWidth(line) != 6 || ansi.StringWidthWc(line) != 6 {
			t.Errorf("%U: %q is %d columns by characters, %d by runes", char, line, ansi.StringWidth(line), ansi.StringWidthWc(line))
		}
	}
}

func TestEncodeMakesOneString(t *testing.T) {
	g := newGrid(200, 60)
	fillWithColour(g)
	if allocs := testing.AllocsPerRun(10, func() { g.Encode() }); allocs > 1 {
		t.Errorf("%v allocations", allocs)
	}
}

// fillWithColour changes the style at every third cell or so.
func fillWithColour(g *Grid) {
	r := g.All()
	for y := range g.Height() {
		for x := range g.Width() {
			char := 'a' + rune((x+y)%26)
			if x%7 == 0 {
				char = '█'
			}
			r.Set(x, y, char, Style((x/3+y)%themes.RoleCount))
		}
	}
}

func BenchmarkEncode200x60(b *testing.B) {
	for _, profile := range []themes.Profile{themes.TrueColor, themes.Ansi256, themes.Ansi16, themes.NoColor} {
		b.Run(profile.String(), func(b *testing.B) {
			theme, _ := themes.ByName("dark")
			g := New(NewStyles(theme, profile), themes.UnicodeGlyphs())
			g.Resize(200, 60)
			fillWithColour(g)
			b.ReportAllocs()
			b.SetBytes(int64(len(g.Encode())))
			for b.Loop() {
				g.Encode()
			}
		})
	}
}

func BenchmarkNewStyles(b *testing.B) {
	theme, _ := themes.ByName("dark")
	b.ReportAllocs()
	for b.Loop() {
		NewStyles(theme, themes.TrueColor)
	}
}

func BenchmarkSet200x60(b *testing.B) {
	g := newGrid(200, 60)
	b.ReportAllocs()
	for b.Loop() {
		fillWithColour(g)
	}
}

func BenchmarkText200x60(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("wavefront_state 64 x 4,096 ", 8),
		"accents": strings.Repeat("größenänderung überprüfen ", 8),
		"wide":    strings.Repeat("渲染内存监视器", 15),
		"marks":   strings.Repeat("e\u0301a\u0308", 100),
	} {
		b.Run(name, func(b *testing.B) {
			g := newGrid(200, 60)
			b.ReportAllocs()
			for b.Loop() {
				r := g.All()
				for y := range 60 {
					r.Text(0, y, 0, text)
				}
			}
		})
	}
}

var (
	fuzzStyles  = newGrid(0, 0).styles
	glyphTables = []*themes.Glyphs{themes.UnicodeGlyphs(), themes.ASCIIGlyphs()}
)

func FuzzEncode(f *testing.F) {
	for _, seed := range hostileTexts {
		f.Add(seed, uint8(12), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, width, where uint8) {
		for _, glyphs := range glyphTables {
			g := New(fuzzStyles, glyphs)
			g.Resize(int(width%40), 4)
			r, x := g.All(), int(where%50)-10
			r.Text(x, 0, Of(themes.Error), text)
			r.Text(x+1, 0, Of(themes.OK), text)
			used := r.Text(0, 1, 0, text)
			r.Text(used, 1, 0, text) // next to each other, the same style
			r.Fit(x, 2, int(width), 0, text, Align(where%3))
			r.FitMiddle(0, 3, int(width%40), 0, text)
			checkEncoded(t, g)
		}
	})
}
