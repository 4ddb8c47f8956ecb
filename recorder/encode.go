package recorder

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// LineTooLongError says that a record does not fit on a line. Cut it: a state
// with SplitState, a batch of events at MaxBatch.
type LineTooLongError struct {
	Kind  string // the record's type
	Bytes int    // what its line would have had
}

// Error states the fact and ends with what to do.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("a %q record of %d bytes does not fit on a line of %d; cut it", e.Kind, e.Bytes, MaxLine)
}

// ColumnsError says that the columns of a batch differ in length.
type ColumnsError struct{ Kind string }

// Error states the fact and ends with what to do.
func (e *ColumnsError) Error() string {
	return fmt.Sprintf("the columns of a %q record differ in length; add events with Append", e.Kind)
}

// AppendLine appends the record's line, with its line feed, to buf. It never
// makes a line longer than MaxLine: the error is then a *LineTooLongError, and
// a *ColumnsError for a batch with columns of different lengths; buf is as it
// was. Samples and batches of events cost no allocation once buf is large
// enough. Text that is no valid UTF-8 is written with U+FFFD in its place.
func AppendLine(buf []byte, record Record) ([]byte, error) {
	start := len(buf)
	line, err := appendRecord(buf, record)
	if err != nil {
		return line[:start], err
	}
	if bytes := len(line) - start; bytes > MaxLine {
		return line[:start], &LineTooLongError{Kind: record.Type(), Bytes: bytes}
	}
	return append(line, '\n'), nil
}

func appendRecord(buf []byte, record Record) ([]byte, error) {
	switch r := record.(type) {
	case *ArenaEvents:
		return appendArenaEvents(buf, r)
	case *PoolEvents:
		return appendPoolEvents(buf, r)
	case *Sample:
		return appendSample(buf, r), nil
	}
	return appendGeneric(buf, record), nil
}

// appendHead writes the keys that every record has, behind an open brace.
func appendHead(buf []byte, kind string, head *Head) []byte {
	buf = append(buf, `{"t":"`...)
	buf = append(buf, kind...)
	buf = append(buf, '"')
	if head.Src != "" {
		buf = append(buf, `,"src":`...)
		buf = appendString(buf, head.Src)
	}
	if head.Ns != 0 {
		buf = append(buf, `,"ns":`...)
		buf = strconv.AppendInt(buf, head.Ns, 10)
	}
	return buf
}

// appendSample writes a sample.
func appendSample(buf []byte, s *Sample) []byte {
	buf = appendHead(buf, "s", &s.Head)
	buf = appendOptionalInt(buf, `,"seq":`, s.Seq)
	buf = appendOptionalInt(buf, `,"drop":`, s.Dropped)
	buf = append(buf, `,"sets":`...)
	buf = appendCounterSets(buf, s.Sets)
	buf = appendOptionalString(buf, `,"err":`, s.Error)
	return append(buf, '}')
}

func appendCounterSets(buf []byte, sets []CounterSet) []byte {
	buf = append(buf, '[')
	for i := range sets {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendCounterSet(buf, &sets[i])
	}
	return append(buf, ']')
}

func appendCounterSet(buf []byte, set *CounterSet) []byte {
	buf = append(buf, `{"id":`...)
	buf = appendString(buf, set.ID)
	buf = append(buf, `,"of":`...)
	buf = appendString(buf, set.Of)
	buf = appendOptionalString(buf, `,"name":`, set.Name)
	buf = appendOptionalString(buf, `,"dev":`, set.Device)
	buf = appendOptionalString(buf, `,"call":`, set.Call)
	buf = appendOptionalString(buf, `,"in":`, set.In)
	buf = append(buf, `,"c":`...)
	buf = appendCounters(buf, &set.Values)
	if len(set.Why) > 0 {
		buf = append(buf, `,"why":`...)
		buf = appendStringMap(buf, set.Why)
	}
	return append(buf, '}')
}

// appendCounters writes the known counters as an object.
func appendCounters(buf []byte, counters *Counters) []byte {
	separator := byte('{')
	for counter := range Counter(NumCounters) {
		value, known := counters.Get(counter)
		if !known {
			continue
		}
		buf = append(buf, separator, '"')
		buf = append(buf, counterNames[counter]...)
		buf = append(buf, '"', ':')
		buf = strconv.AppendInt(buf, value, 10)
		separator = ','
	}
	if separator == '{' {
		buf = append(buf, separator)
	}
	return append(buf, '}')
}

// appendStringMap writes an object of strings, in the order of its keys. A
// small one, as samples have them, costs no allocation.
func appendStringMap(buf []byte, values map[string]string) []byte {
	var few [16]string
	keys := few[:0]
	if len(values) > len(few) {
		keys = make([]string, 0, len(values))
	}
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	buf = append(buf, '{')
	for i, key := range keys {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendString(buf, key)
		buf = append(buf, ':')
		buf = appendString(buf, values[key])
	}
	return append(buf, '}')
}

func appendOptionalInt(buf []byte, key string, value int64) []byte {
	if value == 0 {
		return buf
	}
	return strconv.AppendInt(append(buf, key...), value, 10)
}

func appendOptionalString(buf []byte, key, value string) []byte {
	if value == "" {
		return buf
	}
	return appendString(append(buf, key...), value)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string.
func appendString(buf []byte, text string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				buf = append(buf, text[start:i]...)
				buf = append(buf, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		buf = append(buf, text[start:i]...)
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\t':
			buf = append(buf, '\\', 't')
		default:
			buf = append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	buf = append(buf, text[start:]...)
	return append(buf, '"')
}
