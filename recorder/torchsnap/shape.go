package torchsnap

import (
	"encoding/binary"

	"vramscope/recorder"
)

// variation is a part of a row that is not the same in all rows of a shape.
type variation uint8

const (
	variesNot variation = iota // the row's end
	variesAction
	variesAddress
	variesBytes
	variesRequested
	variesStream
	variesTime
	variesPool
	variesState
	variesFrames
	variesIdly      // an integer that says nothing here
	variesMemo      // no bytes: the next free entry of the memo is taken
	variesIndex     // one byte: the memo's index
	variesLongIndex // four bytes: the memo's index
)

// shape is how a row was written: the bytes that are the same in the next
// row, and in between what varies. A snapshot's events alternate between one
// or two shapes, so that comparing a few words takes the place of looking up
// every key. A shape holds as long as no entry of the memo is changed.
type shape struct {
	count int
	parts [maximumParts]shapePart
	tails [maximumWords]uint64 // equal bytes beyond the first eight of a part
	kind  kind
	row   row // what the equal bytes say
	notes []recorder.DumpSetting

	// While it is learnt:
	w     []byte
	from  int // where the equal bytes begin
	used  int // tails
	built int // parts, or more when they are too many
}

const (
	maximumParts = 32
	maximumWords = 64
)

// shapePart is equal bytes and what varies behind them.
type shapePart struct {
	length int    // of the equal bytes
	head   uint64 // the first eight of them
	mask   uint64 // how much of head there is
	tail   int    // where the others begin in tails
	tails  int    // how many words
	last   uint64 // how much of the last word there is
	varies variation
	value  value // what is remembered
}

func (f *shape) begin(w []byte) { f.w, f.from, f.used, f.built, f.count = w, 0, 0, 0, 0 }

// varies ends the equal bytes at a place of the window; the caller moves from
// behind what varies.
func (f *shape) varies(at int, varies variation) {
	literal := f.w[f.from:at]
	f.from = at
	if f.built >= maximumParts || f.used+len(literal)/8 > maximumWords {
		f.built = maximumParts + 1
		return
	}
	p := &f.parts[f.built]
	*p = shapePart{length: len(literal), varies: varies, tail: f.used}
	p.head, p.mask = wordOf(literal)
	for i := 8; i < len(literal); i += 8 {
		f.tails[f.used], p.last = wordOf(literal[i:])
		f.used++
		p.tails++
	}
	f.built++
}

// wordOf is the first eight bytes, and a mask of how many there are.
func wordOf(bytes []byte) (word, mask uint64) {
	var eight [8]byte
	n := copy(eight[:], bytes)
	return binary.LittleEndian.Uint64(eight[:]), 1<<(8*n) - 1
}

// remembers notes a memo opcode that ends at a place of the window with an
// index of width bytes.
func (f *shape) remembers(at, width int, v value) {
	varies := variesMemo
	switch width {
	case 1:
		varies = variesIndex
	case 4:
		varies = variesLongIndex
	}
	f.varies(at-width, varies)
	if f.built <= maximumParts {
		f.parts[f.built-1].value = v
	}
	f.from = at
}

// end says whether the shape can be used: s has read a row of it.
func (f *shape) end(at int, s *rowScan) bool {
	f.varies(at, variesNot)
	f.w = nil
	if f.built > maximumParts {
		return false
	}
	f.count, f.kind, f.row, f.notes = f.built, s.kind, s.row, s.notes
	return true
}

// match reads a row of this shape.
func (s *rowScan) match(f *shape) (end int) {
	if f.count == 0 {
		return 0
	}
	s.kind, s.row, s.notes = f.kind, f.row, f.notes
	w, i := s.w, 0
	for k := range f.parts[:f.count] {
		p := &f.parts[k]
		if len(w)-i < p.length+margin || (binary.LittleEndian.Uint64(w[i:])^p.head)&p.mask != 0 {
			return 0
		}
		if p.tails > 0 && !f.sameTail(p, w[i+8:]) {
			return 0
		}
		i += p.length
		index := int64(-1)
		switch p.varies {
		case variesNot:
			if endsRow(w[i:]) {
				return i
			}
			return 0
		case variesIndex:
			index = int64(w[i])
			i++
		case variesLongIndex:
			index = int64(binary.LittleEndian.Uint32(w[i:]))
			i += 4
		case variesMemo:
		default:
			if i = s.vary(i, p.varies); i == 0 {
				return 0
			}
			continue
		}
		if !s.remember(index, p.value) {
			return 0
		}
	}
	return 0
}

// sameTail compares the bytes from a part's ninth on.
func (f *shape) sameTail(p *shapePart, w []byte) bool {
	tails := f.tails[p.tail : p.tail+p.tails]
	for _, word := range tails[:len(tails)-1] {
		if binary.LittleEndian.Uint64(w) != word {
			return false
		}
		w = w[8:]
	}
	return (binary.LittleEndian.Uint64(w)^tails[len(tails)-1])&p.last == 0
}

// vary reads a value that varies.
func (s *rowScan) vary(i int, v variation) (next int) {
	var of meaning
	switch v {
	case variesAction:
		of, next = s.text(i)
		if s.row.action = of.action; of.action == recorder.DumpUnknown {
			return 0
		}
		return next
	case variesState:
		of, next = s.text(i)
		s.row.state = of.state
		return next
	case variesFrames:
		return s.framesValue(i)
	case variesPool:
		return s.poolValue(i)
	}
	n, next := s.integer(i)
	if n.kind != kindInt && v != variesAddress && v != variesStream {
		return 0
	}
	switch v {
	case variesAddress:
		s.row.address = n.n
	case variesBytes:
		s.row.bytes = int64(n.n)
	case variesRequested:
		s.row.requested = int64(n.n)
	case variesStream:
		s.row.stream = n.n
	case variesTime:
		s.row.timeUs = int64(n.n)
	}
	return next
}

// poolValue reads a memory pool's ID: a pair, recalled or new.
func (s *rowScan) poolValue(i int) (next int) {
	if op := s.w[i]; op == opBinGet || op == opLongBinGet {
		v, next := s.recall(i)
		if v.kind != kindPair {
			return 0
		}
		s.row.pool = s.m.pairs[v.n]
		return next
	}
	first, i := s.integer(i)
	if first.kind != kindInt {
		return 0
	}
	second, i := s.integer(i)
	if second.kind != kindInt || s.w[i] != opTuple2 {
		return 0
	}
	s.row.pool = [2]int64{int64(first.n), int64(second.n)}
	index, _, next := s.memoOpcode(i + 1)
	if next == 0 {
		return i + 1
	}
	if !s.remember(index, s.m.pair(s.row.pool[0], s.row.pool[1])) {
		return 0
	}
	return next
}
