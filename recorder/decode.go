package recorder

import (
	"fmt"
	"strconv"
)

// UnknownTypeError says that a line is a record of a type that this program
// does not know. Skip the line: a newer writer may have more to say.
type UnknownTypeError struct{ Kind string }

// Error states the fact and ends with what to do.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("a record of the unknown type %s; skip it", strconv.QuoteToASCII(e.Kind))
}

// ProtocolError says that a stream needs a reader that knows a newer version of
// the format.
type ProtocolError struct {
	Proto int // the version that the writer speaks
	Min   int // the oldest version that a reader must know
}

// Error states the fact and ends with what to do.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the writer needs a reader of format %d, and this program reads %d; install a newer vramscope", e.Min, Protocol)
}

// DecodeLine reads a record from its line, with or without the line feed. The
// error is a *LineError for a line that is no record, an *UnknownTypeError for
// one of a type that is not known, and a *ProtocolError for a hello that needs
// a newer reader. The record keeps no part of line.
func DecodeLine(line []byte) (Record, error) {
	var d lineDecoder
	return d.decode(line)
}

// lineDecoder reads lines, one after another, with memory that it uses again.
// The records that it returns are their own.
type lineDecoder struct {
	scanner scanner
	events  eventColumns
	names   *atoms // of the records that come again and again, or nil
}

// decode reads one line.
func (d *lineDecoder) decode(line []byte) (Record, error) {
	if len(line) > MaxLine+1 {
		return nil, &LineError{Reason: "the line is longer than a record may be"}
	}
	s := &d.scanner
	s.begin(line)
	kind, ok := s.kind()
	if !ok {
		return nil, s.err
	}
	record := d.read(kind)
	if record == nil && s.err == nil {
		return nil, &UnknownTypeError{Kind: string(kind)}
	}
	s.end()
	if s.err != nil {
		return nil, s.err
	}
	if hello, ok := record.(*Hello); ok {
		if hello.Proto < 1 {
			return nil, &LineError{Reason: "a hello says which version of the format it speaks"}
		}
		if hello.Min > Protocol {
			return nil, &ProtocolError{Proto: hello.Proto, Min: hello.Min}
		}
	}
	return record, nil
}

// kind reads the type of the record and leaves the scanner at the first key.
// Writers put it first; otherwise the line is read twice.
func (s *scanner) kind() (kind []byte, ok bool) {
	if !s.take('{') {
		return nil, false
	}
	start := s.pos
	for first := true; s.nextKey(&first); {
		if string(s.key) != "t" {
			s.skip()
			continue
		}
		if !s.take('"') {
			return nil, false
		}
		raw, _ := s.rawString()
		if s.err != nil {
			return nil, false
		}
		s.pos = start
		return raw, true
	}
	s.fail("the record has no type")
	return nil, false
}

// read reads the record of that type; nil if there is no such type.
func (d *lineDecoder) read(kind []byte) Record {
	s := &d.scanner
	s.names = d.names
	switch string(kind) {
	case "ev":
		return d.readEvents()
	case "s":
		return s.sample()
	case "frame":
		return s.frame()
	}
	s.names = nil
	switch string(kind) {
	case "hello":
		return readStruct(s, &Hello{})
	case "str":
		return readStruct(s, &Strings{})
	case "state":
		return readStruct(s, &State{})
	case "peak":
		return readStruct(s, &Peak{})
	case "oom":
		return readStruct(s, &OOM{})
	case "cmd":
		return readStruct(s, &Command{})
	case "ack":
		return readStruct(s, &Ack{})
	case "note":
		return readStruct(s, &Note{})
	case "lost":
		return readStruct(s, &Lost{})
	case "bye":
		return readStruct(s, &Bye{})
	case "want":
		return readStruct(s, &Want{})
	}
	return nil
}

// headKey reads the value of one of the keys that every record has.
func (s *scanner) headKey(head *Head) bool {
	switch string(s.key) {
	case "src":
		head.Src = s.string()
	case "ns":
		head.Ns = s.integer()
	default:
		return false
	}
	return true
}

// sample reads a sample, behind its brace.
func (s *scanner) sample() *Sample {
	record := &Sample{}
	for first := true; s.nextKey(&first); {
		if s.null() || s.headKey(&record.Head) {
			continue
		}
		switch string(s.key) {
		case "seq":
			record.Seq = s.integer()
		case "drop":
			record.Dropped = s.integer()
		case "sets":
			record.Sets = s.counterSets()
		case "err":
			record.Error = s.string()
		default:
			s.skip()
		}
	}
	return record
}

// frame reads a frame, behind its brace.
func (s *scanner) frame() *Frame {
	record := &Frame{}
	for first := true; s.nextKey(&first); {
		switch {
		case s.null() || s.headKey(&record.Head):
		case string(s.key) == "n":
			record.N = s.integer()
		default:
			s.skip()
		}
	}
	return record
}

// counterSetBytes is the memory of a CounterSet, rounded up.
const counterSetBytes = 512

func (s *scanner) counterSets() []CounterSet {
	if !s.take('[') {
		return nil
	}
	var sets []CounterSet
	for first := true; s.nextElement(&first) && s.charge(2*counterSetBytes); {
		sets = append(doubled(sets), CounterSet{})
		s.counterSet(&sets[len(sets)-1])
	}
	return sets
}

func (s *scanner) counterSet(set *CounterSet) {
	if !s.take('{') {
		return
	}
	for first := true; s.nextKey(&first); {
		if s.null() {
			continue
		}
		switch string(s.key) {
		case "id":
			set.ID = s.string()
		case "of":
			set.Of = s.string()
		case "name":
			set.Name = s.string()
		case "dev":
			set.Device = s.string()
		case "call":
			set.Call = s.string()
		case "in":
			set.In = s.string()
		case "c":
			set.Values = s.counters()
		case "why":
			set.Why = s.stringMap()
		default:
			s.skip()
		}
	}
}

func (s *scanner) counters() Counters {
	var counters Counters
	if !s.take('{') {
		return counters
	}
	for first := true; s.nextKey(&first); {
		counter, known := counterByName[string(s.key)]
		switch {
		case s.null():
		case !known:
			s.skip()
		default:
			counters.Set(counter, s.integer())
		}
	}
	return counters
}

func (s *scanner) stringMap() map[string]string {
	if !s.take('{') {
		return nil
	}
	values := make(map[string]string)
	for first := true; s.nextKey(&first) && s.charge(128+int64(len(s.key))); {
		key := s.name(s.key)
		if s.null() {
			continue
		}
		values[key] = s.string()
	}
	if len(values) == 0 {
		return nil
	}
	return values
}
