package arena

import "strconv"

// Param is a named, typed parameter of a scope: what drives its size, such as
// a number of frames or a width. Values are typed, not boxed, so that a scope
// that nobody records costs no allocation.
type Param struct {
	Name  string
	Kind  ParamKind
	Int   int64
	Float float64
	Text  string
}

// ParamKind says which field of a Param holds the value.
type ParamKind uint8

// The kinds of parameter values.
const (
	ParamInt   ParamKind = iota // Int
	ParamFloat                  // Float
	ParamText                   // Text
	ParamBool                   // Int, 0 or 1
)

// Int is an integer parameter.
func Int(name string, value int64) Param { return Param{Name: name, Kind: ParamInt, Int: value} }

// Float is a floating-point parameter.
func Float(name string, value float64) Param {
	return Param{Name: name, Kind: ParamFloat, Float: value}
}

// Text is a text parameter.
func Text(name, value string) Param { return Param{Name: name, Kind: ParamText, Text: value} }

// Bool is a yes-or-no parameter.
func Bool(name string, value bool) Param {
	p := Param{Name: name, Kind: ParamBool}
	if value {
		p.Int = 1
	}
	return p
}

// String is the value as text, without the name. It is not sanitised for a
// terminal.
func (p Param) String() string {
	switch p.Kind {
	case ParamFloat:
		return strconv.FormatFloat(p.Float, 'g', -1, 64)
	case ParamText:
		return p.Text
	case ParamBool:
		return strconv.FormatBool(p.Int != 0)
	default:
		return strconv.FormatInt(p.Int, 10)
	}
}
