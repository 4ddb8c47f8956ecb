package torchsnap

import "encoding/binary"

// frameList is the list of frames of a row, as the fast path met it.
type frameList struct {
	met      bool
	recalled value // a list from the memo, where from and to are 0
	from, to int   // the recalled frames in the window, opcode by opcode
	hash     uint64
}

// body is the opcodes of a list of frames, and the stack that they gave.
type body struct {
	text       string
	stack      int32
	generation int32 // of the memo
}

// framesValue reads a list of frames: one recalled, or a new one whose frames
// are all recalled.
func (s *rowScan) framesValue(i int) (next int) {
	if s.frames.met {
		return 0
	}
	s.frames.met = true
	if s.w[i] != opEmptyList {
		list, next := s.recall(i)
		s.frames.recalled = list
		if list.kind != kindList && list.kind != kindStack {
			return 0
		}
		return next
	}
	i++
	begin := i
	if i = s.rememberStack(i); i == 0 {
		return 0
	}
	memoised := i > begin
	s.frames.recalled = value{kind: kindStack} // the empty one
	switch s.w[i] {
	case opMark:
		end, hash := s.walkFrames(i + 1)
		if end == 0 || s.w[end] != opAppends {
			return 0
		}
		s.frames.from, s.frames.to, s.frames.hash = i+1, end, hash
		i = end + 1
	case opBinGet, opLongBinGet:
		// One frame and APPEND; or an empty list and the next key.
		end := i + recallLength[s.w[i]]
		if s.w[end] != opAppend {
			return i
		}
		s.frames.from, s.frames.to = i, end
		i = end + 1
	}
	if memoised {
		return i
	}
	return s.rememberStack(i) // TorchScript's pickler memoises what is complete
}

// rememberStack executes the memo opcode at a place, if there is one, for the
// list of frames.
func (s *rowScan) rememberStack(i int) (next int) {
	index, _, next := s.memoOpcode(i)
	switch {
	case next == 0:
		return i
	case !s.remember(index, value{kind: kindStack}):
		return 0
	}
	return next
}

// recallLength is how long an opcode that recalls something is, 0 for others.
var recallLength = [256]int{opBinGet: 2, opLongBinGet: 5}

// walkFrames moves over recalled frames and hashes them on the way.
func (s *rowScan) walkFrames(i int) (end int, hash uint64) {
	w := s.w[:max(len(s.w)-margin, 0)]
	hash = s.m.salt
	for i+8 < len(w) {
		word := binary.LittleEndian.Uint64(w[i : i+8])
		switch byte(word) {
		case opBinGet:
			word &= 1<<16 - 1
			i += 2
		case opLongBinGet:
			word &= 1<<40 - 1
			i += 5
		default:
			return i, hash
		}
		hash = (hash ^ word) * 0xd6e8feb86659fd93
		hash ^= hash >> 32
	}
	return 0, 0
}

// stack is the number of the row's stack.
func (s *rowScan) stack() (int32, bool) {
	if s.frames.to == 0 {
		if s.frames.recalled.kind == kindList {
			return s.m.stackOf(s.frames.recalled)
		}
		return int32(s.frames.recalled.n), true
	}
	text := s.w[s.frames.from:s.frames.to]
	fast := &s.m.fast
	known := &fast.bodies[s.frames.hash%uint64(len(fast.bodies))]
	if known.text == string(text) && known.generation == fast.generation {
		return known.stack, true
	}
	stack, ok := s.stackOfBody()
	if ok && len(text) <= 1024 {
		*known = body{string(text), stack, fast.generation}
	}
	return stack, ok
}

// stackOfBody recalls the frames one by one.
func (s *rowScan) stackOfBody() (int32, bool) {
	m := s.m
	numbers := m.scratch[:0]
	for i := s.frames.from; i < s.frames.to; {
		v, next := s.recall(i)
		if next == 0 || v.kind != kindDict || len(numbers) == maximumFrames {
			return 0, false
		}
		frame, ok := m.frameOf(int(v.n))
		if !ok {
			return 0, false
		}
		numbers = append(numbers, frame)
		i = next
	}
	m.scratch = numbers
	return m.interning.stack(), true
}
