package algan

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// dialect is which literals are read.
type dialect uint8

const (
	python dialect = iota
	jsonText
)

// maximumDepth is how deep literals may lie in one another; algan's come to 5.
const maximumDepth = 64

// parser reads the literals of a file. It executes nothing: what is no literal
// is refused.
type parser struct {
	literals
	dialect dialect
	at      int // in source, bytes
	depth   int // containers that are open
	account *account
}

func newParser(source []byte, dialect dialect, account *account) *parser {
	return &parser{literals: literals{source: source}, dialect: dialect, account: account}
}

// assignments reads a module: strings that stand alone, and names with what is
// assigned to them. As in Python the last assignment to a name counts.
func (p *parser) assignments() (map[string]value, []string, error) {
	assigned, order := map[string]value{}, []string(nil)
	for {
		p.skip(true)
		switch {
		case p.at == len(p.source):
			return assigned, order, nil
		case isQuote(p.peek()):
			if _, err := p.value(); err != nil {
				return nil, nil, err
			}
		default:
			name, begin := p.name(), p.at
			if name == "" {
				return nil, nil, p.unexpected("an assignment")
			}
			p.at += len(name)
			p.skip(false)
			if p.peek() != '=' || p.peekNext() == '=' {
				p.at = begin
				return nil, nil, p.refused(begin, p.nameText(name)+" that nothing is assigned to")
			}
			p.at++
			item, err := p.value()
			if err != nil {
				return nil, nil, err
			}
			if _, again := assigned[name]; !again {
				p.account.take(int64(64 + len(name)))
				order = append(order, name)
			}
			assigned[name] = item
		}
		if err := p.endOfLine(); err != nil {
			return nil, nil, err
		}
	}
}

// alone reads a text that is one literal and nothing else.
func (p *parser) alone() (value, error) {
	item, err := p.value()
	if err != nil {
		return value{}, err
	}
	p.skip(true)
	if p.at < len(p.source) {
		return value{}, p.unexpected("the end")
	}
	return item, nil
}

// endOfLine takes the end of a statement.
func (p *parser) endOfLine() error {
	p.skip(false)
	if p.at == len(p.source) || p.peek() == '\n' {
		return nil
	}
	return p.unexpected("the end of the line")
}

// value reads a literal.
func (p *parser) value() (value, error) {
	p.skip(p.depth > 0 || p.dialect == jsonText)
	switch c := p.peek(); {
	case c == '(' && p.dialect == python:
		return p.container(kindTuple, ')')
	case c == '[':
		return p.container(kindList, ']')
	case c == '{':
		return p.container(kindDict, '}')
	case isQuote(c):
		return p.strings()
	case isDigit(c), c == '.' && isDigit(p.peekNext()):
		return p.number(p.at, false)
	case c == '-', c == '+':
		begin := p.at
		p.at++
		p.skip(p.depth > 0)
		if next := p.peek(); !isDigit(next) && (next != '.' || !isDigit(p.peekNext())) {
			return value{}, p.refused(begin, fmt.Sprintf("the operator %q", c))
		}
		return p.number(begin, c == '-')
	}
	return p.word()
}

// word reads True, False or None.
func (p *parser) word() (value, error) {
	name := p.name()
	words := [...]string{"True", "False", "None"}
	if p.dialect == jsonText {
		words = [...]string{"true", "false", "null"}
	}
	switch name {
	case "":
		return value{}, p.unexpected("a literal")
	case words[0], words[1], words[2]:
		item := node{kind: kindBool, at: uint32(p.at)}
		switch name {
		case words[0]:
			item.n = 1
		case words[2]:
			item.kind = kindNone
		}
		p.at += len(name)
		return p.add(item), nil
	}
	if p.dialect == python && p.atString() {
		return p.strings()
	}
	return value{}, p.refused(p.at, p.nameText(name))
}

func (p *parser) add(n node) value {
	p.nodes = appended(p.account, p.nodes, n)
	return value{&p.literals, int32(len(p.nodes) - 1)}
}

// container reads a tuple, a list or a dictionary, or what stands in
// parentheses.
func (p *parser) container(kind kind, end byte) (value, error) {
	if p.depth++; p.depth > maximumDepth {
		return value{}, p.malformed(p.at, fmt.Sprintf("literals lie more than %d deep in one another", maximumDepth))
	}
	begin := p.at
	container := p.add(node{kind: kind, at: uint32(begin)})
	p.at++
	count, comma := uint32(0), false
	for {
		p.skip(true)
		if p.peek() == end && p.at < len(p.source) {
			break
		}
		if count > 0 && !comma {
			return value{}, p.unexpected(fmt.Sprintf("a comma or %q", end))
		}
		if p.at == len(p.source) {
			return value{}, p.malformed(begin, fmt.Sprintf("%q is not closed", p.source[begin]))
		}
		if err := p.item(kind); err != nil {
			return value{}, err
		}
		count++
		p.skip(true)
		if comma = p.peek() == ','; comma {
			p.at++
		}
	}
	p.at++
	p.depth--
	if kind == kindTuple && count == 1 && !comma { // parentheses around one literal
		p.nodes = append(p.nodes[:container.index], p.nodes[container.index+1:]...)
		p.shift(int(container.index))
		return container, nil
	}
	n := container.node()
	n.n, n.length = int64(len(p.nodes)), count
	return container, nil
}

// shift corrects the ends of the containers from a node on, which have moved
// forward by one.
func (p *parser) shift(from int) {
	for i := from; i < len(p.nodes); i++ {
		if p.nodes[i].kind >= kindTuple {
			p.nodes[i].n--
		}
	}
}

// item reads an item of a container; of a dictionary a key with its value.
func (p *parser) item(kind kind) error {
	if _, err := p.value(); err != nil || kind != kindDict {
		return err
	}
	p.skip(true)
	if p.peek() != ':' {
		if c := p.peek(); p.dialect == python && (c == ',' || c == '}') {
			return p.refused(p.at, "a set")
		}
		return p.unexpected("a colon")
	}
	p.at++
	_, err := p.value()
	return err
}

// number reads an integer or a float.
func (p *parser) number(begin int, negative bool) (value, error) {
	from := p.at
	for p.at < len(p.source) && isNumeric(p.source, from, p.at) {
		p.at++
	}
	text := string(p.source[from:min(p.at, from+maximumDigits+1)])
	if len(text) > maximumDigits {
		return value{}, p.malformed(begin, fmt.Sprintf("a number has more than %d digits", maximumDigits))
	}
	if c := p.peek(); isNameByte(c) || c == '.' {
		return value{}, p.malformed(p.at, "a number runs into "+quoted(string(p.source[p.at:min(len(p.source), p.at+8)])))
	}
	if len(text) > 1 && text[0] == '0' && isDigit(text[1]) && strings.Trim(text, "0_") != "" && !strings.ContainsAny(text, ".eE") {
		return value{}, p.malformed(begin, "an integer begins with a zero")
	}
	if negative {
		text = "-" + text
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return p.add(node{kind: kindInt, n: n, at: uint32(begin)}), nil
	} else if isRange(err) {
		return value{}, p.malformed(begin, "an integer does not fit into 64 bits")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return value{}, p.malformed(begin, quoted(text)+" is no number")
	}
	return p.add(node{kind: kindFloat, n: int64(math.Float64bits(f)), at: uint32(begin)}), nil
}

// maximumDigits is how long a number may be written.
const maximumDigits = 400

func isRange(err error) bool {
	failed, ok := err.(*strconv.NumError)
	return ok && failed.Err == strconv.ErrRange
}

// isNumeric says whether the byte at a place goes on with a number.
func isNumeric(source []byte, from, at int) bool {
	c := source[at]
	if isDigit(c) || c == '.' || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'f' || c|0x20 == 'x' || c|0x20 == 'o' {
		return true
	}
	isHex := at-from >= 2 && source[from] == '0' && source[from+1]|0x20 == 'x'
	return (c == '+' || c == '-') && at > from && source[at-1]|0x20 == 'e' && !isHex
}

// skip passes over blanks and comments, and over line ends where they mean
// nothing.
func (p *parser) skip(lines bool) {
	for p.at < len(p.source) {
		switch c := p.source[p.at]; {
		case c == ' ', c == '\t', c == '\r', c == '\f', c == '\n' && lines:
			p.at++
		case c == '#' && p.dialect == python:
			if end := bytes.IndexByte(p.source[p.at:], '\n'); end >= 0 {
				p.at += end
			} else {
				p.at = len(p.source)
			}
		default:
			return
		}
	}
}

// peek is the byte at the place, 0 at the end.
func (p *parser) peek() byte { return p.byteAt(p.at) }

func (p *parser) peekNext() byte { return p.byteAt(p.at + 1) }

func (p *parser) byteAt(at int) byte {
	if at < len(p.source) {
		return p.source[at]
	}
	return 0
}

// name is the name that stands at the place, "" where there is none.
func (p *parser) name() string {
	end := p.at
	for end < len(p.source) && end-p.at < 256 && isNameByte(p.source[end]) {
		end++
	}
	if p.at < end && isDigit(p.source[p.at]) {
		return ""
	}
	return string(p.source[p.at:end])
}

// nameText is a name in words, which may be that of something called.
func (p *parser) nameText(name string) string {
	at := p.at + len(name)
	for at < len(p.source) && p.source[at] == ' ' {
		at++
	}
	switch p.byteAt(at) {
	case '(':
		return "a call of " + quoted(name)
	case '.':
		return "an attribute of " + quoted(name)
	case '[':
		return "an item of " + quoted(name)
	}
	return "the name " + quoted(name)
}

// unexpected says what stands where something else was expected: an expression
// goes on, or the file is broken.
func (p *parser) unexpected(expected string) error {
	if p.at >= len(p.source) {
		return p.malformed(p.at, "it ends where "+expected+" is expected")
	}
	if name := p.name(); name != "" {
		return p.refused(p.at, p.nameText(name))
	}
	switch c := p.source[p.at]; {
	case c == '(':
		return p.refused(p.at, "a call")
	case c == '[':
		return p.refused(p.at, "a subscript")
	case bytes.IndexByte([]byte("+-*/%@&|^~<>=!.;\\"), c) >= 0:
		return p.refused(p.at, fmt.Sprintf("the operator %q", c))
	case c < ' ', c == 0x7f:
		return p.malformed(p.at, fmt.Sprintf("the byte 0x%02x stands where %s is expected", c, expected))
	}
	r, _ := utf8.DecodeRune(p.source[p.at:])
	return p.malformed(p.at, fmt.Sprintf("%s stands where %s is expected", quoted(string(r)), expected))
}

func (p *parser) refused(at int, what string) error {
	line, column := p.place(at)
	return &RefusedError{Line: line, Column: column, What: what}
}

func (l *literals) malformed(at int, what string) error {
	line, column := l.place(at)
	return &MalformedError{Line: line, Column: column, What: what}
}

// place is a byte's line and column, from 1.
func (l *literals) place(at int) (line, column int) {
	before := l.source[:min(at, len(l.source))]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[begin:]) + 1
}

// quoted is a hostile text for a sentence, shortened, without what a terminal
// obeys.
func quoted(text string) string {
	short := make([]rune, 0, 40)
	for _, r := range text {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		if short = append(short, r); len(short) == 40 {
			break
		}
	}
	return strconv.Quote(string(short))
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return c == '_' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}
