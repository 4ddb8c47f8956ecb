package widget

import (
	"strings"

	"vramscope/ui/grid"
)

// Wrapper cuts a text into lines, see Wrap.
type Wrapper struct {
	text  string
	width int
}

// Wrap cuts a text into lines of at most width columns, between words where it
// can. Newlines begin a line of their own. A width under 1 gives no lines.
func Wrap(text string, width int) Wrapper {
	if width < 1 {
		text = ""
	}
	return Wrapper{text, width}
}

// Next is the next line without the blanks around it; false after the last.
func (w *Wrapper) Next() (string, bool) {
	if w.text == "" {
		return "", false
	}
	paragraph, rest, more := strings.Cut(w.text, "\n")
	line := head(paragraph, w.width)
	switch {
	case len(line) < len(paragraph):
		w.text = strings.TrimLeft(w.text[len(line):], " ")
	case more:
		w.text = rest
	default:
		w.text = ""
	}
	return strings.TrimRight(line, " "), true
}

// head is as much of a paragraph as fits into width columns: up to the end of
// a word if one ends there, otherwise up to the last character that fits, but
// at least one.
func head(paragraph string, width int) string {
	fits := grid.Prefix(paragraph, width)
	if fits == "" {
		fits = grid.Prefix(paragraph, 2)
	}
	if fits == "" || len(fits) == len(paragraph) {
		return paragraph
	}
	if paragraph[len(fits)] == ' ' {
		return fits
	}
	if blank := strings.LastIndexByte(fits, ' '); blank > 0 && strings.TrimLeft(fits[:blank], " ") != "" {
		return fits[:blank]
	}
	return fits
}

// WrapHeight is how many lines a text takes in width columns.
func WrapHeight(text string, width int) int {
	lines := 0
	for w := Wrap(text, width); ; lines++ {
		if _, ok := w.Next(); !ok {
			return lines
		}
	}
}

// Paragraph draws a text, wrapped, into a region and returns how many rows it
// took. What does not fit is left out; the last row then ends in an ellipsis.
func Paragraph(r grid.Region, style grid.Style, text string) int {
	w := Wrap(text, r.Width())
	for y := range r.Height() {
		line, ok := w.Next()
		if !ok {
			return y
		}
		used := r.Text(0, y, style, line)
		if y == r.Height()-1 && w.text != "" {
			r.Set(min(used, r.Width()-1), y, r.Glyphs().Ellipsis, style)
		}
	}
	return r.Height()
}
