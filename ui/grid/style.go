package grid

import (
	"strconv"

	"vramscope/themes"
)

// Style is what a cell looks like: a role or a step of a ramp in the low
// byte, attributes above. It names no colour; Styles turns it into one. The
// zero Style is plain text.
type Style uint16

const (
	attrShift   = 8
	styleLooks  = themes.RoleCount + themes.RampCount*themes.RampSteps
	styleVaried = 1 << themes.AttrCount
)

// Of is the style of a role.
func Of(role themes.Role) Style { return Style(role) }

// Step is the style of a step of a ramp, from 0 to themes.RampSteps-1; what
// lies outside is the nearest.
func Step(ramp themes.Ramp, step int) Style {
	step = min(max(step, 0), themes.RampSteps-1)
	return Style(themes.RoleCount + int(ramp)*themes.RampSteps + step)
}

// StepOf is the step of a ramp for part of a whole: 0 of whole is the first,
// the whole and more is the last. A whole of 0 or less gives the first.
func StepOf(ramp themes.Ramp, part, whole int64) Style {
	if whole <= 0 || part <= 0 {
		return Step(ramp, 0)
	}
	return Step(ramp, int(float64(part)/float64(whole)*themes.RampSteps))
}

// Series is the style of series n of a chart; they repeat after eight.
func Series(n int) Style {
	return Of(themes.Series0) + Style(uint(n)%themes.SeriesCount)
}

// With adds attributes. Inverse on what is inverse already takes it back, so
// that a marked part of a selected row can still be seen.
func (s Style) With(attr themes.Attr) Style {
	inverse, others := attr&themes.Inverse, attr&^themes.Inverse
	return s ^ Style(inverse)<<attrShift | Style(others)<<attrShift
}

// index is the place of a style in the tables of Styles.
func (s Style) index() int {
	look := int(s & 0xff)
	if look >= styleLooks {
		look = 0
	}
	return look*styleVaried + int(s>>attrShift)&(styleVaried-1)
}

// Styles is a theme made ready for a colour profile: the control sequence of
// every style. It does not change, and may be shared.
type Styles struct {
	profile themes.Profile
	// full sets a style whatever was set before. foreground does where only
	// the foreground differs, that is where group is the same.
	full, foreground []string
	group            []uint16
	plain            []bool // the style is what a reset terminal shows
	visible          []bool // a blank in this style can be told from one in another of its group
}

// reset is the sequence that brings a terminal back to its default.
const reset = "\x1b[m"

// NewStyles compiles a theme for a profile.
func NewStyles(theme themes.Theme, profile themes.Profile) *Styles {
	count := styleLooks * styleVaried
	s := &Styles{
		profile: profile,
		full:    make([]string, count), foreground: make([]string, count),
		group: make([]uint16, count), plain: make([]bool, count), visible: make([]bool, count),
	}
	// All sequences are parts of one string: text[ends[2i]:ends[2i+1]] and so on.
	c := compiler{styles: s, groups: map[string]uint16{}, text: make([]byte, 0, 64*count), ends: make([]int, 0, 2*count+1)}
	c.ends = append(c.ends, 0)
	for look := range styleLooks {
		style := lookOf(&theme, look)
		if style.Background == (themes.Color{}) {
			style.Background = theme.Background
		}
		for extra := range styleVaried {
			c.compile(look*styleVaried+extra, style, themes.Attr(extra))
		}
	}
	all := string(c.text)
	for i := range count {
		s.full[i] = all[c.ends[2*i]:c.ends[2*i+1]]
		s.foreground[i] = all[c.ends[2*i+1]:c.ends[2*i+2]]
	}
	return s
}

// lookOf is the role or step of a ramp with the given number.
func lookOf(theme *themes.Theme, look int) themes.Style {
	if look < themes.RoleCount {
		return theme.Roles[look]
	}
	step := look - themes.RoleCount
	return theme.Ramps[step/themes.RampSteps][step%themes.RampSteps]
}

// compiler is what NewStyles needs on its way.
type compiler struct {
	styles *Styles
	groups map[string]uint16 // by the parameters that are not the foreground
	text   []byte
	ends   []int
}

// compile fills the tables for one style with its extra attributes.
func (c *compiler) compile(i int, style themes.Style, extra themes.Attr) {
	s := c.styles
	attr := style.Attr ^ extra&themes.Inverse | extra&^themes.Inverse
	if s.profile == themes.NoColor {
		attr &^= themes.Faint
	}
	foreground, background := style.Foreground.In(s.profile), style.Background.In(s.profile)

	start := len(c.text)
	c.text = appendAttr(append(c.text, "\x1b[0"...), attr)
	if !background.IsDefault() {
		c.text = appendColor(c.text, background, 40)
	}
	rest := c.text[start+len("\x1b[0"):]
	id, known := c.groups[string(rest)]
	if !known {
		id = uint16(len(c.groups))
		c.groups[string(rest)] = id
	}
	s.group[i] = id
	s.visible[i] = attr&(themes.Underline|themes.Inverse) != 0
	s.plain[i] = len(rest) == 0 && foreground.IsDefault()
	switch {
	case s.plain[i]:
		c.text = append(c.text[:start], reset...)
	case foreground.IsDefault():
		c.text = append(c.text, 'm')
	default:
		c.text = append(appendColor(c.text, foreground, 30), 'm')
	}
	c.ends = append(c.ends, len(c.text))

	start = len(c.text)
	c.text = append(appendColor(append(c.text, "\x1b"...), foreground, 30), 'm')
	c.text[start+1] = '[' // in place of the semicolon
	c.ends = append(c.ends, len(c.text))
}

// appendAttr writes the parameters of attributes.
func appendAttr(dst []byte, attr themes.Attr) []byte {
	for bit, code := range [themes.AttrCount]byte{'1', '2', '4', '7'} {
		if attr&(1<<bit) != 0 {
			dst = append(dst, ';', code)
		}
	}
	return dst
}

// appendColor writes the parameters of a colour, each with a semicolon before
// it; base is 30 for the
// foreground, 40 for the background.
func appendColor(dst []byte, v themes.Value, base int64) []byte {
	dst = append(dst, ';')
	if v.IsDefault() {
		return strconv.AppendInt(dst, base+9, 10)
	}
	if n, isIndex := v.Index(); isIndex {
		switch {
		case n < 8:
			return strconv.AppendInt(dst, base+int64(n), 10)
		case n < 16:
			return strconv.AppendInt(dst, base+60+int64(n-8), 10)
		default:
			dst = strconv.AppendInt(dst, base+8, 10)
			return strconv.AppendUint(append(dst, ";5;"...), uint64(n), 10)
		}
	}
	red, green, blue, _ := v.RGB()
	dst = strconv.AppendInt(dst, base+8, 10)
	dst = strconv.AppendUint(append(dst, ";2;"...), uint64(red), 10)
	dst = strconv.AppendUint(append(dst, ';'), uint64(green), 10)
	return strconv.AppendUint(append(dst, ';'), uint64(blue), 10)
}
