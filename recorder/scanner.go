package recorder

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how deep the values of a line may nest, and lineMemory how many
// bytes of memory one line may take, whatever its length.
const (
	maxNesting = 32
	lineMemory = 16 << 20
)

// LineError says why a line is no record. Skip the line.
type LineError struct {
	Offset int    // where in the line, bytes from its start
	Reason string // what was expected, or what the value is not
}

// Error states the fact and ends with what to do.
func (e *LineError) Error() string {
	return fmt.Sprintf("byte %d of the line: %s; skip the line", e.Offset, e.Reason)
}

// scanner reads one line of JSON. The first thing that is wrong is kept in err,
// and everything after it reads as nothing, so that callers look once, at the
// end. It trusts no length: memory is charged before it is taken.
type scanner struct {
	data   []byte
	pos    int
	text   string // data as a string, once a value needs it
	memory int64  // bytes that the line may still take
	err    *LineError
	key    []byte  // the key that nextKey read
	names  *atoms  // where short strings that repeat from line to line are kept, or nil
	ints   []int64 // scratch of number columns
}

// begin makes the scanner read line.
func (s *scanner) begin(line []byte) {
	s.data, s.pos, s.text, s.memory, s.err = line, 0, "", lineMemory, nil
}

// fail keeps the first thing that is wrong.
func (s *scanner) fail(reason string) {
	if s.err == nil {
		s.err = &LineError{Offset: s.pos, Reason: reason}
	}
	// Whatever looks at the rest of the line finds nothing there.
	s.pos = len(s.data)
}

// charge takes n bytes off what the line may take.
func (s *scanner) charge(n int64) bool {
	s.memory -= n
	if s.memory < 0 {
		s.fail("the record would take more memory than a line may")
		return false
	}
	return true
}

// peek is the next byte that is no space, 0 at the end of the line.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take reads the byte c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		s.fail("expected " + strconv.QuoteRune(rune(c)))
		return false
	}
	s.pos++
	return true
}

// end says that the line must end here.
func (s *scanner) end() {
	if s.peek() != 0 || s.pos < len(s.data) {
		s.fail("something stands behind the record")
	}
}

// null reads the word null if it is what comes next.
func (s *scanner) null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.word("null")
	return true
}

func (s *scanner) word(word string) {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.fail("expected a value")
		return
	}
	s.pos += len(word)
}

// nextKey reads the next key of an object, whose brace has been read, into
// s.key. It is false at the object's end. first is true before the first key.
func (s *scanner) nextKey(first *bool) bool {
	switch c := s.peek(); {
	case c == '}':
		s.pos++
		return false
	case *first:
		*first = false
	case !s.take(','):
		return false
	}
	if !s.take('"') {
		return false
	}
	raw, plain := s.rawString()
	if s.err != nil {
		return false
	}
	if !plain {
		raw = s.unescape(raw)
	}
	s.key = raw
	if !s.take(':') {
		return false
	}
	s.peek()
	return s.err == nil
}

// nextElement says whether an array, whose bracket has been read, has another
// element, and moves to it.
func (s *scanner) nextElement(first *bool) bool {
	switch c := s.peek(); {
	case c == ']':
		s.pos++
		return false
	case c == 0:
		s.fail("the array does not end")
		return false
	case *first:
		*first = false
		return true
	case !s.take(','):
		return false
	}
	if s.peek() == ']' {
		s.fail("expected a value")
	}
	return s.err == nil
}

// rawString reads a string whose first quote has been read. plain says that it
// has no escapes and is valid UTF-8.
func (s *scanner) rawString() (raw []byte, plain bool) {
	start := s.pos
	plain = true
	ascii := true
	for i := start; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			raw = s.data[start:i]
			return raw, plain && (ascii || utf8.Valid(raw))
		case c == '\\':
			plain = false
			i++
		case c < 0x20:
			s.pos = i
			s.fail("a control byte stands in a string")
			return nil, true
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.fail("the string does not end")
	return nil, true
}

// unescape is a raw string without its escapes and with invalid bytes replaced.
func (s *scanner) unescape(raw []byte) []byte {
	if !s.charge(3 * int64(len(raw))) {
		return nil
	}
	text := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			text = append(text, raw[i])
			continue
		}
		i++
		if i == len(raw) {
			s.fail("the escape does not end")
			return nil
		}
		switch c := raw[i]; c {
		case '"', '\\', '/':
			text = append(text, c)
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			r, n := unicodeEscape(raw[i-1:])
			if n == 0 {
				s.fail("no such escape")
				return nil
			}
			text = utf8.AppendRune(text, r)
			i += n - 2
		default:
			s.fail("no such escape")
			return nil
		}
	}
	if !utf8.Valid(text) {
		text = []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	return text
}

// unicodeEscape reads \uXXXX, or two of them that are a surrogate pair, from
// the start of raw. n is the bytes it took, 0 if there is none.
func unicodeEscape(raw []byte) (r rune, n int) {
	r, ok := hexRune(raw)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(raw[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func hexRune(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	value := rune(0)
	for _, c := range raw[2:6] {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		value = value<<4 | rune(digit)
	}
	return value, true
}

func hexDigit(c byte) (uint64, bool) {
	switch {
	case '0' <= c && c <= '9':
		return uint64(c - '0'), true
	case 'a' <= c && c <= 'f':
		return uint64(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return uint64(c-'A') + 10, true
	}
	return 0, false
}

// string reads a string.
func (s *scanner) string() string {
	if !s.take('"') {
		return ""
	}
	start := s.pos
	raw, plain := s.rawString()
	switch {
	case s.err != nil || len(raw) == 0:
		return ""
	case !plain:
		return string(s.unescape(raw))
	case s.names != nil:
		if name, ok := s.names.get(raw); ok {
			return name
		}
	}
	// All strings of a line share one copy of it.
	if s.text == "" {
		s.text = string(s.data)
	}
	return s.text[start : start+len(raw)]
}

// integer reads an integer.
func (s *scanner) integer() int64 {
	negative := false
	if s.peek() == '-' {
		negative = true
		s.pos++
	}
	magnitude := s.digits()
	switch {
	case negative && magnitude <= 1<<63:
		return -int64(magnitude)
	case !negative && magnitude <= math.MaxInt64:
		return int64(magnitude)
	}
	s.fail("the number does not fit in 64 bits")
	return 0
}

// unsigned reads an integer that is not negative and not above limit.
func (s *scanner) unsigned(limit uint64) uint64 {
	s.peek()
	value := s.digits()
	if value > limit {
		s.fail("the number is too large here")
		return 0
	}
	return value
}

// digits reads the digits of an integer.
func (s *scanner) digits() uint64 {
	start := s.pos
	value := uint64(0)
	for ; s.pos < len(s.data); s.pos++ {
		digit := uint64(s.data[s.pos] - '0')
		if digit > 9 {
			break
		}
		if value > math.MaxUint64/10 || value*10 > math.MaxUint64-digit {
			s.fail("the number does not fit in 64 bits")
			return 0
		}
		value = value*10 + digit
	}
	switch n := s.pos - start; {
	case n == 0:
		s.fail("expected an integer")
		return 0
	case n > 1 && s.data[start] == '0':
		s.fail("a number begins with a zero")
		return 0
	}
	if s.pos < len(s.data) {
		if c := s.data[s.pos]; c == '.' || c == 'e' || c == 'E' {
			s.fail("expected an integer")
			return 0
		}
	}
	return value
}

// number reads any number. whole says that it is written as an integer and fits
// in 64 bits.
func (s *scanner) number() (integer int64, float float64, whole bool) {
	s.peek()
	start := s.pos
	whole = true
	for ; s.pos < len(s.data); s.pos++ {
		c := s.data[s.pos]
		if c == '.' || c == 'e' || c == 'E' {
			whole = false
		} else if (c < '0' || c > '9') && c != '-' && c != '+' {
			break
		}
	}
	raw := s.data[start:s.pos]
	if !validNumber(raw) {
		s.fail("expected a number")
		return 0, 0, false
	}
	text := string(raw)
	if whole {
		integer, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			return integer, float64(integer), true
		}
	}
	// What is out of range reads as an infinity.
	float, _ = strconv.ParseFloat(text, 64)
	return 0, float, false
}

// validNumber says whether raw is a number as JSON writes it.
func validNumber(raw []byte) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(raw) && '0' <= raw[i] && raw[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(raw) && raw[i] == '-' {
		i++
	}
	start := i
	if !digits() || i-start > 1 && raw[start] == '0' {
		return false
	}
	if i < len(raw) && raw[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(raw) && (raw[i] == 'e' || raw[i] == 'E') {
		i++
		if i < len(raw) && (raw[i] == '+' || raw[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(raw)
}

// boolean reads true or false.
func (s *scanner) boolean() bool {
	switch s.peek() {
	case 't':
		s.word("true")
		return s.err == nil
	case 'f':
		s.word("false")
		return false
	}
	s.fail("expected true or false")
	return false
}

// skip passes over a value of any kind.
func (s *scanner) skip() { s.skipNested(0) }

func (s *scanner) skipNested(depth int) {
	if depth > maxNesting {
		s.fail("the value nests too deep")
		return
	}
	switch s.peek() {
	case '{':
		s.pos++
		for first := true; s.nextKey(&first); {
			s.skipNested(depth + 1)
		}
	case '[':
		s.pos++
		for first := true; s.nextElement(&first); {
			s.skipNested(depth + 1)
		}
	case '"':
		s.pos++
		s.rawString()
	case 't', 'f':
		s.boolean()
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}
