package algan

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// strings reads a string, and those that follow it: as in Python they are one.
func (p *parser) strings() (value, error) {
	begin, from := p.at, len(p.texts)
	for {
		if err := p.string(); err != nil {
			return value{}, err
		}
		p.skip(p.depth > 0)
		if p.dialect != python || !p.atString() {
			break
		}
	}
	return p.add(node{kind: kindText, n: int64(from), length: uint32(len(p.texts) - from), at: uint32(begin)}), nil
}

// atString says whether a string stands at the place, with a prefix or without.
func (p *parser) atString() bool {
	if isQuote(p.peek()) {
		return true
	}
	name := p.name()
	return name != "" && len(name) <= 2 && isQuote(p.byteAt(p.at+len(name)))
}

// string reads one string and appends what it stands for to the texts.
func (p *parser) string() error {
	begin := p.at
	raw := false
	switch prefix := p.name(); prefix {
	case "":
	case "r", "R":
		raw = true
		p.at++
	case "u", "U":
		p.at++
	default:
		return p.refused(begin, "a string with the prefix "+quoted(prefix))
	}
	quote := p.source[p.at : p.at+1]
	if p.dialect == jsonText && quote[0] != '"' {
		return p.malformed(begin, "a string is in single quotes")
	}
	if triple := bytes.Repeat(quote, 3); p.dialect == python && bytes.HasPrefix(p.source[p.at:], triple) {
		quote = triple
	}
	p.at += len(quote)
	for {
		plain := p.plain(quote)
		p.texts = appended(p.account, p.texts, p.source[p.at:p.at+plain]...)
		p.at += plain
		switch {
		case p.at == len(p.source), p.peek() == '\n' && len(quote) == 1:
			return p.malformed(begin, "a string is not closed")
		case bytes.HasPrefix(p.source[p.at:], quote):
			p.at += len(quote)
			return nil
		case p.peek() == 0:
			return p.malformed(p.at, "a string holds a zero byte")
		case p.peek() != '\\':
			p.texts = appended(p.account, p.texts, p.peek())
			p.at++
		case raw:
			p.texts = appended(p.account, p.texts, p.source[p.at:min(p.at+2, len(p.source))]...)
			p.at = min(p.at+2, len(p.source))
		default:
			if err := p.escape(); err != nil {
				return err
			}
		}
	}
}

// plain is how many bytes at the place stand for themselves.
func (p *parser) plain(quote []byte) (length int) {
	rest := p.source[p.at:]
	for length < len(rest) {
		switch c := rest[length]; {
		case c == quote[0], c == '\\', c == 0, c == '\n' && len(quote) == 1:
			return length
		}
		length++
	}
	return length
}

// simpleEscapes are the letters behind a backslash that stand for one byte.
var simpleEscapes = map[byte]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
}

// escape reads what begins with a backslash. One that means nothing stands for
// itself, as in Python.
func (p *parser) escape() error {
	begin := p.at
	c := p.peekNext()
	if p.at+1 >= len(p.source) {
		p.at++
		return nil // the string is not closed, and its reader says so
	}
	p.at += 2
	if simple, ok := simpleEscapes[c]; ok {
		p.texts = appended(p.account, p.texts, simple)
		return nil
	}
	switch {
	case c == '\n':
	case p.dialect == jsonText && c == '/':
		p.texts = appended(p.account, p.texts, '/')
	case c == 'x' && p.dialect == python:
		return p.codePoint(begin, 2)
	case c == 'u':
		return p.codePoint(begin, 4)
	case c == 'U' && p.dialect == python:
		return p.codePoint(begin, 8)
	case c == 'N':
		return p.refused(begin, "a character by its name")
	case c >= '0' && c <= '7':
		value := rune(c - '0')
		for digits := 1; digits < 3 && p.peek() >= '0' && p.peek() <= '7'; digits++ {
			value = value*8 + rune(p.peek()-'0')
			p.at++
		}
		p.addRune(value)
	default:
		p.texts = appended(p.account, p.texts, '\\', c)
	}
	return nil
}

// codePoint reads a character by its number in so many hexadecimal digits.
func (p *parser) codePoint(begin, digits int) error {
	number, ok := p.hexadecimal(digits)
	if !ok {
		return p.malformed(begin, fmt.Sprintf("an escape in a string has fewer than %d hexadecimal digits", digits))
	}
	if number > utf8.MaxRune {
		return p.malformed(begin, "an escape in a string is no character")
	}
	r := rune(number)
	if utf16.IsSurrogate(r) && bytes.HasPrefix(p.source[p.at:], []byte(`\u`)) {
		at := p.at
		p.at += 2
		low, _ := p.hexadecimal(4)
		if joined := utf16.DecodeRune(r, rune(low)); joined != utf8.RuneError {
			r = joined
		} else {
			p.at = at
		}
	}
	p.addRune(r)
	return nil
}

func (p *parser) hexadecimal(digits int) (uint64, bool) {
	if p.at+digits > len(p.source) {
		return 0, false
	}
	number, err := strconv.ParseUint(string(p.source[p.at:p.at+digits]), 16, 64)
	if err != nil {
		return 0, false
	}
	p.at += digits
	return number, true
}

// addRune appends a character; half a surrogate pair is no text.
func (p *parser) addRune(r rune) {
	p.account.take(utf8.UTFMax)
	p.texts = utf8.AppendRune(p.texts, r)
}
