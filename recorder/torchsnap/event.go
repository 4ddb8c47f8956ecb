package torchsnap

import (
	"encoding/binary"

	"vramscope/recorder"
)

// fastEvent reads a whole event dictionary from the front of w in one pass,
// without touching the machine's stack but for the event that it pushes. It
// returns how many bytes it took, 0 when the dictionary is something else or
// holds what only the machine can read: then nothing has changed but strings
// and memo entries that the machine will write again.
//
// The shape is what Python's and TorchScript's picklers write for a flat
// dictionary: EMPTY_DICT, a memo opcode or none, MARK, pairs, SETITEMS.
func (m *machine) fastEvent(w []byte) int {
	if len(w) < 64 {
		return 0
	}
	remembered := len(m.memo)
	row := value{kindEvent, uint64(len(m.events.Action))}
	scan := eventScan{m: m, w: w, i: 1}
	if !scan.memo(row) || scan.w[scan.i] != opMark {
		return m.forget(remembered)
	}
	scan.i++
	for scan.i < len(w)-16 && w[scan.i] != opSetItems {
		if !scan.pair() {
			return m.forget(remembered)
		}
	}
	if scan.i >= len(w)-16 || !scan.hasAction {
		return m.forget(remembered)
	}
	m.add(&scan.event)
	m.push(row)
	return scan.i + 1
}

// forget takes back the memo entries of an event that was not one.
func (m *machine) forget(remembered int) int {
	m.memo = m.memo[:remembered]
	return 0
}

// eventScan is the fast path's place in an event.
type eventScan struct {
	m         *machine
	w         []byte
	i         int
	event     event
	hasAction bool
}

// memo executes the memo opcode at i, if there is one, for v.
func (s *eventScan) memo(v value) bool {
	switch s.w[s.i] {
	case opMemoize:
		s.i++
		return s.m.put(uint32(len(s.m.memo)), v)
	case opBinPut:
		index := uint32(s.w[s.i+1])
		s.i += 2
		return s.m.put(index, v)
	case opLongBinPut:
		index := binary.LittleEndian.Uint32(s.w[s.i+1:])
		s.i += 5
		return s.m.put(index, v)
	}
	return true
}

// recall reads BINGET or LONG_BINGET at i.
func (s *eventScan) recall() (value, bool) {
	var index uint32
	switch s.w[s.i] {
	case opBinGet:
		index = uint32(s.w[s.i+1])
		s.i += 2
	case opLongBinGet:
		index = binary.LittleEndian.Uint32(s.w[s.i+1:])
		s.i += 5
	default:
		return value{}, false
	}
	if int64(index) >= int64(len(s.m.memo)) || s.m.memo[index] == nothing {
		return value{}, false
	}
	return s.m.recall(s.m.memo[index]), true
}

// pair reads a key and its value.
func (s *eventScan) pair() bool {
	key, ok := s.recall()
	if !ok || key.kind != kindText {
		return false
	}
	switch s.m.meanings[key.n].field {
	case fieldAction:
		text, ok := s.recall()
		if !ok || text.kind != kindText {
			return false
		}
		s.event.action, s.hasAction = s.m.meanings[text.n].action, true
		return s.event.action != recorder.DumpUnknown
	case fieldAddress:
		n, ok := s.integer()
		s.event.address = n.n
		return ok
	case fieldSize:
		n, ok := s.integer()
		s.event.bytes = int64(n.n)
		return ok && n.kind == kindInt
	case fieldStream:
		n, ok := s.integer()
		s.event.stream = s.m.stream(n.n)
		return ok
	case fieldTime:
		n, ok := s.integer()
		s.event.time = int64(n.n)
		return ok && n.kind == kindInt
	case fieldFrames:
		return s.frames()
	case fieldText:
		text, ok := s.text()
		return ok && silent(s.m.strings[text.n])
	case fieldIgnored:
		_, ok := s.integer()
		return ok
	}
	return false // rare: left to the machine
}

// text reads a string: one recalled, or a short one that stands here.
func (s *eventScan) text() (value, bool) {
	if s.w[s.i] != opShortBinUnicode {
		v, ok := s.recall()
		return v, ok && v.kind == kindText
	}
	start := s.i + 2
	end := start + int(s.w[s.i+1])
	if end > len(s.w)-16 {
		return value{}, false
	}
	v := value{kindText, uint64(s.m.intern(s.w[start:end]))}
	s.i = end
	return v, s.memo(v)
}

// silent says whether a note says nothing.
func silent(text string) bool { return text == "" || text == "N/A" }

// integer reads an integer of any width.
func (s *eventScan) integer() (value, bool) {
	w := s.w[s.i:]
	switch w[0] {
	case opBinInt1:
		s.i += 2
		return intValue(int64(w[1])), true
	case opBinInt2:
		s.i += 3
		return intValue(int64(binary.LittleEndian.Uint16(w[1:]))), true
	case opBinInt:
		s.i += 5
		return intValue(int64(int32(binary.LittleEndian.Uint32(w[1:])))), true
	case opLong1:
		n := int(w[1])
		if n > 9 {
			return value{}, false
		}
		s.i += 2 + n
		if n < 8 && n > 0 && w[1+n]&0x80 == 0 { // the usual case, without a loop
			return intValue(int64(binary.LittleEndian.Uint64(w[2:]) & (1<<(8*n) - 1))), true
		}
		return longValue(w[2 : 2+n])
	}
	return value{}, false
}

// frames reads a list of frames: one recalled, or a new one whose frames are
// all recalled.
func (s *eventScan) frames() bool {
	if s.w[s.i] != opEmptyList {
		list, ok := s.recall()
		if !ok {
			return false
		}
		s.event.stack, ok = s.m.stackOf(list)
		return ok
	}
	s.i++
	// The stack's number is known only after its frames, its memo opcode
	// stands before them: keep the place.
	at := s.i
	switch s.w[at] {
	case opMemoize:
		s.i++
	case opBinPut:
		s.i += 2
	case opLongBinPut:
		s.i += 5
	}
	s.m.scratch = s.m.scratch[:0]
	switch s.w[s.i] {
	case opMark:
		for s.i++; s.i < len(s.w)-16 && s.w[s.i] != opAppends; {
			if !s.frame() {
				return false
			}
		}
		if s.i >= len(s.w)-16 {
			return false
		}
		s.i++
	case opBinGet, opLongBinGet:
		// One frame and APPEND; or an empty list and the next key.
		before := s.i
		if !s.frame() || s.w[s.i] != opAppend {
			s.m.scratch, s.i = s.m.scratch[:0], before
			break
		}
		s.i++
	}
	s.event.stack = s.m.internStack()
	end := s.i
	s.i = at
	if !s.memo(value{kindStack, uint64(s.event.stack)}) {
		return false
	}
	s.i = end
	return true
}

// frame reads one recalled frame into scratch.
func (s *eventScan) frame() bool {
	v, ok := s.recall()
	if !ok || v.kind != kindDict {
		return false
	}
	number, ok := s.m.frameOf(int(v.n))
	if ok {
		s.m.scratch = append(s.m.scratch, uint32(number))
	}
	return ok
}
