package recorder

import "math"

// intColumn reads an array of integers behind column, which is memory to be
// used again. It is the inner loop of reading a recording.
func (s *scanner) intColumn(column []int64) []int64 {
	if !s.take('[') {
		return column
	}
	if s.peek() == ']' {
		s.pos++
		return column
	}
	data, i := s.data, s.pos
	for {
		negative := false
		if i < len(data) && data[i] == '-' {
			negative = true
			i++
		}
		start, value := i, uint64(0)
		for i < len(data) {
			digit := uint64(data[i] - '0')
			if digit > 9 {
				break
			}
			value = value*10 + digit
			i++
		}
		// 18 digits cannot overflow, and a single 0 may not begin a number.
		if n := i - start; n == 0 || n > 18 || n > 1 && data[start] == '0' || i == len(data) {
			s.pos = start
			if negative {
				s.pos--
			}
			value = uint64(s.integer())
			if s.err != nil {
				return column
			}
			i = s.pos
			negative = false
		}
		if negative {
			value = -value
		}
		column = append(column, int64(value))
		if i < len(data) && data[i] == ',' {
			i++
			if i < len(data) && (data[i]-'0' <= 9 || data[i] == '-') {
				continue
			}
			s.pos = i
			s.peek()
			i = s.pos
			continue
		}
		s.pos = i
		switch s.peek() {
		case ',':
			s.pos++
			s.peek()
			i = s.pos
		case ']':
			s.pos++
			return column
		default:
			s.fail("expected an integer")
			return column
		}
	}
}

// numbers reads an array of integers within [low, high] into the scanner's
// scratch. The result is overwritten by the next array.
func (s *scanner) numbers(low, high int64) []int64 {
	s.ints = s.intColumn(s.ints[:0])
	for _, value := range s.ints {
		if value < low || value > high {
			s.fail("a number of the column is too small or too large")
			return nil
		}
	}
	return s.ints
}

// narrow is a column of numbers in a smaller type, in memory of its own.
func narrow[T int | int32 | int64 | uint8 | uint32](s *scanner, numbers []int64, size int64) []T {
	if len(numbers) == 0 || !s.charge(size*int64(len(numbers))) {
		return nil
	}
	column := make([]T, len(numbers))
	for i, value := range numbers {
		column[i] = T(value)
	}
	return column
}

// uintColumn reads an array of integers that are not negative behind column.
func (s *scanner) uintColumn(column []uint64) []uint64 {
	if !s.take('[') {
		return column
	}
	for first := true; s.nextElement(&first); {
		column = append(column, s.unsigned(math.MaxUint64))
	}
	return column
}

// addressColumn reads an array of addresses behind column.
func (s *scanner) addressColumn(column []uint64) []uint64 {
	if !s.take('[') {
		return column
	}
	for first := true; s.nextElement(&first); {
		column = append(column, s.address())
	}
	return column
}

// address reads a string with a hexadecimal number.
func (s *scanner) address() uint64 {
	if !s.take('"') {
		return 0
	}
	raw, _ := s.rawString()
	if s.err != nil {
		return 0
	}
	address, ok := parseAddress(raw)
	if !ok {
		s.fail("expected an address such as \"0x7f00\"")
	}
	return address
}

// parseAddress reads a hexadecimal number of at most 16 digits that begins with
// 0x.
func parseAddress(raw []byte) (uint64, bool) {
	if len(raw) < 3 || len(raw) > 18 || raw[0] != '0' || raw[1] != 'x' {
		return 0, false
	}
	address := uint64(0)
	for _, c := range raw[2:] {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		address = address<<4 | digit
	}
	return address, true
}

// atoms keeps short strings that come again on every line, such as the names of
// sources and counter sets, so that each is in memory once. It is bounded.
type atoms struct{ known map[string]string }

const (
	maxAtoms = 2048
	maxAtom  = 64 // bytes
)

// get is raw as a string; false when it is too long or there are too many.
func (a *atoms) get(raw []byte) (string, bool) {
	if len(raw) > maxAtom {
		return "", false
	}
	if name, known := a.known[string(raw)]; known {
		return name, true
	}
	if len(a.known) >= maxAtoms {
		return "", false
	}
	if a.known == nil {
		a.known = make(map[string]string)
	}
	name := string(raw)
	a.known[name] = name
	return name, true
}
