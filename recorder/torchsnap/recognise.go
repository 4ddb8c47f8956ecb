package torchsnap

import (
	"math"
	"strconv"

	"vramscope/recorder"
)

// maximumFrames is how many frames of one stack are kept.
const maximumFrames = 1024

// lookup finds a key among the pairs of a dictionary; the last one counts.
func (m *machine) lookup(d *dict, key string) (value, bool) {
	for i := len(d.pairs) - 2; i >= 0; i -= 2 {
		if d.pairs[i].kind == kindText && m.strings[d.pairs[i].n] == key {
			return d.pairs[i+1], true
		}
	}
	return value{}, false
}

// recogniseEvent turns a dictionary with an action into a row, and gives its
// pairs back.
func (m *machine) recogniseEvent(d *dict) error {
	var e event
	found := false
	free := int64(-1)
	var notes []recorder.DumpSetting
	for i := 0; i+1 < len(d.pairs); i += 2 {
		key, v := d.pairs[i], d.pairs[i+1]
		if key.kind != kindText {
			continue
		}
		switch m.meanings[key.n].field {
		case fieldAction:
			if v.kind == kindText {
				e.action, found = m.meanings[v.n].action, true
				if e.action == recorder.DumpUnknown {
					notes = append(notes, recorder.DumpSetting{Key: "action", Value: m.strings[v.n]})
				}
			}
		case fieldAddress:
			e.address, _ = v.address()
		case fieldSize:
			e.bytes, _ = v.integer()
		case fieldStream:
			handle, _ := v.address()
			e.stream = m.stream(handle)
		case fieldTime:
			e.time, _ = v.integer()
		case fieldFrames:
			e.stack, _ = m.stackOf(v)
		case fieldPool:
			e.pool = m.poolOf(v)
		case fieldDeviceFree:
			if n, ok := v.integer(); ok {
				free = n
			}
		case fieldText:
			if text := m.plain(v); !silent(text) {
				notes = append(notes, recorder.DumpSetting{Key: m.strings[key.n], Value: text})
			}
		}
	}
	if !found {
		return nil
	}
	row := m.add(&e)
	d.event = row + 1
	if free >= 0 {
		m.events.Free[int(row)] = free
	}
	if notes != nil {
		m.events.Notes[int(row)] = notes
	}
	m.spare = append(m.spare, d.pairs)
	d.pairs = nil
	return nil
}

// frameOf is the frame that a dictionary describes.
func (m *machine) frameOf(index int) (int32, bool) {
	d := &m.dicts[index]
	if d.frame > 0 {
		return d.frame - 1, true
	}
	name, named := m.lookup(d, "name")
	if !named || name.kind != kindText || d.event > 0 {
		return 0, false
	}
	f := recorder.DumpFrame{Name: uint32(name.n), Line: -1}
	if file, ok := m.lookup(d, "filename"); ok && file.kind == kindText {
		f.File = uint32(file.n)
	}
	if line, ok := m.lookup(d, "line"); ok {
		if n, ok := line.integer(); ok && n >= 0 && n < math.MaxInt32 {
			f.Line = n
		}
	}
	d.frame = m.frame(f) + 1
	m.spare = append(m.spare, d.pairs)
	d.pairs = nil
	return d.frame - 1, true
}

// stackOf is the stack that a list of frames describes.
func (m *machine) stackOf(v value) (int32, bool) {
	switch v.kind {
	case kindStack:
		return int32(v.n), true
	case kindNone:
		return 0, true
	case kindList:
	default:
		return 0, false
	}
	l := &m.lists[v.n]
	if l.stack > 0 {
		return l.stack - 1, true
	}
	m.scratch = m.scratch[:0]
	for _, item := range l.values {
		if item.kind != kindDict || len(m.scratch) == maximumFrames {
			continue
		}
		if frame, ok := m.frameOf(int(item.n)); ok {
			m.scratch = append(m.scratch, uint32(frame))
		}
	}
	l.stack = m.internStack() + 1
	return l.stack - 1, true
}

// poolOf is the memory pool that a pair of integers names.
func (m *machine) poolOf(v value) uint16 {
	var items []value
	switch v.kind {
	case kindTuple:
		items = m.tuples[v.n]
	case kindList:
		items = m.lists[v.n].values
	}
	if len(items) != 2 {
		return 0
	}
	first, _ := items[0].integer()
	second, _ := items[1].integer()
	return m.memoryPool([2]int64{first, second})
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
