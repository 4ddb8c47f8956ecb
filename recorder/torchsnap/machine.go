package torchsnap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// lookahead is how many bytes the fast path for an event wants to see; an
// event of a real snapshot is 60 to 700 bytes long.
const lookahead = 4096

// maximumDepth is how deep containers may nest.
const maximumDepth = 64

// machine executes the harmless part of pickle. It keeps events, frames and
// stacks in columns; only what is left over becomes values.
type machine struct {
	in     *input
	stack  []value
	marks  []int32 // positions of the open marks on the stack
	memo   []remembered
	dicts  []dict
	lists  []list
	tuples [][]value
	others []value
	spare  [][]value // pairs of dictionaries that were taken over

	builder
	protocol int
	steps    int
	progress func(bytes, events int64) bool
}

func newMachine(in *input, limit func(offset int64) int64, size int64) *machine {
	m := &machine{in: in}
	m.builder.init(limit, func() int64 { return m.in.offset }, size)
	return m
}

// errCut is the end of the file before STOP.
var errCut = errors.New("the pickle ends early")

// run executes the pickle up to STOP and returns the value on top. It fails
// with errCut when the file ends before, with everything read so far on the
// stack.
func (m *machine) run() (value, error) {
	for {
		if m.steps++; m.steps&0x1fff == 0 {
			if err := m.checkMemory(); err != nil {
				return value{}, err
			}
		}
		if len(m.in.window) < lookahead && !m.in.more(lookahead) && len(m.in.window) == 0 {
			return value{}, m.cut()
		}
		op := m.in.window[0]
		if op == opEmptyDict {
			if n := m.fastEvent(m.in.window); n > 0 {
				m.in.advance(n)
				continue
			}
		}
		if op == opStop {
			if len(m.stack) == 0 {
				return value{}, m.malformed("nothing is left at the end")
			}
			return m.stack[len(m.stack)-1], nil
		}
		if err := m.step(op); err != nil {
			return value{}, err
		}
	}
}

// cut tells the end of the file from a failure to read it.
func (m *machine) cut() error {
	if errors.Is(m.in.err, io.EOF) {
		return errCut
	}
	return fmt.Errorf("reading the snapshot failed at byte %d: %w", m.in.offset, m.in.err)
}

func (m *machine) malformed(what string) error {
	return &MalformedError{Offset: m.in.offset, What: what}
}

// argument returns the n bytes behind the opcode and moves past them.
func (m *machine) argument(n int) ([]byte, error) {
	if len(m.in.window) < 1+n && !m.in.more(1+n) {
		return nil, m.cut()
	}
	argument := m.in.window[1 : 1+n]
	m.in.advance(1 + n)
	return argument, nil
}

func (m *machine) push(v value) { m.stack = append(m.stack, v) }

// step executes one opcode that is not STOP.
func (m *machine) step(op byte) error {
	if size := fixedSize(op); size >= 0 {
		argument, err := m.argument(size)
		if err != nil {
			return err
		}
		return m.fixed(op, argument)
	}
	switch op {
	case opLong1:
		length, err := m.argument(1)
		if err != nil {
			return err
		}
		return m.long(int(length[0]))
	case opLong4:
		length, err := m.argument(4)
		if err != nil {
			return err
		}
		return m.long(int(binary.LittleEndian.Uint32(length)))
	case opShortBinUnicode, opBinUnicode, opBinUnicode8:
		return m.text(op)
	}
	return m.refuse(op)
}

// fixedSize is how many bytes of argument an opcode has, -1 where that
// depends or the opcode is not allowed.
func fixedSize(op byte) int {
	switch op {
	case opMark, opNone, opNewTrue, opNewFalse, opEmptyDict, opEmptyList, opEmptyTuple, opTuple, opTuple1, opTuple2,
		opTuple3, opList, opDict, opAppend, opAppends, opSetItem, opSetItems, opMemoize:
		return 0
	case opProto, opBinInt1, opBinGet, opBinPut:
		return 1
	case opBinInt2:
		return 2
	case opBinInt, opLongBinGet, opLongBinPut:
		return 4
	case opFrame, opBinFloat:
		return 8
	}
	return -1
}

func (m *machine) fixed(op byte, argument []byte) error {
	switch op {
	case opProto:
		m.protocol = int(argument[0])
	case opFrame: // a hint that nothing may be trusted for
	case opMark:
		if len(m.marks) >= 2*maximumDepth {
			return m.malformed("it nests too deep")
		}
		m.marks = append(m.marks, int32(len(m.stack)))
		m.push(value{kind: kindMark})
	case opNone:
		m.push(value{})
	case opNewTrue:
		m.push(value{kind: kindTrue})
	case opNewFalse:
		m.push(value{kind: kindFalse})
	case opBinInt1:
		m.push(intValue(int64(argument[0])))
	case opBinInt2:
		m.push(intValue(int64(binary.LittleEndian.Uint16(argument))))
	case opBinInt:
		m.push(intValue(int64(int32(binary.LittleEndian.Uint32(argument)))))
	case opBinFloat:
		m.push(value{kindFloat, binary.BigEndian.Uint64(argument)})
	case opBinGet:
		return m.get(uint32(argument[0]))
	case opLongBinGet:
		return m.get(binary.LittleEndian.Uint32(argument))
	case opBinPut:
		return m.putTop(uint32(argument[0]))
	case opLongBinPut:
		return m.putTop(binary.LittleEndian.Uint32(argument))
	case opMemoize:
		return m.putTop(uint32(len(m.memo)))
	case opEmptyDict:
		m.dicts = append(m.dicts, dict{pairs: m.pairs()})
		m.push(value{kindDict, uint64(len(m.dicts) - 1)})
	case opEmptyList:
		m.lists = append(m.lists, list{})
		m.push(value{kindList, uint64(len(m.lists) - 1)})
	default:
		return m.container(op)
	}
	return nil
}

// container executes the opcodes that close or fill a container.
func (m *machine) container(op byte) error {
	switch op {
	case opEmptyTuple:
		return m.tuple(0)
	case opTuple1:
		return m.tuple(1)
	case opTuple2:
		return m.tuple(2)
	case opTuple3:
		return m.tuple(3)
	case opAppend, opSetItem:
		return m.fillOne(op)
	}
	if len(m.marks) == 0 {
		return m.malformed("a container is closed that was not opened")
	}
	mark := int(m.marks[len(m.marks)-1])
	m.marks = m.marks[:len(m.marks)-1]
	items := m.stack[mark+1:]
	var err error
	switch op {
	case opTuple:
		made := slices.Clone(items)
		m.stack = m.stack[:mark]
		m.tuples = append(m.tuples, made)
		m.push(value{kindTuple, uint64(len(m.tuples) - 1)})
	case opList:
		m.lists = append(m.lists, list{})
		made := len(m.lists) - 1
		for _, item := range items {
			m.appendTo(made, item)
		}
		m.stack = m.stack[:mark]
		m.push(value{kindList, uint64(made)})
	case opDict:
		m.dicts = append(m.dicts, dict{pairs: m.pairs()})
		made := len(m.dicts) - 1
		err = m.setItems(made, items)
		m.stack = m.stack[:mark]
		m.push(value{kindDict, uint64(made)})
	case opAppends, opSetItems:
		if mark == 0 {
			return m.malformed("a container is filled that is not there")
		}
		err = m.fill(op, m.stack[mark-1], items)
		m.stack = m.stack[:mark]
	}
	return err
}

func (m *machine) fillOne(op byte) error {
	n := 1
	if op == opSetItem {
		n = 2
	}
	below := len(m.stack) - n - 1
	if below < 0 || slices.ContainsFunc(m.stack[below:], func(v value) bool { return v.kind == kindMark }) {
		return m.malformed("a container is filled that is not there")
	}
	err := m.fill(op, m.stack[below], m.stack[below+1:])
	m.stack = m.stack[:below+1]
	return err
}

func (m *machine) fill(op byte, container value, items []value) error {
	switch {
	case container.kind == kindList && (op == opAppend || op == opAppends):
		for _, item := range items {
			m.appendTo(int(container.n), item)
		}
		return nil
	case container.kind == kindDict && (op == opSetItem || op == opSetItems):
		return m.setItems(int(container.n), items)
	case container.kind == kindEvent || container.kind == kindStack:
		return m.malformed("a finished value is changed")
	}
	return m.malformed("something is filled that is no container")
}

func (m *machine) tuple(n int) error {
	if len(m.stack) < n || slices.ContainsFunc(m.stack[len(m.stack)-n:], func(v value) bool { return v.kind == kindMark }) {
		return m.malformed("a tuple lacks its items")
	}
	made := slices.Clone(m.stack[len(m.stack)-n:])
	m.stack = m.stack[:len(m.stack)-n]
	m.tuples = append(m.tuples, made)
	m.push(value{kindTuple, uint64(len(m.tuples) - 1)})
	return nil
}

// appendTo adds an item to a list; a run of events stays a run.
func (m *machine) appendTo(index int, item value) {
	l := &m.lists[index]
	if item.kind == kindDict && m.dicts[item.n].event > 0 {
		item = value{kindEvent, uint64(m.dicts[item.n].event - 1)}
	}
	if item.kind == kindEvent && len(l.values) == 0 {
		if l.count == 0 {
			l.first, l.count = int32(item.n), 1
			return
		}
		if item.n == uint64(l.first+l.count) {
			l.count++
			return
		}
	}
	if l.count > 0 { // no run after all
		for row := range l.count {
			l.values = append(l.values, value{kindEvent, uint64(l.first + row)})
		}
		l.count = 0
	}
	l.values = append(l.values, item)
}

func (m *machine) setItems(index int, items []value) error {
	if len(items)%2 != 0 {
		return m.malformed("a dictionary has a key without a value")
	}
	d := &m.dicts[index]
	if d.event > 0 || d.frame > 0 {
		return m.malformed("a finished dictionary is changed")
	}
	d.pairs = append(d.pairs, items...)
	return m.recogniseEvent(d)
}

func (m *machine) pairs() []value {
	if n := len(m.spare); n > 0 {
		pairs := m.spare[n-1]
		m.spare = m.spare[:n-1]
		return pairs[:0]
	}
	return nil
}

func (m *machine) get(index uint32) error {
	if int64(index) >= int64(len(m.memo)) || m.memo[index] == nothing {
		return m.malformed("it recalls what was never remembered")
	}
	m.push(m.recall(m.memo[index]))
	return nil
}

func (m *machine) recall(r remembered) value {
	k, n := kind(r>>rememberedBits), uint64(r&rememberedMask)
	if k == kindOther {
		return m.others[n]
	}
	return value{k, n}
}

func (m *machine) putTop(index uint32) error {
	if len(m.stack) == 0 || m.stack[len(m.stack)-1].kind == kindMark {
		return m.malformed("it remembers what is not there")
	}
	if !m.put(index, m.stack[len(m.stack)-1]) {
		return m.malformed("its memo is larger than the file")
	}
	return nil
}

// put remembers a value. It refuses an index beyond what as many bytes as
// were read could have filled one by one.
func (m *machine) put(index uint32, v value) bool {
	if int64(index) > m.in.offset {
		return false
	}
	packed := remembered(v.kind)<<rememberedBits | remembered(v.n)
	if v.n >= rememberedMask || v.kind == kindInt || v.kind == kindUint || v.kind == kindFloat {
		if len(m.others) >= rememberedMask {
			return false
		}
		m.others = append(m.others, v)
		packed = remembered(kindOther)<<rememberedBits | remembered(len(m.others)-1)
	}
	if int(index) < len(m.memo) {
		m.memo[index] = packed
		return true
	}
	for len(m.memo) < int(index) {
		m.memo = append(m.memo, nothing)
	}
	m.memo = append(m.memo, packed)
	return true
}

// long pushes a little-endian two's complement integer of n bytes.
func (m *machine) long(n int) error {
	if n > 9 {
		return m.malformed("an integer of more than nine bytes")
	}
	if len(m.in.window) < n && !m.in.more(n) {
		return m.cut()
	}
	v, ok := longValue(m.in.window[:n])
	m.in.advance(n)
	if !ok {
		return m.malformed("an integer that does not fit 64 bits")
	}
	m.push(v)
	return nil
}

// longValue reads a little-endian two's complement integer.
func longValue(digits []byte) (value, bool) {
	var n uint64
	for i := min(len(digits), 8) - 1; i >= 0; i-- {
		n = n<<8 | uint64(digits[i])
	}
	switch {
	case len(digits) == 9 && digits[8] == 0 && n >= 1<<63:
		return value{kindUint, n}, true
	case len(digits) == 9:
		extended := byte(0)
		if n >= 1<<63 {
			extended = 0xff
		}
		return intValue(int64(n)), digits[8] == extended
	case len(digits) > 0 && digits[len(digits)-1]&0x80 != 0:
		return intValue(int64(n | math.MaxUint64<<(8*len(digits)))), true
	}
	return intValue(int64(n)), true
}

// text pushes a string.
func (m *machine) text(op byte) error {
	head := 1
	switch op {
	case opBinUnicode:
		head = 4
	case opBinUnicode8:
		head = 8
	}
	if len(m.in.window) < 1+head && !m.in.more(1+head) {
		return m.cut()
	}
	var length uint64
	for i := head; i > 0; i-- {
		length = length<<8 | uint64(m.in.window[i])
	}
	if length > maximumValue {
		return m.malformed(fmt.Sprintf("a string of %d bytes", length))
	}
	m.in.advance(head) // the opcode's place is taken by the last byte of the length
	bytes, err := m.argument(int(length))
	if err != nil {
		return err
	}
	m.push(value{kindText, uint64(m.intern(bytes))})
	return nil
}

// refuse names an opcode that is not allowed, and the global that it wants.
func (m *machine) refuse(op byte) error {
	name, known := refused[op]
	if !known {
		return m.malformed(fmt.Sprintf("0x%02x is no opcode", op))
	}
	refusal := &RefusedError{Opcode: name, Byte: op, Offset: m.in.offset}
	switch op {
	case 'c', 'i':
		m.in.more(512)
		refusal.Global = globalInLines(m.in.window[1:])
	case 0x93:
		if n := len(m.stack); n >= 2 && m.stack[n-1].kind == kindText && m.stack[n-2].kind == kindText {
			refusal.Global = clip(m.strings[m.stack[n-2].n]) + "." + clip(m.strings[m.stack[n-1].n])
		}
	}
	return refusal
}

// globalInLines reads the "module\nname\n" behind GLOBAL and INST.
func globalInLines(bytes []byte) string {
	bytes = bytes[:min(len(bytes), 256)]
	module := slices.Index(bytes, '\n')
	if module < 0 {
		return ""
	}
	name := slices.Index(bytes[module+1:], '\n')
	if name < 0 || !utf8.Valid(bytes[:module+1+name]) {
		return ""
	}
	return clip(string(bytes[:module])) + "." + clip(string(bytes[module+1:module+1+name]))
}

// clip shortens a hostile name for an error message and takes out what a
// terminal would obey.
func clip(name string) string {
	clean := make([]rune, 0, 64)
	for _, r := range name {
		if r < ' ' || r == 0x7f || r >= 0x80 {
			r = '?'
		}
		if clean = append(clean, r); len(clean) == 64 {
			break
		}
	}
	return string(clean)
}
