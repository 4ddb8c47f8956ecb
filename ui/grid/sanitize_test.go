package grid

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestSanitize(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"plain", "wavefront_state", "wavefront_state"},
		{"accents", "Müller größe", "Müller größe"},
		{"decomposed accent", "e\u0301t", "e\u0301t"},
		{"wide", "渲染 한국어", "渲染 한국어"},
		{"decomposed hangul", "\u1112\u1161\u11ab", "\uFFFD"},
		{"conjunct", "\u0915\u094d\u0937\u093f", "\u0915"},
		{"colour", "a\x1b[31mb", "a\uFFFD[31mb"},
		{"title", "\x1b]0;owned\x07", "\uFFFD]0;owned\uFFFD"},
		{"8-bit CSI", "a\u009b31m", "a\uFFFD31m"},
		{"raw 8-bit CSI", "a\x9b31m", "a\uFFFD31m"},
		{"newline, tab, return", "a\nb\tc\rd", "a b c d"},
		{"line separators", "a\u2028b\u2029c", "a b c"},
		{"delete", "a\x7fb", "a\uFFFDb"},
		{"override", "abc\u202etxt.exe", "abc\uFFFDtxt.exe"},
		{"isolates", "\u2066a\u2069", "\uFFFDa\uFFFD"},
		{"left-to-right mark", "a\u200eb", "a\uFFFDb"},
		{"invalid", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"overlong", "\xc0\x80", "\uFFFD\uFFFD"},
		{"surrogate", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"noncharacter", "\ufffe\U0001ffff", "\uFFFD\uFFFD"},
		{"joiner", "a\u200db\u200bc\ufeffd\u00ade", "abcde"},
		{"family", "👨\u200d👩\u200d👧 x", "👨 x"},
		{"skin tone", "👍🏽!", "👍!"},
		{"variation", "❤\ufe0f\ufe0e", "❤"},
		{"keycap", "1\ufe0f\u20e3", "1"},
		{"tags", "🏴\U000e0067\U000e0062\U000e007f", "🏴"},
		{"flag", "🇩🇪", "🇩🇪"},
		{"half a flag", "🇩", "\uFFFD"},
		{"mark alone", "\u0301a", "\uFFFDa"},
		{"half a syllable", "\u1112", "\uFFFD"},
		{"many marks", "a" + strings.Repeat("\u0301", 40) + "b", "ab"},
	} {
		if got := Sanitize(c.text); got != c.want {
			t.Errorf("%s: Sanitize(%q) = %q, want %q", c.what, c.text, got, c.want)
		}
	}
}

func TestSanitizeLeavesWhatIsClean(t *testing.T) {
	for _, text := range []string{"", "plain", "Müller", "渲染", "e\u0301"} {
		if got := Sanitize(text); got != text {
			t.Errorf("Sanitize(%q) = %q", text, got)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() { Sanitize("plain text") }); allocs != 0 {
		t.Errorf("%v allocations for plain text", allocs)
	}
}

// The short cut for common scripts agrees with what Bubble Tea counts, for
// every rune, alone and between others of them.
func TestSimpleWidthAgreesWithTheRenderer(t *testing.T) {
	for char := rune(0x20); char <= utf8.MaxRune; char++ {
		width := simpleWidth(char)
		if width == 0 {
			continue
		}
		text := string(char)
		if got := ansi.StringWidth(text); got != width {
			t.Errorf("%U: %d columns by characters, %d here", char, got, width)
		}
		if got := ansi.StringWidthWc(text); got != width {
			t.Errorf("%U: %d columns by runes, %d here", char, got, width)
		}
		for _, before := range []string{"a", "é", "漢", "가", "│"} {
			if cluster, _ := ansi.FirstGraphemeCluster(before+text, ansi.GraphemeWidth); cluster != before {
				t.Errorf("%U joins %q", char, before)
			}
			if cluster, _ := ansi.FirstGraphemeCluster(text+before, ansi.GraphemeWidth); cluster != text {
				t.Errorf("%U joins %q after it", char, before)
			}
		}
		if isDropped(char) || isDirectional(char) {
			t.Errorf("%U is simple and dropped", char)
		}
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "👨\u200d👩\u200d👧": 2, "🇩🇪": 2, "\x1b": 1, "a\u200bb": 2,
	} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, seed := range hostileTexts {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := Sanitize(text)
		if !utf8.ValidString(clean) {
			t.Fatalf("Sanitize(%q) = %q is not UTF-8", text, clean)
		}
		for _, char := range clean {
			if char < ' ' || char >= 0x7f && char < 0xa0 || isDirectional(char) || isDropped(char) {
				t.Fatalf("Sanitize(%q) = %q holds %U", text, clean, char)
			}
		}
		if Width(clean) < 0 || utf8.RuneCountInString(clean) > len(text) {
			t.Fatalf("Sanitize(%q) = %q has grown", text, clean)
		}
	})
}

// hostileTexts are the seeds of the fuzz tests.
var hostileTexts = []string{
	"", "plain", "\x1b[31m\x1b]0;t\x07", "\x1bP+q544e\x1b\\", "\u009b2J", "\x9b2J", "a\u202eb\u2066c", "👨\u200d👩\u200d👧\u200d👦👍🏽",
	"🇩🇪🇩", "e\u0301\u0301\u0301", "\u0915\u094d\u0937\u093f", "\u1112\u1161\u11ab\u1112", "漢字\u3099か\u3099", "\xff\xfe\x00",
	"\u0600\u06dd1", "\u0e33\u0eb3", "\u200d\u200d", "\U000e0001\U000e0067", "a\u0300\xf0\x9f", "\u0d4e\u0915", "\u1100\uac00\u11a8",
}
