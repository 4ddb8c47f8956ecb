package torchsnap

import (
	"bytes"
	"fmt"
)

// runJSON reads JSON text into the same values as a pickle's, and returns the
// top one. It fails with errCut when the text ends before, with everything
// read so far on the stack.
func (m *machine) runJSON() (value, error) {
	m.json = true
	if bytes.HasPrefix(m.in.window, []byte("\ufeff")) || m.in.more(3) && bytes.HasPrefix(m.in.window, []byte("\ufeff")) {
		m.in.advance(3)
	}
	if err := m.jsonValue(); err != nil {
		return value{}, err
	}
	return m.stack[len(m.stack)-1], nil
}

// nextJSON moves to the next byte that is no space, and returns it.
func (m *machine) nextJSON() (byte, error) {
	for {
		for i, c := range m.in.window {
			if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				m.in.advance(i)
				return c, nil
			}
		}
		m.in.advance(len(m.in.window))
		if err := m.ahead(); err != nil {
			return 0, err
		}
	}
}

// jsonValue reads any value and pushes it.
func (m *machine) jsonValue() error {
	c, err := m.nextJSON()
	if err != nil {
		return err
	}
	if len(m.in.window) < lookahead {
		if err := m.ahead(); err != nil {
			return err
		}
	}
	switch c {
	case '{':
		return m.jsonObject()
	case '[':
		return m.jsonArray()
	case '"':
		return m.jsonText()
	}
	return m.jsonScalar()
}

// jsonObject reads an object. What it turns out to be takes its place at
// once: nothing else can refer to it, as a pickle's memo could.
func (m *machine) jsonObject() error {
	dicts, lists := m.dicts.count, m.lists.count
	m.pushDict()
	err := m.jsonItems('}', func() error {
		if c, err := m.nextJSON(); err != nil {
			return err
		} else if c != '"' {
			return m.malformed("a key that is no string")
		}
		if err := m.jsonText(); err != nil {
			return err
		}
		if c, err := m.nextJSON(); err != nil {
			return err
		} else if c != ':' {
			return m.malformed("a key without a colon")
		}
		m.in.advance(1)
		return m.jsonValue()
	})
	if err != nil {
		return err
	}
	if err := m.closeContainer(opSetItems); err != nil {
		return err
	}
	top := &m.stack[len(m.stack)-1]
	if top.kind == kindDict && m.isFrame(m.dicts.at(int(top.n))) {
		if frame, ok := m.frameOf(int(top.n)); ok {
			*top = value{kindFrame, uint64(frame)}
		}
	}
	if top.kind != kindDict { // its values are in columns now
		m.dropFrom(dicts, lists)
	}
	return nil
}

// jsonArray reads an array.
func (m *machine) jsonArray() error {
	lists := m.lists.count
	m.pushList()
	if err := m.jsonItems(']', m.jsonValue); err != nil {
		return err
	}
	if err := m.closeContainer(opAppends); err != nil {
		return err
	}
	top := &m.stack[len(m.stack)-1]
	values := m.lists.at(lists).values
	if len(values) > 0 && values[0].kind == kindFrame && values[len(values)-1].kind == kindFrame {
		stack, _ := m.stackOf(*top)
		*top = value{kindStack, uint64(stack)}
		m.dropFrom(m.dicts.count, lists)
	}
	return nil
}

// dropFrom drops the dictionaries and lists from these numbers on.
func (m *machine) dropFrom(dicts, lists int) {
	for n := dicts; n < m.dicts.count; n++ {
		m.reuse(m.dicts.at(n).pairs)
	}
	for n := lists; n < m.lists.count; n++ {
		m.reuse(m.lists.at(n).values)
	}
	m.dicts.count, m.lists.count = dicts, lists
}

// jsonItems reads the items of an object or array up to the byte that ends
// it.
func (m *machine) jsonItems(end byte, item func() error) error {
	m.in.advance(1)
	if err := m.open(); err != nil {
		return err
	}
	c, err := m.nextJSON()
	if err != nil {
		return err
	}
	for c != end {
		if err := item(); err != nil {
			return err
		}
		if c, err = m.nextJSON(); err != nil {
			return err
		}
		switch c {
		case ',':
			m.in.advance(1)
			if c, err = m.nextJSON(); err != nil {
				return err
			}
		case end:
		default:
			return m.malformed(fmt.Sprintf("0x%02x where a comma belongs", c))
		}
	}
	m.in.advance(1)
	return nil
}

// isFrame says whether a dictionary describes a line of a stack.
func (m *machine) isFrame(d *dict) bool {
	var name, file bool
	for i := 0; i+1 < len(d.pairs); i += 2 {
		if d.pairs[i+1].kind == kindText {
			of := m.meanings[d.pairs[i].n].field
			name = name || of == fieldName
			file = file || of == fieldFile
		}
	}
	return name && file
}
