package torchsnap

import (
	"encoding/binary"

	"vramscope/recorder"
)

// read reads a row pair by pair and learns its shape. The order is what
// Python's and TorchScript's picklers write for a flat dictionary: EMPTY_DICT,
// a memo opcode or none, MARK, pairs, SETITEMS. The first key says what it
// is; without "action" or "address" in front it is left to the machine.
func (s *rowScan) read() (end int) {
	s.row, s.kind, s.notes = row{}, kindNone, nil
	learnt := &s.m.fast.learning
	learnt.begin(s.w)
	i := s.rememberHere(1, value{kind: kindEvent}, learnt)
	if i == 0 || s.w[i] != opMark {
		return 0
	}
	var seen uint32
	for i++; s.w[i] != opSetItems; {
		if i >= len(s.w)-margin {
			return 0
		}
		var met field
		if met, i = s.pair(i, learnt); i == 0 || seen&(1<<met) != 0 && met != fieldNote {
			return 0
		}
		seen |= 1 << met
	}
	i++
	if !endsRow(s.w[i:]) || !s.complete(seen) {
		return 0
	}
	if learnt.end(i, s) {
		which := 0
		if s.kind == kindBlock {
			which = 1
		}
		fast := &s.m.fast
		fast.learning, fast.shapes[which] = fast.shapes[which], fast.learning
	}
	return i
}

// complete says whether a row has what makes it one, and fills in what a
// block of an older snapshot leaves out.
func (s *rowScan) complete(seen uint32) bool {
	if s.kind == kindEvent {
		return seen&(1<<fieldAction) != 0
	}
	const needed = 1<<fieldSize | 1<<fieldState | 1<<fieldRequested
	return seen&needed == needed
}

// pair reads a key and its value, and notes what of them may vary.
func (s *rowScan) pair(i int, learnt *shape) (met field, next int) {
	key, i := s.recall(i)
	if i == 0 || key.kind != kindText {
		return 0, 0
	}
	met = s.m.meanings[key.n].field
	if s.kind == kindNone {
		switch met {
		case fieldAction:
			s.kind = kindEvent
		case fieldAddress:
			s.kind = kindBlock
		default:
			return 0, 0
		}
	}
	if met == fieldNote {
		return met, s.note(i, s.m.strings[key.n], learnt)
	}
	varies, ok := s.variation(met)
	if !ok {
		return 0, 0
	}
	learnt.varies(i, varies)
	next = s.vary(i, varies)
	learnt.from = next
	return met, next
}

// variation is how the value of a field is read; ok is false for a field that
// is left to the machine.
func (s *rowScan) variation(met field) (v variation, ok bool) {
	switch {
	case met == fieldSize:
		return variesBytes, true
	case met == fieldFrames:
		return variesFrames, true
	case s.kind == kindBlock:
		switch met {
		case fieldAddress:
			return variesAddress, true
		case fieldRequested:
			return variesRequested, true
		case fieldState:
			return variesState, true
		}
		return 0, false
	}
	switch met {
	case fieldAction:
		return variesAction, true
	case fieldAddr:
		return variesAddress, true
	case fieldStream:
		return variesStream, true
	case fieldTime:
		return variesTime, true
	case fieldPool:
		return variesPool, true
	case fieldDevice:
		return variesIdly, true
	}
	return 0, false
}

// note reads a text that is kept when it says something. It counts as part of
// the shape: most snapshots say the same about every event.
func (s *rowScan) note(i int, key string, learnt *shape) (next int) {
	if s.kind != kindEvent {
		return 0
	}
	v, next := s.recall(i)
	if begin, end := s.textHere(i); end > 0 {
		v = value{kindText, uint64(s.m.intern(s.w[begin:end]))}
		next = s.rememberHere(end, v, learnt)
	}
	if next == 0 || v.kind != kindText {
		return 0
	}
	if text := s.m.strings[v.n]; !silent(text) {
		s.notes = append(s.notes, recorder.DumpSetting{Key: key, Value: text})
	}
	return next
}

// textHere is where the bytes of a short string stand, if one does: not
// recalled, but written here.
func (s *rowScan) textHere(i int) (begin, end int) {
	switch s.w[i] {
	case opShortBinUnicode:
		begin, end = i+2, i+2+int(s.w[i+1])
	case opBinUnicode:
		begin, end = i+5, i+5+int(min(binary.LittleEndian.Uint32(s.w[i+1:]), lookahead))
	}
	if end > len(s.w)-margin {
		return 0, 0
	}
	return begin, end
}

// rememberHere executes the memo opcode at a place, if there is one.
func (s *rowScan) rememberHere(i int, v value, learnt *shape) (next int) {
	index, width, next := s.memoOpcode(i)
	if next == 0 {
		return i
	}
	learnt.remembers(next, width, v)
	if !s.remember(index, v) {
		return 0
	}
	return next
}

// silent says whether a note says nothing.
func silent(text string) bool { return text == "" || text == "N/A" }
