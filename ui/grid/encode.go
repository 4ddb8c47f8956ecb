package grid

import "unicode/utf8"

// Encode is the grid as one string: its lines joined by newlines, each
// exactly as wide as the grid, with the fewest colour sequences. Every line
// begins and ends with the terminal's default. A grid of no size is "".
//
// It contains text, newlines and sequences of the form ESC [ … m of Styles,
// and nothing else.
func (g *Grid) Encode() string {
	g.output = g.AppendEncoded(g.output[:0])
	return string(g.output)
}

// AppendEncoded appends what Encode returns to dst.
func (g *Grid) AppendEncoded(dst []byte) []byte {
	for y := range g.height {
		if y > 0 {
			dst = append(dst, '\n')
		}
		dst = g.appendLine(dst, g.cells[y*g.width:(y+1)*g.width])
	}
	return dst
}

// appendLine writes one line, changing the style only where that can be seen.
func (g *Grid) appendLine(dst []byte, line []cell) []byte {
	s := g.styles
	current := -1 // index of the style that is set; -1 is the terminal's default
	afterCluster := false
	for i := range line {
		c := &line[i]
		if c.kind == covered {
			continue
		}
		if style := c.style.index(); style != current {
			switch {
			case current < 0:
				if !s.plain[style] {
					dst = append(dst, s.full[style]...)
					current = style
				}
			case c.char == ' ' && s.group[style] == s.group[current] && !s.visible[style]:
				// A blank shows no foreground: leave what is set.
			case s.plain[style]:
				dst = append(dst, reset...)
				current = -1
			case s.group[style] == s.group[current]:
				dst = append(dst, s.foreground[style]...)
				current = style
			default:
				dst = append(dst, s.full[style]...)
				current = style
			}
		}
		switch {
		case c.char >= 0 && c.char < utf8.RuneSelf:
			dst = append(dst, byte(c.char))
			afterCluster = false
		case c.char >= 0:
			if afterCluster && c.char >= firstJoining {
				dst = g.separate(dst, current)
			}
			dst = utf8.AppendRune(dst, c.char)
			afterCluster = false
		default:
			if afterCluster {
				dst = g.separate(dst, current)
			}
			dst = append(dst, g.clusters[-c.char-1]...)
			afterCluster = true
		}
	}
	if current >= 0 {
		dst = append(dst, reset...)
	}
	return dst
}

// firstJoining is the first rune that may form one character with a cluster
// before it (the Indic conjuncts; marks alone never get into a cell).
const firstJoining = 0x0900

// separate repeats the current style between two characters that a terminal
// would join into one, which would shift the rest of the line.
func (g *Grid) separate(dst []byte, current int) []byte {
	if current < 0 {
		return append(dst, reset...)
	}
	return append(dst, g.styles.full[current]...)
}

// AppendPlain appends the grid as text without colours: for files, pipes and
// golden files. Blanks at the ends of lines are left out.
func (g *Grid) AppendPlain(dst []byte) []byte {
	for y := range g.height {
		if y > 0 {
			dst = append(dst, '\n')
		}
		line := g.cells[y*g.width : (y+1)*g.width]
		for len(line) > 0 && line[len(line)-1].char == ' ' {
			line = line[:len(line)-1]
		}
		for i := range line {
			switch c := &line[i]; {
			case c.kind == covered:
			case c.char >= 0:
				dst = utf8.AppendRune(dst, c.char)
			default:
				dst = append(dst, g.clusters[-c.char-1]...)
			}
		}
	}
	return dst
}

// Plain is what AppendPlain appends.
func (g *Grid) Plain() string { return string(g.AppendPlain(nil)) }
