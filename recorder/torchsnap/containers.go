package torchsnap

import "slices"

func (m *machine) push(v value) {
	m.stack = appended(m.account, m.stack, v)
}

// pushRows pushes rows of the columns; rows that follow those on top join
// them, so that an open list of a million events is one value.
func (m *machine) pushRows(v value) {
	if top := len(m.stack) - 1; top >= m.begin() {
		if joined, ok := m.stack[top].joined(v); ok {
			m.stack[top] = joined
			return
		}
	}
	m.push(v)
}

func (m *machine) pushDict() {
	m.push(value{kindDict, uint64(m.dicts.add(m.account, dict{pairs: m.reused()}))})
}

// reused is an empty slice with room, if there is one left over.
func (m *machine) reused() []value {
	last := len(m.spare) - 1
	if last < 0 {
		return nil
	}
	values := m.spare[last]
	m.spare = m.spare[:last]
	return values
}

// reuse keeps a slice that is no longer needed.
func (m *machine) reuse(values []value) {
	if cap(values) > 0 {
		m.spare = appended(m.account, m.spare, values[:0])
	}
}

func (m *machine) pushList() {
	m.push(value{kindList, uint64(m.lists.add(m.account, list{}))})
}

// open marks where the items of a container begin.
func (m *machine) open() error {
	if len(m.marks) >= maximumDepth {
		return m.malformed("it nests too deep")
	}
	m.marks = append(m.marks, int32(len(m.stack)))
	return nil
}

// begin is where the innermost open container's items begin on the stack.
func (m *machine) begin() int {
	if len(m.marks) == 0 {
		return 0
	}
	return int(m.marks[len(m.marks)-1])
}

// closeContainer executes the opcodes that take all items since the mark.
func (m *machine) closeContainer(op byte) error {
	if len(m.marks) == 0 {
		return m.malformed("a container is closed that was not opened")
	}
	begin := m.begin()
	m.marks = m.marks[:len(m.marks)-1]
	items := m.stack[begin:]
	switch op {
	case opTuple:
		return m.tuple(len(items))
	case opList, opDict:
		into := value{kindList, 0}
		if op == opList {
			into.n = uint64(m.lists.add(m.account, list{}))
		} else {
			into = value{kindDict, uint64(m.dicts.add(m.account, dict{}))}
		}
		err := m.fill(into, items)
		m.stack = append(m.stack[:begin], into)
		return err
	}
	if begin == 0 || begin-1 < m.begin() {
		return m.malformed("a container is filled that is not there")
	}
	into := m.stack[begin-1]
	if (op == opAppends) != (into.kind == kindList) {
		return m.unfillable()
	}
	err := m.fill(into, items)
	m.stack = m.stack[:begin]
	if op == opSetItems && err == nil && m.rowEnds() {
		m.settleTop()
	}
	return err
}

// fillOne executes APPEND and SETITEM, which take n values.
func (m *machine) fillOne(op byte, n int) error {
	m.separate(n)
	below := len(m.stack) - n - 1
	if below < m.begin() {
		return m.malformed("a container is filled that is not there")
	}
	into := m.stack[below]
	if (op == opAppend) != (into.kind == kindList) {
		return m.unfillable()
	}
	err := m.fill(into, m.stack[below+1:])
	m.stack = m.stack[:below+1]
	return err
}

// unfillable is the error of filling what is no container for it, or what went
// into the columns and may not change any more.
func (m *machine) unfillable() error {
	return m.malformed("something is filled that is no container or is finished")
}

func (m *machine) fill(into value, items []value) error {
	switch into.kind {
	case kindList:
		return m.appendTo(int(into.n), items)
	case kindDict:
		return m.setItems(int(into.n), items)
	}
	return m.unfillable()
}

// appendTo adds items to a list. Events and blocks that follow one another
// stay a run of rows.
func (m *machine) appendTo(index int, items []value) error {
	l := m.lists.at(index)
	if l.sealed {
		return m.unfillable()
	}
	l.stack = 0
	for _, item := range items {
		item = m.settled(item)
		if last := len(l.values) - 1; last >= 0 {
			if joined, ok := l.values[last].joined(item); ok {
				l.values[last] = joined
				continue
			}
		}
		if l.values == nil {
			l.values = m.reused()
		}
		l.values = appended(m.account, l.values, item)
	}
	return nil
}

func (m *machine) setItems(index int, items []value) error {
	items = m.singles(items)
	if len(items)%2 != 0 {
		return m.malformed("a dictionary has a key without a value")
	}
	d := m.dicts.at(index)
	if d.is != kindNone {
		return m.unfillable()
	}
	d.pairs = appended(m.account, d.pairs, items...)
	return nil
}

// rowEnds says whether a dictionary that was just filled is complete.
func (m *machine) rowEnds() bool {
	if m.json {
		return true // an object's end is its end
	}
	m.in.more(margin)
	return endsRow(m.in.window)
}

// endsRow says whether what follows a dictionary begins the next one, or ends
// its list: then nothing can be added to it. So does the end of the file. A
// FRAME and an opcode that memoises the dictionary may stand in between.
func endsRow(next []byte) bool {
	for range 4 {
		if len(next) == 0 {
			return true
		}
		skip := 0
		switch next[0] {
		case opEmptyDict, opAppends, opAppend:
			return true
		case opFrame:
			skip = 9
		case opMemoize:
			skip = 1
		case opBinPut:
			skip = 2
		case opLongBinPut:
			skip = 5
		default:
			return false
		}
		next = next[min(skip, len(next)):]
	}
	return false
}

// settleTop turns the dictionary on top of the stack into a row of the
// columns, if it is an event or a block.
func (m *machine) settleTop() {
	top := len(m.stack) - 1
	if v := m.settled(m.stack[top]); v.isRows() {
		m.stack = m.stack[:top]
		m.pushRows(v)
	}
}

// tuple makes a tuple of the n values on top.
func (m *machine) tuple(n int) error {
	m.separate(n)
	from := len(m.stack) - n
	if from < m.begin() {
		return m.malformed("a tuple lacks its items")
	}
	items := m.stack[from:]
	made := value{kind: kindTuple}
	if n == 2 && items[0].kind == kindInt && items[1].kind == kindInt {
		made = m.pair(int64(items[0].n), int64(items[1].n))
	} else {
		values := append(withRoom[value](m.account, nil, n), items...)
		made.n = uint64(m.lists.add(m.account, list{values: values, sealed: true}))
	}
	m.stack = m.stack[:from]
	m.push(made)
	return nil
}

// pair is the value of a tuple of two integers.
func (m *machine) pair(first, second int64) value {
	id := [2]int64{first, second}
	number, known := m.byPair[id]
	if !known {
		m.take(96)
		number = uint32(len(m.pairs))
		m.pairs, m.byPair[id] = append(m.pairs, id), number
	}
	return value{kindPair, uint64(number)}
}

// separate makes the n values on top of the stack single ones: rows that were
// joined there come apart.
func (m *machine) separate(n int) {
	for i := range n {
		at := len(m.stack) - 1 - i
		if at < m.begin() {
			return
		}
		first, count := m.stack[at].run()
		if !m.stack[at].isRows() || count < 2 {
			continue
		}
		kind := m.stack[at].kind
		m.push(value{})
		copy(m.stack[at+1:], m.stack[at:])
		m.stack[at] = rows(kind, first, count-1)
		m.stack[at+1] = rows(kind, first+count-1, 1)
	}
}

// singles is the items with each row of a run by itself.
func (m *machine) singles(items []value) []value {
	joined := func(v value) bool { return v.isRows() && v.n>>32 > 1 }
	if !slices.ContainsFunc(items, joined) {
		return items
	}
	var apart []value
	for _, item := range items {
		if !joined(item) {
			apart = appended(m.account, apart, item)
			continue
		}
		first, count := item.run()
		for n := range count {
			apart = appended(m.account, apart, rows(item.kind, first+n, 1))
		}
	}
	return apart
}
