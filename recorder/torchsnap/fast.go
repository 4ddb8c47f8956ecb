package torchsnap

import (
	"encoding/binary"
	"math"

	"vramscope/recorder"
)

// A snapshot is a million dictionaries of one shape. The fast path reads a
// whole event or block in one pass, without values, dictionaries or lists:
// first as the shape of the one before (shape.go), then pair by pair
// (pairs.go). What it cannot read changes nothing and is left to the machine,
// whose answer is the same.

// margin is how many bytes beyond its place in a row the fast path may read
// without asking.
const margin = 64

// fastPath is what the fast path learnt.
type fastPath struct {
	off      bool     // for tests: everything goes the machine's way
	shapes   [2]shape // of events and of blocks
	learning shape
	bodies   [1024]body
	// generation counts how often an entry of the memo was changed.
	generation int32
	scan       rowScan
}

// forget drops what depends on the memo, when an entry of it was changed.
func (f *fastPath) forget() {
	f.shapes[0].count, f.shapes[1].count = 0, 0
	f.generation++
}

// fastRow reads one event or block from the window, if that is what stands
// there and all of it is in sight.
func (m *machine) fastRow() bool {
	if len(m.in.window) < 2*margin || m.fast.off {
		return false
	}
	s := &m.fast.scan
	for i := range m.fast.shapes {
		s.begin(m)
		if end := s.match(&m.fast.shapes[i]); end > 0 {
			return s.finish(end)
		}
	}
	s.begin(m)
	end := s.read()
	return end > 0 && s.finish(end)
}

// rowScan is what the fast path read of a row so far. Its methods read at a
// place of the window and return the place behind, or 0 for what they cannot
// read; the place stays in a register that way.
type rowScan struct {
	m *machine
	w []byte

	kind     kind // kindEvent or kindBlock
	row      row
	notes    []recorder.DumpSetting
	frames   frameList
	puts     [maximumPuts]pendingPut
	putCount int
}

const maximumPuts = 16

// pendingPut is an entry of the memo that is made once the row is taken.
type pendingPut struct {
	index int64 // -1 for the next free one
	value value // a row or a stack stands for that of this row
}

func (s *rowScan) begin(m *machine) {
	s.m, s.w, s.putCount, s.frames = m, m.in.window, 0, frameList{}
}

// finish takes the row, which ends at a place of the window: what was only
// read so far is done. It changes nothing when it fails.
func (s *rowScan) finish(end int) bool {
	m := s.m
	if len(m.memo)+s.putCount > math.MaxInt32 || !m.mayPut(uint32(len(m.memo)+s.putCount)) {
		return false
	}
	stack, ok := s.stack()
	if !ok {
		return false
	}
	s.row.stack = stack
	taken := m.takeRow(s.kind, &s.row, s.notes)
	for i := range s.puts[:s.putCount] {
		put := &s.puts[i]
		switch put.value.kind {
		case kindEvent:
			put.value = taken
		case kindStack:
			put.value.n = uint64(stack)
		}
		index := uint32(len(m.memo))
		if put.index >= 0 {
			index = uint32(put.index)
		}
		m.put(index, put.value)
	}
	m.in.advance(end)
	m.pushRows(taken)
	return true
}

// memoOpcode reads a memo opcode, if there is one: the index it names in
// width bytes, or -1 for the next free one.
func (s *rowScan) memoOpcode(i int) (index int64, width, next int) {
	switch s.w[i] {
	case opMemoize:
		return -1, 0, i + 1
	case opBinPut:
		return int64(s.w[i+1]), 1, i + 2
	case opLongBinPut:
		return int64(binary.LittleEndian.Uint32(s.w[i+1:])), 4, i + 5
	}
	return 0, 0, 0
}

// remember notes a memo entry. One that is there already may be recalled by
// this very row: that is left to the machine.
func (s *rowScan) remember(index int64, v value) bool {
	if s.putCount == maximumPuts || index > s.m.in.offset || index >= 0 && index < int64(len(s.m.memo)) {
		return false
	}
	s.puts[s.putCount] = pendingPut{index, v}
	s.putCount++
	return true
}

// recall reads BINGET or LONG_BINGET. An entry that this row makes itself is
// not there yet.
func (s *rowScan) recall(i int) (v value, next int) {
	var index uint32
	switch s.w[i] {
	case opBinGet:
		index, next = uint32(s.w[i+1]), i+2
	case opLongBinGet:
		index, next = binary.LittleEndian.Uint32(s.w[i+1:]), i+5
	default:
		return value{}, 0
	}
	if int64(index) >= int64(len(s.m.memo)) || s.m.memo[index] == nothing {
		return value{}, 0
	}
	return s.m.recall(s.m.memo[index]), next
}

// text reads a recalled string and gives what it means.
func (s *rowScan) text(i int) (of meaning, next int) {
	v, next := s.recall(i)
	if next == 0 || v.kind != kindText {
		return meaning{}, 0
	}
	return s.m.meanings[v.n], next
}

// integer reads an integer of any width.
func (s *rowScan) integer(i int) (v value, next int) {
	w := s.w[i : i+16]
	switch w[0] {
	case opBinInt1:
		return intValue(int64(w[1])), i + 2
	case opBinInt2:
		return intValue(int64(binary.LittleEndian.Uint16(w[1:]))), i + 3
	case opBinInt:
		return intValue(int64(int32(binary.LittleEndian.Uint32(w[1:])))), i + 5
	case opLong1:
		n := int(w[1])
		if n-1 < 7 && w[1+n&15]&0x80 == 0 { // the usual case, without a loop
			return intValue(int64(binary.LittleEndian.Uint64(w[2:]) & (1<<(8*n) - 1))), i + 2 + n
		}
		if n > 9 {
			return value{}, 0
		}
		if v, ok := longValue(w[2 : 2+n]); ok {
			return v, i + 2 + n
		}
	}
	return value{}, 0
}
