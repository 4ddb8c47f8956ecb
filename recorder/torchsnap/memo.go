package torchsnap

// packed is a value as a memo entry.
func (m *machine) packed(v value) remembered {
	n := v.n
	if v.isRows() {
		n = uint64(uint32(n)) // one row: what is memoised is one dictionary
	}
	if n >= rememberedMask || v.kind >= kindOther {
		m.others = appended(m.account, m.others, v)
		return remembered(kindOther)<<rememberedBits | remembered(len(m.others)-1)
	}
	return remembered(v.kind)<<rememberedBits | remembered(n)
}

// recall is the value of a memo entry.
func (m *machine) recall(r remembered) value {
	v := value{kind(r >> rememberedBits), uint64(r & rememberedMask)}
	if v.kind == kindOther {
		return m.others[v.n]
	}
	if v.isRows() {
		return rows(v.kind, int(v.n), 1)
	}
	return v
}

// get pushes what is remembered under an index.
func (m *machine) get(index uint32) error {
	if int64(index) >= int64(len(m.memo)) || m.memo[index] == nothing {
		return m.malformed("it recalls what was never remembered")
	}
	m.push(m.recall(m.memo[index]))
	return nil
}

// putTop remembers the value on top of the stack.
func (m *machine) putTop(index uint32) error {
	if len(m.stack) <= m.begin() {
		return m.malformed("it remembers what is not there")
	}
	v := m.stack[len(m.stack)-1]
	if first, count := v.run(); v.isRows() {
		v = rows(v.kind, first+count-1, 1)
	}
	if !m.mayPut(index) {
		return m.malformed("its memo is larger than the file")
	}
	m.put(index, v)
	return nil
}

// mayPut refuses an index beyond what as many bytes as were read could have
// filled one by one.
func (m *machine) mayPut(index uint32) bool {
	return int64(index) <= m.in.offset && len(m.others) < rememberedMask
}

// put remembers a value.
func (m *machine) put(index uint32, v value) {
	packed := m.packed(v)
	if int(index) < len(m.memo) {
		m.memo[index] = packed
		m.fast.forget()
		return
	}
	if int(index) >= cap(m.memo) {
		m.memo = withRoom(m.account, m.memo, max(int(index)+1, m.roomFor(len(m.memo), *m.read, 4)))
	}
	for len(m.memo) < int(index) {
		m.memo = append(m.memo, nothing)
	}
	m.memo = append(m.memo, packed)
}
