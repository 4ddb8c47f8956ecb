package grid

import (
	"unicode/utf8"

	"vramscope/themes"
)

// Align is where text stands in a space wider than it is.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
	Center
)

// maxScan bounds how many bytes of a text are looked at for each column that
// it may take, so that a hostile name of a megabyte costs no more than a
// name. What lies beyond is cut.
const maxScan = 64

// Text draws text from x on to the right end of the region and returns the
// columns that it took. The text may be anything, see Sanitize.
func (r Region) Text(x, y int, style Style, text string) int {
	return r.TextIn(x, y, r.area.W-x, style, text)
}

// TextIn draws text in at most width columns and returns those that it took.
// A wide character that would be cut in half is left out.
func (r Region) TextIn(x, y, width int, style Style, text string) int {
	if width <= 0 {
		return 0
	}
	text = bounded(text, width)
	used := r.ascii(x, y, width, style, text)
	text = text[used:]
	for len(text) > 0 && used < width {
		next := scan(text)
		text = text[next.size:]
		if used+next.width > width {
			break
		}
		r.draw(x+used, y, style, next)
		used += next.width
	}
	return used
}

// ascii draws the printable ASCII that a text begins with, which most text is
// made of, and returns how many characters that was. A last one that a mark
// may follow is left to the caller.
func (r *Region) ascii(x, y, width int, style Style, text string) int {
	n := 0
	for n < len(text) && n < width && text[n]-' ' < 0x5f {
		n++
	}
	if n > 0 && n < len(text) && text[n] >= utf8.RuneSelf {
		n--
	}
	y += r.area.Y
	if y < r.clip.Y || y >= r.clip.Y+r.clip.H {
		return n
	}
	if r.forced {
		style = r.style
	}
	x += r.area.X
	from, to := max(0, r.clip.X-x), min(n, r.clip.X+r.clip.W-x)
	if from >= to {
		return n
	}
	g := r.grid
	line := g.cells[y*g.width+x+from : y*g.width+x+to]
	for i := range line {
		if line[i].kind != narrow {
			g.unpair(y*g.width+x+from+i, x+from+i)
		}
		line[i] = cell{char: rune(text[from+i]), style: style}
	}
	return n
}

// bounded cuts what can't be reached in width columns.
func bounded(text string, width int) string {
	if limit := (width + 1) * maxScan; len(text) > limit {
		return text[:limit]
	}
	return text
}

// draw puts one scanned character at a place of the region.
func (r *Region) draw(x, y int, style Style, next scanned) {
	switch {
	case next.width == 0:
	case next.width == 1 && next.text == "" && next.char < utf8.RuneSelf:
		r.Set(x, y, next.char, style)
	default:
		r.drawAny(x, y, style, next)
	}
}

// drawAny puts a character that is not ASCII.
func (r *Region) drawAny(x, y int, style Style, next scanned) {
	gx, gy := x+r.area.X, y+r.area.Y
	first := r.clip.Contains(gx, gy)
	second := next.width == 1 || r.clip.Contains(gx+1, gy)
	if r.forced {
		style = r.style
	}
	g := r.grid
	switch {
	case first && second && g.glyphs.Unicode:
		char := next.char
		if next.text != "" {
			id, ok := g.cluster(next.text)
			if !ok {
				g.put(gx, gy, unreadable, style, narrow)
				if next.width == 2 {
					g.put(gx+1, gy, ' ', style, narrow)
				}
				return
			}
			char = id
		}
		if next.width == 2 {
			g.putWide(gx, gy, char, style)
		} else {
			g.put(gx, gy, char, style, narrow)
		}
	case g.glyphs.Unicode:
		// Half of it is outside: a blank keeps the columns right.
		r.Set(x, y, ' ', style)
		if next.width == 2 {
			r.Set(x+1, y, ' ', style)
		}
	default:
		char := next.char
		if next.text != "" {
			char, _ = utf8.DecodeRuneInString(next.text)
		}
		r.Set(x, y, asciiFor(char), style)
		if next.width == 2 {
			r.Set(x+1, y, ' ', style)
		}
	}
}

// Fit draws text in exactly width columns: aligned, filled with blanks, and
// where it is too long cut with an ellipsis at its end.
func (r Region) Fit(x, y, width int, style Style, text string, align Align) {
	if width <= 0 {
		return
	}
	columns := Width(bounded(text, width))
	if columns > width {
		used := r.TextIn(x, y, width-1, style, text)
		r.Set(x+used, y, r.grid.glyphs.Ellipsis, style)
		r.blanks(x+used+1, y, width-used-1, style)
		return
	}
	before := 0
	switch align {
	case Right:
		before = width - columns
	case Center:
		before = (width - columns) / 2
	}
	r.blanks(x, y, before, style)
	used := before + r.TextIn(x+before, y, width-before, style, text)
	r.blanks(x+used, y, width-used, style)
}

// FitMiddle draws text in exactly width columns; where it is too long, its
// middle is cut: names of files and functions differ at their ends.
func (r Region) FitMiddle(x, y, width int, style Style, text string) {
	if columns := Width(bounded(text, max(width, 0))); columns <= width || width < 5 {
		r.Fit(x, y, width, style, text, Left)
		return
	}
	head := (width - 1) / 2
	used := r.TextIn(x, y, head, style, text)
	r.Set(x+used, y, r.grid.glyphs.Ellipsis, style)
	used++
	used += r.TextIn(x+used, y, width-used, style, suffix(text, width-used))
	r.blanks(x+used, y, width-used, style)
}

// suffix is the end of a text that takes at most width columns.
func suffix(text string, width int) string {
	if limit := (width + 1) * maxScan; len(text) > limit {
		text = text[len(text)-limit:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	for columns := Width(text); columns > width && len(text) > 0; {
		next := scan(text)
		text = text[next.size:]
		columns -= next.width
	}
	return text
}

// Bytes draws text that the program has formatted itself, such as a number,
// from x on to the right end of the region, and returns the columns it took.
func (r Region) Bytes(x, y int, style Style, text []byte) int {
	used := 0
	for len(text) > 0 && x+used < r.area.W {
		char, size := rune(text[0]), 1
		if char >= utf8.RuneSelf {
			char, size = utf8.DecodeRune(text)
		}
		text = text[size:]
		r.Set(x+used, y, char, style)
		used++
	}
	return used
}

// blanks draws n blanks.
func (r *Region) blanks(x, y, n int, style Style) {
	for n > 0 {
		drawn := r.ascii(x, y, n, style, "                                ")
		x, n = x+drawn, n-drawn
	}
}

// Highlight draws the columns from x on, up to width, in the style of a match
// of a filter, and keeps their characters.
func (r Region) Highlight(x, y, width int) {
	for i := range width {
		r.Restyle(x+i, y, Of(themes.Match))
	}
}

// asciiFor is what stands for a rune where only ASCII can be shown.
func asciiFor(char rune) rune {
	switch {
	case char >= ' ' && char <= '~':
		return char
	case char >= 0x2010 && char <= 0x2015, char == 0x2212, char >= 0x2500 && char <= 0x2501:
		return '-'
	}
	switch char {
	case 0xa0:
		return ' '
	case '×':
		return 'x'
	case '·', '•':
		return '.'
	case '…':
		return '~'
	case '→', '›', '▸':
		return '>'
	case '←', '‹':
		return '<'
	case '↑', '▴':
		return '^'
	case '↓', '▾':
		return 'v'
	case '≥':
		return '>'
	case '≤':
		return '<'
	case 'µ', 'μ':
		return 'u'
	case '‘', '’':
		return '\''
	case '“', '”':
		return '"'
	case '│':
		return '|'
	}
	return '?'
}

// Prefix is the beginning of a text that takes at most width columns.
func Prefix(text string, width int) string {
	rest, used := text, 0
	for len(rest) > 0 {
		next := scan(rest)
		if used+next.width > width {
			break
		}
		used += next.width
		rest = rest[next.size:]
	}
	return text[:len(text)-len(rest)]
}
