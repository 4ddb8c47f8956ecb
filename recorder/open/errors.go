package open

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// DeclinedError says that a file was recognised and is not opened.
type DeclinedError struct {
	Path   string
	Format string // what it is, such as "a memray capture"
	Reason string // why it is not opened
	Advice string // what to do instead
}

// Error is one sentence: what it is, why it is not opened, what to do.
func (e *DeclinedError) Error() string {
	return fmt.Sprintf("%q is %s: %s; %s", e.Path, e.Format, e.Reason, e.Advice)
}

// UnknownError says that a file was not recognised.
type UnknownError struct {
	Path  string
	Text  bool   // it looks like text
	Begin string // how it begins, safe for a terminal
	Opens string // what can be opened, as a sentence goes on
}

// Error is one sentence that says what can be opened.
func (e *UnknownError) Error() string {
	kind := "binary data that begins with "
	if e.Text {
		kind = "text that begins with "
	}
	return fmt.Sprintf("%q is not recognised: %s%s; open %s", e.Path, kind, e.Begin, e.Opens)
}

// unknown describes content that no format matches.
func unknown(path string, c *content) *UnknownError {
	if c.text != "" {
		return &UnknownError{Path: path, Text: true, Begin: quoted(c.text), Opens: whatOpens()}
	}
	return &UnknownError{Path: path, Begin: fmt.Sprintf("% x", c.head[:min(len(c.head), 16)]), Opens: whatOpens()}
}

// quoted is the beginning of a text, without anything that a terminal obeys.
func quoted(text string) string {
	const runes = 40
	line, _, _ := strings.Cut(text, "\n")
	var short strings.Builder
	for i, r := range []rune(line[:min(len(line), 4*runes)]) {
		if i == runes {
			short.WriteRune('…')
			break
		}
		if !unicode.IsPrint(r) {
			r = '?'
		}
		short.WriteRune(r)
	}
	return strconv.Quote(short.String())
}
