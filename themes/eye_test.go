package themes

import "math"

// The eye as these tests see it: sRGB to linear light, WCAG contrast, CIE Lab
// differences, and what a dichromat's eye makes of a colour (the matrices of
// Machado, Oliveira and Fernandes 2009 at full severity, on linear light).

type light [3]float64

func linear(hex uint32) light {
	channel := func(v uint32) float64 {
		c := float64(v&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return light{channel(hex >> 16), channel(hex >> 8), channel(hex)}
}

func (l light) luminance() float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

func contrast(a, b uint32) float64 {
	x, y := linear(a).luminance(), linear(b).luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (l light) lab() light {
	f := func(t float64) float64 {
		if t > 0.008856 {
			return math.Cbrt(t)
		}
		return 7.787*t + 16.0/116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.95047)
	y := f(l.luminance())
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.08883)
	return light{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func difference(a, b light) float64 {
	x, y := a.lab(), b.lab()
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

type eye [3][3]float64

var (
	normalEye    = eye{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	deuteranope  = eye{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}
	protanope    = eye{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}
	tritanope    = eye{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}
	eyesOfThemes = map[string][]eye{
		"dark": {normalEye}, "light": {normalEye}, "high-contrast": {normalEye},
		"deuteranopia": {normalEye, deuteranope, protanope}, "tritanopia": {normalEye, tritanope},
	}
)

func (e eye) sees(hex uint32) light {
	l := linear(hex)
	var seen light
	for i, row := range e {
		seen[i] = min(1, max(0, row[0]*l[0]+row[1]*l[1]+row[2]*l[2]))
	}
	return seen
}

// shown is the colour as a profile shows it, xterm's palette assumed.
func shown(v Value) uint32 {
	if n, isIndex := v.Index(); isIndex {
		return Palette256(n)
	}
	red, green, blue, _ := v.RGB()
	return uint32(red)<<16 | uint32(green)<<8 | uint32(blue)
}
