package torchsnap

import (
	"math"
	"strconv"
	"strings"

	"vramscope/recorder"
)

const (
	// maximumFrames is how many frames of one stack are kept.
	maximumFrames = 1024
	// stateUnplaced marks a block whose dictionary gives no address: it lies
	// behind the one before. It is gone from a finished dump.
	stateUnplaced recorder.DumpBlockState = 0x80
)

// takeRow adds an event or a block to the columns.
func (m *machine) takeRow(k kind, r *row, notes []recorder.DumpSetting) value {
	if k == kindBlock {
		return rows(kindBlock, m.addBlock(r), 1)
	}
	n := m.addEvent(r)
	if len(notes) > 0 {
		m.note(n, notes)
	}
	return rows(kindEvent, n, 1)
}

// settled is a value as a row of the columns, if it is the dictionary of an
// event or a block; any other value is itself.
func (m *machine) settled(v value) value {
	if v.kind != kindDict {
		return v
	}
	d := m.dicts.at(int(v.n))
	if d.is == kindNone {
		for i := 0; i+1 < len(d.pairs) && d.is == kindNone; i += 2 {
			if d.pairs[i].kind != kindText || d.pairs[i+1].kind != kindText {
				continue
			}
			switch m.meanings[d.pairs[i].n].field {
			case fieldAction:
				m.takeEvent(d)
			case fieldState:
				m.takeBlock(d)
			}
		}
	}
	if d.is == kindEvent || d.is == kindBlock {
		return rows(d.is, int(d.n), 1)
	}
	return v
}

// become ends a dictionary's life as pairs.
func (m *machine) become(d *dict, is kind, n int) {
	d.is, d.n = is, int32(n)
	m.reuse(d.pairs)
	d.pairs = nil
}

func (m *machine) takeEvent(d *dict) {
	var r row
	free := int64(-1)
	var notes []recorder.DumpSetting
	for i := 0; i+1 < len(d.pairs); i += 2 {
		key, v := d.pairs[i], d.pairs[i+1]
		if key.kind != kindText {
			continue
		}
		switch m.meanings[key.n].field {
		case fieldAction:
			if r.action = m.actionOf(v); r.action == recorder.DumpUnknown {
				notes = append(notes, recorder.DumpSetting{Key: "action", Value: m.plain(v)})
			}
		case fieldAddr:
			r.address, _ = v.address()
		case fieldSize:
			r.bytes, _ = v.integer()
		case fieldStream:
			r.stream, _ = v.address()
		case fieldTime:
			r.timeUs, _ = v.integer()
		case fieldFrames:
			r.stack, _ = m.stackOf(v)
		case fieldPool:
			r.pool = m.poolOf(v)
		case fieldDeviceFree:
			if n, ok := v.integer(); ok {
				free = n
			}
		case fieldDevice, fieldIgnored:
		default:
			if text := m.described(v); !silent(text) {
				m.take(int64(len(text)))
				notes = append(notes, recorder.DumpSetting{Key: m.strings[key.n], Value: text})
			}
		}
	}
	n, _ := m.takeRow(kindEvent, &r, notes).run()
	if free >= 0 {
		m.take(48) // its entry in the map of the finished device
		m.free = appended(m.account, m.free, eventFree{int32(n), free})
	}
	m.become(d, kindEvent, n)
}

func (m *machine) actionOf(v value) recorder.DumpAction {
	if v.kind != kindText {
		return recorder.DumpUnknown
	}
	return m.meanings[v.n].action
}

func (m *machine) takeBlock(d *dict) {
	r := row{state: stateUnplaced}
	asked := false
	for i := 0; i+1 < len(d.pairs); i += 2 {
		key, v := d.pairs[i], d.pairs[i+1]
		if key.kind != kindText {
			continue
		}
		switch m.meanings[key.n].field {
		case fieldAddress:
			if address, ok := v.address(); ok {
				r.address, r.state = address, r.state&^stateUnplaced
			}
		case fieldSize:
			r.bytes, _ = v.integer()
		case fieldRequested:
			r.requested, asked = v.integer()
		case fieldState:
			if v.kind == kindText {
				r.state = r.state&stateUnplaced | m.meanings[v.n].state
			}
		case fieldFrames:
			r.stack, _ = m.stackOf(v)
		case fieldHistory: // torch 1.13 to 2.0
			asked = m.takeHistory(v, &r) || asked
		case fieldUnknown:
			m.aside("blocks", key)
		}
	}
	if !asked {
		r.requested = r.bytes
	}
	n, _ := m.takeRow(kindBlock, &r, nil).run()
	m.become(d, kindBlock, n)
}

// takeHistory reads the last entry of a block's history, and says whether it
// tells what was asked.
func (m *machine) takeHistory(v value, r *row) (asked bool) {
	if v.kind != kindList && v.kind != kindTuple {
		return false
	}
	entries := m.lists.at(int(v.n)).values
	if len(entries) == 0 || entries[len(entries)-1].kind != kindDict {
		return false
	}
	last := m.dicts.at(int(entries[len(entries)-1].n))
	for i := 0; i+1 < len(last.pairs); i += 2 {
		key, v := last.pairs[i], last.pairs[i+1]
		if key.kind != kindText {
			continue
		}
		switch m.meanings[key.n].field {
		case fieldRealSize:
			r.requested, asked = v.integer()
		case fieldFrames:
			r.stack, _ = m.stackOf(v)
		}
	}
	return asked
}

// frameOf is the frame that a dictionary describes.
func (m *machine) frameOf(index int) (uint32, bool) {
	d := m.dicts.at(index)
	if d.is == kindFrame {
		return uint32(d.n), true
	}
	if d.is != kindNone {
		return 0, false
	}
	f := recorder.DumpFrame{Line: -1}
	named := false
	for i := 0; i+1 < len(d.pairs); i += 2 {
		key, v := d.pairs[i], d.pairs[i+1]
		if key.kind != kindText {
			continue
		}
		switch m.meanings[key.n].field {
		case fieldName:
			if v.kind == kindText {
				f.Name, named = uint32(v.n), true
			}
		case fieldFile:
			if v.kind == kindText {
				f.File = uint32(v.n)
			}
		case fieldLine:
			if n, ok := v.integer(); ok && n >= 0 && n < math.MaxInt32 {
				f.Line = n
			}
		case fieldUnknown:
			m.aside("frames", key)
		}
	}
	if !named {
		return 0, false
	}
	number := m.frame(f)
	m.become(d, kindFrame, int(number))
	return number, true
}

// stackOf is the stack that a list of frames describes.
func (m *machine) stackOf(v value) (int32, bool) {
	switch v.kind {
	case kindStack:
		return int32(v.n), true
	case kindNone:
		return 0, true
	case kindList, kindTuple:
	default:
		return 0, false
	}
	l := m.lists.at(int(v.n))
	if l.stack > 0 {
		return l.stack - 1, true
	}
	numbers := m.scratch[:0]
	for _, item := range l.values {
		if len(numbers) == maximumFrames {
			break
		}
		switch item.kind {
		case kindFrame:
			numbers = append(numbers, uint32(item.n))
		case kindDict:
			if frame, ok := m.frameOf(int(item.n)); ok {
				numbers = append(numbers, frame)
			}
		}
	}
	m.scratch = numbers
	l.stack, l.sealed = m.interning.stack()+1, true
	return l.stack - 1, true
}

// poolOf is the memory pool's ID that a pair of integers is.
func (m *machine) poolOf(v value) [2]int64 {
	switch v.kind {
	case kindPair:
		return m.pairs[v.n]
	case kindList, kindTuple:
		if values := m.lists.at(int(v.n)).values; len(values) == 2 {
			first, _ := values[0].integer()
			second, _ := values[1].integer()
			return [2]int64{first, second}
		}
	}
	return [2]int64{}
}

// plain is a value as text, "" for a container.
func (m *machine) plain(v value) string {
	switch v.kind {
	case kindText:
		return m.strings[v.n]
	case kindInt:
		return strconv.FormatInt(int64(v.n), 10)
	case kindUint:
		return strconv.FormatUint(v.n, 10)
	case kindFloat:
		return strconv.FormatFloat(math.Float64frombits(v.n), 'g', -1, 64)
	case kindTrue:
		return "true"
	case kindFalse:
		return "false"
	}
	return ""
}

// described is a value as text; of a dictionary or list what stands in it
// directly, as far as it is short.
func (m *machine) described(v value) string {
	const longest = 1024
	var parts []string
	length := 0
	add := func(part string) bool {
		if part != "" {
			parts = append(parts, part)
		}
		length += 1 + len(part)
		return length < longest
	}
	switch v.kind {
	case kindDict:
		pairs := m.dicts.at(int(v.n)).pairs
		for i := 0; i+1 < len(pairs) && add(m.plain(pairs[i])+": "+m.plain(pairs[i+1])); i += 2 {
		}
	case kindList, kindTuple:
		for _, item := range m.lists.at(int(v.n)).values {
			if !add(m.plain(item)) {
				break
			}
		}
	case kindPair:
		return strconv.FormatInt(m.pairs[v.n][0], 10) + ", " + strconv.FormatInt(m.pairs[v.n][1], 10)
	default:
		return m.plain(v)
	}
	return strings.Join(parts, ", ")
}
