package torchsnap

import (
	"fmt"
	"math"
)

const (
	// maximumText is the longest string that a snapshot may hold, in bytes.
	maximumText = 16 << 20
	// keptText is how much of a string is kept, in bytes. Names, files and
	// notes are far shorter; what is longer is somebody's source code.
	keptText = 16 << 10
)

// long pushes a little-endian two's complement integer of n bytes.
func (m *machine) long(n uint32) error {
	if n > 9 {
		return m.malformed(fmt.Sprintf("an integer of %d bytes", n))
	}
	if len(m.in.window) < int(n) && !m.in.more(int(n)) {
		return m.cut()
	}
	v, ok := longValue(m.in.window[:n])
	if !ok {
		return m.malformed("an integer that does not fit 64 bits")
	}
	m.in.advance(int(n))
	m.push(v)
	return nil
}

// longValue reads a little-endian two's complement integer of at most nine
// bytes; ok is false when it fits neither int64 nor uint64.
func longValue(digits []byte) (v value, ok bool) {
	var n uint64
	for i := min(len(digits), 8) - 1; i >= 0; i-- {
		n = n<<8 | uint64(digits[i])
	}
	negative := len(digits) > 0 && digits[len(digits)-1]&0x80 != 0
	switch {
	case len(digits) == 9 && digits[8] == 0 && n > math.MaxInt64:
		return value{kindUint, n}, true
	case len(digits) == 9:
		extension := byte(0)
		if n > math.MaxInt64 {
			extension = 0xff
		}
		return intValue(int64(n)), digits[8] == extension
	case negative:
		return intValue(int64(n | math.MaxUint64<<(8*len(digits)))), true
	}
	return intValue(int64(n)), true
}

// text pushes a string.
func (m *machine) text(op byte) error {
	head := 1 // bytes of the length
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
	if length > maximumText {
		return m.malformed(fmt.Sprintf("a string of %d bytes", length))
	}
	m.in.advance(1 + head)
	kept := int(min(length, keptText))
	if len(m.in.window) < kept && !m.in.more(kept) {
		return m.cut()
	}
	number := m.intern(m.in.window[:kept])
	m.in.advance(kept)
	if err := m.skip(int(length) - kept); err != nil {
		return err
	}
	m.push(value{kindText, uint64(number)})
	return nil
}

// skip moves past n bytes.
func (m *machine) skip(n int) error {
	if n > 0 {
		m.shortened++
	}
	for n > 0 {
		if len(m.in.window) == 0 && !m.in.more(1) {
			return m.cut()
		}
		step := min(n, len(m.in.window))
		m.in.advance(step)
		n -= step
	}
	return nil
}
