package torchsnap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// lookahead is how many bytes the fast path for an event wants to see; an
// event of a real snapshot is 60 to 700 bytes long.
const lookahead = 4096

// maximumDepth is how many containers may be open at once.
const maximumDepth = 64

// machine executes the harmless part of pickle. It keeps events, blocks,
// frames and stacks in columns; only what is left over becomes values.
type machine struct {
	*account
	interning
	columns

	in     *input
	stack  []value
	marks  []int32 // where on the stack the open containers' items begin
	memo   []remembered
	others []value // memoised values that do not fit the memo's 28 bits
	dicts  store[dict]
	lists  store[list]
	pairs  [][2]int64 // tuples of two integers, each distinct one once
	byPair map[[2]int64]uint32
	spare  [][]value // pairs of dictionaries that were taken over

	fast     fastPath
	json     bool // the file is JSON text, read into the same values
	protocol int  // of pickle
	watch    watch

	states     map[uint64][]deviceState // assembled, by the number of their list
	blocksLaid int                      // blocks in them
	extras     []string                 // keys that mean nothing here
	shortened  int                      // strings that were too long

	textScratch []byte // for strings with escapes
}

// newMachine makes a machine that reads in. whole guesses how many bytes come
// in all, 0 for unknown.
func newMachine(in *input, whole func() int64) *machine {
	a := &account{read: &in.offset}
	return &machine{
		account: a, interning: newInterning(a), columns: newColumns(a, whole),
		in: in, byPair: map[[2]int64]uint32{},
	}
}

// format is what the file is, in words.
func (m *machine) format() string {
	if m.json {
		return "PyTorch memory snapshot, JSON"
	}
	return fmt.Sprintf("PyTorch memory snapshot, pickle protocol %d", m.protocol)
}

// extra keeps a key that means nothing here.
func (m *machine) extra(key string) {
	if len(m.extras) < maximumExtras && !slices.Contains(m.extras, key) {
		m.extras = append(m.extras, key)
	}
}

// aside keeps a key that means nothing here with where it stands; it is met
// in every dictionary of its kind.
func (m *machine) aside(where string, key value) {
	if of := &m.meanings[key.n]; !of.aside {
		of.aside = true
		m.extra(where + "[]." + m.strings[key.n])
	}
}

// errCut is the end of the file before its content's end.
var errCut = errors.New("the file ends early")

// run executes the pickle up to STOP and returns the value on top. It fails
// with errCut when the file ends before, with everything read so far on the
// stack.
func (m *machine) run() (value, error) {
	for {
		if len(m.in.window) < lookahead {
			if err := m.ahead(); err != nil {
				return value{}, err
			}
		}
		op := m.in.window[0]
		if op == opEmptyDict && m.fastRow() {
			continue
		}
		if op == opStop {
			if len(m.stack) == 0 {
				return value{}, m.malformed("nothing is left at the end")
			}
			m.in.advance(1)
			return m.stack[len(m.stack)-1], nil
		}
		if err := m.step(op); err != nil {
			return value{}, err
		}
	}
}

// ahead fills the window as far as the fast path wants, and tells who watches
// the reading.
func (m *machine) ahead() error {
	m.in.more(lookahead)
	if len(m.in.window) == 0 {
		return m.cut()
	}
	return m.report()
}

// cut tells the end of the file, or damage to what it is packed in, from a
// failure to read it.
func (m *machine) cut() error {
	err := m.in.err
	if _, ok := errors.AsType[*damage](err); ok || errors.Is(err, io.EOF) {
		return errCut
	}
	if failed, ok := errors.AsType[*sourceError](err); ok {
		return fmt.Errorf("reading the snapshot failed at byte %d: %w", m.in.offset, failed.err)
	}
	return err
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
		return m.long(uint32(length[0]))
	case opLong4:
		length, err := m.argument(4)
		if err != nil {
			return err
		}
		return m.long(binary.LittleEndian.Uint32(length))
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
		return m.open()
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
		m.pushDict()
	case opEmptyList:
		m.pushList()
	case opEmptyTuple:
		return m.tuple(0)
	case opTuple1:
		return m.tuple(1)
	case opTuple2:
		return m.tuple(2)
	case opTuple3:
		return m.tuple(3)
	case opAppend:
		return m.fillOne(op, 1)
	case opSetItem:
		return m.fillOne(op, 2)
	default:
		return m.closeContainer(op)
	}
	return nil
}
