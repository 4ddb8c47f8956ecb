package algan

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// written is a literal as text in one form, for comparing.
func written(v value) string {
	var parts []string
	switch v.kind() {
	case kindText:
		return fmt.Sprintf("%q", v.text())
	case kindInt:
		return fmt.Sprint(v.node().n)
	case kindFloat:
		return fmt.Sprintf("float %g", v.float())
	case kindBool:
		return fmt.Sprint(v.node().n == 1)
	case kindNone:
		return "None"
	case kindDict:
		for key, item := range v.pairs {
			parts = append(parts, written(key)+": "+written(item))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	for item := range v.items {
		parts = append(parts, written(item))
	}
	if v.kind() == kindTuple {
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func parsed(text string, dialect dialect) (string, error) {
	v, err := newParser([]byte(text), dialect, newAccount(len(text))).alone()
	if err != nil {
		return "", err
	}
	return written(v), nil
}

func TestLiterals(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"5", "5"}, {"-5", "-5"}, {"- 5", "-5"}, {"+7", "7"}, {"0x1f", "31"}, {"0b11", "3"}, {"0o17", "15"}, {"1_000", "1000"}, {"00", "0"},
		{"9223372036854775807", "9223372036854775807"}, {"-9223372036854775808", "-9223372036854775808"},
		{"1.5", "float 1.5"}, {".5", "float 0.5"}, {"1.", "float 1"}, {"1e3", "float 1000"}, {"-2.5E-3", "float -0.0025"},
		{"True", "true"}, {"False", "false"}, {"None", "None"},
		{"()", "()"}, {"(1)", "1"}, {"((1))", "1"}, {"(1,)", "(1)"}, {"((1,),)", "((1))"}, {"((((1,)), 2),)", "(((1), 2))"}, {"[]", "[]"}, {"[1, 2,]", "[1, 2]"},
		{"{}", "{}"}, {"{'a': 1, (1, 2): [3]}", `{"a": 1, (1, 2): [3]}`}, {"(# a comment ' (\n1,\n# another\n)", "(1)"},
		{`'a' "b"`, `"ab"`}, {"('a'\n  'b' r'\\c')", `"ab\\c"`}, {`u'x'`, `"x"`}, {`''`, `""`}, {`'''a'b''c'''`, `"a'b''c"`}, {"\"\"\"a\nb\"\"\"", `"a\nb"`},
		{`'\n\t\\\'\"\a'`, `"\n\t\\'\"\a"`}, {`'\x41\u0042\U00000043\104'`, `"ABCD"`}, {`'\q'`, `"\\q"`}, {"'a\\\nb'", `"ab"`}, {`r'\''`, `"\\'"`},
		{`'ä€𝄞'`, `"ä€𝄞"`}, {`'\ud834'`, `"�"`},
	} {
		if got, err := parsed(test.text, python); err != nil || got != test.want {
			t.Errorf("%s is %s, %v, want %s", test.text, got, err, test.want)
		}
	}
	for _, test := range []struct{ text, want string }{
		{` {"a": [true, false, null, -1, 2.5]} `, `{"a": [true, false, None, -1, float 2.5]}`},
		{`"\u00e4\/\ud834\udd1e\b"`, `"ä/𝄞\b"`}, {`"\ud834\u0041"`, `"�A"`},
	} {
		if got, err := parsed(test.text, jsonText); err != nil || got != test.want {
			t.Errorf("%s is %s, %v, want %s", test.text, got, err, test.want)
		}
	}
}

// TestRefused is everything that could compute: it is named with its place, and
// not executed.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		text         string
		line, column int
		what         string
	}{
		{"__import__('os').system('id')", 1, 1, `a call of "__import__"`},
		{"(1,\n  __import__('os'))", 2, 3, `a call of "__import__"`},
		{"os.environ", 1, 1, `an attribute of "os"`}, {"a[0]", 1, 1, `an item of "a"`}, {"nan", 1, 1, `the name "nan"`},
		{"1 + 1", 1, 3, `the operator '+'`}, {"'a' * 9", 1, 5, `the operator '*'`}, {"(1)(2)", 1, 4, "a call"}, {"[1][0]", 1, 4, "a subscript"},
		{"'a'.join([])", 1, 4, `the operator '.'`}, {"-x", 1, 1, `the operator '-'`}, {"--1", 1, 1, `the operator '-'`}, {"~1", 1, 1, `the operator '~'`},
		{"{1, 2}", 1, 3, "a set"}, {"{**{}}", 1, 2, `the operator '*'`}, {"[x for x in ()]", 1, 2, `the name "x"`}, {"[1 for x in ()]", 1, 4, `the name "for"`},
		{"lambda: 0", 1, 1, `the name "lambda"`}, {"f'{1}'", 1, 1, `a string with the prefix "f"`}, {"b'x'", 1, 1, `a string with the prefix "b"`},
		{"'a' f'{x}'", 1, 5, `a string with the prefix "f"`}, {`'\N{DIGIT ONE}'`, 1, 2, "a character by its name"}, {"1 if 1 else 2", 1, 3, `the name "if"`},
		{"(x := 1)", 1, 2, `the name "x"`}, {"1 < 2", 1, 3, `the operator '<'`}, {"a\x1b[31m(", 1, 1, `the name "a"`},
	} {
		_, err := parsed(test.text, python)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Line != test.line || refused.Column != test.column || refused.What != test.what {
			t.Errorf("%q: %v", test.text, err)
		} else if !strings.Contains(err.Error(), "was not executed") {
			t.Errorf("%q: the sentence does not say that it was not executed: %v", test.text, err)
		}
	}
	for _, module := range []string{
		"import os\nTRACES = {}", "TRACES = {}\nTRACES['a'] = 1", "TRACES: dict = {}", "print('x')", "a = b = {}", "TRACES = {}; import os", "TRACES += {}",
		"TRACES == {}", "if True: TRACES = {}", "@x\ndef f(): pass", "'doc'.x", "TRACES = {} \\\n", "(a, b) = (1, 2)",
	} {
		if _, err := ReadModule(strings.NewReader(module)); !isRefusal(err) {
			t.Errorf("%q: %v", module, err)
		}
	}
}

// isRefusal says whether an error names a place and was made on purpose.
func isRefusal(err error) bool {
	var refused *RefusedError
	var malformed *MalformedError
	return errors.As(err, &refused) || errors.As(err, &malformed)
}

func TestMalformed(t *testing.T) {
	deep := maximumDepth + 1
	for _, test := range []struct{ text, want string }{
		{"", "ends where a literal is expected"}, {"(1,", "'(' is not closed"}, {"(1", "it ends where a comma"}, {"'abc", "a string is not closed"}, {"'a\nb'", "a string is not closed"},
		{"'''a''", "a string is not closed"}, {"'a\\", "a string is not closed"}, {"'\\x4'", "fewer than 2 hexadecimal digits"}, {"'\\u00'", "fewer than 4"},
		{"'\\U00110000'", "is no character"}, {"'\\x-1'", "fewer than 2"}, {"'a\x00b'", "a zero byte"}, {"\x00", "the byte 0x00 stands where a literal is expected"},
		{"(1 2)", `"2" stands where a comma`}, {"[1)", `")" stands where a comma or ']'`}, {"{1 2}", "stands where a colon"}, {",", `"," stands`}, {"(,)", `"," stands`},
		{"9223372036854775808", "does not fit into 64 bits"}, {strings.Repeat("9", 401), "more than 400 digits"}, {"007", "begins with a zero"},
		{"1e999", "is no number"}, {"1j", `a number runs into "j"`}, {"0x", "is no number"}, {"1__0", "is no number"}, {"1.2.3", "is no number"},
		{strings.Repeat("(", deep) + "1", "more than 64 deep"}, {strings.Repeat("[", 1_000_000), "more than 64 deep"}, {strings.Repeat("{0:", deep), "more than 64 deep"},
	} {
		_, err := parsed(test.text, python)
		var malformed *MalformedError
		if !errors.As(err, &malformed) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, want %s", test.text, err, test.want)
		}
	}
}

// TestErrorsObeyNoTerminal keeps what a name holds out of the sentences.
func TestErrorsObeyNoTerminal(t *testing.T) {
	for _, text := range []string{"\x1b]0;owned\x07", "(1 \x1b[2J", "ab\u202ecd(1)", "1\u009b31m", "{'a' \x9b", "TRACES = {'a': {(): (('\\x1b[2J',),)}}"} {
		_, err := parsed(text, python)
		if strings.HasPrefix(text, "TRACES") {
			_, err = ReadModule(strings.NewReader(text))
		}
		if err == nil {
			t.Errorf("%q was read", text)
			continue
		}
		for _, r := range err.Error() {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' {
				t.Errorf("%q: %q", text, err.Error())
			}
		}
	}
}

// TestMemoryIsBounded refuses a file that is short and would fill the memory.
func TestMemoryIsBounded(t *testing.T) {
	texts := map[string]string{
		"numbers": "X = (" + strings.Repeat("0,", 7_000_000) + ")",
		"tuples":  "X = (" + strings.Repeat("(),", 5_000_000) + ")",
	}
	for name, text := range texts {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadModule(strings.NewReader(text))
		runtime.ReadMemStats(&after)
		var dense *TooDenseError
		if !errors.As(err, &dense) {
			t.Errorf("%s: %v", name, err)
		}
		// What was taken in all, thrown away or not; reading the file takes some
		// five times its length so.
		if taken, limit := int64(after.TotalAlloc-before.TotalAlloc), int64(9*len(text)+memoryApart); taken > limit {
			t.Errorf("%s: took %d bytes, the limit is %d", name, taken, limit)
		}
	}
	var large *TooLargeError
	if _, err := ReadModule(strings.NewReader("#" + strings.Repeat(" ", maximumBytes))); !errors.As(err, &large) {
		t.Errorf("a file that is too long: %v", err)
	}
}

func TestManyShortTextsAreHeldOnce(t *testing.T) {
	module := "TRACES = {'a': {" + strings.Repeat("(('name', 'value'),): (('A', 0, 1, 4, False),),", 20_000) + "}}"
	costs, err := ReadModule(strings.NewReader(module))
	if err != nil || len(costs.Scopes) != 1 {
		t.Fatalf("%d scopes, %v", len(costs.Scopes), err)
	}
}
