package torchsnap

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScalar reads a number or a word and pushes it.
func (m *machine) jsonScalar() error {
	const longest = 64 // bytes of a number that anybody writes
	m.in.more(longest)
	text := m.in.window[:min(len(m.in.window), longest)]
	end := bytes.IndexFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '+' || r == '.')
	})
	if end < 0 {
		if len(text) < longest {
			return m.cut() // it may go on
		}
		return m.malformed("a number of more than 64 bytes")
	}
	v, ok := jsonScalarValue(string(text[:end]))
	if !ok {
		return m.malformed(fmt.Sprintf("%q where a value belongs", clip(string(text[:min(end+1, len(text))]))))
	}
	m.in.advance(end)
	m.push(v)
	return nil
}

// jsonScalarValue is the value of a number, or of one of the words that
// Python's json writes.
func jsonScalarValue(text string) (value, bool) {
	switch text {
	case "":
		return value{}, false
	case "null":
		return value{}, true
	case "true":
		return value{kind: kindTrue}, true
	case "false":
		return value{kind: kindFalse}, true
	case "NaN", "Infinity", "-Infinity":
	default:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return intValue(n), true
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return value{kindUint, n}, true
		}
		if c := text[len(text)-1]; c < '0' || c > '9' {
			return value{}, false
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return value{}, false
	}
	if whole := int64(f); math.Abs(f) < 1<<53 && float64(whole) == f {
		return intValue(whole), true
	}
	return value{kindFloat, math.Float64bits(f)}, true
}

// jsonText reads a string and pushes it.
func (m *machine) jsonText() error {
	if end := bytes.IndexByte(m.in.window[1:], '"'); end >= 0 && end <= keptText {
		text := m.in.window[1 : 1+end]
		if bytes.IndexByte(text, '\\') < 0 { // the usual case, without a copy
			number := m.intern(text)
			m.in.advance(end + 2)
			m.push(value{kindText, uint64(number)})
			return nil
		}
	}
	m.in.advance(1)
	kept, err := m.unescaped()
	if err != nil {
		return err
	}
	m.push(value{kindText, uint64(m.intern(kept))})
	return nil
}

// unescaped reads a string up to its closing quote, and returns as much of it
// as is kept.
func (m *machine) unescaped() ([]byte, error) {
	text := m.textScratch[:0]
	length := 0
	for {
		if len(m.in.window) < 16 && !m.in.more(16) && len(m.in.window) == 0 {
			return nil, m.cut()
		}
		c := m.in.window[0]
		if c == '"' {
			m.in.advance(1)
			break
		}
		piece := m.in.window[:1]
		if c == '\\' {
			var err error
			if piece, err = m.escape(); err != nil {
				return nil, err
			}
		} else {
			m.in.advance(1)
		}
		if length += len(piece); length > maximumText {
			return nil, m.malformed(fmt.Sprintf("a string of more than %d bytes", maximumText))
		}
		if len(text)+len(piece) <= keptText {
			text = append(text, piece...)
		}
	}
	if length > keptText {
		m.shortened++
	}
	m.textScratch = text
	return text, nil
}

// escape reads a backslash and what it stands for.
func (m *machine) escape() ([]byte, error) {
	const plain, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	w := m.in.window
	if len(w) < 2 {
		return nil, m.cut()
	}
	if at := bytes.IndexByte([]byte(plain), w[1]); at >= 0 {
		m.in.advance(2)
		return []byte(meant)[at : at+1], nil
	}
	r, ok := hexEscape(w)
	if !ok {
		if len(w) < 6 {
			return nil, m.cut()
		}
		return nil, m.malformed("an escape that JSON does not have")
	}
	m.in.advance(6)
	if utf16.IsSurrogate(r) {
		low, ok := hexEscape(m.in.window)
		if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
			m.in.advance(6)
		}
	}
	return utf8.AppendRune(nil, r), nil
}

// hexEscape reads a \u and four digits.
func hexEscape(w []byte) (rune, bool) {
	if len(w) < 6 || w[0] != '\\' || w[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(w[2:6]), 16, 16)
	return rune(n), err == nil
}
