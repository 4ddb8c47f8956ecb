package grid

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// unreadable stands for what cannot or must not be shown.
const unreadable = utf8.RuneError

// maxClusterBytes bounds one character: a base with a few marks. Longer ones
// keep their base alone.
const maxClusterBytes = 32

// Sanitize is text as a grid draws it, for the places that are not cells: the
// window's title, the clipboard, a log. Text that is clean comes back as it
// is. The rules:
//
//   - tabs, newlines and other white space become a blank each
//   - other control characters (also those of 8 bits, and DEL) and bytes that
//     are not UTF-8 become U+FFFD each
//   - characters that change the direction of text (the overrides, embeddings,
//     isolates and marks of Unicode's bidirectional algorithm) become U+FFFD:
//     they could make a name look like another
//   - characters of no width (joiners, variation selectors, skin tones, tags,
//     soft hyphens) vanish; of a sequence of pictures that they join, the
//     first remains
//   - a character of several runes stays whole only if terminals that count
//     runes and terminals that count characters agree on its width; otherwise
//     its first rune remains, or U+FFFD
func Sanitize(text string) string {
	if isPlainASCII(text) {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		next := scan(text)
		text = text[next.size:]
		switch {
		case next.width == 0:
		case next.text != "":
			out.WriteString(next.text)
		default:
			out.WriteRune(next.char)
		}
	}
	return out.String()
}

// Width is how many columns a text takes once it is drawn.
func Width(text string) int {
	if isPlainASCII(text) {
		return len(text)
	}
	columns := 0
	for len(text) > 0 {
		next := scan(text)
		text = text[next.size:]
		columns += next.width
	}
	return columns
}

// isPlainASCII reports whether every byte is a printable character of ASCII.
func isPlainASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i]-' ' >= 0x5f {
			return false
		}
	}
	return true
}

// scanned is the first thing to draw of a text.
type scanned struct {
	char  rune   // what to draw, where text is ""
	text  string // a character of several runes
	width int    // in columns: 0 draws nothing
	size  int    // bytes of the input that it stands for
}

// scan finds the first character of a text that is not empty and cleans it.
func scan(text string) scanned {
	first := text[0]
	if first < utf8.RuneSelf {
		switch {
		case first-' ' < 0x5f:
			if len(text) == 1 || text[1] < utf8.RuneSelf || !mayExtend(text[1:]) {
				return scanned{char: rune(first), width: 1, size: 1}
			}
			return scanCluster(text)
		case first >= '\t' && first <= '\r':
			return scanned{char: ' ', width: 1, size: 1}
		default:
			return scanned{char: unreadable, width: 1, size: 1}
		}
	}
	char, size := utf8.DecodeRuneInString(text)
	if width := simpleWidth(char); width > 0 && !mayExtend(text[size:]) {
		return scanned{char: char, width: width, size: size}
	}
	switch {
	case char == utf8.RuneError && size == 1, isDirectional(char), char < 0xa0, char >= 0xfdd0 && char <= 0xfdef, char&0xfffe == 0xfffe:
		return scanned{char: unreadable, width: 1, size: size}
	case char == '\u2028' || char == '\u2029':
		return scanned{char: ' ', width: 1, size: size}
	case isDropped(char):
		return scanned{size: size}
	}
	return scanCluster(text)
}

// mayExtend reports whether the rest of a text may begin with a mark that
// belongs to the character before it.
func mayExtend(rest string) bool {
	if rest == "" || rest[0] < utf8.RuneSelf {
		return false
	}
	char, _ := utf8.DecodeRuneInString(rest)
	return simpleWidth(char) == 0
}

// scanCluster takes a whole character of the text and keeps as much of it as
// every terminal counts alike.
func scanCluster(text string) scanned {
	cluster, _ := ansi.FirstGraphemeCluster(text[:min(len(text), 4*maxClusterBytes)], ansi.GraphemeWidth)
	base, baseSize := utf8.DecodeRuneInString(cluster)
	if base == utf8.RuneError && baseSize == 1 {
		return scanned{char: unreadable, width: 1, size: 1}
	}
	kept, size := keptPrefix(cluster)
	if len(kept) > maxClusterBytes {
		kept = kept[:baseSize]
	}
	if len(kept) > baseSize {
		if width := agreedWidth(kept); width > 0 && !joinsNeighbours(base) {
			return scanned{text: kept, width: width, size: size}
		}
	}
	if width := agreedWidth(cluster[:baseSize]); width > 0 && !joinsNeighbours(base) {
		return scanned{char: base, width: width, size: size}
	}
	return scanned{char: unreadable, width: 1, size: size}
}

// keptPrefix is a cluster up to the first rune that is dropped, and how many
// bytes it stands for: what follows a dropped rune goes with it, what is
// unreadable is looked at next.
func keptPrefix(cluster string) (kept string, size int) {
	for i, char := range cluster {
		switch {
		case i == 0:
		case char == utf8.RuneError || isDirectional(char):
			return cluster[:i], i
		case isDropped(char):
			return cluster[:i], len(cluster)
		}
	}
	return cluster, len(cluster)
}

// agreedWidth is the width of a character where the two ways of counting that
// Bubble Tea's renderer and terminals have give the same, 1 or 2; otherwise 0.
func agreedWidth(cluster string) int {
	width := ansi.StringWidth(cluster)
	if width < 1 || width > 2 || ansi.StringWidthWc(cluster) != width {
		return 0
	}
	return width
}

// joinsNeighbours reports whether a rune would become one character with what
// stands in the cell before or after it: spacing marks, signs that enclose a
// number, the letters of Hangul and Kirat Rai that make up a syllable.
func joinsNeighbours(char rune) bool {
	if simpleWidth(char) > 0 {
		return false
	}
	if char >= 0x1100 && char <= 0x11ff || char >= 0xa960 && char <= 0xa97f || char >= 0xd7b0 && char <= 0xd7ff ||
		char >= 0x16d63 && char <= 0x16d6a {
		return true
	}
	var buffer [2 + utf8.UTFMax]byte
	between := append(utf8.AppendRune(append(buffer[:0], 'a'), char), 'a')
	before, _ := ansi.FirstGraphemeCluster(between, ansi.GraphemeWidth)
	after, _ := ansi.FirstGraphemeCluster(between[1:], ansi.GraphemeWidth)
	return len(before) > 1 || len(after) > len(between)-2
}

// isDropped reports whether a rune has no width of its own and changes how
// others look: soft hyphen, joiners, word joiner, variation selectors, skin
// tones, tags, fillers.
func isDropped(char rune) bool {
	switch {
	case char == 0xad, char == 0x034f, char == 0x115f, char == 0x1160, char == 0x17b4, char == 0x17b5,
		char >= 0x180b && char <= 0x180f, char >= 0x200b && char <= 0x200d, char >= 0x2060 && char <= 0x2064,
		char >= 0x206a && char <= 0x206f, char == 0x20e3, char == 0x3164, char >= 0xfe00 && char <= 0xfe0f,
		char == 0xfeff, char == 0xffa0, char >= 0xfff0 && char <= 0xfffb,
		char >= 0x1f3fb && char <= 0x1f3ff, char >= 0xe0000 && char <= 0xe0fff:
		return true
	}
	return false
}

// isDirectional reports whether a rune changes the direction of text.
func isDirectional(char rune) bool {
	return char == 0x061c || char == 0x200e || char == 0x200f ||
		char >= 0x202a && char <= 0x202e || char >= 0x2066 && char <= 0x2069
}

// simpleWidth is the width of a rune of the ranges in which every rune is one
// character by itself with a width that all terminals agree on; 0 of any
// other. A test compares the ranges with the libraries that Bubble Tea counts
// with.
func simpleWidth(char rune) int {
	switch {
	case char < 0x7f:
		if char >= 0x20 {
			return 1
		}
	case char < 0x2000:
		if char >= 0xa1 && char <= 0x2ff && char != 0xad || char >= 0x391 && char <= 0x3a1 || char >= 0x3a3 && char <= 0x3ff ||
			char >= 0x400 && char <= 0x482 || char >= 0x48a && char <= 0x52f {
			return 1
		}
	case char < 0x3000:
		if char >= 0x2010 && char <= 0x2027 || char >= 0x2030 && char <= 0x205e || char >= 0x2190 && char <= 0x2319 ||
			char >= 0x2500 && char <= 0x25fc || char >= 0x2701 && char <= 0x2704 || char >= 0x2713 && char <= 0x2727 ||
			char >= 0x27c0 && char <= 0x2b1a {
			return 1
		}
	case char >= 0x3041 && char <= 0x3096, char >= 0x30a1 && char <= 0x30fa, char >= 0x4e00 && char <= 0x9fff,
		char >= 0xac00 && char <= 0xd7a3, char >= 0xff01 && char <= 0xff5e:
		return 2
	}
	return 0
}
