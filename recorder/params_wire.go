package recorder

import (
	"math"
	"strconv"

	"vramscope/arena"
)

// appendParams writes parameters as an object. A float always has a point or an
// exponent, so that it comes back as one.
func appendParams(buf []byte, params []arena.Param) []byte {
	buf = append(buf, '{')
	for i := range params {
		if i > 0 {
			buf = append(buf, ',')
		}
		param := &params[i]
		buf = appendString(buf, param.Name)
		buf = append(buf, ':')
		switch param.Kind {
		case arena.ParamFloat:
			buf = appendFloat(buf, param.Float)
		case arena.ParamText:
			buf = appendString(buf, param.Text)
		case arena.ParamBool:
			buf = strconv.AppendBool(buf, param.Int != 0)
		default:
			buf = strconv.AppendInt(buf, param.Int, 10)
		}
	}
	return append(buf, '}')
}

// appendFloat writes a float with a point or an exponent. What has no number
// in JSON is written as a number out of range, or as null.
func appendFloat(buf []byte, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(buf, "null"...)
	case math.IsInf(value, 1):
		return append(buf, "1e999"...)
	case math.IsInf(value, -1):
		return append(buf, "-1e999"...)
	}
	start := len(buf)
	buf = strconv.AppendFloat(buf, value, 'g', -1, 64)
	for _, c := range buf[start:] {
		if c == '.' || c == 'e' {
			return buf
		}
	}
	return append(buf, ".0"...)
}

// params reads an object of parameters behind list. A value that no parameter
// can have is passed over with its name.
func (s *scanner) params(list []arena.Param) []arena.Param {
	if !s.take('{') {
		return list
	}
	for first := true; s.nextKey(&first); {
		if !s.charge(2*64 + int64(len(s.key))) {
			return list
		}
		param := arena.Param{Name: s.name(s.key)}
		switch s.peek() {
		case '"':
			param.Kind, param.Text = arena.ParamText, s.string()
		case 't', 'f':
			param.Kind = arena.ParamBool
			if s.boolean() {
				param.Int = 1
			}
		case 'n':
			s.word("null")
			param.Kind, param.Float = arena.ParamFloat, math.NaN()
		case '{', '[':
			s.skip()
			continue
		default:
			integer, float, whole := s.number()
			if whole {
				param.Int = integer
			} else {
				param.Kind, param.Float = arena.ParamFloat, float
			}
		}
		if s.err != nil {
			return list
		}
		list = append(doubled(list), param)
	}
	return list
}

// name is a key as a string.
func (s *scanner) name(key []byte) string {
	if s.names != nil {
		if name, ok := s.names.get(key); ok {
			return name
		}
	}
	return string(key)
}
