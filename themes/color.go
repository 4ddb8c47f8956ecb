package themes

import (
	"fmt"
	"strconv"
	"strings"
)

// Value is one colour as one profile shows it: the terminal's default, a
// number in its palette, or 24 bits. The zero Value is the terminal's default.
type Value uint32

const (
	valueIndex Value = 1 << 24
	valueRGB   Value = 2 << 24
	valueKind  Value = 0xff << 24
)

// Index is colour n of the terminal's palette: 0 to 15 are the sixteen that
// the user may have redefined, the others are the fixed ones of xterm.
func Index(n uint8) Value { return valueIndex | Value(n) }

// RGB is a 24-bit colour, written 0xRRGGBB.
func RGB(hex uint32) Value { return valueRGB | Value(hex&0xffffff) }

// IsDefault reports whether the value is the terminal's own default.
func (v Value) IsDefault() bool { return v&valueKind == 0 }

// Index is the palette number, and whether the value is one.
func (v Value) Index() (uint8, bool) { return uint8(v), v&valueKind == valueIndex }

// RGB is the 24-bit colour, and whether the value is one.
func (v Value) RGB() (red, green, blue uint8, ok bool) {
	return uint8(v >> 16), uint8(v >> 8), uint8(v), v&valueKind == valueRGB
}

// Color is one colour with its explicit form for every profile that has
// colours. Nothing is scaled down at run time, so that a theme decides how it
// looks with 16 colours. The zero Color is the terminal's default everywhere.
type Color struct {
	TrueColor Value // with 24 bits
	Ansi256   Value // with the palette of 256
	Ansi16    Value // with the palette of 16
}

// In is the colour as a profile shows it; without colours it is the
// terminal's default.
func (c Color) In(profile Profile) Value {
	switch profile {
	case TrueColor:
		return c.TrueColor
	case Ansi256:
		return c.Ansi256
	case Ansi16:
		return c.Ansi16
	default:
		return 0
	}
}

// hue is a colour with its three forms given.
func hue(rgb uint32, of256, of16 uint8) Color {
	return Color{TrueColor: RGB(rgb), Ansi256: Index(of256), Ansi16: Index(of16)}
}

// palette is a colour of the terminal's own sixteen, in every profile.
func palette(n uint8) Color {
	return Color{TrueColor: Index(n), Ansi256: Index(n), Ansi16: Index(n)}
}

// ParseColor reads a colour of a theme file: "default", "#rrggbb", or a
// palette number "0" to "255". What has no form for a smaller profile gets
// the nearest colour there.
func ParseColor(text string) (Color, error) {
	switch {
	case text == "default":
		return Color{}, nil
	case strings.HasPrefix(text, "#"):
		hex, err := strconv.ParseUint(text[1:], 16, 24)
		if err != nil || len(text) != 7 {
			return Color{}, fmt.Errorf("%q is no colour: write # and six hexadecimal digits", text)
		}
		return Color{
			TrueColor: RGB(uint32(hex)),
			Ansi256:   Index(Nearest256(uint32(hex))),
			Ansi16:    Index(Nearest16(uint32(hex))),
		}, nil
	default:
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return Color{}, fmt.Errorf("%q is no colour: write default, #rrggbb or a palette number from 0 to 255", text)
		}
		color := Color{TrueColor: Index(uint8(n)), Ansi256: Index(uint8(n)), Ansi16: Index(uint8(n))}
		if n > 15 {
			color.Ansi16 = Index(Nearest16(Palette256(uint8(n))))
		}
		return color, nil
	}
}
