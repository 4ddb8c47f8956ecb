package widget

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

func TestHintBar(t *testing.T) {
	bar := func(c keymap.Context, readOnly bool) func(grid.Region) {
		return func(r grid.Region) { HintBar(r, keymap.Hints(c, readOnly)) }
	}
	checkPictures(t, []picture{
		{
			"of a tree", 120, 1, bar(keymap.Tree, false),
			" r reclaim  R force  B rebuild  P reset  H headroom  m record  Space open/close  E open all  T flame     ? help  q quit", "",
		},
		{
			"read-only", 80, 1, bar(keymap.List, true),
			" (r reclaim)  (R force)  (B rebuild)  (P reset)  (H headroom)    ? help  q quit", "",
		},
		{"narrow", 40, 1, bar(keymap.List, false), " r reclaim  R force      ? help  q quit", ""},
		{"narrower", 12, 1, bar(keymap.List, false), "     q quit", ""},
		{"narrowest", 5, 1, bar(keymap.List, false), "\n", ""},
		{"of a question", 60, 1, bar(keymap.Dialog, false), " Enter press  y yes  n no  Tab other button", ""},
	})
}

func TestHintAt(t *testing.T) {
	hints := keymap.Hints(keymap.Tree, false)
	for x, want := range map[int]keymap.Action{
		0: keymap.None, 1: keymap.Reclaim, 9: keymap.Reclaim, 10: keymap.None, 12: keymap.ForceReclaim, 118: keymap.Quit, 119: keymap.None,
	} {
		if got, _ := HintAt(hints, 120, x); got != want {
			t.Errorf("column %d is %s, want %s", x, got, want)
		}
	}
	if action, ok := HintAt(keymap.Hints(keymap.Tree, true), 120, 2); action != keymap.Reclaim || ok {
		t.Errorf("a refused hint gives %s, %v", action, ok)
	}
}

func rebuildDialog() Dialog {
	return Dialog{
		Title: "Rebuild pool", Yes: "Rebuild", No: "No",
		Text: "Tear down the pool of render.py (48213) on H200 #0 and build tier B again?\nNothing is allocated now.",
	}
}

func TestDialog(t *testing.T) {
	draw := func(yes bool) func(grid.Region) {
		return func(r grid.Region) { d := rebuildDialog(); d.YesFocus = yes; d.Draw(r) }
	}
	checkPictures(t, []picture{
		{
			"No is the default", 70, 9, draw(false), `

   ┌ Rebuild pool ────────────────────────────────────────────────┐
   │ Tear down the pool of render.py (48213) on H200 #0 and build │
   │ tier B again?                                                │
   │ Nothing is allocated now.                                    │
   │                                                              │
   │                                          [▸No ]  [ Rebuild ] │
   └──────────────────────────────────────────────────────────────┘`, `

   + Rebuild pool ------------------------------------------------+
   | Tear down the pool of render.py (48213) on H200 #0 and build |
   | tier B again?                                                |
   | Nothing is allocated now.                                    |
   |                                                              |
   |                                          [>No ]  [ Rebuild ] |
   +--------------------------------------------------------------+`,
		},
		{
			"Yes has the keys, little room", 30, 5, draw(true), `
┌ Rebuild pool ──────────────┐
│ Tear down the pool of      │
│ render.py (48213) on H200… │
│        [ No ]  [▸Rebuild ] │
└────────────────────────────┘`, "",
		},
		{"one line", 30, 1, draw(false), "           [▸No ]  [ Rebuild ]", ""},
	})
}

func TestDialogPlaces(t *testing.T) {
	d := rebuildDialog()
	g := newGrid(unicode, 70, 9)
	places := d.Draw(g.All())
	read := func(r grid.Rect) string {
		var out strings.Builder
		for x := range r.W {
			char, _ := g.All().Get(r.X+x, r.Y)
			out.WriteRune(char)
		}
		return out.String()
	}
	if got := read(places.No); got != "[▸No ]" {
		t.Errorf("No is at %q", got)
	}
	if got := read(places.Yes); got != "[ Rebuild ]" {
		t.Errorf("Yes is at %q", got)
	}
	if places.Box != (grid.Rect{X: 3, Y: 1, W: 64, H: 7}) {
		t.Errorf("the box is at %v", places.Box)
	}
}

func TestStatus(t *testing.T) {
	draw := func(kind StatusKind, text string) func(grid.Region) {
		return func(r grid.Region) { Status(r, kind, text, "14:01:53") }
	}
	checkPictures(t, []picture{
		{
			"done", 60, 1, draw(StatusOK, "reclaim: 22.7 → 18.4 GiB in 12 ms"),
			" ✓ reclaim: 22.7 → 18.4 GiB in 12 ms               14:01:53", " + reclaim: 22.7 > 18.4 GiB in 12 ms               14:01:53",
		},
		{
			"too long", 60, 1, draw(StatusError, "rebuild refused: 2,113 allocations live in render.py, so nothing was done"),
			" ✗ rebuild refused: 2,113 allocations live in render.py, s…", "",
		},
		{"hostile", 30, 1, draw(StatusWarning, "a\nb\x1b]0;c\x07"), " ! a b\uFFFD]0;c\uFFFD         14:01:53", ""},
		{"busy", 40, 1, draw(StatusBusy, "collecting"), " … collecting                  14:01:53", " ~ collecting                  14:01:53"},
		{"remark", 20, 1, draw(StatusInfo, "recording"), " ◇ recording", " i recording"},
	})
}

func TestSourceMarksDiffer(t *testing.T) {
	seen := map[rune]SourceState{}
	for state := SourceLive; state <= SourceRefused; state++ {
		mark, _ := SourceMark(unicode, state)
		if other, taken := seen[mark]; taken {
			t.Errorf("states %d and %d have the mark %q", state, other, mark)
		}
		seen[mark] = state
	}
}

func TestTabs(t *testing.T) {
	names := []string{"Overview", "Devices", "Arena", "Scopes", "Timeline", "Pool", "Events"}
	draw := func(r grid.Region) { Tabs(r, names, 3) }
	checkPictures(t, []picture{
		{"all names", 90, 1, draw, " 1 Overview  2 Devices  3 Arena [4 Scopes] 5 Timeline  6 Pool  7 Events", ""},
		{"numbers", 40, 1, draw, " 1  2  3 [4 Scopes] 5  6  7", ""},
		{"some", 20, 1, draw, " 1  2  3 [4 Scopes]", ""},
		{"none", 2, 1, draw, "", ""},
	})
	for x, want := range map[int]int{0: 0, 8: 2, 9: 3, 18: 3, 19: 4, 27: 6, 28: -1, 39: -1} {
		if got := TabAt(names, 3, 40, x); got != want {
			t.Errorf("column %d is tab %d, want %d", x, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"reclaim gave back less", 12, "reclaim gave|back less"},
		{"reclaim gave back less", 7, "reclaim|gave|back|less"},
		{"reclaim", 3, "rec|lai|m"},
		{"a  b", 10, "a  b"},
		{"a\n\nb", 10, "a||b"},
		{"漢字漢字", 5, "漢字|漢字"},
		{"漢字", 1, "漢|字"},
		{"   indented text", 9, "   indent|ed text"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"text", 0, ""},
		{"text", -1, ""},
	} {
		var lines []string
		for w := Wrap(c.text, c.width); ; {
			line, ok := w.Next()
			if !ok {
				break
			}
			lines = append(lines, line)
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%q in %d columns: %s, want %s", c.text, c.width, got, c.want)
		}
		if got := WrapHeight(c.text, c.width); got != len(lines) {
			t.Errorf("%q in %d columns: height %d, want %d", c.text, c.width, got, len(lines))
		}
	}
}

// Wrapping ends, loses nothing but blanks, and every line fits unless one
// character does not.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab  \n漢é\u0301-👍\x1b"))).Draw(t, "text")
		width := rapid.IntRange(2, 12).Draw(t, "width")
		joined := ""
		for w := Wrap(text, width); ; {
			line, ok := w.Next()
			if !ok {
				break
			}
			if grid.Width(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
			joined += line
		}
		without := strings.NewReplacer(" ", "", "\n", "")
		if got, want := without.Replace(joined), without.Replace(text); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

func TestParagraph(t *testing.T) {
	checkPictures(t, []picture{
		{
			"all of it", 12, 4, func(r grid.Region) {
				if rows := Paragraph(r, 0, "no NVML: the driver is not loaded"); rows != 3 {
					t.Errorf("%d rows, want 3", rows)
				}
			}, "\nno NVML: the\ndriver is\nnot loaded", "",
		},
		{
			"more than fits", 12, 2, func(r grid.Region) { Paragraph(r, 0, "no NVML: the driver is not loaded") },
			"\nno NVML: the\ndriver is…", "",
		},
	})
}
